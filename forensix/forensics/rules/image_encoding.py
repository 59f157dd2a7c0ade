"""How a picture was encoded: quantisation tables, progressive scans, and traces of an earlier compression."""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import image_writer
from forensix.forensics.traces import double_jpeg, jpeg_grid, local_double_jpeg
from forensix.metadata.facts import Fact, Facts

PART_BLOCKS = 24
"""Smallest part with another history that is claimed, in blocks; its false alarms are in the benchmark's table."""

PART_SHARE = 0.001
"""Share of the windows that say something which such a part has to be: in large pictures a smaller one is chance."""

DOUBLE_MODES = 5
"""Frequencies that have to crowd before it is said that a picture was compressed twice."""

OTHERS = 0.5
"""Windows elsewhere that look like the part, against the part: scattered ones are noise."""

FOREIGN_BLOCKS, FOREIGN_REST = 12, 0.8


def is_double(measured: dict[str, Any]) -> bool:
    """Tell whether a measurement of coefficients is claimed as double compression."""
    return bool(measured["modes"] >= DOUBLE_MODES)


def twice(traces: dict[str, Any]) -> Fact | None:
    """Return the measurement that says that the picture was compressed twice, as a fact."""
    measured = traces.get("double_jpeg")
    if not measured or not is_double(measured):
        return None
    return Fact("jpeg.double", measured, "DCT coefficients of the luminance")


def is_spliced(measured: dict[str, Any]) -> bool:
    """Tell whether a part is claimed to have another history than the rest."""
    blocks, others = measured["blocks"], measured["others"]
    is_large = blocks >= max(PART_BLOCKS, PART_SHARE * measured["windows"])
    return bool(is_large and measured["rest"] <= local_double_jpeg.MAX_PLACE_TWICE and others <= OTHERS * blocks)


def is_foreign(measured: dict[str, Any]) -> bool:
    """Tell whether a part is claimed not to come from the JPEG that the rest was: it is large, and alone."""
    blocks, others = measured["blocks"], measured["others"]
    return bool(blocks >= FOREIGN_BLOCKS and measured["rest"] >= FOREIGN_REST and others <= OTHERS * blocks)


def rules(facts: Facts, traces: dict[str, Any], *, program: str) -> Iterator[Finding]:
    """Yield the claims on encoding; ``program`` is the editor or converter that the file names, else empty."""
    yield from _tables(facts)
    yield from _size(facts, program)
    yield from _double(facts, traces, program)
    yield from _spliced(traces)
    yield from _foreign(traces)
    yield from _shifted(facts, traces, program)


def _is_against_camera(facts: Facts, program: str) -> bool:
    """Tell whether the file looks as the camera that it names wrote it, so that a second compression contradicts it."""
    is_whole = not image_writer.is_resaved(facts) and image_writer.size(facts) is None
    # Some of FLIR's thermal cameras compress their picture twice.
    is_twice = image_writer.is_thermal(facts) or image_writer.is_converted(facts)
    return image_writer.is_camera(facts) and not is_twice and is_whole and not program


def _explained(facts: Facts, program: str) -> str:
    if program:
        return f" {program}, which the file names, explains it."
    if _is_against_camera(facts, program):
        return " The file names a camera and is built as a camera's file is, which is compressed once."
    if image_writer.is_converted(facts):
        return " Apple's systems make a JPEG of the HEIC that its telephones keep when a picture is sent or exported."
    return " Services, galleries and photo programs do that to most pictures on the web."


def _size(facts: Facts, program: str) -> Iterator[Finding]:
    """Compare the size that EXIF states with that of the picture; cameras write both at once."""
    other = image_writer.size(facts)
    if other is None:
        return
    stated, size = other.facts[:-1], facts.get("image.size")
    what = "cropped" if other.is_cropped else "resized" if stated else "cropped or resized"
    yield finding(
        "benign",
        "The picture has another size than its EXIF says" if stated else "The picture has a size that no camera writes",
        f"{other.text[0].upper()}{other.text[1:]} ({place(other.facts[0])}): a program {what} the picture and kept "
        "the camera's record. "
        + (f"{program}, which the file names, explains it." if program else "Galleries and services do that."),
        "encoding",
        "origin",
        facts=other.facts,
        values=[*([" x ".join(str(f.value) for f in stated)] if stated else []), " x ".join(map(str, size))],
    )


