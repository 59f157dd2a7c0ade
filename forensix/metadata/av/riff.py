"""RIFF files (WAV, AVI): chunks with their offsets, sizes against the file, LIST INFO, bext, iXML and other tags.

``riff.data_again`` is the size of each further chunk of samples; a recording has one.

References
----------
Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0"; EBU Tech 3285 (bext).
"""

import re
import struct
from typing import Any

from forensix.metadata.av.bmff_tags import packet
from forensix.metadata.av.collector import DEPTH, FactCollector, is_text, name4, text
from forensix.metadata.facts import Node

CHUNKS = 10_000
UNKNOWN = 0xFFFFFFFF
"""Size of what is written to a stream, and of what is too long for the field."""

INFO = {
    "ISFT": "software",
    "ITCH": "technician",
    "IENG": "engineer",
    "ICRD": "created",
    "IDIT": "digitized",
    "IART": "artist",
    "INAM": "title",
    "ICMT": "comment",
    "ICOP": "copyright",
    "IPRD": "product",
    "ISRC": "source",
    "ISRF": "source_form",
}
FORMATS = {
    1: "PCM",
    2: "ADPCM",
    3: "float",
    6: "A-law",
    7: "mu-law",
    0x11: "IMA ADPCM",
    0x55: "MP3",
    0xFF: "AAC",
    0xFFFE: "extensible",
}


def walk(data: Any, facts: FactCollector) -> None:
    """Read every chunk of a file into ``facts``."""
    state: dict[str, Any] = {"n": 0, "movi": False, "data": 0}
    if len(data) < 12:
        facts.problem("The file ends inside its header.", "RIFF", 0)
        return
    form = name4(bytes(data[8:12]))
    facts.fact("container.form", form, "RIFF header", 8)
    facts.nodes.extend(_chunks(data, 0, len(data), "", 0, facts, state))
    if facts.exhausting:
        return  # What is missed may lie behind.
    if form == "WAVE":
        if "fmt" not in state:
            facts.problem("The chunk that describes the samples (fmt) is missing.", "RIFF")
        if not state["data"]:
            facts.problem("There is no chunk of samples (data).", "RIFF")
    if form.strip() == "AVI" and not state["movi"]:
        facts.problem("The recording itself (movi) is missing.", "RIFF")


def _chunks(
    data: Any, at: int, end: int, path: str, depth: int, facts: FactCollector, state: dict[str, Any]
) -> list[Node]:
    nodes: list[Node] = []
    if depth > DEPTH:
        if not state.get("deep"):
            state["deep"] = True
            facts.problem(f"Chunks are nested more than {DEPTH} deep; those inside were not read.", path, at)
        return nodes
    while at + 8 <= end:
        state["n"] += 1
        if state["n"] > CHUNKS:
            facts.leave(f"{CHUNKS} chunks", at)
            break
        kind, size = struct.unpack_from("<4sI", data, at)
        name = name4(kind).strip()
        if size == UNKNOWN and name in ("RF64", "BW64", "data"):
            size = _long_size(data, at, end, name, state)
        if depth == 0 and name not in ("RIFF", "RF64", "BW64"):
            facts.fact("container.after_end", {"size": end - at, "first_box": name}, "behind the RIFF chunk", at)
            break
        body, stop = at + 8, at + 8 + size
        if depth == 1 and name.startswith("0x") and stop > end and facts.get("container.data_bytes"):
            # What has no name of a chunk, nor room for its size, is none: sound, say, that the chunk before leaves out.
            facts.fact("container.after_end", {"size": end - at, "first_box": name}, "behind the last chunk", at)
            break
        where = f"{path}/{name}" if path else name
        if depth == 0 and name == "RIFF":
            stop = _reaches(data, at, stop, end, facts)
        elif _is_open(data, at, end, kind, size):
            message = f"The chunk {name} says 0 bytes, but {end - body} follow: its size was never filled in."
            facts.problem(message, where, at, grave=False)
            stop = end
        if stop > end:
            message = f"The chunk {name} says {size} bytes, but {end - body} are there: cut off, or a wrong size."
            streaming = 0x7FFFF000 <= size <= UNKNOWN
            facts.problem(message, where, at, grave=not streaming, cut=end == len(data))
            stop = end
        children: list[Node] = []
        label = name
        if name in ("RIFF", "RF64", "BW64", "LIST") and stop - body >= 4:
            label = f"{name} {name4(bytes(data[body : body + 4])).strip()}"
            # A long AVI goes on in a chunk of another form (AVIX).
            if label == "RIFF AVI" and depth == 0 and nodes:
                facts.fact("container.again", at, "the beginning of another file", at)
            state["movi"] = state["movi"] or label == "LIST movi"
            if label != "LIST movi":
                children = _chunks(data, body + 4, stop, f"{path}/{label}" if path else label, depth + 1, facts, state)
        else:
            _leaf(name, data, body, stop, where, facts, state)
        if facts.counted():
            nodes.append(Node(label, at, stop - at, "", tuple(children)))
        at = stop + (stop & 1)
    return nodes


