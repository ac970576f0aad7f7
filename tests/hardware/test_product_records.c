/* SPDX-License-Identifier: MIT */
/* Sums that GPUs gave, as MATLAB-tensor-core publishes them (Khattak and Mikaitis 2025):
 * TENSOR_CORE_RECORDS names its folder model_validation. A line of a and b has the
 * elements of a dot product, as floats in hexadecimal digits, one of c and d a float in
 * binary ones. Without the folder, a visible SKIP. */
#include <mpnum/hardware/product.h>

#include "../harness/tap.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };
typedef struct record {
  const char *gpu, *type, *sum, *unit;
  mpnum_type number;
} record;
#define GPU(name, unit)                                 \
 {name, "fp16", "fp32", unit ".f16", MPNUM_TYPE_F16}, { \
  name, "fp16", "fp16", unit ".f16.f16", MPNUM_TYPE_F16 \
 }
#define GPU_16(name, unit)                                                 \
 GPU(name, unit), {name, "bf16", "fp32", unit ".bf16", MPNUM_TYPE_BF16}, { \
  name, "tf32", "fp32", unit ".tf32", MPNUM_TYPE_TF32                      \
 }
#define GPU_8(name, unit, wide, half)                                    \
 GPU_16(name, unit), {name, "E4M3", "fp32", unit wide, MPNUM_TYPE_E4M3}, \
     {name, "E5M2", "fp32", unit wide, MPNUM_TYPE_E5M2},                 \
     {name, "E4M3", "fp16", unit half, MPNUM_TYPE_E4M3}, {               \
  name, "E5M2", "fp16", unit half, MPNUM_TYPE_E5M2                       \
 }
static const record records[] = {GPU("V100", "v100"),
                                 GPU_16("A100", "a100"),
                                 GPU_16("A2", "a100"),
                                 GPU_8("Ada", "ada", ".fp8", ".fp8.f16"),
                                 GPU_8("L40S", "ada", ".fp8", ".fp8.f16"),
                                 GPU_8("H100", "h100", ".fp8", ".mma.fp8.f16"),
                                 GPU_8("H200", "h100", ".fp8", ".mma.fp8.f16"),
                                 GPU_8("B200", "b200", ".mma.fp8", ".mma.fp8.f16")};

static const char *folder;

static FILE *open_file(const record *of, char letter, const char *type) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s/%s/%c_%s_%s.txt", folder, of->gpu, of->type, letter,
           of->gpu, type);
  return fopen(path, "r");
}
/* The floats of a line; none at the end. */
static size_t read_line(FILE *from, float *to) {
  char line[MOST * 10], *at = line, *end;
  size_t n = 0;
  if (!fgets(line, sizeof line, from)) return 0;
  for (; n < MOST; ++n, at = end) {
    const unsigned long bits = strtoul(at, &end, 16);
    if (end == at) break;
    to[n] = mpnum_from_bits_f32((uint32_t)bits);
  }
  return n;
}
static int read_binary(FILE *from, float *to) {
  char line[64];
  if (!fgets(line, sizeof line, from)) return 0;
  *to = mpnum_from_bits_f32((uint32_t)strtoul(line, NULL, 2));
  return 1;
}
/* What hardware has for a float of a file. */
static void put(mpnum_type type, void *dst, size_t i, float x) {
  const uint32_t code = mpnum_encode(mpnum_format_of(type), x, MPNUM_ROUND_NEAREST_EVEN,
                                     MPNUM_OVERFLOW_SATURATE, 0);
  if (type == MPNUM_TYPE_TF32)
    ((uint32_t *)dst)[i] = code;
  else if (type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16)
    ((uint16_t *)dst)[i] = (uint16_t)code;
  else
    ((uint8_t *)dst)[i] = (uint8_t)code;
}
static void check_record(const record *of) {
  FILE *files[4] = {open_file(of, 'a', of->type), open_file(of, 'b', of->type),
                    open_file(of, 'c', "fp32"), open_file(of, 'd', of->sum)};
  const mpnum_product_unit unit = mpnum_product_unit_of(of->unit);
  /* those of wgmma begin from 0 */
  const int is_wgmma =
      of->gpu[0] == 'H' && of->type[0] == 'E' && unit.sum == MPNUM_TYPE_F32;
  uint32_t a[MOST], b[MOST];
  float x[MOST], y[MOST], c = 0, want = 0, got = 0;
  int total = 0, wrong = 0;
  size_t n, i;
  if (!files[0] || !files[1] || !files[2] || !files[3]) {
    printf("# %s %s to %s: no files\n", of->gpu, of->type, of->sum);
    return;
  }
  while ((n = read_line(files[0], x)) > 0 && read_line(files[1], y) == n &&
         read_binary(files[2], &c) && read_binary(files[3], &want)) {
    const mpnum_const_matrix start = mpnum_const_matrix_of(MPNUM_TYPE_F32, &c, 1, 1);
    mpnum_status status;
    for (i = 0; i < n; ++i) {
      put(of->number, a, i, x[i]);
      put(of->number, b, i, y[i]);
    }
    status = mpnum_product(
        mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1), unit,
        mpnum_product_operand_of(mpnum_const_matrix_of(of->number, a, 1, n)),
        mpnum_product_operand_of(mpnum_const_matrix_of(of->number, b, 1, n)),
        is_wgmma ? NULL : &start);
    if (status != MPNUM_OK) break;
    if (mpnum_bits_f32(got) != mpnum_bits_f32(want)) {
      if (wrong++ < 3)
        printf("# %s %s: %a, recorded %a\n", of->gpu, of->unit, (double)got,
               (double)want);
    }
    ++total;
  }
  CHECK(total > 0 && wrong == 0, "%s %s to %s by %s: %d of %d differ", of->gpu, of->type,
        of->sum, of->unit, wrong, total);
  printf("# %s %s to %s by %s: %d sums, %d differ\n", of->gpu, of->type, of->sum,
         of->unit, total, wrong);
  for (i = 0; i < 4; ++i)
    fclose(files[i]);
}
static void units_give_what_gpus_gave(void) {
  size_t i = 0;
  for (; i < sizeof records / sizeof *records; ++i)
    check_record(&records[i]);
}

int main(void) {
  folder = getenv("TENSOR_CORE_RECORDS");
  if (!folder) {
    printf("1..0 # SKIP TENSOR_CORE_RECORDS is not set\n");
    return 0;
  }
  TAP_RUN(units_give_what_gpus_gave);
  return tap_done();
}
