/* SPDX-License-Identifier: MIT */
/* A training step that never waits for the host: forward and backward pass of a small
 * network, the gradient pass, the clip, the loss scaler and AdamW, captured once in a
 * graph, which is replayed. Products take f32, bf16, f16 or 8 bits: e4m3 forward, e5m2
 * for gradients, each tensor with a scale of its last amaxes. Sums, weights and their
 * gradients are f32. Now and then a gradient becomes Inf, and that step is skipped on the
 * device. Paste what you need; products.cuh has the products. It compiles, and runs on a
 * simulator without cuBLASLt; no GPU has run it.
 *
 *     nvcc -O2 -arch=sm_90 -I include examples/train_step.cu -lcublasLt -o train_step
 *     ./train_step --compare
 */
#include "products.cuh"

#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

enum { INPUTS = 64, OUTPUTS = 16 };
/* Tensors that products read, those of the forward pass first; amaxes kept of each. */
enum { OPERANDS = 6, FORWARD = 4, AMAXES = 16 };

struct options {
  int steps = 10000, samples = 1024, hidden = 1024;
  int inject = 97; /* every how many steps a gradient is Inf; 0: never */
};

/* Device memory, set to 0, that lives as long as this. */
class memory {
public:
  memory() = default;
  memory(const memory &) = delete;
  ~memory() {
    for (void *one : all_)
      cudaFree(one);
  }
  template <class T> T *array(size_t n) {
    void *made = nullptr;
    check(cudaMalloc(&made, n * sizeof(T)));
    all_.push_back(made);
    check(cudaMemset(made, 0, n * sizeof(T)));
    return static_cast<T *>(made);
  }
  template <class T> T *copy(const std::vector<T> &values) {
    T *made = array<T>(values.size());
    check(cudaMemcpy(made, values.data(), values.size() * sizeof(T),
                     cudaMemcpyHostToDevice));
    return made;
  }
  template <class T> static std::vector<T> read(const T *from, size_t n) {
    std::vector<T> made(n);
    check(cudaMemcpy(made.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
    return made;
  }

private:
  std::vector<void *> all_;
};

/* A matrix of floats as products read it: its codes, and those of its transpose. Codes of
 * 8 bits have a scale in an amax history, and the amax of this step. */
template <class T> struct operand {
  float *values;
  int rows, columns;
  T *codes, *turned;
  mpnum_amax_history *history;
  float *amax;
  factor<T> by_row() const { return {codes, inverse(), rows, columns}; }
  factor<T> by_column() const { return {turned, inverse(), columns, rows}; }
  const float *inverse() const { return sizeof(T) == 1 ? &history->scale_inv : nullptr; }
};

__device__ static void store(float *dst, float x) { *dst = x; }
__device__ static void store(mpnum_bf16 *dst, float x) { *dst = mpnum_f32_to_bf16(x); }
__device__ static void store(mpnum_f16 *dst, float x) { *dst = mpnum_f32_to_f16(x); }
template <class T> __global__ void narrow_kernel(operand<T> x) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= x.rows * x.columns) return;
  store(x.codes + i, x.values[i]);
  x.turned[i % x.columns * x.rows + i / x.columns] = x.codes[i];
}
template <class T> static void narrow(const operand<T> &x, cudaStream_t stream) {
  launch(narrow_kernel<T>, static_cast<size_t>(x.rows) * x.columns, stream, x);
}
template <class T> static void narrow_scaled(const operand<T> &x, cudaStream_t stream) {
  check(mpnum_launch_quantize_transpose(mpnum::matrix_of(x.codes, x.rows, x.columns),
                                        mpnum::matrix_of(x.turned, x.columns, x.rows),
                                        mpnum::matrix_of(x.values, x.rows, x.columns),
                                        &x.history->scale, x.amax, stream));
}
static void narrow(const operand<mpnum_e4m3> &x, cudaStream_t s) { narrow_scaled(x, s); }
static void narrow(const operand<mpnum_e5m2> &x, cudaStream_t s) { narrow_scaled(x, s); }

