"""Claims that videos and recordings share: programs, encoders, dates, order of boxes, generators."""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.generators import Generator, by_credit, by_program, by_software
from forensix.forensics.rules import (
    ai_marks,
    provenance,
    video_boxes,
    video_counts,
    video_edits,
    video_encoders,
    video_tags,
)
from forensix.forensics.rules.shared import fills_sector
from forensix.forensics.rules.video_dates import date_rules
from forensix.forensics.software import identify
from forensix.metadata.facts import Fact, Facts

SOFTWARE_TAGS = re.compile(
    r"^(container\.(muxing_app|writing_app|junk|ixml\.(ORIGINATOR|SOFTWARE)|bext\.(originator|history))"
    r"|container\.tag\.(©too|©swr|©enc|©req|too|swr|.*encod.*|.*software.*|creator|metadatacreator|ISFT|ITCH|IENG|.*android\.version"
    r"|.*(Tool|tool)|.*creationTool|WM/ToolName|HANDLER_NAME|auth)"
    r"|id3\.(TSSE|TENC|TXXX\.(encod|software|tool|created).*)|vorbis\.(vendor|ENCODER|ENCODED.*|SOFTWARE|RIPPER)"
    r"|ape\.(encod|software|tool).*|xmp\.xmp\.CreatorTool|xmp\.xmpDM\.\w*[Tt]ool\w*)$",
    re.IGNORECASE,
)
OF_PEOPLE = re.compile(r"^(container\.tag\.(auth|creator|IENG)|id3\.TENC)$", re.IGNORECASE)
"""Those of them in which people are named as well."""
SWITCH = re.compile(r"\d*|true|false|yes|no", re.IGNORECASE)
"""What a tag on encoding holds that says whether, or how often, and names no program."""
WORDS = re.compile(
    r"^(container\.tag\.|id3\.(COMM|TXXX|TCOP|TPUB|TPE1|TCOM|WXXX|WOAF|WOAS|WCOM|TIT3)|id3v1\.comment|vorbis\."
    r"(COMMENT|DESCRIPTION|COPYRIGHT|ORGANIZATION|CONTACT|ARTIST|PUBLISHER|AI\w*|URL|PURL)|ape\.|stream\.tag\.|container\.title)",
    re.IGNORECASE,
)
MAKER_TEXT = re.compile(
    r"\b(made|created|generated|produced|composed|voiced|synthesi[sz]ed|powered)\b[^.\n]{0,40}\b(with|by|using|on|in)\b|"
    r"\b(suno|udio|elevenlabs|runwayml|pika|heygen|synthesia|kling|lumalabs|hailuoai)\.(com|ai|io|art)\b|"
    r"\bai[- ](generated|voice|music|video)\b|\btext[- ]to[- ](speech|video|music)\b",
    re.IGNORECASE,
)
FEW_BYTES = 16
"""Up to so many bytes behind a recording hide no file."""
FFMPEG = "FFmpeg"
FFMPEG_HANDLER = re.compile(r"^(Video|Sound|Subtitle|Data)Handlerr?$")
HANDLERS = (
    (re.compile(r"mainconcept", re.I), "MainConcept, the encoder inside many editing programs"),
    (
        FFMPEG_HANDLER,
        "FFmpeg (or a program built on it, some Android phones among them)",
    ),
    (re.compile(r"imported with gpac|gpac", re.I), "GPAC, which repackages streams"),
    (re.compile(r"l-smash", re.I), "L-SMASH, which repackages streams"),
    (
        re.compile(r"^(ISO Media file produced by Google|.*Google Inc)", re.I),
        "a server of Google (YouTube, Drive, Photos)",
    ),
    (re.compile(r"^Apple (Video|Sound) Media Handler", re.I), "QuickTime, as exported from a Mac or an older device"),
    (re.compile(r"bento4", re.I), "Bento4, which repackages streams"),
    (re.compile(r"twitter|facebook|instagram|tiktok|bytedance", re.I), "a social network"),
)
MAC, MAC_SYSTEM = re.compile(r"i?Mac"), re.compile(r"mac ?os\b", re.IGNORECASE)
"""A Mac that records its screen or its camera names itself as the device and its system as the program."""
MATROSKA_HANDLER = "container.tag.HANDLER_NAME"
"""Where FFmpeg keeps the name of a track that it copied into Matroska: of a program, or of the kind of track alone."""
CODEC_MAKER = "container.codec_maker"
"""Who wrote the description of a picture, in four letters: FFmpeg fills it in where no tag names it."""
TRACK_NAMES = ("container.handler", "container.compressor")
"""Where recorders name themselves for a track or its encoder: as a camera's, no library that any program can call."""

