"""Degrade an opened medium: what comes out is opened too, and nothing was written unless somebody asks for its path.

Pictures and sound are degraded in memory, so the file is decoded once however many degradations follow. Videos are
written, as `degrade_file` does, since all their frames do not fit. Either way equal content gives equal results, and
nothing but pixels or sound is left: metadata and marks of the original are gone, for real and fake alike.
"""

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from forensix.media import Media, MediaInfo, open_media
from forensix.perturb.files import degrade_file, kind_of_degradation, pcm, write_png, write_wav
from forensix.perturb.registry import Strength, find


def degrade(media: Media, name: str, strength: Strength, folder: str | os.PathLike[str], *, seed: int = 0) -> Media:
    """Return a degraded copy of a medium; close it as you close the original.

    ``sha256`` stays that of the original. ``folder`` takes the files of videos, and of whatever else has to have a
    path; the caller deletes it. Scores are the same as those of the file that `degrade_file` writes.

    Raises
    ------
    UsageError
        No degradation of this kind of medium has that name, or the strength is none of its own.
    InputError
        The medium cannot be decoded.
    """
    kind = kind_of_degradation(media, name)
    function = find(kind, name).at(strength)
    if kind == "image":
        return Degraded(media, function(media.image(), seed=seed), folder)
    if kind == "audio":
        return Degraded(media, pcm(function(media.samples().astype(np.float32) / np.float32(32768), seed=seed)), folder)
    path = degrade_file(media.path, name, strength, folder, seed=seed, limits=media.limits)
    # A video that is compressed again may be larger than what users may send.
    return open_media(path, limits=replace(media.limits, max_bytes=max(media.limits.max_bytes, path.stat().st_size)))


class Degraded(Media):
    """A picture, uint8 (H, W, 3), or sound, int16 (n,) at 16 kHz, in the place of what a file holds."""

    def __init__(self, original: Media, content: "np.ndarray", folder: str | os.PathLike[str]) -> None:
        self._content, self._folder = content, Path(folder)
        self._written: Path | None = None
        if content.ndim == 3:
            key, kind, suffix, mime = "media.image", "image", "png", "image/png"
            info = MediaInfo(width_px=content.shape[1], height_px=content.shape[0])
        else:
            key, kind, suffix, mime = "media.samples", "audio", "wav", "audio/wav"
            info = MediaInfo(duration_s=len(content) / 16_000, has_audio=True, sample_rate_hz=16_000, channels=1)
        super().__init__(
            source=original.source,
            path=original.path,
            name=f"{Path(original.name).stem}.{suffix}",
            kind=kind,  # type: ignore[arg-type]
            format=suffix,
            mime=mime,
            size_bytes=content.nbytes,
            sha256=original.sha256,
            info=info,
            broken=None,
            only_named=False,
            limits=original.limits,
            resources=contextlib.ExitStack(),
        )
        self.memo(key, lambda: content)

    @property
    def path(self) -> Path:
        """A file with the content, written without loss when first asked for."""
        if self._written is None:
            self._written = self._folder / f"degraded-{id(self):x}.{self.format}"
            write = write_png if self.kind == "image" else write_wav
            write(self._written, self._content)
        return self._written

    @path.setter
    def path(self, value: Any) -> None:
        """Leave the original's path aside: its content is not this one's."""
