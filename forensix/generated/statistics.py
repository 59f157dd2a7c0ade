"""Statistics of a window's residuals, spectrum and colours, in which generated pictures differ from photographs.

Sensors leave noise that grows with light and that demosaicing spreads over the channels alike; decoders of generators
leave a noise floor of their own, weaker correlation between channels, a different fall of the spectrum and traces of
their upsampling. Every figure is a plain number that says what it measures; a classifier weighs them. They fail where
compression or scaling has replaced the traces.

References
----------
J. Fridrich and J. Kodovsky, "Rich models for steganalysis of digital images", 2012; J. Frank et al., "Leveraging
frequency analysis for deep fake image recognition", ICML 2020; R. Corvi et al., "Intriguing properties of synthetic
images", CVPRW 2023.
"""

import numpy as np
from numpy.typing import NDArray

RGB = NDArray[np.uint8]
Plane = NDArray[np.float32]

BLOCK_PX = 32
N_RADII = 12
_TINY = 1e-3


def _haar(x: Plane) -> tuple[Plane, Plane, Plane, Plane]:
    a, b, c, d = x[::2, ::2], x[::2, 1::2], x[1::2, ::2], x[1::2, 1::2]
    half, quarter = np.float32(0.5), np.float32(0.25)
    return (a + b + c + d) * quarter, (a - b + c - d) * half, (a + b - c - d) * half, (a - b - c + d) * half


def _corr(a: Plane, b: Plane) -> float:
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).mean() / np.sqrt((a * a).mean() * (b * b).mean() + _TINY**2))


def _log_std(x: Plane) -> float:
    return float(np.log(x.std() + _TINY * 10))


def _shape(x: Plane) -> tuple[float, float]:
    """Return log of mean absolute over standard deviation, and log kurtosis: how heavy the tails are."""
    x = x - x.mean()
    variance = float((x * x).mean()) + _TINY
    return float(np.log((np.abs(x).mean() + _TINY) / variance**0.5)), float(np.log((x**4).mean() / variance**2 + 0.1))


def _scales(rgb: Plane, grey: Plane) -> dict[str, float]:
    found: dict[str, float] = {}
    level: Plane = grey
    channels = [rgb[..., i] for i in range(3)]
    energies = []
    for scale in (1, 2, 3):
        level, h, v, d = _haar(level)
        energies.append((_log_std(h), _log_std(v), _log_std(d)))
        found[f"diagonal_{scale}"] = energies[-1][2] - (energies[-1][0] + energies[-1][1]) / 2
        found[f"tails_{scale}"], found[f"kurtosis_{scale}"] = _shape(d)
        found[f"edge_tails_{scale}"], found[f"edge_kurtosis_{scale}"] = _shape(h)
        bands = [_haar(c) for c in channels]
        channels = [b[0] for b in bands]
        for name, i, j in (("rg", 0, 1), ("gb", 1, 2), ("rb", 0, 2)):
            found[f"corr_{name}_{scale}"] = _corr(bands[i][3], bands[j][3])
            found[f"edge_corr_{name}_{scale}"] = _corr(bands[i][1], bands[j][1])
        logs = [_log_std(b[3]) for b in bands]
        found[f"red_over_green_{scale}"] = logs[0] - logs[1]
        found[f"blue_over_green_{scale}"] = logs[2] - logs[1]
        if scale == 1:
            found["aspect_1"] = energies[0][0] - energies[0][1]
    for i in range(3):
        found[f"slope_12_{i}"] = energies[0][i] - energies[1][i]
        found[f"slope_23_{i}"] = energies[1][i] - energies[2][i]
    return found


def _noise(grey: Plane) -> dict[str, float]:
    residual = grey[1:-1, 1:-1] * 4 - 2 * (grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:])
    residual = (residual + grey[:-2, :-2] + grey[:-2, 2:] + grey[2:, :-2] + grey[2:, 2:]) / 4
    h, w = (n // 8 * 8 for n in residual.shape)
    blocks = residual[:h, :w].reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3).reshape(-1, 64)
    means = grey[1 : h + 1, 1 : w + 1].reshape(h // 8, 8, w // 8, 8).mean(axis=(1, 3)).ravel()
    logs = np.log(blocks.std(axis=1) + 0.05)
    found = {f"noise_p{p}": float(np.percentile(logs, p)) for p in (5, 25, 50, 75, 95)}
    found["noise_spread"] = found["noise_p75"] - found["noise_p25"]
    found["noise_follows_light"] = _corr(logs.astype(np.float32), means.astype(np.float32))
    quiet = blocks[logs <= np.median(logs)]
    found["quiet_tails"], found["quiet_kurtosis"] = _shape(quiet)
    centred = residual - residual.mean()
    power = float((centred * centred).mean()) + _TINY
    for dy, dx in ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (2, 2), (0, 3), (3, 0), (0, 4), (4, 0), (0, 8), (8, 0)):
        a, b = centred[dy:, dx:], centred[: centred.shape[0] - dy, : centred.shape[1] - dx]
        found[f"lag_{dy}_{dx}"] = float((a * b).mean()) / power
    phases = np.log(np.stack([np.abs(residual[i : h - 8 + i : 8, :w]).mean() for i in range(8)]) + _TINY)
    columns = np.log(np.stack([np.abs(residual[:h, i : w - 8 + i : 8]).mean() for i in range(8)]) + _TINY)
    found["grid_8"] = float(np.log(phases.std() + columns.std() + 0.005))
    found["grid_2"] = float(
        abs(phases[::2].mean() - phases[1::2].mean()) + abs(columns[::2].mean() - columns[1::2].mean())
    )
    step = np.clip(np.round(residual / (np.abs(residual).mean() + _TINY)), -1, 1).astype(np.int8) + 1
    for name, code in (
        ("row", step[:, :-2] * 9 + step[:, 1:-1] * 3 + step[:, 2:]),
        ("column", step[:-2] * 9 + step[1:-1] * 3 + step[2:]),
    ):
        counts = np.bincount(code.ravel(), minlength=27) / code.size
        folded = (counts + counts[::-1]) / 2
        for i in range(14):
            found[f"{name}_pattern_{i}"] = float(np.log(folded[i] + 1e-3))
    return found


