"""Score every file of a manifest, once, wherever there are workers, and go on where a killed run stopped."""

import contextlib
import datetime as dt
import hashlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix import executors
from forensix.analysis import versions
from forensix.errors import InputError
from forensix.evaluation.gathering import Gathered
from forensix.evaluation.identity import card_of, code_identity, component_identity
from forensix.evaluation.keys import cache_file, common_parts, content_hash, device_setting, row_key
from forensix.evaluation.output import Output
from forensix.evaluation.overlap import find_overlap, untold
from forensix.evaluation.plan import (
    absolute,
    carried,
    check_settings,
    choose_components,
    choose_conditions,
    choose_task,
    read_manifest,
)
from forensix.evaluation.result import Evaluation
from forensix.evaluation.scoring import Item, Job, Row, score_file
from forensix.evaluation.store import Stores
from forensix.importers.links import bring
from forensix.manifest import Manifest
from forensix.media import Limits
from forensix.models import Placement, as_absolute
from forensix.progress import Progress, display
from forensix.tasks.catalogue import describe

if TYPE_CHECKING:
    from distributed import Client

_LOOK_UP = 200
# About a second of work: what the last worker has left when the others are done stays short.
_CHUNK_ROWS = 4


def evaluate(
    manifest: Manifest | str | os.PathLike[str],
    task: str,
    *,
    component: Any = None,
    degradations: "Collection[str] | Mapping[str, Iterable[float | None]] | str | None" = None,
    executor: "int | str | Client | None" = None,
    output: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | bool | None = None,
    metadata: bool = True,
    seed: int = 0,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    device: str = "cpu",
    batch_size: int | None = None,
    private_hosts: Collection[str] = (),
    progress: Progress | bool | None = None,
) -> Evaluation:
    """Score every file of a manifest and return tables and displays.

    A file is scored as a user's file is: the task opens it, finds faces or speech, and pools. Degraded copies are made
    of the decoded content, alike for real and fake, and go the same way. A file that cannot be scored is counted and
    listed in ``failures``; it never gets a score.

    Parameters
    ----------
    manifest
        A manifest, its file, or a folder of ``real/`` and ``fake/``. Rows whose path is an http(s) link are downloaded
        once, to ``collections/links`` in the folder of ``FORENSIX_HOME``; one that cannot be is a failure of its row.
    task
        Name of a task that gives a score.
    component
        What fills the task's first slot: a name, the path to a card, an object with the slot's verb, a list of those
        to compare, or a dict of them by the names that tables shall show. The task's own by default.
    degradations
        Degradations beside the files as they are: names, ``{"jpeg": [90, 70]}``, or ``"all"`` of what the task looks
        at; see `forensix.perturb`. A degradation that is none of a file's kind gives no row for it.
    executor
        Where to run; see `forensix.executors`. Worker processes by default, where there are enough files; threads where
        ``device`` is not the processor, so that what several files ask of a network goes through it together.
    output
        A folder for ``scores.parquet``, ``frames.parquet`` and ``result.json``. While the run goes on, what was scored
        is kept there too: a run that was killed goes on when it is called again.
    cache
        A folder for scores that later runs share; that of ``FORENSIX_HOME`` by default; False for none.
        Scores are found by the content of the file, the code, the model and the settings. Failures are tried again.
    metadata
        False leaves aside what files say of themselves (a generator's mark), so that only content counts.
    seed
        For degradations that draw.
    limits
        Bounds on size, duration and resolution.
    device, batch_size
        As for `forensix.analyze`: of components that are chosen by name or path. Scores of another device are kept
        apart from those of the processor.
    private_hosts
        Hosts that links in the manifest may reach although their addresses are private.
    progress
        Called with the task's name, a sentence and the share that is done. True draws a bar, False none; by default a
        notebook gets one.

    Raises
    ------
    UsageError
        The call is wrong, the manifest has no files, or ``output`` holds the result of another evaluation.
    ModelError
        A component cannot be used: it would fail for every file.

    Examples
    --------
    >>> import forensix
    >>> clips = forensix.small.folder("voices")
    >>> evaluation = forensix.evaluate(clips, "voice_analysis", component="forensix-spoof")  # doctest: +SKIP
    >>> evaluation.summary()  # doctest: +SKIP
    """
    executors.check(executor)
    check_settings(metadata, seed, limits)
    placement = Placement(device, batch_size)
    if executors.is_here(executor):
        placement.check()
    seed = int(seed)
    started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    listed = read_manifest(manifest)
    chosen, slot = choose_task(task)
    components = choose_components(chosen, slot, component)
    conditions = choose_conditions(chosen, degradations)
    identities = tuple(component_identity(slot, choice) if slot else "" for choice in components.values())
    job = Job(
        task=task,
        slot=slot,
        components=tuple(components.values()),
        identities=identities,
        code=code_identity(task),
        metadata=metadata,
        seed=seed,
        limits=limits,
        placement=placement,
    )
    table = carried(listed)
    cards = {name: card_of(slot, choice) for name, choice in components.items()}
    info: dict[str, Any] = {
        "task": task,
        "components": {
            name: {"slot": slot, "identity": identity, "threshold": float(getattr(cards[name], "threshold", 0.5))}
            for name, identity in zip(components, identities, strict=True)
        },
        "conditions": [asdict(condition) for condition in conditions],
        "settings": {"metadata": metadata, "seed": seed, "limits": asdict(limits), **device_setting(placement)},
        "manifest": {
            "rows": len(table),
            "root": os.fspath(listed.root),
            "sha256": hashlib.sha256(table.to_csv(index=False).encode()).hexdigest(),
        },
        "code": job.code,
        "versions": versions(),
        "started": started,
    }
    begun = time.perf_counter()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(Output(output, info)) if output is not None else None
        stores = Stores(stack, target.store if target is not None else None, cache_file(cache, identities))
        tell = stack.enter_context(_telling(task, len(table), progress))
        gathered = Gathered(len(table), list(components), conditions)
        _score(job, absolute(listed), gathered, stores, executor, private_hosts, tell)
        info["seconds"] = round(time.perf_counter() - begun, 3)
        info["from_cache"], info["scored"] = stores.n_cached, stores.n_scored
        overlap = find_overlap(table, cards, gathered.sha256)
        info["notes"] = [*stores.notes, *_notes(job, components, gathered), *untold(cards, overlap)]
        tables = gathered.frames(table, task)
        for at, name in enumerate(components):
            of_videos = getattr(cards[name], "inconclusive_video", None)
            if of_videos is not None and gathered.only_videos(at):
                info["components"][name]["threshold"] = float(of_videos[1])
        evaluation = Evaluation(*tables, info=info, overlap=overlap)
        if target is not None:
            target.finish(evaluation)
    return evaluation


