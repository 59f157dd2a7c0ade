"""Claims about words of a PDF that were edited, stand in another font than their line, or are stored other than seen.

Words that PyMuPDF added are suspect where its redaction wrote them in the place of others, and where they stand on the
very baseline of a line that was there: whoever places them by eye, or at even numbers, misses it by more than rounding.
A line in two copies of one font is left by filling in a printed form as well as by replacing words: it is told with
the words, and is no sign of tampering by itself. An amount that is a little off the size or the baseline of its line is
told, in the sentence on top of a report too: too few documents with amounts were seen to call it suspect. A form field
whose stored value is not what it shows, or not what the XFA form states, is suspect: two readers of it read two things.
Words that are not seen are in `pdf_unseen`.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules.pdf_unseen import pages
from forensix.metadata.facts import Facts

KINDS = {
    "copy": "a second copy of the font beside them",
    "not embedded": "a font that is not embedded, beside one that is",
}


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on words that were edited, in another font or off their line, and on form fields."""
    yield from _touched_up(facts)
    yield from _added(facts)
    yield from _fields(facts)
    yield from _xfa(facts)
    yield from _fonts(facts)
    yield from _uneven(facts)


def _touched_up(facts: Facts) -> Iterator[Finding]:
    touched = facts.records("pdf.touched_up")
    if touched:
        yield finding(
            "suspect",
            f"Words were edited or added in Acrobat ({pages(touched)})",
            f"The {touched[0].where} holds the mark TouchUp_TextEdit, which Adobe Acrobat leaves beside the words that "
            "somebody changes or adds with its tools for text; another program that saves the document later keeps it. "
            "What stood there before is not kept. Correcting a slip and making a form ready leave it as well.",
            "versions",
            "editing",
            facts=touched,
            values=[f"page {f.value['page']}, marks: {f.value['marks']}" for f in touched],
            flags=("FILE_EDITED",),
        )


def _added(facts: Facts) -> Iterator[Finding]:
    added = facts.records("pdf.added_words")
    redacted = [f for f in added if f.value["redacted"]]
    in_line = [f for f in added if f.value["beside"] and f not in redacted]
    aside = [f for f in added if f not in redacted and f not in in_line]
    form = "A stream of their own behind the page's content draws them, in the form in which this library writes words"
    for found, claim, why in (
        (
            redacted,
            "Words were put in the place of others with PyMuPDF",
            "of its redactions: on a box of one colour, in the font that those have. A redaction removes what stands "
            "there, which is not kept. Programs that make a document anonymous leave this too: look what the words "
            "say.",
        ),
        (
            in_line,
            "Words were written with PyMuPDF into lines that were there before",
            "and they stand exactly on the baseline of others, which it did not write. A program that looks up where a "
            "word stands and writes another in its place leaves this; so does one that fills in a form and looks up "
            "its words. What stood there before, if anything, is not kept.",
        ),
        (
            aside,
            "Words were added with PyMuPDF",
            "and on no line that was there. Programs number and stamp pages and fill in forms so; words can be "
            "replaced so as well.",
        ),
    ):
        if found:
            yield finding(
                "benign" if found is aside else "suspect",
                f"{claim} ({pages(found)})",
                f"{form}, {why}",
                "structure" if found is aside else "versions",
                "editing",
                facts=found,
                values=[f"page {f.value['page']}: {f.value['words']}{_beside(f.value)}" for f in found],
                flags=() if found is aside else ("FILE_EDITED",),
            )


def _beside(record: dict[str, Any]) -> str:
    return f", beside {record['beside']}" if record["beside"] else ""


def _fields(facts: Facts) -> Iterator[Finding]:
    fields = facts.records("pdf.field")
    if not fields:
        return
    one = len(fields) == 1
    yield finding(
        "suspect",
        f"A form field shows other words than it stores ({pages(fields)})"
        if one
        else f"{len(fields)} form fields show other words than they store ({pages(fields)})",
        "A field keeps its value beside a drawing of it: people see the drawing, programs and some viewers take the "
        "value. A program that changes the value and does not draw it anew leaves this; so does whoever changes one of "
        "the two.",
        "structure",
        "editing",
        facts=fields,
        values=[_field(f.value) for f in fields],
        flags=("FILE_EDITED",),
    )


def _xfa(facts: Facts) -> Iterator[Finding]:
    fields = facts.records("pdf.xfa_field")
    if fields:
        yield finding(
            "suspect",
            f"The XFA form states other values than the fields ({len(fields)} of them)"
            if len(fields) > 1
            else "The XFA form states another value than the field",
            f"The document holds its form twice. Viewers that know XFA show what {place(fields[0])} states, the others "
            "show the fields, so two readers of it read two things. A program that fills in the fields and does not "
            "know XFA leaves this; so does whoever changes one of the two.",
            "structure",
            "editing",
            facts=fields,
            values=[f"{f.value['field']}: XFA {f.value['xfa']}; field {f.value['value']}" for f in fields],
            flags=("FILE_EDITED",),
        )


def _field(record: dict[str, Any]) -> str:
    return f"{record['field']}: stored {record['value']}; shown {record['shown']}"


def _fonts(facts: Facts) -> Iterator[Finding]:
    words = facts.records("pdf.other_font")
    if not words:
        return
    kinds = "; ".join(KINDS[kind] for kind in dict.fromkeys(f.value["kind"] for f in words))
    yield finding(
        "benign",
        f"A few words stand in another font than their line ({pages(words)})",
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


def _uneven(facts: Facts) -> Iterator[Finding]:
    amounts = facts.records("pdf.uneven_amount")
    if amounts:
        yield finding(
            "benign",
            f"An amount is a little off its line ({pages(amounts)})",
            "It is set in the font of the words beside it, and nearly in their size or on their baseline. Typing an "
            "amount over another in an editor leaves this; so do programs that shrink words to fit and that place "
            "numbers one by one.",
            "structure",
            "editing",
            facts=amounts,
            values=[
                f"page {f.value['page']}: {f.value['words']}, {f.value['off']} {f.value['by']}, beside "
                f"{f.value['beside']}"
                for f in amounts
            ],
            remark=f"an amount is a little off its line ({pages(amounts)})",
        )
