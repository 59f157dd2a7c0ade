"""Community Forensics, and other sets with a folder per generator.

    {generator}/{real,fake}/*.png

The reals beside a generator's fakes are those that it is compared with; ``subset`` keeps them together. Every
picture is a group of its own: names such as 0001.png are used in each folder.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout


def rows(root: Path, *, split: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the pictures; ``split`` is written into every row where it is given."""
    subsets = [folder for folder in layout.folders(root) if (folder / "real").is_dir() or (folder / "fake").is_dir()]
    if not subsets:
        raise UsageError(f"Community Forensics has {{generator}}/real and {{generator}}/fake, but {root} does not")
    for folder in subsets:
        for label in ("real", "fake"):
            if not (folder / label).is_dir():
                # Some generators come without photographs of their own, and some photographs without fakes.
                continue
            for path in layout.files(folder / label, layout.IMAGES):
                yield {
                    "path": layout.relative(path, root),
                    "label": label,
                    "split": split,
                    "source": "Community Forensics",
                    "generator": folder.name if label == "fake" else None,
                    "subset": folder.name,
                }
