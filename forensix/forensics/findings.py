"""One finding: a claim, how severe it is, and the facts and pictures that it rests on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from forensix import schema
from forensix.metadata.facts import Fact

VALUE_LENGTH = 500
"""Longest value that a claim repeats; the fact keeps the whole of it."""

FLAG_TEXT: dict[str, str] = {
    "AI_GENERATED": "The file states that artificial intelligence made it or part of it.",
    "FILE_EDITED": "The file carries signs of having been edited or saved again.",
    "METADATA_ERROR": "The file's metadata is damaged or contradicts itself.",
    "SCREENSHOT_SOFTWARE": "The file was written by a program that takes pictures of the screen.",
    "SUSPECT_SOFTWARE": "The file names an editing program.",
    "SUSPECT_SOFTWARE_": "The file names a converter or an online tool, through which it has passed.",
}


@dataclass(frozen=True)
class Finding:
    """A claim with what it rests on.

    ``pictures`` are (title, encoded PNG or JPEG, caption). ``flags`` are the deprecated red flags that it raises, in
    the specification's words; ``details`` are entries of the deprecated ``document_details`` that follow from it.
    ``remark`` is a clause for the sentence on top of a report, of what a reader has to know although it is benign.
    """

    severity: schema.Severity
    claim: schema.Claim
    facts: tuple[Fact, ...] = ()
    pictures: tuple[tuple[str, bytes, str], ...] = ()
    flags: tuple[schema.RedFlag, ...] = ()
    details: tuple[tuple[str, str | bool], ...] = ()
    remark: str = ""


def finding(
    severity: schema.Severity,
    claim: str,
    explanation: str,
    type: schema.ClaimType,
    user_category: schema.UserCategory,
    *,
    facts: Iterable[Fact] = (),
    values: Iterable[object] | None = None,
    pictures: Iterable[tuple[str, bytes, str]] = (),
    flags: Iterable[schema.RedFlag] = (),
    details: Iterable[tuple[str, str | bool]] = (),
    remark: str = "",
) -> Finding:
    """Make a finding; its ``value`` is the facts' literal values unless ``values`` are given."""
    facts = tuple(facts)
    texts = tuple(dict.fromkeys(literal(v) for v in ([f.value for f in facts] if values is None else values)))
    return Finding(
        severity=severity,
        claim=schema.Claim(claim=claim, explanation=explanation, type=type, user_category=user_category, value=texts),
        facts=facts,
        pictures=tuple(pictures),
        flags=tuple(flags),
        details=tuple(details),
        remark=remark,
    )


def literal(value: object) -> str:
    """Return a value as text for a claim: printable, and cut where it is very long."""
    text = value.hex(" ") if isinstance(value, bytes) else str(value)
    text = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text).strip()
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 1] + "…"


_ENDS_WITH_A_BYTE = re.compile(r" at byte \d+$")


def place(fact: Fact) -> str:
    """Name where a fact was read, for a sentence: ``EXIF IFD0 tag 0x0131 at byte 190``."""
    if fact.offset is None or _ENDS_WITH_A_BYTE.search(fact.where):
        return fact.where
    return f"{fact.where} at byte {fact.offset}"


def device_name(make: object, model: object) -> str:
    """Return make and model as one name; most models begin with their make.

    >>> device_name("NIKON CORPORATION", "NIKON D3400"), device_name("Apple", "iPhone 12")
    ('NIKON D3400', 'Apple iPhone 12')
    """
    maker, name = (str(part or "").strip(" \0") for part in (make, model))
    repeats = bool(maker) and name.lower().startswith(maker.lower().split(" ")[0])
    return name if repeats else f"{maker} {name}".strip()


def joined(nouns: Sequence[str], word: str = "and") -> str:
    """Return nouns as a list in words.

    Examples
    --------
    >>> joined(["the face", "the picture", "the file"])
    'the face, the picture and the file'
    """
    return f" {word} ".join(part for part in (", ".join(nouns[:-1]), *nouns[-1:]) if part)


def result(findings: Iterable[Finding]) -> schema.ForensicResult:
    """Return the specification's result; the deprecated blocks follow from the findings and nothing else.

    ``SUSPECT_SOFTWARE`` is raised where an editor is named, ``SUSPECT_SOFTWARE_`` where a converter or an online tool
    is named. A flag is there only when a finding raises it.
    """
    findings = tuple(findings)
    lists: dict[str, tuple[schema.Claim, ...]] = {
        severity: tuple(dict.fromkeys(f.claim for f in findings if f.severity == severity))
        for severity in schema.SEVERITIES
    }
    triggers: dict[schema.RedFlag, tuple[str, ...]] = {}
    for item in findings:
        for flag in item.flags:
            values = item.claim.value or (item.claim.claim,)
            triggers[flag] = tuple(dict.fromkeys((*triggers.get(flag, ()), *values)))
    details: dict[str, Any] = {}
    for item in findings:
        for key, value in item.details:
            if key != "source":
                details.setdefault(key, value)
    return schema.ForensicResult(
        claim_lists=schema.ClaimLists(**lists),
        document_details=schema.DocumentDetails(**details, source=_source(findings)),
        red_flags={flag: FLAG_TEXT[flag] for flag in triggers},
        trigger_values=triggers,
    )


SOURCES: tuple[schema.Source, ...] = ("ai_generated", "screenshot", "software", "physical")


def _source(findings: tuple[Finding, ...]) -> schema.Source:
    """Return the kind of origin that the claims name; the one that says most about the content wins."""
    named = {value for item in findings for key, value in item.details if key == "source"}
    return next((source for source in SOURCES if source in named), "unknown")
