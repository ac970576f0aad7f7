/* SPDX-License-Identifier: MIT */
/* Loss scaling over the GPUs of one machine, by NCCL: what distributed_scaler.c does over
 * MPI ranks, with scaler, verdict and optimizer in device memory, so that a step waits
 * for the host nowhere. It compiles, and has never been run on GPUs.
 *
 *     nvcc -arch=sm_90 -I include examples/distributed_scaler_nccl.cu -lnccl
 *     ./a.out examples/digits.bin
 *
 * The network itself is that of mlp.h and runs on the host, so that this file holds only
 * what is distributed; training programs have kernels for it. Each GPU gets the gradients
 * of its share of the batch, in f16 and scaled. On its stream: check them; maximum of the
 * findings over all GPUs, one 32-bit word; sum of the gradients; unscale and check again;
 * verdict and next scale; Adam, if the verdict is to apply. */
#include "batches.h"

#include <mpnum/kernels.cuh>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { BATCH = 64, GLOBAL_BATCH = 4194304, STEPS = 400, THREADS = 256 };

/* What every GPU holds, with the same bytes on each. */
struct shared_state {
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  uint32_t found_inf;
  mpnum_grad_verdict verdict;
  mpnum_status status;             /* of the calls that led to it */
  float first_decay, second_decay; /* of Adam's means, see adam.h */
};
struct gpu {
  int number;
  cudaStream_t stream;
  ncclComm_t peers;
  shared_state *state;
  mpnum_f16 *scaled; /* gradients */
  float *gradients, *master, *first, *second;
};

static void stop_on(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "distributed_scaler_nccl: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
static void stop_on(mpnum_status status) {
  if (status == MPNUM_OK) return;
  std::fprintf(stderr, "distributed_scaler_nccl: %s\n", mpnum_status_string(status));
  std::exit(1);
}
static void stop_on(ncclResult_t error) {
  if (error == ncclSuccess) return;
  std::fprintf(stderr, "distributed_scaler_nccl: %s\n", ncclGetErrorString(error));
  std::exit(1);
}

/* Whether products of own gradients and the inverse scale are finite. */
__global__ void check(shared_state *state, const mpnum_f16 *scaled, size_t n) {
  for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size())
    if (!mpnum_isfinite_f32(mpnum_f16_to_f32(scaled[i]) * state->scaler.inverse))
      atomicMax(&state->found_inf, 1u);
}
/* The sum; parts that are finite can have one that is not. */
__global__ void unscale(shared_state *state, float *gradients, size_t n) {
  for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size()) {
    gradients[i] *= state->scaler.inverse;
    if (!mpnum_isfinite_f32(gradients[i])) atomicMax(&state->found_inf, 1u);
  }
}
/* One thread. A step that is refused has the verdict to skip; the host sees the status.
 */
__global__ void decide(shared_state *state) {
  mpnum_grad_scaler *scaler = &state->scaler;
  mpnum_status status = mpnum_grad_scaler_report_unscaled(
      scaler, &state->optimizer, state->found_inf, MPNUM_GRAD_NORM_UNKNOWN);
  state->verdict = MPNUM_GRAD_SKIP;
  if (status == MPNUM_OK)
    status = mpnum_grad_scaler_step(scaler, &state->optimizer, &state->verdict);
  if (status == MPNUM_OK) status = mpnum_grad_scaler_update(scaler, &state->optimizer);
  state->status = status;
  state->found_inf = 0;
  if (state->verdict != MPNUM_GRAD_APPLY) return;
  state->first_decay *= 0.9f;
  state->second_decay *= 0.999f;
}
__global__ void adam(const shared_state *state, float *master, float *first,
                     float *second, const float *gradients, size_t n) {
  const float rate = 0.002f, epsilon = 1e-8f;
  if (state->verdict != MPNUM_GRAD_APPLY) return;
  for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size()) {
    const float g = gradients[i];
    first[i] = 0.9f * first[i] + 0.1f * g;
    second[i] = 0.999f * second[i] + 0.001f * g * g;
    const float mean = first[i] / (1 - state->first_decay);
    const float square = second[i] / (1 - state->second_decay);
    master[i] -= rate * mean / (mpnum_sqrt_f32(square) + epsilon);
  }
}