BEFORE = re.compile(r",| \(")
"""What divides the name of what gives them from what else is said of it."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims that hold for videos and recordings alike."""
    is_mac = MAC.match(str(facts.get("device.model") or "")) is not None
    named = [
        f
        for f in facts.items
        if isinstance(f.value, str) and not video_encoders.LIBRARIES.match(f.value)
        if SOFTWARE_TAGS.match(f.key) or f.key == CODEC_MAKER or (f.key in TRACK_NAMES and _is_camera(f.value))
        if not ("encod" in f.key.lower() and SWITCH.fullmatch(f.value))
        if not (is_mac and MAC_SYSTEM.match(f.value))
        if f.key not in (MATROSKA_HANDLER, CODEC_MAKER) or identify(f.value)
    ]
    # One cause is told once: the encoder and the names of the tracks are FFmpeg's own.
    traces = _traces(facts)
    is_ffmpeg = any(program.name == FFMPEG for program in video_tags.programs(named))
    yield from video_tags.software(named, beside={FFMPEG: traces})
    yield from video_tags.two_devices(facts)
    yield from video_tags.against_device(facts, [*named, *(f for f in traces if f.key == "stream.encoder")])
    yield from video_tags.history(facts)
    yield from _generators(facts)
    yield from provenance.namesakes(f for f in named if f.key not in ai_marks.SOFTWARE_KEYS if not _is_of_people(f))
    yield from video_encoders.rules(facts, is_named=is_ffmpeg)
    yield from _handlers(facts, [*named, *(f for f in traces if is_ffmpeg)])
    yield from date_rules(facts)
    yield from video_edits.rules(facts)
    yield from video_counts.rules(facts)
    yield from _order(facts)
    yield from _header_alone(facts)
    yield from _again(facts)
    yield from _after_end(facts)
    yield from video_boxes.rules(facts)
    yield from _silent(facts)


def _is_camera(name: str) -> bool:
    program = identify(name)
    return program is not None and program.category == "camera"


def _traces(facts: Facts) -> list[Fact]:
    """Return what FFmpeg leaves beside its name: the settings of its encoders, and what it calls the tracks."""
    return [
        f
        for f in facts.items
        if (f.key == "stream.encoder" and video_encoders.SOFTWARE_ENCODER.match(str(f.value)))
        or (f.key in ("container.handler", MATROSKA_HANDLER) and FFMPEG_HANDLER.match(str(f.value)))
    ]


def generator_tags(facts: Facts) -> list[tuple[Fact, Generator]]:
    """Return the tags in which generators of speech, music and video name themselves: those for programs, or words."""
    marks = []
    for fact in facts.items:
        if not isinstance(fact.value, str) or fact.key.startswith(("xmp.", "c2pa.")):
            continue
        # A title may hold any word; a tag for programs, or words of making, do not.
        of_making = WORDS.match(fact.key) and MAKER_TEXT.search(fact.value)
        named = by_credit if _is_of_people(fact) else by_software if SOFTWARE_TAGS.match(fact.key) else None
        named = by_program if of_making else named
        if named is not None and (generator := named(fact.value)) is not None:
            marks.append((fact, generator))
    return marks


def _is_of_people(fact: Fact) -> bool:
    return OF_PEOPLE.match(fact.key) is not None


def _generators(facts: Facts) -> Iterator[Finding]:
    # One fact is told once, and so is one that an older tag repeats, which may cut it off.
    told = [str(mark.value).casefold() for mark in ai_marks.generator_marks(facts)]
    tags = generator_tags(facts)
    if marks := [(f, g) for f, g in tags if not any(text.startswith(f.value.casefold()) for text in told)]:
        names = ", ".join(dict.fromkeys(generator.name for _, generator in marks))
        yield finding(
            "critical",
            f"The file says that it was made by {names}",
            f"{place(marks[0][0])}: {names} makes content by artificial intelligence. Such tags can be removed or "
            "forged, so "
            "look at the place named.",
            "ai_generated",
            "ai",
            facts=[f for f, _ in marks],
            flags=("AI_GENERATED",),
            details=(("source", "ai_generated"),),
        )


