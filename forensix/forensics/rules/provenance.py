"""Claims that artificial intelligence made the content, by what the file says of itself.

Marks are easily removed, so their absence says nothing; they are as easily forged, so the claim says where they stand.
"""

from collections.abc import Iterable, Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.generators import by_namesake
from forensix.forensics.recipes import from_a_picture, is_supposed
from forensix.forensics.rules.ai_marks import (
    MAX_TEXT,
    SOFTWARE_KEYS,
    generator_identifier,
    generator_marks,
    is_of_text,
    is_partial,
    mark_value,
    unfit_marks,
)
from forensix.forensics.rules.credential_checks import vouching_for
from forensix.metadata.facts import Fact, Facts

UNFIT = (
    "Content credentials name a generator and are not proved to speak of this file: they do not fit it, or cannot be "
    "checked. They may have been taken from another file, or the file was changed after signing, so what they say does "
    "not count."
)


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on generators of one medium."""
    programs = (fact for fact in facts.few() if fact.key in SOFTWARE_KEYS)
    yield from _generated(facts)
    yield from _unproved(facts)
    yield from namesakes(programs)
    yield from _supposed(facts)


def namesakes(programs: Iterable[Fact]) -> Iterator[Finding]:
    """Yield the claim that a field for programs holds a word that is a generator's name among others."""
    named = [(fact, row) for fact in programs if (row := by_namesake(fact.value)) is not None]
    if not named:
        return
    fact, row = named[0]
    yield finding(
        "suspect",
        "The file names a program that is called as a generator is",
        f"{place(fact)} says {str(fact.value)[:120]!r}. That can be {row.name}, which makes content by artificial "
        "intelligence, or any other program, device or person of that name: such a word alone does not tell.",
        "ai_generated",
        "ai",
        facts=[fact for fact, _ in named],
    )


def _generated(facts: Facts) -> Iterator[Finding]:
    marks = generator_marks(facts)
    if not marks:
        return
    identifier = generator_identifier(marks)
    of_a_part = is_partial(marks)
    it, what = ("a part of it", "part of the content was") if of_a_part else ("it", "the content was")
    places = "; ".join(dict.fromkeys(place(m) for m in marks[:6]))
    named = f" The generator that is named there is known as {identifier}." if identifier else ""
    more = " ".join(filter(None, (_origin(marks), vouching_for(facts, marks))))
    yield finding(
        "critical",
        f"The file says that {it} was made by artificial intelligence",
        f"{'One mark says' if len(marks) == 1 else f'{len(marks)} marks say'} that {what} made by artificial "
        f"intelligence: {places}.{named}{f' {more}' if more else ''} Such marks can be "
        "removed or forged, so look at the place named.",
        "ai_generated",
        "ai",
        facts=marks,
        values=[mark_value(m) for m in marks[:10]],
        flags=["AI_GENERATED"],
        details=[("source", "software" if of_a_part else "ai_generated")],
    )


def _origin(marks: Iterable[Fact]) -> str:
    """Return what a recipe says of a picture that the model was given, nothing where it says nothing."""
    texts = (mark.value[:MAX_TEXT] for mark in marks if is_of_text(mark.key) and isinstance(mark.value, str))
    strength = next((found for text in texts if (found := from_a_picture(text)) is not None), None)
    if strength is None:
        return ""
    return (
        f"The recipe says that it was made from another picture, at denoise {strength:g}: the model was given that "
        "picture, and the lower the number is, the more of it is left. Ask for it."
    )


def _unproved(facts: Facts) -> Iterator[Finding]:
    """Yield the claim that only credentials that are not proved to speak of the file name a generator."""
    marks = unfit_marks(facts)
    if not marks or generator_marks(facts):
        return
    yield finding(
        "suspect",
        "Content credentials that are not proved to be this file's say that artificial intelligence made it",
        f"{place(marks[0])}: {UNFIT} Ask for the file that they were made for.",
        "ai_generated",
        "ai",
        facts=marks,
        values=[mark_value(m) for m in marks[:10]],
    )


def _supposed(facts: Facts) -> Iterator[Finding]:
    """Yield the claim that a label leaves open whether the content was generated."""
    labels = [
        fact
        for fact in facts.few()
        if ("AIGC" in fact.key or (is_of_text(fact.key) and '"AIGC"' in str(fact.value)))
        and is_supposed(str(fact.value)[:MAX_TEXT])
    ]
    if not labels:
        return
    yield finding(
        "suspect",
        "A label in the file says that artificial intelligence may have made it",
        f"{place(labels[0])}: platforms label so what its uploader did not declare but they suspect, or what was "
        "declared to them without a mark in the file. It is their opinion, not a generator's mark.",
        "ai_generated",
        "ai",
        facts=labels,
    )
