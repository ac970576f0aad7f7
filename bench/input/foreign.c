/* SPDX-License-Identifier: MIT */
#include "input.h"

static const char from_torch[] =
    "  import torch; from safetensors.torch import save_file\n"
    "  state = torch.load('model.pt', map_location='cpu', weights_only=True)\n"
    "  save_file({k: v.contiguous().clone() for k, v in state.items()}, "
    "'model.safetensors')\n";
static const char from_onnx[] =
    "  from onnx import load, numpy_helper; from safetensors.numpy import save_file\n"
    "  tensors = load('model.onnx').graph.initializer\n"
    "  save_file({t.name: numpy_helper.to_array(t) for t in tensors}, "
    "'model.safetensors')\n";

static const struct {
  const char *ending, *what, *advice;
} foreign[] = {
    {".pt", "a pickle of PyTorch", from_torch},
    {".pth", "a pickle of PyTorch", from_torch},
    {".bin", "a pickle of PyTorch", from_torch},
    {".onnx", "a graph of ONNX", from_onnx},
};

bool refuse_foreign(const char *path, refusal *why) {
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; ++i) {
    if (!ends_in(path, foreign[i].ending)) continue;
    refuse(why, "is %s, which is not read; this Python makes a file of it that is:",
           foreign[i].what);
    why->advice = foreign[i].advice;
    return true;
  }
  return false;
}
