/* SPDX-License-Identifier: MIT */
/* conformance/rows.h: rows of this library have the same bits whatever is around them. */
#include "../../conformance/rows.h"
#include "../blocks/block_functions.h"
#include "row_checks.h"
#include "row_functions.h"

enum { ROWS = 67, MOST = 4099 };
static float values[(size_t)ROWS * MOST];

static mpnum_matrix dst_of(const rows_call *call, size_t columns) {
  return dst_rows(MPNUM_TYPE_F32, call->dst, call->rows, columns, call->dst_stride / 4);
}
static mpnum_const_matrix src_of(const rows_call *call, size_t columns) {
  return src_rows(MPNUM_TYPE_F32, call->src, call->rows, columns, call->src_stride / 4);
}

/* The context is the number of columns. */
#define KERNEL(name, call_of)                            \
 static int name(void *context, const rows_call *call) { \
  const size_t columns = *(const size_t *)context;       \
  const mpnum_matrix to = dst_of(call, columns);         \
  const mpnum_const_matrix from = src_of(call, columns); \
  return (int)(call_of);                                 \
 }
KERNEL(softmax, mpnum_softmax_rows(to, from, NULL, NULL))
KERNEL(log_softmax, mpnum_log_softmax_rows(to, from, NULL, NULL))
KERNEL(layer_norm, mpnum_layer_norm_rows(to, from, NULL, NULL, 1e-5f))
KERNEL(rms_norm, mpnum_rms_norm_rows(to, from, NULL, 1e-5f))
KERNEL(silu, mpnum_activation_rows(MPNUM_ACTIVATION_SILU, to, from, NULL))
KERNEL(gelu, mpnum_activation_rows(MPNUM_ACTIVATION_GELU, to, from, NULL))

/* A row of codes, then its scales. */
static int mx_e4m3(void *context, const rows_call *call) {
  const size_t columns = *(const size_t *)context, blocks = (columns + 31) / 32;
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  uint8_t *const scales = (uint8_t *)malloc(call->rows * blocks);
  mpnum_blockscaled to = {call->dst, call->dst_stride, scales, call->rows * blocks, 0, 0};
  const mpnum_status status =
      mpnum_quantize_blocks(&format, to, src_of(call, columns), NULL, NULL);
  for (size_t i = 0; i < call->rows; ++i)
    memcpy((uint8_t *)call->dst + i * call->dst_stride + columns, scales + i * blocks,
           blocks);
  free(scales);
  return (int)status;
}

typedef struct kernel_row {
  const char *name;
  rows_kernel *run;
} kernel_row;
static const kernel_row kernels[] = {{"softmax", softmax},
                                     {"log_softmax", log_softmax},
                                     {"layer_norm", layer_norm},
                                     {"rms_norm", rms_norm},
                                     {"silu", silu},
                                     {"gelu", gelu},
                                     {"mx_e4m3", mx_e4m3}};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static void fill(void) {
  for (size_t i = 0; i < (size_t)ROWS * MOST; ++i)
    values[i] = (float)uniform(-8, 8);
}
/* Of rows of floats that become as many, or bytes with a scale for each 32. */
static rows_findings check(rows_kernel *kernel, size_t columns) {
  const size_t of_codes = columns + (columns + 31) / 32;
  const rows_batch batch = {values, ROWS, 4 * columns,
                            kernel == mx_e4m3 ? of_codes : 4 * columns, 4};
  return rows_check(kernel, &columns, &batch);
}

static void rows_have_the_same_bits_in_every_way(void) {
  static const size_t sizes[] = {1, 64, 1000, MOST};
  fill();
  for (size_t k = 0; k < KERNELS; ++k) {
    size_t tried = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
      const rows_findings found = check(kernels[k].run, sizes[s]);
      CHECK(!found.error, "%s of %zu columns: error %d", kernels[k].name, sizes[s],
            found.error);
      for (int way = 0; way < ROWS_WAYS; ++way) {
        const rows_way that = found.ways[way];
        tried += that.rows;
        CHECK(!that.differing, "%s of %zu columns, %s: %zu of %zu differ",
              kernels[k].name, sizes[s], rows_way_names[way], that.differing, that.rows);
        CHECK(that.rows >= (kernels[k].run == mx_e4m3 || way != ROWS_OUTSIDE ? ROWS : 1),
              "%s: %zu rows tried %s", kernels[k].name, that.rows, rows_way_names[way]);
      }
    }
    printf("# %s: 0 of %zu differ\n", kernels[k].name, tried);
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(rows_have_the_same_bits_in_every_way);
  return tap_done();
}
