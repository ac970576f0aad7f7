/* SPDX-License-Identifier: MIT */
/* The laws of launchers of blocks, and of tensors with a scale. */
#include "device_laws.hpp"
#define SOURCE_TYPES MPNUM_TYPE_F32, LAW_NARROW_TYPE
#define CODE_TYPES   LAW_CODE_TYPE
#include "stored_draws.h"

#include <mpnum/blocks/stored_matrix.cuh>

namespace {

/* f of the one of source_types that types[0] is. */
template <class F> mpnum_status of_source(const law_piece *at, F f) {
  choose_order(at);
  if (at->draw->types[0] == MPNUM_TYPE_F32) return status_of(f(kind<float>()));
  if (at->draw->types[0] == LAW_NARROW_TYPE) return status_of(f(kind<narrow>()));
  return MPNUM_ERROR_TYPE;
}
int sides(const law_draw *d, int which) {
  return d->choice[3 * which + 2] ? MPNUM_QUANTIZE_COLUMNS : MPNUM_QUANTIZE_ROWS;
}

/* The launchers by the number that format_of gives their format. */
enum launcher {
  MX_E4M3 = 0,
  MX_E2M1 = 4,
  NVFP4 = 6,
  NVFP4_SQUARE = 7,
  FP8 = 8,
  FP8_SQUARE = 9,
  NVFP4_WIDE = 13,
  NVFP4_WIDE_SQUARE = 14
};

template <int which, class T>
cudaError_t quantize_by(const law_piece *at, const mpnum_blockscaled *row,
                        const mpnum_blockscaled *column, const T *src, int what) {
  const law_draw *d = at->draw;
  const mpnum_blockscale_format format = format_of(d, 0);
  const auto from = mpnum::matrix_of(src, at->rows, at->columns, at->stride[SRC]);
  static float scale; /* in device memory */
  scale = d->number[0];
  if constexpr (which == MX_E4M3)
    return mpnum_launch_quantize_mx<mpnum_e4m3>(row, column, from, format.rule, what,
                                                nullptr);
  if constexpr (which == MX_E2M1)
    return mpnum_launch_quantize_mx<mpnum_e2m1>(row, column, from, format.rule, what,
                                                nullptr);
  if constexpr (which == NVFP4 || which == NVFP4_SQUARE || which >= NVFP4_WIDE) {
    constexpr unsigned high = which == NVFP4 || which == NVFP4_WIDE ? 1 : 16;
    constexpr mpnum_type type = which >= NVFP4_WIDE ? MPNUM_TYPE_UE5M3 : MPNUM_TYPE_E4M3;
    const mpnum_quantize_options words = words_of(at);
    if (d->choice[7])
      return mpnum_launch_quantize_nvfp4_sr<high, type>(row, column, from, &scale, what,
                                                        words.seed, words.offset, nullptr,
                                                        format.rounding);
    return mpnum_launch_quantize_nvfp4<high, type>(row, column, from, &scale, what,
                                                   nullptr);
  }
  constexpr unsigned edge = which == FP8 ? 1 : 128;
  if constexpr (which == FP8 || which == FP8_SQUARE)
    return mpnum_launch_quantize_fp8<mpnum_e4m3, edge>(row, column, from, format.rule,
                                                       format.amax_floor, what, nullptr);
}
template <int which, class T>
cudaError_t dequantize_by(const law_piece *at, T *dst, const mpnum_blockscaled *src,
                          int what) {
  const auto to = mpnum::matrix_of(dst, at->rows, at->columns, at->stride[SRC]);
  static float scale;
  scale = at->draw->number[0];
  if constexpr (which == MX_E4M3)
    return mpnum_launch_dequantize_mx<mpnum_e4m3>(to, src, what, nullptr);
  if constexpr (which == MX_E2M1)
    return mpnum_launch_dequantize_mx<mpnum_e2m1>(to, src, what, nullptr);
  constexpr unsigned high = which == NVFP4 || which == NVFP4_WIDE ? 1 : 16;
  constexpr unsigned edge = which == FP8 ? 1 : 128;
  if constexpr (which >= NVFP4_WIDE)
    return mpnum_launch_dequantize_nvfp4<high, MPNUM_TYPE_UE5M3>(to, src, &scale, what,
                                                                 nullptr);
  if constexpr (which == NVFP4 || which == NVFP4_SQUARE)
    return mpnum_launch_dequantize_nvfp4<high>(to, src, &scale, what, nullptr);
  if constexpr (which == FP8 || which == FP8_SQUARE)
    return mpnum_launch_dequantize_fp8<mpnum_e4m3, edge>(to, src, what, nullptr);
}

/* f of a draw's type and of its format, which is one of two. Launchers know no losses. */
template <int first, int second, class F>
mpnum_status of_kernel(const law_piece *at, F f) {
  return of_source(at, [&](auto from) {
    return at->draw->choice[0] == first ? f(from, std::integral_constant<int, first>())
                                        : f(from, std::integral_constant<int, second>());
  });
}
void prepare(law_draw *d) {
  align_operands(d);
  d->operands[LOSSES].bits = 0;
  d->operands[SCALES].alignment = 4;
}
/* What draw leaves to chance is drawn until it is of these formats. */
template <int first, int second, bool is_stochastic, void (*draw)(law_draw *)>
void draw_of(law_draw *d) {
  for (;;) {
    draw(d);
    const bool is_one = d->choice[0] == first || d->choice[0] == second;
    if (is_one && (d->choice[7] != 0) == is_stochastic) break;
    forget_operands(d);
  }
  prepare(d);
}
template <int first, int second> mpnum_status quantize_launch(const law_piece *at) {
  const mpnum_blockscaled codes = codes_of(at, 0);
  const int what = sides(at->draw, 0);
  const bool is_by_row = what == MPNUM_QUANTIZE_ROWS;
  return of_kernel<first, second>(at, [&](auto from, auto which) {
    typedef typename decltype(from)::type T;
    return quantize_by<which.value>(at, is_by_row ? &codes : nullptr,
                                    is_by_row ? nullptr : &codes, data<const T>(at, SRC),
                                    what);
  });
}
template <int first, int second> mpnum_status dequantize_launch(const law_piece *at) {
  const mpnum_blockscaled codes = codes_of(at, 0);
  return of_kernel<first, second>(at, [&](auto from, auto which) {
    typedef typename decltype(from)::type T;
    return dequantize_by<which.value>(at, data<T>(at, SRC), &codes, sides(at->draw, 0));
  });
}

/* Codes of rows and of columns by one launch, which mpnum_quantize_blocks_both gives. */
template <int first, int second> void draw_sides(law_draw *d) {
  mpnum_blockscale_format format;
  draw_size(d, 16000);
  d->choice[0] = d->choice[3] = law_below(d, 2) ? first : second;
  d->choice[1] = d->choice[4] = (int)law_below(d, 4);
  d->choice[5] = 1;
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  draw_codes(d, 0);
  draw_losses(d);
  draw_codes(d, 1);
  d->number[0] = 0x1.5p+4f;
  format = format_of(d, 0);
  d->row_unit = format.rows * format.columns;
  prepare(d);
  d->operands[MORE_SCALES].alignment = 4;
}
template <int first, int second> mpnum_status sides_launch(const law_piece *at) {
  const mpnum_blockscaled row = codes_of(at, 0), column = codes_of(at, 1);
  return of_kernel<first, second>(at, [&](auto from, auto which) {
    typedef typename decltype(from)::type T;
    return quantize_by<which.value>(at, &row, &column, data<const T>(at, SRC),
                                    MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS);
  });
}
template <int first, int second> mpnum_status sides_one_by_one(const law_piece *at) {
  const mpnum_blockscaled row = codes_of(at, 0), column = codes_of(at, 1);
  return of_kernel<first, second>(at, [&](auto from, auto which) {
    typedef typename decltype(from)::type T;
    const T *const src = data<const T>(at, SRC);
    const cudaError_t error =
        quantize_by<which.value>(at, &row, nullptr, src, MPNUM_QUANTIZE_ROWS);
    if (error != cudaSuccess) return error;
    return quantize_by<which.value>(at, nullptr, &column, src, MPNUM_QUANTIZE_COLUMNS);
  });
}
template <int (*spoil)(law_draw *, law_piece *, int), int most>
int spoil_launch(law_draw *d, law_piece *at, int k) {
  return k < most && spoil(d, at, k + 1);
}

void draw_nvfp4_scale(law_draw *d) {
  draw_amax(d);
  d->row_unit = 0;
  align_operands(d);
}
mpnum_status nvfp4_scale_launch(const law_piece *at) {
  return of_source(at, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_nvfp4_scale(
        data<float>(at, 1),
        mpnum::matrix_of(data<const T>(at, SRC), at->rows, at->columns, at->stride[SRC]),
        nullptr);
  });
}
mpnum_status nvfp4_scale_on_host(const law_piece *at) {
  float amax = 0;
  const mpnum_status status = mpnum_finite_amax_rows(&amax, source_of(at));
  if (status == MPNUM_OK) *data<float>(at, 1) = mpnum_nvfp4_scale(amax);
  return status;
}

