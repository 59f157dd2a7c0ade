"""Run tasks on one medium or on many, and gather what they find into reports."""

import contextlib
import datetime as dt
import difflib
import os
import platform
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from forensix.errors import (
    BrokeDown,
    BrokenMedia,
    ForensixError,
    InputError,
    ModelNotFound,
    UsageError,
    is_disk_full,
)
from forensix.media import Input, Limits, Media, Source, as_input, open_media
from forensix.models import ModelCard, Placement, band_of, check_object, get_card
from forensix.progress import Progress, display, noted
from forensix.report import Report
from forensix.tasks import Options, Outcome, Task, load_task, select_tasks
from forensix.tasks.catalogue import describe, descriptions, task_names
from forensix.tasks.evidence import check_outcome
from forensix.tasks.task import blamed, check_names, check_slots, deciding_versions

_KINDS: dict[str, tuple[Any, str]] = {
    "explain": (bool, "True or False"),
    "transcribe": (bool, "True or False"),
    "additional_info": (str | None, "text"),
    "name": (str | None, "text"),
    "limits": (Limits, "a forensix.media.Limits(...)"),
}
"""Of what type an option is, and in words; any text would be true, and others would fail once all is analysed."""


def analyze(
    source: Source,
    tasks: Collection[str] | None = None,
    *,
    explain: bool = True,
    transcribe: bool = True,
    additional_info: str | None = None,
    name: str | None = None,
    sample_rate: float | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    private_hosts: Collection[str] = (),
    device: str = "cpu",
    batch_size: int | None = None,
    progress: Progress | bool | None = None,
    **components: Any,
) -> Report:
    """Analyse one file, URL, picture or recording.

    Parameters
    ----------
    source
        A path, an ``http(s)`` URL, the bytes of a file, a file object (binary, read from where it stands), a PIL
        picture, or a NumPy array: a picture is uint8 (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) grey; sound is (n,) or
        (n, channels), int16, or floating-point with 1 as full scale.
    tasks
        Names of tasks; by default every task that accepts what the content turns out to be. Arrays and PIL pictures
        have no file to examine, so ``forensic_analysis`` is left out for them unless it is named.
    explain
        Also give faces, heat maps, speakers and features.
    transcribe
        Also give the words of a recording.
    additional_info
        Text that the forensic result echoes.
    name
        File name to assume for bytes and objects.
    sample_rate
        Samples a second, in Hz, of an array that holds sound.
    limits
        Bounds on size, duration and resolution.
    private_hosts
        Hosts that a URL may reach although they are private.
    device
        Where the networks that judge pictures, faces and voices, and the one that finds faces, run: ``"cpu"``,
        ``"cuda"``, ``"cuda:1"``, ``"mps"`` or another of torch's; ``"auto"`` for CUDA or MPS where they are. The small
        ones beside them stay on the processor.
    batch_size
        Windows, frames and crops that go through a network at once; by default each component's own number. It is
        halved as often as the device's memory asks for.
    progress
        Called with the task's name, a stage in words and the share that is done. True draws a bar, False none; by
        default a notebook gets one.
    **components
        Components by slot: names, paths to cards, or objects, which stay where they are; for example
        ``spoof="aasist"`` or ``spoof=forensix.load_detector("aasist", device="cuda")``.

    Returns
    -------
    Report
        Results by task. A task that could not be finished, or broke down, stands in ``report.errors``; the others are
        complete.

    Raises
    ------
    InputError
        The input cannot be opened, or is not of a kind that the named tasks accept; an array of another shape or type.
    UsageError
        No task or an unknown one, an unknown component slot, an option of another type, an object without its slot's
        method, or a device that is not there.
    ModelError
        A model that a task needs cannot be used.
    OSError
        The disk is full.
    Exception
        What ``progress`` raises.

    Examples
    --------
    >>> from forensix import small
    >>> picture = small.folder("images") / "photographed-0.jpg"
    >>> analyze(picture, tasks=["forensic_analysis"]).verdicts
    {'forensic_analysis': 'benign'}
    """
    texts = {"additional_info": additional_info, "name": name}
    check_options(tasks, {"explain": explain, "transcribe": transcribe, "limits": limits, **texts, **components})
    placement = Placement(device, batch_size)
    placement.check()
    options = Options(explain, transcribe, additional_info, components, placement)
    medium_input = as_input(source, name=name, sample_rate=sample_rate, limits=limits)
    with (
        display(progress, lasting=False) as tell,
        open_media(medium_input, limits=limits, private_hosts=private_hosts) as media,
    ):
        opening = {"sample_rate": sample_rate, "limits": limits, "private_hosts": private_hosts}
        return examine(media, medium_input, tasks, options, tell, opening)