def _tables(facts: Facts) -> Iterator[Finding]:
    maker, frame = facts.fact("jpeg.maker"), facts.fact("jpeg.frame")
    if maker is None or frame is None:
        return
    value, how = maker.value, frame.value
    if value["maker"] == "standard":
        words, why = f"the standard tables at quality {value['quality']}", "most software and some cameras use them"
    elif "by" in value:
        words = f"tables that {value['by']} writes"
        why = f"learnt from {value['files']} of its files{'' if value['whole'] else ', for the luminance alone'}"
    else:
        words, why = (
            "tables of its writer's own",
            f"nearest to quality {value['nearest']}; many cameras and Adobe do so",
        )
    process = f"{how['process']}, sampling {' '.join(how['sampling'])}"
    yield finding(
        "benign",
        f"The JPEG was compressed with {words}",
        f"{place(maker)} holds them ({why}); the process is {process}.",
        "encoding",
        "integrity",
        facts=[maker, frame],
        values=[words, process],
    )


def adobe_tables(facts: Facts, *, is_named: bool) -> Iterator[Finding]:
    """Yield the claim on tables that Adobe's programs write, where no tag names one of them (``is_named``).

    The tables alone are benign, since any program can write them, and so they are where no camera is named, since
    Adobe's programs save much of the web. Beside a camera they are suspect with one more sign of Adobe's encoder; one
    more again is wanted where the camera's own record is whole or only the luminance table matches.
    """
    maker = facts.fact("jpeg.maker")
    if is_named or maker is None or maker.value.get("by") != "Adobe":
        return
    marker, profile, block = (facts.fact(key) for key in ("jpeg.adobe", "icc.creator", "photoshop.resource"))
    signs = [(marker, "an APP14 Adobe segment")] if marker is not None else []
    if profile is not None and str(profile.value).startswith("ADBE"):
        signs.append((profile, "a colour profile that Adobe made"))
    if block is not None:
        signs.append((block, "a Photoshop block"))
    is_camera = facts.get("exif.Make") is not None and facts.get("exif.MakerNote") is not None
    n_needed = 1 + is_camera + (not maker.value["whole"])
    is_enough = len(signs) >= n_needed
    is_suspect = is_enough and image_writer.is_camera(facts)
    others = (
        f"With them stands {' and '.join(name for _, name in signs)}" if signs else "No other sign of Adobe is there"
    )
    words = (
        "an Adobe program saved the picture last, though no tag names one; what was changed, if anything, is not said"
        if is_enough
        else "that is too little to say that an Adobe program saved the picture, since others offer its tables too"
    )
    yield finding(
        "suspect" if is_suspect else "benign",
        "The JPEG has tables that Adobe's programs write",
        f"{place(maker)}: the quantisation tables were learnt from files that prove Adobe's encoder otherwise "
        f"({maker.value['files']} of them{'' if maker.value['whole'] else ', the luminance table only'}), and no "
        f"quality of the usual library gives them. {others}: {words}.",
        "encoding",
        "editing" if is_suspect else "origin",
        facts=[maker, *(fact for fact, _ in signs)],
        values=["Adobe's quantisation tables", *(name for _, name in signs)],
        flags=["FILE_EDITED"] if is_suspect else [],
        details=[("source", "software")] if is_enough else [],
    )


def _double(facts: Facts, traces: dict[str, Any], program: str) -> Iterator[Finding]:
    fact = twice(traces)
    if fact is None:
        return
    quality, modes = fact.value["quality"], fact.value["modes"]
    before = f"the standard tables at quality {quality}" if quality else "other tables"
    is_suspect = _is_against_camera(facts, program)
    yield finding(
        "suspect" if is_suspect else "benign",
        "The JPEG was compressed twice",
        f"In {modes} of {len(double_jpeg.MODES)} frequencies the values crowd as if they had been rounded by "
        f"{before} before they were rounded by those in the file: it was a JPEG before and was saved again."
        + _explained(facts, program),
        "encoding",
        "editing" if is_suspect else "origin",
        facts=[fact],
        values=[f"{modes} frequencies", f"before: {before}"],
        flags=["FILE_EDITED"] if is_suspect else [],
    )


