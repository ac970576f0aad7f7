/* SPDX-License-Identifier: MIT */
/* The peers, those of this build and those that it did not find. */
#include "measure.h"

#include <string.h>

#if !BENCH_HAVE_SLEEF
const math_library *math_sleef(void) {
# if defined(__x86_64__)
  static const math_library none = {"libsleef was not found (Debian: libsleef-dev)", NULL,
                                    NULL, 0};
# else
  static const math_library none = {"this is no x86-64", NULL, NULL, 0};
# endif
  return &none;
}
#endif
#if !BENCH_HAVE_GGML
const softmax_way softmax_ggml = {
    "ggml", "libggml-cpu was not found (GGML=FOLDER names where it is installed)", NULL,
    false, NULL};
#elif !BENCH_HAVE_GGML_SOFTMAX
const softmax_way softmax_ggml = {
    "ggml", "libggml-cpu does not export ggml_vec_soft_max_f32", NULL, false, NULL};
#endif

const softmax_way *const softmax_ways[SOFTMAX_WAYS] = {
    &softmax_mpnum, &softmax_loop, &softmax_reference, &softmax_ggml, &softmax_memcpy};

const char *softmax_missing(const softmax_way *way) {
  if (way->missing) return way->missing;
  return way->present && !way->present() ? "this CPU has it not" : NULL;
}

const array_peer_loop *math_sleef_loop(const math_function *function) {
  const math_library *sleef = math_sleef();
  for (size_t i = 0; i < sleef->count; ++i) {
    if (strcmp(sleef->loops[i].operation, function->name) == 0) return &sleef->loops[i];
  }
  return NULL;
}
