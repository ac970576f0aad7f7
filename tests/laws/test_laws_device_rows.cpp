/* SPDX-License-Identifier: MIT */
/* The laws of launchers of rows: softmax, losses, norms and their gradients. */
#include "device_laws.hpp"
#define ROW_TYPES  MPNUM_TYPE_F32, LAW_NARROW_TYPE
#define CODE_TYPES LAW_CODE_TYPE
#include "row_draws.h"

#include <mpnum/rows/activation_rows.cuh>
#include <mpnum/rows/softmax_cap.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

/* f of the one of row_types that types[k] is. */
template <class F> mpnum_status of_type(const law_piece *at, int k, F f) {
  choose_order(at);
  return status_of(at->draw->types[k] == MPNUM_TYPE_F32 ? f(kind<float>())
                                                        : f(kind<narrow>()));
}

template <void (*draw)(law_draw *)> void draw_launch(law_draw *d) {
  draws_caps = 0;
  draw(d);
  align_operands(d);
}
/* Some rows are too long for threads to hold or a block to keep (row_staged.cuh). */
constexpr size_t staged_row = 33000;
template <void (*draw)(law_draw *)> void draw_staged(law_draw *d) {
  long_row = staged_row;
  draw_launch<draw>(d);
  long_row = 0;
}
/* Rows of one type, of which there are kernels. */
template <void (*draw)(law_draw *)> void draw_alike(law_draw *d) {
  only_row_type = law_below(d, 2) ? MPNUM_TYPE_F32 : LAW_NARROW_TYPE;
  draw(d);
  align_operands(d);
  only_row_type = MPNUM_TYPE_F64;
}
template <void (*draw)(law_draw *)> void draw_capped(law_draw *d) {
  draws_caps = 1;
  draw_alike<draw>(d);
}
/* A launcher has no types to refuse. */
template <int (*spoil)(law_draw *, law_piece *, int), int most>
int spoil_launch(law_draw *d, law_piece *at, int k) {
  return k < most && spoil(d, at, k + 1);
}

/* --- Softmax --- */

template <bool is_log> mpnum_status softmax_launch(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type Src;
    cudaError_t error = cudaSuccess;
    (void)of_type(at, 1, [&](auto into) {
      typedef typename decltype(into)::type Dst;
      const auto launch = is_log ? mpnum_launch_log_softmax_rows<Dst, const Src>
                                 : mpnum_launch_softmax_rows<Dst, const Src>;
      return error = launch(matrix_at<Dst>(at, OPTIONS + 1),
                            matrix_at<const Src>(at, OPTIONS), &options,
                            data<mpnum_row_status>(at, OPTIONS + 2), nullptr);
    });
    return error;
  });
}
mpnum_status logsumexp_launch(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type Src;
    return mpnum_launch_logsumexp_rows(
        data<float>(at, OPTIONS + 1),
        mpnum::matrix_of(data<const Src>(at, OPTIONS), at->rows, at->columns,
                         at->stride[OPTIONS]),
        &options, data<mpnum_row_status>(at, OPTIONS + 2), nullptr);
  });
}
template <bool is_log> mpnum_status softmax_backward_launch(const law_piece *at) {
  const mpnum_softmax_options options = options_of(at, 0);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    const auto launch = is_log
                            ? mpnum_launch_log_softmax_backward_rows<T, const T, const T>
                            : mpnum_launch_softmax_backward_rows<T, const T, const T>;
    return launch(matrix_at<T>(at, OPTIONS + 2), matrix_at<const T>(at, OPTIONS),
                  matrix_at<const T>(at, OPTIONS + 1), &options, nullptr);
  });
}

/* Capped. */
template <bool is_log> mpnum_status capped_launch(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    const auto launch = is_log ? mpnum_launch_log_softmax_capped_rows<T, const T>
                               : mpnum_launch_softmax_capped_rows<T, const T>;
    return launch(matrix_at<T>(at, OPTIONS + 1), matrix_at<const T>(at, OPTIONS),
                  &options, data<mpnum_row_status>(at, OPTIONS + 2), nullptr);
  });
}
mpnum_status logsumexp_capped_launch(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_logsumexp_capped_rows(
        data<float>(at, OPTIONS + 1), matrix_at<const T>(at, OPTIONS), &options,
        data<mpnum_row_status>(at, OPTIONS + 2), nullptr);
  });
}
mpnum_status capped_backward_launch(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_softmax_capped_backward_rows(
        matrix_at<T>(at, OPTIONS + 2), matrix_at<const T>(at, OPTIONS),
        matrix_at<const T>(at, OPTIONS + 1), matrix_at<const T>(at, OPTIONS + 3),
        &options, nullptr);
  });
}

