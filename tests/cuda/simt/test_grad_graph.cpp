/* SPDX-License-Identifier: MIT */
/* Training steps as a graph of mpnum/training/grad.cuh: captured once and replayed,
 * against the same steps on the host. In the simulator device memory is out of the host's
 * reach but while a kernel or a copy runs. Of a smaller build, TEST_TYPES, fewer steps.
 */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */

#include "simt_checks.hpp"

#include <mpnum/training/grad.cuh>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

/* Memory of the device, which the host reads and writes by copies alone. */
std::vector<void *> arrays;

#if TEST_ON_GPU
cudaError_t allocate(void **made, std::size_t bytes) { return cudaMalloc(made, bytes); }
template <class F> cudaError_t run(F launcher) {
  gpu::is_inside = true; /* nothing is waited for */
  const cudaError_t error = launcher();
  gpu::is_inside = false;
  return error;
}
void release_arrays() {
  for (void *each : arrays)
    cudaFree(each);
  arrays.clear();
}
#else
cudaError_t allocate(void **made, std::size_t bytes) {
  simt::open_memory();
  const cudaError_t error = cudaMallocManaged(made, bytes);
  simt::close_memory();
  return error;
}
template <class F> cudaError_t run(F launcher) {
  const cudaError_t error = LAUNCHED(launcher());
  simt::close_memory();
  return error;
}
void release_arrays() {
  simt::open_memory();
  for (void *each : arrays)
    cudaFree(each);
  arrays.clear();
}
#endif

template <class T> T *device_array(std::size_t n) {
  void *made = nullptr;
  CHECK(allocate(&made, n * sizeof(T)) == cudaSuccess, "device memory");
  arrays.push_back(made);
  return static_cast<T *>(made);
}
template <class T> void copy(T *to, const T *from, std::size_t n = 1) {
  CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDefault) == cudaSuccess, "a copy");
}
template <class T> T *on_device(const T &value) {
  T *made = device_array<T>(1);
  copy(made, &value);
  return made;
}
template <class T> T from_device(const T *memory) {
  T value;
  copy(&value, memory);
  return value;
}
template <class T> bool same(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/* Captures what launch does, in which nothing may be read, allocated or waited for. */
template <class F> cudaGraphExec_t captured(F launch) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaSuccess,
        "begin");
  const cudaError_t error = run(launch);
  CHECK(error == cudaSuccess, "%s", cudaGetErrorString(error));
  CHECK(cudaStreamEndCapture(nullptr, &graph) == cudaSuccess &&
            cudaGraphInstantiate(&made, graph, 0) == cudaSuccess &&
            cudaGraphDestroy(graph) == cudaSuccess,
        "a graph");
  return made;
}

struct preset {
  const char *name;
  mpnum_grad_scaler_config config;
};
std::vector<preset> presets() {
  return {{"default", mpnum_grad_scaler_default()},
          {"f16", mpnum_grad_scaler_f16()},
          {"torch", mpnum_grad_scaler_torch()},
          {"apex", mpnum_grad_scaler_apex(3)},
          {"megatron", mpnum_grad_scaler_megatron()},
          {"deepspeed 1", mpnum_grad_scaler_deepspeed(1, 0)},
          {"deepspeed 2", mpnum_grad_scaler_deepspeed(2, 0)},
          {"deepspeed 2, consecutive", mpnum_grad_scaler_deepspeed(2, 1)},
          {"flax", mpnum_grad_scaler_flax()},
          {"jmp", mpnum_grad_scaler_jmp()},
          {"static", mpnum_grad_scaler_static(1024)}};
}

#ifdef TEST_TYPES
constexpr int steps_of_presets = 600;
#else
constexpr int steps_of_presets = 10000;
#endif
/* What a step finds: nothing, an Inf, a NaN. */
std::vector<mpnum_grad_findings> kinds_of_findings() {
  std::vector<mpnum_grad_findings> found(3, mpnum_grad_findings_empty());
  mpnum_exact_sum_add_f64_(&found[0].squares, 2.25);
  found[1].stats.infs = 1;
  found[1].squares.positive_infs = 1;
  found[2].stats.nans = 3;
  found[2].squares.nans = 1;
  return found;
}

/* So many optimizers of one scaler, of which, if there are several, the last one is not
 * used in every third step: each has a verdict of its own, and the scale goes by all.
 * Half of the steps with few overflows, so that scales grow, half with many. */
