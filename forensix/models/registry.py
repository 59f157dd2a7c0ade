"""Components by name: what is built in and what other packages add come through the same entry points.

A component is a plain object with one verb. A package offers one with an entry point in the group
``forensix.<slot>`` whose value is a function without arguments that makes it::

    [project.entry-points."forensix.spoof"]
    my-detector = "my_package:make_detector"

and ``analyze(path, spoof="my-detector")`` uses it. Built components are kept, so a model is loaded once a process.
"""

from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from forensix.errors import ModelNotFound
from forensix.interpreter import entry_points


@cache
def _entries(slot: str) -> dict[str, EntryPoint]:
    return entry_points(f"forensix.{slot}")


def component_names(slot: str) -> tuple[str, ...]:
    """Return the names that can fill a slot, sorted."""
    return tuple(sorted(_entries(slot)))


@cache
def _build(slot: str, name: str) -> Any:
    entries = _entries(slot)
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none (is forensix installed, not only on the path?)"
        raise ModelNotFound(f"there is no {slot} component named {name!r}; there are: {known}")
    return entries[name].load()()


def load_component(slot: str, chosen: Any) -> Any:
    """Return the component for a slot: the object itself, or the one of that name, built once.

    Parameters
    ----------
    slot
        One that a task has, for example ``"spoof"``, ``"diarisation"`` or ``"image_detector"``.
    chosen
        A name, or a ready object, which is returned as it is.

    Raises
    ------
    ModelNotFound
        No component of that name.
    WeightsMissing
        It is known but its weights are not on this machine.
    """
    return _build(slot, chosen) if isinstance(chosen, str) else chosen
