"""What each revision of a PDF changed, in words: page content, annotations, form fields, metadata, signatures."""

from collections import Counter
from dataclasses import replace
from typing import Any

from forensix.metadata.pdf import seals, syntax
from forensix.metadata.pdf.history import History, Revision
from forensix.metadata.pdf.objects import (
    DESCRIBED,
    MAX_LISTED,
    PAGES,
    ROLES,
    View,
    own_role,
    page_numbers,
    pages,
    roles,
)
from forensix.metadata.pdf.sections import Entry
from forensix.metadata.pdf.syntax import Ref, SyntaxFault

MAX_PAGES = 20
INFLATED_BYTES = 64 << 20
"""What is inflated of all versions to compare streams."""
STUB_BYTES = 1 << 16
"""The most bytes of a first part that holds nothing but empty pages."""
SAME_SAVE = "a second cross-reference section for the same objects, written in the same go"


def without_stub(data: bytes, history: History) -> History:
    """Return a history in which a first version that shows nothing is part of the second.

    Illustrator of the nineties wrote a document with empty pages and appended what they show.
    """
    if len(history.revisions) < 2 or history.revisions[0].end_offset > STUB_BYTES:
        return history
    stub, first, *later = history.revisions
    entries, changed = {**stub.entries, **first.entries}, tuple(sorted({*stub.changed, *first.changed}))
    empty = View(data[: stub.end_offset], stub.entries, stub.trailer)
    filled = View(data[: first.end_offset], entries, {**stub.trailer, **first.trailer})
    if not _shows_nothing(empty) or _shows_nothing(filled) or page_numbers(empty) != page_numbers(filled):
        return history
    first = replace(first, start_offset=stub.start_offset, entries=entries, changed=changed)
    revisions = tuple(replace(revision, index=n) for n, revision in enumerate((first, *later), 1))
    return replace(history, revisions=revisions)


def _shows_nothing(view: View) -> bool:
    """Say whether there are pages, and neither content, forms nor comments on them."""
    catalog = view.dictionary(view.trailer.get("Root"))
    there = [view.dictionary(page) for page in pages(view, catalog)]
    if not there or view.encrypted or "AcroForm" in catalog or any("Annots" in page for page in there):
        return False
    parts = [part for page in there for part in view.array(page.get("Contents")) or [page.get("Contents")]]
    # What cannot be read may show something.
    stored = [view.stream(part.number) if isinstance(part, Ref) else None for part in parts if part is not None]
    return all(content is not None and not content.strip() for content in stored)


