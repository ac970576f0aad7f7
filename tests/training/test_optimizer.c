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
/* Mostly below all normal floats, or so that products are; some are usual. */
static float low_float(int can_be_negative) {
  const uint32_t word = (uint32_t)(random_bits(&state) >> 16);
  const int kind = (int)(random_bits(&state) % 8);
  float x = (float)ldexp(unit() + 0.5, (int)(word % 30) - 25);
  if (kind == 0) x = mpnum_from_bits_f32(word & 0xff);
  if (kind == 5 && word % 2) x = 0;
  if (kind < 3 && kind > 0) x = mpnum_from_bits_f32(word & 0x00ffffff);
  if (kind == 3) x = (float)ldexp(unit() + 0.5, (int)(word % 70) - 150);
  if (kind == 4) x = (float)ldexp(unit() + 0.5, (int)(word % 40) - 80);
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

typedef float draw(int can_be_negative);
static void fill(draw *any) {
  for (size_t at = 0; at < N; ++at) {
    gradient[at] = any(1);
    parameter[at] = start[at] = any(1);
    moment1[at] = m_start[at] = at % 5 ? any(1) : 0;
    moment2[at] = v_start[at] = at % 5 ? any(at % 64 == 1) : 0;
  }
}
/* What seldom happens: sums that nearly cancel, second moments below 0, and, of a decay
 * or a rate of -0, changes of a parameter of -0. */
static void fill_low(const formula *f) {
  fill(low_float);
  for (size_t at = 0; at < N; at += at < 1200 ? 97 : 5) {
    const int exponent = (int)(random_bits(&state) % 5) - 96;
    parameter[at] = start[at] = (float)ldexp(unit() + 1, exponent);
    gradient[at] = -product((float)f->decay, start[at]);
  }
  for (size_t at = 0; at < N / 4; at += 3) {
    gradient[at] = moment1[at] = m_start[at] = f->rate > 0 ? -0x1p-149f : 1;
    parameter[at] = start[at] = -0.0f;
    moment2[at] = v_start[at] = 1;
  }
  for (size_t at = 1301; at < N; at += 5) {
    const float g = (float)ldexp(unit() + 1, -58), rest2 = (float)(1 - f->beta2);
    gradient[at] = g / f->multiplier;
    moment2[at] = v_start[at] = -0.75f * product(product(rest2, g), g);
  }
}
static void check_formula(mpnum_isa isa, const formula *f, uint64_t step) {
  const mpnum_optimizer optimizer = made_of(f);
  const mpnum_optimizer_tensor tensor = floats_of(N);
  must(mpnum_optimizer_step(&optimizer, &tensor, 1, step, f->multiplier,
                            MPNUM_GRAD_APPLY));
  for (size_t at = 0; at < N; ++at) {
    const element before = {start[at], m_start[at], v_start[at]};
    const element want = step_of(f, step, before, gradient[at]);
    CHECK(is_same(parameter[at], want.p) && is_same(moment1[at], want.m) &&
              is_same(moment2[at], want.v),
          "%s, kind %d, step %u, %zu: %a, %a %a %a: %a %a %a not %a %a %a",
          mpnum_isa_name(isa), f->kind, (unsigned)step, at, (double)gradient[at],
          (double)before.p, (double)before.m, (double)before.v, (double)parameter[at],
          (double)moment1[at], (double)moment2[at], (double)want.p, (double)want.m,
          (double)want.v);
  }
}
static void check_formulas(int are_low) {
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
        if (are_low && k != 2) f.rate = 1;
        if (are_low && k == 0) f.rate = 1e-40;
        if (are_low && k == 1) f.rate = -0.0;
        if (are_low && k == 2) f.decay = -0.0;
        if (are_low)
          fill_low(&f);
        else
          fill(any_float);
        check_formula(isas[i], &f, steps[k]);
      }
  }
  may(force_all_isa(isas[ISAS - 1]));
}
static void bits_are_those_of_the_formulas(void) { check_formulas(0); }
static void bits_of_low_numbers_are_those_of_the_formulas(void) { check_formulas(1); }

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
/* What a code of a moment says, as the header has it: a first moment is e4m3; a second
 * one has no sign and five bits of exponent, with the bias 15. */
