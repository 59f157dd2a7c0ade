"""The backbone is EfficientNet-Lite as timm has it: the same names, and the same numbers to the last bit."""

import pytest
import timm
import torch

from forensix.models.architectures.efficientnet import CHANNELS, Backbone


@pytest.mark.parametrize("variant", CHANNELS)
@pytest.mark.parametrize("shape", [(64, 64), (75, 98)], ids=["even", "odd"])
@torch.inference_mode()
def test_every_stage_says_what_timms_says(variant, shape):
    torch.manual_seed(0)
    reference = timm.create_model(f"tf_efficientnet_{variant}", pretrained=False).eval()
    for module in reference.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.5, 2)
    backbone = Backbone(variant, range(7)).eval()
    head = ("conv_head.", "bn2.", "classifier.")
    backbone.load_state_dict({key: x for key, x in reference.state_dict().items() if not key.startswith(head)})
    x = torch.randn(2, 3, *shape)
    expected = reference.bn1(reference.conv_stem(x))
    for stage, inputs in zip(reference.blocks, backbone(x), strict=True):
        expected = stage(expected)
        assert torch.equal(inputs, expected)
