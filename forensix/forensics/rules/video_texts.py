"""Claims on words beside picture and sound: subtitles, chapters and time codes. None is suspect by itself."""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, literal, place
from forensix.metadata.facts import Fact, Facts

TOLD = 3
TIMECODES = ("stream.timecode", "container.tag.TIMECODE", "container.tag.©TIM")
START = re.compile(r"0[01]:00:00[:;.]")
"""How the time codes of timelines begin, with editors and with broadcasters."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield one claim each on tracks of text, on chapters, and on time codes."""
    tracks = list(facts.all("stream.subtitle"))
    if tracks:
        described = [_track(fact) for fact in tracks]
        lines = [f"{at_s:g} s: {words}" for fact in tracks for at_s, words in fact.value["lines"]]
        yield finding(
            "benign",
            f"The video has {'a track' if len(tracks) == 1 else f'{len(tracks)} tracks'} of text",
            f"{'. '.join(described[:TOLD])}. Players show such a track only when it is chosen, so it is easily "
            "overlooked: subtitles, or place and speed as dashcams write them. It can be added to a finished "
            "recording, and leaves no trace in the picture.",
            "metadata",
            "origin",
            facts=tracks,
            values=[*described[TOLD:], *lines],
        )
    chapters = facts.fact("container.chapters")
    if chapters:
        titles = [f"{at_s:g} s: {title}" for at_s, title in chapters.value]
        yield finding(
            "benign",
            "The file names chapters",
            f"{'; '.join(literal(title) for title in titles[:TOLD])}. Programs and people write them when a recording "
            "is prepared for viewers; cameras do not.",
            "metadata",
            "origin",
            facts=[chapters],
            values=titles,
        )
    codes = [f for f in facts.items if f.key in TIMECODES]
    if codes:
        values = list(dict.fromkeys(str(f.value) for f in codes))
        dropped = " The semicolon says that numbers are left out to keep up with the clock (drop frame)."
        yield finding(
            "benign",
            f"The recording counts its frames from {values[0][:20]}",
            f"{place(codes[0])} has a time code, in hours, minutes, seconds and frames: {', '.join(values[:TOLD])}."
            f"{dropped if ';' in values[0] else ''} "
            + (
                "Timelines of editing programs begin so, and so do cameras whose time code was not set."
                if START.match(values[0])
                else "Cameras count by the time of day or go on from one clip to the next, so it can be set against "
                "the dates and against other clips; an editing program writes that of its timeline, or keeps the "
                "camera's."
            ),
            "dates",
            "dates",
            facts=codes,
            values=values,
        )


def _track(fact: Fact) -> str:
    value = fact.value
    kind = value["codec"] + (f", language {value['language']}" if value["language"] else "")
    n = f"{value['pieces']} {'piece' if value['pieces'] == 1 else 'pieces'} of text"
    first = "; ".join(literal(f"{at_s:g} s: {words}") for at_s, words in value["lines"][:TOLD])
    return f"{place(fact)} ({kind}) holds {n}{', the first ' if first else ''}{first}"
