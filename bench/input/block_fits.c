/* SPDX-License-Identifier: MIT */
#include "block_fits.h"
#include "../core/message.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/advice.h>
#include <mpnum/blockscale.h>
#include <mpnum/rng.h>

/* Whole blocks of every format are in TILE rows and columns. */
enum { TILE = 128, TILE_VALUES = TILE * TILE, TILES = 8, SEED = 17 };

typedef struct tiling {
  uint64_t rows, columns;           /* of the matrix */
  uint64_t tile_rows, tile_columns; /* of a tile, but for the last ones */
  uint64_t across, count;
} tiling;

typedef struct tile_buffers {
  unsigned char codes[TILE_VALUES * 2], scales[TILE_VALUES * 4];
  float values[TILE_VALUES], back[TILE_VALUES];
} tile_buffers;

typedef struct block_tally {
  double noise;
  mpnum_quantize_losses losses;
} block_tally;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t parts(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

static tiling tiling_of(const tensor *values) {
  tiling made;
  made.columns =
      values->rank == 0 ? 1 : values->shape[values->fortran_order ? 0 : values->rank - 1];
  made.rows = values->count / made.columns;
  made.tile_columns = least(made.columns, TILE);
  made.tile_rows = least(made.rows, TILE_VALUES / made.tile_columns / TILE * TILE);
  if (made.tile_columns == TILE) /* few rows, long ones */
    made.tile_columns = least(made.columns, TILE_VALUES / made.tile_rows / TILE * TILE);
  made.across = parts(made.columns, made.tile_columns);
  made.count = made.across * parts(made.rows, made.tile_rows);
  return made;
}

static double squares(const float *a, const float *b, size_t count) {
  double lanes[8] = {0}, sum = 0;
  size_t i, k;
  for (i = 0; i < count; ++i) {
    const double error = (double)a[i] - (double)b[i];
    lanes[i % 8] += error * error;
  }
  for (k = 0; k < 8; ++k)
    sum += lanes[k];
  return sum;
}

static void measure_tile(double amax, mpnum_blockscale_format format, tile_buffers *at,
                         size_t rows, size_t columns, block_tally *sums) {
  const size_t stride = (columns + 3) / 4 * 4;
  mpnum_blockscaled codes = {at->codes, stride, at->scales, sizeof at->scales, 0, 1};
  codes.scale = mpnum_nvfp4_scale((float)amax);
  must(mpnum_quantize_blocks(
      &format, codes, mpnum_const_rows_of(MPNUM_TYPE_F32, at->values, rows, columns),
      NULL, &sums->losses));
  must(mpnum_dequantize_blocks(
      &format, mpnum_rows_of(MPNUM_TYPE_F32, at->back, rows, columns), codes));
  sums->noise += squares(at->back, at->values, rows * columns);
}

static bool add_tile(const input *file, const tensor *values, double amax,
                     const tiling *how, uint64_t number, tile_buffers *at,
                     block_tally tallies[BLOCK_FORMATS][2], double *signal,
                     uint64_t *read, refusal *why) {
  const uint64_t top = number / how->across * how->tile_rows;
  const uint64_t left = number % how->across * how->tile_columns;
  const size_t rows = (size_t)least(how->rows - top, how->tile_rows);
  const size_t columns = (size_t)least(how->columns - left, how->tile_columns);
  static const float zeros[TILE_VALUES];
  size_t i;
  unsigned f;
  for (i = 0; i < rows; ++i) {
    if (!input_floats(file, values, (top + i) * how->columns + left,
                      at->values + i * columns, columns, why))
      return false;
  }
  for (i = 0; i < rows * columns; ++i)
    at->values[i] = fabsf(at->values[i]) <= FLT_MAX ? at->values[i] : 0;
  *signal += squares(at->values, zeros, rows * columns);
  *read += rows * columns;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    const mpnum_blockscale_format format = block_format_of(f).format;
    measure_tile(amax, format, at, rows, columns, &tallies[f][0]);
    if (how->rows > 1)
      measure_tile(amax, mpnum_blockscale_transposed(format), at, rows, columns,
                   &tallies[f][1]);
  }
  return true;
}

static bool add_tiles(const input *file, const tensor *values, double amax, bool is_exact,
                      const tiling *how, block_tally tallies[BLOCK_FORMATS][2],
                      double *signal, uint64_t *read, refusal *why) {
  tile_buffers *at = malloc(sizeof *at);
  const bool is_whole = is_exact || how->count <= TILES;
  const uint64_t count = is_whole ? how->count : TILES;
  uint64_t i;
  bool good = at || refuse(why, "out of memory");
  for (i = 0; good && i < count; ++i) {
    const uint64_t part = how->count / count; /* somewhere in each */
    const uint64_t number =
        is_whole ? i : i * part + mpnum_random(SEED, (uint32_t)i) % part;
    good = add_tile(file, values, amax, how, number, at, tallies, signal, read, why);
  }
  free(at);
  return good;
}

static void end_fit(block_fit *to, int way, const block_tally *sums, double signal,
                    double factor) {
  to->clipped[way] = (double)sums->losses.saturated * factor;
  to->flushed[way] = (double)sums->losses.underflowed * factor;
  to->sqnr[way] = sums->noise > 0 ? 10 * log10(signal / sums->noise) : (double)INFINITY;
}

bool block_fits(const input *file, const tensor *values, double amax, bool is_exact,
                block_fit fits[BLOCK_FORMATS], refusal *why) {
  const tiling how = tiling_of(values);
  block_tally tallies[BLOCK_FORMATS][2];
  double signal = 0, factor;
  uint64_t read = 0;
  unsigned f;
  memset(tallies, 0, sizeof tallies);
  if (!add_tiles(file, values, amax, is_exact, &how, tallies, &signal, &read, why))
    return false;
  factor = (double)values->count / (double)read;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    const block_format format = block_format_of(f);
    block_fit *to = &fits[f];
    to->bits = 8.0 *
               (double)mpnum_blockscale_bytes(&format.format, (size_t)how.rows,
                                              (size_t)how.columns) /
               (double)values->count;
    to->clipped[1] = to->flushed[1] = to->sqnr[1] = (double)NAN;
    end_fit(to, 0, &tallies[f][0], signal, factor);
    if (how.rows > 1) end_fit(to, 1, &tallies[f][1], signal, factor);
  }
  return true;
}
