/* SPDX-License-Identifier: MIT */
/* Whether ggml's operations on rows give a row the same bits in every batch, by
 * conformance/rows.h. With a build of ggml in $GGML/build:
 *
 *   cc -O2 -I conformance -I $GGML/include tests/realworld/ggml/batches.c -o batches \
 *     -L $GGML/build/src -Wl,-rpath,$GGML/build/src -lggml-cpu -lggml-base -lm &&
 * ./batches
 *
 * One operation a run of a graph; rows lie one behind the other in its tensors. */
#include "rows.h"

#include <ggml-cpu.h>
#include <ggml.h>

typedef struct ggml_tensor tensor;
typedef struct operation {
  const char *name;
  tensor *(*of)(struct ggml_context *, tensor *);
  int weights; /* a type of these, where x is multiplied by a matrix; or -1 */
  int threads;
} operation;
typedef struct job {
  const operation *what;
  const float *weights; /* as many rows as columns */
  size_t columns;
} job;

static tensor *soft_max(struct ggml_context *c, tensor *x) { return ggml_soft_max(c, x); }
static tensor *norm(struct ggml_context *c, tensor *x) { return ggml_norm(c, x, 1e-5f); }
static tensor *rms(struct ggml_context *c, tensor *x) {
  return ggml_rms_norm(c, x, 1e-5f);
}
static tensor *silu(struct ggml_context *c, tensor *x) { return ggml_silu(c, x); }
static tensor *gelu(struct ggml_context *c, tensor *x) { return ggml_gelu(c, x); }
static tensor *gelu_erf(struct ggml_context *c, tensor *x) { return ggml_gelu_erf(c, x); }

static int run(void *context, const rows_call *call) {
  const job *const that = (const job *)context;
  const size_t columns = that->columns, size = columns * sizeof(float);
  const struct ggml_init_params memory = {
      (columns * columns + 8 * columns * (call->rows + 64)) * sizeof(float) + (1u << 24),
      NULL, false};
  struct ggml_context *const c = ggml_init(memory);
  struct ggml_cgraph *graph = NULL;
  tensor *x = NULL, *y = NULL;
  size_t i = 0;
  int status = -1;
  if (!c) return -1;
  x = ggml_new_tensor_2d(c, GGML_TYPE_F32, (int64_t)columns, (int64_t)call->rows);
  for (i = 0; i < call->rows; ++i)
    memcpy((char *)x->data + i * size, (const char *)call->src + i * call->src_stride,
           size);
  if (that->what->weights >= 0) {
    const enum ggml_type type = (enum ggml_type)that->what->weights;
    tensor *const w = ggml_new_tensor_2d(c, type, (int64_t)columns, (int64_t)columns);
    ggml_quantize_chunk(type, that->weights, w->data, 0, (int64_t)columns,
                        (int64_t)columns, NULL);
    y = ggml_mul_mat(c, w, x);
  } else {
    y = that->what->of(c, x);
  }
  graph = ggml_new_graph(c);
  ggml_build_forward_expand(graph, y);
  status = (int)ggml_graph_compute_with_ctx(c, graph, that->what->threads);
  for (i = 0; i < call->rows; ++i)
    memcpy((char *)call->dst + i * call->dst_stride, (const char *)y->data + i * size,
           size);
  ggml_free(c);
  return status;
}

static float normal(uint64_t *state) { /* a sum of uniform numbers */
  float sum = 0;
  int k = 0;
  for (; k < 12; ++k) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += (float)(*state >> 40) / 16777216.0f - 0.5f;
  }
  return sum;
}

int main(void) {
  static const operation all[] = {
      {"softmax", soft_max, -1, 1},
      {"layer norm", norm, -1, 1},
      {"RMS norm", rms, -1, 1},
      {"silu", silu, -1, 1},
      {"gelu", gelu, -1, 1},
      {"gelu by erf", gelu_erf, -1, 1},
      {"softmax, 2 threads", soft_max, -1, 2},
      {"layer norm, 2 threads", norm, -1, 2},
      {"x times f32", NULL, GGML_TYPE_F32, 1},
      {"x times f16", NULL, GGML_TYPE_F16, 1},
      {"x times q8_0", NULL, GGML_TYPE_Q8_0, 1},
      {"x times q4_0", NULL, GGML_TYPE_Q4_0, 1},
      {"x times f32, 2 threads", NULL, GGML_TYPE_F32, 2},
      {"x times q4_0, 2 threads", NULL, GGML_TYPE_Q4_0, 2},
  };
  static const size_t widths[] = {64, 1024};
  size_t k = 0, i = 0, j = 0, differing = 0;
  uint64_t state = 1;
  for (; k < sizeof widths / sizeof *widths; ++k) {
    const size_t columns = widths[k], rows = 70, count = columns * (columns + rows);
    float *const data = (float *)malloc(count * sizeof(float));
    if (!data) return 2;
    for (i = 0; i < count; ++i)
      data[i] = normal(&state);
    for (j = 0; j < sizeof all / sizeof *all; ++j) {
      job that = {&all[j], data, columns};
      const rows_batch batch = {data + columns * columns, rows, columns * sizeof(float),
                                columns * sizeof(float), sizeof(float)};
      const rows_findings found = rows_check(run, &that, &batch);
      char name[80];
      snprintf(name, sizeof name, "%s, %zu columns", all[j].name, columns);
      differing += rows_print(stdout, name, &found);
    }
    free(data);
  }
  return differing != 0;
}