__global__ void relu(float *x, int n) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i < n && x[i] < 0) x[i] = 0;
}
/* The gradient passes where relu did. */
__global__ void gate(float *gradient, const float *activation, int n) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i < n && !(activation[i] > 0)) gradient[i] = 0;
}
/* The error, and the gradient of its mean square times the scale. */
__global__ void subtract(float *delta, float *error, const float *target, int n,
                         const mpnum_grad_scaler *scaler) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= n) return;
  error[i] -= target[i];
  delta[i] = scaler->scale * (2 / static_cast<float>(n)) * error[i];
}
__global__ void inject(float *gradient, uint64_t *step, int every) {
  if (mpnum_grid_index() != 0) return;
  *step += 1;
  if (every != 0 && *step % every == 0) *gradient = mpnum_from_bits_f32(0x7f800000u);
}
/* AdamW: nothing where the step is skipped. The scaler counts the steps applied. */
__global__ void update(float *weights, const float *gradients, float *first,
                       float *second, int n, float rate, const uint32_t *apply,
                       const mpnum_grad_scaler *scaler) {
  const int i = static_cast<int>(mpnum_grid_index());
  if (i >= n || *apply != MPNUM_GRAD_APPLY) return;
  const float steps = static_cast<float>(scaler->applied), g = gradients[i];
  const float mean = first[i] = 0.9f * first[i] + 0.1f * g;
  const float square = second[i] = 0.999f * second[i] + 0.001f * g * g;
  const float root = sqrtf(square / (1 - powf(0.999f, steps))) + 1e-8f;
  weights[i] -= rate * (mean / (1 - powf(0.9f, steps)) / root + 0.01f * weights[i]);
}

static float random_float(uint64_t i) {
  return static_cast<float>(mpnum_random(1, i) >> 8) / 8388608 - 1; /* 2^23 */
}
static std::vector<float> random_floats(size_t n, uint64_t from, float factor) {
  std::vector<float> made(n);
  for (size_t i = 0; i < n; ++i)
    made[i] = factor * random_float(from + i);
  return made;
}
/* Products of two inputs, which no linear function is. */
static std::vector<float> targets_of(const std::vector<float> &x) {
  std::vector<float> made(x.size() / INPUTS * OUTPUTS);
  for (size_t i = 0; i < made.size(); ++i)
    made[i] =
        x[i / OUTPUTS * INPUTS + i % OUTPUTS] * x[i / OUTPUTS * INPUTS + INPUTS - 1];
  return made;
}

/* As the launches take them: the histories are made with this recipe. */
static mpnum_fp8_recipe delayed() {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  recipe.history_length = AMAXES;
  return recipe;
}
static std::vector<mpnum_amax_history> new_histories(const mpnum_fp8_recipe &recipe) {
  std::vector<mpnum_amax_history> made(OPERANDS);
  for (int i = 0; i < OPERANDS; ++i) {
    float ring[AMAXES]; /* becomes 0, as those of the device are */
    const float max = i < FORWARD ? MPNUM_E4M3_MAX : MPNUM_E5M2_MAX;
    if (mpnum_amax_history_init(&made[i], ring, AMAXES, max, &recipe) != MPNUM_OK)
      std::abort();
  }
  return made;
}

