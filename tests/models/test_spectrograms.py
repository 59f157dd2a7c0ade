"""The network that looks at spectrograms: what it is shown, and how its logit is put together."""

import math

import pytest
import torch

from forensix.models.architectures.efficientnet import statistics
from forensix.models.architectures.spectrograms import N_STATISTICS, RESOLUTIONS, Spectrograms, spectrogram
from forensix.models.architectures.voices import build

RATE_HZ = 16_000
LIGHT = {"channels": ((4, 4), (4, 4)), "n_bands": 40, "n_hidden": 8}


def tone(hz: float, seconds: float = 0.5) -> torch.Tensor:
    return 0.05 * torch.sin(2 * math.pi * hz * torch.arange(int(seconds * RATE_HZ)) / RATE_HZ)[None]


@pytest.mark.parametrize(("window", "hop"), RESOLUTIONS)
def test_a_tone_is_a_bright_line_at_its_height(window: int, hop: int) -> None:
    noise = 1e-3 * torch.randn(1, RATE_HZ // 2, generator=torch.Generator().manual_seed(0))
    low, high = (spectrogram(tone(hz) + noise, window, hop)[0].mean(1) for hz in (500.0, 6_000.0))
    bins = len(low)
    assert bins == 7_200 * window // RATE_HZ
    # Neighbours of the loudest bin may be white as well.
    heights = [bins - int(x.argmax()) for x in (low, high)]
    assert heights == pytest.approx([hz * window / RATE_HZ for hz in (500, 6_000)], abs=1)
    assert low.max() > 0.9 and low.min() >= -1


@pytest.mark.parametrize(("window", "hop"), RESOLUTIONS)
def test_loudness_is_not_seen(window: int, hop: int) -> None:
    noise = 0.05 * torch.randn(2, 8_000, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(spectrogram(noise, window, hop), spectrogram(4 * noise, window, hop), atol=2e-3, rtol=0)


def test_nothing_above_7_2_khz_is_seen() -> None:
    torch.manual_seed(0)
    network = Spectrograms().eval()
    with torch.inference_mode():
        noise = 0.05 * torch.randn(1, 8_000)
        plain, hissing, humming = (network(noise + other) for other in (0, tone(7_700.0), tone(3_000.0)))
    assert (hissing - plain).abs() < 0.05 * (humming - plain).abs()


def test_low_and_high_frequencies_are_reduced_apart() -> None:
    torch.manual_seed(0)
    network = Spectrograms().eval()
    waves = torch.randn(2, 8_000)
    with torch.inference_mode():
        both = network.statistics(waves)
        maps = network.backbone(spectrogram(waves, *RESOLUTIONS[0])[:, None].expand(-1, 3, -1, -1))
        low = statistics([x[:, :, x.shape[2] // 2 :] for x in maps])
    assert both.shape == (2, len(RESOLUTIONS), N_STATISTICS)
    torch.testing.assert_close(both[:, 0, : N_STATISTICS // 2], low)


def test_the_logit_is_the_weighted_mean_of_both_kinds() -> None:
    torch.manual_seed(0)
    both = build(share=0.25, **LIGHT).eval()
    waves = torch.randn(2, 8_000)
    with torch.inference_mode():
        apart = [item(waves) for item in (*both.light.members, both.spectrograms)]
        torch.testing.assert_close(both(waves), 0.375 * (apart[0] + apart[1]) + 0.25 * apart[2])
