"""What may come after a signature: pyHanko's difference analysis, with room for the data that proves validity later.

Signers and validators add certificates, revocation lists and their answers under ``/DSS``, and rewrite what an earlier
one had put there. Nothing under it is ever shown, so any change that no other path reaches is let through; pyHanko's
own rule refuses entries of ``/VRI`` that were written again.

References
----------
ISO 32000-2:2020, 12.8.4.3; ETSI EN 319 142-1, 5.4.2.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import HistoricalResolver, RawPdfPath
from pyhanko.sign.diff_analysis import (
    CatalogModificationRule,
    DocInfoRule,
    FormUpdatingRule,
    GenericFieldModificationRule,
    MetadataUpdateRule,
    ModificationLevel,
    ObjectStreamRule,
    ReferenceUpdate,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    WhitelistRule,
    XrefStreamRule,
)
from pyhanko.sign.diff_analysis.rules_api import Context

VISITED = 20_000
DEPTH = 12


class ValidationDataRule(WhitelistRule):
    """Let through what is reached under ``/Root /DSS``; an object that another path reaches too still needs its own."""

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterator[ReferenceUpdate]:
        """Yield one update for each path under ``/DSS``, as it was and as it is."""
        for version in (old, new):
            root = version.root
            if "/DSS" in root:
                for reference, path in _references(root.raw_get("/DSS"), ("/Root", "/DSS")):
                    yield ReferenceUpdate(reference, context_checked=Context.from_absolute(old, RawPdfPath(*path)))


def _references(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[generic.Reference, tuple[str | int, ...]]]:
    """Yield the references that a value holds, with the path to each."""
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
            stack += [(value.raw_get(key), (*path, str(key))) for key in value]
        elif isinstance(value, generic.ArrayObject):
            stack += [(value.raw_get(i), (*path, i)) for i in range(len(value))]


@lru_cache(maxsize=1)
def policy() -> StandardDiffPolicy:
    """Return pyHanko's standard policy with the rule of this file in place of its own on ``/DSS``."""
    rules = (
        DocInfoRule(), XrefStreamRule(), ObjectStreamRule(), ValidationDataRule(), MetadataUpdateRule()
    )  # fmt: skip
    return StandardDiffPolicy(
        global_rules=[CatalogModificationRule(), *(r.as_qualified(ModificationLevel.LTA_UPDATES) for r in rules)],
        form_rule=FormUpdatingRule(
            field_rules=[SigFieldCreationRule(), SigFieldModificationRule(), GenericFieldModificationRule()]
        ),
    )