/* --- Cross-entropy: the reduced loss is the host's but for the order of its sum --- */

template <int caps> void draw_loss(law_draw *d) {
  draws_caps = caps;
  long_row = caps ? 0 : staged_row;
  do {
    forget_operands(d);
    draw_alike<draw_cross_entropy_64>(d);
  } while (d->choice[3]);
  long_row = 0;
}
template <int caps> mpnum_status cross_entropy_launch(const law_piece *at) {
  const mpnum_cross_entropy_options options = loss_options(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    const auto launch = caps ? mpnum_launch_cross_entropy_capped_rows<T, const T, int64_t>
                             : mpnum_launch_cross_entropy_rows<T, const T, int64_t>;
    return launch(data<float>(at, LOSS),
                  mpnum::matrix_of(data<T>(at, GRADIENT), at->rows, at->columns,
                                   at->stride[GRADIENT]),
                  matrix_at<const T>(at, SRC), data<const int64_t>(at, TARGETS), &options,
                  data<mpnum_row_status>(at, STATUS), nullptr);
  });
}

/* --- Norms: residual and sum have the type of the source --- */

template <mpnum_norm_kind norm, void (*draw)(law_draw *)>
void draw_norm_launch(law_draw *d) {
  draw_alike<draw>(d);
  d->choice[0] = norm;
}
template <mpnum_norm_kind norm> mpnum_status norm_launch(const law_piece *at) {
  const mpnum_normalize_options options = norm_options(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_normalize_rows(norm, matrix_at<T>(at, N_DST),
                                       matrix_at<const T>(at, N_SRC), &options, nullptr);
  });
}
/* Of the losses a launcher has the amax alone; scale and amax are in device memory. */
template <mpnum_norm_kind norm> mpnum_status norm_codes_launch(const law_piece *at) {
  const mpnum_normalize_options options = norm_options(at);
  static float scale, amax;
  scale = at->draw->number[1];
  mpnum_quantize_losses *losses = data<mpnum_quantize_losses>(at, N_LOSSES);
  amax = losses ? losses->amax : 0;
  const mpnum_status status = of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_normalize_quantize_rows(norm, matrix_at<code_type>(at, N_DST),
                                                matrix_at<const T>(at, N_SRC), &options,
                                                &scale, &amax, nullptr);
  });
  if (status == MPNUM_OK && losses) losses->amax = amax;
  return status;
}
mpnum_status norm_codes_on_host(const law_piece *at) {
  mpnum_quantize_losses all = {0, 0, 0, 0};
  mpnum_quantize_losses *losses = data<mpnum_quantize_losses>(at, N_LOSSES);
  law_piece own = *at;
  all.amax = losses ? losses->amax : 0;
  own.at[N_LOSSES] = &all;
  const mpnum_status status = normalize_quantize(&own);
  if (status == MPNUM_OK && losses) losses->amax = all.amax;
  return status;
}
template <mpnum_norm_kind norm> mpnum_status norm_backward_launch(const law_piece *at) {
  alignas(16) static unsigned char workspace[1 << 22];
  mpnum_normalize_options options = mpnum_normalize_default();
  if (mpnum_launch_normalize_backward_bytes(at->rows, at->columns) > sizeof workspace)
    std::abort();
  options.weight = data<const float>(at, B_WEIGHT);
  options.epsilon = at->draw->number[0];
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    mpnum::norm_gradients<T> to = {matrix_at<T>(at, B_INPUT),
                                   data<float>(at, B_TO_WEIGHT),
                                   data<float>(at, B_TO_BIAS), at->draw->choice[1]};
    return mpnum_launch_normalize_backward_rows(norm, to, matrix_at<const T>(at, B_DY),
                                                matrix_at<const T>(at, B_SRC), &options,
                                                nullptr, workspace);
  });
}

