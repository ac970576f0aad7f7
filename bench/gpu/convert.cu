/* SPDX-License-Identifier: MIT */
/* Array conversions of every format: time, and agreement with the CPU. */
#include <math.h>
#include <stdlib.h>

#include "measure.cuh"

#include "convert.cuh"
#include "fill.cuh"

namespace {

/* One row of the table: what is launched, and the same on the CPU. */
struct conversion {
  mpnum_type type;
  unsigned group, group_bytes; /* values that are stored together, and their bytes */
  cudaError_t (*encode)(void *dst, const float *src, size_t n);
  cudaError_t (*decode)(float *dst, const void *src, size_t n);
  void (*encode_on_cpu)(void *dst, const float *src, size_t n);
  void (*decode_on_cpu)(float *dst, const void *src, size_t n);
  void (*pack)(void *dst, const uint32_t *codes, size_t n);
  cudaError_t (*random_codes)(void *dst, size_t n);
};

template <class T> struct format_of_array {
  typedef gpu_storage<T> storage;
  typedef typename storage::element element;
  enum { group = storage::group };

  static cudaError_t encode(void *dst, const float *src, size_t n) {
    return mpnum_launch_convert_sat(static_cast<T *>(dst), src, n, 0);
  }
  static cudaError_t decode(float *dst, const void *src, size_t n) {
    return mpnum_launch_convert(dst, static_cast<const T *>(src), n, 0);
  }
  /* n is a multiple of group from here on. */
  static void encode_on_cpu(void *dst, const float *src, size_t n) {
    element codes[group];
    for (size_t i = 0; i < n; ++i) {
      codes[i % group] = mpnum::from_float_sat<element>(src[i]);
      if (i % group == group - 1) static_cast<T *>(dst)[i / group] = storage::pack(codes);
    }
  }
  static void decode_on_cpu(float *dst, const void *src, size_t n) {
    for (size_t i = 0; i < n; ++i)
      dst[i] = mpnum::to_float(storage::unpack(static_cast<const T *>(src)[i / group],
                                               static_cast<int>(i % group)));
  }
  static void pack_codes(void *dst, const uint32_t *codes, size_t n) {
    element group_codes[group];
    for (size_t i = 0; i < n; ++i) {
      group_codes[i % group] = mpnum::from_bits<element>(codes[i]);
      if (i % group == group - 1)
        static_cast<T *>(dst)[i / group] = storage::pack(group_codes);
    }
  }
  /* Every byte of a packed array is made of codes. */
  static cudaError_t random_codes(void *dst, size_t n) {
    const mpnum_format format = mpnum_format_of(mpnum::type_of<element>::value);
    const unsigned shift = static_cast<unsigned>(format.storage_shift);
    const uint32_t mask = (uint32_t{1} << gpu_code_bits(format)) - 1;
    if (group > 1)
      return gpu_fill_codes(static_cast<uint8_t *>(dst), n / group * sizeof(T), 0xff, 0);
    if (sizeof(T) == 4)
      return gpu_fill_codes(static_cast<uint32_t *>(dst), n, mask, shift);
    if (sizeof(T) == 2) return gpu_fill_codes(static_cast<uint16_t *>(dst), n, mask, 0);
    return gpu_fill_codes(static_cast<uint8_t *>(dst), n, mask, 0);
  }
  static conversion row() {
    const conversion made = {mpnum::type_of<element>::value,
                             group,
                             sizeof(T),
                             encode,
                             decode,
                             encode_on_cpu,
                             decode_on_cpu,
                             pack_codes,
                             random_codes};
    return made;
  }
};

#define CONVERSION_ROW(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                       specials, nan)                                             \
 format_of_array<mpnum_##name>::row(),

/* Timing. */

struct pass {
  const conversion *how;
  void *dst;
  const void *src;
  size_t count;
};

cudaError_t run_encode(void *context) {
  const pass *one = static_cast<const pass *>(context);
  return one->how->encode(one->dst, static_cast<const float *>(one->src), one->count);
}
cudaError_t run_decode(void *context) {
  const pass *one = static_cast<const pass *>(context);
  return one->how->decode(static_cast<float *>(one->dst), one->src, one->count);
}

gpu_speed speed_of(gpu_time time, double bytes, double limit) {
  gpu_speed found;
  found.time = time;
  found.rate = bytes / (time.ms * 1e6);
  found.limit = limit;
  return found;
}

bool time_row(gpu_run *run, const gpu_arrays *arrays, const conversion *how,
              gpu_conversion *row) {
  const size_t count = arrays->count / 4 * 4; /* whole groups of any size */
  const double bytes = (4 + row->bytes) * static_cast<double>(count);
  const double copy_bytes = 8.0 * static_cast<double>(count);
  pass encode = {how, arrays->result.at, arrays->values.at, count};
  pass decode = {how, arrays->result.at, arrays->codes.at, count};
  gpu_copy copy = {arrays->result.at, arrays->values.at, 4 * count};
  gpu_move move = run->move(copy.dst, copy.src, 4 * arrays->count);
  gpu_contender list[] = {{run_encode, &encode, gpu_time()},
                          {run_decode, &decode, gpu_time()},
                          {gpu_run_copy, &copy, gpu_time()},
                          {gpu_run_move, &move, gpu_time()}};
  if (!run->done(how->random_codes(arrays->codes.at, count), "random codes") ||
      !gpu_time_cold(run, list, 4, "conversions on the GPU"))
    return false;
  const double limit = copy_bytes / (fmin(list[2].time.ms, list[3].time.ms) * 1e6);
  row->encode = speed_of(list[0].time, bytes, limit);
  row->decode = speed_of(list[1].time, bytes, limit);
  return true;
}

/* Agreement with the CPU. */

const size_t chunk_limit = 3 << 18; /* values, in whole groups */

struct check_space {
  gpu_host_array<float> floats;
  gpu_host_array<uint32_t> codes;
  gpu_host_array<unsigned char> ours, theirs;
  check_space()
      : floats(chunk_limit), codes(chunk_limit), ours(4 * chunk_limit),
        theirs(4 * chunk_limit) {}
  bool complete() const { return floats.at && codes.at && ours.at && theirs.at; }
};

/* A group with one wrong value or more counts as one wrong. */
void compare(gpu_match *match, const unsigned char *ours, const unsigned char *theirs,
             size_t groups, unsigned group_bytes, unsigned group) {
  for (size_t i = 0; i < groups; ++i) {
    const size_t at = i * group_bytes;
    match->wrong += memcmp(ours + at, theirs + at, group_bytes) != 0;
  }
  match->checked += static_cast<uint64_t>(groups) * group;
}

/* Values of one comparison, in whole groups. */
size_t chunk_of(const gpu_arrays *arrays) {
  const size_t room = arrays->count / 4 * 4;
  return room < chunk_limit ? room : chunk_limit;
}

bool check_encode(gpu_run *run, const gpu_arrays *arrays, const conversion *how,
                  check_space *space, gpu_match *match) {
  const uint64_t patterns = run->results->plan.patterns;
  const uint64_t total = (patterns + gpu_boundary_count(how->type) + 3) / 4 * 4;
  const size_t chunk = chunk_of(arrays);
  for (uint64_t first = 0; first < total; first += chunk) {
    const size_t n = static_cast<size_t>(total - first < chunk ? total - first : chunk);
    const size_t bytes = n / how->group * how->group_bytes;
    for (size_t i = 0; i < n; ++i)
      space->floats.at[i] = gpu_test_float(how->type, first + i, patterns);
    how->encode_on_cpu(space->ours.at, space->floats.at, n);
    if (!run->done(
            cudaMemcpy(arrays->codes.at, space->floats.at, 4 * n, cudaMemcpyHostToDevice),
            "copying to the GPU") ||
        !run->done(how->encode(arrays->result.at, arrays->codes.as<float>(), n),
                   "encoding") ||
        !run->done(cudaMemcpy(space->theirs.at, arrays->result.at, bytes,
                              cudaMemcpyDeviceToHost),
                   "encoding"))
      return false;
    compare(match, space->ours.at, space->theirs.at, n / how->group, how->group_bytes,
            how->group);
  }
  return true;
}

/* Number index of all codes, each in each place of a group. */
uint32_t test_code(const conversion *how, size_t index) {
  const mpnum_format format = mpnum_format_of(how->type);
  const size_t mask = (size_t{1} << gpu_code_bits(format)) - 1;
  const size_t code = (index / how->group + 17 * (index % how->group)) & mask;
  return static_cast<uint32_t>(code << format.storage_shift);
}

bool check_decode(gpu_run *run, const gpu_arrays *arrays, const conversion *how,
                  check_space *space, gpu_match *match) {
  const size_t total =
      (size_t{1} << gpu_code_bits(mpnum_format_of(how->type))) * how->group;
  const size_t chunk = chunk_of(arrays);
  for (size_t first = 0; first < total; first += chunk) {
    const size_t n = total - first < chunk ? total - first : chunk;
    for (size_t i = 0; i < n; ++i)
      space->codes.at[i] = test_code(how, first + i);
    how->pack(space->ours.at, space->codes.at, n);
    if (!run->done(cudaMemcpy(arrays->codes.at, space->ours.at,
                              n / how->group * how->group_bytes, cudaMemcpyHostToDevice),
                   "copying to the GPU"))
      return false;
    how->decode_on_cpu(space->floats.at, space->ours.at, n);
    if (!run->done(how->decode(arrays->result.as<float>(), arrays->codes.at, n),
                   "decoding") ||
        !run->done(cudaMemcpy(space->theirs.at, arrays->result.at, 4 * n,
                              cudaMemcpyDeviceToHost),
                   "decoding"))
      return false;
    compare(match, reinterpret_cast<const unsigned char *>(space->floats.at),
            space->theirs.at, n, 4, 1);
  }
  return true;
}

__global__ void hardware_kernel(int *hardware) {
  hardware[threadIdx.x] = mpnum_has_hw(static_cast<mpnum_type>(threadIdx.x));
}

enum { TYPE_LIMIT = MPNUM_TYPE_E2M1 + 1 };

bool find_hardware(gpu_run *run, int hardware[TYPE_LIMIT]) {
  gpu_buffer found;
  return run->done(found.make(TYPE_LIMIT * sizeof(int)), "memory") &&
         run->done(gpu_launch(hardware_kernel, 1, TYPE_LIMIT, found.as<int>()),
                   "the first kernel") &&
         run->done(cudaMemcpy(hardware, found.at, TYPE_LIMIT * sizeof(int),
                              cudaMemcpyDeviceToHost),
                   "the first kernel");
}

bool measure_row(gpu_run *run, const conversion *how, gpu_conversion *row) {
  int hardware[TYPE_LIMIT];
  check_space space;
  if (!space.complete()) return refuse(&run->why, "out of memory");
  if (!run->need_arrays() || !find_hardware(run, hardware)) return false;
  row->hardware = hardware[how->type] != 0;
  return time_row(run, &run->arrays, how, row) &&
         check_encode(run, &run->arrays, how, &space, &row->encode_match) &&
         check_decode(run, &run->arrays, how, &space, &row->decode_match);
}

} // namespace

void gpu_measure_conversion(gpu_run *run, unsigned index) {
  const conversion rows[] = {
    MPNUM_FORMATS(CONVERSION_ROW) //
    format_of_array<mpnum_e3m2x4>::row(),
    format_of_array<mpnum_e2m3x4>::row(),
    format_of_array<mpnum_e2m1x2>::row()
  };
  static_assert(sizeof rows / sizeof *rows == GPU_CONVERSIONS, "a row for each");
  const conversion *how = &rows[index];
  gpu_conversion *row = &run->results->conversions[index];
  row->type = how->type;
  row->packed = how->group > 1;
  row->bytes = static_cast<double>(how->group_bytes) / how->group;
  if (run->results->conversion_count <= index) run->results->conversion_count = index + 1;
  gpu_row_alone(run, row, [&] { return measure_row(run, how, row); });
}