static gpu start_gpu(int number, ncclComm_t peers, const mlp *net,
                     const shared_state *state) {
  const size_t n = mlp_count(net), bytes = n * sizeof(float);
  gpu g = {};
  g.number = number;
  g.peers = peers;
  stop_on(cudaSetDevice(number));
  stop_on(cudaStreamCreate(&g.stream));
  stop_on(cudaMalloc(&g.state, sizeof *g.state));
  stop_on(cudaMalloc(&g.scaled, n * sizeof *g.scaled));
  stop_on(cudaMalloc(&g.gradients, bytes));
  stop_on(cudaMalloc(&g.master, bytes));
  stop_on(cudaMalloc(&g.first, bytes));
  stop_on(cudaMalloc(&g.second, bytes));
  stop_on(cudaMemset(g.first, 0, bytes));
  stop_on(cudaMemset(g.second, 0, bytes));
  stop_on(cudaMemcpy(g.master, net->master, bytes, cudaMemcpyHostToDevice));
  stop_on(cudaMemcpy(g.state, state, sizeof *state, cudaMemcpyHostToDevice));
  return g;
}

/* The host's part: scaled gradients of a share of the batch; its part of the loss. */
static float host_gradients(mlp *net, const digits *data, uint64_t first, float scale,
                            float *images) {
  int64_t labels[BATCH];
  float losses[BATCH], sum = 0;
  batches_take(images, labels, data, 1, first, net->batch);
  mlp_round_weights(net);
  mlp_forward(net, images, net->batch);
  mlp_losses(net, losses, labels, net->batch, scale / GLOBAL_BATCH);
  mlp_backward(net, net->batch);
  for (size_t i = 0; i < net->batch; ++i)
    sum += losses[i];
  return sum / BATCH;
}
/* All that happens on the GPUs in a step. Calls of several communicators from one thread
 * belong into a group, or the first would wait for the others forever. */
static void device_step(const std::vector<gpu> &gpus, size_t n) {
  const unsigned blocks = static_cast<unsigned>((n + THREADS - 1) / THREADS);
  for (const gpu &g : gpus) {
    stop_on(cudaSetDevice(g.number));
    check<<<blocks, THREADS, 0, g.stream>>>(g.state, g.scaled, n);
    stop_on(cudaGetLastError());
    stop_on(mpnum_launch_convert(g.gradients, g.scaled, n, g.stream));
  }
  stop_on(ncclGroupStart());
  for (const gpu &g : gpus)
    stop_on(ncclAllReduce(&g.state->found_inf, &g.state->found_inf, 1, ncclUint32,
                          ncclMax, g.peers, g.stream));
  stop_on(ncclGroupEnd());
  stop_on(ncclGroupStart());
  for (const gpu &g : gpus)
    stop_on(ncclAllReduce(g.gradients, g.gradients, n, ncclFloat32, ncclSum, g.peers,
                          g.stream));
  stop_on(ncclGroupEnd());
  for (const gpu &g : gpus) {
    stop_on(cudaSetDevice(g.number));
    unscale<<<blocks, THREADS, 0, g.stream>>>(g.state, g.gradients, n);
    decide<<<1, 1, 0, g.stream>>>(g.state);
    adam<<<blocks, THREADS, 0, g.stream>>>(g.state, g.master, g.first, g.second,
                                           g.gradients, n);
    stop_on(cudaGetLastError());
  }
}
/* Every GPU's state and weights have the bytes of the first one's, which the host takes
 * over. */
