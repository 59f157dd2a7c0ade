"""Degrade a whole file into another: decoded in the sandbox, degraded, written without loss or, videos, as H.264.

What comes out holds nothing but pixels or sound: metadata and marks of the original are gone, for real and fake alike.
"""

import os
import wave
from dataclasses import asdict
from pathlib import Path

import numpy as np

from forensix.errors import UnsupportedMedia, UsageError
from forensix.media import Limits, Media, open_media
from forensix.media.sandbox import call
from forensix.perturb.registry import Strength, find, names

_ENCODE_BYTES = 3 << 30
_FILE_BYTES = 4 << 30


def kind_of_degradation(media: Media, name: str) -> str:
    """Return what a degradation of that name would be one of: that of a video may be one of its sound.

    Raises
    ------
    UnsupportedMedia
        The medium is a PDF.
    """
    if media.kind == "pdf":
        raise UnsupportedMedia(f"{media.name} is a PDF; only pictures, sound and videos can be degraded")
    if media.kind == "video" and name in names("audio") and name not in names("video"):
        return "audio"
    return media.kind


def degrade_file(
    path: str | os.PathLike[str],
    name: str,
    strength: Strength,
    folder: str | os.PathLike[str],
    *,
    seed: int = 0,
    limits: Limits = Limits(),  # noqa: B008
) -> Path:
    """Write a degraded copy of a file into a folder and return its path.

    Pictures become PNG, sound WAV (mono, 16 kHz), videos Matroska with their own sound. A degradation of sound makes a
    WAV of the sound of a video. Equal content, name, strength and seed give equal files; the caller deletes them.

    Raises
    ------
    UsageError
        No degradation of this kind of file has that name, the strength is none of its own, or there is no such folder.
    InputError
        The file cannot be decoded.
    """
    if not Path(folder).is_dir():
        raise UsageError(f"the folder {folder} is not there: make it, or name another")
    with open_media(path, limits=limits) as media:
        kind = kind_of_degradation(media, name)
        entry = find(kind, name)
        function = entry.at(strength)
        target = Path(folder) / f"{media.sha256[:16]}-{name}{'' if strength is None else f'-{strength:g}'}-{seed}"
        if kind == "image":
            target = target.with_name(f"{target.name}.png")
            write_png(target, function(media.image(), seed=seed))
        elif kind == "audio":
            target = target.with_name(f"{target.name}.wav")
            write_wav(target, pcm(function(media.samples().astype(np.float32) / np.float32(32768), seed=seed)))
        else:
            target = target.with_name(f"{target.name}.mkv")
            if entry.encode is None:
                raise UsageError(f"the degradation {name} does not say how videos are encoded")
            _encode(media, entry.encode(strength), target, limits)
    return target


def pcm(samples: np.ndarray) -> np.ndarray:
    """Return float samples as int16, what is beyond [-1, 1] clipped."""
    rounded: np.ndarray = (np.clip(samples, -1, 1) * 32767).round().astype(np.int16)
    return rounded


def write_png(path: Path, rgb: np.ndarray) -> None:
    """Write a picture, uint8 (H, W, 3), without loss."""
    from PIL import Image

    Image.fromarray(rgb).save(path, compress_level=1)


def write_wav(path: Path, samples: np.ndarray) -> None:
    """Write int16 samples at 16 kHz, mono."""
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(samples.astype("<i2").tobytes())


def _encode(media: Media, settings: dict[str, float], target: Path, limits: Limits) -> None:
    try:
        call(
            "forensix.perturb.video:encode",
            media.for_decoder(),
            asdict(limits),
            str(target.absolute()),
            settings,
            timeout_s=limits.decode_s,
            memory_bytes=_ENCODE_BYTES,
            file_bytes=_FILE_BYTES,
        )
    except BaseException:
        target.unlink(missing_ok=True)
        raise
