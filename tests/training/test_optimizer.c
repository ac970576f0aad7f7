/* SPDX-License-Identifier: MIT */
/* Steps of optimizers: bits of the formulas in optimizer.h, computed here in double, each
 * operation rounded to float once; a trajectory in long double; what parameters and
 * moments of 16 bits must not lose; what is refused. */
#include "../array/array_checks.h"
#include "../harness/control_word.h"
#include "../harness/linked.h"
#include "../harness/must.h"

#include <mpnum/training/optimizer.h>

#include <float.h>
#include <math.h>

mpnum_status force_isa(mpnum_isa isa) { return force_all_isa(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

enum { N = 1500 };
static float gradient[N], parameter[N], moment1[N], moment2[N];
static float start[N], m_start[N], v_start[N];

static uint64_t state = 11;
static double unit(void) { return (double)(random_bits(&state) >> 11) * 0x1p-53; }
/* Of ordinary size, in many binades; of every eighth any bits. */
static float any_float(int can_be_negative) {
  float x = (float)ldexp(unit() + 0.5, (int)(random_bits(&state) % 40) - 30);
  if (random_bits(&state) % 8 == 0)
    x = mpnum_from_bits_f32((uint32_t)random_bits(&state) & 0x7fffffffu);
  return can_be_negative && random_bits(&state) % 2 ? -x : x;
}

/* Two floats in double: the sum, product, quotient and root of doubles that floats are,
 * rounded to double and then to float, are those rounded once (53 bits are 2 24 + 2 and
 * more). Of one volatile each, so that nothing is joined. */
static float rounded(double x) {
  volatile double once = x;
  volatile float twice = (float)once;
  return twice;
}
static float product(float a, float b) { return rounded((double)a * (double)b); }
static float difference(float a, float b) { return rounded((double)a - (double)b); }

typedef struct element {
  float p, m, v;
} element;
typedef struct formula {
  double rate, beta1, beta2, epsilon, decay;
  int kind, nesterov;
  float multiplier;
} formula;

static float one_nan(float x) {
  return mpnum_isnan_f32(x) ? mpnum_from_bits_f32(0x7fffffffu) : x;
}
static element stored(element e, int moments) {
  e.p = one_nan(e.p);
  if (moments > 0) e.m = one_nan(e.m);
  if (moments > 1) e.v = one_nan(e.v);
  return e;
}
static element step_of(const formula *f, uint64_t step, element e, float raw) {
  const int is_apart =
      f->kind == MPNUM_OPTIMIZER_ADAMW || f->kind == MPNUM_OPTIMIZER_LION;
  const float decay = is_apart ? 0 : (float)f->decay;
  const float shrink = is_apart ? (float)(f->rate * f->decay) : 0;
  const float rest1 = (float)(1 - f->beta1), rest2 = (float)(1 - f->beta2);
  const float g = fmaf(decay, e.p, product(raw, f->multiplier));
  double power1 = 1, power2 = 1;
  float change = 0;
  for (uint64_t i = 0; i < step; ++i) {
    power1 *= f->beta1;
    power2 *= f->beta2;
  }
  if (f->kind == MPNUM_OPTIMIZER_SGD) {
    float ahead = g;
    if (f->beta1 > 0) {
      e.m = fmaf((float)f->beta1, e.m, g);
      ahead = f->nesterov ? fmaf((float)f->beta1, e.m, g) : e.m;
    }
    e.p = difference(e.p, product((float)f->rate, ahead));
    return stored(e, f->beta1 > 0);
  }
  if (f->kind == MPNUM_OPTIMIZER_LION) {
    const float c = fmaf(difference(g, e.m), rest1, e.m);
    const float sign = c > 0 ? 1.0f : c < 0 ? -1.0f : c == 0 ? 0.0f : c;
    change = fmaf(shrink, e.p, product((float)f->rate, sign));
    e.m = fmaf(difference(g, e.m), rest2, e.m);
    e.p = difference(e.p, change);
    return stored(e, 1);
  }
  e.m = fmaf(difference(g, e.m), rest1, e.m);
  e.v = fmaf((float)f->beta2, e.v, product(product(rest2, g), g));
  {
    const float root = rounded(sqrt((double)e.v));
    const float inverse = rounded(1 / (double)rounded(sqrt((double)(float)(1 - power2))));
    const float below = fmaf(root, inverse, (float)f->epsilon);
    const float quotient = rounded((double)e.m / (double)below);
    change = fmaf(shrink, e.p, product((float)(f->rate / (1 - power1)), quotient));
  }
  e.p = difference(e.p, change);
  return stored(e, 2);
}

static mpnum_optimizer made_of(const formula *f) {
  mpnum_optimizer made = mpnum_optimizer_default((mpnum_optimizer_kind)f->kind);
  made.learning_rate = f->rate;
  made.beta1 = f->beta1;
  made.beta2 = f->beta2;
  made.epsilon = f->epsilon;
  made.weight_decay = f->decay;
  made.nesterov = f->nesterov;
  return made;
}
static int is_same(float a, float b) { return mpnum_bits_f32(a) == mpnum_bits_f32(b); }
static mpnum_optimizer_tensor floats_of(size_t n) {
  return mpnum_optimizer_tensor_of(n, MPNUM_TYPE_F32, gradient, MPNUM_TYPE_F32, parameter,
                                   MPNUM_TYPE_F32, moment1, moment2);
}

static void bits_are_those_of_the_formulas(void) {
  static const uint64_t steps[] = {1, 2, 9, 1000};
  static const mpnum_optimizer_kind kinds[] = {
      MPNUM_OPTIMIZER_ADAMW, MPNUM_OPTIMIZER_ADAM, MPNUM_OPTIMIZER_SGD,
      MPNUM_OPTIMIZER_LION,  MPNUM_OPTIMIZER_SGD,  MPNUM_OPTIMIZER_SGD};
  for (int i = 0; i < ISAS; ++i) {
    if (force_all_isa(isas[i]) != MPNUM_OK) continue;
    for (int number = 0; number < 6; ++number)
      for (int k = 0; k < 4; ++k) {
        formula f = {1e-3, 0.9, 0.999, 1e-8, 0.01, kinds[number], number == 5, 0x1p-10f};
        if (number == 2) f.beta1 = 0;
        if (k == 2) f.epsilon = f.decay = 0;
        if (k == 3) f.beta2 = 0.5, f.multiplier = 1;
        for (size_t at = 0; at < N; ++at) {
          gradient[at] = any_float(1);
          parameter[at] = start[at] = any_float(1);
          moment1[at] = m_start[at] = at % 5 ? any_float(1) : 0;
          moment2[at] = v_start[at] = at % 5 ? any_float(0) : 0;
        }
        const mpnum_optimizer optimizer = made_of(&f);
        const mpnum_optimizer_tensor tensor = floats_of(N);
        must(mpnum_optimizer_step(&optimizer, &tensor, 1, steps[k], f.multiplier,
                                  MPNUM_GRAD_APPLY));
        for (size_t at = 0; at < N; ++at) {
          const element before = {start[at], m_start[at], v_start[at]};
          const element want = step_of(&f, steps[k], before, gradient[at]);
          CHECK(is_same(parameter[at], want.p) && is_same(moment1[at], want.m) &&
                    is_same(moment2[at], want.v),
                "%s, kind %d, step %u, %zu: %a %a %a not %a %a %a",
                mpnum_isa_name(isas[i]), number, (unsigned)steps[k], at,
                (double)parameter[at], (double)moment1[at], (double)moment2[at],
                (double)want.p, (double)want.m, (double)want.v);
        }
      }
  }
  may(force_all_isa(isas[ISAS - 1]));
}

/* AdamW as its paper has it (Loshchilov, Hutter, arXiv:1711.05101), in long double. */
static void a_trajectory_stays_near_the_exact_one(void) {
  long double p[64], m[64], v[64];
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  const mpnum_optimizer_tensor tensor = floats_of(64);
  for (int i = 0; i < 64; ++i) {
    parameter[i] = (float)(unit() - 0.5);
    p[i] = (long double)parameter[i];
    m[i] = v[i] = 0;
    moment1[i] = moment2[i] = 0;
  }
  for (int step = 1; step <= 1000; ++step) {
    for (int i = 0; i < 64; ++i) {
      gradient[i] = (float)(cos(step * 0.1 + i) * 1e-3 + (unit() - 0.5) * 1e-3);
      const long double g = (long double)gradient[i];
      m[i] = 0.9L * m[i] + 0.1L * g;
      v[i] = 0.999L * v[i] + 0.001L * g * g;
      p[i] -= 1e-5L * p[i] + 1e-3L * (m[i] / (1 - powl(0.9L, step))) /
                                 (sqrtl(v[i] / (1 - powl(0.999L, step))) + 1e-8L);
    }
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, (uint64_t)step, 1.0f,
                              MPNUM_GRAD_APPLY));
  }
  for (int i = 0; i < 64; ++i) {
    const long double error = fabsl((long double)parameter[i] - p[i]);
    CHECK(error < 1e-5L, "%d: %Lg away from %Lg", i, error, p[i]);
    CHECK(fabsl((long double)moment2[i] / v[i] - 1) < 1e-4L, "%d: second moment", i);
  }
}

