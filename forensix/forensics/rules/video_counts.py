"""Claims on what Matroska says was counted of a track, which programs that make another file of it may keep.

mkvmerge, and others like it, write with each track how many frames and bytes it has, and with them which program
counted. One that writes the file anew and does not count leaves its own name as that of the file's writer, which is how
MKVToolNix tells that a count may be old. An untouched file is never told, whatever was counted wrong.

References
----------
MKVToolNix, "Track statistics tags" (wiki); MediaArea/MediaInfoLib issue 2236 and mifi/lossless-cut issue 756 (FFmpeg
keeps them).
"""

from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts

LENGTH_S = 1.0
SAME_RATE = 0.1
"""A part of a recording has as many frames per second as the whole; where it has not, a count is of something else."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield a claim where the first track of pictures, or else of sound, is not as long as when it was counted."""
    app = facts.fact("container.writing_app")
    stream = next(iter(facts.records("stream.video") or facts.records("stream.audio")), None)
    count = facts.fact(f"container.statistics.{stream.where.rpartition(' ')[2]}") if stream else None
    if app is None or stream is None or count is None or count.value["writer"] == app.value or facts.is_cut:
        return
    n, length_s = stream.value["packets"], stream.value["duration_s"]
    frames, counted_s = count.value["frames"], count.value["duration_s"]
    if not n or not length_s or not counted_s or abs((n / length_s) / (frames / counted_s) - 1) > SAME_RATE:
        return
    # What stands before the first key frame is of no use, and FFmpeg leaves it out of any copy.
    least_s = max([LENGTH_S, *(stream.value.get("key_interval_s") or ())])
    missing_s = counted_s - length_s
    if abs(missing_s) <= least_s:
        return
    then, now = f"{frames} frames in {counted_s:.1f} s", f"{n} in {length_s:.1f} s"
    yield finding(
        "suspect",
        f"The recording is {'shorter' if missing_s > 0 else 'longer'} than when its frames were counted",
        f"{place(count)}: {count.value['writer'][:60]} counted {then}, and the file holds {now}. "
        f"{str(app.value)[:60]}, which wrote the file after that, did not count again. "
        + (
            "So this is a part of an earlier file: it was cut, or writing the new one broke off."
            if missing_s > 0
            else "So more was put to what an earlier file held."
        ),
        "versions",
        "editing",
        facts=[count, stream, app],
        values=[f"counted: {then}", f"there: {now}"],
        flags=("FILE_EDITED",),
    )
