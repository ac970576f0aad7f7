/* SPDX-License-Identifier: MIT */
/* What formats make of a tensor: its values, or a sample of them, go to each format and
 * back. It is read as a matrix, in tiles that hold whole blocks. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/training/advice.h>
#include <mpnum/array/array.h>
#include <mpnum/blocks/blockscale.h>
#include <mpnum/core/rng.h>

#include "verdict.h"

/* Activations of several axes are multiplied along the last one, if it is as long as a
 * block; an axis of 1, 3 or 5 is a kernel's, whatever its name. */
enum { LEAST_COLUMNS = 32 };

/* Whole blocks of every format are in TILE rows and columns. VECTORS: those that the
 * matrix is multiplied by. */
enum {
  TILE = 128,
  TILE_VALUES = TILE * TILE,
  TILES = SAMPLE / TILE_VALUES,
  SEED = 17,
  VECTORS = 8
};

typedef struct tiling {
  uint64_t rows, columns;           /* of the matrix */
  uint64_t tile_rows, tile_columns; /* of a tile, but for the last ones */
  uint64_t across, count;
  bool is_whole; /* all tiles are read */
} tiling;

typedef struct sums {
  double noise, products; /* squares of errors, of the values and of products */
  double clipped, flushed;
  double partial[TILE][VECTORS]; /* of rows that go on in the next tile */
} sums;

