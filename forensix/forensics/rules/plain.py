"""What a file is, in one plain sentence, for reports whose other claims do not tell where it comes from."""

from collections.abc import Iterable, Iterator

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Fact, Facts


def rests_on_the_file(claim: Finding) -> bool:
    """Tell whether a claim rests on something that was read in the file.

    Faults of form, and the map that is drawn of every picture, say nothing that a reader could repeat.
    """
    return any(not fact.key.startswith(("problem", "pixels.ela")) for fact in claim.facts)


def rules(facts: Facts, others: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the file's format and size where none of the other claims tells of its origin by something it holds."""
    head, size = facts.fact("file.head"), facts.fact("file.size")
    if head is None or not head.value or size is None or facts.fact("file.unrecognised") is not None:
        return
    if any(f.claim.user_category == "origin" and rests_on_the_file(f) for f in others):
        return
    content = dict(_texts(facts))
    yield finding(
        "benign",
        f"The file has the format {facts.format.upper()}",
        f"It has {size.value} bytes, the first of them {head.value[:11]}{''.join(f'; {words}' for words in content)}.",
        "format",
        "origin",
        facts=[head, size, *content.values()],
        values=[facts.format, f"{size.value} bytes", *content],
    )


def _texts(facts: Facts) -> Iterator[tuple[str, Fact]]:
    """Yield what is told of the content, with the fact that holds it."""
    pixels, version, pages = (facts.fact(key) for key in ("image.size", "pdf.version", "pdf.pages"))
    if pixels:
        yield f"{pixels.value[0]} x {pixels.value[1]} pixels", pixels
    if version:
        yield f"version {version.value}", version
    if pages:
        yield f"{pages.value} {'page' if pages.value == 1 else 'pages'}", pages
    for key, what in (("stream.video", "pictures"), ("stream.audio", "sound")):
        stream = facts.fact(key)
        if stream and isinstance(stream.value, dict) and stream.value.get("codec"):
            yield f"{what} in {stream.value['codec']}", stream
    seconds = facts.fact("signal.seconds")
    if seconds:
        yield f"{seconds.value} s of decoded sound", seconds