void check_steps(const char *name, const mpnum_grad_scaler_config &config, int count,
                 int steps) {
  const std::vector<mpnum_grad_findings> found = kinds_of_findings();
  mpnum_grad_scaler host;
  CHECK(mpnum_grad_scaler_init(&host, config) == MPNUM_OK, "%s", name);
  mpnum_grad_optimizer handles[3], *host_pointers[3], *pointers[3];
  mpnum_grad_findings *findings[3];
  const mpnum_grad_findings *used[3], *fewer[3];
  mpnum_grad_scaler *scaler = on_device(host);
  std::uint32_t *apply = device_array<std::uint32_t>(3), words[3] = {0, 0, 0};
  for (int i = 0; i < count; ++i) {
    handles[i] = mpnum_grad_optimizer_of(&host);
    host_pointers[i] = handles + i;
    pointers[i] = on_device(handles[i]);
    used[i] = fewer[i] = findings[i] = on_device(found[0]);
  }
  if (count > 1) fewer[count - 1] = nullptr;
  const auto capture = [&](const mpnum_grad_findings **these) {
    return captured([&] {
      return count > 1
                 ? mpnum_launch_grad_step_all(scaler, pointers, these, apply, count,
                                              nullptr)
                 : mpnum_launch_grad_step(scaler, pointers[0], these[0], apply, nullptr);
    });
  };
  const cudaGraphExec_t some = capture(fewer), all = capture(used);
  std::mt19937 random(7);
  int mixed = 0;
  for (int step = 0; step < steps; ++step) {
    const unsigned rare = step < steps / 2 ? static_cast<unsigned>(steps) / 5 : 8;
    const int in_use = count > 1 && step % 3 == 0 ? count - 1 : count;
    mpnum_grad_verdict verdicts[3] = {MPNUM_GRAD_SKIP, MPNUM_GRAD_SKIP, MPNUM_GRAD_SKIP};
    for (int i = 0; i < in_use; ++i) {
      const unsigned long kind = random() % rare ? 0 : 1 + random() % 2;
      copy(findings[i], &found[kind]);
      CHECK(!mpnum_grad_scaler_report_unscaled(&host, handles + i, kind != 0,
                                               mpnum_grad_norm(&found[kind])) &&
                !mpnum_grad_scaler_step(&host, handles + i, verdicts + i),
            "%s: step %d", name, step);
    }
    CHECK(!mpnum_grad_scaler_update_all(&host, host_pointers, count), "%s: step %d", name,
          step);
    CHECK(cudaGraphLaunch(step % 3 ? all : some, nullptr) == cudaSuccess, "%s: step %d",
          name, step);
    copy(words, apply, 3);
    CHECK(same(host, from_device(scaler)), "%s: step %d, scale %g, not %g", name, step,
          static_cast<double>(from_device(scaler).scale),
          static_cast<double>(host.scale));
    for (int i = 0; i < count; ++i)
      CHECK(same(handles[i], from_device(pointers[i])) &&
                words[i] == static_cast<std::uint32_t>(verdicts[i]),
            "%s: step %d of %d: optimizer %d, %u", name, step, count, i, words[i]);
    mixed += count > 1 && words[0] != words[1];
  }
  CHECK(host.skipped > 9 && (host.scale_changes > 4 || host.config.growth_factor <= 1) &&
            (count == 1 || mixed > 20),
        "%s: nothing happens", name);
  /* A handle that an update left out: none of them takes a step. */
  handles[count - 1].updates -= 1;
  copy(pointers[count - 1], handles + count - 1);
  CHECK(cudaGraphLaunch(all, nullptr) == cudaSuccess, "a stale one");
  copy(words, apply, 3);
  CHECK(same(host, from_device(scaler)), "%s: a scaler that goes on", name);
  for (int i = 0; i < count; ++i)
    CHECK(same(handles[i], from_device(pointers[i])) &&
              words[i] == 2 * static_cast<unsigned>(MPNUM_ERROR_STALE_HANDLE),
          "%s: a stale one: optimizer %d of %d, %u", name, i, count, words[i]);
  cudaGraphExecDestroy(some);
  cudaGraphExecDestroy(all);
  release_arrays();
}
void scalers_of_every_preset_follow_the_host(void) {
  for (preset p : presets()) {
    p.config.growth_interval =
        p.config.growth_interval / (10000 / steps_of_presets) / 4 + 1;
    check_steps(p.name, p.config, 1, steps_of_presets);
  }
}
void optimizers_share_a_scaler_as_on_the_host(void) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_interval = 4;
  for (int count : {2, 3})
    check_steps("optimizers", config, count, 300);
}

/* An optimizer that reads the word: plain descent. */
__global__ void descend(float *parameters, const float *gradients, std::size_t n,
                        const std::uint32_t *apply) {
  const std::size_t i = mpnum_grid_index();
  if (i < n && *apply == MPNUM_GRAD_APPLY) parameters[i] -= 0.125f * gradients[i];
}

/* A backward pass gives f16, another f32 and bf16, each scaled; Inf and NaN among them at
 * random. */
