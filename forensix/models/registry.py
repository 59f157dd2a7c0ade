"""Components by name: what is built in and what other packages add come through the same entry points.

A component is a plain object with one verb. A package offers one with an entry point in the group
``forensix.<slot>`` whose value is a function without arguments that makes it::

    [project.entry-points."forensix.spoof"]
    my-detector = "my_package:make_detector"

and ``analyze(path, spoof="my-detector")`` uses it. A component that can run elsewhere than on the processor has a
method ``on(placement)`` that moves it and returns it. A model with a card, shipped, published or of your own, is a
component of its card's slot by the name of the card, or by the path to it. Built components are kept, so a model is
loaded once a process, and anew where the card at its path has changed.
"""

import os
import re
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from forensix.errors import ForensixError, ModelNotFound, UsageError
from forensix.folders import expanded
from forensix.interpreter import entry_points
from forensix.models.card import ModelCard
from forensix.models.placement import Placement, share_cores
from forensix.models.store import cards_of, checked_files, get_card, if_folder, is_place, list_models, load_model

if TYPE_CHECKING:
    from forensix.models.detector import Detector
    from forensix.models.store import LoadedModel

READERS = {
    "image_detector": "forensix.synthetic.detector:detector_of",
    "face_classifier": "forensix.faces.classify:detector_of",
    "face_regions": "forensix.faces.regions:detector_of",
    "spoof": "forensix.voice.spoof:detector_of",
}
"""What makes the component of a slot from a loaded model: the slots that cards fill."""

METHODS = {
    "face_classifier": "score",
    "face_detector": "detect",
    "face_regions": "heatmap",
    "image_detector": "score",
    "attribution": "attribute",
    "watermark": "read",
    "spoof": "score",
    "gender": "classify",
    "speech_activity": "segments",
    "diarisation": "diarise",
    "voice_watermark": "read",
    "transcript": "transcribe",
}
"""What the component of a slot is asked for; of slots that other packages define nobody here knows it."""


_building = threading.RLock()
"""Two threads share one network; a component may load others while it is built."""

_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@cache
def _entries(slot: str) -> dict[str, EntryPoint]:
    return entry_points(f"forensix.{slot}")


def component_names(slot: str) -> tuple[str, ...]:
    """Return the names that can fill a slot, sorted: of what is built in, of other packages and of models."""
    models = (card.name for card in cards_of(slot)) if slot in READERS else ()
    return tuple(sorted({*_entries(slot), *models}))


@cache
def _build(slot: str, name: str, placement: Placement, card: str) -> Any:
    if slot in READERS and (is_place(name) or _is_hub(name) or any(card.name == name for card in cards_of(slot))):
        component: Any = _read(name, slot)
    elif name in _entries(slot):
        component = _made(slot, _entries(slot)[name])
    else:
        known = ", ".join(component_names(slot)) or "none (is forensix installed, not only on the path?)"
        raise ModelNotFound(f"there is no {slot} component named {name!r}{if_folder(name)}; there are: {known}")
    return component.on(placement) if hasattr(component, "on") else component


