"""ASVspoof 2019 LA, 2021 DF and 5: speech and protocol files of bona fide and spoof.

In the protocols, in order: 2019 speaker, file, -, attack, key; 2021 speaker, file, codec, source, attack, key, trim,
subset, vocoder and more; 5 speaker, file, gender, codec, quality, seed, attack tag, attack, key, - (training and
development have six columns in the challenge's own files: speaker, file, gender, -, attack, key).
Speakers are groups.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout

_SPLITS = ("train", "dev", "eval")
_GENDERS = {"M": "male", "F": "female"}


def la_2019(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the utterances of the logical access scenario; ``root`` is the folder LA or the one above.

    ``LA/ASVspoof2019_LA_cm_protocols/ASVspoof2019.LA.cm.dev.trl.txt``, ``LA/ASVspoof2019_LA_dev/flac/*.flac``.
    Parts that are not there are left out.
    """
    what = "ASVspoof 2019 LA"
    protocols = layout.need(root, "ASVspoof2019_LA_cm_protocols", "LA/ASVspoof2019_LA_cm_protocols", what=what)
    parts = {split: protocols.parent / f"ASVspoof2019_LA_{split}" for split in _SPLITS}
    layout.need(root, *(layout.relative(folder, root) for folder in parts.values()), what=what)
    for split, folder in parts.items():
        if not folder.is_dir():
            continue
        listing = layout.need(
            protocols, f"ASVspoof2019.LA.cm.{split}.{'trn' if split == 'train' else 'trl'}.txt", what=what
        )
        for speaker, name, _, attack, key, *_ in layout.words(listing, 5):
            yield _row(root, folder / "flac", name, listing, key, split, speaker, attack, "ASVspoof2019")


def df_2021(root: Path, *, subset: str | None = "eval") -> Iterator[dict[str, Any]]:
    """Yield the utterances of the deepfake task, those of the evaluation by default.

    ``flac/DF_E_*.flac`` (or in ``ASVspoof2021_DF_eval/flac``, or its parts) and ``keys/DF/CM/trial_metadata.txt``.
    ``subset`` is eval, progress or hidden, or None for all. Files of parts that are not there are left out.
    """
    what = "ASVspoof 2021 DF"
    listing = layout.need(
        root, "keys/DF/CM/trial_metadata.txt", "DF/CM/trial_metadata.txt", "trial_metadata.txt", what=what
    )
    layout.need(root, "flac", "ASVspoof2021_DF_eval/flac", "ASVspoof2021_DF_eval_part00", what=what)
    where = {path.stem: path for path in layout.files(root, (".flac",))}
    for line in layout.words(listing, 9):
        speaker, name, codec, source, attack, key, _, phase, vocoder = line[:9]
        if name not in where or (subset is not None and phase != subset):
            continue
        row = _row(root, where[name].parent, name, listing, key, "eval", speaker, attack, source)
        yield row | {"quality": codec, "family": vocoder if row["label"] == "fake" else None, "subset": phase}


def asvspoof5(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the utterances of track 1.

    ``flac_T``, ``flac_D``, ``flac_E_eval`` and ``ASVspoof5.train.tsv``, ``ASVspoof5.dev.track_1.tsv``,
    ``ASVspoof5.eval.track_1.tsv`` beside them or in ``ASVspoof5_protocols``. Parts that are not there are left out, and
    so are files of archives that were not unpacked.
    """
    what = "ASVspoof 5"
    parts = {
        "train": ("flac_T", "ASVspoof5.train.tsv"),
        "dev": ("flac_D", "ASVspoof5.dev.track_1.tsv"),
        "eval": ("flac_E_eval", "ASVspoof5.eval.track_1.tsv"),
    }
    layout.need(root, *(folder for folder, _ in parts.values()), what=what)
    for split, (folder, protocol) in parts.items():
        if not (root / folder).is_dir():
            continue
        listing = layout.need(root, protocol, f"ASVspoof5_protocols/{protocol}", what=what)
        for line in layout.words(listing, 6):
            speaker, name, gender = line[:3]
            if not (root / folder / f"{name}.flac").is_file():
                continue
            # Ten columns since the release, six in the challenge's own files.
            codec, tag, attack, key = (
                (line[3], line[6], line[7], line[8]) if len(line) >= 9 else ("-", "-", line[4], line[5])
            )
            row = _row(root, root / folder, name, listing, key, split, speaker, attack, "ASVspoof5")
            more = {"gender": _GENDERS.get(gender), "quality": None if codec == "-" else codec, "language": "en"}
            yield row | more | {"family": None if tag == "-" or row["label"] == "real" else tag}


def _row(
    root: Path, folder: Path, name: str, listing: Path, key: str, split: str, speaker: str, attack: str, source: str
) -> dict[str, Any]:
    path = folder / f"{name}.flac"
    if "/" in name or not path.is_file():
        raise UsageError(f"{listing.name} lists {name[:80]}, but {layout.relative(folder, root)} does not hold it")
    label = layout.label(key, listing, real=("bonafide",), fake=("spoof",))
    return {
        "path": layout.relative(path, root),
        "label": label,
        "split": "test" if split == "eval" else split,
        "source": source,
        "generator": None if label == "real" else attack,
        "speaker": speaker,
        "group_id": speaker,
    }
