/* SPDX-License-Identifier: MIT */
/* Launchers, in the simulator of tests/cuda/simt, by any views: sizes, strides, NULL,
 * operands that share memory in any way. A launcher refuses what its host twin refuses
 * and then writes nothing, and else leaves all memory as the twin leaves it. Only what
 * the views name can be read or written, as far as ASan knows. */
extern "C" {
#include "fuzz_bytes.h"
}

#define MPNUM_NO_SIMD 1 /* as in tests/laws: the bits are the same */
#include "../cuda/simt/launch.hpp"

#include <mpnum/kernels.cuh>
#include <mpnum/blocks/layout.cuh>
#include <mpnum/blocks/stored_matrix.cuh>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sanitizer/asan_interface.h>

namespace {

typedef unsigned __int128 wide; /* sizes that do not overflow */

enum { ARENAS = 4, BYTES = 1 << 14, APART = ARENAS - 1, MOST = 12 };
struct memory {
  alignas(64) uint8_t at[ARENAS][BYTES];
} now, before, launched;
void open_memory() { ASAN_UNPOISON_MEMORY_REGION(&now, sizeof now); }

/* Where operands lie, and the most bytes that one wants. */
struct layout {
  fuzz_bytes *from;
  struct {
    unsigned arena;
    size_t begin, size;
  } operands[MOST];
  unsigned count;
  size_t apart;
  wide most;
  int64_t *classes; /* of rows, below class_count: what only the device can read */
  size_t rows, class_count;
  void *put(unsigned arena, size_t begin, size_t size) {
    demand(count < MOST && begin + size <= BYTES);
    operands[count++] = {arena, begin, size};
    return now.at[arena] + begin;
  }
  void open() const {
    ASAN_POISON_MEMORY_REGION(&now, sizeof now);
    for (unsigned i = 0; i < count; ++i)
      ASAN_UNPOISON_MEMORY_REGION(now.at[operands[i].arena] + operands[i].begin,
                                  operands[i].size);
  }
};

/* So many bytes for elements of T: NULL, or anywhere in an arena, often in or beside
 * another operand. */
template <class T> T *place(layout &all, wide bytes) {
  const uint32_t how = take_below(all.from, 256);
  const size_t step = (size_t)take(all.from, 1) * sizeof(T);
  unsigned arena = all.count % APART;
  size_t begin = step % 64;
  if (how % 16 == 0) return nullptr;
  if (bytes > all.most) all.most = bytes;
  if (bytes > BYTES) return reinterpret_cast<T *>(now.at[0]);
  if (all.count > 0 && how % 4 == 1) { /* where another one begins, or some steps on */
    const auto &other = all.operands[how / 16 % all.count];
    arena = other.arena;
    begin = other.begin / sizeof(T) * sizeof(T) + (how & 4 ? 0 : step);
  }
  if (arena == APART || begin + bytes > BYTES) return nullptr;
  return static_cast<T *>(all.put(arena, begin, (size_t)bytes));
}
/* The same where no other operand is. */
template <class T> T *place_apart(layout &all, wide count) {
  const wide bytes = count * sizeof(T), begin = (all.apart + 15) / 16 * 16;
  if (take_below(all.from, 8) == 0) return nullptr;
  if (begin + bytes > BYTES) {
    all.most = begin + bytes > all.most ? begin + bytes : all.most;
    return reinterpret_cast<T *>(now.at[APART]);
  }
  all.apart = (size_t)(begin + bytes);
  return static_cast<T *>(all.put(APART, (size_t)begin, (size_t)bytes));
}
size_t any_size(layout &all, size_t usual) {
  const uint32_t how = take_below(all.from, 32);
  if (how == 0) return (size_t)take(all.from, 8);
  if (how == 1) return 0;
  if (how == 2) return usual - 1;
  return how < 10 ? usual + how - 3 : usual;
}
/* What needs so many bytes, and what a caller says of them. */
template <class T> T *place_claimed(layout &all, size_t *bytes) {
  const size_t needed = *bytes;
  *bytes = any_size(all, needed);
  return place<T>(all, *bytes < needed ? *bytes : needed);
}
/* Of rows of so many bits an element. A stride past all memory is none, of one row, too.
 */
wide bytes_of(size_t bits, size_t rows, size_t columns, size_t stride) {
  const wide pitch = ((wide)stride * bits + 7) / 8,
             width = ((wide)columns * bits + 7) / 8;
  if (rows == 0 || columns == 0) return 0;
  return (rows - 1) * pitch + width + (stride >> 40 ? BYTES : 0);
}
template <class T> mpnum::matrix<T> any_matrix(layout &all, size_t rows, size_t columns) {
  if (take_below(all.from, 32) == 0) ++columns;
  mpnum::matrix<T> made = mpnum::matrix_of<T>(nullptr, rows, columns);
  made.stride = any_size(all, columns);
  made.data = place<T>(all, bytes_of(8 * sizeof(T), rows, columns, made.stride));
  return made;
}
template <class T> mpnum_matrix on_host(mpnum::matrix<T> from) {
  mpnum_matrix made =
      mpnum_matrix_of(mpnum::type_of<T>::value, from.data, from.rows, from.columns);
  made.stride = from.stride;
  return made;
}
template <class T> mpnum_const_matrix read_on_host(mpnum::matrix<T> from) {
  return mpnum_rows_read_(on_host(from));
}

/* Calls both, unless memory of that size might be somewhere else; past what there is,
 * those that refuse it. */
template <class Launch, class Twin>
void try_both(const layout &all, Launch launch, Twin twin, bool refuses_huge = false) {
  if (all.most > BYTES && !(refuses_huge && all.most >> 62 != 0)) return;
  open_memory();
  uint64_t state = take(all.from, 8) | 1;
  for (size_t i = 0; i < sizeof now; i += 8) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::memcpy(&now.at[0][0] + i, &state, 8);
  }
  for (size_t i = 0; all.classes && i < all.rows; ++i)
    all.classes[i] = (all.classes[i] & 0xffff) % (int64_t)all.class_count;
  std::memcpy(&before, &now, sizeof now);
  all.open();
  const cudaError_t error = launch();
  open_memory();
  if (error == cudaErrorLaunchFailure)
    std::fputs(simt::last_fault().text.c_str(), stderr);
  demand(error == cudaSuccess || error == cudaErrorInvalidValue);
  std::memcpy(&launched, &now, sizeof now);
  std::memcpy(&now, &before, sizeof now);
  all.open();
  const mpnum_status status = twin();
  open_memory();
  if (status == MPNUM_ERROR_NONFINITE) return; /* which only the device can read */
  if ((status == MPNUM_OK) == (error == cudaSuccess) &&
      std::memcmp(&launched, &now, sizeof now) == 0)
    return;
  std::fprintf(stderr, "%s, status %d\n", cudaGetErrorName(error), (int)status);
  for (unsigned i = 0; i < all.count; ++i)
    std::fprintf(stderr, "%zu bytes at %zu of arena %u\n", all.operands[i].size,
                 all.operands[i].begin, all.operands[i].arena);
  std::abort();
}