static double byte_value(int is_second, unsigned code, int scale) {
  const unsigned magnitude = is_second ? code : code & 0x7f;
  const int exponent = (int)(magnitude >> 3), least = is_second ? -14 : -6;
  const int power = (scale ? scale : 1) - 127; /* 0 is where nothing was stored yet */
  const double fraction = (double)((magnitude & 7) + (exponent ? 8 : 0)) / 8;
  const double x = ldexp(fraction, least + (exponent ? exponent - 1 : 0) + power);
  if (magnitude == (is_second ? 0xff : 0x7f))
    return mpnum_from_bits_f64(UINT64_C(0x7ff8) << 48);
  return !is_second && code >= 0x80 ? -x : x;
}
/* Rounded by 16 random bits, of which the place between two codes takes 20. */
static unsigned byte_of(int is_second, float x, int scale, uint32_t random) {
  const double magnitude = fabs((double)x);
  const unsigned sign = !is_second && mpnum_bits_f32(x) >> 31 ? 0x80 : 0;
  const unsigned ones = is_second ? 0xff : 0x7f;
  unsigned code = 0;
  if (!mpnum_isfinite_f32(x)) return ones | sign;
  while (code + 1 < ones && byte_value(is_second, code + 1, scale) <= magnitude)
    ++code;
  const double below = byte_value(is_second, code, scale);
  const double step =
      code + 1 < ones ? byte_value(is_second, code + 1, scale) - below : 1;
  if (code + 1 < ones)
    code += nearbyint((magnitude - below) / step * 0x1p20) + 16.0 * random >= 0x1p20;
  if (is_second && code == 0 && magnitude > 0) code = 1;
  return code | sign;
}
/* Scales are 2^(byte - 127), the least one from 1 on with which the largest magnitude is
 * at most 1.75 times the highest power of two, unless that is above 2^127. */