/* --- Activations, of no function of the caller, and dropout --- */

/* Source and factor of one type, results and dy of one. */
template <void (*draw)(law_draw *)> void draw_activation_launch(law_draw *d) {
  draws_light = 0;
  draw_alike<draw>(d);
}
mpnum_status activation_launch(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_activation_rows(kind_of(at), matrix_at<T>(at, A_DST),
                                        matrix_at<const T>(at, A_SRC), &options, nullptr);
  });
}
/* Calls launch with scale and amax in device memory, and keeps the amax. */
template <class Launch>
mpnum_status with_amax(const law_piece *at, int k, Launch launch) {
  static float scale, amax;
  mpnum_quantize_losses *losses = data<mpnum_quantize_losses>(at, k);
  scale = at->draw->number[1];
  amax = losses ? losses->amax : 0;
  const mpnum_status status =
      of_type(at, 0, [&](auto from) { return launch(from, &scale, &amax); });
  if (status == MPNUM_OK && losses) losses->amax = amax;
  return status;
}
/* The same of the host's call, of whose losses only the amax counts. */
template <int k, law_call *call> mpnum_status amax_on_host(const law_piece *at) {
  mpnum_quantize_losses all = {0, 0, 0, 0};
  mpnum_quantize_losses *losses = data<mpnum_quantize_losses>(at, k);
  law_piece own = *at;
  all.amax = losses ? losses->amax : 0;
  own.at[k] = &all;
  const mpnum_status status = call(&own);
  if (status == MPNUM_OK && losses) losses->amax = all.amax;
  return status;
}
mpnum_status activation_codes_launch(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return with_amax(at, A_LOSSES, [&](auto from, const float *scale, float *amax) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_activation_quantize_rows(
        kind_of(at), matrix_at<code_type>(at, A_DST), matrix_at<const T>(at, A_SRC),
        &options, scale, amax, nullptr);
  });
}
/* A gradient that is not wanted is an empty view. */
template <class T> mpnum::matrix<T> wanted_at(const law_piece *at, int k) {
  return at->draw->operands[k].bits ? matrix_at<T>(at, k) : mpnum::matrix<T>();
}
mpnum_status activation_backward_launch(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_activation_backward_rows(
        kind_of(at), wanted_at<T>(at, AB_TO_SRC), wanted_at<T>(at, AB_TO_FACTOR),
        matrix_at<const T>(at, AB_DY), matrix_at<const T>(at, A_SRC), &options, nullptr);
  });
}
mpnum_status backward_codes_launch(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return with_amax(at, AB_LOSSES, [&](auto from, const float *scale, float *amax) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_activation_backward_quantize_rows(
        kind_of(at), wanted_at<code_type>(at, AB_TO_SRC),
        wanted_at<code_type>(at, AB_TO_FACTOR), matrix_at<const T>(at, AB_DY),
        matrix_at<const T>(at, A_SRC), &options, scale, amax, nullptr);
  });
}
mpnum_status dropout_launch(const law_piece *at) {
  const law_draw *d = at->draw;
  return of_type(at, 0, [&](auto from) {
    typedef typename decltype(from)::type T;
    return mpnum_launch_dropout_rows(matrix_at<T>(at, 1), matrix_at<const T>(at, 0),
                                     d->number[0], d->word[0],
                                     d->word[1] + at->row * d->columns, nullptr);
  });
}

const unsigned laws = DEVICE_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE) |
                      HOLDS(LAW_STRIDED) | HOLDS(LAW_IN_PLACE);
#define NORM(name, KIND)                                                    \
 {"mpnum_launch_normalize_rows/" name,                                      \
  draw_norm_launch<MPNUM_NORM_##KIND, draw_any_norm>,                       \
  norm_launch<MPNUM_NORM_##KIND>,                                           \
  laws,                                                                     \
  BESIDE(normalize),                                                        \
  spoil_launch<spoil_norm, 3>,                                              \
  nullptr},                                                                 \
     {"mpnum_launch_normalize_quantize_rows/" name,                         \
      draw_norm_launch<MPNUM_NORM_##KIND, draw_norm_codes>,                 \
      norm_codes_launch<MPNUM_NORM_##KIND>,                                 \
      laws & ~HOLDS(LAW_IN_PLACE),                                          \
      BESIDE(norm_codes_on_host),                                           \
      spoil_launch<spoil_norm, 3>,                                          \
      nullptr},                                                             \
 {                                                                          \
  "mpnum_launch_normalize_backward_rows/" name,                             \
      draw_norm_launch<MPNUM_NORM_##KIND, draw_norm_backward>,              \
      norm_backward_launch<MPNUM_NORM_##KIND>, laws, BESIDE(norm_backward), \
      spoil_launch<spoil_norm, 3>, nullptr                                  \
 }

