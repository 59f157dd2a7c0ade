"""Claims about words of a PDF that a reader does not see, sees only on paper, or sees other than they are stored.

Words that nobody sees are left by templates, spreadsheets and programs that lay text below its outlines, as well as by
whoever hides a sentence from people and not from programs; a line in two copies of one font is left by filling in a
printed form as well as by replacing words. Both are told with the words, and are no sign of tampering by themselves. A
form field whose stored value is not what it shows is suspect: two readers of it read two things.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Fact, Facts

WHY = {
    "without ink": "without ink, where no picture lies",
    "transparent": "fully transparent",
    "white": "in white, where nothing of another colour is painted",
    "tiny": "too small to read",
    "beside the page": "beside the part of the page that is shown",
}
KINDS = {
    "copy": "a second copy of the font beside them",
    "not embedded": "a font that is not embedded, beside one that is",
}


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on layers, unseen words, words in another font, and form fields."""
    yield from _layers(facts)
    yield from _unseen(facts)
    yield from _fields(facts)
    yield from _fonts(facts)


def _of(facts: Facts, key: str) -> list[Fact]:
    return [f for f in facts.all(key) if isinstance(f.value, dict)]


def _pages(facts: list[Fact]) -> str:
    return ", ".join(str(p) for p in dict.fromkeys(f.value["page"] for f in facts))


def _layers(facts: Facts) -> Iterator[Finding]:
    hidden = list(facts.all("pdf.layer.hidden"))
    words = [f for f in _of(facts, "pdf.unseen_text") if f.value["why"].startswith("layer ")]
    if hidden:
        yield finding(
            "benign",
            f"The document has hidden layers ({len(hidden)})",
            "Layers that are switched off hold content that a reader does not see at first."
            + (f" Words on page {_pages(words)} lie in one." if words else ""),
            "versions",
            "versions",
            facts=[*hidden[:20], *words],
            values=[str(f.value) for f in hidden[:20]]
            + [f"{f.value['why'].removeprefix('layer ')}: {f.value['text']}" for f in words],
        )
    printed = _of(facts, "pdf.printed_layer")
    if printed:
        yield finding(
            "benign",
            f"What is printed is not what is shown ({len(printed)} {'layer' if len(printed) == 1 else 'layers'})",
            "Layers ask to be seen on paper only, or on the screen only. Watermarks and buttons are made so, and so is "
            "a page that reads otherwise once it is printed.",
            "versions",
            "versions",
            facts=printed[:20],
            values=[
                f"{f.value['layer']}: {'only on paper' if f.value['is_printed'] else 'only on the screen'}"
                for f in printed[:20]
            ],
        )


def _unseen(facts: Facts) -> Iterator[Finding]:
    words = [f for f in _of(facts, "pdf.unseen_text") if f.value["why"] in WHY]
    if not words:
        return
    ways = "; ".join(WHY[why] for why in dict.fromkeys(f.value["why"] for f in words))
    yield finding(
        "benign",
        f"The document holds words that a reader does not see (page {_pages(words)})",
        f"They are drawn {ways}. Search, copying and programs that read the document for somebody find them all the "
        "same. Spreadsheets, templates, figures that were cropped and marks for signing leave such words, and so does "
        "whoever wants a program to read what people do not.",
        "metadata",
        "integrity",
        facts=words,
        values=[f"page {f.value['page']}, {f.value['why']}: {f.value['text']}" for f in words],
    )


def _fields(facts: Facts) -> Iterator[Finding]:
    fields = _of(facts, "pdf.field")
    if not fields:
        return
    one = len(fields) == 1
    yield finding(
        "suspect",
        f"A form field shows other words than it stores (page {_pages(fields)})"
        if one
        else f"{len(fields)} form fields show other words than they store (page {_pages(fields)})",
        "A field keeps its value beside a drawing of it: people see the drawing, programs and some viewers take the "
        "value. A program that changes the value and does not draw it anew leaves this; so does whoever changes one of "
        "the two.",
        "structure",
        "editing",
        facts=fields,
        values=[_field(f.value) for f in fields],
        flags=("FILE_EDITED",),
    )


def _field(record: dict[str, Any]) -> str:
    return f"{record['field']}: stored {record['value']}; shown {record['shown']}"


def _fonts(facts: Facts) -> Iterator[Finding]:
    words = _of(facts, "pdf.other_font")
    if not words:
        return
    kinds = "; ".join(KINDS[kind] for kind in dict.fromkeys(f.value["kind"] for f in words))
    yield finding(
        "benign",
        f"A few words stand in another font than their line (page {_pages(words)})",
        f"They are set in {kinds}, and hardly anything else on the page is. Replacing words in an editor leaves this; "
        "so do filling in a printed form, numbering pages, and figures taken from another document.",
        "structure",
        "editing",
        facts=words,
        values=[
            f"page {f.value['page']}: {f.value['words']} in {f.value['font']} (object {f.value['object']}), beside "
            f"{f.value['beside']} in {f.value['beside_font']} (object {f.value['beside_object']})"
            for f in words
        ],
    )
