"""Marks of generators: facts that say that artificial intelligence made the content.

A mark is a fact that says in plain words that artificial intelligence made the content: a ``digitalSourceType``, a
generator's name in a field for programs, or the parameters that a generator writes into its files. Pixels play no part.
`forensix.forensics.rules.provenance` makes claims of them.
"""

import re
from collections.abc import Iterable
from typing import Any

from forensix.forensics.generators import Generator, by_credit, by_program, by_signer, by_software
from forensix.forensics.recipes import checkpoint, is_labelled, is_recipe, recipe
from forensix.forensics.rules.credential_checks import unfit
from forensix.forensics.rules.credentials import is_edit
from forensix.metadata.facts import Fact, Facts

MAX_TEXT = 200_000
AI_SOURCES = ("trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia", "trainedAlgorithmicData")
SOFTWARE_KEYS = (
    "exif.Software",
    "exif.ProcessingSoftware",
    "xmp.xmp.CreatorTool",
    "xmp.tiff.Software",
    "xmp.pdf.Producer",
    "iptc.OriginatingProgram",
    "png.text.Software",
    "png.text.software",
    "png.text.Creator Tool",
    "png.text.Source",
    "png.text.Generator",
    "pdf.info.Producer",
    "pdf.info.Creator",
)
CREDIT_KEYS = (
    "xmp.photoshop.Credit",
    "iptc.Credit",
    "xmp.dc.creator",
    "iptc.By-line",
    "exif.Artist",
)
TEXT_KEYS = (
    "exif.UserComment",
    "exif.ImageDescription",
    "exif.Make",
    "exif.Model",
    "exif.XPComment",
    "xmp.dc.description",
    "xmp.exif.UserComment",
    "jpeg.comment",
    "gif.comment",
    "png.text",
    "image.stealth",
    "samsung.edit",
    "id3",
    "container",
)
"""Where generators write prompts and parameters."""

EDITED = re.compile(r"^\W*edited (with|using|by|in) |\"genAIType\":|, Mask blur: \d", re.IGNORECASE)
"""What programs write that change photographs: words of Google's, the record of Samsung's gallery, and what the web
interface of Stable Diffusion notes of a part that it painted anew."""

OF_GENERATORS = ("xmp.iptcExt.AISystemUsed", "xmp.iptcExt.AIPromptInformation")
"""IPTC's fields for the system that generated a picture, and for what it was asked for."""

NOTHING = re.compile(r"\W*(none|no|null|false|n/?a|not applicable|unknown|undefined|-+)?\W*", re.IGNORECASE)

FLUX_MAKER = "Black Forest Labs"
"""What FLUX writes for the maker of the camera. Others have to be credited there, as cameras bear their names."""

TAGS = (
    (re.compile(r'^"?(invokeai_metadata|invokeai_graph|sd-metadata)"?$', re.IGNORECASE), "stable-diffusion"),
    (re.compile(r"^(sui_image_params|use_stable_diffusion_model)$", re.IGNORECASE), "stable-diffusion"),
    (re.compile(r"^(fooocus_scheme)$", re.IGNORECASE), "sdxl"),
    # The label says that it was generated; by what, its producer says.
    (re.compile(r"^(AIGC|TC260:AIGC)$"), None),
)
"""Chunk or tag names that only generators write, with the generator where the content names none."""


def generator_marks(facts: Facts) -> tuple[Fact, ...]:
    """Return the facts that say "made by artificial intelligence", in any medium, in the order of the file.

    Content credentials that are not proved to speak of this file are not among them, see `unfit_marks`.
    """
    return tuple(fact for fact in _all_marks(facts) if not _is_unfit(fact, unfit(facts)))


def unfit_marks(facts: Facts) -> tuple[Fact, ...]:
    """Return what content credentials say of artificial intelligence that are not proved to speak of this file.

    Anybody can put the credentials of a generated picture into a photograph, and a website that makes a generated
    picture smaller may keep credentials that no longer fit, so they speak neither for nor against a generator.
    """
    return tuple(fact for fact in _all_marks(facts) if _is_unfit(fact, unfit(facts)))


def _is_unfit(fact: Fact, labels: frozenset[str]) -> bool:
    return fact.key.startswith("c2pa.") and str(fact.value.get("manifest") or fact.value.get("label")) in labels


def _all_marks(facts: Facts) -> tuple[Fact, ...]:
    few = tuple(facts.few())
    # Beside a type that speaks of no generator the system may have enhanced a photograph.
    is_other = any(fact.key == "xmp.source_type" and fact.value not in AI_SOURCES for fact in few)
    return tuple(fact for fact in few if _is_mark(fact) and not (is_other and fact.key in OF_GENERATORS))


def generator_identifier(marks: Iterable[Fact]) -> str | None:
    """Return the identifier of the generator that the marks name, or ``None`` where they name none.

    A checkpoint says more than the program that ran it, and either more than who signed.

    >>> generator_identifier([Fact("exif.Software", "Midjourney v6", "IFD0")])
    'midjourney'
    """
    marks = tuple(marks)
    for names in (_by_checkpoint, _by_program, _by_signer, _by_recipe):
        known = (identifier for mark in marks if (identifier := names(mark)))
        if (first := next(known, None)) is not None:
            return first
    return None


def is_partial(marks: Iterable[Fact]) -> bool:
    """Tell whether the marks say that only a part was generated, as with a picture that was retouched."""
    marks = tuple(marks)
    # Which system was used does not tell how much it made.
    marks = tuple(mark for mark in marks if mark.key not in OF_GENERATORS) or marks
    signed = tuple(mark for mark in marks if mark.key == "c2pa.source")
    # What the newest of several signed versions says, with what is signed of those before, holds before other marks.
    is_newest = any(mark.value.get("active") for mark in signed)
    return bool(marks) and all(_is_of_a_part(mark) for mark in (signed if is_newest else marks))


