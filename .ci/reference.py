"""Build the API reference from the docstrings: ``python .ci/reference.py FOLDER``."""

import argparse
import importlib
import pkgutil
import sys
import warnings
from pathlib import Path

import pandas as pd
import pdoc

import forensix

NOT_IMPORTED = ("forensix.__main__", "forensix.service.data.migrations")
"""Run the command line, or run inside a migration only."""


def modules() -> list[str]:
    """Import all modules, have those that load names on demand load them, and return those that pdoc is to be told of.

    It finds the modules of a package by itself where the package has no ``__all__``, or names them there.
    """
    names = [one.name for one in pkgutil.walk_packages(forensix.__path__, "forensix.")]
    names = ["forensix", *(name for name in names if not name.startswith(NOT_IMPORTED))]
    for name in names:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            setattr(module, public, getattr(module, public))
    parents = {name: sys.modules[name.rpartition(".")[0] or name] for name in names}
    return [name for name, parent in parents.items() if name.rpartition(".")[2] not in getattr(parent, "__all__", name)]


def build(folder: Path) -> None:
    """Write a page a module into ``folder``, and the index of all of them."""
    # Annotations take a subscript of these that the classes themselves do not.
    for kind in (pd.Series, argparse._SubParsersAction):
        kind.__class_getitem__ = classmethod(lambda cls, _: cls)
    pdoc.render.configure(docformat="numpy")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* for pandas\.")
        pdoc.pdoc(*modules(), *(f"!{name}" for name in NOT_IMPORTED), output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
