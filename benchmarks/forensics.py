"""Measure the forensic claims on the corpus of original files: what is found, what is raised falsely, how long it
takes.

    python -m benchmarks.forensics --corpora FOLDER

goes over all four media of ``FOLDER/forensics`` and writes ``benchmarks/results/forensics.md``. A file counts as found
for a value of ``expect`` or ``also`` when a claim of the kind in ``MATCHES`` is made; a camera original counts as false
when it gets any suspect or critical claim.
"""

import argparse
import csv
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forensics_notes import NOTES
from benchmarks.in_process import in_process
from forensix.errors import ForensixError
from forensix.forensics import Finding, claims, result
from forensix.forensics.rules.plain import rests_on_the_file
from forensix.media import open_media
from forensix.metadata.reader import read_facts

RESULTS = Path(__file__).parent / "results" / "forensics.md"
SLOW_S = 5.0
CODE = re.compile(r"[\[{]['\"\[{]|None\b.*[,}\]]")
"""What the text of a Python list or dict looks like."""
NOTED = ("suspect", "critical")


def _noted(finding: Finding, types: tuple[str, ...]) -> bool:
    return finding.severity in NOTED and finding.claim.type in types


MATCHES: dict[str, tuple[str, Callable[[Finding], bool]]] = {
    "ai_generated": (
        "critical claim of type ai_generated",
        lambda f: f.severity == "critical" and f.claim.type == "ai_generated",
    ),
    "edited": (
        "suspect or critical claim of user category editing or versions",
        lambda f: f.severity in NOTED and f.claim.user_category in ("editing", "versions"),
    ),
    "screenshot": (
        "claim that the file says that it is one",
        lambda f: f.claim.claim == "The file says that it is a screenshot",
    ),
    "date_mismatch": ("claim of type dates, of any severity", lambda f: f.claim.type == "dates"),
    "multi_version": ("suspect or critical claim of type versions", lambda f: _noted(f, ("versions",))),
    "signed": (
        "claim of type content_credentials or signature",
        lambda f: f.claim.type in ("content_credentials", "signature"),
    ),
    "encrypted": ("claim of type security", lambda f: f.claim.type == "security"),
    "malformed": (
        "suspect or critical claim of type structure or format",
        lambda f: _noted(f, ("structure", "format")),
    ),
    "camera_original": ("no suspect or critical claim", lambda f: False),
    "gps": ("claim of type location", lambda f: f.claim.type == "location"),
}


@dataclass(frozen=True)
class Row:
    """What one file gave."""

    path: str
    media: str
    wanted: tuple[str, ...]
    expect: str
    why: str
    findings: tuple[Finding, ...]
    seconds: float
    cpu_s: float
    error: str = ""

    def meets(self, value: str) -> bool:
        """Tell whether a value of ``expect`` is met."""
        if value == "camera_original":
            return not self.error and not any(f.severity in NOTED for f in self.findings)
        return any(MATCHES[value][1](f) for f in self.findings)


def examine(folder: Path, entry: dict[str, str]) -> Row:
    """Run one file through facts and claims."""
    also = tuple(v for v in entry["also"].split("|") if v)
    expected = tuple(dict.fromkeys((entry["expect"], *also, *(("gps",) if entry["gps"] else ()))))
    start, cpu = time.perf_counter(), _cpu_s()
    findings: tuple[Finding, ...] = ()
    error = ""
    try:
        with open_media(folder / entry["path"]) as media:
            findings = claims(read_facts(media), media)
        result(findings)
    except ForensixError as refused:
        error = f"refused: {refused}"
    except Exception as crash:
        error = f"crash: {type(crash).__name__}: {crash}"
    seconds, cpu = time.perf_counter() - start, _cpu_s() - cpu
    return Row(entry["path"], entry["media"], expected, entry["expect"], entry["why"], findings, seconds, cpu, error)


def _cpu_s() -> float:
    """Return the processor time of this process and of the children it has waited for."""
    return sum(os.times()[:4])


def tables(rows: list[Row], before: str = "") -> str:
    """Return the report in Markdown."""
    return (
        "\n".join(
            [
                *_head(rows),
                *_found(rows, before),
                *_raised(rows),
                *_readable(rows),
                *_times(rows),
                *_disagreements(rows),
            ]
        )
        + "\n"
    )


def _head(rows: list[Row]) -> list[str]:
    return [
        "# Forensic claims on original files",
        "",
        "Made by `python -m benchmarks.forensics --corpora ../shared/corpora --here --before FILE`. Every file is "
        f"opened, read and judged as a user's file is. {len(rows)} files.",
        "",
    ]


def _found(rows: list[Row], before: str) -> list[str]:
    media = list(dict.fromkeys(r.media for r in rows))
    earlier = _shares(before)
    lines = [
        "## Found",
        "",
        "| value | counts as found | " + " | ".join(media) + " | all |" + (" before |" if before else ""),
        "|---|---|" + "---|" * (len(media) + 1 + bool(before)),
    ]
    for value, (text, _) in MATCHES.items():
        cells = []
        for medium in [*media, None]:
            chosen = [r for r in rows if value in r.wanted and medium in (None, r.media)]
            hits = sum(r.meets(value) for r in chosen)
            cells.append(f"{hits}/{len(chosen)} ({100 * hits / len(chosen):.0f} %)" if chosen else "")
        if any(cells):
            lines.append(
                f"| {value} | {text} | " + " | ".join([*cells, *([earlier.get(value, "")] if before else [])]) + " |"
            )
    return [*lines, ""]


