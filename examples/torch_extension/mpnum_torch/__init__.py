# SPDX-License-Identifier: MIT
"""mpnum for PyTorch: tensors of 8 bits with a scale, softmax of rows, a loss scaler that no host reads. Tensors are on a
CPU or on a GPU; operators are safe in torch.compile and, on a GPU, in CUDA graphs."""

import math
from pathlib import Path

import torch

torch.ops.load_library(next(Path(__file__).parent.glob("operators*.so")))
ops = torch.ops.mpnum


# What compilers are told instead of running an operator.
@torch.library.register_fake("mpnum::quantize")
def _(x, scale, dtype):
    return torch.empty(x.shape, dtype=dtype, device=x.device), torch.empty_like(scale.reshape(()))


@torch.library.register_fake("mpnum::dequantize")
def _(codes, scale_inv, dtype):
    return torch.empty(codes.shape, dtype=dtype, device=codes.device)


@torch.library.register_fake("mpnum::softmax")
def _(x, scale):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


@torch.library.register_fake("mpnum::softmax_backward")
def _(gradient, y, scale):
    return torch.empty(y.shape, dtype=y.dtype, device=y.device)


@torch.library.register_fake("mpnum::unscale_")
def _(gradients, state, max_norm):
    return torch.empty((), dtype=torch.float32, device=state.device)


def _softmax_keeps(ctx, inputs, output):
    ctx.scale = inputs[1]
    ctx.save_for_backward(output)


torch.library.register_autograd(
    "mpnum::softmax", lambda ctx, gradient: (ops.softmax_backward(gradient, *ctx.saved_tensors, ctx.scale), None),
    setup_context=_softmax_keeps)


def quantize(x, scale, dtype=torch.float8_e4m3fn):
    """Codes of x * scale, saturating, and the amax of x, Inf and NaN included. scale: one float32 beside x."""
    return ops.quantize(x, scale, dtype)


def dequantize(codes, scale_inv, dtype=torch.float32):
    """Codes times scale_inv."""
    return ops.dequantize(codes, scale_inv, dtype)


def softmax(x, scale=1.0):
    """Softmax of scale * x along the last dimension."""
    return ops.softmax(x, scale)


class _Round8(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, gradient_scale):
        ctx.save_for_backward(gradient_scale)
        codes, amax = quantize(x, scale, torch.float8_e4m3fn)
        ctx.mark_non_differentiable(amax)
        return dequantize(codes, scale.reciprocal(), x.dtype), amax

    @staticmethod
    def backward(ctx, gradient, _):
        scale, = ctx.saved_tensors
        codes, _ = quantize(gradient, scale, torch.float8_e5m2)
        return dequantize(codes, scale.reciprocal(), gradient.dtype), None, None


def round8(x, scale, gradient_scale):
    """x as a product of e4m3 sees it, its gradient as one of e5m2 does, and the amax of x."""
    return _Round8.apply(x, scale, gradient_scale)


class GradScaler:
    """torch.amp.GradScaler for one optimizer, with all of its state in a tensor that no host reads: a step may be
    captured in a CUDA graph. The optimizer takes found_inf, as those of torch.optim with fused=True do."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000):
        self.state = ops.scaler_state(init_scale, growth_factor, backoff_factor, growth_interval).to(device)
        scale, applied, skipped = ops.scaler_offsets()
        self._scale = self.state[scale:scale + 4].view(torch.float32).reshape(())
        self._applied = self.state[applied:applied + 8].view(torch.int64).reshape(())
        self._skipped = self.state[skipped:skipped + 8].view(torch.int64).reshape(())

    def scale(self, loss):
        return loss * self._scale

    def step(self, optimizer, max_norm=math.inf):
        """Divides all gradients by the scale, clips them to max_norm, and steps unless one of them is Inf or NaN."""
        groups = optimizer.param_groups
        if not all(group.get("fused") for group in groups):
            raise ValueError("the optimizer has to take found_inf: make it with fused=True")
        gradients = [p.grad for group in groups for p in group["params"] if p.grad is not None]
        optimizer.found_inf = ops.unscale_(gradients, self.state, max_norm)
        try:
            return optimizer.step()
        finally:
            del optimizer.found_inf

    def get_scale(self):
        """The scale, for people: it waits for the device."""
        return self._scale.item()

    def counts(self):
        """Steps applied and skipped; it waits for the device."""
        return self._applied.item(), self._skipped.item()

    def state_dict(self):
        return {"state": self.state.cpu()}

    def load_state_dict(self, saved):
        self.state.copy_(saved["state"])
