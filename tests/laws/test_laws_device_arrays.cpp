/* SPDX-License-Identifier: MIT */
/* The laws of launchers of arrays: conversions, reductions, health, and the pass over
 * gradients. */
#include "device_laws.hpp"

#include <mpnum/training/health.cuh>
#include <mpnum/training/health.h>

namespace {

enum { SRC, DST, WORDS };
size_t count_of(const law_piece *at) { return at->rows ? at->columns : 0; }
void draw_columns(law_draw *d) {
  d->rows = 1;
  d->columns = law_size(d, 2048, 9000);
  d->word[0] = law_random(d);
  d->word[1] = law_below(d, 3) ? law_random(d) : 0xfffffffffffffff0u;
}

/* --- Conversions --- */

struct pair_of_types {
  mpnum_type src, dst;
  int src_bits, dst_bits;
  law_call *plain, *saturating, *rounding;
};
template <class Src, class Dst> mpnum_status plain(const law_piece *at) {
  choose_order(at);
  return status_of(mpnum_launch_convert(data<Dst>(at, DST), data<const Src>(at, SRC),
                                        count_of(at), nullptr));
}
template <class Src, class Dst> mpnum_status saturating(const law_piece *at) {
  choose_order(at);
  return status_of(mpnum_launch_convert_sat(data<Dst>(at, DST), data<const Src>(at, SRC),
                                            count_of(at), nullptr));
}
template <class Src, class Dst> mpnum_status rounding(const law_piece *at) {
  const law_draw *d = at->draw;
  choose_order(at);
  return status_of(mpnum_launch_convert_round(
      data<Dst>(at, DST), data<const Src>(at, SRC), count_of(at), d->rounding,
      d->overflow, d->word[0], d->word[1] + at->column, nullptr));
}
/* The first has no plain form, as its type has no Inf or NaN, the last that alone. */
const pair_of_types pairs[] = {
    {MPNUM_TYPE_F32, MPNUM_TYPE_E2M1, 32, 4, nullptr, saturating<float, mpnum_e2m1x2>,
     rounding<float, mpnum_e2m1x2>},
    {MPNUM_TYPE_F32, LAW_CODE_TYPE, 32, 8, plain<float, code_type>,
     saturating<float, code_type>, rounding<float, code_type>},
    {LAW_NARROW_TYPE, MPNUM_TYPE_E5M2, 16, 8, plain<narrow, mpnum_e5m2>,
     saturating<narrow, mpnum_e5m2>, rounding<narrow, mpnum_e5m2>},
    {MPNUM_TYPE_F16, MPNUM_TYPE_BF16, 16, 16, plain<mpnum_f16, mpnum_bf16>,
     saturating<mpnum_f16, mpnum_bf16>, rounding<mpnum_f16, mpnum_bf16>},
    {LAW_CODE_TYPE, MPNUM_TYPE_F32, 8, 32, plain<code_type, float>, nullptr, nullptr},
};
const pair_of_types &pair_at(const law_draw *d) { return pairs[d->choice[0]]; }

void draw_conversion(law_draw *d, size_t first) {
  draw_columns(d);
  d->choice[0] = (int)(first + law_below(d, 4));
  const pair_of_types &pair = pair_at(d);
  d->column_unit = pair.dst_bits == 4 ? 2 : 1;
  d->rounding = MPNUM_ROUND_NEAREST_EVEN;
  d->overflow = MPNUM_OVERFLOW_IEEE;
  law_input(d, OF_ELEMENTS, pair.src, 0);
  law_result(d, OF_ELEMENTS, pair.dst_bits, 0);
  align_operands(d);
}
void draw_plain(law_draw *d) { draw_conversion(d, 1); }
void draw_saturating(law_draw *d) {
  draw_conversion(d, 0);
  d->overflow = MPNUM_OVERFLOW_SATURATE;
}
void draw_rounding(law_draw *d) {
  draw_conversion(d, 0);
  d->rounding = (mpnum_rounding)law_below(d, MPNUM_ROUND_STOCHASTIC + 1);
  if (d->rounding == MPNUM_ROUND_STOCHASTIC) d->rounding = law_stochastic(d);
  d->overflow = (mpnum_overflow)law_below(d, 2);
}
mpnum_status convert_plain(const law_piece *at) { return pair_at(at->draw).plain(at); }
mpnum_status convert_saturating(const law_piece *at) {
  return pair_at(at->draw).saturating(at);
}
mpnum_status convert_rounding(const law_piece *at) {
  return pair_at(at->draw).rounding(at);
}
mpnum_status convert_on_host(const law_piece *at) {
  const law_draw *d = at->draw;
  const pair_of_types &pair = pair_at(d);
  static uint8_t codes[9001];
  void *const to = pair.dst_bits == 4 ? codes : at->at[DST];
  const size_t n = count_of(at);
  const mpnum_status status =
      mpnum_convert_array(pair.dst, to, pair.src, at->at[SRC], n, d->rounding,
                          d->overflow, d->word[0], d->word[1] + at->column);
  if (status != MPNUM_OK || pair.dst_bits != 4) return status;
  if (n) codes[n] = 0;
  for (size_t i = 0; i < n + n % 2; ++i)
    law_set(4, at->at[DST], i, codes[i]);
  return MPNUM_OK;
}

/* --- Reductions and health of f32 and the narrow type, with and without scratch --- */

template <class Result> void draw_reduction(law_draw *d) {
  draw_columns(d);
  d->types[0] = law_below(d, 2) ? MPNUM_TYPE_F32 : LAW_NARROW_TYPE;
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_result(d, OF_CALL, 8, sizeof(Result));
  d->operands[DST].is_needed = 1;
  d->operands[DST].alignment = alignof(Result);
  d->choice[0] = (int)law_below(d, 2);
  align_operands(d);
}
/* f of the one of the two types. */
template <class F> mpnum_status of_source(const law_piece *at, F f) {
  choose_order(at);
  return status_of(at->draw->types[0] == MPNUM_TYPE_F32 ? f(data<const float>(at, SRC))
                                                        : f(data<const narrow>(at, SRC)));
}
mpnum_launch_scratch *scratch_of(const law_piece *at) {
  static mpnum_launch_scratch scratch; /* zero before and after each */
  return at->draw->choice[0] ? &scratch : nullptr;
}
#define REDUCTION(name, Result)                                                      \
 mpnum_status name##_launch(const law_piece *at) {                                   \
  return of_source(at, [&](auto *src) {                                              \
 return mpnum_launch_##name(data<Result>(at, DST), src, count_of(at), nullptr,       \
                            scratch_of(at));                                         \
  });                                                                                \
 }                                                                                   \
 mpnum_status name##_on_host(const law_piece *at) {                                  \
  const size_t n = count_of(at);                                                     \
  const Result made =                                                                \
      at->draw->types[0] == MPNUM_TYPE_F32                                           \
          ? mpnum_##name##_f32(data<const float>(at, SRC), n)                        \
          : LAW_JOINED(mpnum_##name##_, LAW_NARROW)(data<const narrow>(at, SRC), n); \
  std::memcpy(at->at[DST], &made, sizeof made);                                      \
  return MPNUM_OK;                                                                   \
 }
