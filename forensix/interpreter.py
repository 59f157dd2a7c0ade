"""Interpreters that forensix starts, and where they take modules from: never from the folder that lies beside evidence.

Python itself looks into the current folder under ``python -m``, ``python -c`` and in a notebook, and for an empty part
of PYTHONPATH. A file ``select.py`` that came with the evidence would run there. So every interpreter that forensix
starts gets `command` and `environment`, and a working folder other than the caller's; plugins are looked for with
`entry_points`.
"""

import logging
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from forensix.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_LOG = logging.getLogger(__name__)
_OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_FOLDERS = ("FORENSIX_HOME", "FORENSIX_CHECKPOINTS", "FORENSIX_WHISPER", "XDG_CACHE_HOME")
"""Variables that name folders; a relative one means the caller's working folder."""
NO_WINDOWS = (
    "forensix decodes in child processes under limits that Windows does not have: run it on Linux or macOS, or on"
    " Windows in the Windows Subsystem for Linux (WSL)"
)


def command(module: str, *arguments: str) -> list[str]:
    """Return what starts a fresh interpreter that runs a module of forensix; start it with `environment`."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of such an interpreter, and of those that a library may start from there."""
    absolute = {name: _absolute(name, variables[name]) for name in _FOLDERS if variables.get(name)}
    # What holds the separator would be read as two folders, the second one relative.
    path = os.pathsep.join(entry for entry in import_path() if os.pathsep not in entry)
    return {**variables, **absolute, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def _absolute(variable: str, named: str) -> str:
    path = os.path.abspath(os.path.expanduser(named))
    # That one may name a model of the hub as well.
    return named if variable == "FORENSIX_WHISPER" and not os.path.isdir(path) else path


def import_path() -> list[str]:
    """Return ``sys.path`` without the current folder, unless forensix itself lies there."""
    left_out = current_folders()
    return [
        os.path.abspath(entry)
        for entry in sys.path
        if os.path.realpath(entry) == _OWN or (os.path.isabs(entry) and os.path.realpath(entry) not in left_out)
    ]


def current_folders() -> set[str]:
    """Return the folders that modules are taken from only because somebody works there, resolved.

    Raises
    ------
    UsageError
        The working folder was deleted.
    """
    try:
        return {os.path.realpath(entry) for entry in ("", *sys.path) if not os.path.isabs(entry)} - {_OWN}
    except FileNotFoundError:
        raise UsageError("the folder that you work in was deleted: change to another") from None


def entry_points(group: str) -> "dict[str, EntryPoint]":
    """Return what installed packages offer, by name; one that merely lies in the current folder offers nothing."""
    return dict(_offered(tuple(import_path())).get(group, {}))


@cache
def _offered(path: tuple[str, ...]) -> "dict[str, dict[str, EntryPoint]]":
    """Return what packages in these folders offer, by group and name; there may be hundreds, so they are read once."""
    from importlib.metadata import distributions

    by_group: dict[str, dict[str, EntryPoint]] = {}
    for package in distributions(path=list(path)):
        for entry in package.entry_points:
            named = by_group.setdefault(entry.group, {})
            named[entry.name] = _chosen(named[entry.name], entry) if entry.name in named else entry
    return by_group


def _chosen(first: "EntryPoint", second: "EntryPoint") -> "EntryPoint":
    """Return which of two of a name is used: that of forensix itself, else the first on the path."""
    packages = _package(first), _package(second)
    used, other = (second, first) if packages[0] != packages[1] == "forensix" else (first, second)
    # A package may lie on the path twice.
    if first.group.startswith("forensix.") and packages[0] != packages[1]:
        both = f"{_package(used)} and {_package(other)} both offer {used.name} in {used.group}"
        _LOG.warning("%s: that of %s is used", both, _package(used))
    return used


def _package(entry: "EntryPoint") -> str:
    return re.sub(r"[-_.]+", "-", entry.dist.name if entry.dist else "").lower()