/* A training run. T: the type of activations and weights in products, G: of gradients. */
template <class T, class G> class training {
public:
  training(const options &chosen, const mpnum_grad_scaler_config &config)
      : chosen_(chosen) {
    const mpnum_grad_tensor gradients = mpnum_grad_tensor_of(
        MPNUM_TYPE_F32, gradients_, weight_count_, MPNUM_TYPE_F32, gradients_);
    std::vector<uint64_t> tiles(2);
    std::vector<mpnum_grad_scaler> scaler(1);
    if (mpnum_grad_plan(&list_, tiles.data(), &gradients, 1, 0) != MPNUM_OK ||
        mpnum_grad_scaler_init(scaler.data(), config) != MPNUM_OK)
      std::abort();
    list_.tensors = memory_.copy(std::vector<mpnum_grad_tensor>(1, gradients));
    list_.tiles_before = memory_.copy(tiles);
    scaler_ = memory_.copy(scaler);
    optimizer_ = memory_.copy(
        std::vector<mpnum_grad_optimizer>(1, mpnum_grad_optimizer_of(scaler.data())));
  }
  int fast_products() const {
    return hidden_.is_fast() + output_.is_fast() + weights_1_.is_fast() +
           weights_2_.is_fast() + backward_.is_fast();
  }

  void launch_step(cudaStream_t stream) const {
    narrow(x_, stream);
    narrow(w1_, stream);
    narrow(w2_, stream);
    hidden_.run(stream);
    launch(relu, h_count_, stream, h_.values, h_count_);
    narrow(h_, stream);
    output_.run(stream);
    launch(subtract, y_count_, stream, delta_.values, error_, target_, y_count_, scaler_);
    narrow(delta_, stream);
    weights_2_.run(stream);
    backward_.run(stream);
    launch(gate, h_count_, stream, delta_h_.values, h_.values, h_count_);
    narrow(delta_h_, stream);
    weights_1_.run(stream);
    launch(inject, 1, stream, gradients_, step_, chosen_.inject);
    check(mpnum_launch_grad_pass(findings_, list_, scaler_, workspace_, stream));
    check(mpnum_launch_grad_clip(optimizer_, scaler_, findings_, list_, 1.0f, workspace_,
                                 stream));
    check(mpnum_launch_grad_step(scaler_, optimizer_, findings_, apply_, stream));
    launch(update, weight_count_, stream, weights_, gradients_, mean_, square_,
           weight_count_, 0.001f, apply_, scaler_);
    if (sizeof(T) == 1)
      check(mpnum_launch_scale_update(histories_, rings_, amax_, OPERANDS, &recipe_,
                                      stream));
  }
  mpnum_grad_scaler scaler() const { return memory::read(scaler_, 1)[0]; }
  double mean_square() const {
    double sum = 0;
    for (float x : memory::read(error_, y_count_))
      sum += static_cast<double>(x) * x;
    return sum / y_count_;
  }

private:
  /* Members are made in this order. */
  const options chosen_;
  memory memory_;
  library library_;
  const int samples_ = chosen_.samples, units_ = chosen_.hidden;
  const int first_layer_ = units_ * INPUTS;
  const int weight_count_ = first_layer_ + units_ * OUTPUTS;
  const int h_count_ = samples_ * units_, y_count_ = samples_ * OUTPUTS;

  const std::vector<float> inputs_ = random_floats(samples_ * INPUTS, 0, 1.0f);
  float *target_ = memory_.copy(targets_of(inputs_));
  float *error_ = memory_.array<float>(y_count_);
  /* Of both layers, one after the other; AdamW's means of gradients and squares. */
  float *weights_ = memory_.copy(random_floats(weight_count_, 1u << 30, 0.1f));
  float *gradients_ = memory_.array<float>(weight_count_);
  float *mean_ = memory_.array<float>(weight_count_);
  float *square_ = memory_.array<float>(weight_count_);

  uint64_t *step_ = memory_.array<uint64_t>(1);
  uint32_t *apply_ = memory_.array<uint32_t>(1);
  mpnum_grad_findings *findings_ = memory_.array<mpnum_grad_findings>(1);
  mpnum_grad_workspace *workspace_ = memory_.array<mpnum_grad_workspace>(1);
  mpnum_grad_scaler *scaler_ = nullptr;
  mpnum_grad_optimizer *optimizer_ = nullptr;
  mpnum_grad_list list_ = mpnum_grad_list();

  const mpnum_fp8_recipe recipe_ = delayed();
  mpnum_amax_history *histories_ = memory_.copy(new_histories(recipe_));
  float *rings_ = memory_.array<float>(OPERANDS * AMAXES);
  float *amax_ = memory_.array<float>(OPERANDS);
  template <class U> operand<U> make(int place, float *values, int rows, int columns) {
    const size_t n = static_cast<size_t>(rows) * columns;
    operand<U> made = {values, rows, columns};
    if (!values) made.values = memory_.array<float>(n);
    made.codes = memory_.array<U>(n);
    made.turned = memory_.array<U>(n);
    made.history = histories_ + place;
    made.amax = amax_ + place;
    return made;
  }
  const operand<T> x_ = make<T>(0, memory_.copy(inputs_), samples_, INPUTS);
  const operand<T> w1_ = make<T>(1, weights_, units_, INPUTS);
  const operand<T> h_ = make<T>(2, nullptr, samples_, units_);
  const operand<T> w2_ = make<T>(3, weights_ + first_layer_, OUTPUTS, units_);
  const operand<G> delta_ = make<G>(4, nullptr, samples_, OUTPUTS);
  const operand<G> delta_h_ = make<G>(5, nullptr, samples_, units_);

  /* h = x w1', y = h w2'; the gradients of w2, delta' h, of h, delta w2, and of w1. */
  const product<T, T> hidden_{library_, h_.values, x_.by_row(), w1_.by_row()};
  const product<T, T> output_{library_, error_, h_.by_row(), w2_.by_row()};
  const product<G, T> weights_2_{library_, gradients_ + first_layer_, delta_.by_column(),
                                 h_.by_column()};
  const product<G, T> backward_{library_, delta_h_.values, delta_.by_row(),
                                w2_.by_column()};
  const product<G, T> weights_1_{library_, gradients_, delta_h_.by_column(),
                                 x_.by_column()};
};

