"""Which files a model was trained on, told by their content: its card keeps that, so that it is not measured on them.

A card keeps so many marks of files at most, the smallest ones: they are as good as drawn by chance, and a collection is
recognised by them where it is larger than that, but no single file of it.
"""

import logging
from collections.abc import Collection, Iterable, Mapping

from forensix.errors import UsageError
from forensix.evaluation.keys import content_hash
from forensix.evaluation.overlap import files_seen, find_overlap, sources_named
from forensix.manifest import Manifest
from forensix.models import ModelCard
from forensix.models.card import MARK_DIGITS, MOST_MARKS

_LOG = logging.getLogger(__name__)


def marks(manifest: Manifest) -> list[str]:
    """Return for each file its mark."""
    return [content_hash(str(path))[:MARK_DIGITS] for path in manifest.paths()]


def kept(*several: Iterable[str]) -> tuple[str, ...]:
    """Return the marks that a card keeps, of all these."""
    return tuple(sorted(set().union(*several))[:MOST_MARKS])


def trained_files(card: ModelCard) -> tuple[str, ...]:
    """Return the marks of all files that took part in a model's training."""
    return (*card.learnt_files, *card.stopping_files)


def check_unseen(files: Manifest, seen: Mapping[str, Collection[str]], use: str) -> None:
    """Raise `UsageError` where a model has seen one of the files; ``seen`` are marks by the name of a model."""
    path_of = dict(zip(marks(files), files.table["path"], strict=True))
    for name, known in seen.items():
        if shared := sorted(path_of[mark] for mark in path_of.keys() & set(known)):
            raise UsageError(
                f"{name} was trained on {len(shared)} of the {len(files)} files to {use}, {shared[0]} among them: leave"
                " them out of the manifest, or have it split as for that training, by the same group and seed"
            )


def warn_of_sources(held_out: Manifest, cards: Iterable[ModelCard]) -> str:
    """Return for the limits of a card, with a space behind, and log, which models know the sources of files held out.

    Their files may be others than those that were learnt from, so such a collection is measured on all the same.
    """
    told = ""
    for card in cards:
        overlap = find_overlap(held_out.table, {card.name: card})
        if n := int(files_seen(held_out.table, overlap, card.name).sum()):
            sentence = (
                f"{card.name} was trained on the sources of {n} of the {len(held_out)} files held out"
                f" ({sources_named(overlap)}): bounds and figures flatter what is made of it."
            )
            _LOG.warning(sentence)
            told += f"{sentence} "
    return told
