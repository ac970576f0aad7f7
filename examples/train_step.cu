/* SPDX-License-Identifier: MIT */
/* A training step that never waits for the host: forward and backward pass with gradients
 * in f16, the gradient pass, the clip, the loss scaler and AdamW are captured once in a
 * graph, which is replayed. Now and then a gradient becomes Inf, and that step is skipped
 * on the device. The products are plain loops; take your own. Paste what you need.
 *
 *     nvcc -arch=sm_90 -I include examples/train_step.cu -o train_step && ./train_step
 * 10000
 */
#include <mpnum/cuda/kernels.cuh>

#include <cstdio>
#include <cstdlib>
#include <vector>

enum { samples = 128, inputs = 32, hidden = 64, outputs = 8, threads = 256 };
enum { weights = hidden * inputs + outputs * hidden };

/* All that is in device memory. */
struct memory {
  float x[samples * inputs], target[samples * outputs];
  float parameters[weights], gradients[weights], first[weights], second[weights];
  float h[samples * hidden], error[samples * outputs];
  float delta_h[samples * hidden], delta[samples * outputs];
  mpnum_f16 scaled[weights]; /* gradients times the scale */
  mpnum_grad_tensor tensors[2];
  uint64_t tiles_before[3], step;
  mpnum_grad_findings findings;
  mpnum_grad_workspace workspace;
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  uint32_t apply;
};

/* A matrix with any strides, and its element. */
struct matrix {
  const float *at;
  int row, column;
};
__device__ static void store(float *dst, float x) { *dst = x; }
__device__ static void store(mpnum_f16 *dst, float x) { *dst = mpnum_f32_to_f16(x); }

/* dst, of m x n, becomes a b, where gate is NULL or above 0; else 0. */
template <class T>
__global__ void product(T *dst, matrix a, matrix b, int m, int n, int k,
                        const float *gate) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= m * n) return;
  float sum = 0;
  for (int j = 0; j < k; ++j)
    sum += a.at[i / n * a.row + j * a.column] * b.at[j * b.row + i % n * b.column];
  store(dst + i, gate && !(gate[i] > 0) ? 0 : sum);
}
__global__ void relu(float *x, int n) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i < n && x[i] < 0) x[i] = 0;
}
/* The error, and the gradient of its mean square times the scale. */
__global__ void compare(memory *m) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= samples * outputs) return;
  m->error[i] -= m->target[i];
  m->delta[i] = m->scaler.scale * 2 / (samples * outputs) * m->error[i];
}
__global__ void inject(memory *m) {
  m->step += 1;
  if (m->step % 97 == 0) m->scaled[5] = mpnum_f16{0x7c00};
}
/* AdamW: nothing where the step is skipped. The scaler counts the steps applied. */
__global__ void update(memory *m, float rate) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= weights || m->apply != MPNUM_GRAD_APPLY) return;
  const float steps = static_cast<float>(m->scaler.applied), g = m->gradients[i];
  const float mean = m->first[i] = 0.9f * m->first[i] + 0.1f * g;
  const float square = m->second[i] = 0.999f * m->second[i] + 0.001f * g * g;
  const float root = sqrtf(square / (1 - powf(0.999f, steps))) + 1e-8f;
  m->parameters[i] -=
      rate * (mean / (1 - powf(0.9f, steps)) / root + 0.01f * m->parameters[i]);
}

