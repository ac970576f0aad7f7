// SPDX-License-Identifier: MIT
// Eigen's casts of whole arrays.
#include "peers.h"

#include <Eigen/Core>

namespace {

template <typename From, typename To>
void cast(void *dst, const void *src, size_t count) {
  typedef Eigen::Array<From, Eigen::Dynamic, 1> from_array;
  typedef Eigen::Array<To, Eigen::Dynamic, 1> to_array;
  const Eigen::Index size = static_cast<Eigen::Index>(count);
  Eigen::Map<const from_array> from(static_cast<const From *>(src), size);
  Eigen::Map<to_array> to(static_cast<To *>(dst), size);
  to = from.template cast<To>();
}

const array_peer_loop loops[] = {
    {"f32 to f16", "cast<half>", cast<float, Eigen::half>},
    {"f16 to f32", "cast<float>", cast<Eigen::half, float>},
    {"f32 to bf16", "cast<bfloat16>", cast<float, Eigen::bfloat16>},
    {"bf16 to f32", "cast<float>", cast<Eigen::bfloat16, float>},
    {"f64 to f32", "cast<float>", cast<double, float>},
    {"f64 to f16", "cast<half>", cast<double, Eigen::half>},
    {"f64 to bf16", "cast<bfloat16>", cast<double, Eigen::bfloat16>},
};

} // namespace

const array_peer peer_eigen = {"Eigen", NULL, loops, PEER_COUNT(loops), NULL};
