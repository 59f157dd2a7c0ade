"""Claims that follow from facts: ``rules`` draw them, ``traces`` measure what pixels show.

Facts come from :func:`forensix.metadata.reader.read_facts`; no rule reads the file's bytes itself. Rules that look at
decoded pixels get them through the media they are handed. Missing information proves nothing: what a file does not say
is told at most as benign.
"""

import importlib
from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.forensics.findings import Finding, result
    from forensix.media import Media
    from forensix.metadata.facts import Facts

__all__ = ["Finding", "claims", "result"]

# Child processes import measuring modules of this package and should not pay for the schema.
__getattr__, _, _ = lazy_loader.attach(__name__, submod_attrs={"findings": ["Finding", "result"]})


def claims(facts: "Facts", media: "Media | None" = None, *, draw: bool = True) -> "tuple[Finding, ...]":
    """Return what follows from the facts of one medium, most severe first.

    Without ``media`` the rules that need decoded pixels stay silent; maps are empty unless they are to ``draw``.
    """
    from forensix.forensics.rules import plain, several, shared
    from forensix.schema import SEVERITIES

    if facts.kind == "image":
        from forensix.forensics.rules import image, image_pixels

        of_kind = image.rules(facts, image_pixels.measure(facts, media, draw=draw) if media is not None else {})
    else:
        of_kind = importlib.import_module(f"forensix.forensics.rules.{facts.kind}").rules(facts)
    findings = (*of_kind, *shared.rules(facts), *several.rules(facts))
    findings = (*findings, *plain.rules(facts, findings))
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))
