"""The picture network: what places add up to, and faster inference."""

import pytest
import torch

from forensix.models.architectures.efficientnet import Backbone, fuse
from forensix.models.architectures.pictures import (
    CELLS,
    DETAIL_GAIN,
    FAINT_GAIN,
    N_FAINT,
    N_STATISTICS,
    N_WHOLE,
    SQUARE,
    WINDOW,
    build,
    fine_detail,
)


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
    assert logits.shape == (2, 2) and statistics.shape == (2, N_STATISTICS)
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


@torch.inference_mode()
def test_fine_detail_is_what_smoothing_takes_away():
    flat = torch.full((1, 3, 16, 16), 0.3)
    assert torch.allclose(fine_detail(flat), torch.zeros_like(flat), atol=1e-5)
    dot = flat.clone()
    dot[0, 1, 8, 8] += 0.04
    detail = fine_detail(dot)[0]
    assert detail[1, 8, 8] == pytest.approx(0.04 * 0.75 * DETAIL_GAIN, abs=1e-5)
    assert detail[1, 8, 9] == pytest.approx(-0.04 * 0.125 * DETAIL_GAIN, abs=1e-5)
    assert detail[0].abs().max() < 1e-5 and fine_detail(torch.randn(1, 3, 16, 16)).abs().max() == 1


@torch.inference_mode()
def test_fine_detail_has_statistics_of_its_own(network):
    x = torch.rand(1, 3, 96, 96)
    _, statistics = network(x)
    # A plane added to the picture changes what it is like, and no detail away from its edges.
    _, other = network(x * 0.999 + 0.3)
    whole, detail = (statistics - other)[0].abs().split([N_WHOLE, N_STATISTICS - N_WHOLE])
    assert whole.max() > 10 * detail.max()


@torch.inference_mode()
def test_the_faintest_detail_shows_in_the_last_statistics_alone(network):
    flat = torch.full((1, 3, 96, 96), 0.3)
    faint = flat + 1e-4 * torch.randn(1, 3, 96, 96)
    strong = (flat + 0.4 * torch.randn(1, 3, 96, 96)).clamp(-1, 1)
    assert fine_detail(strong, FAINT_GAIN).abs().median() == 1, "what is strong is cut off"
    _, without = network(flat)
    _, some = network(faint)
    whole, faintest = (some - without)[0].abs().split([N_STATISTICS - N_FAINT, N_FAINT])
    assert faintest.max() > whole.max() > 0