/* A decay of lr times weight decay = 1e-5 a step, 2^-9 being half a unit of bf16. */
static double after_decay(mpnum_type type, int has_remainder, int is_nearest) {
  static mpnum_bf16 codes[N], lacks[N];
  static mpnum_f16 halves[N], others[N];
  mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  const int is_f16 = type == MPNUM_TYPE_F16;
  mpnum_optimizer_tensor tensor = floats_of(256);
  double sum = 0;
  tensor.parameter_type = type;
  tensor.parameter = is_f16 ? (void *)halves : (void *)codes;
  if (has_remainder) tensor.remainder = is_f16 ? (void *)others : (void *)lacks;
  if (is_nearest) optimizer.rounding = MPNUM_ROUND_NEAREST_EVEN;
  for (int i = 0; i < 256; ++i) {
    codes[i] = mpnum_f32_to_bf16(1.0f);
    halves[i] = mpnum_f32_to_f16(1.0f);
    lacks[i] = mpnum_f32_to_bf16(0.0f);
    others[i] = mpnum_f32_to_f16(0.0f);
    gradient[i] = moment1[i] = moment2[i] = 0;
  }
  for (int step = 1; step <= 5000; ++step)
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, (uint64_t)step, 1.0f,
                              MPNUM_GRAD_APPLY));
  for (int i = 0; i < 256; ++i) {
    sum += (double)(is_f16 ? mpnum_f16_to_f32(halves[i]) : mpnum_bf16_to_f32(codes[i]));
    if (has_remainder)
      sum += (double)(is_f16 ? mpnum_f16_to_f32(others[i]) : mpnum_bf16_to_f32(lacks[i]));
  }
  return sum / 256;
}
static void weight_decay_happens_in_16_bits(void) {
  const double want = exp(-0.05);
  for (int k = 0; k < 5; ++k) {
    const mpnum_type type = k % 2 ? MPNUM_TYPE_F16 : MPNUM_TYPE_BF16;
    const double got = after_decay(type, k >= 2, k >= 4);
    const double limit = k >= 4 ? 0.03 : k >= 2 ? 1e-4 : 4e-3;
    CHECK(fabs(got - want) < limit, "%s, %d: %g, not %g", mpnum_type_name(type), k, got,
          want);
    CHECK(got < 0.99, "%s, %d: %g", mpnum_type_name(type), k, got);
  }
}
/* The second moment of a gradient of 1 goes to 1, with 0.001 of the rest a step: half a
 * unit of bf16 near 1 is 0.002. Of a gradient that has stopped, to 0. */
