"""Import authors' modules from their checkouts, with others standing in for what they need and do not use."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from PIL import Image

Run = Callable[[Any], torch.Tensor]


@contextmanager
def at(*folders: Path) -> Iterator[None]:
    """Import from a checkout, and forget what was imported afterwards."""
    before = set(sys.modules)
    with mock.patch.object(sys, "path", [*map(str, folders), *sys.path]):
        yield
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), "")
        if str(place).startswith(tuple(map(str, folders))):
            del sys.modules[name]


@contextmanager
def standing_in(modules: dict[str, Any]) -> Iterator[None]:
    """Let names be imported as these modules; what else is imported meanwhile stays."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    yield
    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


def absent(*names: str) -> Any:
    """Stand in for packages that a module imports and that what is used of it does not need."""
    return standing_in({name: mock.MagicMock() for name in names})


def pil(rgb: np.ndarray) -> Image.Image:
    return Image.fromarray(rgb)