static void compare(const std::vector<gpu> &gpus, mlp *net, shared_state *state) {
  const size_t n = mlp_count(net);
  std::vector<float> weights(n);
  for (const gpu &g : gpus) {
    shared_state other;
    stop_on(cudaSetDevice(g.number));
    stop_on(cudaStreamSynchronize(g.stream));
    stop_on(cudaMemcpy(&other, g.state, sizeof other, cudaMemcpyDeviceToHost));
    stop_on(
        cudaMemcpy(weights.data(), g.master, n * sizeof(float), cudaMemcpyDeviceToHost));
    if (&g == &gpus[0]) {
      *state = other;
      std::memcpy(net->master, weights.data(), n * sizeof(float));
    } else if (std::memcmp(state, &other, sizeof other) != 0 ||
               std::memcmp(net->master, weights.data(), n * sizeof(float)) != 0) {
      std::fprintf(stderr, "distributed_scaler_nccl: GPU %d holds other bytes\n",
                   g.number);
      std::exit(1);
    }
  }
}

static std::vector<gpu> start(mlp *net, const shared_state *state, int count) {
  std::vector<ncclComm_t> peers(static_cast<size_t>(count));
  std::vector<gpu> gpus;
  stop_on(ncclCommInitAll(peers.data(), count, nullptr));
  for (int i = 0; i < count; ++i)
    gpus.push_back(start_gpu(i, peers[static_cast<size_t>(i)], net, state));
  return gpus;
}
static void train(mlp *net, const digits *data, std::vector<gpu> &gpus,
                  shared_state *state, float *images) {
  for (uint64_t step = 1; step <= STEPS; ++step) {
    float loss = 0;
    for (const gpu &g : gpus) {
      const uint64_t first = step * BATCH + static_cast<uint64_t>(g.number) * net->batch;
      loss += host_gradients(net, data, first, state->scaler.scale, images);
      stop_on(cudaSetDevice(g.number));
      stop_on(cudaMemcpy(g.scaled, net->gradients, mlp_count(net) * sizeof *g.scaled,
                         cudaMemcpyHostToDevice));
    }
    device_step(gpus, mlp_count(net));
    compare(gpus, net, state);
    stop_on(state->status);
    if (step % 50 == 0)
      std::printf("step %llu of %d  loss %.4f  scale %g  skipped %llu\n",
                  static_cast<unsigned long long>(step), STEPS, static_cast<double>(loss),
                  static_cast<double>(state->scaler.scale),
                  static_cast<unsigned long long>(state->scaler.skipped));
  }
}
int main(int count, char **arguments) {
  const size_t widths[] = {DIGITS_PIXELS, 32, 32, 32, DIGITS_CLASSES};
  digits data;
  mlp net;
  shared_state state = {};
  int gpus_here = 0, used = BATCH;
  if (count != 2) {
    std::fprintf(stderr, "usage: distributed_scaler_nccl DIGITS\n");
    return 2;
  }
  const char *wrong = digits_load(&data, arguments[1]);
  if (wrong) {
    std::fprintf(stderr, "distributed_scaler_nccl: %s: %s\n", arguments[1], wrong);
    return 1;
  }
  stop_on(cudaGetDeviceCount(&gpus_here));
  while (used > 1 && used > gpus_here) /* as many as share the batch evenly */
    used /= 2;
  float *images =
      static_cast<float *>(std::malloc(BATCH * DIGITS_PIXELS * sizeof *images));
  if (!images || !mlp_init(&net, 4, widths, static_cast<size_t>(BATCH / used))) {
    std::fprintf(stderr, "distributed_scaler_nccl: there is not enough memory\n");
    return 1;
  }
  mlp_start(&net, 1, 0);
  net.value_type = net.gradient_type = MPNUM_TYPE_F16;
  stop_on(mpnum_grad_scaler_init(&state.scaler, mpnum_grad_scaler_default()));
  state.optimizer = mpnum_grad_optimizer_of(&state.scaler);
  state.first_decay = state.second_decay = 1;
  std::vector<gpu> gpus = start(&net, &state, used);
  train(&net, &data, gpus, &state, images);
  std::printf("%.1f %% of the test images right, on %d GPUs\n",
              100 * static_cast<double>(batches_accuracy(&net, &data, images)), used);
  for (const gpu &g : gpus)
    stop_on(ncclCommDestroy(g.peers));
  return 0;
}