static void moments_move_in_bf16(void) {
  static mpnum_bf16 m[N], v[N];
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  mpnum_optimizer_tensor tensor = floats_of(1024);
  double sum = 0, later = 0;
  tensor.moment_type = MPNUM_TYPE_BF16;
  tensor.moment1 = m;
  tensor.moment2 = v;
  for (int i = 0; i < 1024; ++i) {
    gradient[i] = 1;
    parameter[i] = 0;
    m[i] = v[i] = mpnum_f32_to_bf16(0.0f);
  }
  for (int step = 1; step <= 4000; ++step) {
    if (step == 2001) {
      for (int i = 0; i < 1024; ++i) {
        sum += (double)mpnum_bf16_to_f32(v[i]) / 1024;
        gradient[i] = 0;
      }
    }
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, (uint64_t)step, 1.0f,
                              MPNUM_GRAD_APPLY));
  }
  for (int i = 0; i < 1024; ++i)
    later += (double)mpnum_bf16_to_f32(v[i]) / 1024;
  CHECK(fabs(sum / (1 - exp(-2.001)) - 1) < 0.01, "%g", sum);
  CHECK(fabs(later / (sum * exp(-2.001)) - 1) < 0.02, "%g", later);
}
/* One rounding: a result is one of the two neighbours of the float, as often as its place
 * between them says; and each array has words of its own. */