template <class T>
static void multiply(T *dst, matrix a, matrix b, int m, int n, int k, const float *gate,
                     cudaStream_t stream) {
  product<<<(m * n + threads - 1) / threads, threads, 0, stream>>>(dst, a, b, m, n, k,
                                                                   gate);
}
static cudaError_t launch_step(memory *m, const mpnum_grad_list &list,
                               cudaStream_t stream) {
  float *w1 = m->parameters, *w2 = m->parameters + hidden * inputs;
  mpnum_f16 *g1 = m->scaled, *g2 = m->scaled + hidden * inputs;
  const float *open = 0;
  multiply(m->h, {m->x, inputs, 1}, {w1, 1, inputs}, samples, hidden, inputs, open,
           stream);
  relu<<<samples * hidden / threads, threads, 0, stream>>>(m->h, samples * hidden);
  multiply(m->error, {m->h, hidden, 1}, {w2, 1, hidden}, samples, outputs, hidden, open,
           stream);
  compare<<<samples * outputs / threads, threads, 0, stream>>>(m);
  multiply(g2, {m->delta, 1, outputs}, {m->h, hidden, 1}, outputs, hidden, samples, open,
           stream);
  multiply(m->delta_h, {m->delta, outputs, 1}, {w2, hidden, 1}, samples, hidden, outputs,
           m->h, stream);
  multiply(g1, {m->delta_h, 1, hidden}, {m->x, inputs, 1}, hidden, inputs, samples, open,
           stream);
  inject<<<1, 1, 0, stream>>>(m);
  cudaError_t error =
      mpnum_launch_grad_pass(&m->findings, list, &m->scaler, &m->workspace, stream);
  if (error == cudaSuccess)
    error = mpnum_launch_grad_clip(&m->optimizer, &m->scaler, &m->findings, list, 1.0f,
                                   &m->workspace, stream);
  if (error == cudaSuccess)
    error = mpnum_launch_grad_step(&m->scaler, &m->optimizer, &m->findings, &m->apply,
                                   stream);
  update<<<(weights + threads - 1) / threads, threads, 0, stream>>>(m, 0.001f);
  return error;
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "train_step: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
static float random_float(uint64_t i) {
  return static_cast<float>(mpnum_random(1, i) >> 8) / 8388608 - 1; /* 2^23 */
}
/* Everything but the list's two pointers, which are the device's. */
static mpnum_grad_list prepare(memory *m, memory *there) {
  mpnum_grad_list list = mpnum_grad_list();
  for (int i = 0; i < samples * inputs; ++i)
    m->x[i] = random_float(i);
  for (int i = 0; i < samples * outputs; ++i)
    m->target[i] =
        m->x[i / outputs * inputs + i % outputs] * m->x[i / outputs * inputs + 31];
  for (int i = 0; i < weights; ++i)
    m->parameters[i] = 0.2f * random_float(1000000 + i);
  const size_t count[] = {hidden * inputs, outputs * hidden};
  for (size_t i = 0, from = 0; i < 2; from += count[i++])
    m->tensors[i] = mpnum_grad_tensor_of(MPNUM_TYPE_F16, there->scaled + from, count[i],
                                         MPNUM_TYPE_F32, there->gradients + from);
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_interval = 200;
  if (mpnum_grad_plan(&list, m->tiles_before, m->tensors, 2, 0) != MPNUM_OK ||
      mpnum_grad_scaler_init(&m->scaler, config) != MPNUM_OK)
    std::exit(1);
  m->optimizer = mpnum_grad_optimizer_ready(&m->scaler);
  list.tensors = there->tensors;
  list.tiles_before = there->tiles_before;
  return list;
}
static double mean_square(const memory &m) {
  double sum = 0;
  for (float x : m.error)
    sum += static_cast<double>(x) * x;
  return sum / (samples * outputs);
}

int main(int argc, char **argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 10000;
  if (argc > 2 || steps < 1) {
    std::fputs("usage: train_step [STEPS]\n", stderr);
    return 2;
  }
  std::vector<memory> host(1);
  memory *m = 0;
  cudaStream_t stream = 0;
  cudaGraph_t graph = 0;
  cudaGraphExec_t replay = 0;
  check(cudaMalloc(&m, sizeof *m));
  const mpnum_grad_list list = prepare(&host[0], m);
  check(cudaMemcpy(m, &host[0], sizeof *m, cudaMemcpyHostToDevice));
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(launch_step(m, list, stream));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&replay, graph, 0));
  for (int step = 0; step < steps; ++step) {
    check(cudaGraphLaunch(replay, stream));
    if (step != 0 && step != steps - 1) continue;
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(&host[0], m, sizeof *m, cudaMemcpyDeviceToHost));
    std::printf("step %d: error %.5f, scale %g, %llu applied, %llu skipped\n", step + 1,
                mean_square(host[0]), static_cast<double>(host[0].scaler.scale),
                static_cast<unsigned long long>(host[0].scaler.applied),
                static_cast<unsigned long long>(host[0].scaler.skipped));
  }
  check(cudaGraphExecDestroy(replay));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
  check(cudaFree(m));
  return 0;
}