def _spliced(traces: dict[str, Any]) -> Iterator[Finding]:
    measured = traces.get("local_double_jpeg")
    if not measured or not is_spliced(measured):
        return
    x, y, width, height = measured["box"]
    yield finding(
        "suspect",
        "A part of the picture has another compression history",
        f"Most of the picture was compressed twice, but around {x}, {y} ({width} x {height} pixels) the first "
        "rounding is missing, as where something was pasted, painted in or blurred before the last save; services of "
        "maps blur faces and number plates so. Areas that touch "
        "black or white, or are even, say nothing and are left out.",
        "pixels",
        "editing",
        facts=[Fact("pixels.spliced", {k: v for k, v in measured.items() if k != "map"}, "DCT coefficients by block")],
        values=[f"{measured['blocks']} blocks", f"at {x}, {y}"],
        pictures=[
            (
                "Compression history",
                measured["map"],
                "Red: compressed once. Blue: compressed twice. Grey: nothing can be said. One solid red area among "
                "blue is what counts; red scattered over the picture is noise. It does not tell what was changed.",
            )
        ],
        flags=["FILE_EDITED"],
    )


def _foreign(traces: dict[str, Any]) -> Iterator[Finding]:
    measured = traces.get("consistency")
    if not measured or not is_foreign(measured):
        return
    x, y, width, height = measured["box"]
    yield finding(
        "suspect",
        "A part of the picture does not fit the JPEG that the rest was",
        f"The picture was a JPEG before, and nearly all of it still shows that JPEG's blocks and steps, but around "
        f"{x}, {y} ({width} x {height} pixels) they are missing. Something was pasted, painted or retouched "
        "there after that JPEG; a caption, a mark of a website or a frame does the same. Even areas, and those "
        "that touch black or white, say nothing and are left out.",
        "pixels",
        "editing",
        facts=[Fact("pixels.consistency", {k: v for k, v in measured.items() if k != "map"}, "decoded picture")],
        values=[f"{measured['blocks']} blocks", f"at {x}, {y}"],
        pictures=[
            (
                "Consistency with the former JPEG",
                measured["map"],
                "Blue: fits the JPEG that the picture was. Red: does not. Grey: nothing can be said. One solid red "
                "area among blue is what counts. It does not tell what was changed.",
            )
        ],
        flags=["FILE_EDITED"],
    )


def _shifted(facts: Facts, traces: dict[str, Any], program: str) -> Iterator[Finding]:
    measured = traces.get("jpeg_grid")
    if not measured or not jpeg_grid.stands_out(measured):
        return
    x, y = measured["place"]
    aligned = x == y == 0
    is_suspect = facts.format == "jpeg" and _is_against_camera(facts, program)
    crowding = (
        f"Values crowd at the steps of a JPEG table on blocks that begin at {x}, {y} ({measured['height']} against "
        f"{measured['next']} on the next of the {jpeg_grid.PLACES} places)"
    )
    if facts.format == "jpeg":
        claim = "The picture was a JPEG on another grid of blocks before"
        why = (
            "the file's own blocks begin at 0, 0. It was cropped or moved after an earlier compression and saved again."
            + _explained(facts, program)
        )
    elif aligned:
        claim, why = "The picture was a JPEG before", "it was decoded and kept in this format, as many programs do."
    else:
        claim = "The picture was a JPEG before and was cropped"
        why = "a whole picture's begin at 0, 0. It was cropped after that compression, or taken from a screen."
    yield finding(
        "suspect" if is_suspect else "benign",
        claim,
        f"{crowding}; {why}",
        "encoding",
        "editing" if is_suspect else "origin",
        facts=[Fact("pixels.former_grid", measured, "decoded picture")],
        values=[f"blocks begin at {x}, {y}"],
        flags=["FILE_EDITED"] if is_suspect else [],
    )