def changes(data: bytes, history: History) -> list[dict[str, Any]]:
    """Return one plain record for each revision, with what it changed against the one before.

    ``index`` numbers the versions; one that was written in one go with that before it, ``same_save``, has its number.
    ``roles`` counts changed objects by role, ``named`` names up to 40 of them, ``pages_moved`` says which pages are
    gone or that they are in another order, ``pages_redrawn`` whether one draws other content, with other means, or is
    cut or turned otherwise, ``layers_switched`` whether other layers are shown at first, ``content_changed`` whether
    any of that is so or what pages draw (their content, images or fonts) was replaced or added to, apart from seals
    within the fields of signatures that are new, ``sealed``. ``created`` is the date of making that the version states.
    """
    records = []
    room = [INFLATED_BYTES]
    entries: dict[int, Entry] = {}
    trailer: dict[str, Any] = {}
    index = 0
    for revision in history.revisions:
        if revision.index > MAX_LISTED:
            # Revisions without end are no history; they are counted and their bytes told.
            index += 1
            records.append(_untold(revision, index))
            continue
        known = set(entries)
        before = View(data, dict(entries), dict(trailer)) if known else None
        entries = {**entries, **revision.entries}
        trailer = {**trailer, **revision.trailer}
        view = View(data[: revision.end_offset], entries, trailer)
        reached = roles(view)
        reached_before = roles(before) if before else {}
        counts: Counter[str] = Counter()
        named: list[str] = []
        changed: list[list[Any]] = []
        redrawn = False
        sealed: set[int] = set()
        for number in revision.changed[:DESCRIBED]:
            if number == 0:
                continue
            role, name = reached.get(number) or reached_before.get(number) or (own_role(view.get(number)), "")
            if role == "structure of the file" and not name:
                continue
            if role in ("page content", "image") and not name and number not in known and not _is_used(view, number):
                role = "other object"
            freed = revision.entries[number][0] == "free"
            is_kept = before is not None and not freed and number in known
            if before is not None and is_kept and _is_same(view, before, number, room):
                continue
            if (
                role == "page"
                and is_kept
                and before is not None
                and _only_annotations(view.get(number), before.get(number))
            ):
                role, name = "annotation", f"list of {name}"
            elif role == "page" and is_kept and before is not None:
                seal = seals.drawn(view, before, view.get(number), before.get(number))
                sealed |= seal
                redrawn |= not seal and _is_redrawn(view.get(number), before.get(number))
            verb = "removed" if freed else "changed" if number in known else "added"
            counts[role] += 1
            changed.append([number, role, verb])
            if len(named) < 40 and (revision.index > 1):
                named.append(f"{verb} {role}{f' ({name})' if name else ''}, object {number}")
        drawing = [row for row in changed if row[0] not in sealed]
        # The catalog names the page tree, and may name another one.
        moved = _pages_moved(view, before) if before and (counts["page tree"] or counts["catalog"]) else ""
        switched = before is not None and _layers_switched(view, before)
        identifier = view.array(trailer.get("ID"))
        # A section that cannot be read tells nothing of whether it had objects.
        same_save = revision.index > 1 and bool(revision.entries) and not _own_bytes(revision)
        index += not same_save
        records.append(
            {
                "index": index,
                "start_offset": revision.start_offset,
                "end_offset": revision.end_offset,
                "startxref": revision.startxref,
                "in_chain": revision.in_chain,
                "n_objects_changed": len(changed),
                "roles": dict(counts),
                "named": named,
                "changed": changed[:DESCRIBED],
                "same_save": same_save,
                "content_changed": bool(moved) or switched or redrawn or _content_changed(drawing, known),
                "sealed": bool(sealed),
                "pages_moved": moved,
                "pages_redrawn": redrawn,
                "layers_switched": switched,
                "created": "" if "Encrypt" in trailer else _created(view),
                "id": [part.hex() for part in identifier if isinstance(part, bytes)][:2],
                "summary": SAME_SAVE if same_save else summary(index, counts, len(changed)),
            }
        )
    return records


def _untold(revision: Revision, index: int) -> dict[str, Any]:
    return {
        "index": index,
        "start_offset": revision.start_offset,
        "end_offset": revision.end_offset,
        "startxref": revision.startxref,
        "in_chain": revision.in_chain,
        "n_objects_changed": len(revision.changed),
        "roles": {},
        "named": [],
        "changed": [],
        "same_save": False,
        "content_changed": False,
        "sealed": False,
        "pages_moved": "",
        "pages_redrawn": False,
        "layers_switched": False,
        "created": "",
        "id": [],
        "summary": f"{len(revision.changed)} objects, not looked at one by one",
    }


def _pages_moved(view: View, before: View) -> str:
    """Say which pages the page tree no longer leads to, or that it leads to them in another order."""
    there, here = page_numbers(before), page_numbers(view)
    if not there or not here or max(len(there), len(here)) >= PAGES:
        return ""
    left = set(here)
    gone = [str(n) for n, number in enumerate(there, 1) if number not in left]
    if gone:
        listed = ", ".join(gone[:MAX_PAGES]) + (" and more" if len(gone) > MAX_PAGES else "")
        verb = "taken out" if left <= set(there) else "taken out or replaced"
        return f"page {listed} is {verb}" if len(gone) == 1 else f"pages {listed} are {verb}"
    old = set(there)
    return "" if [number for number in here if number in old] == there else "the pages are in another order"


def _layers_switched(view: View, before: View) -> bool:
    """Say whether layers that both versions have are switched on or off at first in one of them only."""
    there, here = _layers(before), _layers(view)
    return any(here[number] != is_off for number, is_off in there.items() if number in here)


def _layers(view: View) -> dict[int, bool]:
    """Return whether each layer is off, by the number of its object."""
    stated = view.dictionary(view.dictionary(view.trailer.get("Root")).get("OCProperties"))
    default = view.dictionary(stated.get("D"))
    off, on = ({i.number for i in view.array(default.get(key))[:PAGES] if isinstance(i, Ref)} for key in ("OFF", "ON"))
    is_off = str(default.get("BaseState", "ON")) == "OFF"
    groups = [i.number for i in view.array(stated.get("OCGs"))[:PAGES] if isinstance(i, Ref)]
    return {number: number in off or (is_off and number not in on) for number in groups}