REDUCTION(all_finite, int)
REDUCTION(amax, float)
REDUCTION(stats, mpnum_stats)

/* Both add to what is there. */
template <class Result> void draw_health(law_draw *d) {
  draw_reduction<Result>(d);
  std::memset(d->operands[DST].values, 0, sizeof(Result));
  d->column_unit = 1;
}
mpnum_status histogram_launch(const law_piece *at) {
  return of_source(at, [&](auto *src) {
    return mpnum_launch_histogram(data<mpnum_histogram>(at, DST), src, count_of(at),
                                  nullptr);
  });
}
mpnum_status histogram_on_host(const law_piece *at) {
  for (size_t i = 0; i < count_of(at); ++i) {
    const float x = at->draw->types[0] == MPNUM_TYPE_F32
                        ? data<const float>(at, SRC)[i]
                        : mpnum::to_float(data<const narrow>(at, SRC)[i]);
    mpnum_histogram_add(data<mpnum_histogram>(at, DST), x);
  }
  return MPNUM_OK;
}
const mpnum_format lost_format = mpnum_format_of(MPNUM_TYPE_E4M3);
mpnum_status count_lost_launch(const law_piece *at) {
  return of_source(at, [&](auto *src) {
    return mpnum_launch_count_lost(data<mpnum_lost>(at, DST), src, count_of(at),
                                   lost_format, 0x1p-3f, nullptr);
  });
}
mpnum_status count_lost_on_host(const law_piece *at) {
  return mpnum_count_lost(data<mpnum_lost>(at, DST), at->draw->types[0], at->at[SRC],
                          count_of(at), lost_format, 0x1p-3f);
}

/* --- The pass over gradients --- */

