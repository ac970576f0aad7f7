/* SPDX-License-Identifier: MIT */
/* Blocks and arrays at a scale take no longer for some data: tests/harness/data_sets.h.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

enum { MOST = 8192 };
static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
enum { TYPES = sizeof types / sizeof types[0] };
/* Besides those of all tests: every block near some power of two, any; all elements of
 * the tensor near one. */
enum { SPREAD = DATA, POWER, SETS };
static const char *const more_names[] = {"spread blocks", "one power"};

static float x[MOST];
static uint8_t source[4 * MOST], codes[MOST], scales[4 * MOST];
static struct call {
  mpnum_blockscale_format format;
  int of_array; /* at one scale, without blocks; the type of its codes is: */
  mpnum_type code_type;
  mpnum_type type;
  size_t rows, columns;
  float scale;
  int has_losses, is_back;
  mpnum_status status;
  mpnum_quantize_losses losses;
  uint8_t codes[MOST], scales[4 * MOST], back[4 * MOST];
} call, want;

static mpnum_blockscaled blocks_at(uint8_t *to_codes, uint8_t *to_scales) {
  mpnum_blockscaled blocks;
  const size_t group = call.format.element_bits == 8 ? 1 : 4;
  blocks.codes = to_codes;
  blocks.stride = (call.columns + group - 1) / group * group;
  blocks.scale_inv = to_scales;
  blocks.scale_inv_bytes = sizeof scales;
  blocks.is_swizzled = 0;
  blocks.scale = call.scale;
  return blocks;
}
static void convert(void) {
  const mpnum_quantize_options options = {5, 7};
  const size_t n = call.rows * call.columns;
  if (call.of_array && call.is_back) {
    call.status = mpnum_dequantize_array(call.type, call.back, call.code_type, codes, n,
                                         call.scale);
  } else if (call.of_array) {
    call.status = mpnum_quantize_array(call.code_type, call.codes, call.type, source, n,
                                       call.scale, call.has_losses ? &call.losses : NULL);
  } else if (call.is_back) {
    call.status = mpnum_dequantize_blocks(
        &call.format, mpnum_matrix_of(call.type, call.back, call.rows, call.columns),
        blocks_at(codes, scales));
  } else {
    call.status = mpnum_quantize_blocks(
        &call.format, blocks_at(call.codes, call.scales),
        mpnum_const_matrix_of(call.type, source, call.rows, call.columns), &options,
        call.has_losses ? &call.losses : NULL);
  }
}
static void prepare(void) {
  memset(call.codes, 0, sizeof call.codes);
  memset(call.scales, 0, sizeof call.scales);
  memset(call.back, 0, sizeof call.back);
  memset(&call.losses, 0, sizeof call.losses);
}
static void check_call(const char *name, int may_trap, const char *data_name,
                       mpnum_isa isa) {
  prepare();
  run_scalar(convert);
  want = call;
  prepare();
  if (may_trap) usual_word = 0x1f80u;
  CHECK(!traps(convert), "%s%s of %zu x %zu %s of %s traps with %s", name,
        call.is_back ? " back" : "", call.rows, call.columns, mpnum_type_name(call.type),
        data_name, mpnum_isa_name(isa));
  usual_word = 0x1680u;
  CHECK(call.status == MPNUM_OK && want.status == MPNUM_OK &&
            memcmp(call.codes, want.codes, sizeof want.codes) == 0 &&
            memcmp(call.scales, want.scales, sizeof want.scales) == 0 &&
            memcmp(call.back, want.back, sizeof want.back) == 0 &&
            memcmp(&call.losses, &want.losses, sizeof want.losses) == 0,
        "%s%s of %zu x %zu %s of %s gives other bits with %s", name,
        call.is_back ? " back" : "", call.rows, call.columns, mpnum_type_name(call.type),
        data_name, mpnum_isa_name(isa));
}

