"""``forensix analyze``: inputs in, reports out, to the terminal and to files."""

import argparse
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix.cli.outputs import check_output, complaint
from forensix.errors import InputError, UsageError
from forensix.folders import check_folder, expanded, write_whole
from forensix.tasks import command_line

if TYPE_CHECKING:
    from forensix.report import Report, ReportFolder
    from forensix.report.kept import Kept

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a formula begins; some spreadsheets take the wide forms of the signs as well."""
Keep = Callable[["Report"], object]


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser of ``forensix``."""
    analyze = commands.add_parser("analyze", help="analyse files or URLs and say what speaks for and against them")
    analyze.add_argument("inputs", nargs="+", metavar="FILE_OR_URL", help="pictures, videos, recordings and PDFs")
    analyze.add_argument("--task", action="append", metavar="TASK", help="only this task (repeatable); default: all")
    output = analyze.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON line per input")
    output.add_argument("--quiet", action="store_true", help="print errors only")
    analyze.add_argument(
        "--html", metavar="FILE", type=expanded, help="write one page with all reports and their pictures"
    )
    analyze.add_argument("--csv", metavar="FILE", type=expanded, help="write a table with a row per input and task")
    analyze.add_argument(
        "--output",
        metavar="FOLDER",
        type=expanded,
        help="write a page and a JSON file per input, and an index.html; called again, it goes on",
    )
    analyze.add_argument("--overwrite", action="store_true", help="replace files that --html, --csv or --output find")
    analyze.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="worker processes; default: one per core from 32 inputs on, else none; threads where --device is not cpu",
    )
    analyze.add_argument("--no-explain", dest="explain", action="store_false", help="verdicts only, no evidence")
    analyze.add_argument("--no-transcribe", dest="transcribe", action="store_false", help="no speech to text")
    analyze.add_argument("--additional-info", metavar="TEXT", help="text that the forensic result repeats")
    command_line.register(analyze)
    analyze.add_argument(
        "--private-host", action="append", default=[], metavar="HOST", help="let URLs reach this private host"
    )
    analyze.set_defaults(run=_analyze)


def _analyze(options: argparse.Namespace) -> int:
    for option in ("html", "csv"):
        if path := getattr(options, option):
            check_output(path, f"--{option}", overwrite=options.overwrite, inputs=options.inputs)
            # What stands there by such a name is a report of the folder's, or its index, or is replaced by one.
            if options.output and _lies_in(path, options.output) and path.suffix in (".html", ".json"):
                raise UsageError(f"--{option} names {path}, where --output writes its own pages: name another folder")
    if options.output:
        check_folder(options.output)
    if options.html and options.csv and options.html.resolve() == options.csv.resolve():
        raise UsageError(f"--html and --csv both name {options.csv}, and one would replace the other: name two files")
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(f"--jobs takes a number from 1 up: got {options.jobs}")
    from forensix.media import sandbox
    from forensix.media.addresses import check_hosts

    check_hosts(options.private_host)
    choices = command_line.chosen(options)
    # It starts, and loads what most files need, while this process imports what analyses.
    sandbox.prepare(("forensix.media.images", "forensix.media.streams", "numpy", "scipy.fft", "jpeglib"))
    from forensix.batch import analyze_many

    command_line.check(choices)
    failed, limits = False, dict[str, str]()
    with ExitStack() as files:
        folder, there = _folder(options, choices, files)
        keep = _keepers(options, files)
        reports = analyze_many(
            [source for source, earlier in zip(options.inputs, there, strict=True) if earlier is None],
            options.task,
            explain=options.explain,
            transcribe=options.transcribe,
            additional_info=options.additional_info,
            private_hosts=options.private_host,
            executor="here" if options.jobs == 1 else options.jobs,
            progress=sys.stderr.isatty() and not (options.json or options.quiet),
            **choices,
        )
        for earlier in there:
            if folder is not None and earlier is not None:
                report = folder.take(earlier)
                if options.json:
                    print(report.to_json(), flush=True)
            else:
                report = next(reports)
                failed |= report.failed
                _show(report, options, limits)
                if folder is not None:
                    folder.add(report)
            for take in keep:
                take(report)
    if limits:
        from forensix.report.terminal import print_limits

        print_limits(limits)
    for path in (options.html, options.csv, options.output and options.output / "index.html"):
        if path and not options.quiet:
            print(f"written: {path}", file=sys.stderr)
    return int(failed)