static void what_is_stored_is_rounded_once(void) {
  static mpnum_bf16 codes[4096], m[4096];
  static float floats[4096], g[4096], v[4096];
  mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_SGD);
  double mean = 0, want = 0;
  int both = 0, away = 0;
  mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      4096, MPNUM_TYPE_F32, g, MPNUM_TYPE_BF16, codes, MPNUM_TYPE_BF16, m, v);
  optimizer.beta1 = 0.5;
  optimizer.learning_rate = 1;
  optimizer.seed = 5;
  for (int i = 0; i < 4096; ++i) {
    codes[i] = mpnum_f32_to_bf16(1.0f);
    m[i] = mpnum_f32_to_bf16(0.0f);
    g[i] = -0.001f - 0x1p-9f * (float)unit();
    floats[i] = 1 - g[i];
  }
  must(mpnum_optimizer_step(&optimizer, &tensor, 1, 7, 1.0f, MPNUM_GRAD_APPLY));
  for (int i = 0; i < 4096; ++i) {
    const float got = mpnum_bf16_to_f32(codes[i]), moment = mpnum_bf16_to_f32(m[i]);
    CHECK(got == 1.0f || got == 1.0078125f, "%d: %a", i, (double)got);
    mean += (double)got / 4096;
    want += (double)floats[i] / 4096;
    both += got > 1.0f && moment < g[i]; /* up, in magnitude */
    away +=
        m[i].bits != ref_encode(ref_format_named("bf16"), mpnum_bits_f64((double)g[i]),
                                REF_NEAREST_EVEN, REF_IEEE, 0);
  }
  CHECK(fabs(mean - want) < 3e-4, "mean %g, not %g", mean, want);
  CHECK(away > 500 && away < 3000, "%d of 4096 moments are not the nearest", away);
  /* Apart a quarter times a half of them; with the same words some 900. */
  CHECK(both > 420 && both < 620, "%d of 4096 both went up", both);
  /* The next step has other words. */
  {
    static mpnum_bf16 first[4096];
    int same = 0;
    memcpy(first, codes, sizeof first);
    for (int i = 0; i < 4096; ++i) {
      codes[i] = mpnum_f32_to_bf16(1.0f);
      m[i] = mpnum_f32_to_bf16(0.0f);
    }
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, 8, 1.0f, MPNUM_GRAD_APPLY));
    for (int i = 0; i < 4096; ++i)
      same += first[i].bits == codes[i].bits;
    CHECK(same > 1500 && same < 3900, "%d of 4096 as in the step before", same);
  }
}
static void copies_are_those_of_the_parameters(void) {
  static mpnum_e4m3 bytes[N];
  static mpnum_bf16 small[N];
  static mpnum_f16 halves[N];
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  float largest = 0;
  for (int i = 0; i < N; ++i) {
    gradient[i] = (float)(unit() - 0.5);
    parameter[i] = (float)(unit() - 0.5);
    halves[i] = mpnum_f32_to_f16(parameter[i]);
    moment1[i] = moment2[i] = 0;
  }
  mpnum_optimizer_tensor tensor = floats_of(N);
  tensor.copy = small;
  must(mpnum_optimizer_step(&optimizer, &tensor, 1, 1, 1.0f, MPNUM_GRAD_APPLY));
  tensor.parameter_type = MPNUM_TYPE_F16;
  tensor.parameter = halves;
  tensor.copy_type = MPNUM_TYPE_E4M3;
  tensor.copy = bytes;
  tensor.copy_scale = 1024;
  tensor.losses = &losses;
  must(mpnum_optimizer_step(&optimizer, &tensor, 1, 2, 1.0f, MPNUM_GRAD_APPLY));
  for (int i = 0; i < N; ++i) {
    const float stored = mpnum_f16_to_f32(halves[i]);
    const float scaled = stored * 1024 > 448    ? 448
                         : stored * 1024 < -448 ? -448
                                                : stored * 1024;
    const uint32_t want =
        (uint32_t)ref_encode(ref_format_named("e4m3"), mpnum_bits_f64((double)scaled),
                             REF_NEAREST_EVEN, REF_IEEE, 0);
    CHECK(bytes[i].bits == want, "%d: %02x, not %02x", i, bytes[i].bits, want);
    CHECK(small[i].bits == ref_encode(ref_format_named("bf16"),
                                      mpnum_bits_f64((double)parameter[i]),
                                      REF_NEAREST_EVEN, REF_IEEE, 0),
          "%d: bf16", i);
    if (fabsf(stored) > largest) largest = fabsf(stored);
  }
  CHECK(losses.amax == largest && losses.saturated > 0, "amax %g", (double)losses.amax);
}