static int scale_of(int is_second, const float *x, int n) {
  double largest = 0;
  int scale = 1;
  for (int i = 0; i < n; ++i)
    if (mpnum_isfinite_f32(x[i]) && fabs((double)x[i]) > largest)
      largest = fabs((double)x[i]);
  while (scale < (is_second ? 238 : 246) &&
         largest > ldexp(1.75, (is_second ? 16 : 8) + scale - 127))
    ++scale;
  return scale;
}
static void bytes_of_moments_are_those_of_the_formulas(void) {
  static uint8_t m[N], v[N];
  static mpnum_e8m0 m_scales[N / 256 + 1], v_scales[N / 256 + 1];
  const formula f = {1e-3, 0.9, 0.999, 1e-8, 0.01, MPNUM_OPTIMIZER_ADAMW, 0, 1};
  const mpnum_optimizer optimizer = made_of(&f);
  for (int at = 0; at < ISAS * 2; ++at) {
    const int has_specials = at % 2;
    if (force_all_isa(isas[at / 2]) != MPNUM_OK) continue;
    mpnum_optimizer_tensor tensor = floats_of(N);
    mpnum_u32x4 seed = mpnum_random_x4(optimizer.seed, 9 << 2 | 1);
    tensor.moment_type = MPNUM_TYPE_E4M3;
    tensor.moment1 = m;
    tensor.moment2 = v;
    tensor.moment1_scales = m_scales;
    tensor.moment2_scales = v_scales;
    tensor.first = 77;
    for (int i = 0; i < N; ++i) {
      const int block = i / 256;
      m_scales[block].bits = (uint8_t)(block == 3 ? 0 : 60 + 25 * block);
      v_scales[block].bits = (uint8_t)(block == 3 ? 0 : 40 + 20 * block);
      m[i] = (uint8_t)random_bits(&state);
      v[i] = (uint8_t)(random_bits(&state) % 255);
      m[i] = (uint8_t)(m[i] % 128 == 127 ? 5 : m[i]);
      m_start[i] = (float)byte_value(0, m[i], m_scales[block].bits);
      v_start[i] = (float)byte_value(1, v[i], v_scales[block].bits);
      gradient[i] = has_specials ? any_float(1) : m_start[i] * (float)(unit() - 0.5);
      parameter[i] = start[i] = 1;
    }
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, 9, 1, MPNUM_GRAD_APPLY));
    for (int i = 0; i < N; ++i) {
      const element before = {start[i], m_start[i], v_start[i]};
      const element want = step_of(&f, 9, before, gradient[i]);
      moment1[i] = want.m;
      moment2[i] = want.v;
      CHECK(is_same(parameter[i], want.p), "%s, %d: %a not %a",
            mpnum_isa_name(isas[at / 2]), i, (double)parameter[i], (double)want.p);
    }
    for (int i = 0; i < N; ++i) {
      const int first = i / 256 * 256, count = N - first < 256 ? N - first : 256;
      const uint32_t word =
          mpnum_random((uint64_t)seed.y << 32 | seed.x, 77 + (uint64_t)i);
      const int m_scale = scale_of(0, moment1 + first, count);
      const int v_scale = scale_of(1, moment2 + first, count);
      const unsigned m_want = byte_of(0, moment1[i], m_scale, word >> 16);
      const unsigned v_want = byte_of(1, moment2[i], v_scale, word & 0xffff);
      CHECK(m_scales[i / 256].bits == m_scale && v_scales[i / 256].bits == v_scale,
            "%d: scales %d %d, not %d %d", i, m_scales[i / 256].bits,
            v_scales[i / 256].bits, m_scale, v_scale);
      CHECK(m[i] == m_want && v[i] == v_want, "%s, %d: %02x %02x, not %02x %02x of %a %a",
            mpnum_isa_name(isas[at / 2]), i, m[i], v[i], m_want, v_want,
            (double)moment1[i], (double)moment2[i]);
    }
  }
  may(force_all_isa(isas[ISAS - 1]));
}
/* What is above the largest code's value becomes that, not Inf or NaN. */
static void the_largest_moments_stay_finite(void) {
  static mpnum_e8m0 scales[N / 256 + 1];
  static uint8_t m[N];
  for (int k = 0; k < ISAS; ++k) {
    if (force_all_isa(isas[k]) != MPNUM_OK) continue;
    mpnum_optimizer sgd = mpnum_optimizer_default(MPNUM_OPTIMIZER_SGD);
    mpnum_optimizer_tensor tensor = floats_of(N);
    sgd.beta1 = 0.5;
    sgd.learning_rate = 1e-30;
    tensor.moment_type = MPNUM_TYPE_E4M3;
    tensor.moment1 = m;
    tensor.moment1_scales = scales;
    memset(m, 0, sizeof m);
    memset(scales, 0, sizeof scales);
    for (int i = 0; i < N; ++i)
      gradient[i] = i % 3 ? -3.3e38f : 0x1.bp127f, parameter[i] = 1;
    must(mpnum_optimizer_step(&sgd, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
    for (int i = 0; i < N; ++i) {
      const double got = byte_value(0, m[i], scales[i / 256].bits);
      CHECK(i % 3 ? got == -0x1.cp127 : got == 0x1.ap127 || got == 0x1.cp127,
            "%s, %d: %a, %02x by %d", mpnum_isa_name(isas[k]), i, got, m[i],
            scales[i / 256].bits);
    }
  }
  may(force_all_isa(isas[ISAS - 1]));
}
static double normal_value(void) {
  return sqrt(-2 * log(unit() + 0x1p-60)) * cos(6.283185307179586 * unit());
}
/* Gradients whose size is log-normal over rows and columns, every fourth row's there in
 * one step of eight alone. docs/optimizers.md has more of it. */
static void moments_of_8_bits_stay_near_floats(void) {
  enum { ROWS = 32, COLUMNS = 512, ALL = ROWS * COLUMNS, STEPS = 120 };
  static float size[ALL], g[ALL], p[2][ALL], m[ALL], v[ALL];
  static uint8_t m8[ALL], v8[ALL];
  static mpnum_e8m0 m_scales[ALL / 256], v_scales[ALL / 256];
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  double column[COLUMNS], error = 0, moved = 0, largest = 0;
  mpnum_optimizer_tensor floats = mpnum_optimizer_tensor_of(
      ALL, MPNUM_TYPE_F32, g, MPNUM_TYPE_F32, p[0], MPNUM_TYPE_F32, m, v);
  mpnum_optimizer_tensor bytes = floats;
  bytes.parameter = p[1];
  bytes.moment_type = MPNUM_TYPE_E4M3;
  bytes.moment1 = m8;
  bytes.moment2 = v8;
  bytes.moment1_scales = m_scales;
  bytes.moment2_scales = v_scales;
  for (int i = 0; i < COLUMNS; ++i)
    column[i] = exp(normal_value());
  for (int i = 0; i < ALL; ++i) {
    const double row = i % COLUMNS ? 0 : exp(2 * normal_value());
    size[i] = (float)(i % COLUMNS ? (double)size[i - i % COLUMNS] / column[0]
                                  : 1e-3 * row * column[0]);
    if (i % COLUMNS) size[i] = (float)((double)size[i] * column[i % COLUMNS]);
  }
  for (int step = 1; step <= STEPS; ++step) {
    for (int i = 0; i < ALL; ++i) {
      const int is_there = i / COLUMNS % 4 || step % 8 == 1;
      g[i] = is_there ? size[i] * (float)(normal_value() + 0.5) : 0;
    }
    must(mpnum_optimizer_step(&optimizer, &floats, 1, (uint64_t)step, 1,
                              MPNUM_GRAD_APPLY));
    must(
        mpnum_optimizer_step(&optimizer, &bytes, 1, (uint64_t)step, 1, MPNUM_GRAD_APPLY));
  }
  for (int i = 0; i < ALL; ++i) {
    const double off = (double)p[1][i] - (double)p[0][i];
    error += off * off;
    moved += (double)p[0][i] * (double)p[0][i];
    if (!(fabs(off) <= largest)) largest = fabs(off);
  }
  printf("# of the way: error %.3g, the largest %.3g\n", sqrt(error / moved),
         largest / sqrt(moved / ALL));
  CHECK(sqrt(error / moved) < 0.08 && largest / sqrt(moved / ALL) < 1,
        "%g of the way, %g", sqrt(error / moved), largest / sqrt(moved / ALL));
}
static void nan_stays_alone_in_a_block(void) {
  uint8_t m[300] = {0}, v[300] = {0};
  mpnum_e8m0 m_scales[2] = {{0}, {0}}, v_scales[2] = {{0}, {0}};
  const mpnum_optimizer adamw = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  mpnum_optimizer_tensor tensor = floats_of(300);
  tensor.moment_type = MPNUM_TYPE_E4M3;
  tensor.moment1 = m;
  tensor.moment2 = v;
  tensor.moment1_scales = m_scales;
  tensor.moment2_scales = v_scales;
  for (int i = 0; i < 300; ++i)
    parameter[i] = gradient[i] = 1;
  gradient[7] = mpnum_from_bits_f32(0x7fc00000u);
  gradient[8] = mpnum_from_bits_f32(0xff800000u);
  for (int step = 1; step <= 2; ++step)
    must(mpnum_optimizer_step(&adamw, &tensor, 1, (uint64_t)step, 1, MPNUM_GRAD_APPLY));
  CHECK(m[7] == 0x7f && v[7] == 0xff && (m[8] & 0x7f) == 0x7f && v[8] == 0xff,
        "%02x %02x %02x %02x", m[7], v[7], m[8], v[8]);
  for (int i = 0; i < 300; ++i)
    CHECK(i == 7 || i == 8 ||
              (mpnum_isfinite_f32(parameter[i]) && m[i] < 0x7f && v[i] < 0xff),
          "%d: %g, %02x %02x", i, (double)parameter[i], m[i], v[i]);
}

/* Apex's FusedAdam with floats (csrc/multi_tensor_adam.cu of NVIDIA/apex, AdamFunctor;
 * adam_w_mode False is mode 0), as written, each operation rounded once. */
typedef struct apex {
  int mode;
  float beta1, beta2, correction1, correction2, epsilon, rate, decay;
} apex;
static float quotient(float a, float b) { return rounded((double)a / (double)b); }
static float total(float a, float b) { return rounded((double)a + (double)b); }
static element apex_step(const apex *a, element e, float g) {
  const float rest1 = difference(1, a->beta1), rest2 = difference(1, a->beta2);
  float denominator = 0, update = 0;
  if (a->mode == 0) g = total(g, product(a->decay, e.p));
  e.m = total(product(a->beta1, e.m), product(rest1, g));
  e.v = total(product(a->beta2, e.v), product(product(rest2, g), g));
  denominator = total(rounded(sqrt((double)quotient(e.v, a->correction2))), a->epsilon);
  update = quotient(quotient(e.m, a->correction1), denominator);
  if (a->mode == 1) update = total(update, product(a->decay, e.p));
  e.p = difference(e.p, product(a->rate, update));
  return e;
}
static void apex_computes_the_same(void) {
  for (int mode = 0; mode < 2; ++mode) {
    const formula f = {1e-3, 0.9,  0.999,
                       1e-8, 0.01, mode ? MPNUM_OPTIMIZER_ADAMW : MPNUM_OPTIMIZER_ADAM,
                       0,    1};
    const mpnum_optimizer optimizer = made_of(&f);
    const mpnum_optimizer_tensor tensor = floats_of(N);
    apex a = {mode, 0.9f, 0.999f, 0, 0, 1e-8f, 1e-3f, 0.01f};
    static element theirs[N];
    static double passed[N];
    double worst = 0, of_moments = 0;
    for (int i = 0; i < N; ++i) {
      parameter[i] = theirs[i].p = (float)normal_value();
      moment1[i] = moment2[i] = theirs[i].m = theirs[i].v = 0;
      passed[i] = fabs((double)parameter[i]) + 1e-3;
    }
    for (int step = 1; step <= 100; ++step) {
      a.correction1 = (float)(1 - pow((double)a.beta1, step));
      a.correction2 = (float)(1 - pow((double)a.beta2, step));
      for (int i = 0; i < N; ++i) {
        gradient[i] = (float)(normal_value() * pow(10, i % 9 - 6));
        theirs[i] = apex_step(&a, theirs[i], gradient[i]);
        if (fabs((double)theirs[i].p) > passed[i]) passed[i] = fabs((double)theirs[i].p);
      }
      must(mpnum_optimizer_step(&optimizer, &tensor, 1, (uint64_t)step, 1,
                                MPNUM_GRAD_APPLY));
    }
    for (int i = 0; i < N; ++i) {
      const double units =
          fabs((double)parameter[i] - (double)theirs[i].p) / (passed[i] * 0x1p-23);
      const double second = fabs((double)moment2[i] / (double)theirs[i].v - 1);
      if (!(units <= worst)) worst = units;
      if (!(second <= of_moments)) of_moments = second;
    }
    printf("# mode %d: at most %.3g units away, second moments %.3g of themselves\n",
           mode, worst, of_moments);
    CHECK(worst <= 16, "mode %d: %g units", mode, worst);
    /* 1 - 0.999f is 1.3e-5 of itself above the 0.001 that we round. */
    CHECK(of_moments < 2e-5, "mode %d: %g", mode, of_moments);
  }
}
/* The second moment of a gradient of 1 goes to 1, with 0.001 of the rest a step: half a
 * unit of bf16 near 1 is 0.002. Of a gradient that has stopped, to 0. */
static void moments_move(mpnum_type type) {
  static mpnum_bf16 m[N], v[N];
  static uint8_t m8[N], v8[N];
  static mpnum_e8m0 m_scales[4], v_scales[4];
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  const int is_byte = type == MPNUM_TYPE_E4M3;
  mpnum_optimizer_tensor tensor = floats_of(1024);
  double first = 0, sum = 0, later = 0;
  tensor.moment_type = type;
  tensor.moment1 = is_byte ? (void *)m8 : (void *)m;
  tensor.moment2 = is_byte ? (void *)v8 : (void *)v;
  tensor.moment1_scales = m_scales;
  tensor.moment2_scales = v_scales;
  for (int i = 0; i < 1024; ++i) {
    gradient[i] = 1;
    parameter[i] = 0;
    m[i] = v[i] = mpnum_f32_to_bf16(0.0f);
    m8[i] = v8[i] = 0;
  }
  for (int step = 1; step <= 4000; ++step) {
    if (step == 2001) {
      for (int i = 0; i < 1024; ++i) {
        first += (is_byte ? byte_value(0, m8[i], m_scales[i / 256].bits)
                          : (double)mpnum_bf16_to_f32(m[i])) /
                 1024;
        sum += (is_byte ? byte_value(1, v8[i], v_scales[i / 256].bits)
                        : (double)mpnum_bf16_to_f32(v[i])) /
               1024;
        gradient[i] = 0;
      }
    }
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, (uint64_t)step, 1.0f,
                              MPNUM_GRAD_APPLY));
  }
  for (int i = 0; i < 1024; ++i)
    later += (is_byte ? byte_value(1, v8[i], v_scales[i / 256].bits)
                      : (double)mpnum_bf16_to_f32(v[i])) /
             1024;
  /* Of bytes an element is some 2 units of 1/12 away, the mean of 1024 of them 0.006. */
  CHECK(fabs(first - 1) < 0.01, "%s: first moment %g", mpnum_type_name(type), first);
  CHECK(fabs(sum / (1 - exp(-2.001)) - 1) < (is_byte ? 0.02 : 0.01), "%s: %g",
        mpnum_type_name(type), sum);
  CHECK(fabs(later / (sum * exp(-2.001)) - 1) < (is_byte ? 0.08 : 0.02), "%s: %g",
        mpnum_type_name(type), later);
}
static void moments_move_in_16_and_8_bits(void) {
  moments_move(MPNUM_TYPE_BF16);
  moments_move(MPNUM_TYPE_E4M3);
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
  WITH(moment_type, MPNUM_TYPE_E5M2, MPNUM_ERROR_TYPE);
  WITH(moment_type, MPNUM_TYPE_E4M3, MPNUM_ERROR_NULL); /* without scales */
  WITH(remainder, codes, MPNUM_ERROR_TYPE);             /* f32 lacks nothing */
  WITH(moment2, moment1, MPNUM_ERROR_OVERLAP);
  WITH(moment1, parameter + 1, MPNUM_ERROR_OVERLAP);
  WITH(gradient, parameter, MPNUM_ERROR_OVERLAP);
  WITH(copy, moment2, MPNUM_ERROR_OVERLAP);
#undef WITH
  static mpnum_e8m0 scales[2][N / 256 + 1];
  for (int k = 0; k < 3; ++k) {
    tensor = floats_of(N);
    tensor.moment_type = MPNUM_TYPE_E4M3;
    tensor.moment1_scales = k == 1 ? NULL : scales[0];
    tensor.moment2_scales = k == 2 ? NULL : scales[0] + 1; /* of six one is shared */
    refused(&fine, &tensor, 1, 1, k ? MPNUM_ERROR_NULL : MPNUM_ERROR_OVERLAP, "scales");
  }
  tensor.moment2_scales = (mpnum_e8m0 *)(void *)(moment1 + N / 4) - 1;
  refused(&fine, &tensor, 1, 1, MPNUM_ERROR_OVERLAP, "a scale over the last moment");
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
  tensor = floats_of(N);
  float before = parameter[0];
  CHECK(mpnum_optimizer_step(&fine, &tensor, 1, 1, 1, (mpnum_grad_verdict)2) ==
                MPNUM_ERROR_ARGUMENT &&
            mpnum_bits_f32(parameter[0]) == mpnum_bits_f32(before),
        "a verdict that is none");
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

/* PyTorch's AdamW, Adam and SGD; Lion's paper (Chen et al., arXiv:2302.06675). */
static void defaults_are_those_published(void) {
  static const double rows[4][5] = {{1e-3, 0.9, 0.999, 1e-8, 0.01},
                                    {1e-3, 0.9, 0.999, 1e-8, 0},
                                    {1e-3, 0, 0.999, 1e-8, 0},
                                    {1e-4, 0.9, 0.99, 1e-8, 0}};
  for (int k = 0; k < 4; ++k) {
    const mpnum_optimizer made = mpnum_optimizer_default((mpnum_optimizer_kind)k);
    CHECK(made.learning_rate == rows[k][0] && made.beta1 == rows[k][1] &&
              made.beta2 == rows[k][2] && made.epsilon == rows[k][3] &&
              made.weight_decay == rows[k][4],
          "%d: %g %g %g %g %g", k, made.learning_rate, made.beta1, made.beta2,
          made.epsilon, made.weight_decay);
    CHECK(made.kind == k && made.nesterov == 0 && made.seed == 0 &&
              made.rounding == MPNUM_ROUND_STOCHASTIC,
          "%d: %d %d %d", k, (int)made.kind, (int)made.nesterov, (int)made.rounding);
  }
}

int main(void) {
  TAP_RUN(defaults_are_those_published);
  TAP_RUN(bits_are_those_of_the_formulas);
  TAP_RUN(bits_of_low_numbers_are_those_of_the_formulas);
  TAP_RUN(a_trajectory_stays_near_the_exact_one);
  TAP_RUN(weight_decay_happens_in_16_bits);
  TAP_RUN(moments_move_in_16_and_8_bits);
  TAP_RUN(bytes_of_moments_are_those_of_the_formulas);
  TAP_RUN(the_largest_moments_stay_finite);
  TAP_RUN(moments_of_8_bits_stay_near_floats);
  TAP_RUN(nan_stays_alone_in_a_block);
  TAP_RUN(apex_computes_the_same);
  TAP_RUN(what_is_stored_is_rounded_once);
  TAP_RUN(copies_are_those_of_the_parameters);
  TAP_RUN(misuse_is_refused);
  TAP_RUN(options_are_those_of_a_kind);
  TAP_RUN(what_overflows_has_no_remainder);
  TAP_RUN(skip_writes_nothing);
  return tap_done();
}
