"""Run tasks on one medium or on many, and gather what they find into reports."""

import contextlib
import datetime as dt
import os
import platform
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from forensix import executors
from forensix.errors import BrokenMedia, ForensixError, InputError, ModelNotFound, UsageError
from forensix.media import Limits, Media, is_url, open_media
from forensix.models import get_card
from forensix.report import Report
from forensix.tasks import Options, Outcome, Task, select_tasks
from forensix.tasks.task import check_names, check_slots

if TYPE_CHECKING:
    from distributed import Client

Source = str | os.PathLike[str] | bytes
Progress = Callable[[str, str, float], None]
"""Called with the task's name, a stage in words, and how much of the task is done, 0 to 1."""

_VERSIONED = ("forensix", "numpy", "torch", "av", "pillow", "facenet-pytorch", "praat-parselmouth", "silero-vad",
              "c2pa-python", "pikepdf", "pyhanko")  # fmt: skip


def analyze(
    source: Source,
    tasks: Collection[str] | None = None,
    *,
    explain: bool = True,
    transcribe: bool = True,
    additional_info: str | None = None,
    name: str | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    private_hosts: Collection[str] = (),
    progress: Progress | None = None,
    **components: Any,
) -> Report:
    """Analyse one file, URL or byte string.

    Parameters
    ----------
    source
        A path, an ``http(s)`` URL, or the bytes of a file.
    tasks
        Names of tasks; by default every task that accepts what the content turns out to be.
    explain
        Also give faces, heat maps, speakers and features.
    transcribe
        Also give the words of a recording.
    additional_info
        Text that the forensic result echoes.
    name
        File name to assume for bytes.
    limits
        Bounds on size, duration and resolution.
    private_hosts
        Hosts that a URL may reach although they are private.
    progress
        Called as the work goes on.
    **components
        Component names or objects by slot, for example ``spoof="aasist"``.

    Returns
    -------
    Report
        Results by task. A task that could not be finished stands in ``report.errors``; the others are complete.

    Raises
    ------
    InputError
        The input cannot be opened, or is not of a kind that the named tasks accept.
    UsageError
        Unknown task or component slot.

    Examples
    --------
    >>> from sklearn.datasets import get_data_home  # doctest: +SKIP
    >>> analyze("photo.jpg", tasks=["forensic_analysis"]).verdicts  # doctest: +SKIP
    """
    _check(tasks, components)
    with open_media(source, name=name, limits=limits, private_hosts=private_hosts) as media:
        options = Options(explain, transcribe, additional_info, components)
        return _examine(media, _spelled(source, name), tasks, options, progress)


def _examine(
    media: Media, given: str, tasks: Collection[str] | None, options: Options, progress: Progress | None
) -> Report:
    chosen = select_tasks(tasks, media.kind)
    settings = {"tasks": [task.name for task in chosen], "explain": options.explain}
    settings["transcribe"] = options.transcribe
    settings |= {slot: c if isinstance(c, str) else type(c).__name__ for slot, c in options.components.items()}
    started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    outcomes: dict[str, Outcome] = {}
    errors: dict[str, ForensixError] = {}
    timings_s: dict[str, float] = {}
    for task in chosen:
        begun = time.perf_counter()
        try:
            outcomes[task.name] = task.run(media, replace(options, progress=_stage(progress, task)))
        except (InputError, UsageError) as error:
            errors[task.name] = error
        except MemoryError:
            errors[task.name] = BrokenMedia(f"{media.name} needs more memory than there is")
        timings_s[task.name] = time.perf_counter() - begun
    return Report(
        input=given,
        name=media.name,
        sha256=media.sha256,
        kind=media.kind,
        format=media.format,
        size_bytes=media.size_bytes,
        info=media_info(media),
        outcomes=outcomes,
        errors={task: str(error) for task, error in errors.items()},
        codes={task: error.code for task, error in errors.items()},
        settings=settings,
        versions=versions(),
        models=_models(outcomes.values()),
        timings_s=timings_s,
        warnings=tuple(media.warnings),
        additional_info=options.additional_info,
        started=started,
    )


