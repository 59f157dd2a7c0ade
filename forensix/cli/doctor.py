"""``forensix doctor``: which optional parts are there, what each brings, and the command that brings it.

Packages are looked up by their metadata and weights by their hash: nothing is imported that an analysis would need, but
tasks of other packages, and nothing is fetched.
"""

import os
import platform
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

from forensix import __version__, interpreter
from forensix.errors import ForensixError, ModelError, UsageError
from forensix.folders import expanded

EXTRAS = {
    "notebook": "JupyterLab with reports, the explorer and progress bars",
    "transcript": "transcripts of English speech by Whisper tiny.en; without it pocketsphinx, with more errors",
    "whisper": "transcripts by any other Whisper model, translated to English; FORENSIX_WHISPER names the model",
    "watermark": "the PerTh watermark of synthetic voices is read",
    "data": "manifests from Hugging Face datasets and from URLs",
    "train": "pretrained weights that training the shipped models starts from",
    "zoo": "the published voice detectors Spectra, models of the Hugging Face hub, and MesoNet",
    "service": "the HTTP service: forensix serve, worker and account",
    "s3": "the service keeps uploads in an object store that speaks S3",
    "cluster": "analyses and evaluations on a Dask cluster",
}
"""What each extra of the package brings; those for working on forensix itself are not named."""


@dataclass(frozen=True)
class Part:
    """Something that forensix uses where it is there."""

    name: str
    brings: str
    there: bool
    detail: str = ""
    """What is there and where, or what is missing."""
    remedy: str = ""
    """What brings it."""


def tell() -> int:
    """Print all parts, and return the exit status."""
    print(f"forensix {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    groups = {"Extras": extras(), "Models": models(), "Programs and settings": surroundings()}
    if others := list(tasks()):
        groups["Tasks of other packages"] = iter(others)
    for title, parts in groups.items():
        print(f"\n{title}")
        for part in parts:
            _print(part)
    return 0


def _print(part: Part) -> None:
    indent = " " * 28
    width = max(60, min(shutil.get_terminal_size().columns, 120))
    first = f"  {'yes' if part.there else 'no':4}{part.name:21} "
    # Names, paths and commands stay whole, so that they can be copied.
    wrapped = textwrap.fill(part.brings, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
    print(wrapped)
    for line in filter(None, (part.detail, part.remedy)):
        print(f"{indent}{line}")


def extras() -> Iterator[Part]:
    """Yield the package's extras."""
    from packaging.requirements import Requirement

    named = [Requirement(text) for text in requires("forensix") or ()]
    for extra, brings in EXTRAS.items():
        needed = [
            need
            for need in named
            if need.marker and not need.marker.evaluate({"extra": ""}) and need.marker.evaluate({"extra": extra})
        ]
        missing = [need.name for need in needed if not _installed(need.name, str(need.specifier))]
        if not needed:
            yield Part(extra, brings, False, "the installed forensix is older and does not have it", "install it again")
        elif missing:
            yield Part(extra, brings, False, f"missing: {', '.join(missing)}", f"pip install 'forensix[{extra}]'")
        else:
            yield Part(extra, brings, True)


def _installed(name: str, specifier: str) -> bool:
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version(name), prereleases=True)
    except PackageNotFoundError:
        return False


def models() -> Iterator[Part]:
    """Yield one part for the models that ship, and one for each whose weights have to be fetched."""
    from forensix.models import checked_weights, list_models

    shipped = [card for card in list_models() if not card.url]
    damaged = [card.name for card in shipped if not _has_weights(card.name)]
    yield Part(
        "shipped models",
        ", ".join(card.name for card in shipped),
        not damaged,
        f"missing or not as on their cards: {', '.join(damaged)}" if damaged else "",
        "install forensix again" if damaged else "",
    )
    for card in list_models():
        if not card.url:
            continue
        if not _has_weights(card.name):
            yield Part(card.name, card.summary, False, "no weights", f"forensix models pull {card.name}")
        elif card.architecture == "onnx" and not _installed("onnxruntime", ""):
            yield Part(card.name, card.summary, False, "no onnxruntime, which runs it", "pip install onnxruntime")
        else:
            yield Part(card.name, card.summary, True, str(checked_weights(card.name).parent))


def _has_weights(name: str) -> bool:
    from forensix.models import checked_weights

    try:
        checked_weights(name)
    except ModelError:
        return False
    return True


def tasks() -> Iterator[Part]:
    """Yield the tasks of other packages, and why one cannot be had."""
    from forensix.tasks import catalogue, load_task

    reasons = catalogue.left_out()
    for name, entry in catalogue.entries().items():
        if name in {task.name for task in catalogue.SPECIFIED}:
            continue
        package = entry.dist.name if entry.dist else entry.value
        try:
            title = catalogue.describe(name).title
            load_task(name)
        except ForensixError as error:
            reasons[name] = str(error)
        if name in reasons:
            yield Part(name, f"a task of {package}, which is left out", False, reasons[name])
        else:
            yield Part(name, f"{title}, of {package}", True)


def surroundings() -> Iterator[Part]:
    """Yield the programs that are used where they are there, and the folders and files that variables name."""
    from forensix.metadata import exiftool

    path, is_off = exiftool.installed(), exiftool.is_off()
    yield Part(
        "ExifTool",
        "more facts in reports; no claim needs it",
        path is not None,
        path or (f"switched off by {exiftool.VARIABLE}" if is_off else "not on this machine"),
        "" if path or is_off else "the system's package, or exiftool.org",
    )
    for variable, brings, missing in (
        ("FORENSIX_CHECKPOINTS", "a folder with published checkpoints", _missing_file),
        ("FORENSIX_WHISPER", "a folder with a Whisper model, or its name in the hub", _missing_whisper),
        (
            "FORENSIX_POPULATION",
            "a reference population of your own, from forensix population build",
            _unread_population,
        ),
    ):
        named = os.environ.get(variable)
        lacks = missing(named) if named else "not set"
        yield Part(variable, brings, not lacks, lacks or str(named))


def _missing_file(named: str) -> str:
    """Return why what a variable names cannot be used; nothing where it can."""
    return "" if expanded(named).exists() else f"{named} is not there"


def _unread_population(named: str) -> str:
    from forensix.voice.population import check

    try:
        check(named)
    except UsageError as error:
        return str(error)
    return ""


def _missing_whisper(named: str) -> str:
    folder = expanded(named)
    if folder.is_dir():
        return "" if (folder / "model.bin").is_file() else f"{named} holds no model.bin of faster-whisper"
    if not _installed("faster-whisper", ""):
        return f"{named} needs faster-whisper: pip install 'forensix[whisper]'"
    # By faster-whisper itself, which knows where models of the hub lie, in a process of its own: it is slow to import.
    asked = interpreter.command("forensix.voice.whisper_models", named)
    done = subprocess.run(asked, env=interpreter.environment(), capture_output=True, check=False, cwd=os.sep)
    return f"{named} is neither a folder nor a model of the hub on this machine" if done.returncode else ""
