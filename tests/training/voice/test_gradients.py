"""Gradients of the voices' networks: at half precision, and of the larger of two maps."""

import pytest
import torch

from forensix.models.architectures.lcnn import MaxFeatureMap, build


@pytest.mark.usefixtures("sixteen_bits")
def test_half_precision_gives_nearly_the_same_gradients() -> None:
    torch.manual_seed(0)
    network = build(channels=((8, 8),), n_bands=40, n_hidden=8, dropout=0.0).members[0].eval()
    waves = 0.05 * torch.randn(4, 8_000, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", torch.bfloat16):
        network(waves).sum().backward()
    halved = network.trunk[0].conv.weight.grad.clone()
    network.zero_grad()
    network(waves).sum().backward()
    whole = network.trunk[0].conv.weight.grad
    assert torch.nn.functional.cosine_similarity(halved.flatten(), whole.flatten(), dim=0) > 0.99
    assert not torch.equal(halved, whole)


def test_the_larger_of_two_maps_gets_the_gradient() -> None:
    one = MaxFeatureMap(1, 2, 1).eval()
    with torch.no_grad():
        one.conv.weight.copy_(torch.tensor([1.0, -1.0, 2.0, 3.0]).view(4, 1, 1, 1))
        one.conv.bias.zero_()
    x = torch.tensor([1.0, -1.0]).view(1, 1, 1, 2).requires_grad_()
    out = one(x)
    # Maps x and -x against 2x and 3x: the larger at 1 and at -1.
    assert out.flatten().tolist() == pytest.approx([2, -1, 3, 1], rel=1e-4)
    out.sum().backward()
    assert x.grad is not None and x.grad.flatten().tolist() == pytest.approx([5, 0], abs=1e-4)
