"""From the frames of each face to one verdict on a file, and which faces are not judged at all.

A face's logit is a robust mean over its frames (`face_logit`), so that neither one odd frame nor a majority of turned
heads decides. A file is judged by the hypothesis that one of its faces, nobody knows which, was manipulated
(`file_logit`): the mean of the faces' odds. Whoever looks at many faces meets one that looks odd by chance; it must be
as many times as odd to count as much. Small, blurred and short faces carry too little evidence either way and are left
undecided by rule (`doubt`), whatever the classifier says of them; smooth ones score as generated ones do (`texture`).
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from forensix.faces.linking import LEAST_GAPS
from forensix.faces.track import FaceTrack
from forensix.models import DetailGap, Pooling

_FACE = (slice(48, 176), slice(56, 168))
"""The middle of an aligned crop: the face without what surrounds it."""

_COARSER = 4
_FINE_SIGMA_PX, _AROUND_PX = 1.2, 9

ODD_SHARE = 0.05
"""Of recorded faces by themselves, so many lack more fine detail than is told of."""


def face_logit(logits: NDArray[np.float64], pooling: Pooling) -> float:
    """Return the mean of the logits between two quantiles, at least one of them.

    Parameters
    ----------
    logits
        float (n,), one a crop, higher is more likely fake; at least one.
    pooling
        ``low`` and ``high`` say which part of the sorted logits counts.

    Examples
    --------
    >>> face_logit(np.array([0.0, 4.0, 2.0, 1.0]), Pooling(low=0.5, high=1.0))
    3.0
    """
    order = np.sort(logits)
    start, stop = int(np.floor(pooling.low * len(order))), int(np.ceil(pooling.high * len(order)))
    return float(order[start:stop].mean())


def middle_gap(gaps: NDArray[np.floating]) -> float:
    """Return the median of the gaps of fine detail over a face's frames; NaN where too few were measured.

    Examples
    --------
    >>> middle_gap(np.array([0.1, np.nan, 0.2, 9.0])), middle_gap(np.array([0.1, np.nan]))
    (0.2, nan)
    """
    known = gaps[np.isfinite(gaps)]
    return float(np.median(known)) if len(known) >= LEAST_GAPS else float("nan")


def odd_gap(lacked: DetailGap, n: int) -> float:
    """Return the gap of fine detail beyond which one of ``n`` faces of a video is odd.

    With one face that is what 95 % of the recorded faces do not reach. Among many, one beyond it is what chance brings,
    so `ODD_SHARE` is shared among them: the bound lies between those 95 % and the largest gap of a recorded face.

    Examples
    --------
    >>> lacked = DetailGap(recorded=(-0.4, 0.1, 0.5, 0.7))
    >>> odd_gap(lacked, 1), round(odd_gap(lacked, 2), 3), round(odd_gap(lacked, 40), 3)
    (0.5, 0.6, 0.695)
    """
    return float(np.interp(1 - ODD_SHARE / n, (1 - ODD_SHARE, 1.0), lacked.recorded[2:]))


def file_logit(logits: NDArray[np.float64]) -> float:
    """Return the logit of a file from the calibrated logits of its faces: that of the mean of their likelihood ratios.

    With one face it is that face's. Among ``n`` of which one stands out, that one's less ``log(n)``; if all are alike,
    theirs: a video of one person that was cut into ten tracks is judged like the whole.

    Examples
    --------
    >>> round(file_logit(np.array([3.0])), 3), round(file_logit(np.array([3.0, -9.0, -9.0])), 3)
    (3.0, 1.901)
    """
    return float(np.logaddexp.reduce(logits) - np.log(len(logits)))


def doubt(face: FaceTrack, pooling: Pooling, *, is_video: bool) -> str:
    """Return in a few words why a face is not judged; empty where it is.

    Examples
    --------
    "it is 31 px wide, and 48 are needed"
    """
    smallest = min(face.mean_size_px)
    if smallest < pooling.min_face_px:
        return f"it is {smallest:.0f} px wide, and {pooling.min_face_px:.0f} are needed"
    seen_s = float(face.frame_ms[-1] - face.frame_ms[0]) / 1000
    if is_video and seen_s < pooling.min_seen_s:
        needed = f"{pooling.min_seen_s:.1f}"
        seen = f"for {seen_s:.1f} s, and {needed}" if seen_s >= 0.05 else f"at one moment only, and {needed} s"
        return f"it is seen {seen} are needed"
    if float(np.median([detail(crop) for crop in face.crops])) < pooling.min_detail:
        return f"it is {smallest:.0f} px wide but blurred: it holds no more detail than a far smaller one"
    return ""


def is_smooth(face: FaceTrack, pooling: Pooling) -> bool:
    """Return whether a face holds less fine detail between its edges than a card asks of one that is called fake."""
    return float(np.median([texture(crop) for crop in face.crops])) < pooling.min_texture


def texture(crop: NDArray[np.uint8]) -> float:
    """Return how much fine detail there is where a face has least: the quarter of it with the fewest edges and pores.

    Filters for portraits take that away and leave edges; soft light, noise reduction and strong compression do as well.

    Parameters
    ----------
    crop
        uint8 (224, 224, 3), as `forensix.faces.align` cuts it.

    Returns
    -------
    The lower quartile over the face of the deviation, in grey levels, of what is finer than a few pixels.
    """
    from scipy.ndimage import gaussian_filter, uniform_filter

    grey = crop.astype(np.float32).mean(axis=2)
    fine = grey - gaussian_filter(grey, _FINE_SIGMA_PX)
    around = np.maximum(uniform_filter(fine * fine, _AROUND_PX), 0)
    return float(np.sqrt(np.quantile(around[_FACE], 0.25)))


def detail(crop: NDArray[np.uint8]) -> float:
    """Return how much of a face's contrast lies in details finer than a quarter of the crop's sharpness, in [0, 1].

    Parameters
    ----------
    crop
        uint8 (224, 224, 3), as `forensix.faces.align` cuts it. Enlarging adds no detail, blur takes it away: eighteen
        sharp photographs have 0.17 to 0.37, at 48 pixels a face still 0.13 to 0.26, at 24 pixels 0.07 to 0.13.
    """
    grey = crop[_FACE].astype(np.float32).mean(axis=2)
    picture = Image.fromarray(grey)
    coarse = picture.resize((picture.width // _COARSER, picture.height // _COARSER), Image.Resampling.BOX)
    fine = grey - np.asarray(coarse.resize(picture.size, Image.Resampling.BICUBIC))
    return float(min(1.0, fine.std() / max(float(grey.std()), 1e-6)))
