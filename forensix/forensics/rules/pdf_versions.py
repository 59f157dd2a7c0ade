"""Claims about the versions that a PDF holds: each saved revision, what it changed, and signs of having been
saved again."""

import math
from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, joined, place
from forensix.forensics.rules import pdf_after_signing, pdf_dates, pdf_producers, video_tags
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.pdf.objects import MAX_LISTED

MAX_NAMED = 20
PROOF = {"validation data", "catalog", "structure of the file"}
"""Roles of what is added after signing so that signatures can be proved later."""
DATED = PROOF | {"document information", "metadata"}
"""The same, with the date of that save, which both hold."""

BESIDE = DATED | {"embedded file"}
"""Roles of what is written where a file is attached, as the data of an electronic invoice are (ZUGFeRD, Factur-X)."""

MAKING_S = 60.0
"""Within what time programs that make a document save it again: PDFMaker with its bookmarks and tags, InDesign for the
web, a scanner's program with the words it reads. To open a document and change its words takes a person longer.
"""

UPDATERS = ("iText", "3-Heights")
"""What stamps or optimises documents that exist, and names itself as their producer, with the date; both leave XMP out
where a document has none, which Acrobat writes whenever it saves.
"""

ADDITIONS = ("fill_forms", "annotate")
"""What a certification may allow to be added."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield one claim for each revision after the first, and those of a checksum and of identifiers."""
    revisions = facts.records("pdf.revision")
    later = revisions[1:]
    saves = [f for f in later if not f.value["same_save"]]
    if saves:
        n = len(saves) + 1
        changed = any(f.value["content_changed"] for f in saves)
        signing = _only_signing(facts, saves)
        attaching = not signing and _only_attaching(revisions[0], saves)
        unlocking = _only_unlocking(facts, saves)
        explained = signing or attaching or unlocking
        yield finding(
            "benign" if explained else "suspect",
            f"The file holds {n} versions of the document",
            f"It was saved {n - 1} more {'time' if n == 2 else 'times'} by appending to it, so every earlier version "
            "is still inside and can be taken out with `forensix extract-revisions`."
            + (" At least one later version changes what the pages show." if changed else "")
            + (
                f" Versions after the {MAX_LISTED}th were not looked at one by one."
                if len(revisions) > MAX_LISTED
                else ""
            )
            + (" The later versions are those that were signed, with what the signatures allow." if signing else "")
            + (
                " The later version attaches a file and draws nothing, as what adds its data to an invoice does."
                if attaching
                else " The later version unlocks functions of Adobe's free reader, as publishers of forms have it "
                "done, and the signature that does so holds."
                if unlocking
                else ""
                if signing
                else " Filling a form, commenting and signing save so, and so does changing a page."
                if changed or len(revisions) > MAX_LISTED
                else " No later version changes what the pages themselves draw: filling a form, commenting, signing "
                "and changing what the document says of itself save so."
            ),
            "versions",
            "versions",
            facts=saves,
            values=[f"{f.value['index']}: {f.value['summary']}" for f in (revisions[0], *saves[:MAX_NAMED])],
            flags=() if explained else ("FILE_EDITED",),
        )
    for fact in saves[:MAX_NAMED]:
        yield _revision(fact)
    for fact in [f for f in later if f.value["same_save"]][:3]:
        yield finding(
            "benign",
            "A second cross-reference section lists the same objects",
            f"The file has two end marks, but the section before the one at byte {fact.value['end_offset']} only lists "
            "objects that were already there. Programs write both in one go, for old viewers, so it is no later "
            "change.",
            "versions",
            "versions",
            facts=[fact],
            values=[fact.value["summary"]],
        )
    yield from _in_place(facts)
    # One cause is told once: versions that are there, signed ones too, need no identifier to tell of them.
    if not saves:
        yield from _identifier(facts)


def _in_place(facts: Facts) -> Iterator[Finding]:
    """Tell that a checksum of the bytes that were written first does not fit them any more."""
    fact = facts.fact("pdf.checksum")
    if fact is not None:
        yield finding(
            "suspect",
            "Bytes of the document were changed after the office program wrote them",
            f"{place(fact)}: LibreOffice, OpenOffice and their kin write the MD5 of all that stands before the trailer "
            "there, and it is not that of what stands there now. Programs that save a document write it anew or append "
            "to it, so something was changed in place, by hand or by a script: a date, a name, what a page shows. A "
            "transfer that damaged the file, or changed its line ends, leaves this too.",
            "versions",
            "editing",
            facts=[fact],
            flags=("FILE_EDITED",),
        )


def _only_signing(facts: Facts, saves: list[Fact]) -> bool:
    """Say whether no later version changes a page, and each is a signature that holds, proof of one, or allowed.

    What a certification allows in so many words, and nothing else came after it, is what it was made for; so is filling
    fields that were empty when they were signed.
    """
    signatures = [f.value for f in facts.records("pdf.signature") if f.key == "pdf.signature"]
    ends = {r["covered_to"] for r in signatures}
    to_be_filled = [r for r in signatures if r["allowed"] in ADDITIONS or r["modification"] == "form_filling"]
    allowed_from = min((r["covered_to"] for r in to_be_filled if pdf_after_signing.kept(facts, r)), default=math.inf)
    return (
        bool(signatures)
        and all(pdf_after_signing.kept(facts, r) for r in signatures)
        and all(
            not f.value["content_changed"]
            and (
                any(abs(f.value["end_offset"] - end) <= 2 for end in ends)
                or _proves(set(f.value["roles"]))
                or f.value["start_offset"] + 2 >= allowed_from
            )
            for f in saves
        )
    )


