/* SPDX-License-Identifier: MIT */
/* The gradient pass and steps of optimizers take no longer for some data:
 * tests/harness/data_sets.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

#include <mpnum/training/optimizer.h>

enum { MOST = 5000 };
static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                   MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
enum { TYPES = sizeof types / sizeof types[0] };
/* Products that are normal, subnormal, less or Inf. */
static const float factors[] = {1,       0x1p-16f, 0x1.8p-3f, -0x1.2468acp-126f,
                                0x1p16f, 0,        0x1p-130f, 3.5f};
enum { FACTORS = sizeof factors / sizeof factors[0] };

static float x[MOST];
static uint8_t source[4 * MOST];
/* In place the source is put into the result first. */
static struct call {
  mpnum_type from, to;
  size_t n;
  float factor;
  int in_place;
  uint8_t result[4 * MOST];
  mpnum_status status;
  mpnum_grad_findings findings;
} call, want;
static void multiply(void) {
  const void *src = call.in_place ? call.result : source;
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(call.from, src, call.n, call.to, call.result);
  call.status =
      mpnum_grad_multiply(&tensor, 1, call.factor, MPNUM_GRAD_NARROW, &call.findings);
}
static void prepare(void) {
  memset(call.result, 0, sizeof call.result);
  memset(&call.findings, 0, sizeof call.findings);
  if (call.in_place) memcpy(call.result, source, sizeof source);
}
static int are_equal(const mpnum_grad_findings *a, const mpnum_grad_findings *b) {
  return memcmp(&a->squares, &b->squares, sizeof a->squares) == 0 &&
         a->stats.count == b->stats.count && a->stats.zeros == b->stats.zeros &&
         a->stats.subnormals == b->stats.subnormals && a->stats.infs == b->stats.infs &&
         a->stats.nans == b->stats.nans &&
         memcmp(&a->stats.amax, &b->stats.amax, 4) == 0 &&
         memcmp(&a->stats.min_nonzero, &b->stats.min_nonzero, 4) == 0 &&
         a->first_element == b->first_element && a->first_bits == b->first_bits;
}
static void check_call(data set, mpnum_isa isa) {
  prepare();
  run_scalar(multiply);
  want = call;
  prepare();
  /* (of random bits few are subnormal, and a tile may have begun without) */
  if (set == BITS) usual_word = 0x1f80u;
  CHECK(!traps(multiply), "%s to %s times %a of %s traps with %s",
        mpnum_type_name(call.from), mpnum_type_name(call.to), (double)call.factor,
        data_names[set], mpnum_isa_name(isa));
  usual_word = 0x1e80u;
  CHECK(call.status == want.status &&
            memcmp(call.result, want.result, sizeof want.result) == 0,
        "%s to %s times %a of %s gives other bits with %s", mpnum_type_name(call.from),
        mpnum_type_name(call.to), (double)call.factor, data_names[set],
        mpnum_isa_name(isa));
  CHECK(are_equal(&call.findings, &want.findings),
        "%s to %s times %a of %s finds something else with %s",
        mpnum_type_name(call.from), mpnum_type_name(call.to), (double)call.factor,
        data_names[set], mpnum_isa_name(isa));
}
static void check_types(mpnum_isa isa) {
  for (int set = NORMAL; set < DATA; ++set)
    for (int f = 0; f < FACTORS; ++f)
      for (int s = 0; s < TYPES; ++s)
        for (int d = 0; d < TYPES; ++d) {
          static const size_t sizes[] = {256, 1000, 4096, 4999};
          call.n = sizes[random32() % 4];
          call.from = types[s];
          call.to = types[d];
          call.factor = factors[f];
          call.in_place = s == d && random32() % 2;
          for (size_t i = 0; i < call.n; ++i)
            x[i] = element_of((data)set);
          usual_word = 0x1f80u;
          CHECK(mpnum_convert_array(call.from, source, MPNUM_TYPE_F32, x, call.n,
                                    MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                                    0) == MPNUM_OK,
                "no source");
          usual_word = 0x1e80u; /* codes of f16 may underflow */
          check_call((data)set, isa);
        }
}
static void no_data_set_makes_the_gradient_pass_trap(void) {
  state = 7;
  usual_word = 0x1e80u;
  for_each_isa(MPNUM_ISA_AVX2, check_types);
}

