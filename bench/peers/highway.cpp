// SPDX-License-Identifier: MIT
// Highway's conversions of vectors. The file is compiled once for each instruction set,
// by foreach_target.h, and the loop for this CPU is chosen when it runs.
#include "peers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Wide, typename Narrow>
void demote(void *dst, const void *src, size_t count) {
  const hn::ScalableTag<Wide> wide;
  const hn::Rebind<Narrow, decltype(wide)> narrow;
  const Wide *from = static_cast<const Wide *>(src);
  Narrow *to = static_cast<Narrow *>(dst);
  for (size_t i = 0; i < count; i += hn::Lanes(wide))
    hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(wide, from + i)), narrow, to + i);
}

template <typename Narrow, typename Wide>
void promote(void *dst, const void *src, size_t count) {
  const hn::ScalableTag<Wide> wide;
  const hn::Rebind<Narrow, decltype(wide)> narrow;
  const Narrow *from = static_cast<const Narrow *>(src);
  Wide *to = static_cast<Wide *>(dst);
  for (size_t i = 0; i < count; i += hn::Lanes(wide))
    hn::StoreU(hn::PromoteTo(wide, hn::LoadU(narrow, from + i)), wide, to + i);
}

void f32_to_f16(void *dst, const void *src, size_t count) {
  demote<float, hwy::float16_t>(dst, src, count);
}
void f32_to_bf16(void *dst, const void *src, size_t count) {
  demote<float, hwy::bfloat16_t>(dst, src, count);
}
void f64_to_f32(void *dst, const void *src, size_t count) {
  demote<double, float>(dst, src, count);
}
void f16_to_f32(void *dst, const void *src, size_t count) {
  promote<hwy::float16_t, float>(dst, src, count);
}
void bf16_to_f32(void *dst, const void *src, size_t count) {
  promote<hwy::bfloat16_t, float>(dst, src, count);
}

} // namespace HWY_NAMESPACE
} // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

# define DISPATCHED(name)                                      \
  HWY_EXPORT(name);                                            \
  static void name(void *dst, const void *src, size_t count) { \
   HWY_DYNAMIC_DISPATCH(name)(dst, src, count);                \
  }
DISPATCHED(f32_to_f16)
DISPATCHED(f32_to_bf16)
DISPATCHED(f64_to_f32)
DISPATCHED(f16_to_f32)
DISPATCHED(bf16_to_f32)

static const array_peer_loop loops[] = {
    {"f32 to f16", "DemoteTo", f32_to_f16},    {"f32 to bf16", "DemoteTo", f32_to_bf16},
    {"f64 to f32", "DemoteTo", f64_to_f32},    {"f16 to f32", "PromoteTo", f16_to_f32},
    {"bf16 to f32", "PromoteTo", bf16_to_f32},
};

} // namespace bench

const array_peer peer_highway = {"Highway", NULL, bench::loops, PEER_COUNT(bench::loops),
                                 NULL};
#endif
