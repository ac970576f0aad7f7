/* SPDX-License-Identifier: MIT */
/* Delayed scaling on devices, as docs/fp8.md has it: the amax
 * of many threads by an atomic maximum, with NaN and Inf among them, and a history that
 * lives there, has the bytes of one on the host. */
#include "simt_checks.hpp"

#include <mpnum/array/amax_history.h>
#include <mpnum/types/e4m3.h>
#include <mpnum/core/rng.h>

#include <cstring>

using simt::launch;

namespace {

struct float2 {
  float x, y;
};
__global__ void quantize(mpnum_e4m3x2 *codes, const float2 *x, unsigned pairs,
                         const mpnum_amax_history *history, unsigned *word) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  codes[i] = mpnum_f32_to_e4m3_sat_x2(x[i].x * history->scale, x[i].y * history->scale);
  atomicMax(word, mpnum_amax_word(mpnum_amax_merge(x[i].x, x[i].y)));
}
__global__ void update(mpnum_amax_history *history, float *amaxes, unsigned *word) {
  mpnum_amax_history_update(history, amaxes, mpnum_from_bits_f32(*word));
  *word = 0;
}

constexpr unsigned length = 3, most = 70;
struct tensor {
  mpnum_amax_history history;
  float amaxes[length];
};
tensor started(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  tensor made;
  std::memset(static_cast<void *>(&made), 0, sizeof made);
  recipe.history_length = length;
  CHECK(mpnum_amax_history_init(&made.history, made.amaxes, length, 448, &recipe) ==
            MPNUM_OK,
        "init");
  return made;
}
/* Values of an iteration; in some of them an Inf or a NaN, or all are 0. */
vector<float> values_of(unsigned step) {
  vector<float> x(most);
  for (unsigned i = 0; i < most; ++i) {
    const std::uint32_t word = mpnum_random(step, i);
    x[i] = static_cast<float>(static_cast<int>(word % 2001) - 1000) *
           mpnum_from_bits_f32((120 + word / 4096 % 8 + step % 3) << 23);
  }
  if (step % 5 == 3) x[step] = mpnum_from_bits_f32(step % 2 ? 0xff800000u : 0xffc00001u);
  if (step % 7 == 6) x.assign(most, 0.0f);
  return x;
}

void histories_on_devices_have_the_hosts_bytes(void) {
  in_every_schedule([] {
    tensor here = started(), &there = placed(here);
    unsigned &word = placed(0u);
    for (unsigned step = 0; step < 24; ++step) {
      const vector<float> x = values_of(step);
      vector<float2> pairs(most / 2);
      vector<mpnum_e4m3x2> codes(most / 2);
      float amax = 0;
      for (unsigned i = 0; i < most / 2; ++i)
        pairs[i] = {x[2 * i], x[2 * i + 1]};
      CHECK_LAUNCH(launch(quantize, {2, 32}, codes.data(), pairs.data(), most / 2,
                          &there.history, &word));
      for (unsigned i = 0; i < most; ++i) {
        const int code = mpnum_f32_to_e4m3_sat(x[i] * here.history.scale).bits;
        CHECK(mpnum_unpack_e4m3_x2(codes[i / 2], i % 2).bits == code, "step %u, code %u",
              step, i);
        amax = mpnum_amax_merge(amax, x[i]);
      }
      CHECK(word == mpnum_bits_f32(amax), "step %u: %08x", step, word);
      CHECK_LAUNCH(launch(update, {1, 1}, &there.history, there.amaxes, &word));
      (void)mpnum_amax_history_update(&here.history, here.amaxes, amax);
      CHECK(std::memcmp(&here, &there, sizeof here) == 0 && word == 0, "step %u", step);
    }
    CHECK(here.history.nonfinite == 4 && here.history.zeros == 3 &&
              here.history.pushed == 17,
          "%d, %d", static_cast<int>(here.history.nonfinite),
          static_cast<int>(here.history.zeros));
  });
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(histories_on_devices_have_the_hosts_bytes),
                   });
}
