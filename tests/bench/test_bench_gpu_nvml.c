/* SPDX-License-Identifier: MIT */
/* A small libnvidia-ml.so.1 for test_bench_gpu_device.cpp. It knows one GPU, that of
 * test_bench_gpu_runtime.hpp; its fault makes it know none, not start, or lack clocks. */
#include <string.h>

extern const char *fake_nvml_fault;
extern int fake_nvml_users;
const char *fake_nvml_fault = "";
int fake_nvml_users;

enum { GOOD = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, UNKNOWN = 999 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *celsius);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);

static int has(const char *fault) { return strcmp(fake_nvml_fault, fault) == 0; }

int nvmlInit_v2(void) {
  if (has("start")) return UNKNOWN;
  ++fake_nvml_users;
  return GOOD;
}
int nvmlShutdown(void) {
  --fake_nvml_users;
  return GOOD;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  *device = &fake_nvml_users;
  return has("none") || strcmp(bus, "0000:01:00.0") != 0 ? NOT_FOUND : GOOD;
}
static int clocks(void *device, int kind, unsigned *mhz, unsigned sm, unsigned memory) {
  if (device != &fake_nvml_users || has("clocks")) return NOT_SUPPORTED;
  *mhz = kind == 1 ? sm : kind == 2 ? memory : 1;
  return GOOD;
}
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
  return clocks(device, kind, mhz, 1700, 2600);
}
int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz) {
  return clocks(device, kind, mhz, 1980, 2619);
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 612500;
  return device == &fake_nvml_users ? GOOD : UNKNOWN;
}
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
  *milliwatts = 700000;
  return device == &fake_nvml_users ? GOOD : UNKNOWN;
}
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *celsius) {
  *celsius = 64;
  return device == &fake_nvml_users && kind == 0 ? GOOD : UNKNOWN;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits) {
  *bits = 0x24;
  return device == &fake_nvml_users ? GOOD : UNKNOWN;
}