/* The first step finds kernels not yet loaded and cuBLASLt not yet set up, which a
 * capture may not wait for; the others are replays. Prints what the first and the last
 * one led to. */
template <class T, class G>
static void train(const char *name, const options &chosen,
                  const mpnum_grad_scaler_config &config) {
  const training<T, G> net(chosen, config);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  check(cudaStreamCreate(&stream));
  net.launch_step(stream);
  check(cudaStreamSynchronize(stream));
  const double first = net.mean_square();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  net.launch_step(stream);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&replay, graph, 0));
  const auto start = std::chrono::steady_clock::now();
  for (int step = 1; step < chosen.steps; ++step)
    check(cudaGraphLaunch(replay, stream));
  check(cudaStreamSynchronize(stream));
  const std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  const mpnum_grad_scaler scaler = net.scaler();
  std::printf("%-6s %9.2f %11.6f %10.6f %9g %8llu %8llu      %d of 5\n", name,
              time.count() / (chosen.steps - 1), first, net.mean_square(),
              static_cast<double>(scaler.scale),
              static_cast<unsigned long long>(scaler.applied),
              static_cast<unsigned long long>(scaler.skipped), net.fast_products());
  check(cudaGraphExecDestroy(replay));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

static void train_in(const char *format, const options &chosen) {
  mpnum_grad_scaler_config fixed = mpnum_grad_scaler_static(1), scaled;
  scaled = mpnum_grad_scaler_default();
  scaled.growth_interval = 50;
  scaled.max_scale = 16777216;
  if (!std::strcmp(format, "f32")) train<float, float>(format, chosen, fixed);
  if (!std::strcmp(format, "bf16")) train<mpnum_bf16, mpnum_bf16>(format, chosen, fixed);
  if (!std::strcmp(format, "f16")) train<mpnum_f16, mpnum_f16>(format, chosen, scaled);
  if (!std::strcmp(format, "fp8")) train<mpnum_e4m3, mpnum_e5m2>(format, chosen, scaled);
}

static void read_number(const char *name, const char *word, int least, int most,
                        int *value) {
  char *end = nullptr;
  const long read = word ? std::strtol(word, &end, 10) : 0;
  if (word && end != word && *end == 0 && read >= least && read <= most &&
      (least != 16 || read % 16 == 0)) {
    *value = static_cast<int>(read);
    return;
  }
  std::fprintf(stderr, "train_step: %s takes a %s from %d to %d, not %s\n", name,
               least == 16 ? "multiple of 16" : "number", least, most,
               word ? word : "nothing");
  std::exit(2);
}

int main(int argc, char **argv) {
  static const char *const formats[] = {"f32", "bf16", "f16", "fp8"};
  options chosen;
  bool is_chosen[4] = {false, false, false, false}, is_any = false;
  for (int i = 1; i < argc; ++i) {
    const char *const word = argv[i];
    bool is_format = false;
    for (int j = 0; j < 4; ++j)
      if (!std::strcmp(word, formats[j]) || !std::strcmp(word, "--compare"))
        is_format = is_chosen[j] = is_any = true;
    if (is_format) continue;
    if (!std::strcmp(word, "--steps"))
      read_number(word, argv[++i], 2, 100000000, &chosen.steps);
    else if (!std::strcmp(word, "--inject"))
      read_number(word, argv[++i], 0, 100000000, &chosen.inject);
    else if (!std::strcmp(word, "--samples"))
      read_number(word, argv[++i], 16, 16384, &chosen.samples);
    else if (!std::strcmp(word, "--hidden"))
      read_number(word, argv[++i], 16, 16384, &chosen.hidden);
    else {
      std::fprintf(stderr,
                   "usage: train_step [f32] [bf16] [f16] [fp8] [--compare] [--steps N] "
                   "[--inject N] [--samples N] [--hidden N]\n");
      return 2;
    }
  }
  is_chosen[3] = is_chosen[3] || !is_any;
  check(cudaFree(nullptr)); /* fails where there is no GPU */
  std::printf("format   us/step first error last error     scale  applied  skipped "
              "by cuBLASLt\n");
  for (int j = 0; j < 4; ++j)
    if (is_chosen[j]) train_in(formats[j], chosen);
  return 0;
}
