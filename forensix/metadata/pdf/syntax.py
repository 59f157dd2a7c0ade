"""The syntax of PDF objects, read straight from bytes, so that broken and locked documents can be read as well.

Only what the structure needs: numbers, names, strings, arrays, dictionaries and references. Every step is bounded:
nesting by depth, an object by its length, a stream by the size it may inflate to.

References
----------
ISO 32000-2:2020, 7.2 to 7.5.
"""

import re
import zlib
from typing import Any, NamedTuple

DEPTH = 40
OBJECT_BYTES = 1 << 20
INFLATED_BYTES = 32 << 20

_SKIP = re.compile(rb"(?:[\x00\t\n\x0c\r ]+|%[^\r\n]*)*")
_REGULAR = re.compile(rb"[^\x00\t\n\x0c\r ()<>\[\]{}/%]+")
_REFERENCE = re.compile(rb"(\d{1,10})[\x00\t\n\x0c\r ]+(\d{1,5})[\x00\t\n\x0c\r ]+R(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)\Z")
_HEX_NAME = re.compile(rb"#([0-9A-Fa-f]{2})")
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


class Name(str):
    """A PDF name, without its slash."""


class Keyword(str):
    """A bare word: ``true``, ``null``, ``obj``, ``stream`` or anything else that is not an object."""


class Ref(NamedTuple):
    """A reference to an indirect object."""

    number: int
    generation: int


class SyntaxFault(ValueError):
    """The bytes are not a PDF object."""


def skip_space(data: bytes, at: int) -> int:
    """Return the offset of the next byte that is neither white space nor in a comment."""
    match = _SKIP.match(data, at)
    return match.end() if match else at


def parse(data: bytes, at: int, depth: int = 0) -> tuple[Any, int]:
    """Read the object at an offset.

    Returns
    -------
    tuple
        The object (``int``, ``float``, ``bytes``, ``bool``, ``None``, `Name`, `Ref`, ``list``, ``dict`` or `Keyword`)
        and the offset behind it.

    Raises
    ------
    SyntaxFault
        The bytes there are not an object, or it is nested or long beyond reason.
    """
    if depth > DEPTH:
        raise SyntaxFault(f"objects are nested more than {DEPTH} deep at byte {at}")
    at = skip_space(data, at)
    pair, byte = data[at : at + 2], data[at : at + 1]
    if pair == b"<<":
        return _dictionary(data, at + 2, depth)
    if byte == b"[":
        return _array(data, at + 1, depth)
    if byte == b"/":
        match = _REGULAR.match(data, at + 1)
        raw = match.group() if match else b""
        raw = _HEX_NAME.sub(lambda m: bytes([int(m.group(1), 16)]), raw)
        return Name(raw.decode("utf-8", "replace")), match.end() if match else at + 1
    if byte == b"(":
        return _string(data, at + 1)
    if byte == b"<":
        end = data.find(b">", at, at + OBJECT_BYTES)
        if end < 0:
            raise SyntaxFault(f"a hexadecimal string is not closed at byte {at}")
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", data[at + 1 : end])
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()), end + 1
    match = _REFERENCE.match(data, at)
    if match:
        return Ref(int(match.group(1)), int(match.group(2))), match.end()
    match = _REGULAR.match(data, at)
    if not match or match.end() - at > 4096:
        raise SyntaxFault(f"no object at byte {at}")
    word = match.group()
    if len(word) < 40 and _NUMBER.match(word):
        return (float(word) if b"." in word else int(word)), match.end()
    known = {b"true": True, b"false": False, b"null": None}
    if word in known:
        return known[word], match.end()
    return Keyword(word.decode("latin-1")), match.end()


