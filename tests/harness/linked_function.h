/* SPDX-License-Identifier: MIT */
/* linked_NAME, a pointer to a function of the library: declared here, or defined in the
 * file that compiles the function for others. */
#ifndef MPNUM_TESTS_LINKED_FUNCTION_H
#define MPNUM_TESTS_LINKED_FUNCTION_H

#if defined(__cplusplus)
# define LINKED_FUNCTION_AS(name, function) \
  extern "C" __typeof__(function) *const linked_##name
#elif defined(DEFINE_LINKED_FUNCTIONS)
# define LINKED_FUNCTION_AS(name, function)         \
  extern __typeof__(function) *const linked_##name; \
  __typeof__(function) *const linked_##name = function
#else
# define LINKED_FUNCTION_AS(name, function) \
  extern __typeof__(function) *const linked_##name
#endif
#define LINKED_FUNCTION(name) LINKED_FUNCTION_AS(name, name)

#endif
