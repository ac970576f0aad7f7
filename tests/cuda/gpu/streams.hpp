/* SPDX-License-Identifier: MIT */
/* One launcher in two streams at the same time, many times: what each stream works on is
 * 2^20 times 1 in the first, -2 in the second, and its results are its own. */
#ifndef MPNUM_TESTS_GPU_STREAMS_HPP
#define MPNUM_TESTS_GPU_STREAMS_HPP

#include "reductions.hpp"

enum { rounds = 64, stream_elements = 1 << 20 };

/* What the streams read. */
struct two_sources {
  device_array<float> all[2] = {{stream_elements}, {stream_elements}};
  two_sources() {
    for (int s = 0; s < 2; ++s) {
      const std::vector<float> values(stream_elements, s ? -2.0f : 1.0f);
      cudaMemcpy(all[s].at, values.data(), values.size() * sizeof(float),
                 cudaMemcpyHostToDevice);
    }
  }
  const float *operator[](int s) const { return all[s].at; }
};
template <class T> static std::vector<T> copied(const T *from, size_t count) {
  std::vector<T> made(count);
  is_ok(cudaMemcpy(made.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy");
  return made;
}
template <class T> static void put(T *to, const T &value) {
  is_ok(cudaMemcpy(to, &value, sizeof value, cudaMemcpyHostToDevice), "copy");
}
/* launch(s, i, stream): round i of stream s. Then all is done. */
template <class Launch> static void in_two_streams(const char *what, Launch launch) {
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    if (!is_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), what)) return;
  for (int i = 0; i < rounds; ++i)
    for (int s = 0; s < 2; ++s)
      is_ok(launch(s, i, streams[s]), what);
  for (cudaStream_t stream : streams) {
    is_ok(cudaStreamSynchronize(stream), what);
    cudaStreamDestroy(stream);
  }
}

/* Without a scratch and with one of each stream. */
static void amaxes_of_two_streams_do_not_meet() {
  const two_sources x;
  device_array<float> amax[2] = {{rounds}, {rounds}};
  device_array<mpnum_launch_scratch> scratch[2] = {{1}, {1}};
  for (int s = 0; s < 2; ++s)
    put(scratch[s].at, mpnum_launch_scratch());
  in_two_streams("amax", [&](int s, int i, cudaStream_t stream) {
    return mpnum_launch_amax(amax[s].at + i, x[s], stream_elements, stream,
                             i % 2 ? scratch[s].at : 0);
  });
  for (int s = 0; s < 2; ++s)
    for (float found : copied(amax[s].at, rounds))
      CHECK(found == (s ? 2.0f : 1.0f), "stream %d: %g", s, static_cast<double>(found));
}
static void gradient_passes_of_two_streams_do_not_meet() {
  const two_sources x;
  device_array<mpnum_grad_tensor> tensors[2] = {{1}, {1}};
  device_array<uint64_t> tiles[2] = {{2}, {2}};
  device_array<mpnum_grad_workspace> workspace[2] = {{1}, {1}};
  device_array<mpnum_grad_findings> findings[2] = {{rounds}, {rounds}};
  mpnum_grad_list lists[2];
  for (int s = 0; s < 2; ++s) {
    const mpnum_grad_tensor tensor = mpnum_grad_tensor_of(
        MPNUM_TYPE_F32, x[s], stream_elements, MPNUM_TYPE_F32, nullptr);
    uint64_t before[2];
    CHECK(mpnum_grad_plan(&lists[s], before, &tensor, 1, 0) == MPNUM_OK, "a plan");
    put(tensors[s].at, tensor);
    put(tiles[s].at, before[0]);
    put(tiles[s].at + 1, before[1]);
    put(workspace[s].at, mpnum_grad_workspace());
    lists[s].tensors = tensors[s].at;
    lists[s].tiles_before = tiles[s].at;
  }
  in_two_streams("gradients", [&](int s, int i, cudaStream_t stream) {
    return mpnum_launch_grad_pass(findings[s].at + i, lists[s], nullptr, workspace[s].at,
                                  stream);
  });
  for (int s = 0; s < 2; ++s)
    for (const mpnum_grad_findings &found : copied(findings[s].at, rounds))
      CHECK(found.stats.count == stream_elements &&
                mpnum_grad_norm(&found) == (s ? 2048 : 1024),
            "stream %d: norm %g", s, static_cast<double>(mpnum_grad_norm(&found)));
}
static void quantisers_of_two_streams_do_not_meet() {
  const two_sources x;
  device_array<mpnum_e4m3> codes[2] = {{stream_elements}, {stream_elements}};
  device_array<float> amax[2] = {{rounds}, {rounds}};
  device_array<float> scale(1);
  put(scale.at, 1.0f);
  for (int s = 0; s < 2; ++s)
    cudaMemset(amax[s].at, 0, rounds * sizeof(float));
  in_two_streams("quantising", [&](int s, int i, cudaStream_t stream) {
    return mpnum_launch_quantize_array(codes[s].at, x[s], stream_elements, scale.at,
                                       amax[s].at + i, stream);
  });
  for (int s = 0; s < 2; ++s) {
    size_t wrong = 0;
    for (mpnum_e4m3 code : copied(codes[s].at, stream_elements))
      wrong += code.bits != (s ? 0xc0 : 0x38);
    CHECK(wrong == 0, "stream %d: %zu codes", s, wrong);
    for (float found : copied(amax[s].at, rounds))
      CHECK(found == (s ? 2.0f : 1.0f), "stream %d: %g", s, static_cast<double>(found));
  }
}
/* Rows of other lengths in each, of equal elements: 1 over how many there are. */
static void softmaxes_of_two_streams_do_not_meet() {
  const two_sources x;
  device_array<float> shares[2] = {{stream_elements}, {stream_elements}};
  in_two_streams("softmax", [&](int s, int, cudaStream_t stream) {
    const size_t columns = s ? 4096 : 512;
    return mpnum_launch_softmax_rows(
        mpnum::matrix_of(shares[s].at, stream_elements / columns, columns),
        mpnum::matrix_of(x[s], stream_elements / columns, columns), 0, 0, stream);
  });
  for (int s = 0; s < 2; ++s) {
    size_t wrong = 0;
    for (float share : copied(shares[s].at, stream_elements))
      wrong += share != 1.0f / (s ? 4096 : 512);
    CHECK(wrong == 0, "stream %d: %zu elements", s, wrong);
  }
}

#endif
