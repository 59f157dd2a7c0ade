"""FaceForensics++, with the DeepFakeDetection videos where they are there.

    original_sequences/{youtube,actors}/{raw,c23,c40}/videos/*.mp4
    manipulated_sequences/{Deepfakes,Face2Face,...}/{raw,c23,c40}/videos/*.mp4
    train.json, val.json, test.json (or in splits/): pairs of video names; without them there is no column split

A fake ``000_003`` shows video 000 with the face of 003. Pairs were swapped both ways, so both videos and all fakes of
a pair are one group. Fakes of actors (``01_02__walk__X``) belong to the video that they are made from.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_WHAT = "FaceForensics++"
_QUALITIES = ("raw", "c23", "c40")
_SPLITS = {"train": "train", "val": "dev", "test": "test"}


def rows(root: Path, *, quality: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the videos, of one ``quality`` (raw, c23, c40) or of all; ``method`` names the manipulation."""
    if quality is not None and quality not in _QUALITIES:
        raise UsageError(f"{_WHAT} has the qualities {', '.join(_QUALITIES)}, not {quality!r}")
    originals = layout.need(root, "original_sequences", what=_WHAT)
    manipulated = layout.need(root, "manipulated_sequences", what=_WHAT)
    splits, partner = _pairs(root)
    for top, label in ((originals, "real"), (manipulated, "fake")):
        for source in layout.folders(top):
            for level in [quality] if quality else _QUALITIES:
                for path in layout.files(source / level / "videos", layout.VIDEOS):
                    target = path.stem.split("_")[0] if path.stem[:3].isdecimal() else path.stem
                    actor = target == path.stem and "__" in target
                    group = (
                        _actors_video(path.stem) if actor else "-".join(sorted({target, partner.get(target, target)}))
                    )
                    yield {
                        "path": layout.relative(path, root),
                        "label": label,
                        "split": splits.get(target),
                        "source": "DeepFakeDetection" if actor else _WHAT,
                        "family": "face manipulation" if label == "fake" else None,
                        "method": source.name if label == "fake" else None,
                        "quality": level,
                        "group_id": group,
                    }


def _actors_video(stem: str) -> str:
    """Return the original of an actors' video: 01_02__walk__X is made from 01__walk."""
    people, scene, *_ = stem.split("__")
    return f"{people.split('_')[0]}__{scene}"


def _pairs(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    splits: dict[str, str] = {}
    partner: dict[str, str] = {}
    for name, split in _SPLITS.items():
        path = next((p for p in (root / f"{name}.json", root / "splits" / f"{name}.json") if p.is_file()), None)
        if path is None:
            continue
        for pair in layout.json_of(path, list):
            if not isinstance(pair, list) or len(pair) != 2:
                raise UsageError(f"{path.name} must hold pairs of video names")
            source, target = map(str, pair)
            splits |= {source: split, target: split}
            partner |= {source: target, target: source}
    if not partner:
        # The names of the fakes tell the pairs as well.
        for path in layout.files(root / "manipulated_sequences", layout.VIDEOS):
            source, _, target = path.stem.partition("_")
            if source.isdecimal() and target.isdecimal():
                partner.setdefault(source, target)
    return splits, partner
