"""Pictures: what their facts say of editing, versions, origin and encoding.

Assumes facts read by :mod:`forensix.metadata.image.reader`. Camera firmware in ``Software`` is no editor; a
picture without metadata is told as such and never suspected for it.
"""

import re
from collections.abc import Iterator
from typing import Any

from forensix.forensics import software
from forensix.forensics.findings import Finding, finding, joined, place
from forensix.forensics.generators import by_namesake
from forensix.forensics.rules import (
    ai_marks,
    image_dates,
    image_devices,
    image_encoding,
    image_history,
    image_mismatch,
    image_parts,
    image_pixels,
    image_writer,
    video_tags,
)
from forensix.metadata.facts import Fact, Facts

PROGRAM_KEYS = (
    *ai_marks.SOFTWARE_KEYS,
    "exif.HostComputer",
    "photoshop.version",
    "jpeg.comment",
    "gif.comment",
    "png.text.Comment",
    "png.text.comment",
    "png.raw_profile",
    "gif.application",
)
SCREENSHOT_KEYS = (
    "exif.UserComment",
    "xmp.exif.UserComment",
    "exif.ImageDescription",
    "png.text.Description",
    "xmp.dc.description",
    "png.text.Title",
    "exif.XPTitle",
)
SCREENSHOT = re.compile(
    r"^\W*(screen[- _]?(shot|capture|grab|clip(ping)?)|bildschirmfoto|capture d.écran|captura de pantalla)\b",
    re.IGNORECASE,
)
SCREEN_SIZES = {
    (1280, 720), (1280, 800), (1366, 768), (1440, 900), (1536, 864), (1600, 900), (1680, 1050), (1920, 1080),
    (1920, 1200), (2160, 1440), (2256, 1504), (2304, 1440), (2560, 1080), (2560, 1440), (2560, 1600), (2560, 1664),
    (2736, 1824), (2880, 1800), (2880, 1864), (2880, 1920), (3024, 1964), (3072, 1920), (3200, 1800), (3440, 1440),
    (3456, 2234), (3840, 1600), (3840, 2160), (3840, 2400), (4480, 2520), (5120, 1440), (5120, 2880), (6016, 3384),
    (640, 1136), (720, 1280), (720, 1440), (720, 1480), (720, 1520), (720, 1560), (720, 1600), (720, 1612), (750, 1334),
    (828, 1792), (1080, 1920), (1080, 2160), (1080, 2220), (1080, 2280), (1080, 2340), (1080, 2400), (1080, 2408),
    (1080, 2412), (1080, 2424), (1080, 2460), (1080, 2520), (1125, 2436), (1170, 2532), (1179, 2556), (1206, 2622),
    (1220, 2712), (1242, 2208), (1242, 2688), (1260, 2736), (1264, 2780), (1280, 2856), (1284, 2778), (1290, 2796),
    (1320, 2868), (1344, 2992), (1440, 2560), (1440, 2960), (1440, 3040), (1440, 3088), (1440, 3120), (1440, 3200),
    (1440, 3216), (1488, 2266), (1536, 2048), (1620, 2160), (1640, 2360), (1644, 3840), (1668, 2224), (1668, 2388),
    (1668, 2420), (2048, 2732), (2064, 2752),
}  # fmt: skip
"""Native sizes of computers, upright ones of telephones and tablets, in pixels."""


