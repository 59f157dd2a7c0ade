"""Depthwise convolutions that compute some gradients otherwise compute the same."""

import copy

import pytest
import torch
from torch import nn

from forensix.training.depthwise import quicken


@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (5, 1), (5, 2)])
def test_outputs_and_gradients_are_those_of_torch(kernel: int, stride: int) -> None:
    torch.manual_seed(0)
    slow = nn.Sequential(nn.Conv2d(8, 8, kernel, stride, kernel // 2, groups=8, bias=False))
    quick = copy.deepcopy(slow)
    quicken(quick)
    x = torch.randn(2, 8, 13, 13)
    gradients = []
    for network in (slow, quick):
        given = x.clone().requires_grad_()
        network(given).float().square().mean().backward()
        gradients.append((given.grad, network[0].weight.grad))
    torch.testing.assert_close(quick(x).float(), slow(x), atol=0.03, rtol=0.03)
    for expected, actual in zip(*gradients, strict=True):
        assert torch.cosine_similarity(expected.flatten(), actual.flatten(), dim=0) > 0.999


def test_others_are_left_alone() -> None:
    network = nn.Sequential(nn.Conv2d(4, 8, 3), nn.Conv2d(8, 8, 3, groups=8))
    before = [module._conv_forward for module in network]
    quicken(network)
    assert [module._conv_forward for module in network] == before