size_t rows_of(layout &all) {
  const uint32_t how = take_below(all.from, 64);
  return how == 0 ? (size_t)take(all.from, 8) : how % 12;
}
size_t columns_of(layout &all) {
  const uint32_t how = take_below(all.from, 64);
  return how == 0  ? (size_t)take(all.from, 8)
         : how < 8 ? 900 + (size_t)take(all.from, 1)
                   : how + take_below(all.from, 3) * 32;
}

/* --- Arrays --- */

void try_convert(layout &all) {
  const size_t n = columns_of(all) % BYTES; /* more has no sign */
  const auto *const src = place<mpnum_f16>(all, (wide)n * 2);
  auto *const dst = place<mpnum_bf16>(all, (wide)n * 2);
  const mpnum_rounding rounding = (mpnum_rounding)take_below(all.from, 9);
  const uint64_t seed = take(all.from, 8), offset = take(all.from, 8);
  if (rounding > MPNUM_ROUND_STOCHASTIC) return;
  try_both(
      all,
      [&] {
        return mpnum_launch_convert_round(dst, src, n, rounding, MPNUM_OVERFLOW_IEEE,
                                          seed, offset, nullptr);
      },
      [&] {
        return mpnum_convert_array(MPNUM_TYPE_BF16, dst, MPNUM_TYPE_F16, src, n, rounding,
                                   MPNUM_OVERFLOW_IEEE, seed, offset);
      });
}
void try_quantize(layout &all) {
  const size_t n = columns_of(all) % BYTES; /* more has no sign */
  const auto *const src = place<float>(all, (wide)n * 4);
  auto *const dst = place<mpnum_e4m3>(all, n);
  static const float scale = 0.25f;
  try_both(
      all,
      [&] { return mpnum_launch_quantize_array(dst, src, n, &scale, nullptr, nullptr); },
      [&] {
        return mpnum_quantize_array(MPNUM_TYPE_E4M3, dst, MPNUM_TYPE_F32, src, n, scale,
                                    nullptr);
      });
}
void try_dequantize(layout &all) {
  const size_t n = columns_of(all) % BYTES; /* more has no sign */
  const auto *const src = place<mpnum_e4m3>(all, n);
  auto *const dst = place<float>(all, (wide)n * 4);
  static const float scale = 0.25f;
  try_both(
      all, [&] { return mpnum_launch_dequantize_array(dst, src, n, &scale, nullptr); },
      [&] {
        return mpnum_dequantize_array(MPNUM_TYPE_F32, dst, MPNUM_TYPE_E4M3, src, n,
                                      scale);
      });
}

