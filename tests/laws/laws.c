/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* mmap */ /* NOLINT(bugprone-reserved-identifier) */
#include "laws.h"
#include "../array/array_pages.h"
#include "../fuzz/replay.h"
#include "../harness/control_word.h"
#include "../harness/isas.h"
#include "../harness/tap.h"

#include <mpnum/types/preset.h>

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const law_names[LAWS] = {
    "isa",        "split",       "alone",    "in place", "strided", "address",
    "guarded",    "environment", "elements", "twin",     "device",  "both",
    "transposed", "empty",       "refused",  "apart"};
/* Those that a run can be under together. */
#define RUN_LAWS (HOLDS(LAW_EMPTY) - 1)

enum { ARENA = 6 << 20, MARGIN = 192 };
static guarded_pages arenas[OPERANDS];
static mpnum_status (*force_isa)(mpnum_isa);

/* --- Drawing --- */

static uint64_t random_at(uint64_t seed, uint64_t *at) {
  const uint64_t low = mpnum_random(seed, (*at)++);
  return low | (uint64_t)mpnum_random(seed, (*at)++) << 32;
}
/* A fuzzer's next choice; past its last one, and in tests, one that is drawn. */
static uint32_t choose(law_draw *d, size_t bytes) {
  uint32_t word = 0;
  if ((size_t)(d->values - d->choices) < bytes) return mpnum_random(d->seed, d->drawn++);
  for (size_t i = 0; i < bytes; ++i)
    word |= (uint32_t)*d->choices++ << 8 * i;
  return word;
}
static uint64_t next_value(law_draw *d) {
  uint64_t word;
  if (d->end - d->values < 8) return random_at(d->seed, &d->drawn);
  memcpy(&word, d->values, 8);
  d->values += 8;
  return word;
}
uint32_t law_random(law_draw *d) { return choose(d, 4); }
mpnum_rounding law_stochastic(law_draw *d) {
  const char variant = "ABC"[law_below(d, 3)];
  const int most = variant == 'A' ? 32 : variant == 'B' ? 31 : 8;
  if (law_below(d, 2)) return MPNUM_ROUND_STOCHASTIC;
  return mpnum_rounding_stochastic(variant, 1 + (int)law_below(d, (size_t)most));
}
size_t law_below(law_draw *d, size_t n) {
  return n ? choose(d, n <= 256 ? 1 : 4) % n : 0;
}

size_t law_size(law_draw *d, size_t tile, size_t most) {
  const uint32_t kind = law_random(d) % 8;
  size_t n = law_below(d, 72);
  if (kind == 5) n = law_below(d, 20) * 16 + law_below(d, 3);
  if (kind == 6) n = tile * (law_below(d, 3) + 1) + law_below(d, 7) - 3;
  if (kind == 7) n = law_below(d, 3 * tile);
  if (kind == 4) n = tile / 2 + law_below(d, 70);
  return n > most ? law_below(d, most + 1) : n;
}

size_t law_bytes(int bits, size_t n) {
  const size_t group = bits == 4 ? 2 : bits == 6 ? 4 : 1;
  return (n + group - 1) / group * group * (size_t)bits / 8;
}
int law_bits(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  if (type == MPNUM_TYPE_F64) return 64;
  if (!format.max_code) return 0;
  return width > 16 ? 32 : width > 8 ? 16 : 8;
}
uint64_t law_get(int bits, const void *array, size_t i) {
  const uint8_t *bytes = (const uint8_t *)array;
  const size_t bit = i * (size_t)bits;
  uint64_t word = 0;
  uint32_t half = 0;
  uint16_t quarter = 0;
  if (bits == 64) memcpy(&word, bytes + 8 * i, 8);
  if (bits == 32) memcpy(&half, bytes + 4 * i, 4);
  if (bits == 16) memcpy(&quarter, bytes + 2 * i, 2);
  if (bits > 8) return word | half | quarter;
  word = bytes[bit / 8];
  if (bit % 8 + (size_t)bits > 8) word |= (uint64_t)bytes[bit / 8 + 1] << 8;
  return word >> bit % 8 & ((1u << bits) - 1);
}
void law_set(int bits, void *array, size_t i, uint64_t word) {
  uint8_t *bytes = (uint8_t *)array;
  const size_t bit = i * (size_t)bits;
  const uint32_t half = (uint32_t)word, ones = ((1u << bits % 32) - 1) << bit % 8;
  const uint16_t quarter = (uint16_t)word;
  const uint32_t code = (uint32_t)word << bit % 8 & ones;
  if (bits == 64) memcpy(bytes + 8 * i, &word, 8);
  if (bits == 32) memcpy(bytes + 4 * i, &half, 4);
  if (bits == 16) memcpy(bytes + 2 * i, &quarter, 2);
  if (bits > 8) return;
  bytes[bit / 8] = (uint8_t)((bytes[bit / 8] & ~ones) | code);
  if (ones >> 8)
    bytes[bit / 8 + 1] = (uint8_t)((bytes[bit / 8 + 1] & ~(ones >> 8)) | code >> 8);
}

