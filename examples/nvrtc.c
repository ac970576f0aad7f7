/* SPDX-License-Identifier: MIT */
/* Compiles a kernel that includes mpnum while the program runs, and prints the PTX:
 *
 *     nvrtc INCLUDE_FOLDER [ARCHITECTURE]      (compute_90 if none is named)
 *
 * NVRTC needs no GPU, no driver and no include folder but mpnum's; it opens its builtins
 * library by name, so LD_LIBRARY_PATH names the toolkit's libraries where the system does
 * not know them. Load the PTX with cuModuleLoadData and launch the kernel by its name. */
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "#include <mpnum/mpnum.h>\n"
    "extern \"C\" __global__ void quantize(mpnum_e4m3 *dst, const float *src, float "
    "scale,\n"
    "                                    int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) dst[i] = mpnum_f32_to_e4m3_sat(src[i] * scale);\n"
    "}\n";

static void stop_on(nvrtcResult result, const char *call) {
  if (result == NVRTC_SUCCESS) return;
  fprintf(stderr, "nvrtc: %s: %s\n", call, nvrtcGetErrorString(result));
  exit(1);
}

int main(int count, char **arguments) {
  const char *options[2];
  char include[4096], architecture[64];
  nvrtcProgram program;
  nvrtcResult compiled;
  size_t size = 0;
  char *text = NULL;
  if (count < 2 || count > 3 ||
      snprintf(include, sizeof include, "--include-path=%s", arguments[1]) >=
          (int)sizeof include) {
    fprintf(stderr, "usage: nvrtc INCLUDE_FOLDER [ARCHITECTURE]\n");
    return 2;
  }
  snprintf(architecture, sizeof architecture, "--gpu-architecture=%s",
           count == 3 ? arguments[2] : "compute_90");
  options[0] = include;
  options[1] = architecture;

  stop_on(nvrtcCreateProgram(&program, source, "quantize.cu", 0, NULL, NULL), "create");
  compiled = nvrtcCompileProgram(program, 2, options);
  stop_on(nvrtcGetProgramLogSize(program, &size), "log size");
  text = (char *)malloc(size + 1);
  if (!text) return 1;
  stop_on(nvrtcGetProgramLog(program, text), "log");
  if (size > 1) fprintf(stderr, "%s\n", text);
  free(text);
  stop_on(compiled, "compile");

  stop_on(nvrtcGetPTXSize(program, &size), "PTX size");
  text = (char *)malloc(size);
  if (!text) return 1;
  stop_on(nvrtcGetPTX(program, text), "PTX");
  fputs(text, stdout);
  free(text);
  stop_on(nvrtcDestroyProgram(&program), "destroy");
  return 0;
}
