"""Who made a file, by its own words, and what they say it holds: author, agency, copyright, title, caption, place.

Agencies, players and word processors write these fields; whoever asks for the origin of a file asks for them first.
They are told as they stand; programs that save what a platform shows write its page into comments and addresses. What
generators leave there is told by the rules on generators, and what cameras and programs write where nobody wrote
anything is left out.

References
----------
IPTC Photo Metadata Standard 2024.1; ID3 tag version 2.4.0; ISO 32000-2:2020, 14.3.3 (document information).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from forensix.forensics.findings import Finding, finding, literal, place
from forensix.forensics.rules import ai_marks
from forensix.forensics.software import identify
from forensix.metadata.facts import Fact, Facts

FIELDS = {
    "author": (
        "xmp.dc.creator",
        "iptc.By-line",
        "exif.Artist",
        "exif.XPAuthor",
        "png.text.Author",
        "id3.TPE1",
        "id3v1.artist",
        "vorbis.ARTIST",
        "container.tag.©ART",
        "container.tag.ARTIST",
        "container.tag.IART",
        "pdf.info.Author",
    ),
    "credit": ("xmp.photoshop.Credit", "iptc.Credit"),
    "source": ("xmp.photoshop.Source", "iptc.Source"),
    "copyright": (
        "xmp.dc.rights",
        "iptc.CopyrightNotice",
        "exif.Copyright",
        "png.text.Copyright",
        "id3.TCOP",
        "vorbis.COPYRIGHT",
        "container.tag.cprt",
        "container.tag.©cpy",
        "container.tag.COPYRIGHT",
        "container.tag.ICOP",
    ),
    "title": (
        "xmp.dc.title",
        "xmp.photoshop.Headline",
        "iptc.ObjectName",
        "iptc.Headline",
        "exif.XPTitle",
        "png.text.Title",
        "id3.TIT2",
        "id3v1.title",
        "vorbis.TITLE",
        "container.title",
        "container.tag.©nam",
        "container.tag.TITLE",
        "container.tag.INAM",
        "pdf.info.Title",
    ),
    "album": (
        "id3.TALB",
        "id3v1.album",
        "vorbis.ALBUM",
        "container.tag.©alb",
        "container.tag.ALBUM",
        "container.tag.IPRD",
    ),
    "caption": (
        "xmp.dc.description",
        "iptc.Caption",
        "exif.ImageDescription",
        "png.text.Description",
        "container.tag.desc",
        "container.tag.DESCRIPTION",
        "container.bext.description",
        "vorbis.DESCRIPTION",
    ),
    "comment": (
        "container.tag.©cmt",
        "container.tag.COMMENT",
        "container.tag.ICMT",
        "id3.COMM",
        "id3.TXXX.comment",
        "vorbis.COMMENT",
    ),
    "address": ("container.tag.PURL", "id3.TXXX.purl", "vorbis.PURL"),
    "place": (
        "xmp.photoshop.City",
        "iptc.City",
        "xmp.photoshop.State",
        "iptc.Province",
        "xmp.photoshop.Country",
        "iptc.Country",
    ),
}
"""What is told, and the fields that say it, of which the first say most."""

MOST, MOST_LETTERS = 3, 160
"""Texts that are told of each kind, and letters of each."""

SHORT = 30
"""Letters of an author's name or a comment that may be a program's; older fields cut longer texts off."""

NOTHING = re.compile(
    r"\W*|(untitled|unknown|default)( (artist|author|album|title|document|user))?|unspecified|anonymous|none|null|n/?a|"
    r"user|owner|.{0,30}\bdigital (still )?camera|.{0,20}\bdsc|dcim\\.*|vid:\w+|itun\w+ .*|"
    r"\W*screen[- _]?(shot|capture)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What devices, programs and platforms write there by themselves, and of screenshots what is told elsewhere."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claim on who made a file and what it holds, by its own words."""
    keys = {key for fields in FIELDS.values() for key in fields}
    marks = {str(fact.value) for fact in ai_marks.generator_marks(facts)}
    elsewhere = {*marks, *(str(facts.get(key)) for key in ("device.make", "device.model", "exif.Software"))}
    by_key: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts.few():
        if fact.key in keys and str(fact.value) not in elsewhere:
            by_key[fact.key].append(fact)
    parts: list[str] = []
    told: list[Fact] = []
    for kind, fields in FIELDS.items():
        texts = _texts(kind, [fact for key in fields for fact in by_key[key]])
        if texts:
            parts.append(f"{kind} {', '.join(texts)}")
            told += texts.values()
    if parts:
        yield finding(
            "benign",
            "The file says who made it or what it holds",
            f"{place(told[0])}: {'; '.join(parts).rstrip('.')}. Such words are easily written, and may be those of the "
            "work that the file was made from.",
            "metadata",
            "origin",
            facts=told,
            values=parts,
        )


def _texts(kind: str, facts: Iterable[Fact]) -> dict[str, Fact]:
    """Return the first few texts that somebody wrote, each with the fact that holds it."""
    texts: dict[str, Fact] = {}
    for fact in facts:
        text = _text(fact.value)
        is_program = kind in ("author", "comment") and len(text) <= SHORT and identify(text) is not None
        if not is_program and not NOTHING.fullmatch(text) and not _is_repeated(text, texts):
            texts[text] = fact
        if len(texts) == MOST:
            break
    return texts


def _is_repeated(text: str, texts: Iterable[str]) -> bool:
    """Tell whether one of the texts is this one, or begins with all that an older field had room for."""
    own = text.casefold()
    return any(own == (other := t.casefold()) or (len(own) >= SHORT and other.startswith(own)) for t in texts)


def _text(value: object) -> str:
    """Return the words of a field in one line; of several, as languages and authors are, all."""
    words = ", ".join(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str))
    text = " ".join(literal(words.replace("\0", " ")).split())
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