def _only_attaching(first: Fact, saves: list[Fact]) -> bool:
    """Say whether the one later version attaches the first files and changes nothing that draws, or may do so.

    Objects of a role that is not known are new in it, so that nothing leads to them but what it attaches.
    """
    if len(saves) != 1 or saves[0].value["content_changed"] or "embedded file" in first.value["roles"]:
        return False
    rows = [(role, verb) for _, role, verb in saves[0].value["changed"]]
    return ("embedded file", "added") in rows and all(
        role in BESIDE or (role == "other object" and verb == "added") for role, verb in rows
    )


def _only_unlocking(facts: Facts, saves: list[Fact]) -> bool:
    """Say whether the one later version ends where usage rights that hold do, and changes no page."""
    ends = [f.value["covered_to"] for f in facts.records("pdf.usage_rights") if f.value["holds"]]
    return (
        len(saves) == 1
        and not saves[0].value["content_changed"]
        and any(abs(saves[0].value["end_offset"] - end) <= 2 for end in ends)
    )


def _proves(roles: set[str]) -> bool:
    return roles <= (DATED if "validation data" in roles else PROOF)


def _revision(fact: Fact) -> Finding:
    record: dict[str, Any] = fact.value
    index, content = record["index"], record["content_changed"]
    fonts = sum(role == "font" and verb == "added" for _, role, verb in record["changed"])
    parts = [f"Version {index} ends at byte {record['end_offset']}; against the one before it: {record['summary']}."]
    if fonts and content:
        parts.append(f"It adds {fonts} font {'object' if fonts == 1 else 'objects'} that no earlier version uses.")
    if record.get("pages_moved"):
        parts.append(f"In it {record['pages_moved']}.")
    elif record.get("layers_switched"):
        parts.append("In it layers are shown at first that were hidden before, or the other way round.")
    elif {"page content", "image"} & set(record["roles"]):
        parts += ["Stamps, page numbers and flattened forms are added so, and so are changed words."] if content else []
    elif record.get("pages_redrawn"):
        parts.append("In it a page draws other content than before, with other means, or is cut or turned otherwise.")
    elif content:
        parts.append("It changes fonts, so that what is set in them may read otherwise than before.")
    if record.get("sealed"):
        parts.append("It draws a picture within the field of the signature that it adds, as signers draw a seal.")
    if not record["in_chain"]:
        parts.append("The file's own chain of versions does not lead to it, so viewers do not see it.")
    return finding(
        "suspect" if content else "benign",
        f"Version {index} changes {_short(record)}",
        " ".join(parts),
        "versions",
        "editing" if content else "versions",
        facts=[fact],
        values=record["named"] or [record["summary"]],
        flags=("FILE_EDITED",),
    )


def _short(record: dict[str, Any]) -> str:
    roles = [role for role in record["roles"] if role not in ("structure of the file", "other object")]
    roles += ["which layers are shown"] if record.get("layers_switched") else []
    if not roles:
        return "no more than the structure of the file" if not record["roles"] else "objects that the pages do not show"
    names = [*roles[:3], "more"] if len(roles) > 3 else roles
    return joined(names)


def _identifier(facts: Facts) -> Iterator[Finding]:
    """The first half of /ID stays as the file was made, the second changes with each save."""
    fact = facts.fact("pdf.id")
    if fact is None or len(fact.value) != 2 or fact.value[0] == fact.value[1]:
        return
    modified, created = (
        pdf_dates.parse(facts.get("pdf.info.ModDate")),
        pdf_dates.parse(facts.get("pdf.info.CreationDate")),
    )
    gap_s = (modified - created).total_seconds() if modified is not None and created is not None else 0.0
    later = gap_s > pdf_dates.SAME_S
    if not later and (facts.get("xmp.derived_from") is None or video_tags.is_exported(facts)):
        is_alone = facts.get("pdf.writer") in (None, "Microsoft Office")
        beside = "Nothing else in the file says so, and some" if is_alone else "Some"
        yield finding(
            "benign",
            "The document's identifier says that it was saved again",
            f"The two halves of /ID differ, as they do when a document is saved again after it was made. {beside} "
            "programs write two different halves at once.",
            "versions",
            "versions",
            facts=[fact],
            values=fact.value,
        )
        return
    # One cause is told once: the editor that is named saved the document, and is told by itself.
    programs = video_tags.programs(video_tags.made_with(facts))
    editors = [program.name for program in programs if program.category == "editor"]
    if later and not any(f.key.startswith("xmp.") for f in facts.items):
        producers = video_tags.programs(facts.all("pdf.info.Producer"))
        editors += [program.name for program in producers if program.name in UPDATERS]
    if stated := pdf_producers.modified(facts):
        editors.append(pdf_producers.modifier(stated[0]))
    attached = pdf_producers.invoice_data(facts)
    making = later and gap_s <= MAKING_S
    signatures = pdf_after_signing.holding(facts)
    explained = editors or attached or making or signatures
    yield finding(
        "benign" if explained else "suspect",
        "The document was saved again after it was made",
        "The two halves of /ID differ: the first stays as the document was made, the second changes with each save"
        + (". Its dates say so too. " if later else ". ")
        + (
            f"{editors[0]}, which the document names, explains it."
            if editors
            else f"{attached[0].value}, the data of an electronic invoice, was attached so; another change does so too."
            if attached
            else f"That is {gap_s:.0f} seconds later: programs that make a document save it again so."
            if making
            else "Signing does so, and a signature holds for the document as it is: what was changed before, its "
            "signer stands for."
            if signatures
            else "Filling a form, signing, stamping and preparing for the web do so as well as a change of the content."
        ),
        "versions",
        "editing",
        facts=[fact],
        values=fact.value,
        flags=() if explained else ("FILE_EDITED",),
    )
