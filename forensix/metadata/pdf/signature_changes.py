"""What may come after a signature: pyHanko's difference analysis, with room for comments and for proof of validity.

Signers and validators add certificates, revocation lists and their answers under ``/DSS``, and rewrite what an earlier
one had put there. Nothing under it is ever shown, so any change that no other path reaches is let through; pyHanko's
own rule refuses entries of ``/VRI`` that were written again. Comments, which pyHanko has no rule for, are let through
where they are new and nothing else of their page differs.

References
----------
ISO 32000-2:2020, 12.8.4.3; ETSI EN 319 142-1, 5.4.2; ISO 16684-1:2019, 7.3.3 (``x:xmpmeta`` is optional).
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import HistoricalResolver, RawPdfPath
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
    DocInfoRule,
    FormUpdate,
    FormUpdatingRule,
    GenericFieldModificationRule,
    MetadataUpdateRule,
    ModificationLevel,
    ObjectStreamRule,
    QualifiedWhitelistRule,
    ReferenceUpdate,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    WhitelistRule,
    XrefStreamRule,
)
from pyhanko.sign.diff_analysis.commons import compare_dicts
from pyhanko.sign.diff_analysis.rules_api import Context

VISITED = 20_000
DEPTH = 12
VALUE = 100
"""Characters that are kept of a field's value."""
COMMENTS = (
    "/Text", "/FreeText", "/Line", "/Square", "/Circle", "/Polygon", "/PolyLine", "/Highlight", "/Underline",
    "/Squiggly", "/StrikeOut", "/Caret", "/Stamp", "/Ink", "/Popup", "/FileAttachment",
)  # fmt: skip
BESIDE = frozenset(("/Annots", "/Tabs", "/LastModified", "/PieceInfo", "/StructParents"))
"""Entries of a page that programs write as well when they add a comment, and that draw nothing of the page itself."""

Path = tuple[str | int, ...]


class ValidationDataRule(WhitelistRule):
    """Let through what is reached under ``/Root /DSS``; an object that another path reaches too still needs its own."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterator[ReferenceUpdate]:
        """Yield one update for each path under ``/DSS``, as it was and as it is."""
        for version in (old, new):
            root = version.root
            if "/DSS" in root:
                for reference, path in _references(root.raw_get("/DSS"), ("/Root", "/DSS")):
                    yield ReferenceUpdate(reference, context_checked=Context.from_absolute(old, RawPdfPath(*path)))


class AnnotationRule(QualifiedWhitelistRule):
    """Let through new comments, and lists with new comments and form fields, on pages that are otherwise as they were.

    The fields themselves are left to the rules on forms.
    """

    def apply_qualified(
        self, old: HistoricalResolver, new: HistoricalResolver
    ) -> Iterator[tuple[ModificationLevel, ReferenceUpdate]]:
        """Yield an update for each page with new annotations, for its list of them, and for what is new in comments."""
        for reference, path in _pages(new):
            before, after = old(reference), reference.get_object()
            if not isinstance(before, generic.DictionaryObject) or not isinstance(after, generic.DictionaryObject):
                continue
            there, here = _listed(before), _listed(after)
            if there is None or here is None or not there < here:
                continue
            added = {item: _entry(item.get_object(), "/Subtype") for item in here - there}
            if not all(
                kind in (*COMMENTS, "/Widget") and old.is_ref_unassignable(a.reference) for a, kind in added.items()
            ):
                continue
            comments = [item for item, kind in added.items() if kind in COMMENTS]
            level = ModificationLevel.ANNOTATIONS if comments else ModificationLevel.LTA_UPDATES
            if compare_dicts(before, after, BESIDE, raise_exc=False):
                yield level, ReferenceUpdate(reference)
                for update in _written(old, before, after, comments, path):
                    yield level, update


class WrittenFieldsRule(FormUpdatingRule):
    """Judge form fields as pyHanko does, but for those that it lists and that the version did not write."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterator[tuple[ModificationLevel, FormUpdate]]:
        """Yield the updates of objects that the version wrote."""
        written = new.explicit_refs_in_revision()
        for level, update in super().apply(old, new):
            if update.updated_ref in written:
                yield level, update


def _written(
    old: HistoricalResolver, before: Any, after: Any, comments: list[generic.IndirectObject], path: Path
) -> Iterator[ReferenceUpdate]:
    """Yield what annotations brought beside their page: its list of them, and comments with what they lead to."""
    listed, was = after.raw_get("/Annots"), before.raw_get("/Annots") if "/Annots" in before else None
    place = (*path, "/Annots")
    if isinstance(listed, generic.IndirectObject):
        if listed == was:
            yield ReferenceUpdate(listed.reference, context_checked=Context.relative_to(before, "/Annots"))
        elif old.is_ref_unassignable(listed.reference):
            yield ReferenceUpdate(listed.reference, context_checked=Context.from_absolute(old, RawPdfPath(*place)))
    for comment in comments:
        for reference, at in _references(comment, place, without=("/P", "/Parent")):
            if old.is_ref_unassignable(reference):
                yield ReferenceUpdate(reference, context_checked=Context.from_absolute(old, RawPdfPath(*at)))