def _is_of_a_part(mark: Fact) -> bool:
    """Tell whether a mark speaks of what was changed in or put into a picture, not of the whole."""
    if mark.key == "c2pa.source":
        # What a step that changes a picture states is the type of what it put in.
        is_composite = str(mark.value["source"]).startswith("composite")
        return is_composite or bool(mark.value.get("placed")) or is_edit(mark.value)
    if mark.key == "c2pa.manifest":
        steps = (a for a in mark.value["actions"] if _generator(a.get("agent")))
        return bool(mark.value.get("placed")) or all(is_edit(step) for step in steps)
    if mark.key in ("xmp.source_type", "iptc.source_type"):
        return str(mark.value).startswith("composite")
    if mark.key == "xmp.history":
        rows = (row for row in mark.value if isinstance(row, dict) and _generator(row.get("softwareAgent")))
        return all(row.get("action") != "created" for row in rows)
    return EDITED.search(str(mark.value)[:MAX_TEXT]) is not None


def _is_mark(fact: Fact) -> bool:
    key, value = fact.key, fact.value
    if key == "c2pa.source":
        return value.get("source") in AI_SOURCES
    if key == "c2pa.manifest":
        agents = [a.get("agent") for a in value.get("actions", [])]
        sources = {a.get("source") for a in value.get("actions", [])}
        # The source types say it better where they are; an agent alone counts where they are missing.
        return not (sources - {""}) and any(_generator(agent) for agent in agents)
    if key in ("xmp.source_type", "iptc.source_type"):
        return value in AI_SOURCES
    if key in SOFTWARE_KEYS or key in CREDIT_KEYS:
        named = by_software if key in SOFTWARE_KEYS else by_credit
        values = value if isinstance(value, list) else [value]
        return any(named(v) or str(v).startswith("AI generated;") for v in values)
    if key in OF_GENERATORS:
        return NOTHING.fullmatch(str(value)) is None
    if _grok(fact):
        return True
    if key == "xmp.history":
        return any(_generator(row.get("softwareAgent")) for row in value if isinstance(row, dict))
    name = key.rsplit(".", 1)[-1]
    if key.startswith(("png.text.", "xmp.")) and any(pattern.search(name) for pattern, _ in TAGS):
        return "AIGC" not in name or is_labelled(str(value)[:MAX_TEXT])
    if key == "exif.Make" and (value == FLUX_MAKER or by_credit(value)):
        return True
    return is_of_text(key) and isinstance(value, str) and is_recipe(name, value[:MAX_TEXT])


def is_of_text(key: str) -> bool:
    """Tell whether generators write prompts and parameters into a field."""
    return any(key == k or key.startswith(k + ".") for k in TEXT_KEYS)


def _generator(text: Any) -> Generator | None:
    return by_software(text) if text else None


def _grok(fact: Fact) -> bool:
    return fact.key == "exif.ImageDescription" and bool(
        re.fullmatch(r"Signature: [A-Za-z0-9+/=]{60,}", str(fact.value))
    )


def _by_checkpoint(mark: Fact) -> str | None:
    return checkpoint(mark.value[:MAX_TEXT]) if isinstance(mark.value, str) else None


def _by_program(mark: Fact) -> str | None:
    value = mark.value
    texts: list[Any]
    if mark.key == "xmp.iptcExt.AIPromptInformation":
        texts = []
    elif mark.key == "c2pa.source":
        texts = [value.get("agent"), value.get("generator")]
    elif mark.key == "c2pa.manifest":
        texts = [a.get("agent") for a in value.get("actions", [])]
    elif mark.key == "xmp.history":
        texts = [row.get("softwareAgent") for row in value if isinstance(row, dict)]
    else:
        texts = value if isinstance(value, list) else [value]
    # A long text or a recipe holds a prompt, which may name anything; the standard label is long as well.
    texts = [text for text in texts if text and ("AIGC" in mark.key or not _may_hold_a_prompt(str(text)))]
    return next((row.identifier for text in texts if (row := by_program(text)) is not None), None)


def _may_hold_a_prompt(text: str) -> bool:
    return len(text) >= 500 or text.startswith("{") or recipe(text) is not None


def _by_signer(mark: Fact) -> str | None:
    # A name in a certificate that its holder made is a name that anybody can write.
    if mark.key != "c2pa.source" or mark.value.get("self_signed"):
        return None
    by = (by_signer(text) for text in (mark.value.get("generator"), mark.value.get("issuer")) if text)
    return next((row.identifier for row in by if row is not None), None)


def _by_recipe(mark: Fact) -> str | None:
    if _grok(mark):
        return "grok"
    name = mark.key.rsplit(".", 1)[-1]
    if (tag := next((row for row in TAGS if row[0].search(name)), None)) is not None:
        return tag[1]
    if not is_of_text(mark.key) or mark.key == "samsung.edit" or '"AIGC"' in str(mark.value):
        return None
    text = str(mark.value)[:MAX_TEXT]
    if (named := recipe(text)) is not None:
        return named
    return "stable-diffusion" if text.lstrip().startswith("{") else None


def mark_value(mark: Fact) -> str:
    """Return a mark's literal value for a claim."""
    if mark.key == "c2pa.source":
        by = mark.value.get("agent") or mark.value.get("generator")
        return f"{mark.value['source']} ({by})" if by else str(mark.value["source"])
    if mark.key == "c2pa.manifest":
        return ", ".join(str(a.get("agent")) for a in mark.value["actions"] if _generator(a.get("agent")))
    return str(mark.value)
