"""What a score is found by: the content of the file, the code, the component, the settings and the degradation."""

import hashlib
import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forensix.errors import InputNotFound
from forensix.evaluation.identity import digest
from forensix.evaluation.scoring import NONE, Condition, Job
from forensix.folders import expanded, home
from forensix.media.sniff import open_regular, shorten
from forensix.models import Placement

_CACHE = "scores.db"


def cache_file(cache: str | os.PathLike[str] | bool | None, identities: tuple[str | None, ...]) -> Path | None:
    """Return the file of shared scores: that of ``FORENSIX_HOME`` by default, None where nothing is shared."""
    # Nobody could tell when a component changed that does not say what it is.
    if cache is False or None in identities:
        return None
    if cache is None or cache is True:
        cache = home() / "cache"
    return expanded(cache) / _CACHE


def content_hash(path: str) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    InputNotFound
        It cannot be read, or is a pipe or device, of which there may be no end.
    """
    name = Path(path).name
    with open_regular(path, name) as file:
        try:
            return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputNotFound(f"{shorten(name)} cannot be read: {error.strerror or error}") from None


def device_setting(placement: Placement) -> dict[str, str]:
    """Return what of a placement moves scores beyond rounding, empty for the processor."""
    return {} if placement.device == "cpu" else {"device": placement.device}


def common_parts(job: Job) -> list[str]:
    """Return what the keys of each component's rows have in common.

    Rows of a component that does not say what it is are found by nobody: not by a run that goes on either, which may
    have been given another component, or the same one with other code.
    """
    parts: list[Any] = [
        job.task,
        job.code,
        job.slot,
        job.metadata,
        asdict(job.limits),
        *device_setting(job.placement).values(),
    ]
    return [digest([*parts, secrets.token_hex() if name is None else name]) for name in job.identities]


def row_key(common: str, content: str, seed: int, condition: Condition) -> str:
    """Return what one row is found by."""
    spelled = f"{common}/{content}"
    if condition.degradation != NONE:
        spelled += f"/{condition.degradation}/{condition.strength}/{seed}"
    return hashlib.sha256(spelled.encode()).hexdigest()
