"""Score one file: as it is and degraded, by each component, through the task that users go through.

What is scored is what a user's file would get: the task opens it, finds faces or speech, and pools. Degraded copies are
made of the decoded content, the same for real and fake, and go the same way. A file is opened and decoded once, and
what does not depend on the component (face tracks, speech) is found once a copy.

What a file says of itself (a generator's mark) counts as it does for users, unless ``metadata`` is False. Degraded
copies carry none.
"""

import math
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensix.errors import InputError, MissingExtra, ModelError, UsageError
from forensix.evaluation.identity import code_identity, component_identity
from forensix.media import Limits, Media, open_media
from forensix.metadata.facts import Facts
from forensix.models import Placement, load_component
from forensix.perturb import names
from forensix.perturb.files import kind_of_degradation
from forensix.perturb.medium import degrade
from forensix.tasks import Options, Task, load_task

NONE = "none"
Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """What is done to a file before it is scored: ``none``, or a degradation at a strength."""

    degradation: str = NONE
    strength: float | None = None


@dataclass(frozen=True)
class Job:
    """What is the same for all files of an evaluation."""

    task: str
    slot: str | None
    """The component slot that is chosen for; None for a task without any."""
    components: tuple[Any, ...]
    identities: tuple[str | None, ...]
    code: str
    metadata: bool
    seed: int
    limits: Limits
    placement: Placement = Placement()  # noqa: RUF009 - frozen


@dataclass(frozen=True)
class Item:
    """One file, and which pairs of a component (by its place) and a condition are wanted of it."""

    path: str
    sha256: str
    pairs: tuple[tuple[int, Condition], ...]


def score_file(job: Job, item: Item) -> list[Row]:
    """Return a row for each wanted pair, in their order.

    A row holds ``score`` (None where there is none), ``class_name``, ``inconclusive`` (whether the verdict tells
    neither class), ``error`` (None, or why there is no score), ``code`` (the error's slug), ``seconds``, ``frames``
    (pairs of milliseconds and score), and ``skipped``: True where the degradation is none of this kind of file. What a
    component does wrong on one file is that file's error.

    Raises
    ------
    UsageError, ModelError
        What would fail for every file: a component that is none, or a package or weights that are not there.
    """
    task, components = _prepared(job)
    rows: dict[int, Row] = {}
    with ExitStack() as stack:
        try:
            media = stack.enter_context(open_media(item.path, limits=job.limits))
            if media.kind not in task.accepts:
                raise UsageError(f"{task.name} analyses {', '.join(sorted(task.accepts))}; this is {media.kind}")
            if media.sha256 != item.sha256:
                raise UsageError(f"{media.name} was changed while it was evaluated")
        except (InputError, UsageError) as error:
            return [_failed(error) for _ in item.pairs]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forensix-")))
        for condition in dict.fromkeys(condition for _, condition in item.pairs):
            places = [i for i, (_, other) in enumerate(item.pairs) if other == condition]
            for place, row in zip(places, _condition_rows(job, task, media, condition, folder, [
                components[item.pairs[i][0]] for i in places
            ]), strict=True):  # fmt: skip
                rows[place] = row
        if change := media.change():
            return [_failed(change) for _ in item.pairs]
    return [rows[place] for place in range(len(item.pairs))]


def degradable(task: Task) -> tuple[str, ...]:
    """Return the kinds of degradations that change what a task looks at: those of sound for one that listens."""
    if "audio" in task.accepts:
        return ("audio",)
    return tuple(kind for kind in ("image", "video") if kind in task.accepts)


def _condition_rows(
    job: Job, task: Task, media: Media, condition: Condition, folder: Path, components: list[Any]
) -> Iterator[Row]:
    begun = time.perf_counter()
    with ExitStack() as stack:
        if condition.degradation != NONE:
            if media.kind == "pdf" or condition.degradation not in names(
                kind_of_degradation(media, condition.degradation)
            ):
                yield from ({"skipped": True} for _ in components)
                return
            try:
                media = stack.enter_context(
                    degrade(media, condition.degradation, condition.strength, folder, seed=job.seed)
                )
            except Exception as error:
                yield from (_failed(error) for _ in components)
                return
        if condition.degradation != NONE or not job.metadata:
            # Under the name that tasks look for.
            kind, form = media.kind, media.format
            media.memo("facts", lambda: Facts(kind, form))
        for component in components:
            yield _scored(job, task, media, component) | {"seconds": round(time.perf_counter() - begun, 4)}
            begun = time.perf_counter()
        if condition.degradation != NONE:
            for path in folder.iterdir():
                path.unlink()


def _scored(job: Job, task: Task, media: Media, component: Any) -> Row:
    options = Options(
        explain=False,
        transcribe=False,
        components={job.slot: component} if job.slot else {},
        placement=job.placement,
        score_only=True,
    )
    try:
        outcome = task.run(media, options)
        if outcome.score is not None and not (math.isfinite(outcome.score) and 0 <= outcome.score <= 1):
            raise ValueError(f"the score {outcome.score} is not in [0, 1]")
        score = None if outcome.score is None else float(outcome.score)
        frames = [[float(ms), float(value)] for ms, value in outcome.frame_scores]
        name = str(getattr(outcome.result, "class_name", ""))
        return _row(score, name, inconclusive=outcome.inconclusive, frames=frames)
    except (ModelError, MissingExtra):
        raise
    except (Exception, SystemExit) as error:
        return _failed(error)


def _row(score: float | None, class_name: str | None, *, inconclusive: bool = False, frames: list[list[float]]) -> Row:
    told = {"class_name": class_name, "inconclusive": inconclusive}
    return {"score": score, **told, "error": None, "code": None, "frames": frames}


def _failed(error: BaseException) -> Row:
    known = isinstance(error, InputError | UsageError)
    sentence = " ".join((str(error) if known else f"{type(error).__name__}: {error}").split())
    if isinstance(error, MemoryError):
        sentence = "this needs more memory than there is"
    code = getattr(error, "code", "internal")
    return _row(None, None, frames=[]) | {"error": sentence[:500] or code, "code": code, "seconds": 0.0}


_checked: dict[int, tuple[Job, Task, list[Any]]] = {}
_checking = threading.Lock()


def _prepared(job: Job) -> tuple[Task, list[Any]]:
    """Load the task and its components, once a process, and make sure that they are those of the one who asks."""
    with _checking:
        return _loaded(job)


def _loaded(job: Job) -> tuple[Task, list[Any]]:
    known = _checked.get(id(job))
    if known is None or known[0] is not job:
        task = load_task(job.task)
        if code_identity(job.task) != job.code:
            raise UsageError("this worker runs another version of forensix, or of what it depends on, than the caller")
        components = [
            load_component(job.slot, chosen, job.placement) if job.slot else None for chosen in job.components
        ]
        for chosen, expected in zip(job.components, job.identities, strict=True):
            if isinstance(chosen, str) and job.slot and component_identity(job.slot, chosen) != expected:
                raise UsageError(f"the component {chosen!r} of this worker is not the one of the caller")
        known = job, task, components
        _checked.clear()
        _checked[id(job)] = known
    return known[1], known[2]