def _made(slot: str, entry: EntryPoint) -> Any:
    """Return what the function of an entry point makes; whatever it is that goes wrong in it, its name is told."""
    who = f"the {slot} component {entry.name} ({entry.value}{f' of {entry.dist.name}' if entry.dist else ''})"
    try:
        component = entry.load()()
    except (ForensixError, MemoryError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UsageError(f"{who} cannot be loaded: {reason}") from error
    if slot in METHODS and not callable(getattr(component, METHODS[slot], None)):
        raise UsageError(f"{who} has no method {METHODS[slot]}: its function made a {type(component).__name__}")
    return component


def _read(name: str, slot: str | None) -> "Detector":
    """Return the detector of a card or of the hub; it must fill the slot, if one is named."""
    if _is_hub(name):
        from forensix.models.hub import load_hub

        model = load_hub(os.fspath(expanded(name)))
    else:
        _check(get_card(name), slot)
        model = load_model(name)
    _check(model.card, slot)
    if model.card.architecture == "ensemble":
        from forensix.models.ensemble import ensemble_of

        place = expanded(name)
        folder = place if place.is_dir() else place.parent
        return ensemble_of(model, folder, lambda member: _read(member, model.card.component))
    return detector_of(model)


def detector_of(model: "LoadedModel") -> "Detector":
    """Return the detector that feeds a network as its card says.

    Raises
    ------
    ModelNotFound
        The card does not say all that has to be known.
    """
    module, _, maker = READERS[model.card.component].partition(":")
    make: Callable[[LoadedModel], Detector] = getattr(import_module(module), maker)
    try:
        return make(model)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ModelNotFound(f"the card of {model.card.name!r} does not say how to feed it: {reason}") from error


def _is_hub(name: str) -> bool:
    return is_hub(name) and all(card.name != name for card in list_models())


def _check(card: ModelCard, slot: str | None) -> None:
    if card.component not in READERS:
        raise UsageError(f"{card.name} is {with_article(card.component)}, which tells no fake from real")
    if slot is not None and slot != card.component:
        raise UsageError(f"{card.name} is {with_article(card.component)}, not {with_article(slot)}")


def with_article(slot: str) -> str:
    """Return the name of a slot as a sentence says what a component is.

    >>> with_article("image_detector"), with_article("spoof")
    ('an image_detector', 'a spoof')
    """
    return f"{'an' if slot[0] in 'aeiou' else 'a'} {slot}"


def is_hub(name: str) -> bool:
    """Return whether it is a folder that holds a classifier of transformers, or could be an id of the hub."""
    if (place := expanded(name)).is_dir():
        return (place / "config.json").is_file()
    return _ID.fullmatch(name) is not None and not os.path.exists(name)


def load_component(slot: str, chosen: Any, placement: Placement = Placement()) -> Any:  # noqa: B008 - frozen
    """Return the component for a slot: the object itself, or the one of that name, built once.

    Parameters
    ----------
    slot
        One that a task has, for example ``"spoof"``, ``"diarisation"`` or ``"image_detector"``.
    chosen
        A name, the path to a card, or a ready object, which is returned as it is.
    placement
        Where it runs, if it is a network that can be moved and not a ready object.

    Raises
    ------
    ModelNotFound
        No component of that name.
    WeightsMissing
        It is known but its weights are not on this machine.
    UsageError
        The function of its entry point fails, or makes something without the slot's method.
    """
    if not isinstance(chosen, str):
        return chosen
    with _building:
        return _build(slot, chosen, placement, _card_there(chosen))


def _card_there(name: str) -> str:
    """Return the card at a path as it is now, empty for a name: in one folder one model may come after another."""
    return get_card(name).model_dump_json() if is_place(name) and not _is_hub(name) else ""


def as_named(chosen: Any) -> Any:
    """Return the path of a card as the text that `load_component` takes for one; a name or an object as it is.

    Examples
    --------
    >>> from pathlib import Path
    >>> as_named("aasist"), as_named(Path("mine")) == os.path.join(os.curdir, "mine")
    ('aasist', True)
    """
    return os.path.join(os.curdir, expanded(chosen)) if isinstance(chosen, os.PathLike) else chosen


def as_absolute(chosen: Any) -> Any:
    """Return the path of a card so that it means the same to a process in another folder; a name or object as it is."""
    chosen = as_named(chosen)
    return os.path.abspath(expanded(chosen)) if isinstance(chosen, str) and is_place(chosen) else chosen


def check_component(slot: str, name: str) -> None:
    """Raise what `load_component` would for a component that cannot be had; no network is loaded.

    Of one of the hub only the spelling is looked at.
    """
    if any(card.name == name for card in cards_of(slot)) or (slot in READERS and is_place(name)):
        if slot in READERS:
            _check(get_card(name), slot)
        checked_files(name)
    elif name not in component_names(slot) and not (slot in READERS and _is_hub(name)):
        known = ", ".join(component_names(slot))
        raise ModelNotFound(f"there is no {slot} component named {name!r}{if_folder(name)}; there are: {known}")


def is_foreign(slot: str, chosen: Any) -> bool:
    """Return whether a component, by name or as an object, is of the caller's own or of another package."""
    if isinstance(chosen, str):
        entry = _entries(slot).get(chosen)
        return entry is not None and not entry.value.startswith("forensix.")
    return not type(chosen).__module__.startswith("forensix.")


def check_object(slot: str, chosen: Any) -> None:
    """Raise `UsageError` for an object that cannot fill a slot: it lacks the slot's method, or is a class."""
    if isinstance(chosen, str | os.PathLike) or slot not in METHODS:
        return
    if isinstance(chosen, type):
        raise UsageError(f"{slot} is a name or an object, and {chosen.__name__} is a class: write {chosen.__name__}()")
    if not callable(getattr(chosen, METHODS[slot], None)):
        raise UsageError(
            f"{slot} is a name or an object with the method {METHODS[slot]}; this {type(chosen).__name__} has none"
        )


def load_detector(
    name: str | os.PathLike[str], *, device: str = "cpu", batch_size: int | None = None, half: bool = False
) -> "Detector":
    """Return a detector that scores one input or many: ``load_detector("aasist").score(["a.wav", "b.wav"])``.

    It fills its card's slot too: ``analyze(path, spoof=detector)``, ``evaluate(manifest, task, component=detector)``.
    The network sees the whole picture, every face of it, or the whole recording, fed as its authors feed it; `analyze`
    finds speech and speakers, follows faces and looks at the frames of videos before it asks the same network.

    Parameters
    ----------
    name
        Of a model, see `list_models`; a path to a card or to a folder with one, its weights beside it; or an id of the
        Hugging Face hub, ``owner/name``, or a folder that transformers wrote, see `forensix.models.hub`.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"`` or another of torch's; ``"auto"`` for CUDA or MPS where they are.
    batch_size
        Inputs that go through the network at once; by default the detector's own number. It is halved as often as the
        device's memory asks for.
    half
        Whether matrix products are done with 16 bits: faster where the device has them, about three digits agree.

    Raises
    ------
    ModelNotFound
        No model of that name.
    WeightsMissing, WeightsMismatch
        Its weights are not on this machine, or not those of its card.
    UsageError
        It tells no fake from real, or the device is not there.

    Examples
    --------
    >>> import numpy as np
    >>> detector = load_detector("forensix-image")
    >>> scores = detector.score([np.zeros((64, 64, 3), np.uint8)] * 2)
    >>> scores.shape, detector.card.component
    ((2,), 'image_detector')
    """
    share_cores()
    placement = Placement(device, batch_size, half)
    placement.check()
    return _read(os.fspath(name), None).on(placement)
