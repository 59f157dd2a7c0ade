"""The picture network: what places add up to, and faster inference."""

import pytest
import torch

from forensix.models.architectures.efficientnet import Backbone, fuse
from forensix.models.architectures.pictures import CELLS, SQUARE, WINDOW, build


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    network = build().eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return network


@torch.inference_mode()
def test_evidence_is_a_grid_whose_mean_is_the_logit(network):
    x = torch.randn(2, 3, 224, 224)
    logits, statistics = network(x)
    assert logits.shape == (2, 2) and statistics.shape == (2, 1872)
    for output in (WINDOW, SQUARE):
        evidence = network.evidence(x, output)
        assert evidence.shape == (2, CELLS, CELLS) and evidence.std() > 0
        assert torch.allclose(evidence.mean((1, 2)), logits[:, output], atol=1e-3)


@torch.inference_mode()
def test_fused_networks_say_the_same():
    torch.manual_seed(1)
    backbone = Backbone().eval()
    for module in backbone.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    x = torch.randn(1, 3, 96, 128)
    before = backbone(x)
    fuse(backbone)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in backbone.modules())
    for first, other in zip(before, backbone(x), strict=True):
        assert torch.allclose(first, other, atol=1e-4 * float(first.abs().max()))