static void refused(const mpnum_optimizer *optimizer, const mpnum_optimizer_tensor *t,
                    uint64_t step, float multiplier, mpnum_status want,
                    const char *what) {
  static float before[4][N];
  memcpy(before[0], parameter, sizeof parameter);
  memcpy(before[1], moment1, sizeof moment1);
  memcpy(before[2], moment2, sizeof moment2);
  const mpnum_status got =
      mpnum_optimizer_step(optimizer, t, 1, step, multiplier, MPNUM_GRAD_APPLY);
  CHECK(got == want, "%s: %s", what, mpnum_status_string(got));
  CHECK(memcmp(before[0], parameter, sizeof parameter) == 0 &&
            memcmp(before[1], moment1, sizeof moment1) == 0 &&
            memcmp(before[2], moment2, sizeof moment2) == 0,
        "%s: something was written", what);
}
static void misuse_is_refused(void) {
  const double nan = mpnum_from_bits_f64(UINT64_C(0x7ff8) << 48);
  const double infinity = mpnum_from_bits_f64(UINT64_C(0x7ff0) << 48);
  const mpnum_optimizer fine = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  const double bad[] = {nan, infinity, -1e-3, 1.0};
  static mpnum_bf16 codes[N];
  for (int i = 0; i < N; ++i)
    gradient[i] = parameter[i] = 1;
  mpnum_optimizer_tensor tensor = floats_of(N);
  for (int k = 0; k < 4; ++k) {
    mpnum_optimizer broken = fine;
    broken.beta1 = bad[k];
    refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "beta1");
    broken = fine;
    broken.beta2 = bad[k];
    refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "beta2");
    if (k == 3) continue;
    broken = fine;
    broken.learning_rate = bad[k];
    refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "learning rate");
    broken = fine;
    broken.epsilon = bad[k];
    refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "epsilon");
    broken = fine;
    broken.weight_decay = bad[k];
    refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "weight decay");
  }
  mpnum_optimizer broken = fine;
  broken.learning_rate = 1e39; /* past the floats */
  refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "learning rate 1e39");
  broken = fine;
  broken.kind = 4;
  refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "kind 4");
  broken = fine;
  broken.rounding = MPNUM_ROUND_UP;
  refused(&broken, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "rounding up");
  refused(&fine, &tensor, 0, 1, MPNUM_ERROR_ARGUMENT, "step 0");
  refused(&fine, &tensor, 1, mpnum_from_bits_f32(0x7f800000u), MPNUM_ERROR_ARGUMENT,
          "a multiplier of Inf");
  refused(&fine, NULL, 1, 1, MPNUM_ERROR_NULL, "no tensors");
  refused(NULL, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "no optimizer");