def _lies_in(path: Path, folder: Path) -> bool:
    return path.resolve().parent == folder.resolve()


def _folder(
    options: argparse.Namespace, choices: Mapping[str, Any], files: ExitStack
) -> "tuple[ReportFolder | None, Sequence[Kept | None]]":
    """Return the folder of ``--output``, closed with ``files``, and for each input its report that is there."""
    if options.output is None:
        return None, [None] * len(options.inputs)
    from forensix.cli.made_by import made_by
    from forensix.report import ReportFolder
    from forensix.report.words import plural

    made = made_by(options, choices)
    folder = files.enter_context(ReportFolder(options.output, overwrite=options.overwrite, made_by=made))
    there = folder.whole(options.inputs, _content)
    n = len(there) - there.count(None)
    if n and options.html:
        raise UsageError(
            f"--html draws the evidence of all inputs, and {options.output} holds pages of {n} of them: leave it out"
            " to go on, or analyse all anew (--overwrite)"
        )
    if n and not options.quiet:
        was = "was" if n == 1 else "were"
        said = f"{n} of {plural(len(there), 'report')} {was} in {options.output} already and {was} taken over"
        print(f"forensix: {said}", file=sys.stderr)
    if not options.html and not options.overwrite:
        options.afterwards = "; the same command goes on where it stopped"
    return folder, there


def _content(source: str) -> str | None:
    """Return the SHA-256 of an input; None of a link, whose file was looked at when it was there."""
    from forensix.evaluation.keys import content_hash
    from forensix.media import is_url

    if is_url(source):
        return None
    try:
        return content_hash(str(expanded(source)))
    except InputError:
        return ""


def _keepers(options: argparse.Namespace, files: ExitStack) -> list[Keep]:
    """Return what keeps each report, by the options; what is open is closed with ``files``."""
    keepers: list[Keep] = []
    if options.csv is not None:
        keepers.append(_table(options.csv, files, at_once=options.output is not None))
    if options.html is not None:
        from forensix.report import save_page

        reports: list[Report] = []

        def save(error: type[BaseException] | None, *_: object) -> None:
            save_page(reports, options.html, ended_early=error is not None)

        files.push(save)
        keepers.append(reports.append)
    return keepers


def _table(path: Path, files: ExitStack, *, at_once: bool) -> Keep:
    """Return what writes a report's rows to a file as they come, or all ``at_once`` where nothing ended them early.

    Beside a folder that goes on, a part of the table would be in the way of the whole.
    """
    from forensix.importers.tables import quoting

    whole = io.StringIO(newline="")
    file = whole if at_once else files.enter_context(path.open("w", encoding="utf-8", newline=""))
    is_empty = True

    def write(error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            write_whole(path, whole.getvalue())

    if at_once:
        files.push(write)

    def take(report: "Report") -> None:
        nonlocal is_empty
        rows = report.to_frame().map(_harmless)
        rows.to_csv(file, header=is_empty, index=False, quoting=quoting(rows))
        is_empty = False
        file.flush()

    return take


def _harmless(value: object) -> object:
    """Put an apostrophe before text that a spreadsheet would take for a formula, as the name of a file may be one.

    What would steer a terminal that shows the table is written as its code point.
    """
    from forensix.report.text import visible

    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(_FORMULA) else "") + visible(value, lines=True)


def _show(report: "Report", options: argparse.Namespace, limits: dict[str, str]) -> None:
    """Print a report; with several inputs, what its models cannot do goes into ``limits``, to be said once."""
    if options.json:
        print(report.to_json(), flush=True)
    elif report.error:
        sys.stderr.write(complaint(report.error))
    elif options.quiet:
        for error in dict.fromkeys(report.errors.values()):
            sys.stderr.write(complaint(error))
    else:
        from rich.console import Console

        from forensix.report.terminal import limits_of, print_report

        is_one = len(options.inputs) == 1
        print_report(report, Console(), limits=is_one)
        if not is_one:
            limits.update(limits_of(report))
