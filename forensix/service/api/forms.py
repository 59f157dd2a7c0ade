"""The bodies of requests: multipart or form encoded, read as they arrive, bounded in every direction."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from forensix.service.api.stalling import StallLimit
from forensix.service.api.uploads import Run, Upload, display_name, file_too_large
from forensix.service.errors import Refusal, bad_field, bad_form, too_large

MAX_FORM_BYTES = 256 * 1024
"""All that is not the file: other fields, boundaries, headers of parts."""
MAX_FIELD_BYTES = 64 * 1024
MAX_PARTS = 50

_EXTENDED = re.compile(rb";\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^';]*'([^;\s]+)", re.IGNORECASE)
_BOOLEANS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


@dataclass(slots=True)
class Form:
    """Fields as text, by name, and the file, which is not stored yet."""

    fields: dict[str, str] = field(default_factory=dict)
    upload: Upload | None = None

    def text(self, name: str, max_length: int) -> str | None:
        """Return a field's text, None when it is absent.

        Raises
        ------
        Refusal
            400: it is too long, or holds what is not text.
        """
        value = self.fields.get(name)
        if value is not None and len(value) > max_length:
            raise bad_field(f"{name} has {len(value)} characters; {max_length} are allowed")
        if value is not None and "\0" in value:
            raise bad_field(f"{name} holds a zero byte, which is not text")
        return value

    def boolean(self, name: str, default: bool) -> bool:
        """Return a field's truth value.

        Raises
        ------
        Refusal
            400: it is neither true nor false.
        """
        value = self.fields.get(name)
        if value is None:
            return default
        if value.strip().lower() not in _BOOLEANS:
            raise bad_field(f"{name} must be true or false")
        return _BOOLEANS[value.strip().lower()]


async def read_form(request: Request, known: frozenset[str], run: Run, open_upload: Callable[..., Upload]) -> Form:
    """Read the body of a request; ``known`` names the fields that are kept, others are passed over.

    ``open_upload`` is called with the display name once a part ``file`` starts; a request that takes no file leaves
    ``file`` out of ``known``. On any failure nothing is left of the file.

    Raises
    ------
    Refusal
        400: malformed, cut off or stalled; 413: too large; 415: of another content type, or not what the task takes.
    """
    types = request.headers.getlist("content-type")
    # As with tokens: a proxy could go by the one, and we by the other.
    if len(types) > 1:
        raise bad_form("the Content-Type is given twice")
    declared, options = parse_options_header(types[0] if types else None)
    codings = ",".join(request.headers.getlist("content-encoding")).lower().split(",")
    if not {coding.strip() for coding in codings} <= {"", "identity"}:
        raise Refusal(415, "unsupported_form", "send the body as it is, without Content-Encoding")
    if declared == b"multipart/form-data":
        return await _read_multipart(request, options, known, run, open_upload)
    if declared == b"application/x-www-form-urlencoded":
        return _decode_urlencoded(await _gather(request), known)
    if not declared and not await _gather(request):
        return Form()
    raise Refusal(
        415, "unsupported_form", "send the fields as multipart/form-data or as application/x-www-form-urlencoded"
    )


def check_length(headers: Mapping[str, str], max_bytes: int) -> None:
    """Refuse a body by the length that it states, before any of it is read.

    Raises
    ------
    Refusal
        413: it cannot fit.
    """
    stated = headers.get("content-length", "")
    if stated.isdigit() and int(stated) > max_bytes + MAX_FORM_BYTES:
        raise file_too_large(max_bytes)


async def _gather(request: Request) -> bytes:
    body = bytearray()
    async with StallLimit() as limit:
        async for chunk in request.stream():
            limit.came(len(chunk))
            body += chunk
            if len(body) > MAX_FORM_BYTES:
                raise too_large(f"a form without a file may have {MAX_FORM_BYTES // 1024} KB; send files as multipart")
    return bytes(body)


def _decode_urlencoded(body: bytes, known: frozenset[str]) -> Form:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARTS)
    except UnicodeDecodeError:
        raise bad_form("the form is not percent-encoded UTF-8") from None
    except ValueError:
        raise bad_form(f"a form may have {MAX_PARTS} fields") from None
    form = Form()
    for name, value in pairs:
        if name == "file" and name in known and value:
            raise bad_form("a file cannot be form encoded; send it as multipart/form-data")
        if name in known and name != "file":
            _keep(form, name, value)
    return form


async def _read_multipart(
    request: Request,
    options: Mapping[bytes, bytes],
    known: frozenset[str],
    run: Run,
    open_upload: Callable[..., Upload],
) -> Form:
    if not options.get(b"boundary"):
        raise bad_form("the Content-Type of a multipart body names its boundary")
    reader = _Multipart(known, open_upload)
    try:
        parser = MultipartParser(options[b"boundary"], reader.callbacks())  # type: ignore[arg-type]
        async with StallLimit() as limit:
            async for chunk in request.stream():
                limit.came(len(chunk))
                parser.write(chunk)
                upload = reader.form.upload
                reader.count(len(chunk))
                if upload is not None and upload.is_full:
                    limit.rest()
                    await run(upload.write)
                    limit.came(0)
        if not reader.ended:
            raise bad_form("the multipart body is cut off: its last boundary is missing")
    except BaseException as error:
        if reader.form.upload is not None:
            await asyncio.shield(run(reader.form.upload.discard))
        if isinstance(error, FormParserError):
            raise bad_form("the multipart body is malformed") from None
        raise
    return reader.form


class _Multipart:
    """What the parser calls as it finds parts, headers and data."""

    def __init__(self, known: frozenset[str], open_upload: Callable[..., Upload]) -> None:
        self.form = Form()
        self.ended = False
        self._known, self._open_upload = known, open_upload
        self._n_parts = self._n_bytes = 0
        self._header = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._name: str | None = None
        self._text = bytearray()
        self._in_file = False
        self._file_name = b""

    def callbacks(self) -> dict[str, Callable[..., Any]]:
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def count(self, n_bytes: int) -> None:
        """Count what came; all that is not the file is bounded together, parts that are passed over included."""
        self._n_bytes += n_bytes
        file_bytes = self.form.upload.size_bytes if self.form.upload else 0
        if self._n_bytes - file_bytes > MAX_FORM_BYTES:
            raise too_large(f"the fields beside the file may have {MAX_FORM_BYTES // 1024} KB together")

    def _part_begin(self) -> None:
        self._n_parts += 1
        if self._n_parts > MAX_PARTS:
            raise bad_form(f"a form may have {MAX_PARTS} parts")
        self._disposition = b""
        self._text.clear()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _headers_finished(self) -> None:
        kind, options = parse_options_header(self._disposition)
        if kind != b"form-data" or b"name" not in options:
            raise bad_form("a part of the multipart body has no Content-Disposition with a name")
        name = options[b"name"].decode("utf-8", "replace")
        self._name = name if name in self._known else None
        self._in_file = self._name == "file"
        self._file_name = _file_name(self._disposition, options)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._file().feed(bytes(data[start:end]))
        elif self._name is not None:
            self._text += data[start:end]
            if len(self._text) > MAX_FIELD_BYTES:
                raise bad_form(f"the field {self._name} is longer than {MAX_FIELD_BYTES // 1024} KB")

    def _part_end(self) -> None:
        if self._in_file:
            # An empty part without a name is what a browser sends when no file was chosen.
            if self._file_name or self._name is None:
                self._file().finish()
            self._in_file = False
        elif self._name is not None:
            try:
                _keep(self.form, self._name, self._text.decode("utf-8"))
            except UnicodeDecodeError:
                raise bad_form(f"the field {self._name} is not UTF-8") from None
        self._name = None

    def _end(self) -> None:
        self.ended = True

    def _file(self) -> Upload:
        if self._name is not None:
            if self.form.upload is not None:
                raise bad_form("the field file is given twice; send one file a task")
            self.form.upload = self._open_upload(display_name(self._file_name))
            self._name = None
        assert self.form.upload is not None
        return self.form.upload


def _file_name(disposition: bytes, options: Mapping[bytes, bytes]) -> bytes:
    """Return a part's file name in UTF-8; ``filename*``, as older clients name what is not ASCII, where that is all."""
    plain = options.get(b"filename")
    extended = None if plain is not None else _EXTENDED.search(disposition)
    if extended is None:
        return plain or b""
    return unquote_to_bytes(extended[2]).decode(extended[1].decode(), "replace").encode()


def _keep(form: Form, name: str, value: str) -> None:
    if name in form.fields:
        raise bad_form(f"the field {name} is given twice")
    form.fields[name] = value