def analyze_many(
    sources: Iterable[Source],
    tasks: Collection[str] | None = None,
    *,
    executor: "int | str | Client | None" = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[Report]:
    """Analyse inputs, here or on many workers; an input that cannot be opened yields a report that says so.

    Takes the options of `analyze`.

    Parameters
    ----------
    executor
        Where to run; see `forensix.executors`. Worker processes by default, where there are enough inputs. No more is
        taken from ``sources`` than the workers can hold.
    progress
        Called as the work goes on; from other processes once an input is done.

    Yields
    ------
    Report
        One an input, in order. Of an input that ended two worker processes, the report says so.

    Raises
    ------
    UsageError
        Before the first input, for an unknown task, component, option or executor.
    ModelError
        A model that a task needs cannot be used: it would fail for every input.
    """
    keywords = set(analyze.__kwdefaults__ or ())
    _check(tasks, {key: value for key, value in options.items() if key not in keywords})
    executors.check(executor)
    return _each(sources, tasks, executor, progress, options)


def _each(
    sources: Iterable[Source],
    tasks: Collection[str] | None,
    executor: "int | str | Client | None",
    progress: Progress | None,
    options: dict[str, Any],
) -> Iterator[Report]:
    given: dict[int, str] = {}

    def items() -> Iterator[tuple[str, Source]]:
        for index, source in enumerate(sources):
            given[index] = _spelled(source, options.get("name"))
            yield given[index], _anywhere(source)

    chosen, waiting = executors.choose(executor, items(), (_one, (tasks, options)))
    elsewhere = chosen != "here"
    common = tasks, options | ({} if elsewhere else {"progress": progress})
    for done in executors.run(_one, common, waiting, executor=chosen, ordered=True, chunk=1):
        name = given.pop(done.index)
        report = done.value
        if done.lost:
            told = f"{name} ended {done.lost} worker processes, one after the other, and was given up"
            report = Report(input=name, name=name, error=told, codes={"input": "crashed"})
        if elsewhere and progress is not None:
            progress(", ".join(report.outcomes), f"{name} is done", 1.0)
        yield report


def _one(common: tuple[Collection[str] | None, dict[str, Any]], item: tuple[str, Source]) -> Report:
    tasks, told = common
    given, source = item
    opening = {key: told[key] for key in ("name", "limits", "private_hosts") if key in told}
    asked = {key: told[key] for key in ("explain", "transcribe", "additional_info") if key in told}
    components = {key: value for key, value in told.items() if key not in {*opening, *asked, "progress"}}
    try:
        with open_media(source, spelled=given, **opening) as media:
            return _examine(media, given, tasks, Options(**asked, components=components), told.get("progress"))
    except InputError as error:
        return Report(input=given, name=given, error=str(error), codes={"input": error.code})


def _check(tasks: Collection[str] | None, components: dict[str, Any]) -> None:
    if tasks is not None:
        check_names(tasks)
    check_slots(components)


def _stage(progress: Progress | None, task: Task) -> Callable[[str, float], None]:
    if progress is None:
        return lambda stage, done: None
    return lambda stage, done: progress(task.name, stage, done)


def _spelled(source: Source, name: str | None) -> str:
    return name or "bytes" if isinstance(source, bytes) else os.fspath(source)


def _anywhere(source: Source) -> Source:
    """Return a path that does not depend on the working folder, and whatever else as it is."""
    return source if isinstance(source, bytes) or is_url(source) else os.path.abspath(source)


def media_info(media: Media) -> dict[str, Any]:
    """Return what is known of a medium's streams, for the report; unknown values are left out."""
    return {key: value for key, value in asdict(media.info).items() if value not in (None, False)}


def versions() -> dict[str, str]:
    """Return the versions of what an analysis depends on."""
    found = {"python": platform.python_version()}
    for package in _VERSIONED:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _models(outcomes: Iterable[Outcome]) -> tuple[dict[str, Any], ...]:
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.models)
    described = []
    for name in names:
        try:
            card = get_card(name)
        except ModelNotFound:  # a component of another package, which keeps its own records
            described.append({"name": name})
        else:
            told = ("name", "sha256", "component", "summary", "threshold", "inconclusive", "limits", "licence")
            described.append({key: getattr(card, key) for key in told} | {"calibrated": card.calibration is not None})
    return tuple(described)