/* --- Rows --- */

/* Rows that would take long, though they may have no columns, and more columns than rows
 * of launchers may have. */
template <class T> bool is_past(const mpnum::matrix<T> &src) {
  return src.rows > BYTES || src.columns >> 31 != 0;
}
mpnum_softmax_options any_options(layout &all) {
  mpnum_softmax_options options = mpnum_softmax_default();
  options.flags = (int)take_below(all.from, 8);
  if (take_below(all.from, 8) == 0) options.scale = -1;
  if (take_below(all.from, 4) == 0) options.first_length = 1;
  return options;
}
void try_softmax(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const auto src = any_matrix<float>(all, rows, columns);
  const bool is_in_place = take_below(all.from, 4) == 0;
  auto dst = is_in_place ? src : any_matrix<float>(all, rows, columns);
  auto *const status = place_apart<mpnum_row_status>(all, rows);
  const mpnum_softmax_options options = any_options(all);
  if (is_past(src)) return;
  try_both(
      all, [&] { return mpnum_launch_softmax_rows(dst, src, &options, status, nullptr); },
      [&] {
        return mpnum_softmax_rows(on_host(dst), read_on_host(src), &options, status);
      });
}
void try_logsumexp(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const auto src = any_matrix<mpnum_bf16>(all, rows, columns);
  auto *const dst = place<float>(all, (wide)src.rows * 4);
  const mpnum_softmax_options options = any_options(all);
  if (is_past(src)) return;
  try_both(
      all,
      [&] { return mpnum_launch_logsumexp_rows(dst, src, &options, nullptr, nullptr); },
      [&] { return mpnum_logsumexp_rows(dst, read_on_host(src), &options, nullptr); });
}
void try_cross_entropy(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const auto src = any_matrix<mpnum_bf16>(all, rows, columns);
  const auto gradient = any_matrix<mpnum_bf16>(all, rows, columns);
  auto *const loss = place<float>(all, (wide)rows * 4);
  auto *const targets = place_apart<int64_t>(all, rows);
  auto *const status = place_apart<mpnum_row_status>(all, rows);
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.softmax = any_options(all);
  if (take_below(all.from, 8) == 0) options.label_smoothing = 1.5f;
  if (is_past(src) || src.columns == 0) return; /* which has no class */
  all.classes = targets;
  all.rows = rows;
  all.class_count = src.columns;
  const mpnum_matrix made = gradient.data ? on_host(gradient) : mpnum_matrix_empty();
  try_both(
      all,
      [&] {
        return mpnum_launch_cross_entropy_rows(loss, gradient, src, targets, &options,
                                               status, nullptr);
      },
      [&] {
        return mpnum_cross_entropy_rows(loss, made, read_on_host(src), targets, &options,
                                        status);
      });
}
void try_normalize(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const auto src = any_matrix<mpnum_bf16>(all, rows, columns);
  const bool is_in_place = take_below(all.from, 4) == 0;
  auto dst = is_in_place ? src : any_matrix<mpnum_bf16>(all, rows, columns);
  const mpnum_norm_kind kind =
      take_below(all.from, 2) ? MPNUM_NORM_RMS : MPNUM_NORM_LAYER;
  mpnum_normalize_options options = mpnum_normalize_default();
  options.weight = place_apart<float>(all, src.columns);
  options.bias = place_apart<float>(all, src.columns);
  options.mean = place_apart<float>(all, rows);
  if (take_below(all.from, 2)) {
    options.residual = read_on_host(any_matrix<mpnum_bf16>(all, rows, columns));
    options.sum = on_host(any_matrix<mpnum_bf16>(all, rows, columns));
  }
  if (is_past(src)) return;
  try_both(
      all, [&] { return mpnum_launch_normalize_rows(kind, dst, src, &options, nullptr); },
      [&] {
        return mpnum_normalize_rows(kind, on_host(dst), read_on_host(src), &options);
      });
}
void try_activation(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const auto src = any_matrix<float>(all, rows, columns);
  const bool is_in_place = take_below(all.from, 4) == 0;
  auto dst = is_in_place ? src : any_matrix<float>(all, rows, columns);
  mpnum_activation_options options = mpnum_activation_default();
  options.is_interleaved = take_below(all.from, 8) == 0;
  if (take_below(all.from, 2)) options.bias = place<float>(all, (wide)src.columns * 4);
  if (take_below(all.from, 2))
    options.factor = read_on_host(any_matrix<float>(all, rows, columns));
  const mpnum_activation activation = (mpnum_activation)take_below(all.from, 6);
  if (is_past(src)) return;
  try_both(
      all,
      [&] {
        return mpnum_launch_activation_rows(activation, dst, src, &options, nullptr);
      },
      [&] {
        return mpnum_activation_rows(activation, on_host(dst), read_on_host(src),
                                     &options);
      });
}