void draw_gradients(law_draw *d) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                     MPNUM_TYPE_E5M2, MPNUM_TYPE_F64};
  d->columns = law_size(d, 2048, 9000);
  d->rows = d->columns > 600 ? 1 + law_below(d, 3) : law_size(d, 6, 20);
  d->types[0] = law_pick(d, types);
  d->types[1] = law_below(d, 2) ? d->types[0] : law_pick(d, types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  d->operands[DST].is_needed = 0;
  if (d->types[0] == d->types[1]) d->operands[DST].lies_on = SRC + 1;
  law_result(d, OF_CALL, 8, sizeof(mpnum_grad_findings));
  d->operands[WORDS].is_needed = 1;
  d->number[0] = law_below(d, 2) ? 0x1p+7f : 1 / 0.3f;
  align_operands(d);
  d->operands[WORDS].alignment = alignof(mpnum_grad_findings);
}
mpnum_grad_tensor tensor_of(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_grad_tensor tensor = mpnum_grad_tensor_of(d->types[0], at->at[SRC], at->columns,
                                                  d->types[1], at->at[DST]);
  tensor.rows = at->rows;
  tensor.src_stride = at->stride[SRC];
  tensor.dst_stride = at->stride[DST];
  return tensor;
}
mpnum_status scaler_of(const law_piece *at, mpnum_grad_scaler *scaler) {
  return mpnum_grad_scaler_init(scaler, mpnum_grad_scaler_static(at->draw->number[0]));
}
mpnum_status grad_pass_launch(const law_piece *at) {
  static mpnum_grad_tensor tensors[1]; /* in device memory, as are these: */
  static uint64_t tiles_before[2];
  static mpnum_grad_workspace workspace;
  static mpnum_grad_scaler scaler;
  mpnum_grad_list list;
  mpnum_status status = scaler_of(at, &scaler);
  tensors[0] = tensor_of(at);
  if (status == MPNUM_OK)
    status = mpnum_grad_plan(&list, tiles_before, tensors, 1, MPNUM_GRAD_NARROW);
  if (status != MPNUM_OK) return status;
  list.tensors = tensors;
  list.tiles_before = tiles_before;
  choose_order(at);
  return status_of(mpnum_launch_grad_pass(data<mpnum_grad_findings>(at, WORDS), list,
                                          &scaler, &workspace, nullptr));
}
/* Strided rows are tiles of their own, whose squares are of them. */
mpnum_status grad_multiply(const law_piece *at) {
  const mpnum_grad_tensor tensor = tensor_of(at);
  mpnum_grad_findings findings;
  mpnum_grad_scaler scaler;
  mpnum_status status = scaler_of(at, &scaler);
  if (status == MPNUM_OK)
    status =
        mpnum_grad_multiply(&tensor, 1, scaler.inverse, MPNUM_GRAD_NARROW, &findings);
  if (status == MPNUM_OK) *data<mpnum_grad_findings>(at, WORDS) = findings;
  return status;
}
int spoil_gradients(law_draw *d, law_piece *at, int k) {
  if (k == 0) d->types[0] = MPNUM_TYPE_E2M1;
  if (k == 1) at->stride[DST] = d->columns - 1;
  return k == 0 || (k == 1 && d->rows > 1);
}

const unsigned array = DEVICE_LAWS | HOLDS(LAW_SPLIT);
/* The result of nothing is a result. */
const unsigned reduction = DEVICE_LAWS;
const law_subject subjects[] = {
    {"mpnum_launch_convert", draw_plain, convert_plain, array, BESIDE(convert_on_host),
     nullptr, nullptr},
    {"mpnum_launch_convert_sat", draw_saturating, convert_saturating, array,
     BESIDE(convert_on_host), nullptr, nullptr},
    {"mpnum_launch_convert_round", draw_rounding, convert_rounding, array,
     BESIDE(convert_on_host), nullptr, nullptr},
    {"mpnum_launch_all_finite", draw_reduction<int>, all_finite_launch, reduction,
     BESIDE(all_finite_on_host), nullptr, nullptr},
    {"mpnum_launch_amax", draw_reduction<float>, amax_launch, reduction,
     BESIDE(amax_on_host), nullptr, nullptr},
    {"mpnum_launch_stats", draw_reduction<mpnum_stats>, stats_launch, reduction,
     BESIDE(stats_on_host), nullptr, nullptr},
    {"mpnum_launch_histogram", draw_health<mpnum_histogram>, histogram_launch, array,
     BESIDE(histogram_on_host), nullptr, nullptr},
    {"mpnum_launch_count_lost", draw_health<mpnum_lost>, count_lost_launch, array,
     BESIDE(count_lost_on_host), nullptr, nullptr},
    {"mpnum_launch_grad_pass", draw_gradients, grad_pass_launch,
     DEVICE_LAWS | HOLDS(LAW_IN_PLACE), BESIDE(grad_multiply), spoil_gradients, nullptr},
};

} // namespace

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   mpnum_isa_force, 60);
}
