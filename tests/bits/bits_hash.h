/* SPDX-License-Identifier: MIT */
/* For bits.c: the hash of a function's results, and how results of each type enter it. */
#ifndef MPNUM_TESTS_BITS_HASH_H
#define MPNUM_TESTS_BITS_HASH_H

#include <mpnum/mpnum.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Hash of the results since the last line. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
static uint64_t hash = HASH_START;

static void put(uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 32;
}

static void put_int(int x) { put((uint64_t)(int64_t)x); }

static void put_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  put(bits);
}

static void put_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  put(bits);
}

static void put_f32x2(mpnum_f32x2 pair) {
  put_f32(pair.x);
  put_f32(pair.y);
}

static void put_f32x4(mpnum_f32x4 four) {
  put_f32(four.x);
  put_f32(four.y);
  put_f32(four.z);
  put_f32(four.w);
}

static void put_bytes(const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    put(bytes[i]);
}

static void put_text(const char *text) {
  put_int(text != NULL);
  if (text) put_bytes((const uint8_t *)text, strlen(text));
}

static void put_format(mpnum_format format) {
  put(format.max_code);
  put(format.inf_code);
  put(format.nan_code);
  put_int(format.bias);
  put_int(format.sign_bits);
  put_int(format.exponent_bits);
  put_int(format.mantissa_bits);
  put_int(format.storage_shift);
  put_int(format.has_zero);
  put_int(format.has_negative_zero);
  put_int((int)(mpnum_nan_policy)format.nan_policy);
}

static void print_line(const char *name) {
  printf("%s %016" PRIx64 "\n", name, hash);
  hash = HASH_START;
}

/* HASH(function, loop over inputs, put of a result) prints the line of a function. */
#define HASH(function, loop, put_result) \
 do {                                    \
  loop put_result;                       \
  print_line(#function);                 \
 } while (0)

#define CONSTANT(name, put_result) \
 put_result(name);                 \
 print_line(#name);

/* Random number of an index (the finaliser of splitmix64). */
static uint64_t mix(uint64_t index) {
  uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

#endif
