"""Layers of a PDF (optional content): which are switched off on the screen, and which are printed otherwise.

References
----------
ISO 32000-2:2020, 8.11 (optional content).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pikepdf

from forensix.metadata.facts import Fact

LISTED = 60
READ = 1000


@dataclass(frozen=True)
class Layers:
    """Names of the layers by the number of their object, and whether each is seen on the screen and on paper."""

    names: dict[tuple[int, int], str] = field(default_factory=dict)
    off: frozenset[tuple[int, int]] = frozenset()
    off_paper: frozenset[tuple[int, int]] = frozenset()

    def hidden(self, item: Any) -> str:
        """Return the name of the layer that hides what is marked as ``item`` on the screen; empty where none does.

        A membership goes by its policy; one that is written as an expression counts as seen.
        """
        if not isinstance(item, pikepdf.Dictionary):
            return ""
        if str(item.get("/Type", "")) != "/OCMD":
            return self._name(item) if item.objgen in self.off else ""
        groups = item.get("/OCGs")
        members = list(groups)[:READ] if isinstance(groups, pikepdf.Array) else [groups]
        known = [g for g in members if isinstance(g, pikepdf.Dictionary) and g.objgen in self.names]
        if not known or "/VE" in item:
            return ""
        states = [g.objgen not in self.off for g in known]
        policy = str(item.get("/P", "/AnyOn"))
        seen = {"/AllOn": all(states), "/AnyOff": not all(states), "/AllOff": not any(states)}.get(policy, any(states))
        return "" if seen else self._name(known[0])

    def facts(self) -> Iterator[Fact]:
        """Yield ``pdf.layer.hidden`` and ``pdf.layer.shown``, and ``pdf.printed_layer`` where paper shows otherwise."""
        for number, name in list(self.names.items())[:LISTED]:
            is_off, where = number in self.off, f"optional content, object {number[0]}"
            yield Fact(f"pdf.layer.{'hidden' if is_off else 'shown'}", name, where)
            if is_off != (number in self.off_paper):
                yield Fact("pdf.printed_layer", {"layer": name, "is_printed": is_off}, where)

    def _name(self, group: pikepdf.Dictionary) -> str:
        return self.names.get(group.objgen, "") or "unnamed"


def read(pdf: pikepdf.Pdf) -> Layers:
    """Return the layers of a document as a viewer shows them at first, and as it prints them."""
    stated = pdf.Root.get("/OCProperties")
    if not isinstance(stated, pikepdf.Dictionary):
        return Layers()
    groups = stated.get("/OCGs")
    if not isinstance(groups, pikepdf.Array):
        return Layers()
    found = {g.objgen: g for g in list(groups)[:READ] if isinstance(g, pikepdf.Dictionary)}
    default = stated.get("/D")
    default = default if isinstance(default, pikepdf.Dictionary) else pikepdf.Dictionary()
    off = set(found) if str(default.get("/BaseState", "/ON")) == "/OFF" else set[tuple[int, int]]()
    off = (off | _members(default.get("/OFF"))) - (_members(default.get("/ON")) if off else set())
    names = {number: str(group.get("/Name", "")) for number, group in found.items()}
    return Layers(names, _used(default, found, off, "View"), _used(default, found, off, "Print"))


def _members(value: Any) -> set[tuple[int, int]]:
    items = list(value)[:READ] if isinstance(value, pikepdf.Array) else []
    return {item.objgen for item in items if isinstance(item, pikepdf.Dictionary)}


def _used(
    default: pikepdf.Dictionary, found: dict[tuple[int, int], Any], off: set[tuple[int, int]], event: str
) -> frozenset[tuple[int, int]]:
    """Return what is off once the states that groups ask for at an event (``View``, ``Print``) are applied."""
    out, rows = set(off), default.get("/AS")
    for row in list(rows)[:READ] if isinstance(rows, pikepdf.Array) else ():
        kinds = row.get("/Category") if isinstance(row, pikepdf.Dictionary) else None
        if str(row.get("/Event", "")) != f"/{event}" or not isinstance(kinds, pikepdf.Array):
            continue
        if f"/{event}" not in {str(k) for k in list(kinds)[:16]}:
            continue
        for number in _members(row.get("/OCGs")) & set(found):
            usage = found[number].get("/Usage")
            asked = usage.get(f"/{event}") if isinstance(usage, pikepdf.Dictionary) else None
            state = str(asked.get(f"/{event}State", "")) if isinstance(asked, pikepdf.Dictionary) else ""
            out = out - {number} if state == "/ON" else out | {number} if state == "/OFF" else out
    return frozenset(out)