static size_t row_bytes(const law_draw *d, const operand *o) {
  return o->shape == OF_ELEMENTS  ? law_bytes(o->bits, d->columns)
         : o->shape == OF_COLUMNS ? law_bytes(o->bits, d->columns)
         : o->shape == OF_ROWS    ? law_bytes(o->bits, d->rows)
                                  : law_bytes(o->bits, o->count);
}
static size_t rows_of(const law_draw *d, const operand *o) {
  return o->shape == OF_ELEMENTS ? d->rows : 1;
}
static int add(law_draw *d, law_shape shape, int bits, size_t count) {
  operand *o = &d->operands[d->count];
  memset(o, 0, sizeof *o);
  o->shape = shape;
  o->bits = bits;
  o->count = count;
  o->alignment = 1;
  if (bits) {
    const size_t size = row_bytes(d, o) * rows_of(d, o);
    if (size > ARENA / 2) abort();
    o->values = (uint8_t *)calloc(size + 1, 1);
    if (!o->values) abort();
  }
  return d->count++;
}
static size_t elements_of(const law_draw *d, const operand *o) {
  return o->shape == OF_ELEMENTS  ? d->rows * d->columns
         : o->shape == OF_ROWS    ? d->rows
         : o->shape == OF_COLUMNS ? d->columns
                                  : o->count;
}
static void put(const law_draw *d, operand *o, size_t i, uint64_t word) {
  const size_t columns = o->shape == OF_ELEMENTS ? d->columns : i + 1;
  const size_t row = o->shape == OF_ELEMENTS ? i / columns : 0;
  law_set(o->bits, o->values + row * row_bytes(d, o), i - row * columns, word);
}

/* A float of the middle of the range, at times one from its ends. */
static uint32_t float_bits(uint64_t random, int has_specials) {
  const uint32_t bits = (uint32_t)random, kind = (uint32_t)(random >> 32);
  static const uint32_t ends[] = {0,           0x80000000u, 0x7f800000u, 0xff800000u,
                                  0x7fc00000u, 0xffc00002u, 0x7f800001u, 0xffffffffu,
                                  0x7f7fffffu, 0xff7fffffu, 1,           0x807fffffu,
                                  0x00800000u, 0x3f800000u, 0x477fe000u, 0xc3e80000u};
  /* specials: none, many, or one in thousands, which the first tile may lack */
  const int finite_only =
      !has_specials || (has_specials == 2 && (random >> 50 & 31) != 0);
  if (kind % 64 == 0) {
    const uint32_t end = ends[kind / 64 % 16];
    return finite_only && (end & 0x7fffffffu) >= 0x7f800000u ? 0 : end;
  }
  if (kind % 64 < 4) /* any finite one */
    return (bits & 0x7fffffffu) >= 0x7f800000u && finite_only ? bits & 0x807fffffu : bits;
  if (kind % 64 < 8) /* few bits: ties */
    return (bits & 0x807c0000u) | (kind / 64 % 24 + 116) << 23;
  return (bits & 0x807fffffu) | (kind / 64 % 16 + 118) << 23;
}
static uint64_t value_of(law_draw *d, mpnum_type type) {
  const int bits = law_bits(type);
  const uint64_t random = next_value(d);
  const mpnum_format format = mpnum_format_of(type);
  const uint32_t word = float_bits(random, d->has_specials);
  uint32_t code = (uint32_t)random >> 7;
  if (type == MPNUM_TYPE_F64) {
    const uint64_t wide = mpnum_bits_f64((double)mpnum_from_bits_f32(word));
    return random >> 40 & 1 ? wide : wide | (random & 0xfffffffu);
  }
  if (type == MPNUM_TYPE_F32) return word;
  if (random >> 60 & 1)
    code = mpnum_encode(format, mpnum_from_bits_f32(word), MPNUM_ROUND_NEAREST_EVEN,
                        MPNUM_OVERFLOW_IEEE, 0);
  if (bits == 8)
    code &= (1u << (format.sign_bits + format.exponent_bits + format.mantissa_bits)) - 1;
  if (bits == 16) code &= 0xffff;
  if (!d->has_specials &&
      (mpnum_bits_f32(mpnum_decode(format, code)) & 0x7fffffffu) >= 0x7f800000u)
    code = 0;
  return code;
}
int law_input(law_draw *d, law_shape shape, mpnum_type type, size_t count) {
  const int k = add(d, shape, law_bits(type), count);
  operand *o = &d->operands[k];
  const size_t n = elements_of(d, o);
  const int is_one = law_below(d, 16) == 0; /* all alike */
  uint64_t word = value_of(d, type);
  o->has_stride = shape == OF_ELEMENTS;
  o->is_needed = 1;
  for (size_t i = 0; i < n; ++i) {
    put(d, o, i, word);
    if (!is_one) word = value_of(d, type);
  }
  return k;
}
int law_words(law_draw *d, law_shape shape, int bits, uint32_t from, uint32_t below,
              size_t count) {
  const int k = add(d, shape, bits, count);
  operand *o = &d->operands[k];
  const size_t n = elements_of(d, o);
  o->has_stride = shape == OF_ELEMENTS;
  for (size_t i = 0; i < n; ++i)
    put(d, o, i, from + law_below(d, below - from));
  return k;
}
int law_codes(law_draw *d, law_shape shape, int bits, size_t count) {
  const int k = add(d, shape, bits, count);
  operand *o = &d->operands[k];
  const size_t n = elements_of(d, o);
  o->has_stride = shape == OF_ELEMENTS;
  o->is_needed = 1;
  for (size_t i = 0; i < n; ++i)
    put(d, o, i, next_value(d));
  return k;
}
int law_result(law_draw *d, law_shape shape, int bits, size_t count) {
  const int k = law_codes(d, shape, bits, count);
  d->operands[k].is_result = 1;
  d->operands[k].is_needed = shape == OF_ELEMENTS;
  return k;
}
float law_no_scale(law_draw *d) {
  static const uint32_t words[] = {0x80000001u, 0xbf800000u, 0,          0x80000000u,
                                   0x7f800000u, 0x7fc00000u, 0xff800000u};
  return mpnum_from_bits_f32(law_pick(d, words));
}
int law_none(law_draw *d) { return add(d, OF_CALL, 0, 0); }

