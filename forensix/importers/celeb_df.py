"""Celeb-DF v2.

    Celeb-real/id0_0000.mp4, YouTube-real/00000.mp4, Celeb-synthesis/id0_id1_0000.mp4
    List_of_testing_videos.txt: lines such as "1 YouTube-real/00170.mp4", 1 for real and 0 for fake

What the list names is the test split, the rest train. A fake ``id0_id1_0000`` is made from video 0000 of celebrity
id0, so a celebrity's real videos and the fakes made from them are one group.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_WHAT = "Celeb-DF v2"
_FOLDERS = {"Celeb-real": "real", "YouTube-real": "real", "Celeb-synthesis": "fake"}


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the videos, with the official test split."""
    listing = layout.need(root, "List_of_testing_videos.txt", what=_WHAT)
    # Some copies of the videos end in .MP4, some of the list name them as on Windows or from another folder.
    testing = {_named(name): said for said, name in (line[:2] for line in layout.words(listing, 2))}
    splits = set()
    for folder, label in _FOLDERS.items():
        for path in layout.files(layout.need(root, folder, what=_WHAT), layout.VIDEOS):
            name = layout.relative(path, root)
            # Some people keep the videos of a folder one level deeper.
            listed = testing.get(f"{folder}/{path.name}".lower())
            if listed is not None and layout.label(listed, listing, real=("1",), fake=("0",)) != label:
                raise UsageError(f"{listing.name} calls {name} {listed}, which is not {label} as its folder says")
            split = "train" if listed is None else "test"
            splits.add(split)
            celebrity = path.stem.split("_")[0] if path.stem.startswith("id") else f"youtube-{path.stem}"
            yield {
                "path": name,
                "label": label,
                "split": split,
                "source": folder,
                "family": "face-swap" if label == "fake" else None,
                "method": "Celeb-DF" if label == "fake" else None,
                "group_id": celebrity,
            }
    if splits == {"train"}:
        raise UsageError(
            f"{listing.name} names none of the videos in {root}: lines are such as 1 YouTube-real/00170.mp4"
        )


def _named(name: str) -> str:
    """Return the folder and name of a video, in small letters."""
    return "/".join(name.lower().replace("\\", "/").split("/")[-2:])