def rules(facts: Facts, traces: dict[str, Any]) -> tuple[Finding, ...]:
    """Return the claims that follow from the facts and from what `image_pixels` measured."""
    programs = _programs(facts)
    working = [*_in(programs, "editor"), *_in(programs, "converter")]
    program = working[0][1].name if working else ""
    is_adobe = any(p.name.startswith("Adobe") for _, p in programs)
    previews = list(image_pixels.thumbnails(facts, traces))
    findings = [*_editors(programs), *_converters(programs), *image_history.versions(facts)]
    findings += image_history.development(facts)
    findings += [] if is_adobe else image_history.photoshop(facts)
    findings += [*image_history.digest(facts), *previews, *image_encoding.adobe_tables(facts, is_named=is_adobe)]
    signs = [
        image_writer.Sign("a preview shows the picture otherwise", f.facts) for f in previews if f.severity != "benign"
    ]
    dated = image_mismatch.mismatch(facts, second_sign=any(f.severity != "benign" for f in findings))
    signs += [image_writer.Sign("its dates do not agree", f.facts) for f in dated if image_mismatch.is_changed_later(f)]
    twice = image_encoding.twice(traces)
    if twice is not None and not image_writer.is_converted(facts):
        signs.append(image_writer.Sign("it was compressed twice", (twice,)))
    findings += [
        *image_parts.rules(facts),
        *image_devices.rules(facts),
        *image_writer.rules(facts, signs, program=program),
    ]
    findings += [*_screenshots(facts, programs), *_other_programs(facts, programs), *dated, *image_dates.rules(facts)]
    findings += image_encoding.rules(facts, traces, program=program)
    findings += [*image_pixels.maps(facts, traces), *image_pixels.unmeasured(traces), *_metadata(facts)]
    return tuple(findings)


def _programs(facts: Facts) -> list[tuple[Fact, software.Program]]:
    """Return the facts that name a known program, each with the program."""
    named = []
    for fact in facts.few():
        if fact.key in PROGRAM_KEYS:
            named += list(software.named([fact]))
        elif fact.key == "xmp.history":
            agents = dict.fromkeys(str(row["softwareAgent"]) for row in fact.value if row.get("softwareAgent"))
            for agent in agents:
                program = software.identify(agent)
                if program is not None:
                    where = f"{fact.where} softwareAgent"
                    named.append((Fact("xmp.history.softwareAgent", agent, where, fact.offset), program))
    return named


def _in(programs: list[tuple[Fact, software.Program]], category: str) -> list[tuple[Fact, software.Program]]:
    return [(fact, program) for fact, program in programs if program.category == category]


def _editors(programs: list[tuple[Fact, software.Program]]) -> Iterator[Finding]:
    editors = _in(programs, "editor")
    if not editors:
        return
    names = list(dict.fromkeys(program.name for _, program in editors))
    claim = video_tags.CLAIMS["editor" if len(names) == 1 else "editors"]
    yield finding(
        "suspect",
        claim.format(joined(names)),
        f"{place(editors[0][0])} says {str(editors[0][0].value)[:120]!r}. Developing, resizing and captioning "
        "leave the name as well as any change of the content; what was changed, if anything, it does not say.",
        "software",
        "editing",
        facts=[fact for fact, _ in editors],
        flags=["SUSPECT_SOFTWARE", "FILE_EDITED"],
        details=[("source", "software")],
    )


def _converters(programs: list[tuple[Fact, software.Program]]) -> Iterator[Finding]:
    converters = _in(programs, "converter")
    if not converters:
        return
    names = joined(list(dict.fromkeys(program.name for _, program in converters)))
    yield finding(
        "benign",
        video_tags.CLAIMS["converter"].format(names),
        f"{place(converters[0][0])} says {str(converters[0][0].value)[:120]!r}. Websites and scripts rewrite "
        "pictures like this without anyone looking at them; the file is not as a camera wrote it.",
        "software",
        "origin",
        facts=[fact for fact, _ in converters],
        values=[f.value if f.key != "png.raw_profile" else f"Raw profile type {f.value}" for f, _ in converters],
        flags=["SUSPECT_SOFTWARE_"],
        details=[("source", "software")],
    )


