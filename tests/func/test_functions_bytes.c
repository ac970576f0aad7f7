/* SPDX-License-Identifier: MIT */
/* Functions of types of 8 bits and fewer: decode, the f32 function, encode. At every code
 * of every type that is the code nearest to the value, in each overflow mode. */
#include "../harness/control_word.h"
#include "function_reference.h"
#include "../reference/reference.h"
#include "../harness/tap.h"

#include <mpnum/func/func.h>
#include <mpnum/types/fp4.h>
#include <mpnum/types/fp6.h>
#include <mpnum/types/fp8.h>
#include <mpnum/types/e8m0.h>

#include <string.h>

static float function_at(int function, float x) {
  switch (function) {
#define CASE(name, NAME, ...) \
 case MPNUM_FUNCTION_##NAME##_: return called_by_default(mpnum_##name##_f32, x);
    MPNUM_FUNCTION_ROWS_(CASE)
  default: return x;
  }
}

static mpnum_type type;
static int codes, wrong;
static void compositions_are_correctly_rounded(void) {
  const mpnum_format format = mpnum_format_of(type);
  const ref_format *reference = ref_format_named(mpnum_type_name(type));
  const uint32_t count =
      (uint32_t)1 << (format.sign_bits + format.exponent_bits + format.mantissa_bits);
  for (int i = 0; function_references[i]; ++i)
    for (uint32_t code = 0; code < count; ++code) {
      const uint64_t x_bits = ref_decode(reference, code);
      double x;
      memcpy(&x, &x_bits, sizeof x);
      const uint64_t value = reference_of_function(function_references[i], x);
      const float y = function_at(i, mpnum_decode(format, code));
      for (int saturates = 0; saturates < 2; ++saturates) {
        const uint32_t want = ref_encode(reference, value, REF_NEAREST_EVEN,
                                         saturates ? REF_SATURATE : REF_IEEE, 0);
        const uint32_t got =
            mpnum_encode(format, y, MPNUM_ROUND_NEAREST_EVEN,
                         saturates ? MPNUM_OVERFLOW_SATURATE : MPNUM_OVERFLOW_IEEE, 0);
        ++codes;
        wrong += got != want;
        CHECK(got == want, "%s of %s %02x (%a): got %02x, want %02x",
              function_references[i]->name, mpnum_type_name(type), (unsigned)code, x,
              (unsigned)got, (unsigned)want);
      }
    }
}

int main(void) {
  static const mpnum_type types[] = {
      MPNUM_TYPE_E5M2,     MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2FNUZ,
      MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M4, MPNUM_TYPE_E8M0,
      MPNUM_TYPE_E3M2,     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  start_function_references();
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    char name[80];
    type = types[i];
    snprintf(name, sizeof name, "compositions for %s are correctly rounded",
             mpnum_type_name(type));
    tap_run(name, compositions_are_correctly_rounded);
  }
  printf("# %d codes, %d wrong\n", codes, wrong);
  end_function_references();
  return tap_done();
}
