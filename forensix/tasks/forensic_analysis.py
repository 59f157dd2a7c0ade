"""``forensic_analysis``: claims about the file itself, each following from facts that it carries."""

from collections.abc import Mapping
from types import MappingProxyType

from forensix.forensics import Finding, claims, result
from forensix.media import Media
from forensix.metadata.facts import Facts
from forensix.metadata.reader import read_facts
from forensix.schema import ACCEPTS, ForensicResult
from forensix.tasks.evidence import Evidence, Outcome, Picture, StructureMap, Table
from forensix.tasks.pictures import encoded_uri
from forensix.tasks.task import Options

MAX_VALUE = 300


class ForensicAnalysis:
    """Read the facts of a file and say what follows from them."""

    name = "forensic_analysis"
    accepts = ACCEPTS["forensic_analysis"]
    components: Mapping[str, str] = MappingProxyType({})

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the claims; there is no score, because claims are not weighed against each other."""
        options.progress("reading facts", 0.0)
        facts = facts_of(media)
        options.progress("following rules", 0.4)
        findings = claims(facts, media)
        answer = result(findings)
        return Outcome(
            result=answer,
            score=None,
            evidence=_evidence(media, facts, findings) if options.explain else (),
            summary=_summary(answer),
        )


def facts_of(media: Media) -> Facts:
    """Return the facts of a medium, read once however many tasks ask."""
    return media.memo("facts", lambda: read_facts(media))


def _summary(answer: ForensicResult) -> str:
    lists = answer.claim_lists
    for severity, found in (("critical", lists.critical), ("suspect", lists.suspect)):
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            return f"{severity.capitalize()}: {found[0].claim}{more}."
    n = len(lists.benign)
    told = f"{n} benign claim{'s describe' if n > 1 else ' describes'} it" if n else "it says nothing of itself"
    return f"Nothing critical or suspect follows from the file; {told}."


def _evidence(media: Media, facts: Facts, findings: tuple[Finding, ...]) -> tuple[Evidence, ...]:
    shown: list[Evidence] = [
        Picture(title, encoded_uri(data), caption) for finding in findings for title, data, caption in finding.pictures
    ]
    if facts.problems:
        rows = tuple((p.message, p.where, _offset(p.offset)) for p in facts.problems)
        shown.append(Table("Problems in the structure", ("problem", "where", "byte"), rows))
    if facts.structure:
        shown.append(StructureMap("Structure of the file", media.size_bytes, facts.structure))
    rows = tuple((fact.key, _cut(fact.value), fact.where, _offset(fact.offset)) for fact in facts.items)
    if rows:
        shown.append(Table("Facts", ("fact", "value", "where", "byte"), rows, folded=True))
    return tuple(shown)


def _offset(offset: int | None) -> str:
    return "" if offset is None else str(offset)


def _cut(value: object) -> str:
    text = f"{len(value)} bytes" if isinstance(value, bytes) else str(value)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"