/* --- A scale for each tensor --- */

template <void (*draw)(law_draw *)> void draw_tensor(law_draw *d) {
  draw(d);
  align_operands(d);
  d->operands[T_LOSSES].bits = 0;
}
float *scale_of(const law_piece *at) {
  static float scale;
  scale = at->draw->number[0];
  return &scale;
}
mpnum_status quantize_scaled_launch(const law_piece *at) {
  return of_source(at, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_quantize_array(
        data<code_type>(at, T_DST), data<const T>(at, T_SRC), at->rows ? at->columns : 0,
        scale_of(at), static_cast<float *>(nullptr), nullptr);
  });
}
mpnum_status dequantize_scaled_launch(const law_piece *at) {
  return of_source(at, [&](auto into) {
    typedef typename decltype(into)::type T;
    return mpnum_launch_dequantize_array(
        data<T>(at, T_DST), data<const code_type>(at, T_SRC), at->rows ? at->columns : 0,
        scale_of(at), nullptr);
  });
}
/* Scale and amax are results of their own. */
enum { C_SRC, C_DST, C_SCALE_INV, C_AMAX, C_TRANSPOSED = 2 };
void draw_current(law_draw *d) {
  d->rows = 1;
  d->columns = law_size(d, 512, 3000);
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_result(d, OF_ELEMENTS, 8, 0);
  for (int k = 0; k < 2; ++k)
    d->operands[law_result(d, OF_CALL, 32, 1)].is_needed = 1;
  align_operands(d);
}
mpnum_status current_launch(const law_piece *at) {
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  return of_source(at, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_quantize_current(
        data<code_type>(at, C_DST), data<const T>(at, C_SRC), at->rows ? at->columns : 0,
        &recipe, data<float>(at, C_SCALE_INV), data<float>(at, C_AMAX), nullptr);
  });
}
mpnum_status current_on_host(const law_piece *at) {
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  const mpnum_type type = at->draw->types[0];
  const size_t n = at->columns;
  if (n == 0) return MPNUM_OK;
  const float amax =
      type == MPNUM_TYPE_F32
          ? mpnum_amax_f32(data<const float>(at, C_SRC), n)
          : LAW_JOINED(mpnum_amax_, LAW_NARROW)(data<const narrow>(at, C_SRC), n);
  const float scale = mpnum_scale_from_amax(
      amax, mpnum_format_max(mpnum_format_of(LAW_CODE_TYPE)), &recipe.options);
  *data<float>(at, C_AMAX) = amax;
  *data<float>(at, C_SCALE_INV) = mpnum_scale_inv(scale);
  return mpnum_quantize_array(LAW_CODE_TYPE, at->at[C_DST], type, at->at[C_SRC], n, scale,
                              nullptr);
}
/* The transpose lies in columns x rows bytes. */
void draw_transpose(law_draw *d) {
  d->columns = law_size(d, 128, 300);
  d->rows = law_size(d, 64, 90);
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_result(d, OF_ELEMENTS, 8, 0);
  d->operands[law_result(d, OF_CALL, 8, d->rows * d->columns)].is_needed = 1;
  d->number[0] = (float)(1 + law_below(d, 300));
  align_operands(d);
}
mpnum_status transpose_launch(const law_piece *at) {
  return of_source(at, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_quantize_transpose(
        mpnum::matrix_of(data<code_type>(at, C_DST), at->rows, at->columns,
                         at->stride[C_DST]),
        mpnum::matrix_of(data<code_type>(at, C_TRANSPOSED), at->columns, at->rows),
        mpnum::matrix_of(data<const T>(at, C_SRC), at->rows, at->columns,
                         at->stride[C_SRC]),
        scale_of(at), static_cast<float *>(nullptr), nullptr);
  });
}
mpnum_status transpose_on_host(const law_piece *at) {
  const size_t size = (size_t)law_bits(at->draw->types[0]) / 8;
  for (size_t r = 0; r < at->rows; ++r) {
    uint8_t *codes = data<uint8_t>(at, C_DST) + r * at->stride[C_DST];
    const mpnum_status status = mpnum_quantize_array(
        LAW_CODE_TYPE, codes, at->draw->types[0],
        data<const uint8_t>(at, C_SRC) + r * at->stride[C_SRC] * size, at->columns,
        at->draw->number[0], nullptr);
    if (status != MPNUM_OK) return status;
    for (size_t c = 0; c < at->columns; ++c)
      data<uint8_t>(at, C_TRANSPOSED)[c * at->rows + r] = codes[c];
  }
  return MPNUM_OK;
}
int spoil_stride(law_draw *d, law_piece *at, int k) {
  if (d->rows < 2) return 0;
  at->stride[C_DST] = d->columns - 1;
  return k == 0;
}

