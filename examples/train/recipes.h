/* SPDX-License-Identifier: MIT */
/* Recipes for matrix products of 8 and 4 bits, each a row: what becomes of inputs,
 * weights and gradients, and the same without one ingredient. docs/training-in-8-bits.md
 * says what each is for. */
#ifndef EXAMPLES_TRAIN_RECIPES_H
#define EXAMPLES_TRAIN_RECIPES_H

#include <mpnum/blocks/blockscale.h>
#include <mpnum/array/scale.h>

#include "../mlp.h"

typedef enum recipe_kind { RECIPE_F32, RECIPE_TENSORS, RECIPE_BLOCKS } recipe_kind;

/* Of TENSORS: how a scale is found. */
typedef enum recipe_scaling {
  RECIPE_UNSCALED,
  RECIPE_CURRENT,
  RECIPE_DELAYED
} recipe_scaling;

typedef struct recipe {
  recipe_kind kind;
  mpnum_blockscale_format formats[3]; /* BLOCKS: of each mlp_operand, in rows */
  int has_hadamard;                   /* before gradients of weights are computed */
  recipe_scaling scaling;
  mpnum_fp8_recipe fp8; /* TENSORS */
} recipe;

/* In the order of the table. */
enum {
  RECIPE_UNROUNDED,
  RECIPE_FP8_CURRENT,
  RECIPE_FP8_DELAYED,
  RECIPE_FP8_DELAYED_LATEST,
  RECIPE_FP8_UNSCALED,
  RECIPE_MXFP8,
  RECIPE_MXFP8_FLOOR,
  RECIPE_MXFP8_E5M2,
  RECIPE_DEEPSEEK,
  RECIPE_DEEPSEEK_POW2,
  RECIPE_NVFP4,
  RECIPE_NVFP4_ROWS,
  RECIPE_NVFP4_NO_HADAMARD,
  RECIPE_NVFP4_NEAREST,
  RECIPE_NVFP4_SQUARE,
  RECIPE_NVFP4_PLAIN,
  RECIPES
};
static const char *const recipe_names[] = {"f32",
                                           "fp8-current",
                                           "fp8-delayed",
                                           "fp8-delayed-latest",
                                           "fp8-unscaled",
                                           "mxfp8",
                                           "mxfp8-floor",
                                           "mxfp8-e5m2",
                                           "deepseek",
                                           "deepseek-pow2",
                                           "nvfp4",
                                           "nvfp4-rows",
                                           "nvfp4-no-hadamard",
                                           "nvfp4-nearest",
                                           "nvfp4-square",
                                           "nvfp4-plain",
                                           NULL};

/* A scale for each tensor: e4m3 forward, e5m2 backward. */
static inline recipe recipe_fp8(int number) {
  recipe made;
  memset(&made, 0, sizeof made);
  made.kind = RECIPE_TENSORS;
  made.fp8 = mpnum_fp8_recipe_delayed();
  made.scaling = number == RECIPE_FP8_CURRENT    ? RECIPE_CURRENT
                 : number == RECIPE_FP8_UNSCALED ? RECIPE_UNSCALED
                                                 : RECIPE_DELAYED;
  if (number == RECIPE_FP8_DELAYED_LATEST) {
    made.fp8.algorithm = MPNUM_AMAX_MOST_RECENT;
    made.fp8.history_length = 1;
  }
  return made;
}
/* Blocks of 1x32 with a power of two each. */
static inline recipe recipe_mxfp8(int number) {
  recipe made;
  memset(&made, 0, sizeof made);
  made.kind = RECIPE_BLOCKS;
  for (int i = 0; i < 3; ++i)
    made.formats[i] = mpnum_blockscale_mx(
        i == MLP_FLOW && number == RECIPE_MXFP8_E5M2 ? MPNUM_TYPE_E5M2 : MPNUM_TYPE_E4M3,
        number == RECIPE_MXFP8_FLOOR ? MPNUM_BLOCKSCALE_FLOOR : MPNUM_BLOCKSCALE_RCEIL);
  return made;
}
/* Blocks of 1x128, of weights 128x128. */
static inline recipe recipe_deepseek(int number) {
  recipe made;
  memset(&made, 0, sizeof made);
  made.kind = RECIPE_BLOCKS;
  for (int i = 0; i < 3; ++i) {
    made.formats[i] =
        i == MLP_WEIGHTS ? mpnum_blockscale_fp8_128x128() : mpnum_blockscale_fp8_1x128();
    if (number == RECIPE_DEEPSEEK_POW2) made.formats[i].rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  }
  return made;
}
/* Blocks of 1x16, of weights 16x16; gradients rounded stochastically, and a Hadamard
 * transform before gradients of weights are computed. */
static inline recipe recipe_nvfp4(int number) {
  const int is_alone = number == RECIPE_NVFP4_SQUARE || number == RECIPE_NVFP4_PLAIN;
  recipe made;
  memset(&made, 0, sizeof made);
  made.kind = RECIPE_BLOCKS;
  for (int i = 0; i < 3; ++i)
    made.formats[i] = mpnum_blockscale_nvfp4_1x16();
  if (number != RECIPE_NVFP4_ROWS && number != RECIPE_NVFP4_PLAIN)
    made.formats[MLP_WEIGHTS] = mpnum_blockscale_nvfp4_16x16();
  if (number != RECIPE_NVFP4_NEAREST && !is_alone)
    made.formats[MLP_FLOW].rounding = MPNUM_ROUND_STOCHASTIC;
  made.has_hadamard = number != RECIPE_NVFP4_NO_HADAMARD && !is_alone;
  return made;
}
static inline recipe recipe_of(int number) {
  recipe none;
  if (number >= RECIPE_NVFP4) return recipe_nvfp4(number);
  if (number >= RECIPE_DEEPSEEK) return recipe_deepseek(number);
  if (number >= RECIPE_MXFP8) return recipe_mxfp8(number);
  if (number >= RECIPE_FP8_CURRENT) return recipe_fp8(number);
  memset(&none, 0, sizeof none);
  return none;
}

#endif