def _shares(report: str) -> dict[str, str]:
    """Return the shares over all media of an earlier report, which may stand beside one of its own."""
    table = report.partition("\n## Found\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")] for line in table.split("\n") if line.startswith("|")]
    return {row[1]: row[rows[0].index("all")] for row in rows}


def _raised(rows: list[Row]) -> list[str]:
    lines = [
        "## Raised",
        "",
        "Files by `expect` that get any claim of a severity.",
        "",
        "| media | expect | files | critical | suspect or critical |",
        "|---|---|---|---|---|",
    ]
    for medium, expect in sorted({(r.media, r.expect) for r in rows}):
        of = [r for r in rows if (r.media, r.expect) == (medium, expect)]
        critical = sum(any(f.severity == "critical" for f in r.findings) for r in of)
        noted = sum(any(f.severity in NOTED for f in r.findings) for r in of)
        lines.append(f"| {medium} | {expect} | {len(of)} | {critical} | {noted} |")
    return [*lines, ""]


def is_readable(finding: Finding) -> bool:
    """Tell whether a claim is a sentence about the file: it rests on something read in it, ends as a sentence does,
    and shows no list or dict of the program."""
    said = f"{finding.claim.claim} {finding.claim.explanation}"
    return rests_on_the_file(finding) and said.endswith(".") and not CODE.search(said)


def _readable(rows: list[Row]) -> list[str]:
    lines = [
        "## Reports without a readable claim",
        "",
        "A claim is readable when it rests on something that was read in the file (no fault of form, no map drawn of "
        "every picture),",
        "ends as a sentence does, and shows no list or dict of the program; it is plain when its user category "
        "is origin.",
        "",
        "| media | reports | without a claim | without a readable claim | without a plain one |",
        "|---|---|---|---|---|",
    ]
    for medium in [*dict.fromkeys(r.media for r in rows), None]:
        of = [r for r in rows if medium in (None, r.media) and not r.error]
        readable = [[f for f in r.findings if is_readable(f)] for r in of]
        plain = [[f for f in findings if f.claim.user_category == "origin"] for findings in readable]
        none = [sum(not findings for findings in lists) for lists in ([r.findings for r in of], readable, plain)]
        lines.append(f"| {medium or 'all'} | {len(of)} | {none[0]} | {none[1]} | {none[2]} |")
    unread = Counter(f.claim.claim for r in rows for f in r.findings if not is_readable(f))
    lines += ["", "Claims that are not readable, by how often they are made: "]
    lines[-1] += "; ".join(f"{_cell(claim)} ({n})" for claim, n in unread.most_common(8)) + "."
    return [*lines, ""]


def _times(rows: list[Row]) -> list[str]:
    lines = [
        "## Time and crashes",
        "",
        "Processor seconds include child processes; with `--here` there are none, so that their start is not in it. "
        "Wall-clock seconds depend on what else the machine does.",
        "",
        "| media | files | median CPU s | longest CPU s | over 5 CPU s | median s | longest s | refused | crashes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for medium in dict.fromkeys(r.media for r in rows):
        of = [r for r in rows if r.media == medium]
        cells = []
        for times in (sorted(r.cpu_s for r in of), sorted(r.seconds for r in of)):
            cells += [f"{times[len(times) // 2]:.2f}", f"{times[-1]:.2f}"]
        slow = sum(r.cpu_s > SLOW_S for r in of)
        refused = sum(r.error.startswith("refused") for r in of)
        crashes = sum(r.error.startswith("crash") for r in of)
        lines.append(
            f"| {medium} | {len(of)} | {cells[0]} | {cells[1]} | {slow} | {cells[2]} | {cells[3]} | {refused} | "
            f"{crashes} |"
        )
    return [*lines, ""]


def _disagreements(rows: list[Row]) -> list[str]:
    lines = [
        "## Disagreements",
        "",
        "Each was looked at (hex view, ExifTool, qpdf).",
        "",
        "| file | missing | manifest | what is in the file |",
        "|---|---|---|---|",
    ]
    for row in rows:
        missing = [v for v in row.wanted if v in MATCHES and not row.meets(v)]
        surprising = row.expect == "unknown" and any(f.severity == "critical" for f in row.findings)
        if not missing and not surprising and not row.error:
            continue
        note = next((text for start, text in NOTES.items() if Path(row.path).name.startswith(start)), "")
        claimed = "; ".join(f.claim.claim for f in row.findings if f.severity in NOTED)
        what = ", ".join(missing) or ("critical, though unknown" if surprising else "")
        lines.append(
            f"| {row.path} | {what} | {_cell(row.why)[:160]} | "
            f"{_cell(note or row.error or 'claims: ' + (claimed or 'benign only'))} |"
        )
    return [*lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds forensics/manifest.csv")
    parser.add_argument("--media", choices=("image", "pdf", "video", "audio"), help="this medium only")
    parser.add_argument("--here", action="store_true", help="read and measure in this process, without limits of time")
    parser.add_argument("--before", type=Path, help="an earlier report, whose shares then stand beside")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    folder = chosen.corpora / "forensics"
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        entries = [row for row in csv.DictReader(file) if chosen.media in (None, row["media"])]
    rows = []
    with in_process() if chosen.here else nullcontext():
        for i, entry in enumerate(entries):
            rows.append(examine(folder, entry))
            print(
                f"{i + 1}/{len(entries)} {rows[-1].seconds:5.2f} s ({rows[-1].cpu_s:.2f} CPU) {entry['path']} "
                f"{rows[-1].error}",
                flush=True,
            )
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    before = chosen.before.read_text(encoding="utf-8") if chosen.before else ""
    chosen.output.write_text(tables(rows, before), encoding="utf-8")
    print(f"written to {chosen.output}")


if __name__ == "__main__":
    main()