def _reaches(data: Any, at: int, stop: int, end: int, facts: FactCollector) -> int:
    """Return where the chunks of a RIFF chunk end, and tell where its header says otherwise.

    Recorders write the header before they know the size, and fill it in at the end if they come to it.
    """
    size, place = stop - at - 8, at + 12
    # Less than a form and the head of one chunk: some write 0 for a size that they do not know, others 8.
    is_open = is_unfilled = size < 12
    last = min(place, end)
    for _ in range(CHUNKS):
        if place + 8 > end or (place + 8 > stop and not is_unfilled):
            break
        kind, length = struct.unpack_from("<4sI", data, place)
        unfilled = _is_open(data, place, end, kind, length)
        is_open = is_open or unfilled
        last = end if unfilled else place + 8 + length
        place = last + (last & 1)
    if stop > end and stop - end <= 8 and last == end:
        message = f"The chunk RIFF says {size} bytes, but its chunks, which are whole, take {end - at - 8}."
        facts.problem(message, "RIFF", at, grave=False)
        return end
    last = min(last, end)
    if last <= stop:
        return stop
    message = f"The chunk RIFF says {size} bytes, but its chunks take {last - at - 8}: a wrong size."
    facts.problem(message, "RIFF", at, grave=not is_open)
    return last


def _is_open(data: Any, at: int, end: int, kind: bytes, size: int) -> bool:
    """Tell whether the size of the chunk that holds the recording was left at zero, though more than chunks follows."""
    body = at + 8
    if size or body >= end:
        return False
    if kind == b"LIST":
        return bytes(data[body : body + 4]) == b"movi"
    is_followed = end - body >= 8 and bytes(data[body : body + 4]).strip().isalnum()
    return kind == b"data" and not (is_followed and body + 8 + struct.unpack_from("<I", data, body + 4)[0] <= end)


def _long_size(data: Any, at: int, end: int, name: str, state: dict[str, Any]) -> int:
    """Return the size that the chunk ds64 states for a chunk whose own field is too small for it."""
    if name == "data":
        return int(state.get("long", UNKNOWN))
    if at + 36 > end or bytes(data[at + 12 : at + 16]) != b"ds64":
        return UNKNOWN
    size, samples = struct.unpack_from("<QQ", data, at + 20)
    state["long"] = samples or UNKNOWN
    return int(size) or UNKNOWN


def _leaf(name: str, data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    raw = bytes(data[body : min(stop, body + (1 << 20))])
    if name in INFO and ("INFO" in where or name in ("IDIT", "ISFT")):
        facts.fact(f"container.tag.{name}", text(raw), where, body)
        if name == "IDIT":
            facts.fact("container.movie.created", text(raw), where, body)
    elif name.startswith("I") and "INFO" in where and is_text(raw):
        facts.fact(f"container.tag.{name}", text(raw), where, body)
    elif name == "fmt":
        state["fmt"] = True
        _format(raw, where, body, facts, state)
    elif name == "data":
        if state["data"]:
            facts.fact("riff.data_again", stop - body, where, body - 8)
        state["data"] += stop - body
        facts.fact("container.data_bytes", stop - body, where, body)
        align = state.get("align")
        if align and (stop - body) % align:
            facts.problem(f"The samples do not fill whole frames of {align} bytes: some are cut off.", where, body)
    elif name == "bext" and len(raw) >= 346:
        for key, a, b in (("description", 0, 256), ("originator", 256, 288), ("reference", 288, 320)):
            facts.fact(f"container.bext.{key}", text(raw[a:b]), where, body + a)
        day, hour = text(raw[320:330]), text(raw[330:338])
        if re.match(r"\d{4}", day):
            facts.fact(
                "container.movie.created", f"{day.replace(':', '-')}T{hour.replace('-', ':')}", where, body + 320
            )
        facts.fact("container.bext.history", text(raw[602:]), where, body + 602)
    elif name == "iXML":
        for tag in re.findall(rb"<(PROJECT|SCENE|TAKE|TAPE|NOTE|FILE_UID|ORIGINATOR|SOFTWARE)>([^<]{1,200})<", raw)[
            :20
        ]:
            facts.fact(f"container.ixml.{tag[0].decode()}", text(tag[1]), where, body)
    elif name in ("_PMX", "XMP"):
        packet(raw, f"{where} XMP", body, facts)
    elif name.lower() == "id3":
        from forensix.metadata.av import id3

        id3.read(raw, 0, facts, base=body)
    elif name == "strh" and len(raw) >= 8:
        facts.fact("container.codec", name4(raw[4:8]), where, body + 4)
    elif name == "cue" and len(raw) >= 4:
        facts.fact("container.cue_points", int.from_bytes(raw[:4], "little"), where, body)
    elif name == "JUNK" and is_text(raw[:200].rstrip(b"\x00")):
        facts.fact("container.junk", text(raw[:200]), where, body)


def _format(raw: bytes, where: str, body: int, facts: FactCollector, state: dict[str, Any]) -> None:
    if len(raw) < 16:
        facts.problem("The chunk fmt is too short.", where, body)
        return
    kind, channels, rate, per_second, align, bits = struct.unpack_from("<HHIIHH", raw)
    facts.fact("container.codec", FORMATS.get(kind, f"0x{kind:04X}"), where, body)
    facts.fact("container.audio", {"channels": channels, "rate_hz": rate, "bits": bits}, where, body)
    if kind in (1, 3):
        state["align"] = align
        if align != channels * ((bits + 7) // 8) or per_second != rate * align:
            facts.problem("Rate, channels and bytes of a sample contradict each other in the header.", where, body)
    if not channels or not rate:
        facts.problem("The header says that there are no channels or a sample rate of 0.", where, body)
