"""Seeded damage to files: what wear, faulty programs and attackers do to bytes.

    mutate(data, other, random.Random(7))   ("length", changed bytes)

Every kind of damage is as likely as any other. The same seed gives the same damage.
"""

import random
import re
from collections.abc import Callable

SPAN_SHARE = 0.1
INSERTED_BYTES = 2000
EXTREMES = (
    0,
    1,
    2,
    7,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 62,
    1 << 63,
    (1 << 64) - 1,
)
NUMBERS = (b"0", b"-1", b"65536", b"2147483647", b"4294967296", b"99999999999999999999")


def mutate(data: bytes, other: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the name of a kind of damage and ``data`` after it; ``other`` is a file of its kind to splice with."""
    name = rng.choice(sorted(KINDS))
    return name, KINDS[name](data, other, rng)


def truncations(data: bytes, steps: int = 100) -> list[tuple[int, bytes]]:
    """Return ``data`` cut after every ``1 / steps`` of its length, with the length, shortest first."""
    lengths = dict.fromkeys(len(data) * step // steps for step in range(1, steps))
    return [(n, data[:n]) for n in lengths if 0 < n < len(data)]


def _flip(data: bytes, other: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 16)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    filler = rng.choice((bytes(end - start), b"\xff" * (end - start), rng.randbytes(end - start)))
    return data[:start] + filler + data[end:]


def _delete(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.randint(1, 3) + data[end:]


def _insert(data: bytes, other: bytes, rng: random.Random) -> bytes:
    at, size = rng.randrange(len(data) + 1), rng.randint(1, INSERTED_BYTES)
    return data[:at] + rng.choice((bytes(size), rng.randbytes(size))) + data[at:]


def _length(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Write numbers that no length should be; in the first bytes as often as elsewhere, where most lengths stand."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        digits = [m.span() for m in re.finditer(rb"(?<=[ \n])\d{1,10}(?=[ \n/>])", bytes(changed[:200_000]))]
        if digits and data.startswith(b"%PDF") and rng.random() < 0.7:
            start, end = rng.choice(digits)
            changed[start:end] = rng.choice(NUMBERS)
            continue
        width = rng.choice((1, 2, 4, 8))
        reach = min(len(changed), rng.choice((64, 1024, len(changed))))
        at = rng.randrange(reach)
        value = rng.choice(EXTREMES) % (1 << 8 * width)
        changed[at : at + width] = value.to_bytes(width, rng.choice(("big", "little")))  # type: ignore[arg-type]
    return bytes(changed)


def _splice(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(1, len(data) + 1)] + other[rng.randrange(len(other)) :]


def _head(data: bytes, other: bytes, rng: random.Random) -> bytes:
    size = rng.choice((4, 16, 64, 512))
    return other[:size] + data[size:]


def _swap(data: bytes, other: bytes, rng: random.Random) -> bytes:
    a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    size = rng.randint(1, max(1, int(len(data) * SPAN_SHARE)))
    start = rng.randrange(max(1, len(data) - size + 1))
    return start, start + size


KINDS: dict[str, Callable[[bytes, bytes, random.Random], bytes]] = {
    "bits flipped": _flip,
    "run overwritten": _overwrite,
    "chunk deleted": _delete,
    "chunk repeated": _duplicate,
    "bytes inserted": _insert,
    "length corrupted": _length,
    "spliced": _splice,
    "header of another": _head,
    "chunks swapped": _swap,
}
