/* SPDX-License-Identifier: MIT */
/* The GPU's part of the benchmark without a GPU: its .cu files on the CPU, with a small
 * libcublasLt. Times mean nothing here; everything else does. */
#include "test_bench_gpu_runtime.hpp"

#include <cmath>
#include <dlfcn.h>
#include <string>

#include "../harness/tap.h"
#include "test_bench_gpu_blocks.hpp"

#include <mpnum/rows/detail/row_tiles.cuh>

#include "../../bench/gpu/gpu.h"

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

using namespace blocks;

namespace {

/* Of texts: they are one, begin with it, have it in them; of rows: their state. */
#define CHECK_TEXT(got, want)   CHECK(std::string(got) == want, "%s", got)
#define CHECK_BEGINS(got, want) CHECK(std::string(got).find(want) == 0, "%s", got)
#define CHECK_HAS(got, want) \
 CHECK(std::string(got).find(want) != std::string::npos, "%s", got)
#define CHECK_STATE(row, want) \
 CHECK((row)->state == want, "%s: %s", (row)->name, (row)->why)

gpu_results found;

gpu_plan small_plan() {
  gpu_plan plan = {};
  plan.size = 64 << 10;
  plan.rounds = 3;
  plan.patterns = 5000;
  plan.m = 48;
  plan.n = 40;
  plan.k = 64;
  return plan;
}

void measure(const gpu_plan &plan) {
  progress bar;
  gpu_measure(&found, &plan, &bar);
}

std::string last_note() {
  return found.note_count ? found.notes[found.note_count - 1] : "";
}

/* The library of this test, if blas.c was built with CUDA's header and found it. */
void *library() {
  void *file = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD);
  return file && dlsym(file, "fake_cublaslt_fault") ? file : nullptr;
}
void set_fault(const char *fault) {
  void *symbol = library() ? dlsym(library(), "fake_cublaslt_fault") : nullptr;
  if (symbol) *static_cast<const char **>(symbol) = fault;
}
int live_objects() {
  void *symbol = library() ? dlsym(library(), "fake_cublaslt_objects") : nullptr;
  return symbol ? *static_cast<int *>(symbol) : 0;
}

/* The libnvidia-ml.so.1 of this test. */
template <class T> T *of_nvml(const char *name) {
  static void *const file = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  return file ? static_cast<T *>(dlsym(file, name)) : nullptr;
}
void set_nvml_fault(const char *fault) {
  const char **const place = of_nvml<const char *>("fake_nvml_fault");
  CHECK(place != nullptr, "another libnvidia-ml.so.1 than that of this test");
  if (place) *place = fault;
}

void check_nothing_is_left(const char *when) {
  CHECK(fake::gpu.used == 0 && fake::gpu.blocks.empty(), "%s: %zu bytes", when,
        fake::gpu.used);
  CHECK(fake::gpu.events == 0 && fake::gpu.streams == 0, "%s: %d events, %d streams",
        when, fake::gpu.events, fake::gpu.streams);
  CHECK(live_objects() == 0, "%s: %d objects of cuBLASLt", when, live_objects());
}

const gpu_product *product(const char *name) {
  for (unsigned i = 0; i < found.product_count; ++i)
    if (std::string(found.products[i].name) == name) return &found.products[i];
  return nullptr;
}

/* The simulator's own tests and the laws take the other schedules. */
void two_schedules_measure_everything(void) {
  for (unsigned which : {5u, 0u}) {
    const simt::schedule &schedule = simt::schedules[which];
    simt::use(schedule);
    measure(small_plan());
    CHECK(found.absent[0] == 0 && !found.failed, "%s: %s %s", schedule.name, found.absent,
          last_note().c_str());
    CHECK(found.conversion_count == GPU_CONVERSIONS, "%u", found.conversion_count);
    CHECK(found.reduction_count == GPU_REDUCTIONS, "%u", found.reduction_count);
    check_nothing_is_left(schedule.name);
  }
}

