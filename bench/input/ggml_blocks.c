/* SPDX-License-Identifier: MIT */
#include "ggml_blocks.h"

#include <mpnum/blocks/stored_matrix.h>

#include "../core/message.h"

enum { NOT_READ = -1 };
#define PLAIN(number, name, bytes, type) \
 { number, name, 1, bytes, type, NOT_READ }
#define OTHER(number, name, values, bytes) \
 { number, name, values, bytes, (mpnum_type)0, NOT_READ }
#define READ(number, name, values, bytes, layout) \
 { number, name, values, bytes, (mpnum_type)0, layout }

/* enum ggml_type of ggml.h, sizes of ggml-common.h; without q8_1 and q8_K, which no file
 * has. */
static const ggml_type types[] = {
    PLAIN(0, "f32", 4, MPNUM_TYPE_F32),
    PLAIN(1, "f16", 2, MPNUM_TYPE_F16),
    READ(2, "q4_0", 32, 18, MPNUM_STORED_Q4_0),
    OTHER(3, "q4_1", 32, 20),
    OTHER(6, "q5_0", 32, 22),
    OTHER(7, "q5_1", 32, 24),
    READ(8, "q8_0", 32, 34, MPNUM_STORED_Q8_0),
    OTHER(10, "q2_k", 256, 84),
    OTHER(11, "q3_k", 256, 110),
    OTHER(12, "q4_k", 256, 144),
    OTHER(13, "q5_k", 256, 176),
    OTHER(14, "q6_k", 256, 210),
    OTHER(16, "iq2_xxs", 256, 66),
    OTHER(17, "iq2_xs", 256, 74),
    OTHER(18, "iq3_xxs", 256, 98),
    OTHER(19, "iq1_s", 256, 50),
    OTHER(20, "iq4_nl", 32, 18),
    OTHER(21, "iq3_s", 256, 110),
    OTHER(22, "iq2_s", 256, 82),
    OTHER(23, "iq4_xs", 256, 136),
    PLAIN(24, "i8", 1, (mpnum_type)0),
    PLAIN(25, "i16", 2, (mpnum_type)0),
    PLAIN(26, "i32", 4, (mpnum_type)0),
    PLAIN(27, "i64", 8, (mpnum_type)0),
    PLAIN(28, "f64", 8, MPNUM_TYPE_F64),
    OTHER(29, "iq1_m", 256, 56),
    PLAIN(30, "bf16", 2, MPNUM_TYPE_BF16),
    OTHER(34, "tq1_0", 256, 54),
    OTHER(35, "tq2_0", 256, 66),
    READ(39, "mxfp4", 32, 17, MPNUM_STORED_MXFP4),
    READ(40, "nvfp4", 64, 36, MPNUM_STORED_NVFP4),
    OTHER(41, "q1_0", 128, 18),
};

const ggml_type *ggml_type_of(unsigned number) {
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (types[i].number == number) return &types[i];
  }
  return NULL;
}

void ggml_to_floats(const ggml_type *type, float *dst, void *src, size_t blocks) {
  const size_t columns = blocks * type->values;
  mpnum_stored stored =
      mpnum_stored_of((mpnum_stored_layout)type->layout, 1, columns, type->values);
  stored.data = src;
  must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, columns), stored));
}
