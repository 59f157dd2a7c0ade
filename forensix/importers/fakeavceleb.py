"""FakeAVCeleb: real and fake pictures and voices, in all four combinations.

    {RealVideo,FakeVideo}-{RealAudio,FakeAudio}/{race}/{gender}/{id}/*.mp4
    meta_data.csv: source,target1,target2,method,category,type,race,gender,path, and the folder without a name

What is fake depends on the question: ``modality="video"`` asks for the picture, ``"audio"`` for the voice, and by
default either makes a video fake. Videos of one person are one group. The published list has 21,566 lines
for 21,544 videos: each video is a row once.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_WHAT = "FakeAVCeleb"
_TYPES = {
    "RealVideo-RealAudio": (False, False),
    "FakeVideo-RealAudio": (True, False),
    "RealVideo-FakeAudio": (False, True),
    "FakeVideo-FakeAudio": (True, True),
}
_GENDERS = {"men": "male", "women": "female"}


def rows(root: Path, *, modality: str = "any") -> Iterator[dict[str, Any]]:
    """Yield the videos that are there; ``modality`` is any, video or audio."""
    if modality not in ("any", "video", "audio"):
        raise UsageError(f"modality must be any, video or audio, not {modality!r}")
    listing = layout.need(root, "meta_data.csv", what=_WHAT)
    layout.need(root, *_TYPES, what=_WHAT)
    paths = set()
    for row in layout.records(listing, "source", "method", "type", "race", "gender", "path"):
        if row["type"] not in _TYPES:
            raise UsageError(f"{listing.name} has the types {', '.join(_TYPES)}, but one is {row['type'][:40]!r}")
        video, audio = _TYPES[row["type"]]
        fake = {"any": video or audio, "video": video, "audio": audio}[modality]
        if any("/" in row[key] or row[key] in ("", "..") for key in ("race", "gender", "source")):
            raise UsageError(f"{listing.name} names a folder that is none: {row['race'][:40]}/{row['gender'][:40]}")
        path = root / row["type"] / row["race"] / row["gender"] / row["source"] / PurePosixPath(row["path"]).name
        # The folder of the type says the label, so a path that comes again has the same one.
        if path in paths or not path.is_file():
            continue
        paths.add(path)
        yield {
            "path": layout.relative(path, root),
            "label": "fake" if fake else "real",
            "source": _WHAT,
            "family": "face and voice" if video and audio else "face" if video else "voice" if audio else None,
            "method": row["method"] if video or audio else None,
            "type": row["type"],
            "speaker": row["source"],
            "gender": _GENDERS.get(row["gender"]),
            "race": row["race"],
            "group_id": row["source"],
        }
