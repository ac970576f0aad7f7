/* SPDX-License-Identifier: MIT */
/* Sums that another program computed, of elements drawn as conformance/products.jsonl
 * says: those of conformance/products.xz, which xz unpacks, or of the file named. */
#define _POSIX_C_SOURCE 200809L /* popen */ /* NOLINT(bugprone-reserved-identifier) */
#include "../conformance/packed.h"
#include "../conformance/vector_lines.h"

#include <mpnum/blocks/blockscale.h>
#include <mpnum/hardware/product.h>

enum { MOST = 64, START = 128, UNITS = 37, KEPT = 10000 };
static FILE *results;
static long long each = KEPT, wrong;

/* SplitMix64: its upper half decides what there is to choose. */
static uint64_t word_of(uint64_t number, int i) {
  uint64_t z = 0x9e3779b97f4a7c15ull * (65536 * number + (uint64_t)i + 1);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}
static uint32_t high(uint64_t word) { return (uint32_t)(word >> 32); }

static mpnum_type type_named(const char *name) {
  int type = MPNUM_TYPE_F64;
  for (; type <= MPNUM_TYPE_E2M1; ++type)
    if (strcmp(name, mpnum_type_name((mpnum_type)type)) == 0) return (mpnum_type)type;
  return (mpnum_type)0;
}
static uint32_t draw_element(mpnum_type type, uint64_t word, int kind) {
  const mpnum_format format = mpnum_format_of(type);
  const uint32_t mantissa = ((uint32_t)1 << format.mantissa_bits) - 1;
  const int spread = kind % 2 == 0 ? 2 : format.exponent_bits == 8 ? 20 : 6;
  const int most = (int)(format.max_code >> format.mantissa_bits);
  int field = format.bias - spread + (int)(high(word) % (2 * (unsigned)spread + 1));
  uint32_t code;
  field = field < 0 ? 0 : field > most ? most : field;
  code = (uint32_t)field << format.mantissa_bits | ((uint32_t)word & mantissa);
  if (kind == 2 && format.exponent_bits < 8) code = 1 + high(word) % format.max_code;
  code = code < 1 ? 1 : code > format.max_code ? format.max_code : code;
  code |= ((uint32_t)word >> 31) << (format.exponent_bits + format.mantissa_bits);
  return type == MPNUM_TYPE_TF32 ? code << 13 : code;
}
static float draw_start(uint64_t word, int kind, int is_half, int has_scales) {
  const int up = kind != 1 ? 8 : is_half ? 10 : 20;
  const int low = kind != 1 ? -8 : is_half ? -14 : has_scales ? -36 : -20;
  const int exponent = low + (int)((word >> 40) % (uint64_t)(1 + up - low));
  const uint32_t mantissa = (uint32_t)word & (is_half ? 0x7fe000 : 0x7fffff);
  if (kind == 3 || high(word) % 5 == 0) return 0;
  return mpnum_from_bits_f32(((uint32_t)word >> 31) << 31 |
                             (uint32_t)(127 + exponent) << 23 | mantissa);
}

