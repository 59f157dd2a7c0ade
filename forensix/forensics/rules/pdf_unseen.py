"""Claims about words of a PDF that a reader does not see, or sees only on paper.

Whole words in a row that were put on a page so that nobody sees them (white on nothing, transparent, without ink, tiny)
call for an explanation: search, copying and programs that read a document for somebody find them. So do words that are
hidden by their colour where other words stand. Marks for signing programs, what a library writes of itself, layers
that are off and words beside the page are left by ordinary work and accuse nobody; where they hold words of a language,
the sentence on top of a report tells of them.
"""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, joined
from forensix.metadata.facts import Fact, Facts

WHY = {
    "without ink": "without ink, where no picture lies",
    "transparent": "fully transparent",
    "white": "in white, where nothing of another colour is painted",
    "tiny": "too small to read",
    "beside the page": "beside the part of the page that is shown",
}
SENTENCE_WORDS = 4
"""Words in a row that make unseen words suspect: single ones, and pairs, are left by templates and marks."""

MOST_PAGES = 8
"""Pages, or runs of them, that a claim names."""

_MARKS = re.compile(
    r"\{\{.*?\}\}|\[\[.*?\]\]|<<.*?>>|Powered by TCPDF \(www\.tcpdf\.org\)|X-Ref Target - \w+ \d+-\d+|"
    r"VerDate [\w<>]{3,12}(?: \d\d? \d{4})?\s*\d\d:\d\d \w{3} \d\d, \d{4}\s*Jkt \d+\s*PO \d+\s*Frm \d+\s*"
    r"Fmt \d+\s*Sfmt \d+\s*[\w:\\]+\.[A-Z\d]{2,3}\s*\w+(?:\s*[\w.]+</[A-Z]+>)*(?:\s*\w+ on \w+ with [A-Z]+)?"
)
"""Places for signatures, names of fields, what TCPDF and the Government Publishing Office write on each page, and what
FrameMaker's pages of Xilinx name figures and tables by.

That office sets the volume, the frame, the file and who printed it in white at the foot of what Congress and the
Federal Register publish.
"""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on layers, on unseen words, and on words that others replace."""
    yield from _layers(facts)
    yield from _replaced(facts)
    words = [f for f in facts.records("pdf.unseen_text") if f.value["why"] in WHY]
    sentences = [f for f in words if f.value["why"] != "beside the page" and n_words(f.value["text"]) >= SENTENCE_WORDS]
    yield from _sentences(sentences)
    yield from _unseen([f for f in words if f not in sentences])


def n_words(text: str) -> int:
    """Return how many words of a language a text holds; names of fields and marks for programs are none.

    >>> n_words("approve this invoice now"), n_words("a p p r o v e t h i s"), n_words("{{Sig_1:signer:date}} A4-X")
    (4, 2, 0)
    """
    parts = [part.strip(".,;:!?()\"'") for part in _MARKS.sub(" ", text).split()]
    single = [part for part in parts if len(part) == 1 and part.isalpha()]
    if 2 * len(single) > len(parts):
        # Letters that were placed one by one.
        return len(single) // 5
    dense = sum(letter >= "\u3040" and letter.isalpha() for part in parts for letter in part)
    return dense // 2 + sum(part.isalpha() and 2 <= len(part) <= 24 and part < "\u3040" for part in parts)


def pages(facts: list[Fact]) -> str:
    """Return the pages that facts are of, as words: ``page 3``, or ``pages 1 to 18, 20 and 25``."""
    numbers = sorted({f.value["page"] for f in facts})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [
        word
        for run in runs
        for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run])
    ]
    if len(words) > MOST_PAGES:
        words = [*words[:MOST_PAGES], "others"]
    return f"page{'s' if len(numbers) > 1 else ''} {joined(words)}"


def _ways(words: list[Fact]) -> str:
    return "; ".join(WHY[why] for why in dict.fromkeys(f.value["why"] for f in words))


def _layers(facts: Facts) -> Iterator[Finding]:
    hidden = list(facts.all("pdf.layer.hidden"))
    words = [f for f in facts.records("pdf.unseen_text") if f.value["why"].startswith("layer ")]
    if hidden:
        yield finding(
            "benign",
            f"The document has hidden layers ({len(hidden)})",
            "Layers that are switched off hold content that a reader does not see at first."
            + (f" Words on {pages(words)} lie in one." if words else ""),
            "versions",
            "versions",
            facts=[*hidden[:20], *words],
            values=[str(f.value) for f in hidden[:20]]
            + [f"{f.value['why'].removeprefix('layer ')}: {f.value['text']}" for f in words],
            remark=f"a layer that is switched off hides words ({pages(words)})" if words else "",
        )
    printed = facts.records("pdf.printed_layer")
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


def _replaced(facts: Facts) -> Iterator[Finding]:
    words = facts.records("pdf.replaced_text")
    if words:
        yield finding(
            "suspect",
            f"Words are hidden where other words stand ({pages(words)})",
            f"They are drawn {_ways(words)}, and other words are written in their place. Changing the colour of what "
            "was printed and writing over it leaves this; so do templates whose words are filled in twice.",
            "versions",
            "editing",
            facts=words,
            values=[f"hidden: {f.value['under']}; seen: {f.value['over']}" for f in words],
            flags=("FILE_EDITED",),
        )


def _sentences(words: list[Fact]) -> Iterator[Finding]:
    if words:
        yield finding(
            "suspect",
            f"The document holds a sentence that a reader does not see ({pages(words)})",
            f"Whole words in a row are drawn {_ways(words)}. Search, copying and programs that read the document for "
            "somebody find them all the same. Whoever wants a program to read what people do not leaves this; so do "
            "notes in a template or a spreadsheet that somebody made white.",
            "structure",
            "integrity",
            facts=words,
            values=_values(words),
        )


def _unseen(words: list[Fact]) -> Iterator[Finding]:
    spoken = [f for f in words if n_words(f.value["text"])]
    if words:
        yield finding(
            "benign",
            f"The document holds words that a reader does not see ({pages(words)})",
            f"They are drawn {_ways(words)}. Search, copying and programs that read the document for somebody find "
            "them all the same. Spreadsheets, templates, figures that were cropped and marks for signing leave such "
            "words, and so does whoever wants a program to read what people do not.",
            "structure",
            "integrity",
            facts=words,
            values=_values(words),
            remark=f"the document holds words that a reader does not see ({pages(spoken)})" if spoken else "",
        )


def _values(words: list[Fact]) -> list[str]:
    return [f"page {f.value['page']}, {f.value['why']}: {f.value['text']}" for f in words]