typedef struct work {
  const row *about;
  tiling how;
  sums signal, of[FIT_LIMIT];
  struct {
    double noise;
    mpnum_quantize_losses losses;
  } blocks[BLOCK_FORMATS][2];
  uint64_t read;
  size_t rows, columns; /* of the tile at hand */
  bool ends_rows;       /* with it their products are whole */
  bool is_multiplied;   /* of a sample one tile in 4, which are outputs enough */
  unsigned char raw[TILE_VALUES * 8], codes[TILE_VALUES * 4], scales[TILE_VALUES * 4];
  float values[TILE_VALUES], scaled[TILE_VALUES], back[TILE_VALUES];
  double errors[TILE_VALUES];
  double vectors[TILE_VALUES][VECTORS];
} work;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t parts(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

void matrix_of(const row *about, uint64_t *rows, uint64_t *columns) {
  const tensor *values = about->values;
  const unsigned last = values->rank - 1;
  *columns = 1;
  *rows = values->count;
  if (values->rank == 0) return;
  *columns = values->shape[values->fortran_order ? 0 : last];
  if (values->rank > 2 &&
      (kind_of_operand(values->name) != ACTIVATIONS || *columns < LEAST_COLUMNS))
    *columns = values->count / values->shape[values->fortran_order ? last : 0];
  *rows = values->count / *columns;
}

/* Whether its product is measured, which gradients are not judged by. */
static bool has_product(const work *at) {
  return at->how.rows > 1 && at->how.columns > 1 && !is_by_losses(at->about->is);
}

static tiling tiling_of(const verdict_run *run, const row *about) {
  tiling made;
  matrix_of(about, &made.rows, &made.columns);
  made.tile_columns = least(made.columns, TILE);
  made.tile_rows = least(made.rows, TILE_VALUES / made.tile_columns / TILE * TILE);
  if (made.tile_columns == TILE) /* few rows, long ones */
    made.tile_columns = least(made.columns, TILE_VALUES / made.tile_rows / TILE * TILE);
  made.across = parts(made.columns, made.tile_columns);
  made.count = made.across * parts(made.rows, made.tile_rows);
  made.is_whole = run->exact || about->values->count <= SAMPLE || made.count <= TILES;
  return made;
}

uint64_t measure_work(const verdict_run *run, const row *about) {
  return tiling_of(run, about).is_whole ? about->values->count : SAMPLE;
}

/* --- reading */

/* Part of some rows of a matrix; Inf and NaN become 0. */
static bool read_part(const row *from, uint64_t matrix_columns, uint64_t top,
                      uint64_t left, size_t rows, size_t columns, unsigned char *raw,
                      float *dst, refusal *why) {
  const bool is_dense = columns == matrix_columns;
  const size_t step = is_dense ? rows * columns : columns;
  for (size_t i = 0; i < rows * columns; i += step) {
    if (!read_floats(from->file, from->values,
                     (top + i / columns) * matrix_columns + left, raw, dst + i, step,
                     why))
      return false;
  }
  for (size_t i = 0; i < rows * columns; ++i)
    dst[i] = fabsf(dst[i]) <= FLT_MAX ? dst[i] : 0;
  return true;
}

/* In [-1, 1), of 24 bits. */
static double random_value(uint64_t index) {
  return (double)(mpnum_random(SEED, index) >> 8) * 0x1p-23 - 1;
}

/* Columns `left` and on of what the matrix is multiplied by: rows of its partner, spread
 * over it, or random ones. */
static bool read_vectors(work *at, uint64_t left, refusal *why) {
  const row *partner = at->about->partner;
  uint64_t rows = 0, columns, c;
  if (partner) matrix_of(partner, &rows, &columns);
  for (size_t v = 0; v < VECTORS; ++v) {
    if (partner && v < rows &&
        !read_part(partner, columns, v * rows / least(rows, VECTORS), left, 1,
                   at->columns, at->raw, at->back, why))
      return false;
    for (c = 0; c < at->columns; ++c)
      at->vectors[c][v] = !partner   ? random_value((left + c) * VECTORS + v)
                          : v < rows ? (double)at->back[c]
                                     : 0;
  }
  return true;
}

/* --- formats with one scale for all */

/* In lanes, which the compiler makes a vector of. */
static double sum_of_squares(const double *values, size_t count) {
  enum { LANES = 8 };
  double lanes[LANES] = {0}, sum = 0;
  size_t i;
  for (i = 0; i + LANES <= count; i += LANES) {
    for (size_t lane = 0; lane < LANES; ++lane)
      lanes[lane] += values[i + lane] * values[i + lane];
  }
  for (; i < count; ++i)
    sum += values[i] * values[i];
  for (size_t lane = 0; lane < LANES; ++lane)
    sum += lanes[lane];
  return sum;
}

/* Adds what is in errors: of the values, and of their products. */
static void add_errors(work *at, sums *to) {
  const bool is_partial = at->how.is_whole && at->how.across > 1;
  to->noise += sum_of_squares(at->errors, at->rows * at->columns);
  for (size_t r = 0; r < at->rows && at->is_multiplied; ++r) {
    const double *errors = at->errors + r * at->columns;
    double dots[VECTORS] = {0};
    if (is_partial) memcpy(dots, to->partial[r], sizeof dots);
    for (size_t c = 0; c < at->columns; ++c) {
      for (size_t v = 0; v < VECTORS; ++v)
        dots[v] += errors[c] * at->vectors[c][v];
    }
    if (at->ends_rows) {
      to->products += sum_of_squares(dots, VECTORS);
      memset(dots, 0, sizeof dots);
    }
    if (is_partial) memcpy(to->partial[r], dots, sizeof dots);
  }
}

/* Half a gap above the largest value ties past it where its code is odd. */
static float clip_limit_of(mpnum_format format) {
  const double top = ldexp(1, mpnum_format_max_exp(format) - 1);
  const double limit =
      (double)mpnum_format_max(format) + ldexp(top, -format.mantissa_bits - 1);
  return format.max_code & 1 ? (float)limit : nextafterf((float)limit, INFINITY);
}

void from_floats(mpnum_type type, void *dst, const float *src, size_t count) {
  must(mpnum_convert_array(type, dst, MPNUM_TYPE_F32, src, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0));
}

static void measure_type(work *at, const fit *what, sums *to) {
  const size_t count = at->rows * at->columns;
  const float scale = (float)ldexp(1, what->scale_exponent);
  const double unscale = ldexp(1, -what->scale_exponent);
  const float clip_limit = clip_limit_of(mpnum_format_of(what->type));
  uint32_t clipped = 0, flushed = 0;
  for (size_t i = 0; i < count; ++i)
    at->scaled[i] = at->values[i] * scale;
  from_floats(what->type, at->codes, at->scaled, count);
  must(mpnum_convert_array(MPNUM_TYPE_F32, at->back, what->type, at->codes, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0));
  for (size_t i = 0; i < count; ++i) {
    clipped += fabsf(at->scaled[i]) >= clip_limit;
    flushed += (fabsf(at->back[i]) <= 0) & (fabsf(at->values[i]) > 0);
  }
  for (size_t i = 0; i < count; ++i)
    at->errors[i] = (double)at->back[i] * unscale - (double)at->values[i];
  to->clipped += clipped;
  to->flushed += flushed;
  add_errors(at, to);
}

/* --- formats with a scale for each block */

static void measure_blocks(work *at, unsigned number, int way) {
  const size_t count = at->rows * at->columns, stride = (at->columns + 3) / 4 * 4;
  mpnum_blockscale_format format = block_format_of(number).format;
  mpnum_blockscaled codes = {at->codes, stride, at->scales, sizeof at->scales, 0, 1};
  if (way == 1) format = mpnum_blockscale_transposed(format);
  codes.scale = mpnum_nvfp4_scale((float)at->about->found.amax);
  must(to_blocks(&format, codes,
                 mpnum_const_matrix_of(MPNUM_TYPE_F32, at->values, at->rows, at->columns),
                 &at->blocks[number][way].losses));
  must(from_blocks(
      &format, mpnum_matrix_of(MPNUM_TYPE_F32, at->back, at->rows, at->columns), codes));
  for (size_t i = 0; i < count; ++i)
    at->errors[i] = (double)at->back[i] - (double)at->values[i];
  at->blocks[number][way].noise += sum_of_squares(at->errors, count);
}

/* --- a tensor */

static bool add_tile(work *at, const verdict_run *run, uint64_t number, refusal *why) {
  const tiling *how = &at->how;
  const uint64_t top = number / how->across * how->tile_rows;
  const uint64_t left = number % how->across * how->tile_columns;
  at->rows = (size_t)least(how->rows - top, how->tile_rows);
  at->columns = (size_t)least(how->columns - left, how->tile_columns);
  at->ends_rows = !how->is_whole || left + at->columns == how->columns;
  if (at->is_multiplied && !read_vectors(at, left, why)) return false;
  if (!read_part(at->about, how->columns, top, left, at->rows, at->columns, at->raw,
                 at->values, why))
    return false;
  at->read += at->rows * at->columns;
  for (size_t i = 0; i < at->rows * at->columns; ++i)
    at->errors[i] = (double)at->values[i]; /* against nothing at all */
  add_errors(at, &at->signal);
  for (unsigned f = 0; f < run->type_count; ++f)
    measure_type(at, &at->about->fits[f], &at->of[f]);
  for (unsigned f = 0; f < BLOCK_FORMATS && at->about->has_blocks; ++f) {
    if (run->is_left_out[f]) continue;
    measure_blocks(at, f, 0);
    if (how->rows > 1) measure_blocks(at, f, 1);
  }
  return true;
}

static bool add_tiles(work *at, const verdict_run *run, refusal *why) {
  const uint64_t count = at->how.is_whole ? at->how.count : TILES;
  const uint64_t part = at->how.count / count; /* a tile somewhere in each */
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t skipped = part > 1 ? mpnum_random(SEED, i) % part : 0;
    at->is_multiplied = has_product(at) && (at->how.is_whole || i % 4 == 0);
    if (!add_tile(at, run, i * part + skipped, why)) return false;
  }
  return true;
}

