"""The network that learnt how speech sounds: its parts are what they are called, and it hears what it should."""

import math

import pytest
import torch
from torch import nn

from forensix.errors import MissingExtra
from forensix.models.architectures.quality import (
    HEADS,
    LONGEST,
    WIDTH,
    Layer,
    QualitySpoof,
    QualityTrunk,
    compressed_spectrum,
)
from forensix.models.architectures.voices import build
from forensix.training.voice import pretrained

RATE_HZ = 16_000
EXPECTED = (
    (-0.54618, -0.85404, 0.23601, 0.20497),
    (-0.55654, -1.03099, 0.08898, 0.23137),
    (-0.84610, -0.55345, 0.13424, -0.57725),
)
"""What `distillmos` 0.9.1 with `xls-r-sqa` 0.1.0 says after its last layer, see the last test."""
LIGHT = {"channels": ((4, 4), (4, 4)), "n_bands": 40, "n_hidden": 8}


def tone(hz: float, seconds: float = 0.5) -> torch.Tensor:
    return 0.05 * torch.sin(2 * math.pi * hz * torch.arange(int(seconds * RATE_HZ)) / RATE_HZ)[None]


def test_magnitudes_are_compressed_and_phases_kept() -> None:
    quiet, loud = (compressed_spectrum(k * tone(1_000.0))[:, :, 20, 10:40] for k in (1.0, 8.0))
    torch.testing.assert_close(loud, quiet * 8**0.3)
    late = compressed_spectrum(tone(1_000.0).roll(4, 1))[:, :, 20, 10:40]
    # Four samples are a quarter of a turn at 1 kHz.
    torch.testing.assert_close(late, torch.stack([quiet[:, 1], -quiet[:, 0]], 1), atol=1e-3, rtol=1e-3)


def test_a_layer_is_torch_s_own() -> None:
    torch.manual_seed(0)
    ours, theirs = Layer(), nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, dropout=0.0, batch_first=True)
    ours.load_state_dict(dict(zip(ours.state_dict(), _in_our_order(theirs), strict=True)))
    x = torch.randn(2, 30, WIDTH)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-5)


def _in_our_order(layer: nn.TransformerEncoderLayer) -> list[torch.Tensor]:
    parts = (layer.self_attn.out_proj, layer.linear1, layer.linear2, layer.norm1, layer.norm2)
    own = [layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias]
    return [*own, *(value for part in parts for value in (part.weight, part.bias))]


def test_nothing_above_7_2_khz_is_seen() -> None:
    torch.manual_seed(0)
    network = QualitySpoof().eval()
    with torch.inference_mode():
        noise = 0.05 * torch.randn(1, 8_000)
        plain, hissing, humming = (network(noise + other) for other in (0, tone(7_700.0), tone(3_000.0)))
    assert (hissing - plain).abs() < 0.05 * (humming - plain).abs()


def test_a_trunk_takes_up_to_its_longest() -> None:
    with torch.inference_mode():
        last = QualityTrunk(1).eval()(compressed_spectrum(torch.randn(1, LONGEST)))[-1]
    assert last.shape == (1, LONGEST // 320, WIDTH)


def test_the_logit_is_the_weighted_mean_of_both_kinds() -> None:
    torch.manual_seed(0)
    both = build(share=0.25, n_layers=1, **LIGHT).eval()
    waves = torch.randn(2, 8_000)
    with torch.inference_mode():
        apart = [item(waves) for item in (*both.light.members, both.quality)]
        torch.testing.assert_close(both(waves), 0.375 * (apart[0] + apart[1]) + 0.25 * apart[2])


def test_weights_that_are_not_there_or_not_those_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "SHA256", "0" * 64)
    with pytest.raises(MissingExtra, match="pip install --no-deps distillmos"):
        pretrained.load_quality(QualityTrunk(1))


def test_the_pretrained_weights_say_what_they_say_in_their_authors_code() -> None:
    trunk = QualityTrunk(7).eval()
    try:
        pretrained.load_quality(trunk)
    except MissingExtra:
        pytest.skip("the wheel is not installed")
    at_s = torch.arange(LONGEST) / RATE_HZ
    noise = torch.randn(LONGEST, generator=torch.Generator().manual_seed(0))
    wave = 0.3 * torch.sin(2 * math.pi * 220 * at_s) * torch.sin(math.pi * at_s) + 0.05 * noise
    with torch.inference_mode():
        last = trunk(compressed_spectrum(wave[None] / wave.abs().max()))[-1]
    torch.testing.assert_close(last[0, [50, 200, 333], :4], torch.tensor(EXPECTED), atol=1e-3, rtol=0)