/* --- Running --- */

typedef struct run {
  unsigned laws;
  mpnum_isa isa;
  uint64_t word; /* of the floating-point environment */
  law_call *call;
  size_t row; /* LAW_ALONE */
} run;
/* Where an operand lies. */
typedef struct place {
  uint8_t *start, *from, *to; /* and what around it is looked at */
  size_t stride, pitch, extent;
  int lies_on; /* an operand + 1 */
} place;

static uint8_t pattern_at(const uint8_t *at) {
  const uintptr_t where = (uintptr_t)at;
  return (uint8_t)(where * 37 ^ where >> 8 ^ 0x5a);
}
static size_t group_of(int bits) { return bits == 4 ? 2 : bits == 6 ? 4 : 1; }

static void put_operand(law_draw *d, int k, const run *how, place *places) {
  operand *o = &d->operands[k];
  place *p = &places[k];
  guarded_pages *arena = &arenas[k];
  const size_t rows = rows_of(d, o), bytes = row_bytes(d, o);
  const size_t group = group_of(o->bits);
  p->lies_on = 0;
  if (o->lies_on && (how->laws & HOLDS(LAW_IN_PLACE))) {
    *p = places[o->lies_on - 1];
    p->lies_on = o->lies_on;
    return;
  }
  p->stride = (d->columns + group - 1) / group * group;
  if (o->has_stride && (how->laws & HOLDS(LAW_STRIDED)))
    p->stride += group * (1 + law_below(d, 9));
  p->pitch = p->stride * (size_t)o->bits / 8;
  p->extent = rows && bytes ? (rows - 1) * (rows > 1 ? p->pitch : 0) + bytes : 0;
  if (p->extent + 4 * MARGIN > ARENA) abort();
  p->start = arena->start + 4096;
  if (how->laws & HOLDS(LAW_ADDRESS))
    p->start += law_below(d, 64) / (size_t)o->alignment * (size_t)o->alignment;
  if (how->laws & HOLDS(LAW_GUARDED))
    p->start = law_below(d, 3) ? arena->end - p->extent : arena->start;
  p->from = p->start - arena->start > MARGIN ? p->start - MARGIN : arena->start;
  p->to = (size_t)(arena->end - p->start) > p->extent + MARGIN
              ? p->start + p->extent + MARGIN
              : arena->end;
  for (uint8_t *at = p->from; at < p->to; ++at)
    *at = pattern_at(at);
  for (size_t r = 0; r < rows; ++r)
    memcpy(p->start + r * p->pitch, o->values + r * bytes, bytes);
}
/* Nothing beside elements has changed, nor those of what is only read. */
static int is_intact(const law_draw *d, const place *places) {
  for (int k = 0; k < d->count; ++k) {
    const operand *o = &d->operands[k];
    const place *p = &places[k];
    const size_t rows = rows_of(d, o), bytes = row_bytes(d, o);
    int is_read = !o->is_result && !o->is_scratch;
    if (!o->bits || p->lies_on || !p->extent) continue;
    for (int j = 0; j < d->count; ++j)
      if (places[j].lies_on == k + 1) is_read = 0;
    const uint8_t *at = p->from;
    for (size_t r = 0; r < rows; ++r) {
      const uint8_t *row = p->start + r * p->pitch;
      for (; at < row; ++at)
        if (*at != pattern_at(at)) return 0;
      if (is_read && memcmp(row, o->values + r * bytes, bytes) != 0) return 0;
      at = row + bytes;
    }
    for (; at < p->to; ++at)
      if (*at != pattern_at(at)) return 0;
  }
  return 1;
}
static void *address(const law_draw *d, int k, const place *p, size_t row,
                     size_t column) {
  const operand *o = &d->operands[k];
  if (!o->bits) return NULL;
  switch (o->shape) {
  case OF_ELEMENTS: return p->start + row * p->pitch + column * (size_t)o->bits / 8;
  case OF_ROWS: return p->start + row * (size_t)o->bits / 8;
  case OF_COLUMNS: return p->start + column * (size_t)o->bits / 8;
  default: return p->start;
  }
}
/* A call that touches a guard page, or NULL, or that traps ends with this status. */
#define FAULT ((mpnum_status)-1)
static sigjmp_buf before_call;
static volatile sig_atomic_t is_calling;
static void on_fault(int number) {
  if (is_calling) siglongjmp(before_call, number);
  abort();
}

