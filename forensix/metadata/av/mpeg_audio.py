"""MPEG audio (MP3) and ADTS (AAC) as raw frames: encoder tags, the chain of frames, and joins that it shows.

LAME writes its name, its settings and the length into the first frame; other encoders leave it out. A second such
frame, or a change of rate or channels on the way, is what joining files without decoding leaves. ``mpeg.torn`` is where
a frame does not follow the one before (`mpeg_reservoir`); ``mpeg.begins_inside`` and ``mpeg.ends_inside`` are bytes of
a frame that is not whole, ``mpeg.refers_back`` those before the first frame that its sound would need;
``mpeg.checksum`` is that of the encoder where the sound does not fit it (`mpeg_checksum`).

References
----------
ISO/IEC 11172-3, 13818-3, 13818-7; G. Bouvigne, "LAME Tag" (rev. 1).
"""

import re
from collections import Counter
from typing import Any

from forensix.metadata.av import id3, mpeg_checksum, tags_behind
from forensix.metadata.av.collector import FactCollector, is_text, text
from forensix.metadata.av.mpeg_reservoir import Reservoir
from forensix.metadata.facts import Node

FRAMES = 120_000
RESYNC_BYTES = 1 << 16
MOST_PLACES = 40
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_KBPS = {
    (3, 3): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (3, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (3, 1): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 3): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 1): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
ADTS_BYTES = 1536
"""The most that a frame of two channels takes."""

_ADTS_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)