const law_subject subjects[] = {
    {"mpnum_launch_softmax_rows", draw_staged<draw_softmax>, softmax_launch<false>, laws,
     BESIDE(softmax), spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_log_softmax_rows", draw_staged<draw_softmax>, softmax_launch<true>,
     laws, BESIDE(log_softmax), spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_logsumexp_rows", draw_staged<draw_logsumexp>, logsumexp_launch,
     laws & ~HOLDS(LAW_IN_PLACE), BESIDE(logsumexp), spoil_launch<spoil_options, 4>,
     nullptr},
    {"mpnum_launch_softmax_backward_rows", draw_alike<draw_softmax_backward>,
     softmax_backward_launch<false>, laws, BESIDE(softmax_backward),
     spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_log_softmax_backward_rows", draw_alike<draw_softmax_backward>,
     softmax_backward_launch<true>, laws, BESIDE(log_softmax_backward),
     spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_softmax_capped_rows", draw_capped<draw_softmax>, capped_launch<false>,
     laws, BESIDE(softmax), spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_log_softmax_capped_rows", draw_capped<draw_softmax>,
     capped_launch<true>, laws, BESIDE(log_softmax), spoil_launch<spoil_options, 4>,
     nullptr},
    {"mpnum_launch_logsumexp_capped_rows", draw_capped<draw_logsumexp>,
     logsumexp_capped_launch, laws & ~HOLDS(LAW_IN_PLACE), BESIDE(logsumexp),
     spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_softmax_capped_backward_rows", draw_capped<draw_capped_backward>,
     capped_backward_launch, laws, BESIDE(softmax_capped_backward),
     spoil_launch<spoil_options, 4>, nullptr},
    {"mpnum_launch_cross_entropy_rows", draw_loss<0>, cross_entropy_launch<0>, laws,
     BESIDE(cross_entropy), spoil_launch<spoil_loss, 7>, nullptr},
    {"mpnum_launch_cross_entropy_capped_rows", draw_loss<1>, cross_entropy_launch<1>,
     laws, BESIDE(cross_entropy), spoil_launch<spoil_loss, 7>, nullptr},
    {"mpnum_launch_activation_rows", draw_activation_launch<draw_activation>,
     activation_launch, laws, BESIDE(activation), spoil_launch<spoil_activation, 3>,
     nullptr},
    {"mpnum_launch_activation_quantize_rows",
     draw_activation_launch<draw_activation_codes>, activation_codes_launch,
     laws & ~HOLDS(LAW_IN_PLACE), BESIDE((amax_on_host<A_LOSSES, activation_quantize>)),
     spoil_launch<spoil_activation, 3>, nullptr},
    {"mpnum_launch_activation_backward_rows",
     draw_activation_launch<draw_activation_backward>, activation_backward_launch, laws,
     BESIDE(activation_backward), spoil_launch<spoil_activation, 3>, nullptr},
    {"mpnum_launch_activation_backward_quantize_rows",
     draw_activation_launch<draw_backward_codes>, backward_codes_launch,
     laws & ~HOLDS(LAW_IN_PLACE),
     BESIDE((amax_on_host<AB_LOSSES, activation_backward_quantize>)),
     spoil_launch<spoil_activation, 3>, nullptr},
    {"mpnum_launch_dropout_rows", draw_alike<draw_dropout>, dropout_launch, laws,
     BESIDE(dropout), spoil_launch<spoil_dropout, 2>, nullptr},
    NORM("layer", LAYER),
    NORM("rms", RMS),
};

} // namespace

int main(int argc, char **argv) {
  simt::shared_optin = (65 << 10) + 64; /* little more than sm_75 has */
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   mpnum_isa_force, 80);
}