/* Launchers keep no flags, and have one status for all that is refused. */
static int is_of_host(const law_subject *s) {
  return (s->laws & HOLDS(LAW_ENVIRONMENT)) != 0;
}
static mpnum_status guarded_call(law_call *call, const law_piece *at, uint64_t word) {
  const uint64_t before = control_word();
  const law_subject *s = at->draw->subject;
  volatile const int keeps_flags = call == s->call && is_of_host(s);
  volatile mpnum_status status = FAULT;
  uint64_t after;
  if (sigsetjmp(before_call, 1) == 0) {
    is_calling = 1;
    set_control_word(word);
    status = call(at);
    after = control_word();
    set_control_word(before);
    is_calling = 0;
    if (((after ^ word) & ~(uint64_t)(keeps_flags ? 0 : 0x3f)) != 0)
      tap_error(__FILE__, __LINE__, "the control word became %llx",
                (unsigned long long)after);
  }
  is_calling = 0;
  set_control_word(before);
  return status;
}
static mpnum_status call_piece(law_draw *d, const run *how, const place *places,
                               size_t row, size_t rows, size_t column, size_t columns) {
  law_piece at;
  at.draw = d;
  at.row = row;
  at.rows = rows;
  at.column = column;
  at.columns = columns;
  for (int k = 0; k < d->count; ++k) {
    at.at[k] = address(d, k, &places[k], row, column);
    at.stride[k] = places[k].stride;
  }
  return guarded_call(how->call, &at, how->word);
}
static size_t cut(law_draw *d, size_t left, size_t unit) {
  const size_t units = left / unit;
  const size_t taken = law_below(d, 3) ? 1 + law_below(d, units ? units : 1)
                                       : 1 + law_below(d, units < 4 ? units + 1 : 4);
  return taken * unit < left ? taken * unit : left;
}
/* Runs a draw; statuses are all OK, or the first other one is returned. */
static mpnum_status run_draw(law_draw *d, const run *how, place *places) {
  mpnum_status status = MPNUM_OK;
  for (int k = 0; k < d->count; ++k)
    if (d->operands[k].bits) put_operand(d, k, how, places);
  if (force_isa(how->isa) != MPNUM_OK) abort();
  if (how->laws & HOLDS(LAW_ALONE)) {
    const size_t left = d->rows - how->row;
    return call_piece(d, how, places, how->row, left < d->row_unit ? left : d->row_unit,
                      0, d->columns);
  }
  if (!(how->laws & HOLDS(LAW_SPLIT)))
    return call_piece(d, how, places, 0, d->rows, 0, d->columns);
  const int by_rows =
      d->row_unit && d->rows > d->row_unit &&
      (!d->column_unit || d->columns <= d->column_unit || law_below(d, 2));
  const size_t unit = by_rows ? d->row_unit : d->column_unit;
  const size_t total = by_rows ? d->rows : d->columns;
  size_t starts[64], sizes[64], parts = 0;
  for (size_t at = 0; at < total && parts < 63; at += sizes[parts - 1]) {
    starts[parts] = at;
    sizes[parts++] = cut(d, total - at, unit);
    if (parts == 63) sizes[parts - 1] = total - at;
  }
  for (size_t i = parts; i > 1; --i) { /* in any order */
    const size_t k = law_below(d, i), start = starts[k], size = sizes[k];
    starts[k] = starts[i - 1];
    sizes[k] = sizes[i - 1];
    starts[i - 1] = start;
    sizes[i - 1] = size;
  }
  for (size_t i = 0; i < parts && status == MPNUM_OK; ++i)
    status = by_rows ? call_piece(d, how, places, starts[i], sizes[i], 0, d->columns)
                     : call_piece(d, how, places, 0, d->rows, starts[i], sizes[i]);
  return status;
}
static uint8_t *gathered(const law_draw *d, int k, const place *places) {
  const operand *o = &d->operands[k];
  const size_t rows = rows_of(d, o), bytes = row_bytes(d, o);
  uint8_t *result = (uint8_t *)malloc(rows * bytes + 1);
  if (!result) abort();
  for (size_t r = 0; r < rows; ++r)
    memcpy(result + r * bytes, places[k].start + r * places[k].pitch, bytes);
  return result;
}

