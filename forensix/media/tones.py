"""HDR as an SDR screen shows it: PQ and HLG to the usual 8 bits; runs in the sandbox.

Light is reckoned as it leaves a screen, for HLG one of 1000 cd/m²; the 203 cd/m² of a white page become ordinary white.
Brighter light is drawn together below it, each colour by itself, and colours that an SDR screen lacks are cut off. What
a grader would have made of the scene is not known: highlights hold less than a version that was made for SDR.

References
----------
Recommendations ITU-R BT.2100-3 (both curves, the light of a screen for HLG) and BT.1886-0 (the curve of SDR screens),
reports ITU-R BT.2408-7 (203 cd/m²) and BT.2407-1 (colours of BT.2020 as those of BT.709).
"""

from functools import cache
from typing import TYPE_CHECKING

from av.video.reformatter import ColorPrimaries, ColorTrc

if TYPE_CHECKING:
    import numpy as np

WHITE_CD_M2 = 203.0
SCREEN_CD_M2 = 1000.0
KNEE = 0.8
"""Light above so much of white is drawn together."""

_CURVES: dict[int, str] = {ColorTrc.SMPTE2084: "PQ", ColorTrc.ARIB_STD_B67: "HLG"}
_WIDE: tuple[int, ...] = (ColorPrimaries.BT2020, ColorPrimaries.UNSPECIFIED)
"""HDR knows no other colours, unless a file states them."""
_TO_BT709 = ((1.6605, -0.5876, -0.0728), (-0.1246, 1.1329, -0.0083), (-0.0182, -0.1006, 1.1187))
_LUMINANCE = (0.2627, 0.6780, 0.0593)
_SYSTEM_GAMMA = 1.2
_BRIGHTEST = 2.0
"""Light, in white, that is white already when drawn together."""
_TOP = (1 << 16) - 1
_ROWS = 64
"""Few enough for the caches, and memory that does not grow with the frame."""


def hdr_curve(transfer: int) -> str:
    """Return which curve of HDR a number of ITU-T H.273 stands for, ``PQ`` or ``HLG``; empty where it is none."""
    return _CURVES.get(transfer, "")


def is_wide(primaries: int) -> bool:
    """Tell whether the colours of HDR are those of BT.2020."""
    return primaries in _WIDE


def as_sdr(rgb: "np.ndarray", curve: str, *, wide: bool) -> "np.ndarray":
    """Return what an SDR screen shows of an HDR picture.

    Parameters
    ----------
    rgb
        uint16 or uint8 (H, W, 3) of full range.
    curve
        ``PQ`` or ``HLG``.
    wide
        Whether its colours are those of BT.2020, and not those of BT.709.

    Returns
    -------
    uint8 (H, W, 3).
    """
    import numpy as np

    codes, lights = _codes(), _lights(curve)[:: 257 if rgb.dtype == np.uint8 else 1]
    shown = np.empty(rgb.shape, np.uint8)
    for top in range(0, len(rgb), _ROWS):
        light = lights[rgb[top : top + _ROWS]]
        if curve == "HLG":
            light *= ((light @ np.array(_LUMINANCE, np.float32)) ** np.float32(_SYSTEM_GAMMA - 1))[..., None]
            light *= np.float32(SCREEN_CD_M2 / WHITE_CD_M2)
        if wide:
            light = light @ np.array(_TO_BT709, np.float32).T
        # Finer steps in the dark, where the eye and the codes have them.
        root = np.sqrt(np.clip(light, 0, _BRIGHTEST) * np.float32(1 / _BRIGHTEST))
        shown[top : top + _ROWS] = codes[(root * _TOP + np.float32(0.5)).astype(np.uint16)]
    return shown


@cache
def _lights(curve: str) -> "np.ndarray":
    """Return the light of each code, float32: for PQ of the screen, in white; for HLG of the scene, in [0, 1]."""
    import numpy as np

    code = np.arange(_TOP + 1) / _TOP
    if curve == "HLG":
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        return np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12).astype(np.float32)
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = code ** (1 / m2)
    return (10_000 / WHITE_CD_M2 * (np.maximum(power - c1, 0) / (c2 - c3 * power)) ** (1 / m1)).astype(np.float32)


@cache
def _codes() -> "np.ndarray":
    """Return the code, uint8, of each light from 0 to `_BRIGHTEST`, by its square root."""
    import numpy as np

    light = _BRIGHTEST * (np.arange(_TOP + 1) / _TOP) ** 2
    soft = KNEE + (1 - KNEE) * (1 - np.exp(-(light - KNEE) / (1 - KNEE)))
    return np.rint(255 * np.where(light > KNEE, soft, light) ** (1 / 2.4)).astype(np.uint8)