def _score(
    job: Job,
    paths: list[str],
    gathered: Gathered,
    stores: Stores,
    executor: "int | str | Client | None",
    private_hosts: Collection[str],
    tell: Callable[[Gathered], None],
) -> None:
    """Fill ``gathered``: from the stores what is there, from the workers what is not."""
    expected: dict[int, tuple[int, list[str], list[int]]] = {}
    """By the number of the item: the file, and key and pair of each row that is wanted of it."""
    common = common_parts(job)

    def items() -> Iterator[Item]:
        n = 0
        first: dict[str, int] = {}
        for at in range(0, len(paths), _LOOK_UP):
            keys: dict[int, list[str]] = {}
            brought = bring(paths[at : at + _LOOK_UP], job.limits, private_hosts)
            for file in range(at, min(at + _LOOK_UP, len(paths))):
                try:
                    if isinstance(found := brought[file - at], InputError):
                        raise found
                    paths[file] = found
                    sha256 = gathered.sha256[file] = content_hash(found)
                except InputError as error:
                    gathered.fail_file(file, error)
                    continue
                # Raw sound is known by its name alone.
                content = f"{sha256}{Path(paths[file]).suffix.lower()}"
                if content in first:
                    gathered.twin(file, first[content])
                    continue
                first[content] = file
                keys[file] = [row_key(common[c], content, job.seed, condition) for c, condition in gathered.pairs]
            known = stores.get(key for of in keys.values() for key in of)
            for file, of in keys.items():
                for pair, key in enumerate(of):
                    if key in known:
                        gathered.set(gathered.place(file, pair), known[key])
                missing = [pair for pair, key in enumerate(of) if key not in known]
                if missing:
                    expected[n] = file, of, missing
                    n += 1
                    yield Item(
                        paths[file], gathered.sha256[file] or "", tuple(gathered.pairs[pair] for pair in missing)
                    )
            tell(gathered)

    chunk = max(1, _CHUNK_ROWS // len(gathered.pairs))
    apart = executor is None and job.placement.is_apart
    # Worker processes have folders of their own.
    work = replace(job, components=tuple(map(as_absolute, job.components)))
    finished = executors.run(score_file, work, items(), executor=executor, chunk=chunk, apart=apart)
    try:
        for done in finished:
            file, of, missing = expected.pop(done.index)
            rows = done.value if not done.lost else [_lost(f"it {done.end}")] * len(missing)
            for pair, row in zip(missing, rows, strict=True):
                gathered.set(gathered.place(file, pair), row)
                stores.keep(of[pair], row)
            tell(gathered)
    finally:
        finished.close()  # type: ignore[attr-defined]
        stores.flush()


def _lost(sentence: str) -> Row:
    return {"score": None, "class_name": None, "error": sentence, "code": "crashed", "seconds": 0.0, "frames": []}


def _notes(job: Job, components: Mapping[str, Any], gathered: Gathered) -> list[str]:
    notes = []
    for name, identity in zip(components, job.identities, strict=True):
        if identity is None:
            notes.append(
                f"{name} has neither a card nor a version that tells it from others of its kind, so its scores are not"
                " kept for later runs."
            )
    if job.metadata and len(gathered.conditions) > 1 and describe(job.task).reads_origin:
        notes.append(
            "Undegraded files count with what they say of themselves, degraded copies say nothing: pass metadata=False"
            " to compare like with like."
        )
    for name, n in gathered.skipped().items():
        notes.append(f"{name} is no degradation of {n} of the files, which have no row for it.")
    return notes


@contextlib.contextmanager
def _telling(task: str, total: int, progress: Progress | bool | None) -> Iterator[Callable[[Gathered], None]]:
    with display(progress) as call:

        def tell(gathered: Gathered) -> None:
            done = gathered.n_done()
            failed = (
                f", {gathered.n_failed} {'row' if gathered.n_failed == 1 else 'rows'} failed"
                if gathered.n_failed
                else ""
            )
            call(task, f"{done:.0f} of {total} files{failed}", done / total)

        yield tell
