"""Marks of generators: facts that say that artificial intelligence made the content.

A mark is a fact that says in plain words that artificial intelligence made the content: a ``digitalSourceType``, a
generator's name in a field for programs,
or the parameters a generator writes into its files. Pixels play no part. Marks
are easily removed, so their absence says nothing; they are as easily forged, so the claim says where they stand.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from forensix.forensics import software
from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Fact, Facts

AI_SOURCES = ("trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia", "trainedAlgorithmicData")
SOFTWARE_KEYS = (
    "exif.Software",
    "exif.ProcessingSoftware",
    "exif.HostComputer",
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
    "xmp.iptcExt.AISystemUsed",
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

PARAMETERS = re.compile(r"\bSteps: \d+, .{0,80}?(Sampler|CFG scale|Seed|Schedule)", re.DOTALL)
NODES = re.compile(
    r'"class_type"\s*:\s*"|"(inputs|nodes)"\s*:.{0,4000}"(KSampler|CheckpointLoader|VAEDecode|UNETLoader|CLIPTextEncode)',
    re.DOTALL,
)
MIDJOURNEY = re.compile(r"--(v|niji|ar|style|chaos|stylize) \S{1,40}.{0,500}?Job ID: [0-9a-f-]{36}", re.DOTALL)
TAGS = (
    (re.compile(r'"?(invokeai_metadata|invokeai_graph|sd-metadata|dream)"?$', re.IGNORECASE), "Invoke AI"),
    (re.compile(r"^(sui_image_params)$", re.IGNORECASE), "SwarmUI"),
    (re.compile(r"^(fooocus_scheme)$", re.IGNORECASE), "Fooocus"),
    (re.compile(r"^(AIGC|TC260:AIGC)$"), "AIGC label"),
)
"""Chunk or tag names that only generators write."""

JSON_MARKS = ('"sui_image_params"', '"AIGC"', '"genAIType":1', '"sampler"', '"ai_generated": true', '"aigc_info"')
MODELS = (
    (re.compile(r"flux", re.IGNORECASE), "flux"),
    (re.compile(r"\bwan[_ -]?2", re.IGNORECASE), "wan"),
    (re.compile(r"hunyuan", re.IGNORECASE), "hunyuan"),
    (re.compile(r"qwen[_ -]?image", re.IGNORECASE), "qwen-image"),
    (re.compile(r"nai-diffusion|NovelAI", re.IGNORECASE), "novelai"),
)


def generator_marks(facts: Facts) -> tuple[Fact, ...]:
    """Return the facts that say "made by artificial intelligence", in any medium, in the order of the file."""
    return tuple(fact for fact in facts.items if _is_mark(fact))


def generator_identifier(marks: Iterable[Fact]) -> str | None:
    """Return the lower-case name of the generator that the marks name, or ``None`` where they name none.

    >>> generator_identifier([Fact("exif.Software", "Midjourney v6", "IFD0")])
    'midjourney'
    """
    known = (identifier for mark in marks if (identifier := _identifier(mark)))
    return next(known, None)


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
        return any(_generator(v) for v in (value if isinstance(value, list) else [value]))
    if _grok(fact):
        return True
    if key == "xmp.history":
        return any(_generator(row.get("softwareAgent")) for row in value if isinstance(row, dict))
    name = key.rsplit(".", 1)[-1]
    if key.startswith(("png.text.", "xmp.")) and any(pattern.search(name) for pattern, _ in TAGS):
        return True
    if any(key == k or key.startswith(k + ".") for k in TEXT_KEYS) and isinstance(value, str):
        return _is_recipe(name, value)
    return False


def _is_recipe(name: str, text: str) -> bool:
    """Tell whether a text is what a generator writes down of its own work."""
    text = text[:200_000]
    if PARAMETERS.search(text) or NODES.search(text) or MIDJOURNEY.search(text):
        return True
    if '"genAIType":' in text and re.search(r'"genAIType":\s*[1-9]', text):
        return True
    if name in ("Title", "title") and text.strip() == "AI generated image":
        return True
    if "made with google ai" in text.lower() or "edited with google ai" in text.lower():
        return True
    if text.lstrip().startswith("{") and any(mark in text for mark in JSON_MARKS):
        try:
            keys = set(json.loads(text))
        except (ValueError, RecursionError):
            return False
        return (
            bool(keys & {"sui_image_params", "AIGC", "aigc_info"})
            or {"sampler", "seed", "prompt"} <= keys
            or ({"steps", "sampler", "seed"} <= keys)
        )
    return False


def _generator(text: Any) -> software.Program | None:
    program = software.identify(text) if text else None
    return program if program is not None and program.category == "generator" else None


def _grok(fact: Fact) -> bool:
    return fact.key == "exif.ImageDescription" and bool(
        re.fullmatch(r"Signature: [A-Za-z0-9+/=]{60,}", str(fact.value))
    )


def _identifier(mark: Fact) -> str | None:
    value = mark.value
    if _grok(mark):
        return "grok"
    if mark.key == "c2pa.source":
        texts = [value.get("agent"), value.get("generator")]
    elif mark.key == "c2pa.manifest":
        texts = [a.get("agent") for a in value.get("actions", [])]
    elif mark.key == "xmp.history":
        texts = [row.get("softwareAgent") for row in value]
    else:
        texts = value if isinstance(value, list) else [value]
    for text in texts:
        program = _generator(text) if text and len(str(text)) < 500 else None
        if program is not None:
            return program.identifier or None
    shown = str(value)[:200_000]
    if mark.key == "samsung.edit" or "AIGC" in mark.key or '"AIGC"' in shown:
        # The label says that it was generated, not by what.
        return None
    if any(mark.key == k or mark.key.startswith(k + ".") for k in TEXT_KEYS):
        if MIDJOURNEY.search(shown):
            return "midjourney"
        return next((name for pattern, name in MODELS if pattern.search(shown)), "stable-diffusion")
    return None


def mark_value(mark: Fact) -> str:
    """Return a mark's literal value for a claim."""
    if mark.key == "c2pa.source":
        by = mark.value.get("agent") or mark.value.get("generator")
        return f"{mark.value['source']} ({by})" if by else str(mark.value["source"])
    if mark.key == "c2pa.manifest":
        return ", ".join(str(a.get("agent")) for a in mark.value["actions"] if _generator(a.get("agent")))
    return str(mark.value)


def rules(facts: Facts) -> tuple[Finding, ...]:
    """Return the claims on generators of one medium."""
    return tuple(_generated(facts))


def _generated(facts: Facts) -> list[Finding]:
    marks = generator_marks(facts)
    if not marks:
        return []
    identifier = generator_identifier(marks)
    composite = all(m.key in ("c2pa.source", "xmp.source_type") and "composite" in mark_value(m) for m in marks)
    what = "part of the content was" if composite else "the content was"
    places = "; ".join(dict.fromkeys(place(m) for m in marks[:6]))
    named = f" The generator it names is known as {identifier}." if identifier else ""
    return [
        finding(
            "critical",
            "The file says that it was made by artificial intelligence",
            f"{'One mark says' if len(marks) == 1 else f'{len(marks)} marks say'} that {what} made by artificial "
            f"intelligence: {places}.{named} Such marks can be "
            "removed or forged, so look at the place named.",
            "ai_generated",
            "ai",
            facts=marks,
            values=[mark_value(m) for m in marks[:10]],
            flags=["AI_GENERATED"],
            details=[("source", "ai_generated")],
        )
    ]
