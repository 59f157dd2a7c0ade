"""What a score depends on, as hashes: the code, the models and the settings that made it.

Two scores with the same key are the same score, so one may stand for the other. A component says what it is by its
card, or by an attribute ``version``; without either nobody could tell when it changed, and its scores are not kept.
"""

import hashlib
import inspect
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import forensix
from forensix.errors import ModelNotFound
from forensix.models import ModelCard, get_card, load_component
from forensix.models.files import SHIPPED
from forensix.models.store import is_place
from forensix.tasks import load_task
from forensix.tasks.task import component_label, deciding_versions

_ROOMS = ("errors.py", "schema.py", "calibration.py", "media", "metadata", "models", "perturb", "faces", "synthetic",
          "voice", "forensics", "tasks", "evaluation/scoring.py")  # fmt: skip
_UNSEEN = object()
# What a card says of itself without changing a score.
_NOT_SCORED = {"summary", "trained_on", "trained_on_before", "measured", "limits", "licence", "paper", "seed",
               "command", "version", "manifest_sha256", "learnt_files", "stopping_files", "calibration_files",
               "url"}  # fmt: skip


def digest(value: Any) -> str:
    """Return the sha256 of JSON values, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


@cache
def code_identity(task: str) -> str:
    """Return a hash of all code that a task's scores pass through, and of the versions of what it calls."""
    root = Path(forensix.__file__).parent
    hashed = hashlib.sha256()
    for room in _ROOMS:
        place = root / room
        paths = sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]
        for path in paths:
            # Tables count as code does; weights are told apart by their cards, below.
            if path.parent.name not in ("weights", "__pycache__"):
                hashed.update(f"{path.relative_to(root).as_posix()}\0".encode())
                hashed.update(path.read_bytes())
    # A score passes through other models than the one that decides: what is said of faces is weighed in, voices are
    # told apart first.
    for path in sorted(SHIPPED.glob("*.json")):
        hashed.update(f"{_of_card(get_card(path.stem))}\0".encode())
    for package, release in deciding_versions().items():
        hashed.update(f"{package}={release}\0".encode())
    kind = type(load_task(task))
    if not kind.__module__.startswith("forensix."):
        source = inspect.getsourcefile(kind)
        hashed.update(Path(source).read_bytes() if source else kind.__qualname__.encode())
    return hashed.hexdigest()


def component_identity(slot: str, chosen: Any) -> str | None:
    """Return what a component is, by its card or its ``version``; None where that does not tell it from another.

    A version of the class is one for all objects, so what each was made with counts too; one of the object itself
    tells all.
    """
    named = isinstance(chosen, str)
    if isinstance(chosen, str):
        try:
            return _of_card(get_card(chosen))
        except ModelNotFound:
            chosen = load_component(slot, chosen)
    card, release = getattr(chosen, "card", None), getattr(chosen, "version", None)
    if isinstance(card, ModelCard):
        return " ".join(filter(None, (_of_card(card), getattr(chosen, "elsewhere", ""))))
    kind = type(chosen)
    if card is not None and hasattr(card, "name") and hasattr(card, "sha256"):
        return f"{kind.__module__}.{kind.__qualname__}:{card.name}:{card.sha256}:{getattr(card, 'threshold', '')}"
    if isinstance(release, str | int | float):
        made_with = "" if named or "version" in getattr(chosen, "__dict__", {}) else _made_with(chosen)
        return None if made_with is None else f"{kind.__module__}.{kind.__qualname__}:{release}{made_with}"
    return None


def _made_with(chosen: Any) -> str | None:
    """Return a hash of the arguments that an object was made with, empty without any; None where they are not seen.

    They are the attributes of the same names, as in scikit-learn. Objects of one class share its version: without this
    a sweep over a parameter would be given the scores of its last value.
    """
    if type(chosen).__init__ is object.__init__:
        return ""
    versions = {}
    for parameter in inspect.signature(type(chosen)).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        value = getattr(chosen, parameter.name, getattr(chosen, f"_{parameter.name}", _UNSEEN))
        if not _is_plain(value):
            return None
        versions[parameter.name] = value
    return f":{digest(versions)}" if versions else ""


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def component_name(chosen: Any) -> str:
    """Return what a component is called in tables."""
    if isinstance(chosen, str):
        return get_card(chosen).name if is_place(chosen) else chosen
    return component_label(chosen)


def card_of(slot: str | None, chosen: Any) -> Any:
    """Return the card of a component, or None where it has none."""
    if slot is None:
        return None
    if isinstance(chosen, str):
        try:
            return get_card(chosen)
        except ModelNotFound:
            chosen = load_component(slot, chosen)
    return getattr(chosen, "card", None)


def _of_card(card: ModelCard) -> str:
    return f"{card.name}:{digest(card.model_dump(mode='json', exclude=_NOT_SCORED))}"