enum { STATES = 2048 };
static const struct step_kind {
  mpnum_optimizer_kind kind;
  double beta1, weight_decay;
  int nesterov;
} kinds[] = {{MPNUM_OPTIMIZER_ADAMW, 0.9, 0.01, 0}, {MPNUM_OPTIMIZER_ADAM, 0.9, 0, 0},
             {MPNUM_OPTIMIZER_ADAM, 0.9, 0.01, 0},  {MPNUM_OPTIMIZER_SGD, 0, 0.01, 0},
             {MPNUM_OPTIMIZER_SGD, 0.9, 0.01, 0},   {MPNUM_OPTIMIZER_SGD, 0.9, 0, 1},
             {MPNUM_OPTIMIZER_LION, 0.9, 0.01, 0}};
enum { STEP_KINDS = sizeof kinds / sizeof kinds[0] };
static const float multipliers[] = {1, 0x1p-16f, -0x1.8p-3f, 0};
static struct states {
  float gradient[STATES], parameter[STATES], moment1[STATES], moment2[STATES];
  mpnum_status status;
} begin, states, wanted;
static mpnum_optimizer optimizer;
static float multiplier;
static void take_step(void) {
  const mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      STATES, MPNUM_TYPE_F32, states.gradient, MPNUM_TYPE_F32, states.parameter,
      MPNUM_TYPE_F32, states.moment1, states.moment2);
  states.status =
      mpnum_optimizer_step(&optimizer, &tensor, 1, 100, multiplier, MPNUM_GRAD_APPLY);
}
static float size_of(float value) {
  return mpnum_from_bits_f32(mpnum_bits_f32(value) & 0x7fffffffu);
}
/* A set of gradients and states, or of states that decayed without gradients. */
static void draw_states(data set) {
  for (int i = 0; i < STATES; ++i) {
    const uint32_t word = random32();
    begin.gradient[i] = set == DATA ? 0 : element_of(set);
    begin.parameter[i] = set == DATA ? usual() : element_of(set);
    begin.moment1[i] =
        set == DATA ? mpnum_from_bits_f32(word & 0x80000007u) : element_of(set);
    begin.moment2[i] = size_of(set == DATA ? usual() * 0x1p-120f : element_of(set));
  }
}
static void check_step(data set, int k, mpnum_isa isa) {
  const char *name = set == DATA ? "decayed" : data_names[set];
  optimizer = mpnum_optimizer_default(kinds[k].kind);
  optimizer.beta1 = kinds[k].beta1;
  optimizer.weight_decay = kinds[k].weight_decay;
  optimizer.nesterov = kinds[k].nesterov;
  multiplier = multipliers[random32() % 4];
  draw_states(set);
  states = begin;
  run_scalar(take_step);
  wanted = states;
  states = begin;
  usual_word = set == BITS ? 0x1f80u : 0x1680u;
  CHECK(!traps(take_step), "step %d times %a of %s traps with %s", k, (double)multiplier,
        name, mpnum_isa_name(isa));
  CHECK(memcmp(&states, &wanted, sizeof states) == 0,
        "step %d times %a of %s gives other bits with %s", k, (double)multiplier, name,
        mpnum_isa_name(isa));
}
static void check_steps(mpnum_isa isa) {
  for (int set = NORMAL; set <= DATA; ++set)
    for (int k = 0; k < STEP_KINDS; ++k)
      for (int turn = 0; turn < 8; ++turn)
        check_step((data)set, k, isa);
}
static void no_data_set_makes_a_step_trap(void) {
  state = 9;
  for_each_isa(MPNUM_ISA_AVX2, check_steps);
}

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_the_gradient_pass_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_a_step_trap);
  return tap_done();
}
