"""Claims on the run of the decoded frames: where the picture stands still, and where its size changes.

What stands still is told and never suspected: slides, screens, titles and calls that stall do so by themselves. Of a
video that moves everywhere else the sentence on top of a report says so as well.
"""

from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Facts

ALWAYS = 0.98
"""The share of the other frames that have to move for a place that stands still to be told on top."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on frames that follow each other."""
    yield from _frozen(facts)
    yield from _sizes(facts)


def _frozen(facts: Facts) -> Iterator[Finding]:
    frozen, moving = facts.fact("frames.frozen"), facts.get("frames.moving_beside_frozen")
    if frozen is None or not frozen.value:
        return
    places = [f"{begin:g} to {end:g} s" for begin, end in frozen.value]
    where = f"{'; '.join(places[:6])}{f' and {len(places) - 6} more' if len(places) > 6 else ''}"
    always = moving is not None and moving >= ALWAYS
    among = (
        "In all other frames it moves, as before a camera, whose noise alone makes frames differ. " if always else ""
    )
    yield finding(
        "benign",
        f"The picture stands still at {len(places)} {'place' if len(places) == 1 else 'places'} and then goes on",
        f"{frozen.where}: from {where} nothing changes, while it moves right before and after. {among}Slides, titles, "
        "screens and calls that stall stand still like this; so does a frame that was held to hide what came then.",
        "pixels",
        "editing" if always else "integrity",
        facts=[frozen],
        values=places,
        remark=f"the picture stands still from {places[0]} and moves everywhere else" if always else "",
    )


def _sizes(facts: Facts) -> Iterator[Finding]:
    sizes = facts.fact("frames.sizes")
    if sizes is None or len(sizes.value) < 2:
        return
    (_, width, height), *later = sizes.value
    values = [f"{width} x {height} at first", *(f"{w} x {h} from {at:g} s on" for at, w, h in later)]
    more = f" and {len(values) - 6} more" if len(values) > 6 else ""
    yield finding(
        "benign",
        f"The size of the picture changes {len(later)} {'time' if len(later) == 1 else 'times'}",
        f"{sizes.where}: the stored pictures are {', '.join(values[:6])}{more}. Calls and browsers that record change "
        "the size as the line or the window does; cameras do not, and parts that were recorded apart and joined do.",
        "encoding",
        "editing",
        facts=[sizes],
        values=values,
        remark=f"the size of the picture changes at {later[0][0]:g} s",
    )
