"""Claims on the encoders that left their names in the streams: what encoded which, how often, with what settings."""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts

LIBRARIES = re.compile(
    r"^(x264|x265|Lavc|LAME|SVT-AV1|lib(vpx|aom|opus|vorbis|FLAC)|reference libFLAC|Xiph\.Org libVorbis)", re.IGNORECASE
)
SOFTWARE_ENCODER = re.compile(r"x26[45]|Lavc\S+ (lib)?(x26|h26|hevc|mpeg4|vp|av1)|SVT")
WORDS_OF = {"video": "picture", "audio": "sound"}


def rules(facts: Facts, *, is_named: bool) -> Iterator[Finding]:
    """Yield the claims on the encoders; ``is_named`` where FFmpeg is told of already, with its settings."""
    streams = _by_stream(facts)
    encoders = [f for f in facts.all("stream.encoder") if isinstance(f.value, str)]
    encoders += [f for f in facts.items if f.key in ("mpeg.encoder", "vorbis.vendor") and LIBRARIES.match(str(f.value))]
    video = [f for f in encoders if SOFTWARE_ENCODER.match(str(f.value))]
    if video and not is_named:
        yield finding(
            "benign",
            "The picture was encoded in software",
            f"{place(video[0])}: {str(video[0].value)[:60]} wrote the video stream. Cameras and phones encode in "
            "hardware, so this is not the stream as a camera recorded it; programs that record, convert or share write "
            "so.",
            "encoding",
            "editing",
            facts=video,
            values=[str(f.value)[:200] for f in video],
            flags=("SUSPECT_SOFTWARE_",),
            details=(("source", "software"),),
        )
    distinct = {
        re.sub(r"\s.*", "", str(f.value).replace("x264 - core ", "x264-")) for f in video if "x26" in str(f.value)[:4]
    }
    settings = {str(f.value).split("options:")[-1] for f in video if "options:" in str(f.value)}
    # Each stream was encoded by itself.
    if max(len(distinct), len(settings)) > max(1, len(list(facts.all("stream.video")))):
        yield finding(
            "suspect",
            "More than one encoding left its settings",
            f"The stream holds {max(len(distinct), len(settings))} different texts of a video encoder: parts that were "
            "encoded apart were joined. Services that encode long videos in pieces do this as well.",
            "encoding",
            "editing",
            facts=video,
            values=[str(f.value)[:300] for f in video],
            flags=("FILE_EDITED",),
        )
    starts = facts.fact("stream.encoder_starts")
    n_streams = len(list(facts.all("stream.video")))
    if starts and len(starts.value) > max(1, n_streams) and len(settings) < 2 and not facts.fact("container.again"):
        yield finding(
            "benign",
            f"The encoder began {len(starts.value)} times",
            f"{place(starts)}: the text that it leaves where it begins stands at {len(starts.value)} places. Parts "
            "were encoded one by one with the same settings and joined, as is done by editing programs, and by "
            "services that encode in pieces.",
            "encoding",
            "editing",
            facts=[starts],
            values=[f"byte {at}" for at in starts.value],
        )
    late = facts.fact("stream.encoder_late")
    if late and not facts.fact("container.again"):
        yield finding(
            "benign",
            f"The encoder of the picture began only at {late.value:g} s, after other frames",
            f"{place(late)}: the text that it leaves where it begins stands there, and not at the first frame. What "
            "comes before was encoded apart, or came later in the recording that it is from: parts were joined, or put "
            "in another order, without encoding them anew. Editing programs do that, and so do recorders of broadcasts "
            "whose encoder began anew.",
            "encoding",
            "editing",
            facts=[late],
            values=[f"{late.value:g} s", f"byte {late.offset}"],
            remark=f"parts of the video seem to be joined or put in another order before {late.value:g} s",
        )
    other = [f for f in encoders if f not in video and not re.match(r"Lavf", str(f.value))]
    if other:
        names = list(dict.fromkeys(str(f.value)[:80] for f in other))
        told = [f"{name}{_of(streams, name)}" for name in names]
        yield finding(
            "benign",
            "The file names the library that encoded it",
            f"{place(other[0])}: {', '.join(told[:5]).rstrip('.')}. Any program can call such a library; it says how "
            "the file was encoded, not by whom.",
            "encoding",
            "origin",
            facts=other,
            values=told,
        )


def _by_stream(facts: Facts) -> dict[str, list[str]]:
    """Return the streams whose packets, or whose own tags, hold the name of an encoder."""
    kinds = {f.where: WORDS_OF[kind] for kind in WORDS_OF for f in facts.all(f"stream.{kind}")}
    streams: dict[str, list[str]] = {}
    for fact in facts.items:
        if fact.key in ("stream.video", "stream.audio") and isinstance(fact.value, dict):
            name = fact.value.get("encoder")
        else:
            name = fact.value if fact.key == "stream.tag.encoder" else None
        if name and fact.where in kinds:
            streams.setdefault(str(name)[:80], []).append(f"{kinds[fact.where]}, {fact.where}")
    return streams


def _of(streams: dict[str, list[str]], name: str) -> str:
    """Say which streams an encoder is named in, where that is known."""
    places = list(dict.fromkeys(streams.get(name, ())))
    return f" ({'; '.join(places[:4])})" if places else ""