def header(data: Any, at: int) -> tuple[int, int, int, int, int, int] | None:
    """Return version, layer, bits in a second (thousands), rate, channel mode and size of a frame, or ``None``."""
    if at + 4 > len(data) or data[at] != 0xFF or data[at + 1] & 0xE0 != 0xE0:
        return None
    version, layer = data[at + 1] >> 3 & 3, data[at + 1] >> 1 & 3
    bits, rate_index, padding = data[at + 2] >> 4, data[at + 2] >> 2 & 3, data[at + 2] >> 1 & 1
    if version == 1 or layer == 0 or bits in (0, 15) or rate_index == 3:
        return None
    table = _KBPS[(3, layer)] if version == 3 else _KBPS[(2, 3 if layer == 3 else 1)]
    kbps, rate = table[bits], _RATES[version][rate_index]
    if layer == 3:
        size = (12000 * kbps // rate + padding) * 4
    else:
        samples = 576 if version != 3 and layer == 1 else 1152
        size = samples * 125 * kbps // rate + padding
    return version, layer, kbps, rate, data[at + 3] >> 6, size


def walk_mp3(data: Any, facts: FactCollector) -> None:
    """Read tags and frames of an MP3 file into ``facts``."""
    start = 0
    for _ in range(4):
        after = id3.read(data, start, facts)
        if after == start:
            break
        facts.nodes.append(Node("ID3v2", start, after - start))
        start = after
    end = tags_behind.read(data, facts)
    first = _first_frame(data, start, end)
    if first is None:
        if start >= end:
            what = "it ends where the sound must begin"
        elif bytes(data[start:end]).strip(b"\x00"):
            what = "no chain of frames was found"
        else:
            what = "it holds nothing but zeros"
        facts.problem(f"There is no MPEG audio in the file: {what}.", "frames", start)
        return
    if _is_rest(data, start, first, header(data, first)[5]):  # type: ignore[index]
        facts.fact("mpeg.begins_inside", first - start, "before the first whole frame", start)
    elif first > start and bytes(data[start:first]).strip(b"\x00"):
        facts.problem(f"{first - start} unknown bytes stand before the first frame.", "frames", start)
    _frames(data, first, end, facts)


def _is_rest(data: Any, start: int, first: int, size: int) -> bool:
    """Tell whether bytes before the first whole frame are the rest of one: fewer than it has, and no words."""
    rest = bytes(data[start:first])
    return 0 < len(rest) < size and bool(rest.strip(b"\x00")) and not is_text(rest)


def _first_frame(data: Any, start: int, end: int) -> int | None:
    at: int = start
    while True:
        at = data.find(b"\xff", at, min(end, start + RESYNC_BYTES))
        if at < 0:
            return None
        frame = header(data, at)
        if frame and frame[5] > 4:
            following = header(data, at + frame[5])
            if (following and following[:2] == frame[:2] and following[3] == frame[3]) or abs(at + frame[5] - end) <= 4:
                return at
        at += 1


def _frames(data: Any, at: int, end: int, facts: FactCollector) -> None:
    first, n, rates, kinds = at, 0, Counter[int](), Counter[tuple[int, int, int]]()
    gaps: list[tuple[int, int]] = []
    changes: list[int] = []
    last: tuple[int, int, int] | None = None
    cut = last_size = 0
    reservoir, torn, inside = Reservoir(), list[int](), list[Node]()
    while at < end and n < FRAMES:
        frame = header(data, at)
        if frame is None or frame[5] < 5:
            again = _first_frame(data, at + 1, end)
            # ID3v2.4 may stand behind the sound, and each of joined files has one before its own.
            after = id3.read(data, at, facts) if again is None or again == id3.ends(data, at) else at
            if after > at:
                tag = Node(id3.BEHIND if again is None else id3.INSIDE, at, after - at)
                if again is None or len(inside) < MOST_PLACES:
                    (facts.nodes if again is None else inside).append(tag)
                reservoir.lost()
                at = after
                continue
            if again is None:
                break
            gaps.append((at, again - at))
            reservoir.lost()
            at = again
            continue
        kind = (frame[0], frame[3], int(frame[4] == 3))
        if last and kind != last:
            changes.append(at)
        begins = _encoder(data, at, frame, facts, n, end)
        if begins:
            changes += [at] if n > 1 else []
        if begins or (last and kind != last):
            reservoir.lost()
        # The frame of an encoder's header holds no sound, and that of another layer has no reservoir.
        if not begins and frame[1] == 1 and reservoir.torn(data, at, frame):
            torn.append(at)
        last = kind
        n += 1
        rates[frame[2]] += 1
        kinds[kind] += 1
        cut, last_size = max(0, at + frame[5] - end), frame[5]
        at += frame[5]
    facts.nodes.append(Node("MPEG frames", first, min(at, end) - first, f"{n} frames", tuple(inside)))
    seconds = sum(c * (1152 if k[0] == 3 else 576) / k[1] for k, c in kinds.items())
    facts.fact("mpeg.frames", n, "frames", first)
    facts.fact("mpeg.duration_s", round(seconds, 3), "frames", first)
    facts.fact("mpeg.kbps", sorted(rates), "frames", first)
    if kinds:
        (version, rate, mono), _ = kinds.most_common(1)[0]
        facts.fact(
            "mpeg.audio",
            {"rate_hz": rate, "channels": 2 - mono, "version": {3: 1, 2: 2, 0: 2.5}[version]},
            "frames",
            first,
        )
    if cut > 4 and n < 4:
        facts.problem(f"The last frame is cut off: {cut} bytes are missing.", "frames", at)
    elif cut > 4:
        facts.fact("mpeg.ends_inside", cut, "the last frame", at - last_size)
    if reservoir.missing:
        facts.fact("mpeg.refers_back", reservoir.missing, "the first frame", first)
    for place in torn[:MOST_PLACES]:
        facts.fact("mpeg.torn", place, "frame whose sound begins within that of the one before", place)
    for place, size in gaps[:8]:
        facts.problem(f"{size} bytes between two frames belong to neither.", "frames", place)
    for place in dict.fromkeys(changes[:8]):
        facts.fact("mpeg.join", place, "frame whose settings differ from those before it, or that begins a file", place)
    if at < end - 4 and n < FRAMES:
        size = end - at
        if bytes(data[at:end]).strip(b"\x00\xff\x55\xaa"):
            facts.fact(
                "container.after_end",
                {"size": size, "first_box": bytes(data[at : at + 8]).hex(" ")},
                "behind the last frame",
                at,
            )


def _encoder(data: Any, at: int, frame: tuple[int, ...], facts: FactCollector, n: int, end: int) -> bool:
    """Read a Xing, Info or VBRI header and the LAME tag in it; say whether there is one."""
    side = (17 if frame[4] == 3 else 32) if frame[0] == 3 else (9 if frame[4] == 3 else 17)
    mark = at + 4 + side
    raw = bytes(data[mark : mark + 156])
    if bytes(data[at + 36 : at + 40]) == b"VBRI":
        facts.fact("mpeg.encoder_header", "VBRI (Fraunhofer)", f"frame {n + 1}", at + 36)
        return True
    if raw[:4] not in (b"Xing", b"Info"):
        return False
    facts.fact("mpeg.encoder_header", raw[:4].decode(), f"frame {n + 1}", mark)
    flags, ends = int.from_bytes(raw[4:8], "big"), {end}
    if flags & 1:
        facts.fact(
            "mpeg.stated_frames", int.from_bytes(raw[8:12], "big"), f"frame {n + 1} {raw[:4].decode()}", mark + 8
        )
    if flags & 2:
        place = 8 + 4 * bool(flags & 1)
        stated = int.from_bytes(raw[place : place + 4], "big")
        ends.add(at + stated)
        facts.fact("mpeg.stated_bytes", stated, f"frame {n + 1} {raw[:4].decode()}", mark + place)
        facts.fact("mpeg.bytes", len(data) - at, "from that frame to the end of the file", at)
    tag = 8 + 4 * bool(flags & 1) + 4 * bool(flags & 2) + 100 * bool(flags & 4) + 4 * bool(flags & 8)
    name = raw[tag : tag + 9]
    if re.match(rb"[A-Za-z][A-Za-z0-9. ()\-]{3,}", name):
        facts.fact("mpeg.encoder", text(name), f"frame {n + 1} LAME tag", mark + tag)
        delay = raw[tag + 21 : tag + 24]
        if len(delay) == 3:
            both = int.from_bytes(delay, "big")
            facts.fact("mpeg.delay_samples", [both >> 12, both & 0xFFF], f"frame {n + 1} LAME tag", mark + tag + 21)
        if len(raw) > tag + 10:
            facts.fact("mpeg.lowpass_hz", raw[tag + 10] * 100, f"frame {n + 1} LAME tag", mark + tag + 10)
        lame = bytes(data[mark + tag : mark + tag + mpeg_checksum.TAG_BYTES])
        if not n and (stated_sum := mpeg_checksum.unlike(data, lame, at, frame[5], ends)):
            facts.fact("mpeg.checksum", stated_sum, "frame 1 LAME tag", mark + tag + 32)
    return True


def walk_adts(data: Any, facts: FactCollector) -> None:
    """Read the frames of an ADTS file into ``facts``."""
    at = id3.read(data, 0, facts)
    if bytes(data[at : at + 4]) == b"ADIF":
        # One header for the whole stream: there are no frames to walk.
        facts.fact("adif.header", bytes(data[at : at + 16]).hex(" "), "ADIF", at)
        facts.nodes.append(Node("ADIF stream", at, len(data) - at))
        return
    end = tags_behind.read(data, facts)
    first, n = at, 0
    kinds: Counter[tuple[int, int]] = Counter()
    changes: list[int] = []
    last: tuple[int, int] | None = None
    while at + 7 <= end and n < FRAMES:
        if data[at] != 0xFF or data[at + 1] & 0xF6 != 0xF0:
            after = id3.read(data, at, facts)
            if after > at:
                at = after
                continue
            again = data.find(b"\xff", at + 1)
            while again >= 0 and (again + 7 > end or data[again + 1] & 0xF6 != 0xF0):
                again = data.find(b"\xff", again + 1)
            if not n and again > 0 and _is_rest(data, at, again, ADTS_BYTES):
                facts.fact("adts.begins_inside", again - at, "before the first whole frame", at)
                first = at = again
                continue
            where_next = f"; the next is {again - at} bytes on" if again > 0 else ""
            message = f"Other bytes stand where an ADTS frame must begin{where_next}."
            facts.problem(message, "frames", at)
            if again < 0 or len(facts.problems) > 8:
                break
            at = again
            continue
        size = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        kind = (data[at + 2] >> 2 & 15, (data[at + 2] & 1) << 2 | data[at + 3] >> 6)
        if size < 7:
            facts.problem("A frame says it is shorter than its own header.", "frames", at)
            break
        if last and kind != last:
            changes.append(at)
        last = kind
        kinds[kind] += 1
        n += 1
        if at + size > end:
            facts.fact("adts.ends_inside", at + size - end, "the last frame", at)
        at += size
    if 0 < end - at < 7 and n:
        facts.fact("adts.ends_inside", None, "the last frame", at)
    facts.nodes.append(Node("ADTS frames", first, min(at, end) - first, f"{n} frames"))
    if not n:
        facts.problem("There is no ADTS frame in the file.", "frames", first)
        return
    (index, channels), _ = kinds.most_common(1)[0]
    rate = _ADTS_RATES[index] if index < len(_ADTS_RATES) else 0
    if not rate:
        facts.problem("The frames name a sample rate that does not exist.", "frames", first)
    facts.fact("adts.frames", n, "frames", first)
    facts.fact("adts.audio", {"rate_hz": rate, "channels": channels}, "frames", first)
    for place in changes[:8]:
        facts.fact("mpeg.join", place, "frame whose settings differ from those before it", place)
