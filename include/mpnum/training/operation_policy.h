/* SPDX-License-Identifier: MIT */
/* Which type an operation of PyTorch should run in under automatic mixed precision. */
#ifndef MPNUM_TRAINING_OPERATION_POLICY_H
#define MPNUM_TRAINING_OPERATION_POLICY_H

#include "../core/detail/config.h"
MPNUM_C_BEGIN_

/* The type in which an operation of mixed-precision training runs. */
typedef enum mpnum_policy {
  MPNUM_POLICY_UNKNOWN = 0, /* not listed: the type of its inputs */
  MPNUM_POLICY_LOW = 1,     /* f16 or bf16 */
  MPNUM_POLICY_F32 = 2,
  MPNUM_POLICY_WIDEST = 3, /* the widest type of its inputs, see mpnum_promote */
  MPNUM_POLICY_UNSAFE = 4  /* not in f16 at all: use the form that takes logits */
} mpnum_policy;

/* 1 if a list of words separated by spaces contains word. */
MPNUM_FUNC int mpnum_has_word_(const char *list, const char *word) {
  while (*list) {
    const char *at = word;
    while (*at && *at != ' ' && *list == *at) {
      ++at;
      ++list;
    }
    if (*at == 0 && (*list == ' ' || *list == 0)) return 1;
    while (*list && *list != ' ')
      ++list;
    if (*list) ++list;
  }
  return 0;
}
/* The policy for an operation by its name in PyTorch ("matmul", "softmax", ...). Source:
 * the reference of torch.amp, CUDA operations. */
MPNUM_FUNC mpnum_policy mpnum_operation_policy(const char *name) {
  const char *low =
      "__matmul__ addbmm addmm addmv addr baddbmm bmm chain_matmul multi_dot conv1d "
      "conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d GRUCell "
      "linear LSTMCell matmul mm mv prelu RNNCell";
  const char *f32 =
      "__pow__ __rdiv__ __rpow__ __rtruediv__ acos asin "
      "binary_cross_entropy_with_logits cosh cosine_embedding_loss cdist "
      "cosine_similarity cross_entropy cumprod cumsum dist erfinv exp expm1 "
      "group_norm hinge_embedding_loss kl_div l1_loss layer_norm log log10 "
      "log_softmax log1p log2 margin_ranking_loss mse_loss multilabel_margin_loss "
      "multi_margin_loss nll_loss norm normalize pdist poisson_nll_loss pow prod "
      "reciprocal rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin "
      "softplus sum renorm tan triplet_margin_loss";
  const char *widest =
      "addcdiv addcmul atan2 bilinear cross dot grid_sample index_put scatter_add "
      "tensordot";
  if (mpnum_has_word_(low, name)) return MPNUM_POLICY_LOW;
  if (mpnum_has_word_(f32, name)) return MPNUM_POLICY_F32;
  if (mpnum_has_word_(widest, name)) return MPNUM_POLICY_WIDEST;
  if (mpnum_has_word_("binary_cross_entropy", name)) return MPNUM_POLICY_UNSAFE;
  return MPNUM_POLICY_UNKNOWN;
}

MPNUM_C_END_
#endif