def _array(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    start = at
    while True:
        at = skip_space(data, at)
        if data[at : at + 1] == b"]":
            return items, at + 1
        if at >= len(data) or at - start > OBJECT_BYTES:
            raise SyntaxFault(f"an array is not closed at byte {start}")
        item, at = parse(data, at, depth + 1)
        items.append(item)


def _dictionary(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    start = at
    while True:
        at = skip_space(data, at)
        if data[at : at + 2] == b">>":
            return items, at + 2
        if at >= len(data) or at - start > OBJECT_BYTES:
            raise SyntaxFault(f"a dictionary is not closed at byte {start}")
        key, at = parse(data, at, depth + 1)
        if not isinstance(key, Name):
            raise SyntaxFault(f"a dictionary key is not a name at byte {at}")
        at = skip_space(data, at)
        if data[at : at + 2] == b">>":
            return items, at + 2
        items[str(key)], at = parse(data, at, depth + 1)


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    out = bytearray()
    open_brackets, start = 1, at
    while at < len(data) and at - start < OBJECT_BYTES:
        byte = data[at : at + 1]
        at += 1
        if byte == b"\\":
            escaped = data[at : at + 1]
            octal = re.match(rb"[0-7]{1,3}", data[at : at + 3])
            if octal:
                out.append(int(octal.group(), 8) & 255)
                at += octal.end()
            elif escaped == b"\r" and data[at + 1 : at + 2] == b"\n":
                at += 2
            elif escaped in (b"\r", b"\n"):
                at += 1
            else:
                out += _ESCAPES.get(escaped, escaped)
                at += 1
            continue
        open_brackets += (byte == b"(") - (byte == b")")
        if not open_brackets:
            return bytes(out), at
        out += byte
    raise SyntaxFault(f"a string is not closed at byte {start}")


def indirect(data: bytes, at: int) -> tuple[Ref, Any, int]:
    """Read ``N G obj`` at an offset: return the reference, the object and the offset behind the object."""
    at = skip_space(data, at)
    match = re.compile(rb"(\d{1,10})[\x00\t\n\x0c\r ]+(\d{1,5})[\x00\t\n\x0c\r ]+obj").match(data, at)
    if not match:
        raise SyntaxFault(f"no indirect object at byte {at}")
    value, end = parse(data, match.end())
    return Ref(int(match.group(1)), int(match.group(2))), value, end


def stream_bytes(data: bytes, dictionary: dict[str, Any], at: int) -> bytes:
    """Return the decoded stream that follows a dictionary; FlateDecode with predictors only, which xref streams use.

    Raises
    ------
    SyntaxFault
        There is no stream, its filter is another, or it inflates to more than 32 MiB.
    """
    return decoded(dictionary, stored(data, dictionary, at))


_ENDED = re.compile(rb"[\x00\t\n\x0c\r ]{0,24}endstream")


def stored(data: bytes, dictionary: dict[str, Any], at: int) -> bytes:
    """Return the stream that follows a dictionary as its bytes are; one of a wrong length goes up to its end mark.

    Raises
    ------
    SyntaxFault
        There is no stream.
    """
    at = skip_space(data, at)
    if data[at : at + 6] != b"stream":
        raise SyntaxFault(f"no stream at byte {at}")
    at += 6
    at += 2 if data[at : at + 2] == b"\r\n" else 1
    length = dictionary.get("Length")
    ends = isinstance(length, int) and 0 <= length <= len(data) - at and _ENDED.match(data, at + length)
    if not isinstance(length, int) or not ends:
        end = data.find(b"endstream", at)
        length = (end if end >= 0 else len(data)) - at
    return data[at : at + length]


def decoded(dictionary: dict[str, Any], raw: bytes, most: int = INFLATED_BYTES) -> bytes:
    """Return the content of a stream that is stored as ``raw``: deflated, with predictors, or plain.

    Raises
    ------
    SyntaxFault
        Its filter is another, it does not inflate, or it inflates to more than ``most`` bytes.
    """
    filters = dictionary.get("Filter")
    filters = filters if isinstance(filters, list) else [filters] if filters is not None else []
    if not filters:
        return raw
    if filters not in (["FlateDecode"], ["Fl"]):
        raise SyntaxFault(f"a stream with the filter {filters}")
    if most < 1:
        raise SyntaxFault("no stream may be inflated any more")
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(raw, most)
    except zlib.error as error:
        raise SyntaxFault(f"a stream does not inflate: {error}") from None
    if inflater.unconsumed_tail:
        raise SyntaxFault(f"a stream inflates to more than {most} bytes")
    parameters = dictionary.get("DecodeParms")
    parameters = parameters[0] if isinstance(parameters, list) and parameters else parameters
    return _unpredict(raw, parameters if isinstance(parameters, dict) else {})


def _unpredict(raw: bytes, parameters: dict[str, Any]) -> bytes:
    predictor, columns = parameters.get("Predictor", 1), parameters.get("Columns", 1)
    if not isinstance(predictor, int) or predictor < 10:
        return raw
    if not isinstance(columns, int) or not 1 <= columns <= 1 << 12:
        raise SyntaxFault(f"a stream has rows of {columns} bytes")
    out, before = bytearray(), bytearray(columns)
    for row in range(0, len(raw) - columns, columns + 1):
        kind, line = raw[row], bytearray(raw[row + 1 : row + 1 + columns])
        if kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, before, strict=True))
        elif kind == 1:
            for i in range(1, columns):
                line[i] = (line[i] + line[i - 1]) & 255
        elif kind:
            raise SyntaxFault(f"a stream uses the PNG predictor {kind}")
        out += line
        before = line
    return bytes(out)


def text(value: Any) -> str:
    """Return a PDF text string as text: UTF-16, UTF-8 with its mark, or PDFDocEncoding (read as Latin-1)."""
    if not isinstance(value, bytes):
        return str(value)
    if value[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return value.decode("utf-16", "replace")
    if value[:3] == b"\xef\xbb\xbf":
        return value[3:].decode("utf-8", "replace")
    return value.decode("latin-1")