#define WITH(field, value, want)                            \
 do {                                                       \
  tensor = floats_of(N);                                    \
  tensor.field = value;                                     \
  refused(&fine, &tensor, 1, 1, want, #field " = " #value); \
 } while (0)
  WITH(gradient, NULL, MPNUM_ERROR_NULL);
  WITH(parameter, NULL, MPNUM_ERROR_NULL);
  WITH(moment1, NULL, MPNUM_ERROR_NULL);
  WITH(moment2, NULL, MPNUM_ERROR_NULL);
  WITH(gradient_type, MPNUM_TYPE_F64, MPNUM_ERROR_TYPE);
  WITH(parameter_type, MPNUM_TYPE_E4M3, MPNUM_ERROR_TYPE);
  WITH(moment_type, MPNUM_TYPE_F16, MPNUM_ERROR_TYPE);
  WITH(remainder, codes, MPNUM_ERROR_TYPE); /* f32 lacks nothing */
  WITH(moment2, moment1, MPNUM_ERROR_OVERLAP);
  WITH(moment1, parameter + 1, MPNUM_ERROR_OVERLAP);
  WITH(gradient, parameter, MPNUM_ERROR_OVERLAP);
  WITH(copy, moment2, MPNUM_ERROR_OVERLAP);
#undef WITH
  tensor = floats_of(N);
  tensor.copy = codes;
  tensor.copy_scale = 2;
  refused(&fine, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "bf16 with a scale");
  tensor.copy_type = MPNUM_TYPE_E4M3;
  tensor.copy_scale = 0;
  refused(&fine, &tensor, 1, 1, MPNUM_ERROR_ARGUMENT, "a scale of 0");
  tensor.copy_type = MPNUM_TYPE_F32;
  refused(&fine, &tensor, 1, 1, MPNUM_ERROR_TYPE, "a copy in f32");
  tensor = floats_of(N);
  tensor.parameter_type = MPNUM_TYPE_BF16;
  tensor.parameter = codes;
  broken = fine;
  broken.rounding = MPNUM_ROUND_NEAREST_EVEN;
  refused(&broken, &tensor, 1, 1, MPNUM_ERROR_NARROW, "bf16 to nearest");
  static mpnum_f16 halves[N], lacks[N];
  tensor.parameter_type = MPNUM_TYPE_F16;
  tensor.parameter = halves;
  tensor.remainder = lacks;
  refused(&broken, &tensor, 1, 1, MPNUM_ERROR_NARROW, "f16 to nearest");
  mpnum_quantize_losses losses[N] = {{0, 0, 0, 0}};
  tensor = floats_of(N);
  tensor.copy_type = MPNUM_TYPE_E4M3;
  tensor.copy = losses;
  tensor.losses = losses;
  refused(&fine, &tensor, 1, 1, MPNUM_ERROR_OVERLAP, "a copy over its losses");
  /* The second of two tensors is refused, and the first stays. */
  mpnum_optimizer_tensor two[2] = {floats_of(N), floats_of(N)};
  float first = parameter[0];
  two[1].moment2 = NULL;
  CHECK(mpnum_optimizer_step(&fine, two, 2, 1, 1, MPNUM_GRAD_APPLY) == MPNUM_ERROR_NULL &&
            parameter[0] == first,
        "a list that is refused");
}
/* What a kind has not is not asked for; a momentum below all normal doubles is one, in
 * every environment. */