static void draw_source(int set) {
  const int of_all = (int)(random32() % 300);
  int power = of_all;
  for (size_t i = 0; i < call.rows * call.columns; ++i) {
    const uint32_t word = random32();
    if (set == SPREAD && i % 32 == 0) power = (int)(random32() % 300);
    if (set < DATA) {
      x[i] = element_of((data)set);
    } else { /* 8 powers of two below some other, as integers as few are normal */
      const int field = power - (int)(word % 8);
      const uint32_t fraction = random32() & 0x007fffffu;
      const int down = field < 1 ? 1 - field : 0;
      const uint32_t low = down > 24 ? 0 : (fraction | 0x00800000u) >> down;
      x[i] = mpnum_from_bits_f32(
          (word & 0x80000000u) |
          (field < 1 ? low : ((uint32_t)(field > 254 ? 254 : field) << 23) | fraction));
    }
  }
  usual_word = 0x1f80u;
  CHECK(mpnum_convert_array(call.type, source, MPNUM_TYPE_F32, x,
                            call.rows * call.columns, MPNUM_ROUND_NEAREST_EVEN,
                            MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
        "no source");
  usual_word = 0x1680u;
}
/* Any codes, and scales that are any, or usual ones. */
static void draw_codes(int is_usual) {
  for (size_t i = 0; i < MOST; ++i) {
    const uint32_t word = random32();
    float scale = mpnum_from_bits_f32(1 + word % 0x7f7fffffu);
    codes[i] = (uint8_t)(word >> 24);
    if (is_usual) scale = mpnum_from_bits_f32(0x30000000u + word % 0x20000000u);
    if (call.format.scale_type == MPNUM_TYPE_F32) {
      memcpy(scales + 4 * i, &scale, 4);
    } else if (call.format.scale_type == MPNUM_TYPE_E8M0) {
      scales[i] = (uint8_t)(is_usual ? 100 + word % 60 : word >> 8);
    } else {
      scales[i] = (uint8_t)(word >> 8 & 0x7f);
    }
  }
}
static void draw_shape(void) {
  static const size_t shapes[][2] = {{4, 64},   {3, 100}, {2, 1024}, {1, 256},
                                     {1, 5000}, {64, 64}, {33, 96}};
  const size_t *shape = shapes[random32() % 7];
  call.rows = shape[0];
  call.columns = shape[1];
  call.type = types[random32() % TYPES];
  call.has_losses = random32() % 2 == 0;
}
/* Both directions. NVFP4 of a tensor whose amax is below 2^-105 may trap. */
static void check_format(mpnum_blockscale_format format, const char *name,
                         mpnum_isa isa) {
  for (int set = NORMAL; set < SETS; ++set) {
    const char *data_name = set < DATA ? data_names[set] : more_names[set - DATA];
    const int is_far = set == BITS || set == LOW || set >= DATA;
    call.of_array = call.is_back = 0;
    call.format = format;
    call.scale = 1;
    draw_shape();
    draw_source(set);
    if (format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL) {
      float amax = 0;
      usual_word = 0x1f80u;
      CHECK(mpnum_finite_amax_rows(&amax,
                                   mpnum_const_matrix_of(call.type, source, call.rows,
                                                         call.columns)) == MPNUM_OK,
            "no amax");
      usual_word = 0x1680u;
      call.scale = mpnum_nvfp4_scale(amax);
    }
    check_call(name, is_far && format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL, data_name, isa);
    call.is_back = 1;
    draw_codes(set % 2);
    check_call(name, is_far && format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL,
               set % 2 ? "usual scales" : "any scales", isa);
  }
}
static void check_blocks(mpnum_isa isa) {
  static const mpnum_type elements[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                        MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  state = 13;
  for (int rule = 0; rule < 4; ++rule) {
    for (int e = 0; e < 5; ++e) {
      mpnum_blockscale_format format =
          mpnum_blockscale_mx(elements[e], (mpnum_blockscale_rule)rule);
      check_format(format, "MX", isa);
      check_format(mpnum_blockscale_transposed(format), "MX of columns", isa);
      format.rounding = MPNUM_ROUND_STOCHASTIC;
      check_format(format, "stochastic MX", isa);
    }
    check_format(mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule), "MXINT8", isa);
  }
  for (int k = 0; k < 16; ++k) {
    mpnum_blockscale_format format =
        k % 4 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16();
    check_format(format, "NVFP4", isa);
    if (k % 4 == 3) continue;
    format.scale_type = MPNUM_TYPE_UE5M3;
    check_format(format, "NVFP4 with ue5m3", isa);
  }
  check_format(mpnum_blockscale_int8_row(), "int8 rows", isa);
  check_format(mpnum_blockscale_int8_tensor(), "int8", isa);
  for (int k = 0; k < 6; ++k) {
    mpnum_blockscale_format format =
        k % 2 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
    if (k >= 2) format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
    if (k >= 4) format.amax_floor = 1e-4f;
    check_format(format, "DeepSeek's", isa);
    check_format(mpnum_blockscale_transposed(format), "DeepSeek's of columns", isa);
    format.rounding = MPNUM_ROUND_STOCHASTIC;
    check_format(format, "stochastic DeepSeek's", isa);
  }
}
static void check_arrays(mpnum_isa isa) {
  static const mpnum_type code_types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2,
                                          MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M4};
  static const float usual_scales[] = {1, 0x1.8p20f, 0x1p-30f, 448};
  state = 17;
  for (int set = NORMAL; set < SETS; ++set)
    for (int t = 0; t < 16; ++t) {
      const int is_usual = t % 4 != 0;
      call.of_array = 1;
      call.is_back = 0;
      call.code_type = code_types[t / 4];
      call.scale = usual_scales[random32() % 4];
      if (!is_usual) call.scale = mpnum_from_bits_f32(1 + random32() % 0x7f7fffffu);
      draw_shape();
      draw_source(set);
      check_call(mpnum_type_name(call.code_type), !is_usual,
                 set < DATA ? data_names[set] : more_names[set - DATA], isa);
      call.is_back = 1;
      draw_codes(1);
      check_call(mpnum_type_name(call.code_type), !is_usual, "any codes", isa);
    }
}
static void no_data_set_makes_blocks_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_blocks);
}
static void no_data_set_makes_arrays_at_a_scale_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_arrays);
}
static float largest;
static void find_amax(void) { largest = mpnum_amax_f32(x, MOST / 2); }
static void check_amax(mpnum_isa isa) {
  for (int set = NORMAL; set < DATA; ++set) {
    for (int i = 0; i < MOST; ++i)
      x[i] = element_of((data)set);
    CHECK(!traps(find_amax), "amax traps with %s of %s", mpnum_isa_name(isa),
          data_names[set]);
  }
}
static void no_data_set_makes_amax_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_amax);
}

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_blocks_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_arrays_at_a_scale_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_amax_trap);
  return tap_done();
}
