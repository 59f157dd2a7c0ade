"""Depthwise convolutions that train fast in bfloat16 on a processor.

There two of their gradients are many times slower than in float32: that of the input where the stride is 2, and that of
the weights of 5 x 5 kernels. They alone are computed in float32; with this a step of EfficientNet-Lite0 takes six
tenths of the time.
"""

import types
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_SLOW_KERNEL_PX = 5


class _Depthwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
        x, ctx.kind = x.bfloat16(), weight.dtype
        ctx.save_for_backward(x, weight)
        ctx.stride, ctx.padding = stride, padding
        return functional.conv2d(x, weight.bfloat16(), None, stride, padding, 1, x.shape[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        x, weight = ctx.saved_tensors
        exact = ctx.stride > 1, weight.shape[-1] >= _SLOW_KERNEL_PX
        of_x = _gradients(ctx, grad, x, weight, torch.float32 if exact[0] else torch.bfloat16, (True, False, False))[0]
        of_w = _gradients(ctx, grad, x, weight, torch.float32 if exact[1] else torch.bfloat16, (False, True, False))[1]
        return of_x.bfloat16(), of_w.to(ctx.kind), None, None


def _gradients(
    ctx: Any, grad: Tensor, x: Tensor, weight: Tensor, kind: torch.dtype, wanted: tuple[bool, bool, bool]
) -> tuple[Tensor, Tensor, Tensor]:
    stride, padding = [ctx.stride] * 2, [ctx.padding] * 2
    out: tuple[Tensor, Tensor, Tensor] = torch.ops.aten.convolution_backward(
        grad.to(kind), x.to(kind), weight.to(kind), None, stride, padding, [1, 1], False, [0, 0], x.shape[1], wanted
    )
    return out


def _forward(self: nn.Conv2d, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out: Tensor = _Depthwise.apply(x, weight, self.stride[0], int(self.padding[0]))  # type: ignore[no-untyped-call]
    return out


def quicken(network: nn.Module) -> None:
    """Make a network's depthwise convolutions without bias compute in bfloat16, with gradients that are fast."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d) and module.groups == module.in_channels > 1 and module.bias is None:
            module._conv_forward = types.MethodType(_forward, module)  # type: ignore[method-assign]
