"""Claims as they are shown: numbered, and each with the facts, places and bytes that it rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from forensix.metadata.facts import Fact, Node
from forensix.report.structure import path_to
from forensix.report.words import plural
from forensix.schema import SEVERITIES, Claim, ForensicResult, Result
from forensix.tasks.evidence import Basis, FactList, Outcome, StructureMap

LINE_BYTES = 16
MAX_VALUE = 300
"""Characters of a value in the table of all facts; below a claim it is shown whole."""

MAX_PARTS = 40
MAX_FACTS = 60
"""Facts that are shown below a claim: to say where one lies takes a look at every piece of the file."""

FACT_COLUMNS = ("fact", "value", "where", "byte", "claims")


@dataclass(frozen=True)
class FactView:
    """A fact below a claim: ``rows`` instead of ``value`` where it is a record, ``dump`` the bytes at its place."""

    name: str
    value: str
    rows: tuple[tuple[str, str], ...]
    where: str
    place: str
    dump: str


@dataclass(frozen=True)
class ClaimView:
    """A claim with its number in the report, which the map of the file and the tables use as well."""

    number: int
    severity: str
    claim: Claim
    facts: tuple[FactView, ...] = ()
    """The first of those that it rests on."""
    n_facts: int = 0
    offsets: tuple[int, ...] = ()
    """Of all facts that have a place."""

    @property
    def subject(self) -> str:
        """What it is about: the category for users and the type, once where they are one word."""
        words = (self.claim.user_category, self.claim.type)
        return " / ".join(dict.fromkeys(words)).replace("_", " ")


def numbered(result: Result) -> Iterator[tuple[int, str, Claim]]:
    """Yield number, severity and claim, gravest first, from 1; none for a result without claims."""
    if not isinstance(result, ForensicResult):
        return
    number = 0
    for severity in SEVERITIES:
        for claim in getattr(result.claim_lists, severity):
            number += 1
            yield number, severity, claim


def claim_views(outcome: Outcome) -> tuple[ClaimView, ...]:
    """Return the claims of an outcome with what they rest on; none for a result without claims."""
    if not isinstance(outcome.result, ForensicResult):
        return ()
    bases = {item.claim: item.facts for item in outcome.evidence if isinstance(item, Basis)}
    nodes = next((item.nodes for item in outcome.evidence if isinstance(item, StructureMap)), ())
    return tuple(
        ClaimView(
            number,
            severity,
            claim,
            tuple(_fact_view(fact, data, nodes) for fact, data in bases.get(claim, ())[:MAX_FACTS]),
            len(bases.get(claim, ())),
            tuple(fact.offset for fact, _ in bases.get(claim, ()) if fact.offset is not None),
        )
        for number, severity, claim in numbered(outcome.result)
    )


def fact_rows(outcome: Outcome) -> tuple[tuple[str, ...], ...]:
    """Return everything that was read as rows of :data:`FACT_COLUMNS`."""
    return tuple(
        (
            fact.key,
            cut(said(fact.value)),
            fact.where,
            "" if fact.offset is None else f"{fact.offset:,} ({fact.offset:#x})",
            ", ".join(map(str, numbers)),
        )
        for fact, numbers in facts_with_claims(outcome)
    )


def facts_with_claims(outcome: Outcome) -> Iterator[tuple[Fact, tuple[int, ...]]]:
    """Yield each fact with the numbers of the claims that rest on it; those that rules measured come last."""
    if not isinstance(outcome.result, ForensicResult):
        return
    numbers = {claim: number for number, _, claim in numbered(outcome.result)}
    resting: dict[tuple[str, str, str], list[int]] = {}
    measured: dict[tuple[str, str, str], Fact] = {}
    for item in outcome.evidence:
        if isinstance(item, Basis):
            for fact, _ in item.facts:
                resting.setdefault(_identity(fact), []).append(numbers.get(item.claim, 0))
                measured.setdefault(_identity(fact), fact)
    for item in outcome.evidence:
        if isinstance(item, FactList):
            for fact in item.facts:
                measured.pop(_identity(fact), None)
                yield fact, tuple(dict.fromkeys(resting.get(_identity(fact), ())))
    for identity, fact in measured.items():
        yield fact, tuple(dict.fromkeys(resting[identity]))


def _identity(fact: Fact) -> tuple[str, str, str]:
    return fact.key, fact.where, repr(fact.value)


def said(value: object) -> str:
    """Return a fact's value as a person reads it: records as ``name: value``, what is empty left out."""
    if isinstance(value, bytes):
        return plural(len(value), "byte")
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {said(part)}" for key, part in value.items() if part not in (None, "", [], {}))
    if isinstance(value, list | tuple):
        return ", ".join(said(part) for part in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def cut(text: str, limit: int = MAX_VALUE) -> str:
    """Return a text, shortened where it is longer than ``limit``, which it then says."""
    return text if len(text) <= limit else f"{text[: limit - 1]}… ({len(text):,} characters)"


def hex_lines(data: bytes, offset: int) -> str:
    """Return bytes as a hex view: offset, pairs of digits, then the characters, a dot for what is no letter.

    Examples
    --------
    >>> hex_lines(b"GIMP", 190)
    '000000be  47 49 4d 50                                      GIMP'
    """
    lines = []
    for start in range(0, len(data), LINE_BYTES):
        row = data[start : start + LINE_BYTES]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{offset + start:08x}  {row.hex(' '):{3 * LINE_BYTES - 1}}  {letters}")
    return "\n".join(lines)


def hex_view(path: str | PathLike[str], offset: int, n_bytes: int = 64) -> str:
    """Return the bytes of a file from ``offset`` on as a hex view, read from the file and not from a report."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        return hex_lines(file.read(n_bytes), offset)


def _fact_view(fact: Fact, data: bytes, nodes: tuple[Node, ...]) -> FactView:
    rows: tuple[tuple[str, str], ...] = ()
    if isinstance(fact.value, Mapping):
        parts = [(key, part) for key, part in fact.value.items() if part not in (None, "", [], {})]
        rows = tuple((str(key).replace("_", " "), _listed(part)) for key, part in parts[:MAX_PARTS])
    place = ""
    if fact.offset is not None:
        place = f"byte {fact.offset:,} ({fact.offset:#x})"
        around = path_to(nodes, fact.offset)
        if around:
            last = around[-1]
            names = " › ".join(node.name for node in around)
            place += f", in {names}: {plural(last.size, 'byte')} from {last.offset:,} ({last.offset:#x})"
    dump = hex_lines(data, fact.offset) if data and fact.offset is not None else ""
    return FactView(fact.key, "" if rows else said(fact.value), rows, fact.where, place, dump)


def _listed(value: object) -> str:
    """Return a part of a record; lists of records get a line each."""
    if isinstance(value, list | tuple) and any(isinstance(part, Mapping | list | tuple) for part in value):
        return "\n".join(said(part) for part in value[:MAX_PARTS])
    return said(value)
