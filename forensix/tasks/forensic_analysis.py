"""``forensic_analysis``: claims about the file itself, each following from facts that it carries."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import BinaryIO

from forensix.errors import InputError
from forensix.forensics import Finding, claims, result
from forensix.media import Media
from forensix.metadata import exiftool
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.reader import read_facts
from forensix.schema import Claim, ForensicResult
from forensix.tasks.catalogue import FORENSIC_ANALYSIS
from forensix.tasks.evidence import Basis, Evidence, FactList, Outcome, Picture, StructureMap, Table
from forensix.tasks.history import history
from forensix.tasks.moments import moments
from forensix.tasks.pages import pages
from forensix.tasks.pictures import MAX_SIDE_PX, encoded_uri, is_wide, jpeg_uri
from forensix.tasks.places import stills
from forensix.tasks.task import Options

SHOWN_BYTES = 32
"""How many bytes are shown at the place of a fact."""

MAX_NAMED = 3
"""How many claims the summary names."""

MAX_SHOWN_PIXELS = 60_000_000

_MEASURED_WITH = ("forensix.forensics.traces.pixels",)
"""What measures a picture, for its rules; it takes longer to load than facts take to read."""

_OBJECT = re.compile(r"\bobject \d+")


class ForensicAnalysis:
    """Read the facts of a file and say what follows from them."""

    description = FORENSIC_ANALYSIS
    name = FORENSIC_ANALYSIS.name
    accepts = FORENSIC_ANALYSIS.accepts
    components: Mapping[str, str] = MappingProxyType({})

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the claims; there is no score, because claims are not weighed against each other."""
        options.progress("reading facts", 0.0)
        evidence: tuple[Evidence, ...] = ()
        note = ""
        with ThreadPoolExecutor(1) as pool:
            # Beside all that follows from the file: what it adds is to look at and no ground for a claim.
            further = pool.submit(exiftool.answers, media.path) if options.explain else None
            facts = facts_of(media, _MEASURED_WITH if media.kind == "image" else ())
            options.progress("following rules", 0.4)
            findings = claims(facts, media, draw=options.explain)
            answer = result(findings)
            if further is not None:
                page_evidence, note = pages(media, facts, findings)
                evidence = _evidence(media, facts, findings, page_evidence)
                items = (*facts.items, *exiftool.beyond(further.result(), facts.items))
                evidence += (FactList(tuple(map(_placer(facts), items))),) if items else ()
        return Outcome(
            result=answer,
            score=None,
            evidence=evidence,
            notes=(note,) if note else (),
            summary=_summary(answer, facts),
            inconclusive=facts.is_stopped and not (answer.claim_lists.critical or answer.claim_lists.suspect),
            remark="; ".join(finding.remark for finding in findings if finding.remark),
            is_partial=_is_partial(facts),
        )


def facts_of(media: Media, then: Sequence[str] = ()) -> Facts:
    """Return the facts of a medium, read once however many tasks ask.

    ``then`` are modules that the next child will want, see `forensix.media.sandbox.call`.
    """
    return media.memo("facts", lambda: read_facts(media, then))


def _summary(answer: ForensicResult, facts: Facts) -> str:
    lists = answer.claim_lists
    for severity, of_severity in (("critical", lists.critical), ("suspect", lists.suspect)):
        if of_severity:
            names = "; ".join(claim.claim for claim in of_severity[:MAX_NAMED])
            more = f"; and {len(of_severity) - MAX_NAMED} more" if len(of_severity) > MAX_NAMED else ""
            return f"{severity.capitalize()}: {names}{more}."
    n = len(lists.benign)
    benign = f" {n} benign claim{'s describe' if n > 1 else ' describes'} the file." if n else ""
    part = "what could be read of the file" if _is_partial(facts) else "the file"
    return f"Nothing suspect was found in {part}.{benign}"


def _is_partial(facts: Facts) -> bool:
    return any(problem.unread for problem in facts.problems)


def _evidence(
    media: Media, facts: Facts, findings: tuple[Finding, ...], page_evidence: tuple[Evidence, ...]
) -> tuple[Evidence, ...]:
    evidence: list[Evidence] = [*_bases(media, facts, findings)]
    pictures = [
        Picture(title, encoded_uri(data), caption, finding.claim, is_wide(data))
        for finding in findings
        for title, data, caption in finding.pictures
    ]
    if itself := _itself(media, facts):
        evidence.append(itself)
    evidence += [*pictures, *stills(media, findings), *page_evidence, *moments(media, findings), *history(facts)]
    if facts.problems:
        rows = tuple((p.message, p.where, "" if p.offset is None else f"{p.offset:,}") for p in facts.problems)
        evidence.append(Table("Problems in the structure", ("problem", "where", "byte"), rows))
    if facts.structure:
        damage = tuple((p.offset, p.message) for p in facts.problems if p.offset is not None and p.grave)
        evidence.append(StructureMap("Map of the file", media.size_bytes, facts.structure, damage))
    return tuple(evidence)


def _itself(media: Media, facts: Facts) -> Picture | None:
    """Return the picture, or the first of a video, for a person to know what the report is about."""
    if media.kind not in ("image", "video"):
        return None
    n_pixels = (media.info.width_px or 0) * (media.info.height_px or 0)
    if media.kind == "image" and n_pixels > MAX_SHOWN_PIXELS and media.format != "jpeg":
        # Other formats are decoded whole, which takes over a gigabyte.
        return None
    try:
        # Shrunk where it is decoded: a picture of 100 megapixels is not sent over whole to be shown small.
        picture = next(media.frames(max_side_px=MAX_SIDE_PX)).rgb
        if media.kind == "video":
            return Picture("The first frame", jpeg_uri(picture))
        turned = ", turned as its orientation tag says" if facts.get("exif.Orientation") in range(2, 9) else ""
        return Picture("The picture", jpeg_uri(picture), f"As it is shown{turned}.")
    except (InputError, StopIteration):
        return None


def _placer(facts: Facts) -> Callable[[Fact], Fact]:
    """Return what gives a fact of a PDF, which names its object, the place of that object's last version."""
    placed: dict[str, int] = {}
    if facts.kind == "pdf":
        for revision in facts.structure:
            placed |= {node.name: node.offset for node in revision.children}

    def place(fact: Fact) -> Fact:
        named = _OBJECT.search(fact.where) if fact.offset is None else None
        return replace(fact, offset=placed.get(named[0])) if named else fact

    return place


def _bases(media: Media, facts: Facts, findings: tuple[Finding, ...]) -> Iterator[Basis]:
    """Yield what each claim rests on; claims that say the same are one."""
    place = _placer(facts)
    facts_of_claim: dict[Claim, list[Fact]] = {}
    for finding in findings:
        rests_on = facts_of_claim.setdefault(finding.claim, [])
        rests_on += [fact for fact in map(place, finding.facts) if fact not in rests_on]
    with media.path.open("rb") as file:
        for claim, rests_on in facts_of_claim.items():
            yield Basis(claim, tuple((fact, _bytes_at(file, fact.offset)) for fact in rests_on))


def _bytes_at(file: BinaryIO, offset: int | None) -> bytes:
    if offset is None or offset < 0:
        return b""
    file.seek(offset)
    return file.read(SHOWN_BYTES)
