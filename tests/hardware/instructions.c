/* SPDX-License-Identifier: MIT */
/* Conversion instructions as a shared object, for the transcriptions of manuals beside
 * this file: many calls in one. */
#include "mpnum/hardware/instruction.h"

#include <stddef.h>

const char *instructions_name(uint32_t number);
size_t instructions_run(const char *name, const mpnum_instruction_control *control,
                        const uint32_t *src, size_t src_words, uint32_t *dst,
                        size_t dst_words, const uint32_t *random, uint8_t *statuses,
                        size_t count);

const char *instructions_name(uint32_t number) { return mpnum_instruction_name(number); }

/* Returns the bytes of a control, by which the caller knows its layout. */
size_t instructions_run(const char *name, const mpnum_instruction_control *control,
                        const uint32_t *src, size_t src_words, uint32_t *dst,
                        size_t dst_words, const uint32_t *random, uint8_t *statuses,
                        size_t count) {
  const uint32_t number = mpnum_instruction_of(name);
  for (size_t i = 0; i < count; ++i)
    statuses[i] = (uint8_t)mpnum_instruction_convert(
        number, dst + i * dst_words, src + i * src_words, random[i], control);
  return sizeof(mpnum_instruction_control);
}