static double decibels(double signal, double noise) {
  return noise > 0 ? 10 * log10(signal / noise) : (double)INFINITY;
}

/* A count of part of the values for all of them, where those of all exponents let it
 * be. */
static double between(double value, uint64_t low, uint64_t high) {
  return fmin(fmax(value, (double)low), (double)high);
}

static void end_fit(const work *at, const sums *from, double factor, fit *to) {
  const findings *found = &at->about->found;
  const mpnum_format format = mpnum_format_of(to->type);
  const float scale = (float)ldexp(1, to->scale_exponent);
  mpnum_lost low, high;
  mpnum_histogram_lost(&found->histogram, format, scale, &low, &high);
  if (found->amax * (double)scale < (double)clip_limit_of(format))
    high.overflows = 0;
  else if (low.overflows == 0 && found->too_large == 0)
    low.overflows = 1;
  to->clipped = between(from->clipped * factor, low.overflows, high.overflows) +
                (double)found->too_large;
  to->flushed = between(from->flushed * factor, low.underflows, high.underflows) +
                (double)found->too_small;
  to->sqnr = to->product = (double)NAN;
  if (found->too_large > 0) return;
  to->sqnr = decibels(at->signal.noise, from->noise);
  if (has_product(at) && at->signal.products > 0)
    to->product = decibels(at->signal.products, from->products);
}