/* --- Blocks --- */

mpnum_blockscaled any_blocks(layout &all, const mpnum_blockscale_format &format,
                             size_t rows, size_t columns) {
  mpnum_blockscaled made = {};
  made.stride = any_size(all, columns + columns % 2);
  made.is_swizzled = take_below(all.from, 2) ? 1 : 0;
  made.scale = 1;
  made.codes = place<uint8_t>(all, bytes_of(4, rows, columns, made.stride));
  made.scale_inv_bytes =
      mpnum_blockscale_scale_bytes(&format, rows, columns, made.is_swizzled);
  made.scale_inv = place_claimed<uint8_t>(all, &made.scale_inv_bytes);
  return made;
}
void try_mx(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const mpnum_blockscale_rule rule = (mpnum_blockscale_rule)take_below(all.from, 4);
  const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E2M1, rule);
  const auto matrix = any_matrix<float>(all, rows, columns);
  const mpnum_blockscaled blocks = any_blocks(all, format, matrix.rows, matrix.columns);
  if (take_below(all.from, 2))
    try_both(
        all,
        [&] {
          return mpnum_launch_quantize_mx<mpnum_e2m1>(&blocks, nullptr, matrix, rule,
                                                      MPNUM_QUANTIZE_ROWS, nullptr);
        },
        [&] {
          if (matrix.rows &&
              matrix.stride < matrix.columns) /* refused by launchers alone */
            return MPNUM_ERROR_STRIDE;
          return mpnum_quantize_blocks(&format, blocks, read_on_host(matrix), nullptr,
                                       nullptr);
        },
        true);
  else
    try_both(
        all,
        [&] {
          return mpnum_launch_dequantize_mx<mpnum_e2m1>(matrix, &blocks,
                                                        MPNUM_QUANTIZE_ROWS, nullptr);
        },
        [&] { return mpnum_dequantize_blocks(&format, on_host(matrix), blocks); }, true);
}
void try_reorder(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const bool is_float = take_below(all.from, 2);
  const mpnum_blockscale_format format =
      is_float ? mpnum_blockscale_fp8_1x128()
               : mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_scale_order to = (mpnum_scale_order)take_below(all.from, 4);
  mpnum_scale_order of = (mpnum_scale_order)take_below(all.from, 4);
  if (is_float && of == MPNUM_SCALES_IN_ROWS) /* a host refuses by their values */
    of = MPNUM_SCALES_DEEPGEMM;
  size_t dst_bytes = mpnum_scale_order_bytes(&format, to, rows, columns);
  size_t src_bytes = mpnum_scale_order_bytes(&format, of, rows, columns);
  void *const dst = is_float
                        ? place_claimed<float>(all, &dst_bytes)
                        : static_cast<void *>(place_claimed<uint8_t>(all, &dst_bytes));
  const void *const src = place_claimed<uint8_t>(all, &src_bytes);
  try_both(
      all,
      [&] {
        return mpnum_launch_reorder_scales(&format, to, dst, dst_bytes, of, src,
                                           src_bytes, rows, columns, nullptr);
      },
      [&] {
        return mpnum_reorder_scales(&format, to, dst, dst_bytes, of, src, src_bytes, rows,
                                    columns);
      });
}
void try_stored(layout &all) {
  const size_t rows = rows_of(all), columns = columns_of(all);
  const mpnum_stored_layout order = (mpnum_stored_layout)take_below(all.from, 8);
  static const size_t blocks[] = {0, 16, 32, 64, 128};
  mpnum_stored stored =
      mpnum_stored_of(order, rows, columns, blocks[take_below(all.from, 5)]);
  const auto matrix = any_matrix<float>(all, rows, columns);
  stored.data = place_claimed<uint32_t>(all, &stored.data_bytes);
  stored.scales = place_claimed<float>(all, &stored.scales_bytes);
  stored.zeros = place_claimed<uint32_t>(all, &stored.zeros_bytes);
  if (take_below(all.from, 2))
    try_both(
        all, [&] { return mpnum_launch_quantize_stored(stored, matrix, nullptr); },
        [&] { return mpnum_quantize_stored(stored, read_on_host(matrix)); }, true);
  else
    try_both(
        all, [&] { return mpnum_launch_dequantize_stored(matrix, stored, nullptr); },
        [&] { return mpnum_dequantize_stored(on_host(matrix), stored); }, true);
}

} // namespace

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const kinds[])(layout &) = {
      try_convert,   try_quantize,      try_dequantize, try_softmax,
      try_logsumexp, try_cross_entropy, try_normalize,  try_activation,
      try_mx,        try_reorder,       try_stored};
  fuzz_bytes from = {data, size};
  layout all = {};
  all.from = &from;
  simt::static_most = mpnum::row_scratch_; /* of rows, which alone have dynamic memory */
  simt::use(simt::schedules[take_below(&from, sizeof simt::schedules /
                                                  sizeof simt::schedules[0])]);
  kinds[take_below(&from, sizeof kinds / sizeof kinds[0])](all);
  return 0;
}
