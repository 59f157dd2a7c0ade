"""Plain folders: what lies in ``real/`` is real and what lies in ``fake/`` is fake.

    real/a.jpg, fake/b.jpg, real/vctk/c.wav, fake/vits/d.wav, dev/real/e.mp4

A folder inside ``fake/`` names the generator, one inside ``real/`` the source, and one above both the split.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_LABELS = ("real", "fake")
SPLITS = {
    "train": "train",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "dev": "dev",
    "test": "test",
    "eval": "test",
}
"""What a folder above both classes is called, and the split that it means."""


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the media below both folders, sorted; files of other kinds are left out."""
    tops = [(None, root), *((SPLITS[f.name.lower()], f) for f in layout.folders(root) if f.name.lower() in SPLITS)]
    classes = [
        (split, folder.name.lower(), folder)
        for split, top in tops
        for folder in layout.folders(top)
        if folder.name.lower() in _LABELS
    ]
    missing = [label for label in _LABELS if label not in {name for _, name, _ in classes}]
    if len(missing) == 2:
        raise UsageError(f"{root} holds neither a manifest.csv nor the folders real and fake")
    for split, label, folder in sorted(classes, key=lambda row: (row[0] or "", _LABELS.index(row[1]))):
        for path in layout.files(folder):
            inside = path.relative_to(folder).parts
            kind = inside[0] if len(inside) > 1 else None
            yield {
                "path": layout.relative(path, root),
                "label": label,
                "split": split,
                "source": kind if label == "real" else None,
                "generator": kind if label == "fake" else None,
            }