def _listed(page: generic.DictionaryObject) -> set[generic.IndirectObject] | None:
    """Return the annotations of a page; ``None`` where one is no object of its own, so that it cannot be told."""
    listed = _entry(page, "/Annots")
    items = [listed.raw_get(i) for i in range(len(listed))] if isinstance(listed, generic.ArrayObject) else []
    return set(items) if all(isinstance(item, generic.IndirectObject) for item in items) else None


def _entry(item: Any, key: str) -> Any:
    """Return what an entry of a dictionary leads to, ``None`` where there is none."""
    return item[key] if isinstance(item, generic.DictionaryObject) and key in item else None


def _pages(version: HistoricalResolver) -> Iterator[tuple[generic.Reference, Path]]:
    """Yield the pages of a version, each with the path to it."""
    stack: list[tuple[Any, Path]] = [(version.root.raw_get("/Pages"), ("/Root", "/Pages"))]
    n = 0
    while stack and n < VISITED:
        node, path = stack.pop()
        n += 1
        item = node.get_object()
        kids = _entry(item, "/Kids")
        if isinstance(kids, generic.ArrayObject):
            stack += [(kids.raw_get(i), (*path, "/Kids", i)) for i in range(len(kids))]
        elif isinstance(node, generic.IndirectObject):
            yield node.reference, path


def _references(value: Any, path: Path, without: tuple[str, ...] = ()) -> Iterator[tuple[generic.Reference, Path]]:
    """Yield the references that a value holds, with the path to each; entries ``without`` are not followed."""
    stack, n = [(value, path)], 0
    while stack and n < VISITED:
        value, path = stack.pop()
        n += 1
        if isinstance(value, generic.IndirectObject):
            yield value.reference, path
            value = value.get_object()
        if len(path) > DEPTH:
            continue
        if isinstance(value, generic.DictionaryObject):
            stack += [(value.raw_get(key), (*path, str(key))) for key in value if key not in without]
        elif isinstance(value, generic.ArrayObject):
            stack += [(value.raw_get(i), (*path, i)) for i in range(len(value))]


def overwritten(signature: Any, names: list[str]) -> list[list[str]]:
    """Return name, value as signed and value now of those of the fields that held a value, and hold another."""
    there = _values(signature.reader.get_historical_root(signature.signed_revision))
    here = _values(signature.reader.root)
    pairs = ((name, there.get(name, ""), here.get(name, "")) for name in names)
    return [[name, before[:VALUE], after[:VALUE]] for name, before, after in pairs if before and before != after]


def _values(root: Any) -> dict[str, str]:
    """Return the value of each form field but signatures, by its full name; empty where it has none, or no tick."""
    found: dict[str, str] = {}
    stack = [(item, "", "", None, 0) for item in _items(_entry(_entry(root, "/AcroForm"), "/Fields"))]
    n = 0
    while stack and n < VISITED:
        item, above, value, kind, depth = stack.pop()
        n += 1
        if not isinstance(item, generic.DictionaryObject) or depth > DEPTH:
            continue
        kind, own = _entry(item, "/FT") or kind, _entry(item, "/V")
        value = value if own is None or kind == "/Sig" else _shown(own)
        part = _entry(item, "/T")
        name = above if part is None else f"{above}.{part}" if above else str(part)
        if name and kind != "/Sig":
            found[name] = value
        stack += [(kid, name, value, kind, depth + 1) for kid in _items(_entry(item, "/Kids"), VISITED - len(stack))]
    return found


def _items(listed: Any, most: int = VISITED) -> list[Any]:
    """Return what an array leads to, at most so much; nothing where it is none."""
    return [listed[i] for i in range(min(len(listed), most))] if isinstance(listed, generic.ArrayObject) else []


def _shown(value: Any) -> str:
    if isinstance(value, generic.StreamObject):
        return str(value.data[:VALUE], "utf-8", "replace")
    if isinstance(value, generic.ArrayObject):
        return ", ".join(map(str, value))
    return "" if value == "/Off" else str(value)


@lru_cache(maxsize=1)
def policy() -> StandardDiffPolicy:
    """Return pyHanko's standard policy with the rules of this file in place of its own on ``/DSS`` and annotations."""
    # What metadata hold draws nothing, and XMP need not stand in ``x:xmpmeta``, which pyHanko wants of both versions.
    metadata = MetadataUpdateRule(check_xml_syntax=False)
    rules = (DocInfoRule(), XrefStreamRule(), ObjectStreamRule(), ValidationDataRule(), metadata)
    return StandardDiffPolicy(
        global_rules=[
            CatalogModificationRule(),
            *(r.as_qualified(ModificationLevel.LTA_UPDATES) for r in rules),
            AnnotationRule(),
        ],
        form_rule=WrittenFieldsRule(
            field_rules=[
                # What allows forms to be filled allows signing (ISO 32000-2, table 257), and Acrobat takes a new field
                # that is seen for that; pyHanko is stricter by default, and says so.
                SigFieldCreationRule(approve_widget_bindings=False, allow_new_visible_after_certify=True),
                SigFieldModificationRule(),
                GenericFieldModificationRule(),
            ]
        ),
    )
