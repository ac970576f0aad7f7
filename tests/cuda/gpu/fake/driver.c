/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 for tests of what asks the driver. FAKE_DRIVER: "VERSION CAPABILITY
 * NAME", as "13000 90 Fake GPU"; "none": no GPU; "broken": it does not start; "stuck": it
 * does not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int index);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetAttribute(int *value, int which, int device);
int cuGetErrorString(int error, const char **text);

static const char *plan(void) {
  const char *text = getenv("FAKE_DRIVER");
  return text ? text : "none";
}

int cuInit(unsigned flags) {
  (void)flags;
  while (strcmp(plan(), "stuck") == 0)
    sleep(1);
  return strcmp(plan(), "none") == 0 ? 100 : strcmp(plan(), "broken") == 0 ? 803 : 0;
}
int cuDriverGetVersion(int *version) {
  *version = atoi(plan());
  return 0;
}
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int *device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  int start = 0;
  (void)device;
  sscanf(plan(), "%*d %*d %n", &start);
  snprintf(name, (size_t)size, "%s", plan() + start);
  return 0;
}
int cuDeviceGetAttribute(int *value, int which, int device) {
  int capability = 0;
  (void)device;
  sscanf(plan(), "%*d %d", &capability);
  *value = which == 75 ? capability / 10 : capability % 10;
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  *text = error == 803 ? "system has unsupported display driver / cuda driver combination"
                       : "unknown";
  return 0;
}
