"""How datasets spell real and fake, and what is refused because it could mean either.

Upper and lower case, blanks, ``-`` and ``_`` make no difference. Numbers say nothing by themselves: in some sets 1 is
fake, in others real. They, and other words, are told: ``{1: "fake", 0: "real"}``.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import pandas as pd

from forensix.errors import UsageError

LABELS = ("real", "fake")

_SPELLINGS = {
    "real": ("real", "bonafide", "genuine", "authentic", "original", "pristine", "human", "natural"),
    "fake": ("fake", "spoof", "spoofed", "deepfake", "synthetic", "synthesized", "synthesised", "generated", "ai",
             "aigenerated", "manipulated", "forged", "tampered"),
}  # fmt: skip
_MEANT = {spelling: label for label, spellings in _SPELLINGS.items() for spelling in spellings}
_NO = {"false", "no", "negative", "neg", "-1", "0"}
_AMBIGUOUS = {"true", "yes", "positive", "pos", "1", "2", *_NO}


def understood(values: "pd.Series[Any]", meanings: Mapping[Any, str] | None = None) -> "pd.Series[Any]":
    """Return labels as ``"real"`` and ``"fake"``, and None for what is neither.

    Parameters
    ----------
    meanings
        What the dataset's own words mean, before the usual ones.

    Raises
    ------
    UsageError
        ``meanings`` is no mapping or names another class than those two, or a value says yes or no to an unknown
        question.
    """
    if meanings is not None and not isinstance(meanings, Mapping):
        raise UsageError(f"labels is a dict such as {{'live': 'real'}}, not a {type(meanings).__name__}")
    wrong = [value for value in (meanings or {}).values() if value not in LABELS]
    if wrong:
        raise UsageError(f"labels says which of a dataset's words is real and which is fake, not {wrong[0]!r}")
    own = {_plain(word): label for word, label in (meanings or {}).items()}
    plain = {value: _plain(value) for value in values.dropna().unique()}
    ambiguous = sorted({word for word in plain.values() if word in _AMBIGUOUS and word not in own})
    if ambiguous:
        raise UsageError(
            f"the label {ambiguous[0]!r} does not say whether it means real or fake:"
            f" {how_to_tell(ambiguous[0])}, or the other way round"
        )
    meant = _MEANT | own
    return values.map({value: meant.get(word) for value, word in plain.items()}).astype(object)


def how_to_tell(word: str) -> str:
    """Return how a caller, or one of a command, says what a word means."""
    # What says no is seldom the class that is looked for.
    label = "real" if word in _NO else "fake"
    option = f"--label{'=' if word.startswith('-') else ' '}{shlex.quote(f'{word}={label}')}"
    return f"pass labels={{{word!r}: {label!r}, ...}} ({option})"


def _plain(value: Any) -> str:
    # Whole numbers beside an empty cell are written with a point.
    text = re.sub(r"^(-?\d+)\.0+$", r"\1", str(value).strip().lower())
    return text if text.startswith("-") else "".join(c for c in text if c not in " -_")
