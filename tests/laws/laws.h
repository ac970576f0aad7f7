/* SPDX-License-Identifier: MIT */
/* Laws that hold for every function of arrays, rows, blocks and gradients (docs/laws.md),
 * tried on calls that are drawn at random.
 *
 * A subject is a public function: how a call of it is drawn, and how a piece of that call
 * is made. Each draw runs twice: once plainly (one call, dense memory, scalar loops, the
 * default environment), and once under several laws at random at the same time: another
 * instruction set, cut into pieces in any order, in place, strided, at odd addresses,
 * between guard pages, in another floating-point environment. Both have to give the same
 * bytes, and nothing but results may have been written. */
#ifndef MPNUM_TESTS_LAWS_H
#define MPNUM_TESTS_LAWS_H

#include <mpnum/simd/isa.h>
#include <mpnum/core/rng.h>
#include <mpnum/core/round.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum law_kind {
  LAW_ISA,         /* any instruction set gives what the scalar loops give */
  LAW_SPLIT,       /* a call in pieces is the whole call */
  LAW_ALONE,       /* a row (or what counts as one) alone is that row in any batch */
  LAW_IN_PLACE,    /* in place is out of place */
  LAW_STRIDED,     /* strided is dense; nothing between rows is touched */
  LAW_ADDRESS,     /* any address */
  LAW_GUARDED,     /* between pages that cannot be touched */
  LAW_ENVIRONMENT, /* any rounding mode, flushing and traps; kept, with its flags */
  LAW_ELEMENTS,    /* an array is its elements by the scalar functions */
  LAW_TWIN,        /* another function that promises the same bits */
  LAW_DEVICE,      /* a launcher, in the simulator, is the host's function */
  LAW_BOTH,        /* both is two single calls */
  LAW_TRANSPOSED,  /* transposed blocks are those of the transposed matrix */
  LAW_EMPTY,       /* no elements: OK, whatever the pointers; nothing is written */
  LAW_REFUSED,     /* what is refused has written nothing */
  LAW_APART,       /* memory that overlaps is refused */
  LAWS
} law_kind;

enum { OPERANDS = 14, OTHERS = 4 };

/* Which elements an operand has. */
typedef enum law_shape {
  OF_ELEMENTS, /* rows x columns */
  OF_ROWS,     /* one for each row */
  OF_COLUMNS,  /* one for each column */
  OF_CALL      /* count of them for all */
} law_shape;

typedef struct operand {
  uint8_t *values; /* dense; rows begin at whole bytes */
  law_shape shape;
  int bits; /* of an element in memory; 0: there is none */
  int is_result, has_stride;
  int is_needed;   /* NULL is refused */
  int is_scratch;  /* holds anything afterwards */
  int alignment;   /* bytes */
  int lies_on;     /* result: may be operand number lies_on - 1 */
  int may_overlap; /* LAW_APART does not ask about it */
  size_t count;    /* OF_CALL */
} operand;

typedef struct law_subject law_subject;
typedef struct law_piece law_piece;
typedef mpnum_status law_call(const law_piece *at);

/* A call that was drawn. What follows operands is the subject's own. */
typedef struct law_draw {
  const law_subject *subject;
  uint64_t seed, drawn;
  size_t rows, columns;
  size_t row_unit, column_unit; /* where it may be cut: at multiples; 0: nowhere */
  size_t column_tile, row_tile; /* of the loops: what has more crosses a border */
  int can_be_alone;
  int has_specials; /* 1: many Infs and NaNs, 2: few */
  int has_classes;  /* a row without columns has no class: refused */
  operand operands[OPERANDS];
  int count;
  mpnum_type types[4];
  mpnum_format formats[2];
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  uint64_t word[2];
  float number[4];
  int choice[8];
  unsigned pairs; /* a bit for each operand whose elements are two of a type */
  const uint8_t *choices, *values, *end; /* of a fuzzer; NULL: all is drawn */
  mpnum_status refusal; /* set by spoil: what is wanted, if not any status but OK */
  const void *entry;
} law_draw;

/* A part of a draw, in memory. */
struct law_piece {
  const law_draw *draw;
  size_t row, rows, column, columns;
  void *at[OPERANDS]; /* its first element; NULL if there is no such operand */
  size_t stride[OPERANDS];
};

struct law_subject {
  const char *name;
  void (*draw)(law_draw *);
  law_call *call;
  unsigned laws; /* bits of those that hold, beside those of others */
  struct {
    law_kind law;
    law_call *call; /* gives the same bytes */
  } others[OTHERS];
  /* Spoils the k-th argument that has to be refused; 0 where there are no more. */
  int (*spoil)(law_draw *, law_piece *, int k);
  const void *entry;
};
#define HOLDS(law) (1u << (law))
/* Beside the laws of a subject: so many times as many draws. */
#define DRAWN(times) ((unsigned)(times) << 24)
#define MEMORY_LAWS \
 (HOLDS(LAW_ISA) | HOLDS(LAW_ADDRESS) | HOLDS(LAW_GUARDED) | HOLDS(LAW_ENVIRONMENT))

/* Random numbers of a draw. */
uint32_t law_random(law_draw *d);
size_t law_below(law_draw *d, size_t n);
/* Stochastic rounding by 32 random bits, or by fewer. */
mpnum_rounding law_stochastic(law_draw *d);
#define law_pick(d, list) ((list)[law_below(d, sizeof(list) / sizeof(list)[0])])

/* Sizes with a liking for small ones and for those beside a tile; at most `most`. */
size_t law_size(law_draw *d, size_t tile, size_t most);

/* Adds an operand and fills it: with values of a type, or with words below a limit. Its
 * number is returned. rows and columns of the draw are set before. */
int law_input(law_draw *d, law_shape shape, mpnum_type type, size_t count);
int law_codes(law_draw *d, law_shape shape, int bits, size_t count);
int law_words(law_draw *d, law_shape shape, int bits, uint32_t from, uint32_t below,
              size_t count);
int law_result(law_draw *d, law_shape shape, int bits, size_t count);
int law_none(law_draw *d);
size_t law_bytes(int bits, size_t n);
int law_bits(mpnum_type type);

/* Element i of packed codes or words, as its bits. */
uint64_t law_get(int bits, const void *array, size_t i);
void law_set(int bits, void *array, size_t i, uint64_t word);

/* What is no scale: 0, below it, or no number. */
float law_no_scale(law_draw *d);

/* Runs all subjects as one TAP program, so many draws of each. force: mpnum_isa_force of
 * the file whose functions are called, which has a choice of its own. Arguments: --all:
 * 8 times as many draws; --only=NAME and --seed=N: what a failure has printed; --names;
 * files: a call from the bytes of each. With LAWS_FUZZ libFuzzer makes those
 * (tests/fuzz/). */
int laws_main(int argc, char **argv, const law_subject *subjects, size_t count,
              mpnum_status (*force)(mpnum_isa), unsigned draws);

#ifdef __cplusplus
}
#endif

#endif
