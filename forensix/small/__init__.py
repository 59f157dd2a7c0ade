"""Eight pictures and six recordings that were computed, with a manifest for each kind: to see how things work.

Nothing in them was photographed or spoken. Their labels are stand-ins, and figures on them say nothing about a
detector.

>>> from forensix import Manifest
>>> len(Manifest.read(folder("images")))
8
"""

from pathlib import Path

from forensix.errors import UsageError

KINDS = ("images", "voices")


def folder(kind: str) -> Path:
    """Return the folder of one kind, ``"images"`` or ``"voices"``, with the files and their ``manifest.csv``.

    Raises
    ------
    UsageError
        There is no such kind.
    """
    if kind not in KINDS:
        raise UsageError(f"the small dataset has {' and '.join(KINDS)}, not {kind!r}")
    return Path(__file__).parent / kind
