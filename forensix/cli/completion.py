"""``forensix completion SHELL``: a script that completes commands, options, tasks and models in a shell."""

import argparse
from functools import partial
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
_FILES = ("FILE", "FILE_OR_URL", "MANIFEST")
_FOLDERS = ("FOLDER",)

_EPILOG = """to have it in every shell:
  bash  echo 'eval "$(forensix completion bash)"' >> ~/.bashrc
  zsh   forensix completion zsh > "${fpath[1]}/_forensix"
  fish  forensix completion fish > ~/.config/fish/completions/forensix.fish
"""


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", parser: argparse.ArgumentParser) -> None:
    """Add the command to the ``parser`` of ``forensix``."""
    completion = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell that the script is for")
    completion.set_defaults(run=partial(_completion, parser))


def _completion(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    import shtab

    _describe(parser)
    print(shtab.complete(parser, shell=options.shell))
    return 0


def _describe(parser: argparse.ArgumentParser) -> None:
    """Say of every argument what completes it: files, folders, tasks, or models that the package has cards of."""
    import shtab

    from forensix.models import list_models
    from forensix.tasks.catalogue import task_names

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _describe(command)
        elif action.dest == "task":
            action.choices = task_names()
        elif action.dest == "name" and parser.prog.startswith("forensix models"):
            action.choices = [card.name for card in list_models()]
        elif action.metavar in _FOLDERS or action.dest == "folder":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar in _FILES or action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