def _handlers(facts: Facts, known: list[Fact]) -> Iterator[Finding]:
    by_words: dict[str, list[Fact]] = {}
    for fact in facts.items:
        if fact.key in ("container.handler", "container.compressor", MATROSKA_HANDLER) and fact not in known:
            for pattern, words in HANDLERS:
                if pattern.search(str(fact.value)):
                    by_words.setdefault(words, []).append(fact)
                    break
    for words, handlers in by_words.items():
        yield finding(
            "benign",
            f"The tracks bear the names that {BEFORE.split(words)[0]} gives",
            f"{place(handlers[0])} says {str(handlers[0].value)[:80]!r}, the mark of {words}. "
            "Other programs may use it too.",
            "software",
            "origin",
            facts=handlers,
        )


def _order(facts: Facts) -> Iterator[Finding]:
    boxes = facts.fact("container.boxes")
    if boxes is None or not isinstance(boxes.value, list):
        return
    order = boxes.value
    if "moov" not in order or "mdat" not in order:
        return
    early = order.index("moov") < order.index("mdat")
    yield finding(
        "benign",
        f"The index comes {'before' if early else 'after'} the recording",
        f"{place(boxes)}: the order of the parts is {', '.join(order[:10])}. "
        + (
            "Programs put it first for streaming; most phones and cameras put it last."
            if early
            else "Phones, cameras and many programs write this order."
        ),
        "encoding",
        "origin",
        facts=[boxes],
        values=[", ".join(order[:20])],
    )


def _header_alone(facts: Facts) -> Iterator[Finding]:
    alone = facts.fact("container.header_alone")
    if alone is not None:
        tracks = facts.get("container.tracks") or ["video"]
        playable = not {"video", "audio"}.isdisjoint(tracks)
        yield finding(
            "benign" if playable else "suspect",
            "The file is a header without content" if playable else "The file is named like a video and holds none",
            f"{place(alone)}: it describes what would follow, and neither a picture nor sound does. Streams that are "
            "sent in pieces begin with such a file, and the others hold the recording; one that never began looks the "
            "same.",
            "structure",
            "integrity",
            facts=[alone],
        )


def _again(facts: Facts) -> Iterator[Finding]:
    again = list(facts.all("container.again"))
    if again:
        yield finding(
            "suspect",
            f"The recording was put together from {len(again) + 1} files",
            f"Another file of the format begins inside, the first at byte {again[0].offset}. Copying files one "
            "behind the other leaves this, as programs do that record or download in pieces. Many players show "
            "the first alone.",
            "encoding",
            "editing",
            facts=again,
            values=[f"byte {f.offset}" for f in again],
            flags=("FILE_EDITED",),
        )


def _after_end(facts: Facts) -> Iterator[Finding]:
    fact = facts.fact("container.after_end")
    if fact is None or not isinstance(fact.value, dict):
        return
    known = str(fact.value["first_box"]) in ("sefd", "SEFH", "mcvt", "ID3", "LIST", "_PMX")
    few = fact.value["size"] <= FEW_BYTES
    fills = facts.get("container.form") == "AVI" and fills_sector(fact)
    owner = fact.value.get("owner")
    yield finding(
        "benign" if known or owner or few or fills else "suspect",
        "Data stands after the end of the content",
        f"{place(fact)}: {fact.value['size']} bytes follow that do not belong to the recording."
        + (
            f" They begin as the data that {owner} append: positions, speed and time."
            if owner
            else " Phones append their own data this way."
            if known
            else " So few hold nothing; programs leave them where they cut."
            if few
            else " They end where a sector does: recorders write whole ones, and leave in the last what was in memory."
            if fills
            else " They begin as no chunk does: where the size of the sound was written smaller, the rest of it stands "
            "here, and so it may where a recorder broke off and left an old size."
            if fact.where == "behind the last chunk"
            else " Files can be hidden or joined this way."
        ),
        "structure",
        "integrity",
        facts=[fact],
        values=[f"{fact.value['size']} bytes", str(fact.value["first_box"])],
    )


def _silent(facts: Facts) -> Iterator[Finding]:
    """Tell that a file says nothing about its origin, which proves nothing."""
    words = (
        "container.tag",
        "container.writing_app",
        "device",
        "gps",
        "xmp",
        "id3",
        "vorbis",
        "ape",
        "c2pa",
        "container.bext",
        "stream.encoder",
    )
    if any(f.key.startswith(words) for f in facts.items) or facts.problems:
        return
    yield finding(
        "benign",
        "The file says nothing about its origin",
        "It names no device, program or place. Many services remove such tags, so this is no sign of editing.",
        "metadata",
        "origin",
    )