/* The three that follow read the results of the last schedule. */
void conversions_match_and_count_what_they_checked(void) {
  for (unsigned i = 0; i < found.conversion_count; ++i) {
    const gpu_conversion &row = found.conversions[i];
    const mpnum_format format = mpnum_format_of(row.type);
    const uint64_t codes =
        uint64_t{1} << (format.sign_bits + format.exponent_bits + format.mantissa_bits);
    const uint64_t group = !row.packed ? 1 : row.type == MPNUM_TYPE_E2M1 ? 2 : 4;
    CHECK(row.encode_match.wrong == 0 && row.decode_match.wrong == 0, "row %u", i);
    CHECK(row.encode_match.checked >= 5000 + 12 * (uint64_t{format.max_code} + 1),
          "row %u: %llu", i, static_cast<unsigned long long>(row.encode_match.checked));
    CHECK(row.decode_match.checked == codes * group, "row %u", i);
    CHECK(row.encode.rate > 0 && row.decode.rate > 0 && row.encode.limit > 0, "row %u",
          i);
  }
  CHECK(found.conversions[GPU_CONVERSIONS - 1].bytes == 0.5, "e2m1 packed");
  CHECK(found.conversions[GPU_CONVERSIONS - 2].bytes == 0.75, "e2m3 packed");
}

void reductions_match(void) {
  for (unsigned i = 0; i < found.reduction_count; ++i) {
    const gpu_reduction &row = found.reductions[i];
    CHECK(row.match.wrong == 0 && row.match.checked == 15, "%s %u", row.operation, i);
    CHECK(row.speed.rate > 0, "%s %u", row.operation, i);
  }
}

/* Relative errors of a product of normal values in a format of p bits: a rounding is
 * uniform in +-2^-p of a binade, so its root mean square is near 2^-p / sqrt(3) times
 * 0.7, twice. Bounds of a factor of 3 around. */
void product_errors_are_those_of_the_formats(void) {
  static const struct {
    const char *name;
    double low, high;
  } want[] = {{"f32", 0, 1e-7},           {"tf32", 1e-4, 1e-3},
              {"f16", 1e-4, 1e-3},        {"bf16", 8e-4, 8e-3},
              {"e4m3", 1e-2, 8e-2},       {"e4m3 delayed", 1e-2, 8e-2},
              {"e5m2 e4m3", 2e-2, 1.4e-1}};
  gpu_plan plan = small_plan();
  plan.n = 48; /* fp8 takes multiples of 16 */
  measure(plan);
  CHECK_TEXT(found.blas, "cuBLASLt 13.99.2");
  for (const auto &row : want) {
    const gpu_product *got = product(row.name);
    if (!got) {
      CHECK(0, "%s is missing", row.name);
      continue;
    }
    CHECK_STATE(got, GPU_MEASURED);
    CHECK(got->error >= row.low && got->error <= row.high, "%s: %g", row.name,
          got->error);
    CHECK(got->product.ms > 0 && got->total.ms > 0, "%s", row.name);
  }
}

/* Products on a GPU that has block scales. */
void measure_blocks(const char *fault, uint64_t m, uint64_t n, uint64_t k,
                    bool steps = false) {
  gpu_plan plan = small_plan();
  plan.m = m;
  plan.n = n;
  plan.k = k;
  if (steps) {
    plan.rounds = 1;
    plan.step_shapes = 1;
    plan.steps[0][0] = plan.steps[0][1] = plan.steps[0][2] = 16;
  }
  fake::gpu.major = 10;
  set_fault(fault);
  measure(plan);
  set_fault("");
  fake::gpu = fake::state();
}

gpu_part *variant(const char *name, const char *what) {
  for (unsigned i = 0; i < GPU_VARIANTS; ++i)
    if (std::string(found.variants[i].what) == what)
      for (gpu_product &row : found.products)
        if (row.name && std::string(row.name) == name) return &row.variants[i];
  return nullptr;
}

/* Rounding a result to 16 bits adds an error of its own to those of the operands; fast
 * sums have 13 bits behind the first. 256 and 128 rows make a batch of 32 and 16. */