/* --- Matrices as other libraries store them --- */

template <void (*draw)(law_draw *)> void draw_stored_launch(law_draw *d) {
  draw(d);
  align_operands(d);
  if (d->operands[S_SCALES].bits)
    d->operands[S_SCALES].alignment = d->choice[0] < 6 ? 4 : 2;
}
mpnum_status quantize_stored_launch(const law_piece *at) {
  return of_source(at, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_quantize_stored(stored_at(at, at->rows), matrix_at<T>(at, S_SRC),
                                        nullptr);
  });
}
mpnum_status dequantize_stored_launch(const law_piece *at) {
  return of_source(at, [&](auto to) {
    typedef typename decltype(to)::type T;
    return mpnum_launch_dequantize_stored(matrix_at<T>(at, S_SRC),
                                          stored_at(at, at->rows), nullptr);
  });
}

template <void (*draw)(law_draw *)> void draw_move_launch(law_draw *d) {
  draw(d);
  align_operands(d);
}
mpnum_status from_blocks_launch(const law_piece *at) {
  choose_order(at);
  return status_of(
      mpnum_launch_stored_from_blocks(stored_at(at, at->rows), moved_at(at), nullptr));
}
mpnum_status to_blocks_launch(const law_piece *at) {
  choose_order(at);
  return status_of(
      mpnum_launch_stored_to_blocks(moved_at(at), stored_at(at, at->rows), nullptr));
}