def _is_used(view: View, number: int) -> bool:
    """Say whether anything may lead to an object; signers leave drafts of their marks that nothing shows."""
    return view.referred is None or number in view.referred


def _own_bytes(revision: Revision) -> bool:
    """Say whether a revision holds objects of its own; else its section only lists again what was already there."""
    freed = any(revision.entries[n][0] == "free" for n in revision.changed)
    return freed or any(e[0] == "at" and e[1] >= revision.start_offset for e in revision.entries.values())


def _is_same(view: View, before: View, number: int, room: list[int]) -> bool:
    """Say whether a rewritten object is the same, its stream included (signers rewrite objects without a change).

    ``room`` holds how many bytes may still be inflated, and is lessened: a stream that was compressed otherwise is the
    same, and counts as another where there is no room to tell.
    """
    here, there = view.get(number), before.get(number)
    if here is None or there is None:
        # What is locked in object streams cannot be told apart.
        return here is there and view.entries[number][0] == "in"
    raw, raw_before = view.stream(number), before.stream(number)
    if raw is None or raw_before is None:
        return raw is raw_before and bool(here == there)
    if here == there and raw == raw_before:
        return True
    if _without(here) != _without(there):
        return False
    try:
        return _inflated(here, raw, room) == _inflated(there, raw_before, room)
    except (SyntaxFault, ValueError):
        return False


def _without(item: Any) -> dict[str, Any]:
    """Return a stream's dictionary without what tells how it is stored."""
    return {k: v for k, v in item.items() if k not in ("Length", "Filter", "DL")}


def _inflated(item: dict[str, Any], raw: bytes, room: list[int]) -> bytes:
    content = syntax.decoded({"Filter": item.get("Filter")}, raw, room[0])
    room[0] -= len(content)
    return content


def _created(view: View) -> str:
    """Return the date of making that a version's document information states."""
    date = view.dictionary(view.trailer.get("Info")).get("CreationDate")
    return syntax.text(date) if isinstance(date, bytes) else ""


def _is_redrawn(page: Any, before: Any) -> bool:
    """Say whether a page draws other content than before, with other means, or is cut or turned otherwise."""
    if not isinstance(page, dict) or not isinstance(before, dict):
        return False
    here, there = ({"Rotate": 0, "CropBox": item.get("MediaBox"), **item} for item in (page, before))
    return any(here.get(key) != there.get(key) for key in ("Contents", "Resources", "MediaBox", "CropBox", "Rotate"))


def _only_annotations(page: Any, before: Any) -> bool:
    """Say whether a page differs from what it was in the list of what lies on it, and in nothing that draws it."""
    if not isinstance(page, dict) or not isinstance(before, dict):
        return False
    beside = ("Annots", "Tabs", "LastModified", "PieceInfo", "StructParents")
    return {k: v for k, v in page.items() if k not in beside} == {k: v for k, v in before.items() if k not in beside}


def drawing_changed(record: dict[str, Any]) -> list[str]:
    """Return the roles of what a revision changed of how the pages look, apart from forms, comments and signatures."""
    roles = [
        role
        for _, role, verb in record["changed"]
        if role == "page content"
        or (role == "image" and verb != "removed")
        or (role in ("font", "page", "page tree") and verb != "added")
    ]
    roles += ["page tree"] if record["pages_moved"] else []
    roles += ["layers"] if record["layers_switched"] else []
    return list(dict.fromkeys(roles))


def _content_changed(changed: list[list[Any]], known: set[int]) -> bool:
    """Say whether existing content, or what draws it, was replaced, or content was added to existing pages."""
    return bool(known) and any(
        role == "page content" or (role == "image" and verb != "removed") or (role == "font" and verb == "changed")
        for _, role, verb in changed
    )


def summary(index: int, counts: Counter[str], n_objects: int) -> str:
    """Say in words what a revision changed."""
    if index == 1:
        return f"the first version, with {n_objects} objects"
    if not n_objects:
        return "no object differs"
    parts = [f"{role} ({counts[role]})" if counts[role] > 1 else role for role in ROLES if counts[role]]
    return ", ".join(parts)
