"""What a file says of how its content came about, in the words of IPTC's vocabulary of digital source types.

Types that speak of generative artificial intelligence are read by `ai_marks`. Of the others those that tell of
editing, of a montage or of a screen call for an explanation; a type that names a camera is as easily written as any
other and proves nothing. What was only placed into the content is left out, and so is what content credentials say
that are not proved to speak of this file: those of a camera can be put into any picture.
Source: IPTC NewsCodes, digitalsourcetype.
"""

from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules.credential_checks import unfit, vouching_for
from forensix.metadata.facts import Fact, Facts

TOLD = {
    "composite": "put together from several elements",
    "compositeCapture": "put together from several captures",
    "compositeSynthetic": "put together from several elements, at least one of them synthetic",
    "humanEdits": "edited by a person",
    "minorHumanEdits": "edited a little by a person",
    "screenCapture": "taken from a screen",
    "digitalCapture": "captured by a camera or recorder",
    "computationalCapture": "computed by a camera from several captures of one scene",
    "negativeFilm": "digitised from a negative",
    "positiveFilm": "digitised from a slide or a film",
    "print": "digitised from a print",
    "algorithmicallyEnhanced": "corrected by a program",
    "digitalCreation": "drawn by a person with a program",
    "digitalArt": "drawn by a person with a program",
    "softwareImage": "drawn with a program",
    "dataDrivenMedia": "drawn from data",
    "algorithmicMedia": "made by an algorithm that learnt from no data",
    "virtualRecording": "recorded in a virtual world",
}
EDITED = ("composite", "compositeCapture", "compositeSynthetic", "humanEdits", "minorHumanEdits")
SCREEN = "screenCapture"


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield a claim for each type that the file states of its content as it is."""
    stated: dict[str, list[Fact]] = {}
    others = unfit(facts)
    for fact in facts.few():
        if (name := _type(fact, others)) in TOLD:
            stated.setdefault(name, []).append(fact)
    for name, found in stated.items():
        yield _claim(name, found, vouching_for(facts, found))


def _type(fact: Fact, others: frozenset[str]) -> str:
    if fact.key == "c2pa.source":
        value = fact.value
        if str(value.get("manifest")) in others:
            return ""
        # What other steps than the first state is the type of what they put in or changed.
        is_whole = value.get("active") and not value.get("placed") and value.get("action") == "c2pa.created"
        return str(value.get("source")) if is_whole else ""
    return str(fact.value) if fact.key == "xmp.source_type" else ""


def _claim(name: str, found: list[Fact], signed: str) -> Finding:
    edited, screen = name in EDITED, name == SCREEN
    return finding(
        "suspect" if edited or screen else "benign",
        f"The file says that its content was {TOLD[name]}",
        f"{place(found[0])} says {name!r}, a word of IPTC's for how media come about. "
        + (
            "Ask for what it was before."
            if edited
            else "Any program can draw anything on a screen."
            if screen
            else "Whoever writes a file can choose it, and can leave it out."
        )
        + (f" {signed}" if signed else ""),
        "screenshot" if screen else "metadata",
        "editing" if edited else "origin",
        facts=found,
        values=[name],
        flags=["FILE_EDITED"] if edited else [],
        details=[("source", "screenshot" if screen else "software")] if edited or screen else [],
    )
