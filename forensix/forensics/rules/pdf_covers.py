"""Claims about what is drawn over what on the pages of a PDF, and about words that were marked for redaction.

A box with other words over words is suspect, for it is how a printed amount is changed without the means to change the
text. In what a browser printed, a box that comes again on further pages over other text is a part of the web page that
stays in place, and is told as such. Slides draw what they show later over what they show first.
"""

from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import video_tags
from forensix.forensics.rules.pdf_unseen import pages
from forensix.forensics.software import named
from forensix.metadata.facts import Fact, Facts

PLACES = (("under", "below"), ("over", "on top"))
BROWSERS = ("Chrome", "Firefox", "Safari", "wkhtmltopdf")


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield a claim for each kind of cover."""
    every = facts.records("pdf.covered_text")
    fixed = _fixed(facts, every)
    slides = _of_slides(facts, every)
    covered = [f for f in every if f not in fixed and f not in slides]
    by_cover = {
        (cover, written): [f for f in covered if f.value["cover"] == cover and bool(f.value["over"].strip()) is written]
        for cover in ("white", "ground", "filled", "picture", "field")
        for written in (True, False)
    }
    noun = {
        key: "box" if all(f.value.get("is_box", True) for f in marks) else "shape" for key, marks in by_cover.items()
    }
    for marks, severity, claim, why, remark in (
        (
            by_cover["white", True],
            "suspect",
            f"A white {noun['white', True]} covers text, and other text is written on the {noun['white', True]}",
            "The text beneath was drawn first and is still in the file. Replacing words in an editor leaves this; so "
            "do forms and stamps that are laid over a page, labels of a figure, and web pages whose header stays in "
            "place.",
            "",
        ),
        (
            by_cover["ground", True] + by_cover["filled", True],
            "suspect",
            f"A filled {noun['filled', True]} covers text, and other text is written on the {noun['filled', True]}",
            "The text beneath was drawn first and is still in the file. Replacing words on coloured paper leaves this; "
            "so do forms and stamps that are laid over a page, labels of a figure, and web pages whose header stays in "
            "place.",
            "",
        ),
        (
            by_cover["white", False],
            "suspect",
            f"A white {noun['white', False]} hides text",
            "The text beneath was drawn first, is still in the file and can be copied. Hiding words in an editor "
            "leaves this; so do layouts that paint a page's background late.",
            "",
        ),
        (
            by_cover["ground", False],
            "suspect",
            f"A {noun['ground', False]} of the colour of what it lies on hides text",
            "The text beneath was drawn first, is still in the file and can be copied, but no reader sees it. "
            "Hiding words in an editor leaves this; so do layouts that paint a ground late.",
            "",
        ),
        (
            by_cover["filled", False],
            "benign",
            f"A filled {noun['filled', False]} covers text",
            "The text beneath was drawn first and can still be copied. Blackening a passage leaves this.",
            f"words lie below a box and can still be copied ({pages(by_cover['filled', False])})",
        ),
        (
            by_cover["picture", True] + by_cover["picture", False],
            "suspect",
            "A picture covers text",
            "The text beneath was drawn first and is still in the file, though no reader sees it. Pasting a picture of "
            "other words over it leaves this; so do stamps, and figures put together from layers.",
            "",
        ),
        (
            by_cover["field", False],
            "benign",
            "A form field without words covers text",
            "The text beneath is printed on the page and can be copied, but the field's ground or picture hides it. "
            "Hints of printed forms and places for signing lie so; so do words that somebody laid a field over.",
            "",
        ),
        (
            fixed,
            "benign",
            "A box that comes again on further pages covers text",
            "It has the same place and the same words on each, and other text lies beneath it on each. Browsers print "
            "the header and the banner of a web page so, where these stay in place while the page is scrolled.",
            "",
        ),
        (
            slides,
            "benign",
            "A part of a slide covers text",
            "PowerPoint wrote the file as it is, the text beneath and what lies on it in one go, and nothing was saved "
            "to it since. Slides show their parts one after the other, over the ones before, and a document of them "
            "draws all of these. Who makes the slides can cover words as well.",
            "",
        ),
        (
            list(facts.all("pdf.redaction")),
            "benign",
            "Words are marked for redaction but still there",
            "A program was told which words to remove and did not yet do so: they are still in the file and can be "
            "copied.",
            "words that are marked for redaction can still be copied",
        ),
        (
            list(facts.all("pdf.covered_picture")),
            "benign",
            "Something is laid over a picture that fills the page",
            "Typing or pasting over a scanned page leaves this; so do brochures, which are designed so.",
            "",
        ),
    ):
        if marks:
            yield finding(
                severity,  # type: ignore[arg-type]
                f"{claim} ({pages(marks)})",
                why,
                "versions",
                "editing",
                facts=marks,
                values=[
                    "; ".join(f"{words}: {f.value[key]}" for key, words in PLACES if f.value.get(key)) for f in marks
                ],
                flags=("FILE_EDITED",) if severity == "suspect" else (),
                remark=remark,
            )


def _fixed(facts: Facts, covered: list[Fact]) -> list[Fact]:
    """Return covers that a browser printed on several pages alike, of a document that nothing else is known of."""
    programs = [program for _, program in named(video_tags.made_with(facts))]
    is_web = any(p.name in BROWSERS for p in programs) and not any(p.category == "editor" for p in programs)
    if not is_web or len(facts.records("pdf.revision")) > 1:
        return []
    alike: dict[tuple[object, ...], list[Fact]] = {}
    for fact in covered:
        place = fact.value["cover"], fact.value["over"], *fact.value["box_pt"]
        alike.setdefault(place, []).append(fact)
    return [
        fact
        for group in alike.values()
        if len({f.value["page"] for f in group}) > 1 and len({f.value["under"] for f in group}) > 1
        for fact in group
    ]


def _of_slides(facts: Facts, covered: list[Fact]) -> list[Fact]:
    """Return covers that PowerPoint drew: it wrote the bytes itself, and no other version followed."""
    is_own = facts.get("pdf.writer") == "Microsoft Office" and "PowerPoint" in str(facts.get("pdf.info.Producer"))
    if not is_own or any(not f.value["same_save"] for f in facts.records("pdf.revision")[1:]):
        return []
    return [f for f in covered if f.value["cover"] != "field"]
