/* SPDX-License-Identifier: MIT */
/* Every function of array.h that converts between two types by name, with every
 * instruction set, against the scalar function: at every value and midpoint of the
 * result's format with the floats or doubles on both sides (conversion_inputs.h), at
 * every code of a narrow source, and at random words. sweep_array.c has all floats. */
#define _GNU_SOURCE /* mmap */ /* NOLINT(bugprone-reserved-identifier) */
#include "array_checks.h"
#include "array_pages.h"

static const array_function *function;
static expectation inputs;
static uint64_t elements;

static void is_the_scalar_conversion(void) {
  memset(inputs.got, 0xa5, bytes_of(function->dst_bits, inputs.n));
  function->convert(inputs.got, inputs.src, inputs.n);
  check_elements(function->name, function->src_bits, inputs.src, function->dst_bits,
                 inputs.got, inputs.want, inputs.n);
  elements += inputs.n;
}

/* The same elements in other lanes: without the first few, which for dense types are
 * whole bytes. */
static void is_the_same_in_other_lanes(void) {
  for (size_t first = 4; first <= 20; first += 16) {
    const size_t n = inputs.n - first;
    const uint8_t *src = inputs.src + bytes_of(function->src_bits, first);
    const uint8_t *want = inputs.want + bytes_of(function->dst_bits, first);
    function->convert(inputs.got, src, n);
    check_elements(function->name, function->src_bits, src, function->dst_bits,
                   inputs.got, want, n);
  }
}

/* And where both arrays begin at one address, in memory that ends with the longer one. */
static void is_the_same_in_place(void) {
  static guarded_pages pages;
  static const size_t lengths[] = {1, 2, 3, 8, 15, 63, 64, 70, 1023, 1024, 1025, 2100};
  if (!pages.start) pages = map_guarded_pages(2100 * 8);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    const int is_packed = function->src_bits < 8 || function->dst_bits < 8;
    const size_t n = is_packed ? (lengths[i] + 3) / 4 * 4 : lengths[i]; /* whole bytes */
    const size_t src_bytes = bytes_of(function->src_bits, n);
    const size_t dst_bytes = bytes_of(function->dst_bits, n);
    uint8_t *const at = pages.end - (src_bytes > dst_bytes ? src_bytes : dst_bytes);
    memcpy(at, inputs.src, src_bytes);
    function->convert(at, at, n);
    check_elements(function->name, function->src_bits, inputs.src, function->dst_bits, at,
                   inputs.want, n);
  }
}

static void is_scalar_wherever_it_lies(void) {
  is_the_scalar_conversion();
  is_the_same_in_place();
  is_the_same_in_other_lanes();
}

static void inputs_were_many(void) {
  /* Each function saw the codes of its source at least, and random words. */
  CHECK(elements > array_function_count * 5000, "%" PRIu64 " elements", elements);
}

static void lists_hold(int src_bits, const uint64_t *wanted, size_t count) {
  input_list list =
      inputs_of(src_bits == 64 ? MPNUM_TYPE_F64 : MPNUM_TYPE_F32, src_bits,
                src_bits == 64 ? MPNUM_TYPE_F32 : MPNUM_TYPE_F16, 4096, 1000);
  for (size_t i = 0; i < count; ++i) {
    size_t at = 0;
    while (at < list.count && list.bits[at] != wanted[i])
      ++at;
    CHECK(at < list.count, "%" PRIx64 " is not among the inputs", wanted[i]);
  }
  free(list.bits);
}
/* Zeros, Inf and NaNs of both signs; the tie above 65504 of f16 and its neighbours; ties
 * of the least subnormal of f32 and above the largest float. */
static void inputs_hold_what_can_go_wrong(void) {
  static const uint64_t f32[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000,
                                 0x7f800001, 0xff800001, 0x7fffffff, 0xffc00000,
                                 0x00000001, 0x807fffff, 0x477fefff, 0x477ff000,
                                 0xc77ff001, 0x33000000, 0x33000001, 0xb2ffffff};
  static const uint64_t f64[] = {
      UINT64_C(0x0000000000000000), UINT64_C(0x8000000000000000),
      UINT64_C(0x7ff0000000000001), UINT64_C(0xfff0000000000000),
      UINT64_C(0x3690000000000000), UINT64_C(0x3690000000000001),
      UINT64_C(0xb68fffffffffffff), UINT64_C(0x47efffffefffffff),
      UINT64_C(0x47effffff0000000), UINT64_C(0x47effffff0000001)};
  lists_hold(32, f32, sizeof f32 / sizeof f32[0]);
  lists_hold(64, f64, sizeof f64 / sizeof f64[0]);
}

int main(void) {
  TAP_RUN(inputs_hold_what_can_go_wrong);
  for (size_t i = 0; i < array_function_count; ++i) {
    char what[100];
    function = &array_functions[i];
    inputs = expect(function, 20000, 5000);
    snprintf(what, sizeof what, "%s is the scalar function", function->name);
    run_for_each_isa(what, is_scalar_wherever_it_lies);
    free_expectation(inputs);
  }
  TAP_RUN(inputs_were_many);
  return tap_done();
}