const unsigned cut =
    DEVICE_LAWS | HOLDS(LAW_STRIDED) | HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE);
const unsigned array = DEVICE_LAWS | HOLDS(LAW_SPLIT);
#define BLOCKS(name, first, second, sr)                                     \
 {                                                                          \
  "mpnum_launch_quantize_" name, draw_of<first, second, sr, draw_quantize>, \
      quantize_launch<first, second>, cut, BESIDE(quantize),                \
      spoil_launch<spoil_blocks, 3>, nullptr                                \
 }
#define BACK(name, first, second)                                                  \
 {                                                                                 \
  "mpnum_launch_dequantize_" name, draw_of<first, second, false, draw_dequantize>, \
      dequantize_launch<first, second>, cut, BESIDE(dequantize), nullptr, nullptr  \
 }
#define SIDES(name, first, second)                                       \
 {                                                                       \
  "mpnum_launch_quantize_" name "/both", draw_sides<first, second>,      \
      sides_launch<first, second>, cut & ~HOLDS(LAW_ALONE),              \
      {{LAW_DEVICE, both}, {LAW_BOTH, sides_one_by_one<first, second>}}, \
      spoil_launch<spoil_both, 6>, nullptr                               \
 }

const law_subject subjects[] = {
    BLOCKS("mx", MX_E4M3, MX_E2M1, false),
    SIDES("mx", MX_E4M3, MX_E2M1),
    BACK("mx", MX_E4M3, MX_E2M1),
    BLOCKS("nvfp4", NVFP4, NVFP4_SQUARE, false),
    SIDES("nvfp4", NVFP4, NVFP4_SQUARE),
    BLOCKS("nvfp4_sr", NVFP4, NVFP4_SQUARE, true),
    BACK("nvfp4", NVFP4, NVFP4_SQUARE),
    BLOCKS("nvfp4/ue5m3", NVFP4_WIDE, NVFP4_WIDE_SQUARE, false),
    BLOCKS("nvfp4_sr/ue5m3", NVFP4_WIDE, NVFP4_WIDE_SQUARE, true),
    BACK("nvfp4/ue5m3", NVFP4_WIDE, NVFP4_WIDE_SQUARE),
    BLOCKS("fp8", FP8, FP8_SQUARE, false),
    BACK("fp8", FP8, FP8_SQUARE),
    {"mpnum_launch_quantize_stored", draw_stored_launch<draw_quantize_stored>,
     quantize_stored_launch, DRAWN(3) | DEVICE_LAWS | HOLDS(LAW_STRIDED),
     BESIDE(quantize_stored), spoil_stored, nullptr},
    {"mpnum_launch_dequantize_stored", draw_stored_launch<draw_dequantize_stored>,
     dequantize_stored_launch, DRAWN(6) | DEVICE_LAWS | HOLDS(LAW_STRIDED),
     BESIDE(dequantize_stored), spoil_stored, nullptr},
    {"mpnum_launch_stored_from_blocks", draw_move_launch<draw_stored_from_blocks>,
     from_blocks_launch, DEVICE_LAWS | HOLDS(LAW_STRIDED), BESIDE(stored_from_blocks),
     spoil_move, nullptr},
    {"mpnum_launch_stored_to_blocks", draw_move_launch<draw_stored_to_blocks>,
     to_blocks_launch, DEVICE_LAWS | HOLDS(LAW_STRIDED), BESIDE(stored_to_blocks),
     spoil_move, nullptr},
    {"mpnum_launch_nvfp4_scale", draw_nvfp4_scale, nvfp4_scale_launch,
     (DEVICE_LAWS | HOLDS(LAW_STRIDED)) & ~HOLDS(LAW_EMPTY), BESIDE(nvfp4_scale_on_host),
     nullptr, nullptr},
    {"mpnum_launch_quantize_array", draw_tensor<draw_quantize_array>,
     quantize_scaled_launch, array, BESIDE(quantize_array), nullptr, nullptr},
    {"mpnum_launch_dequantize_array", draw_tensor<draw_dequantize_array>,
     dequantize_scaled_launch, array, BESIDE(dequantize_array), nullptr, nullptr},
    {"mpnum_launch_quantize_current", draw_current, current_launch, DEVICE_LAWS,
     BESIDE(current_on_host), nullptr, nullptr},
    {"mpnum_launch_quantize_transpose", draw_transpose, transpose_launch,
     DEVICE_LAWS | HOLDS(LAW_STRIDED), BESIDE(transpose_on_host), spoil_stride, nullptr},
};

} // namespace

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   mpnum_isa_force, 20);
}
