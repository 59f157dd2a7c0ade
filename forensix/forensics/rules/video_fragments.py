"""Claims on the numbers of fragments (mfhd): pieces of a recording that are missing, or stand in another order.

A writer counts its fragments up as it goes. No untouched recording at hand lies in fragments, so neither is suspect by
itself: streams lose pieces on the way, and programs gather them as they come.
"""

from collections.abc import Iterator
from dataclasses import replace

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Facts


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield one claim where numbers fall, and one where they are left out."""
    yield from _exchanged(facts)
    yield from _missing(facts)


def _exchanged(facts: Facts) -> Iterator[Finding]:
    """Tell of numbered fragments that stand in another order; numbers that come again were counted anew by a writer.

    Told of one track: the others lie in the same pieces.
    """
    for fact in facts.all("container.fragments"):
        numbers = [number for number, _ in fact.value]
        fallen = [i for i in range(1, len(numbers)) if numbers[i] < numbers[i - 1]]
        if not fallen or len(set(numbers)) < len(numbers):
            continue
        first = fallen[0]
        around = ", ".join(str(n) for n in numbers[max(0, first - 2) : first + 4])
        yield finding(
            "benign",
            "Parts of the recording stand in another order than they were numbered in",
            f"{fact.where}, at byte {fact.value[first][1]}: the numbers of the fragments run {around}. A writer counts "
            "them up as it goes, so they were put in another order afterwards, by hand or by a program that gathered "
            "the pieces as they came. Players go by the times that each piece states.",
            "structure",
            "editing",
            facts=[replace(fact, offset=fact.value[first][1])],
            values=[f"fragment {numbers[i]} after {numbers[i - 1]}" for i in fallen[:20]],
            remark="fragments of the recording stand in another order than they were numbered in",
        )
        return


def _missing(facts: Facts) -> Iterator[Finding]:
    fact = facts.fact("container.fragments_missing")
    if fact is None:
        return
    places = [f"{behind} follows {before} at byte {at}" for before, behind, at in fact.value]
    where = f"{len(places)} {'place' if len(places) == 1 else 'places'}"
    yield finding(
        "benign",
        f"Numbers of fragments are left out at {where}",
        f"{fact.where}: number {'; '.join(places[:6])}. A writer counts the pieces of a recording as it goes, so those "
        "between were taken out, or lost in a transfer, after they had been written. Where the times jump as well, the "
        "picture is missing there; where they do not, the times were written anew.",
        "structure",
        "integrity",
        facts=[fact],
        values=places[:20],
        remark=f"fragments of the recording are missing at {where}, by their numbers",
    )