def _other_programs(facts: Facts, programs: list[tuple[Fact, software.Program]]) -> Iterator[Finding]:
    for category, text in (
        ("messenger", "Messengers and networks re-encode pictures and strip most of their metadata."),
        ("camera", "A name is easily written and proves nothing by itself."),
        ("transfer", "Such programs may turn and caption pictures on the way."),
        ("writer", "A name is easily written and proves nothing by itself."),
    ):
        for fact, program in _in(programs, category)[:1]:
            yield finding(
                "benign",
                video_tags.CLAIMS[category].format(program.name),
                f"{place(fact)} says {str(fact.value)[:120]!r}. {text}",
                "software",
                "origin",
                facts=[fact],
            )
    known = {id(fact) for fact, _ in programs}
    plain = [f for f in facts.items if f.key in ("exif.Software", "xmp.xmp.CreatorTool", "png.text.Software")]
    unknown = [f for f in plain if id(f) not in known and not software.names_none(f.value) and not by_namesake(f.value)]
    make, model = facts.get("exif.Make"), facts.get("exif.Model")
    firmware = [f for f in unknown if software.is_firmware(str(f.value), make, model)]
    for named, claim, words in (
        (
            firmware,
            "The file states the version of the camera's firmware",
            "in the form that cameras use.",
        ),
        (
            [f for f in unknown if f not in firmware],
            "The file names a program that is not known here",
            "which is not in the table of known programs, so what it does with pictures cannot be told.",
        ),
    ):
        if named:
            yield finding(
                "benign",
                claim,
                f"{place(named[0])} says {str(named[0].value)[:120]!r}, {words}",
                "software",
                "origin",
                facts=named,
            )


def _screenshots(facts: Facts, programs: list[tuple[Fact, software.Program]]) -> Iterator[Finding]:
    tags = [f for f in facts.items if f.key in SCREENSHOT_KEYS and SCREENSHOT.search(str(f.value))]
    tools = [fact for fact, _ in _in(programs, "screenshot")]
    if tags or tools:
        first = (tools + tags)[0]
        yield finding(
            "benign",
            "The file says that it is a screenshot",
            f"{place(first)} says {str(first.value)[:80]!r}. That tells what it is, and no change of it; but a "
            "screenshot shows what a program drew on a screen, and any program can draw anything.",
            "screenshot",
            "origin",
            facts=tools + tags,
            flags=["SCREENSHOT_SOFTWARE"] if tools else [],
            details=[("source", "screenshot")],
        )
        return
    size = facts.fact("image.size")
    camera = any(True for _ in facts.all("device")) or facts.get("exif.DateTimeOriginal")
    if size is None or camera or ai_marks.generator_marks(facts):
        return
    width, height = size.value
    if (width, height) in SCREEN_SIZES or (height, width) in SCREEN_SIZES:
        yield finding(
            "benign",
            "The picture has the size of a screen",
            f"{width} x {height} pixels is a usual size of screens, and no camera is named. Wallpapers, frames of "
            "videos and resized photographs have such sizes too.",
            "screenshot",
            "origin",
            facts=[size],
            values=[f"{width} x {height}"],
        )


def _metadata(facts: Facts) -> Iterator[Finding]:
    """Tell what the file says of itself otherwise, and that it says nothing where that is so."""
    prefixes = ("exif", "xmp", "iptc", "png.text", "jpeg.comment", "gif.comment", "c2pa", "photoshop")
    if not any(fact.key.startswith(prefixes) for fact in facts.items) and not facts.problems:
        yield finding(
            "benign",
            "The file says nothing about its origin",
            "It holds no EXIF, XMP, IPTC, comment or content credential. Many services remove them, so this is no "
            "sign of editing.",
            "metadata",
            "origin",
        )
        return
    profile = facts.fact("icc.description")
    if profile is None:
        return
    creator = facts.get("icc.creator")
    yield finding(
        "benign",
        "The file embeds a colour profile",
        f"{place(profile)} names it {str(profile.value)!r}" + (f", made by {creator}" if creator else "") + ".",
        "metadata",
        "origin",
        facts=[profile],
    )