/* --- One draw, under laws --- */

typedef struct tally {
  unsigned draws, crossing;
} tally;
static mpnum_isa known_isas[8];
static size_t known_isa_count;
static uint64_t usual_word, words[CONTROL_WORDS];
static size_t word_count;
enum { QUIET_WORDS = FLUSHES ? 8 : 4 }; /* without traps: for scalar functions, too */

static void print_laws(unsigned laws) {
  for (int i = 0; i < LAWS; ++i)
    if (laws & HOLDS(i)) printf(" %s,", law_names[i]);
}
static int first_difference(const law_draw *d, int k, const uint8_t *want,
                            const uint8_t *got, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i)
    if (want[i] != got[i]) {
      const size_t pitch = row_bytes(d, &d->operands[k]);
      printf("#   operand %d, byte %zu of %zu (of a row %zu): %02x became %02x\n", k, i,
             to, pitch, want[i], got[i]);
      return 1;
    }
  return 0;
}
/* Whether a run gives what is wanted; says what does not. */
static int obeys(law_draw *d, const run *how, uint8_t *const *wanted,
                 mpnum_status expected, int is_silent) {
  place places[OPERANDS];
  const mpnum_status status = run_draw(d, how, places);
  int is_right = 1;
  if (status != expected) {
    if (!is_silent) printf("#   status %d, not %d\n", (int)status, (int)expected);
    return 0;
  }
  for (int k = 0; k < d->count; ++k) {
    const operand *o = &d->operands[k];
    const size_t bytes = o->bits ? row_bytes(d, o) : 0;
    size_t from = 0, to = bytes * rows_of(d, o);
    if (!o->is_result || !o->bits) continue;
    if (how->laws & HOLDS(LAW_ALONE)) {
      const size_t end =
          d->rows - how->row < d->row_unit ? d->rows : how->row + d->row_unit;
      if (o->shape == OF_ELEMENTS) {
        from = how->row * bytes;
        to = end * bytes;
      } else if (o->shape == OF_ROWS) {
        from = law_bytes(o->bits, how->row);
        to = law_bytes(o->bits, end);
      } else {
        continue;
      }
    }
    uint8_t *got = gathered(d, k, places);
    if (memcmp(wanted[k] + from, got + from, to - from) != 0) {
      if (is_right && !is_silent) first_difference(d, k, wanted[k], got, from, to);
      is_right = 0;
    }
    free(got);
  }
  if (!is_intact(d, places)) {
    if (!is_silent) printf("#   wrote beside its results\n");
    is_right = 0;
  }
  return is_right;
}
static unsigned possible(const law_draw *d) {
  unsigned laws = d->subject->laws;
  int has_place = 0;
  for (int k = 0; k < d->count; ++k)
    has_place |= d->operands[k].lies_on;
  if (!has_place) laws &= ~HOLDS(LAW_IN_PLACE);
  if (!(d->row_unit && d->rows > d->row_unit) &&
      !(d->column_unit && d->columns > d->column_unit))
    laws &= ~HOLDS(LAW_SPLIT);
  if (!d->row_unit || !d->can_be_alone || d->rows < 2) laws &= ~HOLDS(LAW_ALONE);
  if (d->rows < 2) laws &= ~HOLDS(LAW_STRIDED);
  if (known_isa_count < 2) laws &= ~HOLDS(LAW_ISA);
  return laws & RUN_LAWS;
}
static int crosses(const law_draw *d) {
  int is_packed = 0;
  for (int k = 0; k < d->count; ++k)
    is_packed |= group_of(d->operands[k].bits) > 1;
  return d->columns > d->column_tile || (d->row_tile && d->rows > d->row_tile) ||
         (is_packed && d->columns % 4 != 0);
}
static void free_draw(law_draw *d) {
  for (int k = 0; k < d->count; ++k)
    free(d->operands[k].values);
}
static law_draw draw_of(const law_subject *s, uint64_t seed) {
  law_draw d;
  memset(&d, 0, sizeof d);
  d.subject = s;
  d.entry = s->entry;
  d.seed = seed;
  return d;
}
static void begin_draw(law_draw *d) {
  d->has_specials = law_below(d, 2) ? 0 : 1 + (int)law_below(d, 2);
  d->column_tile = 64;
  d->subject->draw(d);
}
static void say_draw(const law_draw *d, unsigned laws, const run *how) {
  printf(
      "# seed %llu: %zu x %zu, choices %d %d %d %d, types %d %d %d, %s, word %llx, laws:",
      (unsigned long long)d->seed, d->rows, d->columns, d->choice[0], d->choice[1],
      d->choice[2], d->choice[3], (int)d->types[0], (int)d->types[1], (int)d->types[2],
      mpnum_isa_name(how->isa), (unsigned long long)how->word);
  print_laws(laws);
  printf("\n");
}
static run plain_run(const law_subject *s) {
  run plain = {0, MPNUM_ISA_SCALAR, 0, s->call, 0};
  plain.isa = known_isas[0];
  plain.word = usual_word;
  return plain;
}

