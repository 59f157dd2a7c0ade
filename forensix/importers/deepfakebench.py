"""DeepfakeBench: a JSON file of a dataset, and the frames that it lists.

    {dataset: {class: {split: {video: {"label": "FF-real", "frames": ["datasets/rgb/.../000.png", ...]}}}}}

with one level more, the compression, for FaceForensics++. A label that ends in "real" is real, all others are fake, as
in the benchmark's own list. Frames are found by the end of their path, the video's folder at least, below the root or
a folder of it, and those that are not there are left out. Each frame is a row and each video a group; a frame that is
listed for several splits (the benchmark trains on all of Celeb-DF) counts for test before dev before train.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from forensix.errors import UsageError
from forensix.importers import layout

_WHAT = "DeepfakeBench"
_SPLITS = {"train": "train", "val": "dev", "test": "test"}
_HELD_OUT = ("train", "dev", "test")


def rows(root: Path, *, json: str | None = None, n_frames: int | None = 32) -> Iterator[dict[str, Any]]:
    """Yield frames of the videos in a JSON file below ``root``, by default the only one there.

    ``n_frames`` of each video, evenly spaced, or all with None.
    """
    listing = layout.need(root, json, what=_WHAT) if json else _only(root)
    by_path: dict[str, dict[str, Any]] = {}
    videos = list(_videos(listing))
    # FaceForensics++ swapped pairs both ways: both originals and both fakes are one group.
    partner = dict(p for v in videos if len(p := v[4].split("_")) == 2 and all(map(str.isdecimal, p)))
    place = _Place(root, listing)
    for dataset, name, split, quality, video, entry in videos:
        frames = [path for frame in sorted(entry.get("frames") or []) if (path := place.find(str(frame)))]
        if n_frames is not None and len(frames) > n_frames:
            frames = [frames[i] for i in np.linspace(0, len(frames) - 1, n_frames).round().astype(int)]
        for relative in frames:
            label = "real" if str(entry.get("label", name)).lower().endswith("real") else "fake"
            known = by_path.get(relative)
            if known and _HELD_OUT.index(known["split"]) >= _HELD_OUT.index(split):
                continue
            by_path[relative] = {
                "path": relative,
                "label": label,
                "split": split,
                "source": dataset,
                "family": "face manipulation" if label == "fake" else None,
                "method": name if label == "fake" else None,
                "quality": quality,
                "group_id": f"{dataset}/{_group(video, partner)}",
                "video": f"{dataset}/{name}/{video}",
            }
    if place.absent is not None and not by_path:
        raise UsageError(f"{listing.name} lists {place.absent}, but no end of that or another path is a file in {root}")
    yield from by_path.values()


class _Place:
    """Where the listed frames lie now: ``absent`` is the first that was found nowhere."""

    def __init__(self, root: Path, listing: Path) -> None:
        self.absent: str | None = None
        self._root, self._listing = root, listing
        self._tops = ("", *(folder.name for folder in layout.folders(root)))
        self._last = ("", 0)
        self._listed_as: dict[PurePosixPath, tuple[str, ...]] = {}

    def find(self, frame: str) -> str | None:
        """Return the path below the root, or None: sets are large, and people keep some of the frames only."""
        parts = tuple(p for p in PurePosixPath(frame.replace("\\", "/")).parts if p != "/")
        if ".." in parts:
            raise UsageError(f"{self._listing.name} lists {frame}, which leads out of its folder")
        # A frame's own name is the same in every video.
        most = max(0, len(parts) - 2)
        # What led to the last one most often leads to this one too.
        for top, cut in (self._last, *product(self._tops, range(most + 1))):
            path = PurePosixPath(top, *parts[min(cut, most) :])
            if (self._root / path).is_file():
                if self._listed_as.setdefault(path, parts) != parts:
                    raise UsageError(
                        f"{self._listing.name} lists {'/'.join(self._listed_as[path])} and {frame}, and both are found"
                        f" as {path}: keep the folders by which the list tells them apart"
                    )
                self._last = top, cut
                return path.as_posix()
        self.absent = self.absent or frame
        return None


def _only(root: Path) -> Path:
    listings = sorted(path for path in root.glob("*.json") if not path.name.startswith("."))
    if len(listings) != 1:
        names = ", ".join(path.name for path in listings[:8]) or "none"
        raise UsageError(f"{_WHAT} needs one JSON file in {root}, which has {names}: pass json= to name one")
    return listings[0]


def _videos(listing: Path) -> Iterator[tuple[str, str, str, str | None, str, dict[str, Any]]]:
    for dataset, classes in layout.json_of(listing, dict).items():
        for name, splits in _object(classes, listing).items():
            for word, videos in _object(splits, listing).items():
                if word not in _SPLITS:
                    raise UsageError(f"{listing.name} must have the splits {', '.join(_SPLITS)}, not {word[:40]!r}")
                for video, entry in _object(videos, listing).items():
                    if "frames" in _object(entry, listing):
                        yield dataset, name, _SPLITS[word], None, video, entry
                    else:
                        for inner, deeper in entry.items():
                            yield dataset, name, _SPLITS[word], video, inner, _object(deeper, listing)


def _object(value: object, listing: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{listing.name} is not in the form dataset, class, split, video")
    return value


def _group(video: str, partner: dict[str, str]) -> str:
    """Return what hangs together: the pair of 000_003, the celebrity id0 of id0_id1_0000, else the video."""
    first = video.split("_", maxsplit=1)[0]
    if first.isdecimal() and (first in partner or first == video):
        return "-".join(sorted({first, partner.get(first, first)}))
    return first if video.startswith("id") else video
