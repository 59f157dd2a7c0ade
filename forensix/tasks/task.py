"""What a task is, and how tasks are found and chosen."""

import contextlib
import gc
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, Protocol

from forensix.errors import ForensixError, UnsupportedMedia, UsageError, is_disk_full
from forensix.media import Media
from forensix.models import Placement, as_named, is_foreign, load_component
from forensix.models.placement import share_cores
from forensix.schema import MediaKind
from forensix.tasks.catalogue import SPECIFIED, check_name, describe, descriptions, leave_out, unusable
from forensix.tasks.evidence import Outcome

_DECIDING = ("forensix", "numpy", "scipy", "scikit-image", "torch", "torchaudio", "torchvision", "timm", "av", "pillow",
             "pillow-heif", "jpeglib", "facenet-pytorch", "praat-parselmouth", "silero-vad", "c2pa-python", "pikepdf",
             "pyhanko")  # fmt: skip
"""Packages whose release can change a score or a claim."""

Progress = Callable[[str, float], None]
"""Called with a stage in words and how much of the task is done, 0 to 1."""


def _silent(stage: str, done: float) -> None:
    pass


@dataclass(frozen=True)
class Options:
    """What the caller asked for, the same for every task."""

    explain: bool = True
    transcribe: bool = True
    additional_info: str | None = None
    components: Mapping[str, Any] = field(default_factory=dict)
    """Component names, paths or objects by slot, where the caller chose other than a task's default."""
    placement: Placement = Placement()  # noqa: RUF009 - frozen
    """Where components that are chosen by name run."""
    progress: Progress = _silent
    score_only: bool = False
    """Only verdict and score are wanted: what moves neither may be left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", {slot: as_named(c) for slot, c in self.components.items()})


class Task(Protocol):
    """One analysis."""

    name: str
    accepts: frozenset[MediaKind]
    components: Mapping[str, str]
    """Default component name by slot."""

    def run(self, media: Media, options: Options) -> Outcome:
        """Analyse one medium.

        Raises
        ------
        InputError
            This medium cannot be analysed.
        ModelError
            A model that the task needs cannot be used.
        """
        ...


@cache
def deciding_versions() -> Mapping[str, str]:
    """Return the releases of the installed packages that a result depends on, by name."""
    versions = {}
    for package in _DECIDING:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return MappingProxyType(versions)


@cache
def load_task(name: str) -> Task:
    """Return the task of a name; what it needs is imported now.

    Raises
    ------
    UsageError
        No task of that name, or one that cannot be loaded.
    """
    check_name(name)
    share_cores()
    try:
        with _without_collection():
            task: Task = describe(name).load()
    except (ForensixError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if is_disk_full(error):
            raise
        raise unusable(name, error) from error
    lacking = [part for part in ("name", "accepts", "components", "run") if not hasattr(task, part)]
    if lacking:
        raise unusable(name, f"{type(task).__name__} has no {lacking[0]}")
    return task


def usable_names() -> tuple[str, ...]:
    """Return the names of the tasks that run when none are named: those of other packages are loaded for it.

    One that cannot be loaded is left out, and a warning says why.
    """
    return tuple(task.name for task in descriptions() if task in SPECIFIED or _loads(task.name))


def _loads(name: str) -> bool:
    try:
        load_task(name)
    except ForensixError as error:
        leave_out(str(error))
        return False
    return True


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Do not look for garbage: there is none among what imports make, a quarter of a million objects with torch."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def select_tasks(names: Collection[str] | None, media: Media) -> tuple[tuple[str, ...], dict[str, UnsupportedMedia]]:
    """Return the names of the tasks to run on a medium, and why each named one that does not accept it is left out.

    Without names these are all that accept it, but those that examine a file where forensix wrote that itself.

    Raises
    ------
    UsageError
        No task of that name.
    UnsupportedMedia
        No named task accepts this kind of medium.
    """
    if names is None:
        fitting = [name for name in usable_names() if media.kind in describe(name).accepts]
        written = media.written is not None
        return tuple(name for name in fitting if not (written and describe(name).examines_broken)), {}
    check_names(names)
    asked = dict.fromkeys(names)
    refused = {name: _refusal(name, media) for name in asked if media.kind not in describe(name).accepts}
    chosen = tuple(name for name in asked if name not in refused)
    if refused and not chosen:
        raise UnsupportedMedia(". ".join(map(str, refused.values())))
    return chosen, refused


def _refusal(name: str, media: Media) -> UnsupportedMedia:
    return UnsupportedMedia(
        f"{name} analyses {', '.join(sorted(describe(name).accepts))}; {media.name} is {media.kind}"
    )


def check_names(names: Collection[str]) -> None:
    """Raise `UsageError` unless every name is a task."""
    if isinstance(names, str):
        raise UsageError(f"tasks is a list of names: write tasks=[{names!r}]")
    for name in names:
        check_name(name)


def check_slots(slots: Collection[str]) -> None:
    """Raise `UsageError` unless every slot is one that some task fills."""
    if not slots:
        return
    known = {slot for name in usable_names() for slot in load_task(name).components}
    unknown = sorted(set(slots) - known)
    if unknown:
        raise UsageError(f"no task has a component {unknown[0]!r}; there are: {', '.join(sorted(known))}")


def component(task: Task, slot: str, options: Options) -> Any:
    """Return the component that fills a task's slot: the caller's choice, else the task's default."""
    return load_component(slot, options.components.get(slot, task.components[slot]), options.placement)


def blamed(error: BaseException, task: Task, options: Options) -> str:
    """Return in words which component of the caller's own an exception came out of, or may be due to; empty without."""
    own = {
        slot: load_component(slot, chosen, options.placement)
        for slot, chosen in options.components.items()
        if slot in task.components and is_foreign(slot, chosen)
    }
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for slot, chosen in own.items():
        if any(frame.f_locals.get("self") is chosen for frame in frames):
            return f" in the {slot} component {component_label(chosen)}"
    named = " or ".join(f"the {slot} component {component_label(chosen)}" for slot, chosen in own.items())
    return f", maybe over what it was given by {named}" if named else ""


def component_label(chosen: Any) -> str:
    """Return a name for the report: the card's where there is one, else the object's own, else its class's."""
    card = getattr(chosen, "card", None)
    return str(card.name if card is not None else getattr(chosen, "name", type(chosen).__name__))