static void try_run_laws(law_draw *d, uint8_t *const *wanted, mpnum_status expected,
                         tally *tallies) {
  const law_subject *s = d->subject;
  const unsigned can = possible(d);
  run how = plain_run(s);
  unsigned others = 0;
  for (int i = 0; i < LAWS; ++i)
    if ((can & HOLDS(i)) && law_below(d, 2)) how.laws |= HOLDS(i);
  if ((how.laws & HOLDS(LAW_ALONE)) && (how.laws & HOLDS(LAW_SPLIT)))
    how.laws &= ~(law_below(d, 2) ? HOLDS(LAW_ALONE) : HOLDS(LAW_SPLIT));
  if (how.laws & HOLDS(LAW_ISA)) how.isa = known_isas[law_below(d, known_isa_count)];
  if (how.laws & HOLDS(LAW_ALONE))
    how.row = law_below(d, (d->rows + d->row_unit - 1) / d->row_unit) * d->row_unit;
  size_t known = 0;
  while (known < OTHERS && s->others[known].call)
    ++known;
  if (known && law_below(d, 2)) {
    const size_t other = law_below(d, known);
    how.call = s->others[other].call;
    others = HOLDS(s->others[other].law);
  }
  if (how.laws & HOLDS(LAW_ENVIRONMENT))
    how.word =
        words[law_below(d, others & HOLDS(LAW_ELEMENTS) ? QUIET_WORDS : word_count)];
  for (int i = 0; i < LAWS; ++i)
    if ((how.laws | others) & HOLDS(i)) {
      ++tallies[i].draws;
      tallies[i].crossing += (unsigned)crosses(d);
    }
  if (obeys(d, &how, wanted, expected, 1)) return;
  tap_error(__FILE__, __LINE__, "a law is broken");
  if (tap_errors > 3) return;
  say_draw(d, how.laws | others, &how);
  unsigned guilty = 0;
  for (int i = 0; i < LAWS; ++i) { /* by itself */
    run alone = how;
    if (!((how.laws | others) & HOLDS(i))) continue;
    alone.laws = how.laws & HOLDS(i);
    if (i != LAW_ISA) alone.isa = known_isas[0];
    if (i != LAW_ENVIRONMENT) alone.word = usual_word;
    if (!(others & HOLDS(i))) alone.call = s->call;
    if (!obeys(d, &alone, wanted, expected, 0)) guilty |= HOLDS(i);
  }
  printf("# by itself:");
  print_laws(guilty);
  printf("\n");
}
/* No elements, and no pointers to them. */
static void try_empty(law_draw *d, tally *tallies) {
  run how = plain_run(d->subject);
  place places[OPERANDS];
  law_piece at;
  const int has_rows = d->rows > 0 && !d->has_classes && law_below(d, 2);
  for (int k = 0; k < d->count; ++k)
    if (d->operands[k].bits) put_operand(d, k, &how, places);
  memset(&at, 0, sizeof at);
  at.draw = d;
  at.rows = has_rows ? d->rows : 0;
  at.columns = has_rows ? 0 : d->columns;
  for (int k = 0; k < d->count; ++k) {
    const law_shape shape = d->operands[k].shape;
    at.stride[k] = places[k].stride;
    at.at[k] = shape == OF_CALL || (shape == OF_ROWS && has_rows)
                   ? address(d, k, &places[k], 0, 0)
                   : NULL;
  }
  const mpnum_status status = guarded_call(d->subject->call, &at, usual_word);
  ++tallies[LAW_EMPTY].draws;
  tallies[LAW_EMPTY].crossing += (unsigned)crosses(d);
  if (status != MPNUM_OK) {
    tap_error(__FILE__, __LINE__, "status %d for %zu x %zu elements", (int)status,
              at.rows, at.columns);
    if (tap_errors < 3) say_draw(d, 0, &how);
  }
  for (int k = 0; k < d->count; ++k) {
    const operand *o = &d->operands[k];
    if (!o->bits || !o->is_result || o->shape != OF_ELEMENTS) continue;
    uint8_t *got = gathered(d, k, places);
    if (memcmp(got, o->values, row_bytes(d, o) * rows_of(d, o)) != 0)
      tap_error(__FILE__, __LINE__, "wrote elements that there are not");
    free(got);
  }
}
/* A result that lies in part on another operand: these two, as one number, or 0. */
static int overlap(law_draw *d, law_piece *at, const place *places) {
  for (int tries = 0; tries < 200; ++tries) {
    const int k = (int)law_below(d, (size_t)d->count),
              j = (int)law_below(d, (size_t)d->count);
    const operand *result = &d->operands[k], *other = &d->operands[j];
    const size_t unit = (size_t)result->alignment;
    size_t behind, before;
    if (k == j || !result->is_result || result->may_overlap || other->may_overlap)
      continue;
    if (!at->at[k] || !at->at[j] || !places[k].extent || !places[j].extent) continue;
    behind = (places[j].extent - 1) / unit;
    before = (places[k].extent - 1) / unit;
    if (before > 4000 / unit) before = 4000 / unit;
    if (result->bits != other->bits && result->shape == other->shape && law_below(d, 2)) {
      at->at[k] = places[j].start; /* in the place of another type */
    } else if (result->lies_on == j + 1 && d->rows > 1 && law_below(d, 2)) {
      at->at[k] = places[j].start;
      at->stride[k] += 4; /* of packed codes, too */
    } else if (behind && law_below(d, 2)) {
      at->at[k] = places[j].start + (1 + law_below(d, behind)) * unit;
    } else if (before) {
      at->at[k] = places[j].start - (1 + law_below(d, before)) * unit;
    } else {
      continue;
    }
    return k * OPERANDS + j;
  }
  return 0;
}
/* Each argument that has to be refused, one after the other. */
static void try_refused(law_draw *d, tally *tallies) {
  const law_subject *s = d->subject;
  run how = plain_run(s);
  int overlaps = s->laws & HOLDS(LAW_APART) ? 3 : 0;
  if (d->rows == 0 || d->columns == 0) return;
  for (int k = 0;; ++k) {
    place places[OPERANDS];
    law_draw spoilt = *d;
    law_piece at;
    law_kind law = LAW_REFUSED;
    int which = k < d->count ? k : k - d->count;
    for (int i = 0; i < d->count; ++i)
      if (d->operands[i].bits) put_operand(d, i, &how, places);
    at.draw = &spoilt;
    at.row = at.column = 0;
    at.rows = d->rows;
    at.columns = d->columns;
    for (int i = 0; i < d->count; ++i) {
      at.at[i] = address(d, i, &places[i], 0, 0);
      at.stride[i] = places[i].stride;
    }
    if (k < d->count) { /* a NULL for each operand that has to be there */
      if (!d->operands[k].bits || !d->operands[k].is_needed) continue;
      at.at[k] = NULL;
      spoilt.refusal = MPNUM_ERROR_NULL;
    } else if (!s->spoil || !s->spoil(&spoilt, &at, k - d->count)) {
      if (overlaps-- == 0 || !(which = overlap(d, &at, places))) return;
      law = LAW_APART;
      spoilt = *d;
      spoilt.refusal = MPNUM_ERROR_OVERLAP;
    }
    const mpnum_status status = guarded_call(s->call, &at, usual_word);
    ++tallies[law].draws;
    tallies[law].crossing += (unsigned)crosses(d);
    int is_untouched = is_intact(d, places);
    for (int i = 0; i < d->count; ++i) {
      const operand *o = &d->operands[i];
      if (!o->bits || !o->is_result) continue;
      uint8_t *got = gathered(d, i, places);
      if (memcmp(got, o->values, row_bytes(d, o) * rows_of(d, o)) != 0) is_untouched = 0;
      free(got);
    }
    if (status == MPNUM_OK || status == FAULT || !is_untouched ||
        (spoilt.refusal && is_of_host(s) && status != spoilt.refusal)) {
      tap_error(__FILE__, __LINE__, "%s, argument %d: status %d%s", law_names[law], which,
                (int)status, is_untouched ? "" : ", and something was written");
      if (tap_errors < 4) say_draw(d, 0, &how);
    }
  }
}

