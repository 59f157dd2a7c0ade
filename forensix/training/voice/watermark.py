"""Write the PerTh mark into speech, as Resemble's generators do, so that the reader can be measured and tested.

The encoder's weights come from the same wheel as the decoder's; see `forensix.voice.watermark`.
"""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import resample_poly
from torch import nn

from forensix.voice import watermark


@cache
def _encoder() -> nn.ModuleList:
    state = watermark.perth_state()
    layers = nn.ModuleList()
    for i in range(7):
        weight = state[f"encoder.layers.{i}.conv.weight"]
        layer = nn.Conv1d(weight.shape[1], weight.shape[0], weight.shape[2], padding=weight.shape[2] // 2)
        layer.load_state_dict({"weight": weight, "bias": state[f"encoder.layers.{i}.conv.bias"]}, strict=True)
        layers.append(layer)
    return layers.eval()


def mark(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return marked speech, mono 16 kHz floats, as long as what came in.

    Raises
    ------
    MissingExtra
        The wheel ``resemble-perth`` is not installed.
    """
    layers = _encoder()
    doubled = torch.from_numpy(resample_poly(samples, 2, 1).astype(np.float32))
    levels, spectrum = watermark.levels_and_spectrum(doubled)
    with torch.inference_mode():
        total = levels.sum(dim=0)
        loud = (total > watermark.LOUD * total.max()).float()
        x = levels[None, : watermark.N_BANDS]
        for layer in layers[:-1]:
            x = nn.functional.leaky_relu(layer(x))
        levels[: watermark.N_BANDS] += layers[-1](x)[0] * loud
        span_db = watermark.CEILING_DB - watermark.FLOOR_DB
        spectrum = torch.polar(10 ** ((levels * span_db + watermark.FLOOR_DB) / 20), spectrum.angle())
        window = torch.hann_window(watermark.N_FFT)
        marked = torch.istft(spectrum, watermark.N_FFT, watermark.HOP, window=window, length=len(doubled))
    return np.asarray(resample_poly(marked.numpy(), 1, 2)[: len(samples)], np.float32)