void other_results_sums_and_batches_are_products(void) {
  const struct {
    const char *what, *formats;
  } want[] = {{"f16 result", "f16 e4m3 e5m2 e4m3 mxfp8 nvfp4"},
              {"bf16 result", "bf16 e4m3 e5m2 e4m3 mxfp8 nvfp4"},
              {"fast", "e4m3 e5m2 e4m3"},
              {"fast, bf16", "e4m3 e5m2 e4m3"},
              {"batch of 8", "f32 tf32 f16 bf16 e4m3 e5m2 e4m3"}};
  measure_blocks("", 256, 128, 32, true);
  for (const auto &row : want)
    for (const gpu_product &product : found.products) {
      const gpu_part *got = variant(product.name, row.what);
      const std::string name = std::string(" ") + product.name + " ";
      const bool is_wanted =
          (std::string(" ") + row.formats + " ").find(name) != std::string::npos;
      CHECK(got->state == (is_wanted ? GPU_MEASURED : GPU_NOT_RUN), "%s, %s: %s",
            product.name, row.what, got->why);
      if (is_wanted && std::string(row.what) != "batch of 8")
        CHECK(got->error != product.error && got->error < product.error + 0.002,
              "%s, %s: %g and %g", product.name, row.what, got->error, product.error);
    }
  CHECK(found.variants[7].m == 32 && found.variants[7].n == 16 &&
            found.variants[7].k == 32 && found.variants[7].batch == 8,
        "the batch");
  measure_blocks("batch", 256, 128, 32, true);
  CHECK(variant("bf16", "batch of 8")->state == GPU_FAILED, "the first one eight times");
  CHECK(variant("bf16", "bf16 result")->state == GPU_MEASURED, "no batch");
}

const gpu_step *step(const char *name, unsigned shape) {
  for (unsigned i = 0; i < found.step_count; ++i)
    if (std::string(found.steps[i].name) == name && found.steps[i].shape == shape)
      return &found.steps[i];
  return nullptr;
}

/* Errors of a step are those of its worst product. That of f32 and of f16 shows that
 * gradients are those of f32 operands: another orientation has an error near 1.4. */
void steps_have_both_gradients(void) {
  static const struct {
    const char *name;
    double low, high, bytes; /* moved for a value by converting */
  } want[] = {{"f32", 0, 1e-7, 0},           {"tf32", 1e-4, 1e-3, 0},
              {"f16", 1e-4, 1e-3, 6},        {"bf16", 8e-4, 8e-3, 6},
              {"e4m3", 2e-2, 1.4e-1, 10},    {"e4m3 delayed", 2e-2, 1.4e-1, 6},
              {"mxfp8", 0.03, 0.05, 6.0625}, {"nvfp4", 0.12, 0.15, 5.125}};
  gpu_plan plan = small_plan();
  plan.rounds = 1;
  plan.m = plan.n = plan.k = 16;
  plan.step_shapes = 2;
  const uint64_t shapes[2][3] = {{96, 64, 160}, {48, 64, 80}};
  std::memcpy(plan.steps, shapes, sizeof shapes);
  fake::gpu.major = 10;
  measure(plan);
  CHECK(!found.failed && found.step_count == 16, "%u: %s", found.step_count,
        last_note().c_str());
  for (const auto &row : want) {
    const gpu_step *got = step(row.name, 0);
    const double values = 96 * 64 + 64 * 160 + 96 * 160;
    CHECK_STATE(got, GPU_MEASURED);
    CHECK(got->error >= row.low && got->error <= row.high, "%s: %g", row.name,
          got->error);
    CHECK(got->bytes == row.bytes * values, "%s: %g", row.name, got->bytes / values);
    CHECK((got->converting.ms > 0) == (row.bytes > 0) && got->whole.ms > 0, "%s",
          row.name);
    for (const gpu_time &part : got->parts)
      CHECK(part.ms > 0, "%s", row.name);
  }
  CHECK(step("e4m3", 1)->state == GPU_MEASURED, "%s", step("e4m3", 1)->why);
  CHECK_BEGINS(step("mxfp8", 1)->why, "K is not a multiple of 32");
  fake::gpu.major = 9;
  set_fault("turned");
  measure(plan);
  CHECK(found.step_count == 12, "%u", found.step_count); /* without block scales */
  for (const char *name : {"f32", "tf32", "f16", "bf16"})
    CHECK(step(name, 0)->state == GPU_FAILED, "%s", name);
  CHECK(step("e4m3", 0)->state == GPU_MEASURED, "%s", step("e4m3", 0)->why);
  set_fault("");
  fake::gpu = fake::state();
  check_nothing_is_left("steps");
}

/* Normal values quantised in double, apart from this code, are 0.0298 and 0.0954 of
 * theirs away; a product is root 2 times as far. Neither side fills its
 * tiles of scales; the left one has two rows of them, of three with mxfp8 and five with
 * nvfp4. */