static void try_draw(law_draw d, tally *tallies) {
  const law_subject *s = d.subject;
  uint8_t *wanted[OPERANDS] = {0};
  place places[OPERANDS];
  run plain = plain_run(s);
  begin_draw(&d);
  const mpnum_status expected = run_draw(&d, &plain, places);
  for (int k = 0; k < d.count; ++k)
    if (d.operands[k].bits && d.operands[k].is_result)
      wanted[k] = gathered(&d, k, places);
  if (!is_intact(&d, places)) {
    tap_error(__FILE__, __LINE__, "wrote beside its results");
    if (tap_errors < 3) say_draw(&d, 0, &plain);
  }
  if (expected != MPNUM_OK) {
    tap_error(__FILE__, __LINE__, "status %d", (int)expected);
    if (tap_errors < 3) say_draw(&d, 0, &plain);
  } else {
    try_run_laws(&d, wanted, expected, tallies);
    if ((s->laws & HOLDS(LAW_EMPTY)) && law_below(&d, 4) == 0) try_empty(&d, tallies);
    if ((s->laws & HOLDS(LAW_REFUSED)) && law_below(&d, 4) == 0) try_refused(&d, tallies);
  }
  for (int k = 0; k < d.count; ++k)
    free(wanted[k]);
  free_draw(&d);
}

