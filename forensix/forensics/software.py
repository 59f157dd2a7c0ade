"""Programs that files name, in categories, and how to recognise them.

    editor      changes pictures, sound, video or documents that exist
    screenshot  takes pictures or recordings of the screen
    converter   re-encodes, optimises or processes without a person looking: libraries, command lines, online tools
    camera      firmware and apps that write a capture as it is made
    transfer    copies captures from a camera or a card, and may turn or caption them on the way
    messenger   sends media on and strips or re-encodes it on the way
    generator   makes content by artificial intelligence
    writer      makes an original of its own: word processors, typesetters, scanners' and recorders' own programs

PDFtk, pypdf and QPDF are editors although scripts call them: they name themselves where documents are merged, cut or
stamped; pikepdf is a converter, since publishers' servers use it to set metadata in all that they send out.

Generators stand in ``generators.csv`` (see `forensix.forensics.generators`) and are asked first; all others in
``programs.csv``: name, category, pattern. Patterns are searched without regard to case and match whole names only; they
match what a program writes of itself and not what camera firmware writes. The first row that matches wins, so
particular rows stand before general ones. To add a program, add a row with the name that people know it by.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from forensix.forensics.generators import WORD, by_software
from forensix.metadata.facts import Fact

Category = Literal["editor", "screenshot", "converter", "camera", "transfer", "messenger", "generator", "writer"]

SCANNER = "a scanner's program"
"""The name of what scanners' programs are called together."""

VERSION = re.compile(r"(firmware |digital camera )?(version|ver|fw|v)?[. ]*[a-z]?\d[\w.\-/]*( ver[\w.]*)?")


@dataclass(frozen=True)
class Program:
    """A program by its name; ``identifier`` is the lower-case name of a generator, else empty."""

    name: str
    category: Category
    identifier: str = ""


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[re.Pattern[str], Program], ...]:
    with Path(__file__).with_name("programs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = []
    for row in rows:
        program = Program(row["name"], row["category"])  # type: ignore[arg-type]
        table.append((re.compile(WORD.format(row["pattern"]), re.IGNORECASE), program))
    return tuple(table)


def identify(text: object) -> Program | None:
    """Return the program that a text names, or ``None`` where the table knows none.

    >>> identify("Adobe Photoshop CS6 (Windows)")
    Program(name='Adobe Photoshop', category='editor', identifier='')
    >>> identify("Ver.1.00") is None
    True
    """
    if (generator := by_software(text)) is not None:
        return Program(generator.name, "generator", generator.identifier)
    label = str(text)[:2000].replace("_", " ")
    return next((program for pattern, program in _table() if pattern.search(label)), None)


def names_none(text: object) -> bool:
    """Tell whether a field for a program is empty, or holds what Adobe's library writes where it is told none.

    >>> names_none("UnknownApplication"), names_none(" "), names_none("FrobPhoto")
    (True, True, False)
    """
    return re.sub(r"[\s\0]", "", str(text)).lower() in ("", "unknown", "unknownapplication")


def is_firmware(text: str, make: object, model: object) -> bool:
    """Tell whether a text in the field for programs is a camera's own version: it is one, or names make or model.

    >>> is_firmware("Ver.1.12", "NIKON CORPORATION", "NIKON D3400"), is_firmware("FrobPhoto", "Canon", "EOS 5D")
    (True, False)
    """
    if not str(make or "").strip():
        return False
    names = [word for word in re.findall(r"\w{3,}", f"{make} {model}".lower()) if not word.isdigit()]
    label = text.strip(" \0").lower()
    return bool(VERSION.fullmatch(label)) or any(word in label for word in names)


def named(facts: Iterable[Fact]) -> Iterator[tuple[Fact, Program]]:
    """Yield each fact whose value (or one of its values) names a known program, with that program."""
    for fact in facts:
        values = fact.value if isinstance(fact.value, list | tuple) else (fact.value,)
        for value in values:
            program = identify(value)
            if program is not None:
                yield fact, program
