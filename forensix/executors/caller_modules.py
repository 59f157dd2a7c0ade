"""Modules beside a notebook or script reach worker processes, although these never look into the current folder.

Where what is to be run names a module that this process took from there, an own detector's for instance, the workers
are told the files of the modules that came from there. They take those, which have run here already, and no others.
"""

import os
import pickletools
import sys
from collections.abc import Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import Any

from forensix.interpreter import current_folders, import_path

Origin = tuple[str | None, list[str] | None]
"""The file of a module, and the folders of its submodules where it is a package; one of the two is there."""


def needed(message: bytes) -> dict[str, Origin]:
    """Return the modules of the current folder, where a pickled message names one of them."""
    places = {name: place for name in list(sys.modules) if "." not in name and (place := _origin(name))}
    named = {arg for _, arg, _ in pickletools.genops(message) if isinstance(arg, str)} if places else set()
    # A protocol below 4 writes "module name" in one piece.
    named |= {part.split(" ")[0] for part in named}
    return places if {name.split(".")[0] for name in named} & places.keys() else {}


def _origin(name: str) -> Origin | None:
    """Return where a module came from if that is the current folder, and neither Python nor forensix is meant."""
    module = sys.modules.get(name)
    if name in sys.stdlib_module_names or name in ("forensix", "__main__"):
        return None
    file: Any = getattr(module, "__file__", None)
    folders: Any = getattr(module, "__path__", None)
    places = ([file] if isinstance(file, str) and folders is None else []) + [str(folder) for folder in folders or ()]
    parents = {os.path.realpath(os.path.dirname(os.path.abspath(place))) for place in places}
    if not parents & current_folders() or parents & {os.path.realpath(entry) for entry in import_path()}:
        return None
    origin = os.path.abspath(file) if isinstance(file, str) else None
    return origin, None if folders is None else [os.path.abspath(str(folder)) for folder in folders]


class CallerModules(MetaPathFinder):
    """In a worker: finds the modules that it was told of, before others of their names."""

    def __init__(self, places: Mapping[str, Origin]) -> None:
        self._places = places

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module's file or folders, None for any other module."""
        if fullname not in self._places:
            return None
        origin, folders = self._places[fullname]
        if origin is not None:
            return spec_from_file_location(fullname, origin, submodule_search_locations=folders)
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = folders
        return spec
