"""``forensix demo``: every analysis, without network, on media made on the spot, with the truth beside the verdicts.

Some of the media are found to be what they are, others are missed, and the demo says why. Which is which is not
written here: it follows from the verdicts of the models that are installed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forensix.demo.marks import make_marked_pictures
from forensix.demo.media import (
    RATE_HZ,
    SPEECH,
    make_cut_recording,
    make_document,
    make_edited_picture,
    make_pictures,
    make_recording,
    make_sharp_swap,
    make_swapped_video,
    make_video,
    make_voices,
    synthesise,
)
from forensix.folders import check_folder

if TYPE_CHECKING:
    from rich.console import Console

    from forensix.report import Report

__all__ = [
    "FILES",
    "RATE_HZ",
    "SPEECH",
    "DemoFile",
    "make_cut_recording",
    "make_document",
    "make_edited_picture",
    "make_marked_pictures",
    "make_pictures",
    "make_recording",
    "make_sharp_swap",
    "make_swapped_video",
    "make_video",
    "make_voices",
    "outcome",
    "run",
    "synthesise",
]


@dataclass(frozen=True)
class DemoFile:
    """What one of the media is."""

    text: str
    fake: Mapping[str, bool] = field(default_factory=dict)
    """By task, whether it should be found fake; tasks that are not named have nothing to be right or wrong about."""
    missed: str = ""
    """Why it may be missed."""


_FACE, _PICTURE, _VOICE, _FILE = (
    "face_manipulation", "ai_generated_image_detection", "voice_analysis", "forensic_analysis",
)  # fmt: skip
_REAL = {_FACE: False, _PICTURE: False}
_SWAP = (
    "forensix-face learnt what generated faces look like, and either face of a swap was photographed: of 48 such swaps"
    " 3 are called fake; of 40 it is told that a part of the face differs (python benchmarks/demo_media.py)."
)

FILES: Mapping[str, DemoFile] = {
    "portrait.jpg": DemoFile("a photograph, as it came", _REAL),
    "scene.jpg": DemoFile("a photograph, as it came", {_PICTURE: False}),
    "face-swap.jpg": DemoFile(
        "the portrait with another person's face, at the resolution of a swapping program",
        {_FACE: True, _PICTURE: False}, _SWAP,
    ),
    "face-swap-sharp.jpg": DemoFile(
        "the same swap with the new face in all its detail", {_FACE: True, _PICTURE: False}, _SWAP,
    ),
    "moving-face.mp4": DemoFile(
        "a photograph moved over another, with computed speech", {_FACE: False, _VOICE: True},
        "the speech is a formant synthesiser's, as in formant-speech.wav.",
    ),
    "credentials.png": DemoFile("computed noise, with content credentials that name a generator", {_PICTURE: True}),
    "rebuilt-speech.wav": DemoFile("computed speech, rebuilt from its mel spectrogram as early neural TTS did",
                               {_VOICE: True}),
    "formant-speech.wav": DemoFile(
        "the same speech as the formant synthesiser computed it", {_VOICE: True},
        "forensix-spoof learnt what vocoders and neural networks leave in a voice. A formant synthesiser uses neither.",
    ),
    "edited.pdf": DemoFile("an invoice whose amount was painted over in a second version", {_FILE: True}),
}  # fmt: skip


def run(folder: Path) -> int:
    """Make the media in a folder, analyse them, print the verdicts and write a report; return the exit status."""
    from rich.console import Console

    from forensix.batch import analyze_many
    from forensix.report import save_page
    from forensix.report.terminal import limits_of, print_limits, print_report

    console = Console()
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"making {len(FILES)} pictures, videos, recordings and documents ...", style="dim")
    paths = [path for make in _MAKERS for path in make(folder) if path.name in FILES]
    reports, limits = [], dict[str, str]()
    for report in analyze_many([str(path) for path in paths]):
        print_report(report, console, limits=False)
        limits |= limits_of(report)
        reports.append(report)
    print_limits(limits, console)
    page = folder / "report.html"
    save_page(reports, page)
    _compare(reports, console)
    console.print(f"\nThe evidence, with pictures: {page} (open it in a browser)", markup=False, highlight=False)
    console.print("Next, on files of your own:")
    for line in (
        "forensix analyze FILE_OR_URL...",
        "forensix analyze FILE --html report.html",
        "forensix analyze *.jpg --output reports",
        f"forensix extract-revisions {folder / 'edited.pdf'} --folder {folder}",
        "forensix doctor",
    ):
        console.print(f"  {line}", markup=False, highlight=False)
    return int(any(report.failed for report in reports))


def outcome(verdict: str, fake: bool | None) -> str:
    """Return in a word what a verdict is worth, ``fake`` telling the truth; nothing where there is none, or no verdict.

    Examples
    --------
    >>> outcome("fake", True), outcome("real", True), outcome("suspect", False), outcome("inconclusive", True)
    ('found', 'MISSED', 'FALSE ALARM', 'undecided')
    """
    if fake is None or verdict == "failed":
        return ""
    if verdict == "inconclusive":
        return "undecided"
    if verdict in ("fake", "suspect", "critical"):
        return "found" if fake else "FALSE ALARM"
    return "MISSED" if fake else "right"


def _compare(reports: "Sequence[Report]", console: "Console") -> None:
    """Print what each input is beside what was said of it, and why something was missed."""
    from rich.table import Column, Table

    from forensix.tasks.catalogue import describe

    said_column = Column("what was said", overflow="fold")
    table = Table("input", "what it is", said_column, title="The truth beside the verdicts", title_justify="left")
    why = []
    for report in reports:
        medium = FILES[report.name]
        outcomes = {task: outcome(verdict, medium.fake.get(task)) for task, verdict in report.verdicts.items()}
        lines = [
            f"{describe(task).title}: {report.verdicts[task].replace('_', ' ')}"
            + (f" ({word})" if word not in ("", "undecided") else "")
            for task, word in outcomes.items()
        ]
        table.add_row(report.name, medium.text, "\n".join(lines) or report.error)
        missed = [
            describe(task).title
            for task, word in outcomes.items()
            if medium.fake.get(task) and word in ("MISSED", "undecided")
        ]
        if medium.missed and missed:
            why.append(f"{report.name}, {' and '.join(missed)}: {medium.missed}")
    console.print()
    console.print(table)
    if why:
        console.print("\nNot found, and why:", style="bold")
    for line in why:
        console.print(f"  {line}", markup=False, highlight=False)
    console.print(
        "\nInconclusive: real and fake media score like this. These media show what can happen; how often the models"
        " are right stands in README.md under 'How sure' and on their cards: forensix models show NAME.",
        markup=False,
        highlight=False,
    )


_MAKERS: tuple[Callable[[Path], Iterator[Path]], ...] = (
    make_pictures,
    make_sharp_swap,
    make_video,
    make_marked_pictures,
    make_voices,
    make_document,
)
