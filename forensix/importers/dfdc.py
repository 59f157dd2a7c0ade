"""DFDC, the Deepfake Detection Challenge: parts with a ``metadata.json`` each.

    dfdc_train_part_0/metadata.json: {"a.mp4": {"label": "FAKE", "split": "train", "original": "b.mp4"}, ...}

The released test set says ``"is_fake": 1`` instead of a label. A fake and the video that it was made from are one
group. Labels are of the whole video: in some fakes only the sound was changed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the videos of all parts under ``root``, which may also be one part."""
    listings = sorted(root.rglob("metadata.json"))
    if not listings:
        raise UsageError(f"DFDC has a metadata.json in each part, but {root} does not")
    for listing in listings:
        for name, entry in layout.json_object(listing).items():
            if not isinstance(entry, dict) or "/" in name or name in ("..", "."):
                raise UsageError(f"{listing.name} must hold an object for each video, and {name[:60]!r} is none")
            word = str(entry.get("label", entry.get("is_fake")))
            label = layout.label(word, listing, real=("REAL", "0"), fake=("FAKE", "1"))
            path = listing.parent / name
            if not path.is_file():
                # Parts are large, and people keep some of the videos only.
                continue
            yield {
                "path": layout.relative(path, root),
                "label": label,
                "split": _split(str(entry.get("split", ""))),
                "source": listing.parent.name if listing.parent != root else "DFDC",
                "family": "face-swap" if label == "fake" else None,
                "method": "DFDC" if label == "fake" else None,
                "group_id": Path(str(entry.get("original") or name)).stem,
            }


def _split(word: str) -> str | None:
    return {"validation": "dev", "val": "dev"}.get(word, word) or None