void block_scales_have_the_errors_of_their_formats(void) {
  const struct {
    const char *name;
    double low, high;
  } want[] = {{"mxfp8", 0.0395, 0.0445}, {"nvfp4", 0.128, 0.142}};
  measure_blocks("", 176, 48, 320);
  CHECK(!found.failed, "%s", last_note().c_str());
  for (const auto &row : want) {
    const gpu_product *got = product(row.name);
    CHECK_STATE(got, GPU_MEASURED);
    CHECK(got->error >= row.low && got->error <= row.high, "%s: %g", row.name,
          got->error);
    CHECK(got->product.ms > 0 && got->total.ms > 0, "%s", row.name);
    CHECK(got->variants[0].state == GPU_MEASURED, "%s", row.name);
    for (int shape : {1, 2}) /* K = 328 and 321 */
      CHECK(got->variants[shape].state == GPU_UNSUPPORTED, "%s", row.name);
  }
}

/* In full tiles, so that no scale is read for another place than a block's. */
void block_scales_in_another_layout_are_no_result(void) {
  for (const char *fault : {"rows", "tiles"}) {
    /* Two tiles along K for the order of tiles. */
    measure_blocks(fault, 256, 128, fault[0] == 't' ? 256 : 128);
    for (const char *name : {"mxfp8", "nvfp4"}) {
      const gpu_product *got = product(name);
      CHECK(got->state == GPU_FAILED, "%s: %s", fault, name);
      CHECK(std::string(got->why).find("from that of its operands") != std::string::npos,
            "%s: %s: %s", fault, name, got->why);
    }
    CHECK_STATE(product("e4m3"), GPU_MEASURED);
  }
}

void block_scales_need_whole_blocks_and_a_library_that_has_them(void) {
  measure_blocks("", 48, 48, 72);
  for (const char *name : {"mxfp8", "nvfp4"}) {
    const std::string want = std::string("K is not a multiple of ") +
                             (name[0] == 'm' ? "32" : "16") +
                             ", the values that share a scale";
    CHECK(product(name)->state == GPU_UNSUPPORTED, "%s", name);
    CHECK(want == product(name)->why, "%s: %s", name, product(name)->why);
    CHECK(product(name)->variants[0].state == GPU_MEASURED, "%s: K = 64", name);
  }
  measure_blocks("old", 48, 48, 64);
  for (const char *name : {"mxfp8", "nvfp4"}) {
    CHECK(product(name)->state == GPU_UNSUPPORTED, "%s", name);
    CHECK(std::string(product(name)->why) ==
              "cuBLASLt 12.6.99 has no block scales, which came with 12.8",
          "%s: %s", name, product(name)->why);
  }
  CHECK_STATE(product("e4m3"), GPU_MEASURED);
}

void sizes_that_cublaslt_lacks_are_unsupported(void) {
  measure(small_plan()); /* N = 40 */
  const gpu_product *row = product("e4m3");
  CHECK(row->state == GPU_UNSUPPORTED, "%d", row->state);
  CHECK_HAS(row->why, "none for these sizes");
  CHECK(row->variants[0].state == GPU_MEASURED, "%d", row->variants[0].state);
  CHECK(row->variants[1].state == GPU_UNSUPPORTED, "%d", row->variants[1].state);
  CHECK(row->variants[2].state == GPU_UNSUPPORTED, "%d", row->variants[2].state);
  CHECK(product("bf16")->variants[2].state == GPU_MEASURED, "odd bf16");
  CHECK(found.variants[0].n == 32 && found.variants[1].n == 40 &&
            found.variants[2].n == 33,
        "shapes");
}

void old_gpus_lack_formats(void) {
  fake::gpu.major = 7;
  fake::gpu.minor = 5;
  measure(small_plan());
  CHECK(product("f16")->state == GPU_MEASURED, "f16");
  for (const char *name : {"tf32", "bf16", "e4m3", "mxfp8", "nvfp4"})
    CHECK(product(name)->state == GPU_UNSUPPORTED, "%s", name);
  CHECK_TEXT(product("e4m3")->why, "needs compute capability 8.9");
  fake::gpu.major = 10;
  fake::gpu.minor = 0;
  measure(small_plan());
  for (const char *name : {"mxfp8", "nvfp4"}) /* N = 40 */
    CHECK(std::string(product(name)->why).find("none for these sizes") !=
              std::string::npos,
          "%s: %s", name, product(name)->why);
  fake::gpu = fake::state();
}

