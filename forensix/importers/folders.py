"""Plain folders: what lies in ``real/`` is real and what lies in ``fake/`` is fake.

    real/a.jpg, fake/b.jpg, real/vctk/c.wav, fake/vits/d.wav, dev/real/e.mp4, fake/test/f.mp4

A folder inside ``fake/`` names the generator, one inside ``real/`` the source; one of a split's name lies above both
or is the first inside.
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
"""What a folder above both classes or inside them is called, and the split that it means."""


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the media below both folders, sorted; files of other kinds are left out."""
    tops = [(None, root), *((SPLITS[f.name.lower()], f) for f in layout.folders(root) if f.name.lower() in SPLITS)]
    classes = [
        (split, folder.name.lower(), folder)
        for split, top in tops
        for folder in layout.folders(top)
        if folder.name.lower() in _LABELS
    ]
    if not classes:
        raise UsageError(f"{root} holds neither a manifest.csv nor the folders real and fake")
    for _, _, folder in sorted(classes, key=lambda row: (row[0] or "", _LABELS.index(row[1]))):
        yield from filter(None, (row_of(layout.relative(path, root)) for path in layout.files(folder)))


def row_of(path: str) -> dict[str, Any] | None:
    """Return the row of a medium by its path, or None where it is hidden or lies in no folder of a class.

    Examples
    --------
    >>> row_of("fake/test/vits/d.wav")
    {'path': 'fake/test/vits/d.wav', 'label': 'fake', 'split': 'test', 'source': None, 'generator': 'vits'}
    """
    above = path.split("/")[:-1]
    split = SPLITS.get(above[0].lower()) if above else None
    label, *inside = (above[1:] if split else above) or [""]
    if layout.is_hidden(path) or label.lower() not in _LABELS:
        return None
    if split is None and inside and inside[0].lower() in SPLITS:
        split = SPLITS[inside.pop(0).lower()]
    kind = inside[0] if inside else None
    is_real = label.lower() == "real"
    return {
        "path": path,
        "label": label.lower(),
        "split": split,
        "source": kind if is_real else None,
        "generator": None if is_real else kind,
    }
