"""Files of a manifest that could not be used: named on the terminal, and counted on the card where they are many."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from forensix.errors import InputError
from forensix.manifest import Manifest

FEW = 3

_LOG = logging.getLogger(__name__)


def warn_of_unusable(refused: Mapping[str, str], n: int, use: str) -> str:
    """Log how many of ``n`` files could not be used, the first ones and why the first could not.

    Returns a sentence for the limits of a card, with a space behind it; none where they are few.
    """
    if not refused:
        return ""
    said = f"{len(refused)} of the {n} files {use} could not be used"
    first = ", ".join(list(refused)[:FEW]) + (", ..." if len(refused) > FEW else "")
    _LOG.warning("%s: %s. The first: %s", said, first, next(iter(refused.values())))
    return f"{said}. " if len(refused) > FEW else ""


class Asked:
    """What gives a component's logit of a file, and remembers of which files of a manifest there was none."""

    def __init__(self, logit: Callable[[Any, Path], float], files: Manifest) -> None:
        self._logit, self._n = logit, len(files)
        self._names = dict(zip(files.paths(), files.table["path"], strict=True))
        self._refused: dict[str, str] = {}

    def __call__(self, component: Any, path: Path) -> float:
        """Return the logit; see `Recipe.logit`."""
        try:
            return self._logit(component, path)
        except InputError as error:
            self._refused[self._names[path]] = str(error)
            raise

    def warn(self, use: str) -> str:
        """See `warn_of_unusable`."""
        return warn_of_unusable(self._refused, self._n, use)
