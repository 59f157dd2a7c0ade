"""The command line, ``forensix``: analyse inputs, run the demo, look after models, train one, run the service.

Exit status: 0 when everything was analysed, 1 when an input could not be (or a model is missing), 2 for wrong usage.
Heavy modules are imported by the command that needs them, so that ``forensix --help`` is quick.
"""

import argparse
import atexit
import errno
import gc
import io
import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from forensix import __version__
from forensix.cli import analyze, completion, train
from forensix.cli.outputs import check_output, complaint
from forensix.errors import ForensixError, UsageError, is_disk_full
from forensix.folders import check_folder, expanded
from forensix.interpreter import NO_WINDOWS
from forensix.service import commands as service

_EPILOG = """examples:
  forensix analyze suspicious.mp4
  forensix analyze *.jpg --task ai_generated_image_detection --json
  forensix analyze contract.pdf --html report.html
  forensix analyze case/*.mp4 --output reports --csv reports.csv --jobs 4
  forensix train labelled/manifest.csv --task voice_analysis --output mine
  forensix demo
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="forensix",
        description="Tells whether a video, picture, recording or PDF was manipulated or generated, and shows why.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"forensix {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    analyze.register(commands)

    demo = commands.add_parser("demo", help="run every analysis on media made on the spot, without network")
    demo.add_argument("--folder", type=expanded, default=Path("forensix-demo"), help="where its media and report go")
    demo.set_defaults(run=_demo)

    revisions = commands.add_parser("extract-revisions", help="write the earlier versions that a PDF still holds")
    revisions.add_argument("file", metavar="FILE", type=expanded, help="a PDF")
    revisions.add_argument("--folder", type=expanded, default=Path(), help="where to write them (default: here)")
    revisions.set_defaults(run=_extract_revisions)

    models = commands.add_parser("models", help="list, describe or fetch models")
    actions = models.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="one line per model")
    listed.add_argument("--markdown", action="store_true", help="the published detectors of fakes, as a table")
    listed.set_defaults(run=_models_list)
    show = actions.add_parser("show", help="print a model's card as JSON")
    show.add_argument("name", metavar="NAME", help="as forensix models list has it")
    show.set_defaults(run=_models_show)
    pull = actions.add_parser("pull", help="fetch a published checkpoint and check its hash")
    pull.add_argument("name", metavar="NAME", help="as forensix models list has it")
    pull.add_argument("--yes", action="store_true", help="fetch it although its publisher does not tell the hash")
    pull.set_defaults(run=_models_pull)

    population = commands.add_parser("population", help="measure a reference population of real voices of your own")
    doing = population.add_subparsers(dest="action", required=True, metavar="ACTION")
    build = doing.add_parser("build", help="measure the real rows of a dataset manifest")
    build.add_argument("manifest", metavar="MANIFEST", help="a manifest, a folder of real/ and fake/, shards or a URL")
    build.add_argument("--root", type=expanded, metavar="DIR", help=train.ROOT)
    build.add_argument("--label", action="append", default=[], metavar="WORD=LABEL", help=train.LABEL)
    build.add_argument(
        "--output",
        metavar="FILE",
        type=expanded,
        default=Path("population.json"),
        help="where to write it (default: %(default)s)",
    )
    build.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    build.set_defaults(run=_population_build)

    train.register(commands)
    service.register(commands)
    parts = commands.add_parser("doctor", help="say which optional parts are there and what each brings")
    parts.set_defaults(run=_doctor)
    completion.register(commands, parser)
    _say_what_each_does(commands)
    return parser


def _say_what_each_does(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Let the help of each command open with the sentence that the list of commands has of it."""
    for entry in commands._choices_actions:
        command = commands.choices[entry.dest]
        said = str(entry.help)
        command.description = f"{said[:1].upper()}{said[1:]}."
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                _say_what_each_does(action)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed by who called
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # As standard error is: a name that it cannot hold, of a file or an account, must not end a command.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = build_parser()
    if sys.platform == "win32":
        parser.exit(2, complaint(NO_WINDOWS))
    arguments = sys.argv[1:] if arguments is None else arguments
    if file := _taken_for_an_option(arguments):
        words = f"{file} is a file here, and begins as options do: write ./{file}, and ./* for all files"
        parser.exit(2, complaint(f"{words}; move it to give the option of that name"))
    options = parser.parse_args(arguments, argparse.Namespace(words=tuple(arguments)))
    # What is loaded stays: it is seldom looked through for garbage, and not when the interpreter ends.
    gc.set_threshold(10_000, 20, 20)
    atexit.register(gc.freeze)
    if os.environ.get("COLUMNS") == "0":
        # A terminal that does not tell its width, as some serial ones: rich would show nothing.
        del os.environ["COLUMNS"]
    # Read when numpy is loaded: its idle thread would spin beside what this process and the sandbox do.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    try:
        with _ended_by_signals():
            status = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has gone, as ``head`` goes: the interpreter must not flush into its pipe at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except UsageError as error:
        parser.exit(2, complaint(error))
    except ForensixError as error:
        parser.exit(1, complaint(error))
    except OSError as error:
        if is_disk_full(error) and not error.filename:
            words = (
                "a file would be larger than is allowed here: raise the limit (ulimit -f)"
                if error.errno == errno.EFBIG
                else "the disk is full: make room for temporary files (TMPDIR names their folder), or where the output"
                " goes"
            )
            parser.exit(1, f"forensix: {words}{getattr(options, 'afterwards', '')}\n")
        parser.exit(1, complaint(f"{error.strerror or error}: {error.filename or ''}".removesuffix(": ")))
    except _Ended as ended:
        name = signal.Signals(ended.number).name
        parser.exit(128 + ended.number, f"\nforensix: ended by {name}{getattr(options, 'afterwards', '')}\n")
    except KeyboardInterrupt:
        parser.exit(130, f"\nforensix: interrupted{getattr(options, 'afterwards', '')}\n")
    sys.exit(status)


