/* SPDX-License-Identifier: MIT */
/* all_finite, amax and statistics of arrays: time, and agreement with the CPU. */
#include <stdlib.h>

#include "measure.cuh"

#include "fill.cuh"

namespace {

const size_t checked_values = 1 << 18;
const uint64_t check_seed = 11;

struct reduction {
  const char *operation;
  mpnum_type type;
  unsigned size; /* bytes of a value */
  cudaError_t (*run)(void *result, const void *src, size_t n);
  void (*run_on_cpu)(void *result, const void *src, size_t n);
  unsigned result_size;
};

/* As large as any result and aligned for it. */
union any_result {
  int all_finite;
  float amax;
  mpnum_stats stats;
};

uint32_t code_of(float x) { return mpnum_bits_f32(x); }
template <class T> uint32_t code_of(T x) { return x.bits; }

template <class T> struct over_array {
  static cudaError_t all_finite(void *result, const void *src, size_t n) {
    return mpnum_launch_all_finite(static_cast<int *>(result),
                                   static_cast<const T *>(src), n, 0);
  }
  static cudaError_t amax(void *result, const void *src, size_t n) {
    return mpnum_launch_amax(static_cast<float *>(result), static_cast<const T *>(src), n,
                             0);
  }
  static cudaError_t stats(void *result, const void *src, size_t n) {
    return mpnum_launch_stats(static_cast<mpnum_stats *>(result),
                              static_cast<const T *>(src), n, 0);
  }

  /* What each is by its description. */
  static mpnum_stats stats_of(const void *src, size_t n) {
    mpnum_stats found = mpnum_stats_empty();
    for (size_t i = 0; i < n; ++i)
      found = mpnum_stats_add(found, mpnum_format_of(mpnum::type_of<T>::value),
                              code_of(static_cast<const T *>(src)[i]));
    return found;
  }
  static void all_finite_on_cpu(void *result, const void *src, size_t n) {
    const mpnum_stats found = stats_of(src, n);
    *static_cast<int *>(result) = found.infs == 0 && found.nans == 0;
  }
  static void amax_on_cpu(void *result, const void *src, size_t n) {
    const mpnum_stats found = stats_of(src, n);
    uint32_t bits = mpnum_bits_f32(found.amax);
    if (found.infs) bits = 0x7f800000u;
    if (found.nans) bits = 0x7fffffffu;
    *static_cast<float *>(result) = mpnum_from_bits_f32(bits);
  }
  static void stats_on_cpu(void *result, const void *src, size_t n) {
    *static_cast<mpnum_stats *>(result) = stats_of(src, n);
  }
};

template <class T> void list_rows(reduction *rows) {
  const mpnum_type type = mpnum::type_of<T>::value;
  const reduction made[] = {
      {"all_finite", type, sizeof(T), over_array<T>::all_finite,
       over_array<T>::all_finite_on_cpu, sizeof(int)},
      {"amax", type, sizeof(T), over_array<T>::amax, over_array<T>::amax_on_cpu,
       sizeof(float)},
      {"stats", type, sizeof(T), over_array<T>::stats, over_array<T>::stats_on_cpu,
       sizeof(mpnum_stats)},
  };
  for (unsigned i = 0; i < 3; ++i)
    rows[3 * i] = made[i];
}

struct pass {
  const reduction *how;
  void *result;
  const void *src;
  size_t count;
};

cudaError_t run_pass(void *context) {
  const pass *one = static_cast<const pass *>(context);
  return one->how->run(one->result, one->src, one->count);
}

/* f32 values as they are, or converted: finite either way, so that all is read. */
bool time_row(gpu_run *run, const gpu_arrays *arrays, const reduction *how,
              gpu_reduction *row) {
  const void *src = how->type == MPNUM_TYPE_F32 ? arrays->values.at : arrays->codes.at;
  const double bytes =
      static_cast<double>(how->size) * static_cast<double>(arrays->count);
  pass one = {how, arrays->result.at, src, arrays->count};
  gpu_move read = run->move(arrays->result.at, arrays->values.at, 4 * arrays->count);
  gpu_contender list[] = {{run_pass, &one, gpu_time()},
                          {gpu_run_read, &read, gpu_time()}};
  read.shape = run->read_shape;
  cudaError_t filled = cudaSuccess;
  if (how->type == MPNUM_TYPE_F16)
    filled = mpnum_launch_convert_sat(arrays->codes.as<mpnum_f16>(),
                                      arrays->values.as<float>(), arrays->count, 0);
  if (how->type == MPNUM_TYPE_BF16)
    filled = mpnum_launch_convert_sat(arrays->codes.as<mpnum_bf16>(),
                                      arrays->values.as<float>(), arrays->count, 0);
  if (!run->done(filled, "converting") ||
      !gpu_time_cold(run, list, 2, "reductions on the GPU"))
    return false;
  row->speed.time = list[0].time;
  row->speed.rate = bytes / (list[0].time.ms * 1e6);
  row->speed.limit = 4.0 * static_cast<double>(arrays->count) / (list[1].time.ms * 1e6);
  return true;
}

bool equal(const reduction *how, const any_result *a, const any_result *b) {
  if (how->result_size == sizeof(int)) return memcmp(a, b, sizeof(int)) == 0;
  return a->stats.count == b->stats.count && a->stats.zeros == b->stats.zeros &&
         a->stats.subnormals == b->stats.subnormals && a->stats.infs == b->stats.infs &&
         a->stats.nans == b->stats.nans &&
         mpnum_bits_f32(a->stats.amax) == mpnum_bits_f32(b->stats.amax) &&
         mpnum_bits_f32(a->stats.min_nonzero) == mpnum_bits_f32(b->stats.min_nonzero);
}

/* Random bits: values of every kind. Parts of 1, 2, 4, ... values, of which the first
 * have no Inf or NaN and later ones have. */
bool check_row(gpu_run *run, const gpu_arrays *arrays, const reduction *how,
               gpu_match *match) {
  const size_t room = arrays->count < checked_values ? arrays->count : checked_values;
  gpu_host_array<uint32_t> data(room);
  if (!data.at) return refuse(&run->why, "out of memory");
  for (size_t i = 0; i < room; ++i)
    data.at[i] = mpnum_random(check_seed, i);
  if (!run->done(cudaMemcpy(arrays->codes.at, data.at, 4 * room, cudaMemcpyHostToDevice),
                 "copying to the GPU"))
    return false;
  for (size_t n = 1; n <= room; n *= 2) {
    any_result ours, theirs;
    memset(&ours, 0, sizeof ours);
    memset(&theirs, 0, sizeof theirs);
    how->run_on_cpu(&ours, data.at, n);
    if (!run->done(how->run(arrays->result.at, arrays->codes.at, n), how->operation) ||
        !run->done(cudaMemcpy(&theirs, arrays->result.at, how->result_size,
                              cudaMemcpyDeviceToHost),
                   how->operation))
      return false;
    match->wrong += !equal(how, &ours, &theirs);
    ++match->checked;
  }
  return true;
}

} // namespace

void gpu_measure_reduction(gpu_run *run, unsigned index) {
  reduction rows[GPU_REDUCTIONS];
  list_rows<float>(rows);
  list_rows<mpnum_f16>(rows + 1);
  list_rows<mpnum_bf16>(rows + 2);
  gpu_reduction *row = &run->results->reductions[index];
  row->operation = rows[index].operation;
  row->type = rows[index].type;
  if (run->results->reduction_count <= index) run->results->reduction_count = index + 1;
  gpu_row_alone(run, row, [&] {
    return run->need_arrays() && time_row(run, &run->arrays, &rows[index], row) &&
           check_row(run, &run->arrays, &rows[index], &row->match);
  });
}
