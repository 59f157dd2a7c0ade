"""Run tasks on many media, here or on many workers, and yield a report for each."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix import executors
from forensix.analysis import check_options, examine
from forensix.errors import BrokeDown, ForensixError, InputError, UsageError, is_disk_full
from forensix.media import Input, Source, as_input, is_url, open_media
from forensix.models import Placement, as_absolute
from forensix.progress import Progress, display, noted
from forensix.report import Report
from forensix.tasks import Options

if TYPE_CHECKING:
    from distributed import Client


Item = tuple[str, Input | InputError]
"""How a report names an input, and the input, or why there is none."""
_OPENING = ("limits", "private_hosts")
_ASKED = ("explain", "transcribe", "additional_info")
_NO_COMPONENTS = {*_OPENING, *_ASKED, "name", "sample_rate", "progress", "device", "batch_size"}


def analyze_many(
    sources: Iterable[Source],
    tasks: Collection[str] | None = None,
    *,
    executor: "int | str | Client | None" = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Iterator[Report]:
    """Analyse inputs, here or on many workers; an input that cannot be opened yields a report that says so.

    Takes the options of `analyze`.

    Parameters
    ----------
    executor
        Where to run; see `forensix.executors`. Worker processes by default, where there are enough inputs; threads
        where ``device`` is not the processor, so that what several inputs ask of a network goes through it together.
        No more is taken from ``sources`` than the workers can hold.
    progress
        As for `analyze`; of what runs in other processes it is told once an input is done.

    Yields
    ------
    Report
        One an input, in order. Of an input that ended two worker processes, or on which a task broke down, the report
        says so.

    Raises
    ------
    UsageError
        Before the first input, for an unknown task, component, option or executor, and for one path instead of several.
    ModelError
        A model that a task needs cannot be used: it would fail for every input.
    OSError
        The disk is full.
    Exception
        What ``progress`` raises; what ``sources`` itself raises, or the `UsageError` of what is no input, once the
        reports of all before are yielded.
    """
    if isinstance(sources, str | bytes | os.PathLike):
        raise UsageError("analyze_many takes a list of inputs: write analyze_many([...]), or analyze for one")
    check_options(tasks, options)
    executors.check(executor)
    placement = _placement(options)
    if executors.is_here(executor):
        placement.check()
    return _each(sources, tasks, executor, progress, options)


def _each(
    sources: Iterable[Source],
    tasks: Collection[str] | None,
    executor: "int | str | Client | None",
    progress: Progress | bool | None,
    options: dict[str, Any],
) -> Iterator[Report]:
    with display(progress, lasting=False) as tell:
        yield from _reports(sources, tasks, executor, tell, options)


def _reports(
    sources: Iterable[Source],
    tasks: Collection[str] | None,
    executor: "int | str | Client | None",
    progress: Progress,
    options: dict[str, Any],
) -> Iterator[Report]:
    total = len(sources) if isinstance(sources, Sized) else 0
    names: dict[int, str] = {}
    ended: list[Exception] = []
    reading = {key: options[key] for key in ("name", "sample_rate", "limits") if key in options}

    def items() -> Iterator[Item]:
        for index, source in enumerate(sources):
            item: Input | InputError
            try:
                item = _absolute(as_input(source, **reading))
                names[index] = item.spelled
            except InputError as error:
                # Objects are read here, since a file that is open cannot be sent to another process.
                item, names[index] = error, options.get("name") or f"input {index + 1}"
            yield names[index], item

    apart = executor is None and _placement(options).is_apart
    chosen, waiting = executors.choose(
        executor, _until_error(items(), ended), (_report_of, (tasks, options)), apart=apart
    )
    elsewhere = chosen != "here"
    # Worker processes have folders of their own.
    changes = {k: as_absolute(v) for k, v in _components(options).items()} if elsewhere else {"progress": progress}
    common = tasks, options | changes
    for done in executors.run(_report_of, common, waiting, executor=chosen, ordered=True, chunk=1):
        name = names.pop(done.index)
        report = done.value
        if done.lost:
            report = _failed(name, f"{name} {done.end}", "crashed", options)
        if elsewhere:
            progress(name, "done", (done.index + 1) / total if total else 1.0)
        yield report
    if ended:
        raise ended[0]


def _until_error(items: Iterator[Item], ended: list[Exception]) -> Iterator[Item]:
    """Yield items until one cannot be made; why is put into ``ended``, so that what came before is not lost."""
    try:
        yield from items
    except Exception as error:
        ended.append(error)


def _components(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in _NO_COMPONENTS}


def _report_of(common: tuple[Collection[str] | None, dict[str, Any]], item: Item) -> Report:
    tasks, settings = common
    name, medium_input = item
    opening: dict[str, Any] = {key: settings[key] for key in _OPENING if key in settings}
    asked = {key: settings[key] for key in _ASKED if key in settings}
    components = _components(settings)
    raised: list[Exception] = []
    try:
        if isinstance(medium_input, InputError):
            raise medium_input
        with open_media(medium_input, **opening) as media:
            progress = noted(settings.get("progress", _silent), raised)
            chosen = Options(**asked, components=components, placement=_placement(settings))
            opening["sample_rate"] = settings.get("sample_rate")
            return examine(media, medium_input, tasks, chosen, progress, opening)
    except InputError as error:
        return _failed(name, str(error), error.code, settings)
    except ForensixError:  # the call or a model is wrong, for every input
        raise
    except Exception as error:
        if raised or is_disk_full(error):
            raise
        broke = BrokeDown.of(name, error)
        return replace(_failed(name, str(broke), broke.code, settings), tracebacks={"input": broke.frames})


def _failed(spelled: str, sentence: str, code: str, options: Mapping[str, Any]) -> Report:
    """Return the report of an input that could not be analysed, under the name that it would have had."""
    name = options.get("name") or (spelled if is_url(spelled) else Path(spelled).name or spelled)
    return Report(input=spelled, name=name, error=sentence, codes={"input": code})


def _placement(options: dict[str, Any]) -> Placement:
    return Placement(**{key: options[key] for key in ("device", "batch_size") if key in options})


def _silent(task: str, stage: str, done: float) -> None:
    pass


def _absolute(medium_input: Input) -> Input:
    """Return what does not depend on the working folder: paths are made absolute, all else stays."""
    if isinstance(medium_input.source, bytes) or is_url(medium_input.source):
        return medium_input
    return replace(medium_input, source=os.path.abspath(medium_input.source))
