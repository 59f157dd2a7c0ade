"""Tags behind the sound: ID3v1, ID3v2 with a footer, APE and Lyrics3, in whichever order they stand.

References
----------
id3.org, "ID3v1", "ID3 tag version 2.4.0" (footer), "Lyrics3 Tag v2.00"; hydrogenaud.io, "APEv2 specification".
"""

from typing import Any

from forensix.media.signatures import synchsafe
from forensix.media.tags import MOST
from forensix.metadata.av import id3
from forensix.metadata.av.collector import FactCollector, text
from forensix.metadata.facts import Node

TAGS = 8
MOST_TEXT = 2000


def read(data: Any, facts: FactCollector) -> int:
    """Read the tags at the end of a file into ``facts``; return where they begin."""
    end = len(data)
    for _ in range(TAGS):
        start = min(tag(data, end, facts) for tag in (id3.version1, _id3v2, _ape, _lyrics3))
        if start == end:
            break
        end = start
    if end < len(data):
        facts.nodes.append(Node(id3.BEHIND, end, len(data) - end))
    return end


def _id3v2(data: Any, end: int, facts: FactCollector) -> int:
    """Read an ID3v2 tag that has a footer before ``end``; return where it begins, ``end`` where there is none."""
    footer = bytes(data[max(0, end - 10) : end])
    if footer[:3] != b"3DI" or len(footer) < 10:
        return end
    start = end - 20 - synchsafe(footer[6:])
    if start < 0 or bytes(data[start : start + 3]) != b"ID3":
        return end
    id3.read(data, start, facts)
    return start


def _ape(data: Any, end: int, facts: FactCollector) -> int:
    """Read an APE tag before ``end``; return where it begins, ``end`` where there is none."""
    if end < 32 or bytes(data[end - 32 : end - 24]) != b"APETAGEX":
        return end
    size, count = (
        int.from_bytes(data[end - 20 : end - 16], "little"),
        int.from_bytes(data[end - 16 : end - 12], "little"),
    )
    at = end - size
    if at < 0:
        facts.problem("The APE tag says it is longer than the file.", "APE tag", end - 32)
        return end
    for _ in range(min(count, MOST)):
        length = int.from_bytes(data[at : at + 4], "little")
        stop = data.find(b"\x00", at + 8, end)
        if stop < 0 or stop + 1 + length > end:
            break
        facts.fact(
            f"ape.{text(bytes(data[at + 8 : stop]))}",
            text(bytes(data[stop + 1 : stop + 1 + min(length, MOST_TEXT)])),
            "APE tag",
            at,
        )
        at = stop + 1 + length
    if count > MOST:
        facts.problem(f"The APE tag has more than {MOST} items; the rest was not read.", "APE tag", at, unread=True)
    has_header = bytes(data[max(0, end - size - 32) : max(0, end - size - 24)]) == b"APETAGEX"
    return end - size - (32 if has_header else 0)


def _lyrics3(data: Any, end: int, facts: FactCollector) -> int:
    """Read a Lyrics3 tag (version 2) before ``end``; return where it begins, ``end`` where there is none."""
    mark = bytes(data[max(0, end - 15) : end])
    if mark[6:] != b"LYRICS200" or not mark[:6].isdigit():
        return end
    start = end - 15 - int(mark[:6])
    if start < 0 or bytes(data[start : start + 11]) != b"LYRICSBEGIN":
        return end
    facts.fact("lyrics3", text(bytes(data[start + 11 : min(end - 15, start + 11 + MOST_TEXT)])), "Lyrics3 tag", start)
    return start
