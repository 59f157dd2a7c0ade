"""Claims about recordings that were cut, joined or added to without encoding them anew, from how their frames follow.

An encoder begins with a whole frame, ends with one, and puts each behind the one before; what else is there came later,
or was recorded from the middle of a stream, as web radio is.
"""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Fact, Facts


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what follows from the frames of a recording."""
    yield from _joins(facts)
    yield from _torn(facts)
    yield from _cut_off(facts)
    yield from _stated(facts)
    yield from _changed(facts)


def _joins(facts: Facts) -> Iterator[Finding]:
    joins = list(facts.all("mpeg.join"))
    if joins:
        yield finding(
            "suspect",
            f"The recording was put together from {len(joins) + 1} files",
            f"{len(joins)} {'frame inside begins' if len(joins) == 1 else 'frames inside begin'} another encoding (an "
            f"encoder's first frame, or another rate or number of channels), the first at byte {joins[0].offset}. "
            "Podcasts with inserted advertising and recorded web radio are joined so as well as cut recordings.",
            "encoding",
            "editing",
            facts=joins,
            values=[f"byte {f.offset}" for f in joins],
            flags=("FILE_EDITED",),
        )
    chained = list(facts.all("ogg.chained"))
    if chained:
        yield finding(
            "suspect",
            f"The recording was put together from {len(chained) + 1} streams",
            f"A stream begins where another ended, the first at byte {chained[0].offset}. Web radio does this as well.",
            "encoding",
            "editing",
            facts=chained,
            values=[f"byte {f.offset}" for f in chained],
            flags=("FILE_EDITED",),
        )
    again = list(facts.all("riff.data_again"))
    if again:
        yield finding(
            "suspect",
            f"The file holds {len(again) + 1} pieces of sound",
            f"A recording has one chunk of samples; a further one begins at byte {again[0].offset}. FFmpeg, on which "
            "many players are built, stops before it. Appending a file to another leaves this, and so does hiding "
            "sound behind what is heard.",
            "structure",
            "integrity",
            facts=again,
            values=[f"{f.value} bytes at byte {f.offset}" for f in again],
            flags=("FILE_EDITED",),
        )


def _torn(facts: Facts) -> Iterator[Finding]:
    joins = {f.offset for f in facts.all("mpeg.join")}
    torn = [f for f in facts.all("mpeg.torn") if f.offset not in joins]
    if torn:
        yield finding(
            "suspect",
            f"The recording was cut or joined at {len(torn)} {'place' if len(torn) == 1 else 'places'}",
            f"The sound of a frame begins within that of the frame before, first at byte {torn[0].offset}: the two "
            "were not encoded one after the other. Frames were taken out or put in without encoding anew; a "
            "recorder of web radio that lost a part of it leaves this too.",
            "encoding",
            "editing",
            facts=torn,
            values=[f"byte {f.offset}" for f in torn],
            flags=("FILE_EDITED",),
        )


def _cut_off(facts: Facts) -> Iterator[Finding]:
    """Tell a beginning and an end that lie inside a frame, as encoders never write them."""
    rest = next((f for f in facts.items if f.key in ("mpeg.begins_inside", "adts.begins_inside")), None)
    back = facts.fact("mpeg.refers_back")
    begins = [f for f in (rest, back) if f is not None]
    if begins:
        shown = f"{rest.value} bytes before the first whole frame are the rest of one" if rest else ""
        needed = (
            f"the sound of the first frame begins {back.value} bytes before it, which are not there" if back else ""
        )
        yield finding(
            "benign",
            "The beginning of the recording is cut off",
            f"{' and '.join(part for part in (shown, needed) if part).capitalize()}. An encoder begins with a whole "
            "frame. Recorded web radio begins so, and so does a part that was taken out of a longer recording without "
            "encoding it anew.",
            "encoding",
            "editing",
            facts=begins,
            values=[f"{f.value} bytes" for f in begins],
        )
    ends = next((f for f in facts.items if f.key in ("mpeg.ends_inside", "adts.ends_inside")), None)
    if ends and not _lacking(facts):
        lacking = (
            f"The last frame lacks {ends.value} bytes" if ends.value else "The last frame breaks off in its header"
        )
        yield finding(
            "benign",
            "The end of the recording is cut off",
            f"{lacking}. Recorded web radio and transfers that broke off end so; so does what was cut by its bytes.",
            "encoding",
            "editing",
            facts=[ends],
            values=[f"byte {ends.offset}"],
        )


def _stated(facts: Facts) -> Iterator[Finding]:
    lacking = _lacking(facts)
    frames, n_frames = facts.fact("mpeg.stated_frames"), facts.fact("mpeg.frames")
    if lacking:
        unit, stated, there = lacking
        yield finding(
            "suspect",
            "The recording is shorter than its header says",
            f"The first frame states {stated.value} {unit}, the file holds {there.value}. A download "
            "that is not finished, or broke off, leaves this, and so does sound that was cut off or taken out after it "
            "was encoded.",
            "encoding",
            "editing",
            facts=[stated, there],
            values=[f"{stated.value} {unit} stated", f"{there.value} there"],
            flags=("FILE_EDITED",),
        )
    elif (
        frames
        and n_frames
        and frames.value
        # The frame that states the number is not counted in it.
        and n_frames.value - frames.value > max(2, 0.01 * n_frames.value)
        and not facts.fact("mpeg.join")
    ):
        yield finding(
            "suspect",
            "The recording is longer than its header says",
            f"The first frame states {frames.value} frames, the file holds {n_frames.value}: frames were added after "
            "it was encoded. Joining whole files does this too.",
            "encoding",
            "editing",
            facts=[frames, n_frames],
            values=[f"{frames.value} frames stated", f"{n_frames.value} there"],
            flags=("FILE_EDITED",),
        )


def _changed(facts: Facts) -> Iterator[Finding]:
    """Tell that the sound is not the one that the encoder's checksum was made of, where nothing else says so."""
    checksum = facts.fact("mpeg.checksum")
    if checksum is None or _lacking(facts) or facts.fact("mpeg.join") or facts.fact("mpeg.torn"):
        return
    gained = next((f for f in facts.items if re.search("mp3gain|replaygain", f"{f.key} {f.value}", re.I)), None)
    explained = f"{place(gained)} tells of such a change of the volume." if gained else "Nothing in the file tells why."
    yield finding(
        "benign" if gained else "suspect",
        "The sound was changed after it was encoded",
        f"{place(checksum)}: the encoder states a checksum of all sound behind the first frame, and what may be meant "
        "has another. Frames were exchanged, taken out or changed without encoding anew. MP3Gain and programs like "
        f"it do so to make a recording louder or softer. {explained}",
        "encoding",
        "editing",
        facts=[checksum, *([gained] if gained else [])],
        flags=() if gained else ("FILE_EDITED",),
    )


def _lacking(facts: Facts) -> tuple[str, Fact, Fact] | None:
    """Return frames, or else bytes, that the first frame states, and those that are there, where those are fewer."""
    for unit in ("frames", "bytes"):
        # What follows the sound is in the file as well, so that fewer bytes than stated are a cut and nothing else.
        stated, there = facts.fact(f"mpeg.stated_{unit}"), facts.fact(f"mpeg.{unit}")
        if stated and there and there.value < stated.value:
            return unit, stated, there
    return None
