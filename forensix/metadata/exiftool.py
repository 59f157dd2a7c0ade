"""What ExifTool reads beyond our own readers, where it is installed; nothing needs it.

    exiftool.version              of the program
    exiftool.<Group>.<Tag>        what none of our readers found, with where ``exiftool <Group>:<Tag>``
    exiftool.stopped              why it gave no answer

It knows maker notes and rare tags by the thousand. Its answers are to look at and never ground for a claim, so that a
file gets the same claims with and without it. It runs under `forensix.media.program`'s limits, gets the bytes and not
the name, and reads no configuration. ``FORENSIX_EXIFTOOL`` holds another path to it, or ``off``.

References
----------
P. Harvey, ExifTool, "exiftool application documentation": -json, -G, -config.
"""

import json
import math
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from forensix.errors import BrokenMedia
from forensix.media import program
from forensix.metadata.facts import Fact

VARIABLE = "FORENSIX_EXIFTOOL"
TIMEOUT_S = 5.0
FACTS = 400
VALUE_LENGTH = 500
OPTIONS = (
    "-config",
    "",
    "-json",
    "-a",
    "-G1:4",
    "-struct",
    "-sort",
    "-q",
    "-q",
    "--System:all",
    "--Composite:all",
    "-",
)
"""``-config`` with nothing after it switches configuration files off, and must come first; ``-`` is standard input."""

DERIVED = frozenset({"SourceFile", "File:FileType", "File:FileTypeExtension", "File:MIMEType"})


def installed() -> str | None:
    """Return the absolute path of the program, or ``None`` where there is none or it is switched off."""
    if is_off():
        return None
    path = shutil.which(_named())
    # A relative part of PATH would let a program that lies beside the evidence stand in for it.
    return os.path.abspath(path) if path and (os.path.isabs(path) or os.sep in _named()) else None


def is_off() -> bool:
    """Return whether the variable switches it off."""
    return _named().lower() in ("", "off", "0", "no", "false")


def _named() -> str:
    return os.environ.get(VARIABLE, "exiftool")


def answers(path: Path) -> dict[str, Any]:
    """Return ExifTool's answers by ``Group:Tag``, empty where it is not installed; never raises.

    ``stopped`` holds the reason where it did not finish or did not answer in JSON.
    """
    executable = installed()
    if executable is None:
        return {}
    try:
        raw = program.run([executable, *OPTIONS], path, timeout_s=TIMEOUT_S)
        rows = json.loads(raw.decode("utf-8", "replace"))
    except (BrokenMedia, OSError) as error:
        return {"stopped": str(error)}
    except (ValueError, RecursionError):
        return {"stopped": "exiftool did not answer in JSON"}
    row = rows[0] if isinstance(rows, list) and rows else None
    return row if isinstance(row, dict) else {"stopped": "exiftool did not answer in JSON"}


def beyond(row: dict[str, Any], own: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return those answers as facts whose tag and value no reader of ours found."""
    if "stopped" in row:
        return (Fact("exiftool.stopped", _literal(row["stopped"]), "exiftool"),)
    names, values = set(), set()
    for fact in own:
        names.add(_plain(fact.key.rsplit(".", 1)[-1]))
        values.add(_plain(str(fact.value)))
    facts: list[Fact] = []
    for name, value in row.items():
        group, _, tag = name.rpartition(":")
        if name == "ExifTool:ExifToolVersion":
            facts.insert(0, Fact("exiftool.version", _literal(value), "exiftool"))
        elif value == "" or name in DERIVED or _plain(tag) in names or _plain(_literal(value)) in values:
            continue
        elif len(facts) < FACTS:
            place = group.replace(":", ".") or "unknown"
            facts.append(Fact(f"exiftool.{_key(place)}.{_key(tag)}", _value(value), f"exiftool {group}:{tag}"[:120]))
    return tuple(facts)


def _key(text: str) -> str:
    return re.sub(r"[^\w.-]", "_", text)[:60]


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _value(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < 1 << 53):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _literal(value)


def _literal(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:VALUE_LENGTH]