/* A side of a sum: bytes as the library takes them; of e2m1 with scales two in a byte. */
typedef struct side {
  mpnum_type type;
  int is_packed;
  unsigned char bytes[4 * MOST], scales[4];
  mpnum_blockscale_format format;
} side;
static void put_element(side *to, int n, uint32_t code) {
  const uint16_t half = (uint16_t)code;
  const size_t size = (size_t)mpnum_type_bits_(to->type) / 8;
  if (to->is_packed)
    to->bytes[n / 2] = (unsigned char)(n % 2 ? to->bytes[n / 2] | code << 4 : code);
  else if (size == 4)
    memcpy(to->bytes + 4 * n, &code, 4);
  else if (size == 2)
    memcpy(to->bytes + 2 * n, &half, 2);
  else
    to->bytes[n] = (unsigned char)code;
}
static mpnum_product_operand operand_of(side *from, const char *scale, size_t n) {
  mpnum_blockscaled values;
  if (scale[0] == 'n')
    return mpnum_product_operand_of(mpnum_const_matrix_of(from->type, from->bytes, 1, n));
  from->format = scale[1] == '4'
                     ? mpnum_blockscale_nvfp4_1x16()
                     : mpnum_blockscale_mx(from->type, MPNUM_BLOCKSCALE_FLOOR);
  values = mpnum_blockscaled_of(&from->format, from->bytes, from->scales, 4, n);
  values.scale = 1;
  return mpnum_product_blocks_of(&from->format, values, 1, n);
}
/* Sums of one unit. */
static void check_unit(const char *line) {
  char unit[32], scale[8], sum[8], a[16], b[16];
  uint64_t block = 0, elements = 0, number = 0;
  mpnum_product_unit named;
  side sides[2];
  text_of(line, "unit", unit, sizeof unit);
  text_of(line, "a", a, sizeof a);
  text_of(line, "b", b, sizeof b);
  text_of(line, "sum", sum, sizeof sum);
  text_of(line, "scale", scale, sizeof scale);
  block = strtoull(values_of(line, "block"), NULL, 10);
  elements = strtoull(values_of(line, "elements"), NULL, 10);
  CHECK(elements >= 1 && elements <= MOST && (!block || elements / block <= 4), "%s",
        line);
  named = mpnum_product_unit_of(unit);
  sides[0].type = type_named(a);
  sides[1].type = type_named(b);
  for (; number < (uint64_t)each && elements <= MOST; ++number) {
    const int kind = (int)(number % 4), n = (int)elements;
    float start = draw_start(word_of(number, START), kind, sum[1] == '1', block > 0),
          got = 0;
    const mpnum_const_matrix begin = mpnum_const_matrix_of(MPNUM_TYPE_F32, &start, 1, 1);
    uint32_t drawn[2][MOST], want;
    unsigned char bytes[4];
    mpnum_status status;
    int s, i;
    for (s = 0; s < 2; ++s) {
      const mpnum_format format = mpnum_format_of(sides[s].type);
      const uint32_t sign = (uint32_t)1 << (format.exponent_bits + format.mantissa_bits +
                                            (sides[s].type == MPNUM_TYPE_TF32 ? 13 : 0));
      sides[s].is_packed = block && sides[s].type == MPNUM_TYPE_E2M1;
      for (i = 0; i < n; ++i) {
        drawn[s][i] = draw_element(sides[s].type, word_of(number, 2 * i + s), kind);
        if (kind == 3 && i % 2 && i < n / 2)
          drawn[s][i] = drawn[s][i - 1] ^ (s ? 0 : sign);
        put_element(&sides[s], i, drawn[s][i]);
      }
      for (i = 0; block && i < n / (int)block; ++i) {
        const uint32_t upper = high(word_of(number, START + 1 + 2 * i + s));
        sides[s].scales[i] =
            (unsigned char)(scale[1] == '8' ? 120 + upper % 15 : 32 + upper % 57);
      }
    }
    if (fread(bytes, 1, 4, results) != 4) {
      CHECK(0, "%s: no result of case %d", unit, (int)number);
      return;
    }
    want = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
    status = mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1), named,
                           operand_of(&sides[0], scale, elements),
                           operand_of(&sides[1], scale, elements), &begin);
    wrong += mpnum_bits_f32(got) != want;
    CHECK(status == MPNUM_OK && mpnum_bits_f32(got) == want,
          "%s, case %d: status %d, %08x, not %08x", unit, (int)number, (int)status,
          (unsigned)mpnum_bits_f32(got), (unsigned)want);
    ++cases;
  }
}
static void every_sum_is_the_same(void) {
  const int lines = each_line("products", check_unit);
  CHECK(lines == UNITS && cases == UNITS * each, "%d units, %lld sums", lines, cases);
  CHECK(fgetc(results) == EOF, "more results than cases");
  printf("# %lld sums, %lld differ\n", cases, wrong);
}

int main(int count, char **arguments) {
  if (count > 2) each = strtoll(arguments[2], NULL, 10);
  results = count > 1  ? fopen(arguments[1], "rb")
            : has_xz() ? open_packed("products.xz")
                       : NULL;
  if (results)
    TAP_RUN(every_sum_is_the_same);
  else
    TAP_SKIP("every_sum_is_the_same", count > 1 ? "no such file" : "no xz");
  return tap_done();
}
