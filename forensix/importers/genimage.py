"""GenImage: per generator, pictures of it in ``ai`` and photographs of ImageNet in ``nature``.

    {Midjourney,ADM,...}/{imagenet_midjourney,...}/{train,val}/{ai,nature}/*.png

or the folders imagenet_* alone. The dataset's ``val`` is what it is tested on. A photograph that several generators'
folders hold is one group.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_LABELS = {"nature": "real", "ai": "fake"}
_SPLITS = {"train": "train", "val": "test"}


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the pictures of all generators under ``root``, which may also be one generator's folder."""
    any_found = False
    for folder in (
        root,
        *layout.folders(root),
        *(deep for top in layout.folders(root) for deep in layout.folders(top)),
    ):
        for split, named in _SPLITS.items():
            if not (folder / split).is_dir():
                continue
            for name, label in _LABELS.items():
                any_found = True
                pictures = layout.need(folder, f"{split}/{name}", what="each generator of GenImage")
                for path in layout.files(pictures, layout.IMAGES):
                    yield {
                        "path": layout.relative(path, root),
                        "label": label,
                        "split": named,
                        "source": "ImageNet" if label == "real" else "GenImage",
                        "family": None if label == "real" else _family(folder.name),
                        "generator": None if label == "real" else _generator(folder.name),
                        "subset": _generator(folder.name),
                        "group_id": path.stem if label == "real" else None,
                    }
    if not any_found:
        raise UsageError(f"GenImage has {{generator}}/imagenet_*/{{train,val}}/{{ai,nature}}, but {root} does not")


def _generator(folder: str) -> str:
    """Return midjourney for imagenet_midjourney and sdv4 for imagenet_ai_0419_sdv4."""
    return re.sub(r"^imagenet_(ai_\d+_)?", "", folder)


def _family(folder: str) -> str:
    return "gan" if "gan" in folder.lower() else "diffusion"
