"""Rows of a manifest that are links: each is downloaded once, and its copy is found by the hash of the link.

Only public addresses are reached, as when a link is analysed (`forensix.media.download`). A copy is kept until somebody
deletes it, also where another file lies behind the link by then: in ``collections/links`` of ``FORENSIX_HOME``.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from forensix.errors import InputError, UsageError
from forensix.folders import home
from forensix.media import Limits

_LINK = re.compile(r"https?://", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}(?=$|[?#])")
_AT_ONCE = 4


def is_link(path: Any) -> bool:
    """Tell whether a row's path is an http(s) URL."""
    return isinstance(path, str) and _LINK.match(path) is not None


def located(root: str | os.PathLike[str], path: str) -> Path:
    """Return where the file of a row lies: in ``root``, or, of a link, where its copy lies once it is downloaded."""
    if not is_link(path):
        return Path(root) / path
    # Raw sound is known by its name alone.
    ending = _ENDING.search(path)
    name = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    return collections() / "links" / f"{name}{ending[0] if ending else ''}"


def collections() -> Path:
    """Return the folder of what was copied from elsewhere."""
    return home() / "collections"


def bring(paths: Sequence[str], limits: Limits, private_hosts: Collection[str]) -> list[str | InputError]:
    """Return paths as they are, and for each link its copy, downloaded unless it is there, or what its download raised.

    Raises
    ------
    UsageError
        The disk is full, or may not be written; what was downloaded before stays.
    """
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        coming = {path: pool.submit(_downloaded, path, limits, private_hosts) for path in paths if is_link(path)}
        return [coming[path].result() if path in coming else path for path in paths]
    finally:
        pool.shutdown(cancel_futures=True)


def _downloaded(link: str, limits: Limits, private_hosts: Collection[str]) -> str | InputError:
    from forensix.media.download import fetch

    copy = located("", link)
    if copy.is_file():
        return os.fspath(copy)
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="coming-", dir=copy.parent) as folder:
            path, _ = fetch(link, Path(folder), limits, frozenset(private_hosts))
            path.replace(copy)
    except InputError as error:
        return error
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(
            f"links cannot be kept in {copy.parent} ({reason}): set FORENSIX_HOME to another folder"
        ) from None
    return os.fspath(copy)
