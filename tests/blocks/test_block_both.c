/* SPDX-License-Identifier: MIT */
/* mpnum_quantize_blocks_both is two calls of mpnum_quantize_blocks, byte for byte: codes,
 * scales, what is between and beside them, and losses. Presets and blocks of odd sizes,
 * either way they lie, in pairs; every height from 1 to 70; widths around blocks,
 * vectors, runs and the chunks that one read is cut into; arrays that end at a page that
 * cannot be touched. TEST_ALL_BLOCKS: every pair at every height. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */ /* NOLINT(bugprone-reserved-identifier) */
#include "block_checks.h"
#include "../array/array_pages.h"
#include "../harness/must.h"

enum { MARKED = 0xa5 };
enum { HEIGHTS = 70, MOST = 72000, SIDES_ROOM = 48, ROUNDS = 2 };
/* The floats that a read is cut at (MPNUM_BAND_). */
enum { BAND = 65536 };

static mpnum_blockscale_format sides[SIDES_ROOM];
static size_t side_count;

static void add_side(mpnum_blockscale_format format) {
  if (mpnum_blockscale_validate(&format, NULL) != MPNUM_OK) return;
  if (side_count == SIDES_ROOM) abort();
  sides[side_count++] = format;
}
static void add_both_ways(mpnum_blockscale_format format) {
  add_side(format);
  if (format.rows != format.columns) add_side(mpnum_blockscale_transposed(format));
}
static mpnum_blockscale_format of_size(mpnum_blockscale_format format, size_t rows,
                                       size_t columns) {
  format.rows = rows;
  format.columns = columns;
  return format;
}
static void add_sides(void) {
  const mpnum_blockscale_format e4m3 =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscale_format e3m2 =
      mpnum_blockscale_mx(MPNUM_TYPE_E3M2, MPNUM_BLOCKSCALE_EVEN);
  const mpnum_blockscale_format e2m1 =
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR);
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  add_both_ways(e4m3);
  add_both_ways(mpnum_blockscale_mx(MPNUM_TYPE_E5M2, MPNUM_BLOCKSCALE_FLOOR));
  add_both_ways(e3m2);
  add_both_ways(mpnum_blockscale_mx(MPNUM_TYPE_E2M3, MPNUM_BLOCKSCALE_CEIL));
  add_both_ways(e2m1);
  add_both_ways(mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_RCEIL));
  add_both_ways(format);
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  add_side(mpnum_blockscale_transposed(format));
  add_both_ways(mpnum_blockscale_nvfp4_16x16());
  add_both_ways(mpnum_blockscale_fp8_1x128());
  add_both_ways(mpnum_blockscale_fp8_128x128());
  add_both_ways(mpnum_blockscale_int8_row());
  add_both_ways(mpnum_blockscale_int8_tensor());
  format = mpnum_blockscale_fp8_1x128();
  format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  add_both_ways(of_size(format, 3, 5));
  add_both_ways(of_size(format, 129, 1));
  add_side(of_size(e4m3, 7, 33));
  add_side(of_size(e3m2, 5, 20));
  add_side(of_size(e2m1, 3, 12));
  add_side(of_size(e2m1, 9, 1));
}

/* Memory whose last byte is before a page that cannot be touched. */
enum { SOURCE, CODES, SCALES = CODES + 4, ARRAYS = SCALES + 4, BEFORE = 64 };
static guarded_pages arrays[ARRAYS];
static uint8_t *last_bytes(int array, size_t n) { return arrays[array].end - n; }

/* One of a pair, alone or with the other one. */
typedef struct side_memory {
  mpnum_blockscaled view;
  const uint8_t *codes, *scales; /* and BEFORE bytes before them */
  size_t code_bytes, scale_bytes;
} side_memory;
static side_memory make_side(const mpnum_blockscale_format *format, int number,
                             size_t rows, size_t columns, size_t extra) {
  const size_t stride = at_a_byte(format, columns + extra);
  side_memory made;
  memset(&made, 0, sizeof made);
  made.code_bytes = bytes_of(format->element_bits, (rows - 1) * stride + columns);
  made.view.is_swizzled = is_multiplied(format) && rows > 2 && (rows + columns) % 3 == 0;
  made.scale_bytes =
      mpnum_blockscale_scale_bytes(format, rows, columns, made.view.is_swizzled);
  made.view.codes = last_bytes(CODES + number, made.code_bytes);
  made.view.stride = stride;
  made.view.scale_inv = last_bytes(SCALES + number, made.scale_bytes);
  made.view.scale_inv_bytes = made.scale_bytes;
  made.view.scale = format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL ? 336.0f : 0.0f;
  made.codes = (const uint8_t *)made.view.codes - BEFORE;
  made.scales = (const uint8_t *)made.view.scale_inv - BEFORE;
  memset((uint8_t *)made.view.codes - BEFORE, MARKED, made.code_bytes + BEFORE);
  memset((uint8_t *)made.view.scale_inv - BEFORE, MARKED, made.scale_bytes + BEFORE);
  return made;
}
static int is_same_side(const side_memory *a, const side_memory *b) {
  return memcmp(a->codes, b->codes, a->code_bytes + BEFORE) == 0 &&
         memcmp(a->scales, b->scales, a->scale_bytes + BEFORE) == 0;
}

