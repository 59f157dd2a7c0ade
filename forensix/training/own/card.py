"""The card of a model of your own before anything is measured: what it was made of, and how to make it again."""

import hashlib
import os
import re
import shlex
from collections.abc import Iterable

import forensix
from forensix.evaluation.cautions import LEAST_GROUPS
from forensix.labels import LABELS
from forensix.manifest import Manifest
from forensix.models import ModelCard
from forensix.training.own.deal import Split, groups_of
from forensix.training.own.material import Material
from forensix.training.own.measure import trained_on
from forensix.training.own.seen import kept

OF_BASE = "It was trained from another, whose card says of itself,"
"""Begins what the limits of such a model quote."""


def too_few(split: Split) -> str:
    """Return a sentence where few groups were held out, and a space behind it: what they set may be far off."""
    held = list(zip(groups_of(split.held_out, split.group), split.held_out.is_fake(), strict=True))
    n = {label: len({group for group, fake in held if LABELS[bool(fake)] == label}) for label in LABELS}
    few = [f"{count} {label}" for label, count in n.items() if count < LEAST_GROUPS]
    if not few:
        return ""
    what = "files" if split.group == "path" else "groups"
    return (
        f"Its bounds and figures rest on {' and '.join(few)} {what} held out: with fewer than {LEAST_GROUPS} of a class"
        " they can be far off. "
    )


def unmeasured(
    base: ModelCard,
    name: str,
    split: Split,
    learnt: Material,
    stopping: Material,
    command: str,
    digest: str,
    *,
    seed: int,
) -> ModelCard:
    """Return the card before anything is measured; of the base what feeds the network stays."""
    used = Manifest(
        split.learnt.table[~split.learnt.table["path"].isin(list(learnt.refused))],
        split.learnt.root,
        split.learnt.outside,
    )
    alone = " (every file by itself: figures flatter where files have something in common)"
    return base.model_copy(
        update={
            "name": name,
            "summary": f"{base.name}, trained further on {len(learnt)} files of a manifest of your own.",
            "calibration": None,
            "calibrated_on": f"{len(split.held_out)} files of groups held out, told apart by the column {split.group!r}"
            f"{alone if split.group == 'path' else ''}; a group counts as the root of its files, classes alike",
            "threshold": 0.5,
            "inconclusive": None,
            "inconclusive_video": None,
            "judges": (),
            "detail_gap": None,
            "steadiness": None,
            "fusion": None,
            "trained_on": trained_on(used, groups_of(used, split.group), used.is_fake()),
            "trained_on_before": tuple(dict.fromkeys((*base.trained_on_before, *base.trained_on))),
            "measured": (),
            "limits": f"{too_few(split)}It knows what {len(set(learnt.groups.tolist()))} groups of one collection"
            " taught it, and was measured on groups of the same collection: on others it may do worse. "
            f"{OF_BASE} {base.name}: {base.limits}",
            "licence": f"{base.licence} And what the files of its training demand.",
            "seed": seed,
            "command": command,
            "version": forensix.__version__,
            "manifest_sha256": digest,
            "learnt_files": kept(learnt.marks, base.learnt_files),
            "stopping_files": kept(stopping.marks, base.stopping_files),
            "calibration_files": (),
            "weights": f"{name}.safetensors",
            "url": None,
            "hash_from": "file",
            "base": None,
            "published": None,
            "parity": None,
        }
    )


def digest_of(manifest: Manifest) -> str:
    """Return the sha256 of a manifest's table as CSV."""
    return hashlib.sha256(manifest.table.to_csv(index=False).encode()).hexdigest()


def saying_first(card: ModelCard, sentences: str) -> ModelCard:
    """Return the card whose limits begin with sentences, which have a space behind them."""
    return card.model_copy(update={"limits": f"{sentences}{card.limits}"})


def command_of(words: Iterable[str | os.PathLike[str]]) -> str:
    """Return words of a command as a card keeps them, without what tells of a machine or lets into another one.

    Of an absolute path the last part is left, and of a link neither a password nor a query.

    Examples
    --------
    >>> command_of(["forensix", "train", "/home/me/clips", "--base=./mine", "--label", "1=fake"])
    'forensix train PATH/clips --base=./mine --label 1=fake'
    """
    return shlex.join(_plain(os.fspath(word)) for word in words)


def _plain(word: str) -> str:
    option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
    if "://" in value:
        value = re.sub(r"://[^/]*@", "://", value).partition("?")[0]
    elif os.path.isabs(value):
        value = os.path.join("PATH", os.path.basename(os.path.normpath(value)))
    return f"{option}{equals}{value}"