void a_product_that_is_not_one_is_no_result(void) {
  set_fault("wrong");
  measure(small_plan());
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(found.products[i].state == GPU_FAILED, "%s", found.products[i].name);
    CHECK_BEGINS(found.products[i].why, "the product is 1 from");
  }
  set_fault("refuse");
  measure(small_plan());
  for (unsigned i = 0; i < 4; ++i)
    CHECK(found.products[i].state == GPU_FAILED, "%s", found.products[i].name);
  CHECK(!found.failed, "%s", last_note().c_str());
  set_fault("");
  check_nothing_is_left("after faults");
}

void little_memory_shrinks_or_skips(void) {
  gpu_plan plan = small_plan();
  plan.size = 4 << 20;
  fake::gpu.memory = 2 << 20;
  measure(plan);
  CHECK(!found.failed, "%s", last_note().c_str());
  CHECK(found.plan.size == 512 << 10, "%zu", found.plan.size);
  CHECK(found.conversion_count == GPU_CONVERSIONS, "%u", found.conversion_count);
  CHECK_BEGINS(found.notes[0], "arrays of 512 KiB");
  CHECK(found.product_count == 0 || !found.blas[0], "%u", found.product_count);
  fake::gpu.memory = 64 << 10;
  measure(plan);
  CHECK(found.failed && last_note().find("memory") != std::string::npos, "%s",
        last_note().c_str());
  fake::gpu = fake::state();
  check_nothing_is_left("little memory");
}

/* A fault of a launcher or a wrong expectation is a wrong count. */
void every_launcher_has_the_hosts_results(void) {
  gpu_plan plan = small_plan();
  plan.all = true;
  plan.rounds = 1;
  plan.sweep[0] = 4 << 10;
  plan.sweep[1] = 16 << 10;
  measure(plan);
  CHECK(!found.absent[0] && !found.failed, "%s %s", found.absent, last_note().c_str());
  CHECK(found.kernel_count > 45 && found.kernel_count <= GPU_KERNELS, "%u rows",
        found.kernel_count);
  for (unsigned i = 0; i < found.kernel_count; ++i) {
    const gpu_kernel &row = found.kernels[i];
    if (row.state == GPU_NOT_RUN) {
      const std::string why = row.why; /* kernels here have no target */
      CHECK(why.find("longer than the arrays") != std::string::npos ||
                why.find("targets older than 9.0") != std::string::npos,
            "%s: %s", row.name, row.why);
      continue;
    }
    CHECK(row.state == GPU_MEASURED && row.speed.time.ms > 0, "%s", row.name);
    CHECK(row.match.wrong == 0, "%s: %llu of %llu are wrong", row.name,
          static_cast<unsigned long long>(row.match.wrong),
          static_cast<unsigned long long>(row.match.checked));
    const std::string name = row.name;
    const bool is_alone = (row.bound == GPU_BY_TIME && name.find("chain of") != 0) ||
                          name.find("grad_clip") == 0;
    CHECK((row.match.checked > 0) != is_alone, "%s: %llu checked", row.name,
          static_cast<unsigned long long>(row.match.checked));
    CHECK((row.bytes > 0 && row.speed.limit > 0) != (row.bound == GPU_BY_TIME),
          "%s: %g bytes", row.name, row.bytes);
    for (unsigned other = 0; other < i; ++other)
      CHECK(std::string(row.name) != found.kernels[other].name, "%s twice", row.name);
  }
  CHECK(found.sweep_count == 10, "%u sizes", found.sweep_count);
  for (unsigned i = 0; i < found.sweep_count; ++i) {
    const gpu_sweep_row &row = found.sweep[i];
    CHECK(row.warm.ms > 0 && row.cold.ms > 0, "%s", row.operation);
    CHECK(row.launches == (64u << 10) / row.size, "%s: %u launches of %zu bytes",
          row.operation, row.launches, row.size);
  }
  check_nothing_is_left("launchers");
}