typedef struct pair_case {
  const mpnum_blockscale_format *first, *second;
  size_t rows, columns, extra;
  mpnum_type type;
} pair_case;
static int check_pair(const pair_case *pair) {
  const size_t stride = pair->columns + pair->extra;
  const size_t elements = (pair->rows - 1) * stride + pair->columns;
  mpnum_const_matrix src = mpnum_const_matrix_of(
      pair->type, last_bytes(SOURCE, elements * size_of(pair->type)), pair->rows,
      pair->columns);
  side_memory alone[2], both[2];
  mpnum_quantize_losses losses[2];
  const mpnum_blockscale_format *const formats_of[] = {pair->first, pair->second};
  memset(losses, 0, sizeof losses);
  src.stride = stride;
  for (int i = 0; i < 2; ++i) {
    alone[i] = make_side(formats_of[i], 2 * i, pair->rows, pair->columns, pair->extra);
    both[i] = make_side(formats_of[i], 2 * i + 1, pair->rows, pair->columns, pair->extra);
    must(mpnum_quantize_blocks(formats_of[i], alone[i].view, src, &block_seed,
                               i ? NULL : &losses[0]));
  }
  must(mpnum_quantize_blocks_both(pair->first, both[0].view, pair->second, both[1].view,
                                  src, &block_seed, &losses[1]));
  return is_same_side(&alone[0], &both[0]) && is_same_side(&alone[1], &both[1]) &&
         memcmp(&losses[0], &losses[1], sizeof losses[0]) == 0;
}

static uint64_t state = 4;
static size_t below(size_t bound) { return (size_t)(random_bits(&state) % bound); }

/* Around blocks, vectors and runs, and past a chunk, which is as wide as goes into BAND.
 */
static size_t width_for(size_t rows) {
  static const size_t edges[] = {1, 16, 32, 64, 128, 256, 2048, 4096};
  const size_t most = MOST / rows;
  size_t width = edges[below(8)] + below(5);
  if (below(3)) width = BAND / rows + below(MOST / rows - BAND / rows);
  if (width > 2) width -= 2;
  return width > most ? most : width;
}
static void check_case(size_t number, size_t rows, size_t first, size_t second) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F32, MPNUM_TYPE_BF16};
  pair_case pair;
  pair.first = &sides[first];
  pair.second = &sides[second];
  pair.rows = rows;
  pair.columns = width_for(rows);
  pair.extra = below(2) ? below(9) : 0;
  if (pair.columns > 8 && (pair.columns + pair.extra) * rows > MOST)
    pair.columns = MOST / rows - pair.extra;
  pair.type = types[below(3)];
  if (number % 16 == 0) force_isa(isas[below(ISAS)]);
  CHECK(check_pair(&pair),
        "%zu x %zu of %s, stride + %zu, %s: %zux%zu of %d bits beside %zux%zu of %d",
        pair.rows, pair.columns, mpnum_type_name(pair.type), pair.extra,
        mpnum_isa_name(isa_in_use()), pair.first->rows, pair.first->columns,
        pair.first->element_bits, pair.second->rows, pair.second->columns,
        pair.second->element_bits);
}
static void both_is_two_calls_byte_for_byte(void) {
  size_t number = 0;
#ifdef TEST_ALL_BLOCKS
  for (size_t rows = 1; rows <= HEIGHTS; ++rows)
    for (size_t i = 0; i < side_count * side_count; ++i)
      check_case(number++, rows, i / side_count, i % side_count);
#else
  for (int round = 0; round < ROUNDS; ++round)
    for (size_t i = 0; i < side_count * side_count; ++i, ++number)
      check_case(number, 1 + number % HEIGHTS, i / side_count, i % side_count);
#endif
}

/* Found by hand: dense codes of a chunk began in the middle of a byte. */
static void chunks_begin_at_whole_bytes(void) {
  static const size_t heights[] = {19, 3, 5, 21, 35, 63};
  const mpnum_blockscale_format by_column[] = {
      mpnum_blockscale_transposed(mpnum_blockscale_nvfp4_1x16()),
      mpnum_blockscale_transposed(
          mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL))};
  for (size_t i = 0; i < sizeof heights / sizeof heights[0]; ++i) {
    pair_case pair = {&by_column[0], &by_column[1], heights[i], 0, 0, MPNUM_TYPE_F32};
    for (pair.columns = BAND / heights[i];
         pair.columns < BAND / heights[i] + 40 && pair.columns * heights[i] < MOST;
         ++pair.columns)
      CHECK(check_pair(&pair), "%zu x %zu", pair.rows, pair.columns);
  }
}

int main(void) {
  const mpnum_isa best = isa_in_use();
  add_sides();
  for (int i = 0; i < ARRAYS; ++i)
    arrays[i] = map_guarded_pages(MOST * 4 + 4096);
  for (uint8_t *at = arrays[SOURCE].start; at + 4 <= arrays[SOURCE].end; at += 4) {
    const uint32_t word = (uint32_t)random_bits(&state); /* some Inf and NaN of bf16 */
    const uint32_t bits =
        (word & 0x87ffffffu) | (word >> 28 ? 0x38003800u : word & 0x78007800u);
    memcpy(at, &bits, 4);
  }
  TAP_RUN(chunks_begin_at_whole_bytes);
  TAP_RUN(both_is_two_calls_byte_for_byte);
  force_isa(best);
  return tap_done();
}
