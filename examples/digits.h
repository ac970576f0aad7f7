/* SPDX-License-Identifier: MIT */
/* Hand-written digits, and the file they come in, examples/digits.bin, which
 * tools/make-digits writes. Numbers have their lowest byte first:
 *
 *     bytes  0 to 7     "mpdigits"
 *            8 to 15    four of 16 bits: images (1797), pixels of each (64), the largest
 *                       pixel (16), classes (10)
 *            16 ...     the pixels, a byte each, an image after the other, row by row
 *            then       the labels, a byte each
 *            then       CRC-32 of all that, 32 bits
 *
 * The data are the test set of "Optical Recognition of Handwritten Digits" by E. Alpaydin
 * and C. Kaynak, 1998, UCI Machine Learning Repository, https://doi.org/10.24432/C50P49,
 * licensed under CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. Only the file
 * format was changed. */
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"

enum { DIGITS_PIXELS = 64, DIGITS_LARGEST = 16, DIGITS_CLASSES = 10, DIGITS_HEAD = 16 };

typedef struct digits {
  size_t count;
  size_t train; /* the first ones; the others, written by other people, are for testing */
  const uint8_t *pixels, *labels;
  uint8_t *bytes; /* the file */
} digits;

static inline size_t digits_number(const uint8_t *at, int bytes) {
  size_t number = 0;
  while (bytes-- > 0)
    number = number << 8 | at[bytes];
  return number;
}

/* All bytes of a file and one more, 0; NULL, with errno, if it cannot be read. */
static inline uint8_t *digits_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  size_t room = 0, got = 0;
  *size = 0;
  if (!file) return NULL;
  do {
    uint8_t *longer = (uint8_t *)realloc(bytes, room += 1 << 17);
    if (!longer) break;
    bytes = longer;
    got = fread(bytes + *size, 1, room - 1 - *size, file);
    *size += got;
  } while (got > 0);
  if (!bytes || !feof(file)) { /* out of memory, or a folder, or a failing disk */
    const int error = errno;
    free(bytes);
    bytes = NULL;
    errno = error;
  } else {
    bytes[*size] = 0;
  }
  fclose(file);
  return bytes;
}

/* What is wrong with the bytes of a file; NULL if nothing is. */
static inline const char *digits_check(const uint8_t *bytes, size_t size) {
  size_t images, body;
  if (size < DIGITS_HEAD || memcmp(bytes, "mpdigits", 8) != 0)
    return "this is no file of digits";
  images = digits_number(bytes + 8, 2);
  body = DIGITS_HEAD + images * (DIGITS_PIXELS + 1);
  if (digits_number(bytes + 10, 2) != DIGITS_PIXELS ||
      digits_number(bytes + 12, 2) != DIGITS_LARGEST ||
      digits_number(bytes + 14, 2) != DIGITS_CLASSES)
    return "these are no images of 64 pixels, 0 to 16, in 10 classes";
  if (images < 10 || size != body + 4) return "the file is cut off or too long";
  if (digits_number(bytes + body, 4) != checksum(0, bytes, body))
    return "the file is damaged: its checksum is wrong";
  for (size_t i = 0; i < images * (DIGITS_PIXELS + 1); ++i) {
    const int is_label = i >= images * DIGITS_PIXELS;
    if (bytes[DIGITS_HEAD + i] > (is_label ? DIGITS_CLASSES - 1 : DIGITS_LARGEST))
      return is_label ? "a label is above 9" : "a pixel is above 16";
  }
  return NULL;
}

/* NULL, or what is wrong; nothing is loaded then. */
static inline const char *digits_load(digits *data, const char *path) {
  size_t size = 0;
  uint8_t *bytes = digits_read_file(path, &size);
  const char *wrong = bytes ? digits_check(bytes, size) : strerror(errno);
  if (wrong) {
    free(bytes);
    return wrong;
  }
  data->bytes = bytes;
  data->count = digits_number(bytes + 8, 2);
  data->train = data->count * 4 / 5;
  data->pixels = bytes + DIGITS_HEAD;
  data->labels = data->pixels + data->count * DIGITS_PIXELS;
  return NULL;
}

/* An image from -1 to 1, so that what is empty is not 0 and its weights have gradients.
 */
static inline void digits_image(float *image, const digits *data, size_t i) {
  for (size_t k = 0; k < DIGITS_PIXELS; ++k)
    image[k] = 2 * (float)data->pixels[i * DIGITS_PIXELS + k] / DIGITS_LARGEST - 1;
}

#endif