void absence_is_told(void) {
  fake::gpu.driver = 0;
  measure(small_plan());
  CHECK_TEXT(found.absent, "no NVIDIA driver is loaded");
  fake::gpu = fake::state();
  fake::gpu.fail_call = 0;
  fake::gpu.error = cudaErrorNoDevice;
  measure(small_plan());
  CHECK_BEGINS(found.absent, "no GPU can be used: ");
  fake::gpu = fake::state();
  fake::gpu.fail_call = 5; /* what the first kernel wrote is read */
  fake::gpu.error = cudaErrorNoKernelImageForDevice;
  measure(small_plan());
  CHECK_BEGINS(found.absent, "Fake? GPU <1>, compute capability 9.0, cannot "
                             "run the code of this build (");
  fake::gpu = fake::state();
}

/* Why nothing is known of a GPU whose NVML has a fault. */
gpu_clocks clocks_with(const char *fault) {
  gpu_clocks clocks;
  set_nvml_fault(fault);
  nvml_read(&clocks, "0000:01:00.0", nullptr, nullptr);
  set_nvml_fault("");
  return clocks;
}

void clocks_are_those_of_nvml(void) {
  int *const users = of_nvml<int>("fake_nvml_users");
  gpu_clocks clocks = clocks_with("");
  CHECK(clocks.missing[0] == 0, "%s", clocks.missing);
  CHECK(clocks.sm == 1700 && clocks.sm_limit == 1980 && clocks.memory == 2600 &&
            clocks.memory_limit == 2619,
        "%g of %g, %g of %g MHz", clocks.sm, clocks.sm_limit, clocks.memory,
        clocks.memory_limit);
  CHECK(clocks.power == 612.5 && clocks.power_limit == 700 && clocks.celsius == 64,
        "%g of %g W, %g degrees", clocks.power, clocks.power_limit, clocks.celsius);
  CHECK_TEXT(clocks.reasons, "power cap, heat, by the driver");
  CHECK_TEXT(clocks_with("start").missing, "NVML does not start");
  CHECK_TEXT(clocks_with("none").missing, "NVML knows no GPU 0000:01:00.0");
  clocks = clocks_with("clocks");
  CHECK(std::isnan(clocks.sm) && std::isnan(clocks.memory_limit) && clocks.power == 612.5,
        "%g MHz, %g W", clocks.sm, clocks.power);
  CHECK(users && *users == 0, "NVML is still open");
  nvml_reasons(clocks.reasons, sizeof clocks.reasons, 0);
  CHECK_TEXT(clocks.reasons, "none");
  nvml_reasons(clocks.reasons, sizeof clocks.reasons, 0xfff);
  CHECK(std::string(clocks.reasons).find("idle, clocks set by an application") == 0 &&
            std::strlen(clocks.reasons) < sizeof clocks.reasons,
        "%s", clocks.reasons);
}

void limits_are_those_of_the_best_shape(void) {
  const gpu_limits &limits = found.limits;
  CHECK(limits.api > 0 && limits.copy > 0 && limits.read > 0, "%g %g %g", limits.api,
        limits.copy, limits.read);
  CHECK(limits.copy_shape && limits.read_shape && limits.warm_ms > 0, "shapes");
  CHECK(found.before.sm == 1700 && found.after.sm == 1700, "clocks");
  if (!limits.steady) /* times mean nothing here, the note does */
    CHECK_BEGINS(found.notes[0], "times of copies had not settled");
}

void another_gpu_is_measured_or_absent(void) {
  gpu_plan plan = small_plan();
  plan.device = 2;
  fake::gpu.devices = 2;
  measure(plan);
  CHECK_TEXT(found.absent, "there is no GPU number 2: they are 0 to 1");
  plan.device = 1;
  measure(plan);
  CHECK(!found.absent[0] && fake::gpu.chosen == 1, "%s: GPU %d", found.absent,
        fake::gpu.chosen);
  CHECK_TEXT(found.device.bus, "0000:02:00.0");
  fake::gpu = fake::state();
}

template <class Row> unsigned rows_of(gpu_state state, const Row *rows, unsigned count) {
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i)
    sum += rows[i].state == state;
  return sum;
}
unsigned rows_of(gpu_state state) {
  return rows_of(state, found.conversions, found.conversion_count) +
         rows_of(state, found.reductions, found.reduction_count) +
         rows_of(state, found.kernels, found.kernel_count);
}
unsigned failed_rows() {
  return rows_of(GPU_FAILED) + rows_of(GPU_FAILED, found.steps, found.step_count);
}
unsigned measured_rows() { return rows_of(GPU_MEASURED); }

/* An error that passes costs a row; one that stays all that come after it, each with a
 * reason. */
