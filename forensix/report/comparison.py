"""Two reports beside each other: what both files share, and in what they differ.

Claims are the same where severity and claim are; facts are compared by their names, so that a name that stands in a
file more than once counts as all of its values.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forensix.report.claims import cut, facts_with_claims, numbered, said
from forensix.report.sections import Section, sections
from forensix.report.words import content_text, info_rows, size_text, task_title
from forensix.schema import SEVERITIES

if TYPE_CHECKING:
    from forensix.report.report import Report

MAX_FACTS = 300
"""Facts that differ, as many as are listed."""

ABSENT = "–"


@dataclass(frozen=True)
class Comparison:
    """What is shown of two reports; every row is a label with what the first and the second say."""

    names: tuple[str, str]
    headlines: tuple[str, str]
    medium: tuple[tuple[str, str, str], ...]
    tasks: tuple[tuple[str, Section | None, Section | None], ...]
    claims: tuple[tuple[str, str, str], ...]
    """Severity, claim, and which of the two it was made of: ``both``, ``first`` or ``second``."""
    facts: tuple[tuple[str, str, str], ...]
    """Only those that differ."""
    n_same: int
    """How many facts do not differ."""
    n_left_out: int


def compare(first: "Report", second: "Report") -> Comparison:
    """Return what two reports share and in what they differ."""
    by_task = [{section.task: section for section in sections(report)} for report in (first, second)]
    tasks = dict.fromkeys((*by_task[0], *by_task[1]))
    facts = [_facts(report) for report in (first, second)]
    keys = tuple(dict.fromkeys((*facts[0], *facts[1])))
    rows = tuple((key, facts[0].get(key, ABSENT), facts[1].get(key, ABSENT)) for key in keys)
    differing = tuple(row for row in rows if row[1] != row[2])
    return Comparison(
        names=(first.name, second.name),
        headlines=(first.error or first.headline, second.error or second.headline),
        medium=_joined(_medium(first), _medium(second)),
        tasks=tuple((task_title(task), by_task[0].get(task), by_task[1].get(task)) for task in tasks),
        claims=_claims(first, second),
        facts=tuple((key, cut(a), cut(b)) for key, a, b in differing[:MAX_FACTS]),
        n_same=len(rows) - len(differing),
        n_left_out=max(0, len(differing) - MAX_FACTS),
    )


def render_comparison(first: "Report", second: "Report") -> str:
    """Return two reports beside each other as HTML to be shown inside another page."""
    from forensix.report.page import environment

    return environment().get_template("comparison.html").render(comparison=compare(first, second))


def _medium(report: "Report") -> dict[str, str]:
    rows = {"SHA-256": report.sha256, "Content": content_text(report.kind, report.format)}
    rows["Size"] = None if report.size_bytes is None else size_text(report.size_bytes)
    return {name: text for name, text in (*rows.items(), *info_rows(dict(report.info))) if text}


def _joined(a: dict[str, str], b: dict[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, a.get(name, ABSENT), b.get(name, ABSENT)) for name in dict.fromkeys((*a, *b)))


def _claims(first: "Report", second: "Report") -> tuple[tuple[str, str, str], ...]:
    a, b = (
        [(s, claim.claim) for outcome in report.outcomes.values() for _, s, claim in numbered(outcome.result)]
        for report in (first, second)
    )
    claims = dict.fromkeys((*a, *b))
    whose = {row: "both" if row in a and row in b else "first" if row in a else "second" for row in claims}
    ordered = sorted(claims, key=lambda row: SEVERITIES.index(row[0]))
    return tuple((severity, claim, whose[severity, claim]) for severity, claim in ordered)


def _facts(report: "Report") -> dict[str, str]:
    by_key: dict[str, list[str]] = {}
    for outcome in report.outcomes.values():
        for fact, _ in facts_with_claims(outcome):
            by_key.setdefault(fact.key, []).append(said(fact.value))
    return {key: ", ".join(values) for key, values in by_key.items()}
