"""``forensix train`` and ``combine``: detectors of your own, as folders that ``analyze --component`` takes."""

import argparse
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from forensix.errors import UsageError
from forensix.folders import check_folder, expanded

if TYPE_CHECKING:
    from forensix.models import ModelCard

ROOT = "folder that the manifest's paths are relative to, or lie in (default: the manifest's)"
LABEL = "what a word of the manifest's column label means, for example 1=fake (repeatable)"
_EVERY_S = 5.0


def register(commands: Any) -> None:
    """Add the commands to the parser."""
    train = commands.add_parser("train", help="train a detector on labelled files of your own")
    train.add_argument("manifest", metavar="MANIFEST", help="a manifest, a folder of real/ and fake/, shards or a URL")
    _common(train, "folder for weights and card")
    train.add_argument("--base", metavar="NAME_OR_PATH", help="model to start from (default: the one that ships)")
    train.add_argument("--steps", type=int, default=1000, help="most steps of training (default: %(default)s)")
    train.add_argument("--batch-size", type=int, help="examples of a step, an even number")
    train.add_argument("--rate", type=float, help="learning rate")
    train.add_argument("--all-layers", action="store_true", default=None, help="let every layer learn")
    train.set_defaults(run=_train, afterwards="; the same command goes on where it stopped")

    combine = commands.add_parser("combine", help="make one detector of several, by their mean or a fitted rule")
    combine.add_argument("members", nargs="+", metavar="NAME_OR_PATH", help="detectors, by name or by folder")
    combine.add_argument("--manifest", required=True, metavar="MANIFEST", help="labelled files to measure it on")
    _common(combine, "folder for the rule and its card")
    combine.add_argument("--rule", default="mean", help="mean (default) or linear")
    combine.set_defaults(run=_combine)


def _common(command: argparse.ArgumentParser, output: str) -> None:
    command.add_argument("--root", type=expanded, metavar="DIR", help=ROOT)
    command.add_argument("--task", required=True, metavar="TASK", help="for example voice_analysis")
    command.add_argument("--output", required=True, type=expanded, metavar="DIR", help=output)
    command.add_argument("--name", help="the new detector's name (default: the folder's)")
    command.add_argument("--group", metavar="COLUMN", help="what belongs together (default: group_id, else source)")
    command.add_argument("--label", action="append", default=[], metavar="WORD=LABEL", help=LABEL)
    command.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps or auto")
    command.add_argument("--seed", type=int, default=0, help="what chance is drawn from (default: %(default)s)")


def _train(options: argparse.Namespace) -> int:
    check_folder(options.output)
    from forensix.manifest import Manifest
    from forensix.models.placement import share_cores

    share_cores()
    from forensix.training.own.card import command_of
    from forensix.training.own.run import train

    manifest = Manifest.read(options.manifest, root=options.root, labels=labels_of(options.label))
    card = train(
        manifest,
        options.task,
        options.output,
        base=options.base,
        name=options.name,
        group=options.group,
        device=options.device,
        steps=options.steps,
        batch_size=options.batch_size,
        rate=options.rate,
        all_layers=options.all_layers,
        seed=options.seed,
        progress=True if sys.stderr.isatty() else lines(),
        command=command_of(["forensix", *options.words]),
    )
    _show(card, options)
    return 0


def _combine(options: argparse.Namespace) -> int:
    check_folder(options.output)
    from forensix.manifest import Manifest
    from forensix.models.placement import share_cores

    share_cores()
    from forensix.training.own.card import command_of
    from forensix.training.own.combine import combine

    card = combine(
        options.members,
        Manifest.read(options.manifest, root=options.root, labels=labels_of(options.label)),
        options.task,
        options.output,
        rule=options.rule,
        name=options.name,
        group=options.group,
        device=options.device,
        seed=options.seed,
        progress=True if sys.stderr.isatty() else lines(),
        command=command_of(["forensix", *options.words]),
    )
    print(f"rule: {card.preprocessing['rule']}")
    _show(card, options)
    return 0


def _show(card: "ModelCard", options: argparse.Namespace) -> None:
    last = ""
    for row in card.measured:
        # What was measured on is said once for all rows of a condition.
        if row.data != last:
            last = row.data
            print(f"{row.data}, {row.n_real} real, {row.n_fake} fake:")
        interval = f" ({row.interval[0]:.3f} to {row.interval[1]:.3f})" if row.interval else ""
        print(f"  {row.metric}: {row.value:.3f}{interval}")
    print(f"limits: {card.limits}")
    place = options.output if options.output.is_absolute() else f"./{options.output}"
    print(f"{decisions(card)}; use it:")
    print(f"  forensix analyze FILE --task {options.task} --component {shlex.quote(f'{card.component}={place}')}")


def decisions(card: "ModelCard") -> str:
    """Return from which score on a file is called fake, and up to which one real, in words.

    Examples
    --------
    >>> from forensix.models import get_card
    >>> decisions(get_card("forensix-face"))
    'called fake from 0.856, never called real'
    """
    lower, upper = card.inconclusive or (card.threshold, card.threshold)
    fake = f"called fake from {upper}" if upper < 1 else "never called fake"
    if lower == 0:
        return f"{fake}, never called real"
    return f"{fake}, called real {f'up to {lower}' if lower < upper else 'below'}"


def labels_of(pairs: list[str]) -> dict[str, str]:
    """Return what ``--label`` says of each word.

    Raises
    ------
    UsageError
        One says nothing, or two say different things of a word.
    """
    meanings: dict[str, str] = {}
    for pair in pairs:
        word, equals, label = pair.rpartition("=")
        if not (word and equals):
            raise UsageError(f"--label takes WORD=LABEL, for example bonafide=real: got {pair!r}")
        if meanings.setdefault(word, label) != label:
            raise UsageError(f"--label says that {word!r} means {meanings[word]} and {label}: say one")
    return meanings


def lines() -> Any:
    """Return what writes a line of progress now and then, and what is done only where it is not what was before."""
    at, last = -_EVERY_S, ""

    def tell(task: str, said: str, done: float) -> None:
        nonlocal at, last
        if time.monotonic() - at >= _EVERY_S:
            at = time.monotonic()
            print(f"{100 * done:3.0f} %{'' if said == last else f' {said}'}", file=sys.stderr, flush=True)
            last = said

    return tell