def _taken_for_an_option(arguments: Sequence[str]) -> str | None:
    """Return the first argument that would be read as an option but names a file here, as ``*`` may bring one."""
    options = itertools.takewhile(lambda argument: argument != "--", arguments)
    return next((one for one in options if len(one) > 1 and one[0] == "-" and os.path.lexists(one)), None)


class _Ended(KeyboardInterrupt):
    """Another process asked this one to end: what is open is closed as at an interrupt."""

    number: int


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let what asks the process to end, or the loss of its terminal, close what is open, as an interrupt does."""

    def end(number: int, _frame: object) -> NoReturn:
        ended = _Ended()
        ended.number = number
        raise ended

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    # What is ignored, as under nohup, or looked after by somebody else stays so.
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _doctor(_options: argparse.Namespace) -> int:
    from forensix.cli import doctor

    return doctor.tell()


def _demo(options: argparse.Namespace) -> int:
    from forensix.demo import run

    return run(options.folder)


def _extract_revisions(options: argparse.Namespace) -> int:
    from forensix.forensics.revisions import revisions, write

    versions = revisions(options.file)
    if len(versions) < 2:
        print(f"{options.file} holds one version only: nothing to extract")
        return 0
    check_folder(options.folder)
    targets = [options.folder / f"{options.file.stem}.revision-{one.index}.pdf" for one in versions[:-1]]
    for target in targets:
        if target.exists():
            raise UsageError(f"{target} is there already: move it, or name another --folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    for revision, target in zip(versions, targets, strict=False):
        write(options.file, revision, target)
        print(f"{target}  {revision.summary}")
    return 0


def _models_list(options: argparse.Namespace) -> int:
    from forensix.models import list_models
    from forensix.models.table import markdown

    print(markdown(list_models()) if options.markdown else list_models())
    return 0


def _models_show(options: argparse.Namespace) -> int:
    from forensix.models import get_card

    print(json.dumps(get_card(options.name).model_dump(mode="json", exclude_none=True), indent=2, ensure_ascii=False))
    return 0


def _models_pull(options: argparse.Namespace) -> int:
    from forensix.models import get_card, pull_model

    try:
        path = pull_model(options.name, yes=options.yes)
    except UsageError as error:
        # Only a person can answer; a script says --yes.
        if not sys.stdin.isatty() or options.yes:
            raise
        print(f"forensix: {error}\nFetch it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 1
        path = pull_model(options.name, yes=True)
    print(f"licence: {get_card(options.name).licence}", file=sys.stderr)
    print(path)
    return 0


def _population_build(options: argparse.Namespace) -> int:
    check_output(options.output, "--output", overwrite=options.overwrite, inputs=[options.manifest])
    from forensix.manifest import Manifest
    from forensix.models.placement import share_cores

    share_cores()
    from forensix.training.voice.population import GENDERS, build
    from forensix.voice.population import SETTING

    listed = Manifest.read(options.manifest, root=options.root, labels=train.labels_of(options.label))
    built = build(listed, options.output, progress=True if sys.stderr.isatty() else train.lines())
    if built.unknown_genders:
        words = ", ".join(f"{word!r} of {n}" for word, n in built.unknown_genders.items())
        print(f"forensix: genders that are none of {', '.join(GENDERS)}: {words}", file=sys.stderr)
    print(f"{built}; {SETTING}={options.output} compares voices with them")
    return 0