def examine(
    media: Media,
    medium_input: Input,
    tasks: Collection[str] | None,
    options: Options,
    progress: Progress,
    opening: Mapping[str, Any],
) -> Report:
    """Run tasks on an open medium and report what they found of ``medium_input``, which it was opened from.

    ``opening`` are the options of `analyze` by which it was read and opened.
    """
    chosen, refused = select_tasks(tasks, media)
    settings = {"tasks": [*chosen, *refused], "explain": options.explain, "transcribe": options.transcribe}
    settings |= _placed(options.placement) | _opened(medium_input, **opening)
    settings |= {slot: c if isinstance(c, str) else type(c).__name__ for slot, c in options.components.items()}
    objects = [slot for slot, c in options.components.items() if not isinstance(c, str)]
    if isinstance(medium_input.source, bytes):
        objects.append("input")
    started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    outcomes: dict[str, Outcome] = {}
    errors: dict[str, ForensixError] = dict(refused)
    timings_s: dict[str, float] = {}
    for task, (outcome, seconds) in zip(chosen, _run_all(chosen, media, options, progress), strict=True):
        timings_s[task] = seconds
        if isinstance(outcome, Outcome):
            outcomes[task] = outcome
        else:
            errors[task] = outcome
    return Report(
        input=medium_input.spelled,
        name=media.name,
        sha256=media.sha256,
        kind=media.kind,
        format=media.format,
        size_bytes=media.size_bytes,
        info=media_info(media),
        outcomes=outcomes,
        errors={task: str(error) for task, error in errors.items()},
        codes={task: error.code for task, error in errors.items()},
        tracebacks={task: error.frames for task, error in errors.items() if isinstance(error, BrokeDown)},
        settings=settings,
        versions=versions(),
        models=_models(outcomes.values(), options.components.values(), media.kind),
        timings_s=timings_s,
        warnings=(*_of_no_file(media, chosen), *media.warnings),
        additional_info=options.additional_info,
        started=started,
        objects=tuple(objects),
    )


def _run_all(
    tasks: Sequence[str], media: Media, options: Options, progress: Progress
) -> Iterator[tuple[Outcome | ForensixError, float]]:
    """Yield what came of each task, in order, and the seconds it took.

    One that examines the file's structure waits for other processes most of the time, so it runs beside those that run
    networks, and while they are loaded; it then tells nothing of its progress, which is told from the caller's thread
    only.
    """
    beside = [name for name in tasks if len(tasks) > 1 and describe(name).examines_broken]
    raised: list[Exception] = []
    with ThreadPoolExecutor(max(1, len(beside)), "forensix-task") as pool:
        waiting = {name: pool.submit(_run, load_task(name), media, options) for name in beside}
        for name in tasks:
            if name in waiting:
                yield waiting[name].result()
            else:
                staged = replace(options, progress=partial(noted(progress, raised), name))
                yield _run(load_task(name), media, staged, raised)


def _run(
    task: Task, media: Media, options: Options, raised: Collection[Exception] = ()
) -> tuple[Outcome | ForensixError, float]:
    """Return what came of a task; ``raised`` fills with what the caller's progress raises, to end the analysis."""
    begun = time.perf_counter()
    outcome: Outcome | ForensixError
    try:
        outcome = task.run(media, options)
        if not isinstance(outcome, Outcome):
            raise UsageError(f"the task {task.name} must return an Outcome, not a {type(outcome).__name__}")
        check_outcome(outcome, describe(task.name).result)
        if outcome.score is not None:  # a number of numpy's is no JSON
            outcome = replace(outcome, score=float(outcome.score))
    except (InputError, UsageError) as error:
        outcome = error
    except MemoryError:
        outcome = BrokenMedia(f"{media.name} needs more memory than there is")
    except ForensixError:  # the call or a model is wrong, for every input
        raise
    except (Exception, SystemExit) as error:  # which a component has no business to end the program with
        if raised or is_disk_full(error):
            raise
        outcome = BrokeDown.of(media.name, error, blamed(error, task, options))
    if not isinstance(outcome, UsageError):
        # What was read of several states is of none, however sound it looks.
        outcome = media.change(reread=not isinstance(outcome, Outcome)) or outcome
    return outcome, time.perf_counter() - begun


