"""Files with several pictures or streams of one kind, of which the analyses look at one.

What the others show is not looked at: nothing here speaks for or against it.
"""

from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield a claim for every kind of content that the file holds more than once."""
    frames = facts.fact("image.frames")
    # The further pictures of a JPEG file are depth and gain maps or another eye's view.
    if frames and facts.format != "jpeg" and isinstance(frames.value, int) and frames.value > 1:
        yield finding(
            "benign",
            "The file holds several pictures",
            "Animations, scans of several pages and bursts do. Only the one that a viewer shows first was looked at; "
            "what the others show is not known.",
            "structure",
            "integrity",
            facts=[frames],
            values=[f"{frames.value} pictures"],
        )
    for kind, done in (("video", "looked at"), ("audio", "heard")):
        streams = facts.records(f"stream.{kind}")
        if len(streams) > 1:
            yield finding(
                "benign",
                f"The file holds several {kind} streams",
                f"{', '.join(place(fact) for fact in streams[:6])}: a player starts with one and may offer the others, "
                f"as with two cameras or two languages. Only the first named was {done}; what the others hold is not "
                "known.",
                "structure",
                "integrity",
                facts=streams,
                values=[f"{fact.where}: {_words(fact.value)}" for fact in streams],
            )


def _words(stream: dict[str, object]) -> str:
    """Return codec, size or rate, and length of a stream, where that is known."""
    size = f"{stream['width_px']} x {stream['height_px']}" if "width_px" in stream else f"{stream.get('rate_hz')} Hz"
    length = stream.get("duration_s")
    return f"{stream.get('codec')}, {size}" + ("" if length is None else f", {length} s")