static void options_are_those_of_a_kind(void) {
  mpnum_optimizer sgd = mpnum_optimizer_default(MPNUM_OPTIMIZER_SGD);
  mpnum_optimizer_tensor tensor = floats_of(N);
  tensor.moment1 = tensor.moment2 = NULL;
  sgd.beta2 = 1;
  sgd.epsilon = 1e39;
  sgd.weight_decay = sgd.beta1 = -0.0;
  CHECK(mpnum_optimizer_step(&sgd, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY) == MPNUM_OK,
        "beta2, epsilon and moments of SGD; -0");
  mpnum_optimizer lion = mpnum_optimizer_default(MPNUM_OPTIMIZER_LION);
  lion.epsilon = 1e39;
  tensor.moment1 = tensor.moment2 = moment1;
  CHECK(mpnum_optimizer_step(&lion, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY) == MPNUM_OK,
        "epsilon and a second moment of Lion");
  const uint64_t word = control_word();
  sgd.beta1 = 1e-310;
  tensor.moment1 = NULL;
  set_control_word(word | FLUSHES);
  const mpnum_status status =
      mpnum_optimizer_step(&sgd, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY);
  set_control_word(word);
  CHECK(status == MPNUM_ERROR_NULL, "a subnormal momentum: %s",
        mpnum_status_string(status));
}
/* A float that bf16 has not: the parameter is Inf, and lacks nothing. */
static void what_overflows_has_no_remainder(void) {
  mpnum_bf16 code = mpnum_from_bits_bf16(0x7f7f), lacks = mpnum_from_bits_bf16(0);
  mpnum_optimizer sgd = mpnum_optimizer_default(MPNUM_OPTIMIZER_SGD);
  float g = -1e36f;
  mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      1, MPNUM_TYPE_F32, &g, MPNUM_TYPE_BF16, &code, MPNUM_TYPE_F32, NULL, NULL);
  tensor.remainder = &lacks;
  sgd.learning_rate = 1;
  must(mpnum_optimizer_step(&sgd, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
  CHECK(code.bits == 0x7f80 && lacks.bits == 0, "%04x, lacks %04x", code.bits,
        lacks.bits);
}
static void skip_writes_nothing(void) {
  const mpnum_optimizer fine = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  const mpnum_optimizer_tensor tensor = floats_of(N);
  static mpnum_bf16 copy[N];
  mpnum_optimizer_tensor copied = tensor;
  copied.copy = copy;
  for (int i = 0; i < N; ++i) {
    gradient[i] = mpnum_from_bits_f32(0x7fc00000u);
    parameter[i] = start[i] = 1;
    moment1[i] = m_start[i] = 2;
    moment2[i] = v_start[i] = 3;
    copy[i].bits = 0x1234;
  }
  must(mpnum_optimizer_step(&fine, &copied, 1, 1, 0.0f, MPNUM_GRAD_SKIP));
  CHECK(memcmp(parameter, start, sizeof start) == 0 &&
            memcmp(moment1, m_start, sizeof start) == 0 &&
            memcmp(moment2, v_start, sizeof start) == 0 && copy[7].bits == 0x1234,
        "something was written");
  must(mpnum_optimizer_step(&fine, NULL, 0, 1, 1.0f, MPNUM_GRAD_APPLY));
  mpnum_optimizer_tensor empty = floats_of(0);
  empty.gradient = empty.parameter = empty.moment1 = empty.moment2 = NULL;
  must(mpnum_optimizer_step(&fine, &empty, 1, 1, 1.0f, MPNUM_GRAD_APPLY));
}

int main(void) {
  TAP_RUN(bits_are_those_of_the_formulas);
  TAP_RUN(a_trajectory_stays_near_the_exact_one);
  TAP_RUN(weight_decay_happens_in_16_bits);
  TAP_RUN(moments_move_in_bf16);
  TAP_RUN(what_is_stored_is_rounded_once);
  TAP_RUN(copies_are_those_of_the_parameters);
  TAP_RUN(misuse_is_refused);
  TAP_RUN(options_are_those_of_a_kind);
  TAP_RUN(what_overflows_has_no_remainder);
  TAP_RUN(skip_writes_nothing);
  return tap_done();
}