def _spectrum(grey: Plane) -> dict[str, float]:
    h, w = (n // BLOCK_PX * BLOCK_PX for n in grey.shape)
    shape = (h // BLOCK_PX, BLOCK_PX, w // BLOCK_PX, BLOCK_PX)
    blocks = grey[:h, :w].reshape(shape).transpose(0, 2, 1, 3).reshape(-1, BLOCK_PX, BLOCK_PX)
    hann = np.hanning(BLOCK_PX).astype(np.float32)
    blocks = (blocks - blocks.mean(axis=(1, 2), keepdims=True)) * hann[:, None] * hann
    power = np.log(np.abs(np.fft.fft2(blocks)) ** 2 + 1.0).mean(axis=0)
    frequency = np.fft.fftfreq(BLOCK_PX)
    radius = np.hypot(frequency[:, None], frequency)
    edges = np.linspace(0.03, 0.7, N_RADII + 1)
    ring = np.digitize(radius, edges) - 1
    means = np.array([power[ring == i].mean() for i in range(N_RADII)])
    found = {f"ring_{i}": float(means[i] - means[i - 1]) for i in range(1, N_RADII)}
    found["fall"] = float(means[2:5].mean() - means[-5:-2].mean())
    half, quarter, eighth = BLOCK_PX // 2, BLOCK_PX // 4, BLOCK_PX // 8
    smooth = (np.roll(power, 2, 0) + np.roll(power, -2, 0) + np.roll(power, 2, 1) + np.roll(power, -2, 1)) / 4
    peaks = power - smooth
    for name, at in (("half", half), ("quarter", quarter), ("eighth", eighth), ("three_eighths", 3 * eighth)):
        found[f"peak_{name}"] = float(peaks[at, at] + peaks[at, 0] + peaks[0, at])
    found["axis"] = float(power[0, half - 4 : half].mean() + power[half - 4 : half, 0].mean()) - 2 * float(means[-4])
    return found


def _colours(rgb: Plane, grey: Plane) -> dict[str, float]:
    high, low = rgb.max(axis=2), rgb.min(axis=2)
    saturation = (high - low) / (high + 16)
    found = {"saturation": float(saturation.mean()), "saturation_spread": float(saturation.std())}
    found["contrast"] = float(np.log(grey.std() + 1))
    found["dark"], found["bright"] = float((low <= 2).mean()), float((high >= 253).mean())
    rg: Plane = rgb[..., 0] - rgb[..., 1]
    yb: Plane = ((rgb[..., 0] + rgb[..., 1]) / 2 - rgb[..., 2]).astype(np.float32)
    found["colour_spread"] = float(np.log(rg.std() + yb.std() + 1))
    for name, plane in (("rg", rg), ("yb", yb)):
        _, h1, v1, d1 = _haar(plane)
        found[f"chroma_{name}"] = _log_std(d1) - _log_std(h1 + v1)
        found[f"chroma_noise_{name}"] = float(np.log(np.median(np.abs(d1)) + 0.1))
    return found


def _channels(rgb: Plane) -> dict[str, float]:
    found: dict[str, float] = {}
    planes = [np.ascontiguousarray(rgb[..., i]) for i in range(3)]
    for scale in (1, 2, 3):
        bands = [_haar(plane) for plane in planes]
        planes = [b[0] for b in bands]
        for k, band in ((1, "h"), (2, "v"), (3, "d")):
            r, g, b = (bands[i][k] - bands[i][k].mean() for i in range(3))
            for name, x, y in (("rg", r, g), ("gb", g, b), ("rb", r, b)):
                found[f"channel_{band}_{name}_{scale}"] = _corr(x, y)
        r, g, b = (bands[i][3].ravel() for i in range(3))
        values = np.linalg.eigvalsh(np.cov(np.stack([r, g, b])).astype(np.float64)) + _TINY
        found[f"channel_least_{scale}"] = float(np.log(values[0] / values[2]))
        found[f"channel_middle_{scale}"] = float(np.log(values[1] / values[2]))
    return found


def describe(rgb: RGB) -> dict[str, float]:
    """Return the statistics of one window by name.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3), both sides at least 64 px and even.
    """
    x = rgb.astype(np.float32)
    grey: Plane = (x @ np.array([0.299, 0.587, 0.114], dtype=np.float32)).astype(np.float32)
    return {**_scales(x, grey), **_noise(grey), **_spectrum(grey), **_colours(x, grey), **_channels(x)}


def vector(rgb: RGB) -> NDArray[np.float32]:
    """Return the statistics of one window as a vector, in the order of `NAMES`."""
    return np.fromiter(describe(rgb).values(), dtype=np.float32)


NAMES = tuple(describe(np.zeros((64, 64, 3), dtype=np.uint8)))
"""Names of the statistics, in the order of `vector`."""

CHANNELS = tuple(i for i, name in enumerate(NAMES) if name.startswith("channel_"))
"""Places of the statistics that say how the channels share their residuals, and nothing else of a picture."""


def channels(rgb: RGB) -> NDArray[np.float32]:
    """Return only the statistics at the places `CHANNELS`, in their order; faster than `vector`."""
    return np.fromiter(_channels(rgb.astype(np.float32)).values(), dtype=np.float32)