/* --- All --- */

static void set_up(void) {
  for (size_t i = 0; i < ISAS; ++i)
    if (force_isa(isas[i]) == MPNUM_OK) known_isas[known_isa_count++] = isas[i];
  for (size_t i = 0; i < OPERANDS; ++i)
    arenas[i] = map_guarded_pages(ARENA);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  usual_word = control_word_of(FE_TONEAREST);
  word_count = (size_t)all_control_words(words);
}
static uint64_t hash_of(const char *name) {
  uint64_t hash = 1469598103934665603u;
  for (; *name; ++name)
    hash = (hash ^ (uint8_t)*name) * 1099511628211u;
  return hash;
}

/* --- Calls from bytes (tests/fuzz/) --- */

enum { HEAD = 7 };
static const law_subject *known_subjects;
static size_t known_subject_count;

/* The number of the subject in two bytes, a seed in four, how many values are at the end,
 * then choices. What they leave open is drawn. */
static int try_bytes(const uint8_t *bytes, size_t size) {
  tally tallies[LAWS];
  if (size < HEAD) return 0;
  const size_t which = (size_t)bytes[0] | (size_t)bytes[1] << 8;
  const size_t most = (size - HEAD) / 8, values = bytes[6] < most ? bytes[6] : most;
  uint32_t seed = 0;
  for (int i = 0; i < 4; ++i)
    seed |= (uint32_t)bytes[2 + i] << 8 * i;
  law_draw d = draw_of(&known_subjects[which % known_subject_count], seed);
  d.choices = bytes + HEAD;
  d.end = bytes + size;
  d.values = d.end - 8 * values;
  memset(tallies, 0, sizeof tallies);
  tap_errors = 0;
  try_draw(d, tallies);
  if (tap_errors) {
    printf("# %s\n", d.subject->name);
    fflush(stdout);
    abort();
  }
  return 0;
}
#ifdef LAWS_FUZZ /* main, called main_of_laws, tells what there is to call */
int main_of_laws(int argc, char **argv);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) { return main_of_laws(*argc, *argv); }
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  return try_bytes(bytes, size);
}
static int keep_subjects(void) {
  law_subject *kept = (law_subject *)malloc(known_subject_count * sizeof *kept);
  if (!kept) abort();
  memcpy(kept, known_subjects, known_subject_count * sizeof *kept);
  known_subjects = kept;
  return 0;
}
#endif

int laws_main(int argc, char **argv, const law_subject *subjects, size_t count,
              mpnum_status (*force)(mpnum_isa), unsigned draws) {
  const char *only = NULL;
  uint64_t seed = 0;
  int has_seed = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--names") == 0) {
      for (size_t k = 0; k < count; ++k)
        printf("%s\n", subjects[k].name);
      return 0;
    }
    if (strcmp(argv[i], "--all") == 0) draws *= 8;
    if (strncmp(argv[i], "--draws=", 8) == 0) draws = (unsigned)atoi(argv[i] + 8);
    if (strncmp(argv[i], "--only=", 7) == 0) only = argv[i] + 7;
    if (strncmp(argv[i], "--seed=", 7) == 0) {
      seed = strtoull(argv[i] + 7, NULL, 10);
      has_seed = 1;
    }
  }
  force_isa = force;
  known_subjects = subjects;
  known_subject_count = count;
  set_up();
#ifdef LAWS_FUZZ
  return keep_subjects();
#endif
  if (argc > 1 && argv[1][0] != '-') return replay(argc, argv, try_bytes, 0);
  for (size_t k = 0; k < count; ++k) {
    const law_subject *s = &subjects[k];
    tally tallies[LAWS];
    unsigned laws = s->laws;
    if ((only && strcmp(only, s->name) != 0) || !tap_is_wanted(s->name)) continue;
    memset(tallies, 0, sizeof tallies);
    tap_errors = 0;
    tap_skip_reason = NULL;
    for (unsigned i = 0; i < (has_seed ? 1 : draws * (s->laws >> 24 ? s->laws >> 24 : 1));
         ++i)
      try_draw(draw_of(s, has_seed ? seed : hash_of(s->name) % 1000003 * 1000 + i),
               tallies);
    for (int i = 0; i < OTHERS; ++i)
      if (s->others[i].call) laws |= HOLDS(s->others[i].law);
    if (known_isa_count < 2) laws &= ~HOLDS(LAW_ISA);
    printf("# %s:", s->name);
    for (int i = 0; i < LAWS; ++i) {
      if (!(laws & HOLDS(i))) continue;
      printf(" %s %u/%u", law_names[i], tallies[i].draws, tallies[i].crossing);
      if (!has_seed && !(i == LAW_EMPTY ? tallies[i].draws : tallies[i].crossing))
        tap_error(__FILE__, __LINE__, "no draw crosses a border under the law: %s",
                  law_names[i]);
    }
    printf("\n");
    tap_result(s->name);
  }
  return tap_done();
}
