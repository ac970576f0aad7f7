/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* NVML's numbers, from its reference manual; no header of it is needed. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };
typedef void *device;

typedef struct nvml {
  int (*start)(void);
  int (*stop)(void);
  int (*find)(const char *bus, device *found);
  int (*clock)(device of, int kind, unsigned *mhz);
  int (*clock_limit)(device of, int kind, unsigned *mhz);
  int (*power)(device of, unsigned *milliwatts);
  int (*power_limit)(device of, unsigned *milliwatts);
  int (*temperature)(device of, int kind, unsigned *celsius);
  int (*reasons)(device of, unsigned long long *bits);
} nvml;

void nvml_reasons(char *dst, size_t size, unsigned long long bits) {
  static const struct {
    unsigned long long bit;
    const char *words;
  } known[] = {{0x1, "idle"},
               {0x2, "clocks set by an application"},
               {0x4, "power cap"},
               {0x8, "hardware slowdown"},
               {0x10, "sync boost"},
               {0x20, "heat, by the driver"},
               {0x40, "heat, by the hardware"},
               {0x80, "power brake"},
               {0x100, "clocks of a display"}};
  size_t i, used = 0;
  snprintf(dst, size, "none");
  for (i = 0; i < sizeof known / sizeof *known; ++i) {
    if (!(bits & known[i].bit) || used >= size) continue;
    used += (size_t)snprintf(dst + used, size - used, "%s%s", used ? ", " : "",
                             known[i].words);
  }
  if (bits >> 9 && used < size)
    snprintf(dst + used, size - used, "%sothers", used ? ", " : "");
}

/* ISO C has no cast from an object to a function. What is absent stays NULL. */
static void find(void *file, const char *name, void *function) {
  void *found = dlsym(file, name);
  memcpy(function, &found, sizeof found);
}

static void find_all(void *file, nvml *made) {
  memset(made, 0, sizeof *made);
  find(file, "nvmlInit_v2", &made->start);
  find(file, "nvmlShutdown", &made->stop);
  find(file, "nvmlDeviceGetHandleByPciBusId_v2", &made->find);
  find(file, "nvmlDeviceGetClockInfo", &made->clock);
  find(file, "nvmlDeviceGetMaxClockInfo", &made->clock_limit);
  find(file, "nvmlDeviceGetPowerUsage", &made->power);
  find(file, "nvmlDeviceGetEnforcedPowerLimit", &made->power_limit);
  find(file, "nvmlDeviceGetTemperature", &made->temperature);
  find(file, "nvmlDeviceGetCurrentClocksThrottleReasons", &made->reasons);
}

static double of_kind(int (*ask)(device, int, unsigned *), device of, int kind) {
  unsigned found;
  return ask && ask(of, kind, &found) == 0 ? (double)found : (double)NAN;
}

static double watts(int (*ask)(device, unsigned *), device of) {
  unsigned found;
  return ask && ask(of, &found) == 0 ? found / 1000.0 : (double)NAN;
}

static void read_device(const nvml *from, device of, gpu_clocks *to) {
  unsigned long long bits;
  to->sm = of_kind(from->clock, of, CLOCK_SM);
  to->sm_limit = of_kind(from->clock_limit, of, CLOCK_SM);
  to->memory = of_kind(from->clock, of, CLOCK_MEMORY);
  to->memory_limit = of_kind(from->clock_limit, of, CLOCK_MEMORY);
  to->power = watts(from->power, of);
  to->power_limit = watts(from->power_limit, of);
  to->celsius = of_kind(from->temperature, of, TEMPERATURE_GPU);
  if (from->reasons && from->reasons(of, &bits) == 0)
    nvml_reasons(to->reasons, sizeof to->reasons, bits);
}

void nvml_read(gpu_clocks *clocks, const char *bus, void (*begin)(void *context),
               void *context) {
  void *file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  nvml calls;
  device found;
  memset(clocks, 0, sizeof *clocks);
  if (!file) {
    snprintf(clocks->missing, sizeof clocks->missing, "libnvidia-ml.so.1 was not found");
    return;
  }
  find_all(file, &calls);
  if (!calls.start || !calls.stop || !calls.find || calls.start() != 0) {
    snprintf(clocks->missing, sizeof clocks->missing, "NVML does not start");
  } else {
    if (calls.find(bus, &found) == 0) {
      if (begin) begin(context);
      read_device(&calls, found, clocks);
    } else {
      snprintf(clocks->missing, sizeof clocks->missing, "NVML knows no GPU %s", bus);
    }
    calls.stop();
  }
  dlclose(file);
}