struct gradients {
  mpnum_f16 first[2100];
  float second[300];
  mpnum_bf16 third[70];
  float results[2100];
};
void backward(gradients *made, float scale, std::mt19937 &random) {
  const auto next = [&] {
    return scale * std::ldexp(static_cast<float>(random() % 2001) - 1000, -18);
  };
  for (mpnum_f16 &x : made->first)
    x = mpnum_f32_to_f16(next());
  for (float &x : made->second)
    x = next();
  for (mpnum_bf16 &x : made->third)
    x = mpnum_f32_to_bf16(next());
  if (random() % 5 == 0) made->second[random() % 300] = mpnum_from_bits_f32(0x7f800000);
  if (random() % 7 == 0) made->third[random() % 70].bits = 0xffc1;
}
std::vector<mpnum_grad_tensor> tensors_of(gradients *g) {
  return {
      mpnum_grad_tensor_of(MPNUM_TYPE_F16, g->first, 2100, MPNUM_TYPE_F32, g->results),
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, nullptr, 0, MPNUM_TYPE_F32, nullptr),
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, g->second, 300, MPNUM_TYPE_F32, g->second),
      mpnum_grad_tensor_of(MPNUM_TYPE_BF16, g->third, 70, MPNUM_TYPE_BF16, g->third)};
}

void a_step_replayed_is_that_of_the_host(void) {
#ifdef TEST_TYPES
  constexpr unsigned steps = 40;
#else
  constexpr unsigned steps = 1000;
#endif
  static gradients made, back;
  static float parameters[2100], parameters_back[2100];
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.growth_interval = 5;
  mpnum_grad_scaler host;
  CHECK(mpnum_grad_scaler_init(&host, config) == MPNUM_OK, "a scaler");
  mpnum_grad_optimizer handle = mpnum_grad_optimizer_of(&host);
  gradients *device = device_array<gradients>(1);
  float *weights = device_array<float>(2100);
  const std::vector<mpnum_grad_tensor> on_host = tensors_of(&made),
                                       there = tensors_of(device);
  std::uint64_t tiles_before[5];
  mpnum_grad_list list = mpnum_grad_list();
  CHECK(mpnum_grad_plan(&list, tiles_before, there.data(), 4, 0) == MPNUM_OK, "a plan");
  mpnum_grad_tensor *tensors = device_array<mpnum_grad_tensor>(4);
  std::uint64_t *words = device_array<std::uint64_t>(5);
  copy(tensors, there.data(), 4);
  copy(words, tiles_before, 5);
  copy(weights, parameters, 2100);
  list.tensors = tensors;
  list.tiles_before = words;
  mpnum_grad_findings *findings = device_array<mpnum_grad_findings>(1);
  mpnum_grad_workspace *workspace = on_device(mpnum_grad_workspace());
  mpnum_grad_scaler *scaler = on_device(host);
  mpnum_grad_optimizer *optimizer = on_device(handle);
  std::uint32_t *apply = on_device<std::uint32_t>(MPNUM_GRAD_APPLY);
  const cudaGraphExec_t graph = captured([&] {
    cudaError_t error =
        mpnum_launch_grad_pass(findings, list, scaler, workspace, nullptr);
    if (!error)
      error = mpnum_launch_grad_clip(optimizer, scaler, findings, list, 0.0625f,
                                     workspace, nullptr);
    if (!error)
      error = mpnum_launch_grad_step(scaler, optimizer, findings, apply, nullptr);
    return error ? error
                 : simt::launch(descend, {9, 256}, weights, device->results, 2100, apply);
  });
  list = mpnum_grad_list(); /* a graph has arguments of its own */
  std::mt19937 random(3);
  for (unsigned step = 0; step < steps; ++step) {
    mpnum_grad_findings found;
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    backward(&made, host.scale, random);
    copy(device, &made);
    simt::use(simt::schedules[step % 6]);
    const cudaError_t error = cudaGraphLaunch(graph, nullptr);
    CHECK(error == cudaSuccess, "step %u: %s", step, cudaGetErrorString(error));
    const mpnum_status status[] = {
        mpnum_grad_scaler_unscale_clip_step(&host, &handle, on_host.data(), 4, 0.0625f, 0,
                                            &found, &verdict),
        mpnum_grad_scaler_update(&host, &handle)};
    CHECK(!status[0] && !status[1], "step %u", step);
    if (verdict == MPNUM_GRAD_APPLY)
      for (unsigned i = 0; i < 2100; ++i)
        parameters[i] -= 0.125f * made.results[i];
    copy(&back, device);
    copy(parameters_back, weights, 2100);
    CHECK(same(back, made), "step %u: gradients", step);
    CHECK(same(found, from_device(findings)), "step %u: findings", step);
    CHECK(same(host, from_device(scaler)) && same(handle, from_device(optimizer)),
          "step %u: scaler and handle", step);
    CHECK(same(parameters, parameters_back), "step %u: parameters", step);
  }
  CHECK(host.skipped > steps / 9 && host.applied > steps / 3, "%u skipped, %u applied",
        static_cast<unsigned>(host.skipped), static_cast<unsigned>(host.applied));
  cudaGraphExecDestroy(graph);
  release_arrays();
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(scalers_of_every_preset_follow_the_host),
                    TEST(optimizers_share_a_scaler_as_on_the_host),
                    TEST(a_step_replayed_is_that_of_the_host)});
}
