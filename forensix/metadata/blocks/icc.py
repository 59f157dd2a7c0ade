"""ICC profiles: who made the colour profile, and what it is called. Source: ICC.1:2022, sections 7.2 and 10."""

import struct

from forensix.metadata.facts import Fact

MAX_TAGS = 100


def parse(data: bytes, where: str, offset: int) -> list[Fact]:
    """Return description, creator, date and device space of a profile; nothing where the header is too short."""
    if len(data) < 132 or data[36:40] != b"acsp":
        return []
    facts = [
        Fact("icc.creator", _text(data[80:84]), where, offset + 80),
        Fact("icc.platform", _text(data[40:44]), where, offset + 40),
        Fact("icc.space", _text(data[16:20]), where, offset + 16),
    ]
    for i in range(min(struct.unpack_from(">I", data, 128)[0], MAX_TAGS)):
        at = 132 + 12 * i
        if at + 12 > len(data):
            break
        name, start, size = struct.unpack_from(">4sII", data, at)
        if name in (b"desc", b"cprt"):
            value = _string(data[start : start + size])
            if value:
                key = "icc.description" if name == b"desc" else "icc.copyright"
                facts.append(Fact(key, value, f"{where}, {name.decode()}", offset + start))
    return [fact for fact in facts if fact.value]


def _string(raw: bytes) -> str:
    if raw[:4] == b"desc" and len(raw) > 12:
        length = min(struct.unpack_from(">I", raw, 8)[0], 500)
        return _text(raw[12 : 12 + length])
    if raw[:4] == b"mluc" and len(raw) >= 28:
        length, start = struct.unpack_from(">II", raw, 20)
        return raw[start : start + min(length, 1000)].decode("utf-16-be", "replace").strip("\0 ")
    if raw[:4] == b"text":
        return _text(raw[8:508])
    return ""


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("latin-1").strip()
