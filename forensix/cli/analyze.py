"""``forensix analyze``: inputs in, reports out, to the terminal and to files."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from forensix.cli.outputs import check_output, complaint
from forensix.errors import UsageError
from forensix.folders import check_folder, expanded
from forensix.tasks import command_line

if TYPE_CHECKING:
    from forensix.report import Report

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
        "--output", metavar="FOLDER", type=expanded, help="write a page and a JSON file per input, and an index.html"
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
    reports = analyze_many(
        options.inputs,
        options.task,
        explain=options.explain,
        transcribe=options.transcribe,
        additional_info=options.additional_info,
        private_hosts=options.private_host,
        executor="here" if options.jobs == 1 else options.jobs,
        progress=sys.stderr.isatty() and not (options.json or options.quiet),
        **choices,
    )
    failed, limits = False, dict[str, str]()
    with ExitStack() as files:
        keep = _keepers(options, files)
        for report in reports:
            failed |= report.failed
            _show(report, options, limits)
            for take in keep:
                take(report)
    if limits:
        from forensix.report.terminal import print_limits

        print_limits(limits)
    for path in (options.html, options.csv, options.output and options.output / "index.html"):
        if path and not options.quiet:
            print(f"written: {path}", file=sys.stderr)
    return int(failed)


def _keepers(options: argparse.Namespace, files: ExitStack) -> list[Keep]:
    """Return what keeps each report, by the options; what is open is closed with ``files``."""
    keepers: list[Keep] = []
    if options.output is not None:
        from forensix.report import ReportFolder

        keepers.append(files.enter_context(ReportFolder(options.output, overwrite=options.overwrite)).add)
    if options.csv is not None:
        keepers.append(_table(options.csv, files))
    if options.html is not None:
        from forensix.report import save_page

        reports: list[Report] = []

        def save(error: type[BaseException] | None, *_: object) -> None:
            save_page(reports, options.html, ended_early=error is not None)

        files.push(save)
        keepers.append(reports.append)
    return keepers


def _table(path: Path, files: ExitStack) -> Keep:
    """Return what writes a report's rows to a file as they come."""
    from forensix.importers.tables import quoting

    file = files.enter_context(path.open("w", encoding="utf-8", newline=""))
    is_empty = True

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