static void end_blocks(const work *at, unsigned number, double factor, block_fit *to) {
  const mpnum_blockscale_format format = block_format_of(number).format;
  const size_t rows = (size_t)at->how.rows, columns = (size_t)at->how.columns;
  to->bytes = (double)mpnum_blockscale_code_bytes(&format, rows, columns) +
              (double)mpnum_blockscale_scale_bytes(&format, rows, columns, 0) +
              (format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL ? 4 : 0); /* S of the tensor */
  for (int way = 0; way < 2; ++way) {
    const bool is_measured = way == 0 || at->how.rows > 1;
    const mpnum_quantize_losses *losses = &at->blocks[number][way].losses;
    to->clipped[way] = is_measured ? (double)losses->saturated * factor : (double)NAN;
    to->flushed[way] = is_measured ? (double)losses->underflowed * factor : (double)NAN;
    to->sqnr[way] = is_measured
                        ? decibels(at->signal.noise, at->blocks[number][way].noise)
                        : (double)NAN;
  }
}

static int exponent_of(float power) {
  int exponent;
  frexpf(power, &exponent);
  return exponent - 1;
}

/* What has 8 bits or fewer takes the largest power of two that clips nothing; wider
 * formats hold values as they are. */
static void begin_fits(const verdict_run *run, row *about) {
  for (unsigned f = 0; f < run->type_count; ++f) {
    const mpnum_format format = mpnum_format_of(run->types[f]);
    fit *what = &about->fits[f];
    what->type = run->types[f];
    what->scale_exponent = 0;
    if (format.exponent_bits + format.mantissa_bits < 8 && about->found.too_large == 0)
      what->scale_exponent =
          exponent_of(mpnum_best_scale(format, (float)about->found.amax, 0));
  }
  about->has_blocks =
      run->blocks && (float)about->found.amax > 0 && about->found.too_large == 0;
}

bool measure_row(const verdict_run *run, row *about, refusal *why) {
  work *at = calloc(1, sizeof *at);
  if (!at) return refuse(why, "out of memory");
  begin_fits(run, about);
  at->about = about;
  at->how = tiling_of(run, about);
  about->sampled = !at->how.is_whole;
  bool good = add_tiles(at, run, why);
  double factor = at->how.is_whole ? 1 : (double)about->values->count / (double)at->read;
  for (unsigned f = 0; good && f < run->type_count; ++f)
    end_fit(at, &at->of[f], factor, &about->fits[f]);
  for (unsigned f = 0; good && about->has_blocks && f < BLOCK_FORMATS; ++f)
    end_blocks(at, f, factor, &about->blocks[f]);
  free(at);
  return good;
}
