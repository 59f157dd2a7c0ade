"""DFDC, the Deepfake Detection Challenge: parts with a ``metadata.json`` or a ``labels.csv`` each.

    dfdc_train_part_0/metadata.json: {"a.mp4": {"label": "FAKE", "split": "train", "original": "b.mp4"}, ...}
    test/labels.csv: filename,label with label 1 for fake and 0 for real; the videos beside it or in videos/

A ``metadata.json`` may say ``"is_fake": 1`` instead of a label; it comes before a ``labels.csv`` of the same videos,
whose split is test or validation where its folder is named so. A fake and the video that it was made from are one
group. Labels are of the whole video: in some fakes only the sound was changed.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_LISTINGS = ("metadata.json", "labels.csv")


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the videos of all parts under ``root``, which may also be one part."""
    listings = [path for name in _LISTINGS for path in layout.files(root, (name,)) if path.name == name]
    if not listings:
        raise UsageError(f"DFDC has a metadata.json or a labels.csv in each part, but {root} does not")
    taken = set()
    for listing in listings:
        there, entries = _videos(listing.parent), list(_entries(listing))
        listed = {name for name, _ in entries}
        for name, entry in entries:
            if not isinstance(entry, dict) or "/" in name or name in ("..", "."):
                raise UsageError(f"{listing.name} must hold an object for each video, and {name[:60]!r} is none")
            word = str(entry.get("label", entry.get("is_fake")))
            label = layout.label(word, listing, real=("REAL", "0"), fake=("FAKE", "1"))
            path = there.get(name) or there.get(name.lower())
            if path is None or path in taken or (path.name != name and path.name in listed):
                # Parts are large, and people keep some of the videos only.
                continue
            taken.add(path)
            yield {
                "path": layout.relative(path, root),
                "label": label,
                "split": _split(str(entry.get("split", ""))),
                "source": listing.parent.name if listing.parent != root else "DFDC",
                "family": "face-swap" if label == "fake" else None,
                "method": "DFDC" if label == "fake" else None,
                "group_id": Path(str(entry.get("original") or name)).stem,
            }


def _videos(part: Path) -> dict[str, Path]:
    """Return the files of a part by name, and by name in small letters: disks turn ``.mp4`` into ``.MP4``."""
    found = [Path(place) for folder in (part / "videos", part) if folder.is_dir() for place in os.scandir(folder)]
    found = [path for path in sorted(found) if path.is_file()]
    return {path.name.lower(): path for path in found} | {path.name: path for path in found}


def _entries(listing: Path) -> Iterable[tuple[str, Any]]:
    if listing.suffix == ".json":
        return layout.json_of(listing, dict).items()
    split = listing.parent.name if listing.parent.name in ("validation", "test") else ""
    rows = layout.records(listing, "filename", "label")
    return ((row["filename"], {"label": row["label"], "split": split}) for row in rows)


def _split(word: str) -> str | None:
    return {"validation": "dev", "val": "dev"}.get(word, word) or None