void a_failing_row_fails_alone(void) {
  gpu_plan plan = small_plan();
  plan.all = true;
  plan.rounds = 1;
  measure(plan);
  const long calls = fake::gpu.calls;
  const unsigned all = measured_rows();
  CHECK(failed_rows() == 0 && all > 60, "%u rows", all);
  fake::gpu = fake::state();
  fake::gpu.fail_call = calls / 2;
  measure(plan);
  CHECK(found.failed && failed_rows() <= 1 && measured_rows() + failed_rows() >= all - 1,
        "%u of %u rows, %u failed", measured_rows(), all, failed_rows());
  check_nothing_is_left("a failed row");
  fake::gpu = fake::state();
  fake::gpu.fail_call = calls / 3;
  fake::gpu.is_lasting = true;
  measure(plan);
  CHECK(failed_rows() > 20 && measured_rows() + failed_rows() >= all - 9,
        "%u measured, %u failed of %u", measured_rows(), failed_rows(), all);
  const gpu_kernel &last = found.kernels[found.kernel_count - 1];
  CHECK(last.state == GPU_FAILED && std::string(last.why) == "the GPU was lost before",
        "%s: %s", last.name, last.why);
  fake::gpu = fake::state();
}

/* One call after another fails, each a little later than the last. */
void any_failing_call_is_told_and_leaves_nothing(void) {
  long calls, told = 0;
  gpu_plan plan = small_plan();
  plan.rounds = 1;
  plan.patterns = 500;
  measure(plan);
  calls = fake::gpu.calls;
  for (long call = 0; call < calls; call += 1 + call / 3) {
    fake::gpu = fake::state();
    fake::gpu.fail_call = call;
    measure(plan);
    const bool is_told = found.absent[0] != 0 || found.failed || found.note_count > 0;
    bool is_in_a_row = false;
    for (unsigned i = 0; i < found.product_count; ++i) {
      is_in_a_row |= found.products[i].state == GPU_FAILED;
      for (int shape = 0; shape < GPU_VARIANTS; ++shape)
        is_in_a_row |= found.products[i].variants[shape].state == GPU_FAILED;
    }
    told += is_told;
    /* A failed run of one algorithm of several is passed over. */
    CHECK(is_told || is_in_a_row || found.product_count > 0, "call %stride of %stride",
          call, calls);
    check_nothing_is_left("failed call");
  }
  CHECK(told > 20, "%stride of %stride calls", told, calls);
  fake::gpu = fake::state();
}

} // namespace

int main() {
  simt::static_most = mpnum::row_scratch_; /* of rows, which alone have dynamic memory */
#define NAMED(property) \
 { #property, property }
  const struct {
    const char *name;
    void (*property)(void);
  } of_products[] = {NAMED(product_errors_are_those_of_the_formats),
                     NAMED(block_scales_have_the_errors_of_their_formats),
                     NAMED(block_scales_in_another_layout_are_no_result),
                     NAMED(block_scales_need_whole_blocks_and_a_library_that_has_them),
                     NAMED(other_results_sums_and_batches_are_products),
                     NAMED(steps_have_both_gradients),
                     NAMED(sizes_that_cublaslt_lacks_are_unsupported),
                     NAMED(old_gpus_lack_formats),
                     NAMED(a_product_that_is_not_one_is_no_result)};
  TAP_RUN(two_schedules_measure_everything);
  TAP_RUN(conversions_match_and_count_what_they_checked);
  TAP_RUN(reductions_match);
  TAP_RUN(limits_are_those_of_the_best_shape);
  TAP_RUN(nvfp4_codes_lie_low_nibble_first);
  TAP_RUN(mxfp8_scales_are_those_of_the_ocp);
  TAP_RUN(scales_lie_in_tiles);
  for (const auto &test : of_products) {
    if (library()) {
      tap_run(test.name, test.property);
    } else {
      TAP_SKIP(test.name, last_note().c_str());
    }
  }
  TAP_RUN(every_launcher_has_the_hosts_results);
  TAP_RUN(little_memory_shrinks_or_skips);
  TAP_RUN(absence_is_told);
  TAP_RUN(clocks_are_those_of_nvml);
  TAP_RUN(another_gpu_is_measured_or_absent);
  TAP_RUN(a_failing_row_fails_alone);
  TAP_RUN(any_failing_call_is_told_and_leaves_nothing);
  return tap_done();
}