def _of_no_file(media: Media, chosen: Collection[str]) -> Iterator[str]:
    """Yield what has to be said of a file that forensix wrote itself, from an array or a PIL picture."""
    if media.written is None:
        return
    examined = [name for name in chosen if describe(name).examines_broken]
    if examined:
        yield (
            f"the input is {media.written}, not a file: forensix wrote the {media.format} file that"
            f" {' and '.join(examined)} examined, so claims about the file say nothing about the origin of its content"
        )
    else:
        left_out = [task.name for task in descriptions() if task.examines_broken and media.kind in task.accepts]
        yield f"the input is {media.written}, not a file: {' and '.join(left_out)} was left out"


def check_options(tasks: Collection[str] | None, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` where the options of `analyze`, components by slot among them, are none or of another type.

    An unknown one is told with what may have been meant.
    """
    if tasks is not None:
        check_names(tasks)
        if not tasks:
            names = ", ".join(task_names())
            raise UsageError(f"tasks names none: leave it out for all that fit, or name some of {names}")
    for name, (kind, words) in _KINDS.items():
        if name in options and not isinstance(options[name], kind):
            raise UsageError(f"{name} is {words}, not {options[name]!r}")
    own = set(analyze.__kwdefaults__ or ())
    components = {slot: chosen for slot, chosen in options.items() if slot not in own}
    if "executor" in components:
        raise UsageError("executor is an option of analyze_many: analyze looks at one input, in this process")
    if "component" in components:
        card = _card(components["component"])
        slot, name = (card.component, card.name) if card else ("spoof", "aasist")
        raise UsageError(f"component is an option of evaluate: analyze takes it by its slot, as in {slot}={name!r}")
    try:
        check_slots(components)
    except UsageError:
        for name in components:
            if meant := difflib.get_close_matches(name, ("tasks", *own, "executor"), 1, 0.8):
                raise UsageError(f"there is no option {name!r}: did you mean {meant[0]!r}?") from None
        raise
    for slot, chosen in components.items():
        check_object(slot, chosen)


def _placed(placement: Placement) -> dict[str, Any]:
    """Return where networks ran, where that is said."""
    device = {} if placement.device == "cpu" else {"device": placement.device}
    return device | ({} if placement.batch_size is None else {"batch_size": int(placement.batch_size)})


def _opened(
    medium_input: Input,
    sample_rate: float | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    private_hosts: Collection[str] = (),
) -> dict[str, Any]:
    """Return how an input was opened, as far as it differs from what `analyze` does by itself."""
    own = asdict(Limits())
    bounds = {name: value for name, value in asdict(limits).items() if value != own[name]}
    said: dict[str, Any] = {"limits": bounds, "private_hosts": list(private_hosts)}
    if not isinstance(medium_input.source, bytes) and medium_input.name != os.path.basename(medium_input.spelled):
        said["name"] = medium_input.name
    if sample_rate is not None:
        said["sample_rate"] = int(sample_rate)
    return {name: value for name, value in said.items() if value}


def media_info(media: Media) -> dict[str, Any]:
    """Return what is known of a medium's streams, for the report; unknown values are left out."""
    return {key: value for key, value in asdict(media.info).items() if value not in (None, False)}


def versions() -> dict[str, str]:
    """Return the versions of what an analysis depends on."""
    return {"python": platform.python_version(), **deciding_versions()}


def _models(outcomes: Iterable[Outcome], chosen: Iterable[Any], kind: str) -> tuple[dict[str, Any], ...]:
    own = {card.name: card for component in chosen if (card := _card(component)) is not None}
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.models)
    described = []
    for name in names:
        try:
            card = own.get(name) or get_card(name)
        except ModelNotFound:  # a component of another package, which keeps its own records
            described.append({"name": name})
        else:
            fields = ("name", "sha256", "component", "summary", "threshold", "limits", "licence")
            about = {"inconclusive": band_of(card, kind), "calibrated": card.calibration is not None}
            described.append({key: getattr(card, key) for key in fields} | about)
    return tuple(described)


def _card(chosen: Any) -> ModelCard | None:
    """Return the card of a component that the caller chose, by name, path or as an object."""
    if isinstance(chosen, str):
        with contextlib.suppress(ModelNotFound):
            return get_card(chosen)
        return None
    card = getattr(chosen, "card", None)
    return card if isinstance(card, ModelCard) else None
