"""Recordings in fragments: pieces that are missing, or stand in another order than they were numbered in."""

import struct
from pathlib import Path

import av
import pytest

from forensix.forensics import claims
from forensix.metadata.av import bmff
from forensix.metadata.av import reader as container
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Facts
from tests.forensics.rules import pick
from tests.forensics.rules.test_video_rules import facts
from tests.making import tone, write_video
from tests.metadata.av.test_container_facts import box


def in_pieces(folder: Path) -> tuple[bytes, list[bytes]]:
    """Return a recording in fragments: what stands before them, and each of them; the last is their index."""
    path = write_video(folder / "a.mp4", 200, (64, 48), audio=tone(8.0), options={"g": "10"})
    parts = folder / "b.mp4"
    with av.open(str(path)) as given, av.open(str(parts), "w", options={"movflags": "frag_keyframe"}) as out:
        streams = {s.index: out.add_stream_from_template(s) for s in given.streams}
        for packet in given.demux():
            if packet.size:
                packet.stream = streams[packet.stream_index]
                out.mux(packet)
    data = parts.read_bytes()
    at = [i - 4 for i in range(len(data)) if data[i : i + 4] in (b"moof", b"mfra")]
    return data[: at[0]], [data[a:b] for a, b in zip(at, [*at[1:], len(data)], strict=True)]


@pytest.mark.parametrize("exchanged", [False, True])
def test_fragments_that_were_exchanged_are_told_and_no_sound_is_said_to_be_missing(
    exchanged: bool, tmp_path: Path
) -> None:
    head, pieces = in_pieces(tmp_path)
    if exchanged:
        pieces[4], pieces[5] = pieces[5], pieces[4]
    (tmp_path / "c.mp4").write_bytes(head + b"".join(pieces))
    findings = claims(container.read(str(tmp_path / "c.mp4"), "mp4"))
    assert not [f.claim for f in findings if "Sound is missing" in f.claim.claim]
    told = [f.claim.value for f in findings if "another order" in f.claim.claim]
    assert told == ([("fragment 5 after 6",)] if exchanged else [])
    assert not [f for f in findings if "left out" in f.claim.claim]


def test_fragments_that_are_counted_anew_are_in_order() -> None:
    rows = [[1, 100], [2, 200], [1, 300], [2, 400]]
    assert not [f for f in claims(facts(("container.fragments", rows))) if "another order" in f.claim.claim]


def numbered(*numbers: int) -> list[tuple[str, ...]]:
    """Return what is told of empty fragments with these numbers."""
    found = FactCollector()
    bmff.walk(b"".join(box(b"moof", box(b"mfhd", struct.pack(">II", 0, n))) for n in numbers), found)
    told = claims(Facts("video", "mp4", tuple(found.items)))
    return [f.claim.value for f in told if f.claim.claim.startswith("Numbers of fragments are left out")]


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([*range(7, 20)], []),
        ([*range(1, 40, 2)], []),
        ([1] * 20, []),
        ([*range(1, 10), *range(1, 10)], []),
        ([10, 400, 700, 1300, 1900, 2000], []),
        ([1, 2, 9], []),
        ([*range(1, 9), *range(12, 20)], [("12 follows 8 at byte 212",)]),
    ],
    ids=["later", "every second", "one number", "anew", "no count", "few", "left out"],
)
def test_numbers_that_are_left_out_are_told_where_the_others_follow_each_other(
    numbers: list[int], told: list[tuple[str, ...]]
) -> None:
    assert numbered(*numbers) == told


def test_a_fragment_that_was_taken_out_is_told_on_top_of_the_report(tmp_path: Path) -> None:
    head, pieces = in_pieces(tmp_path)
    del pieces[4]
    (tmp_path / "c.mp4").write_bytes(head + b"".join(pieces))
    claim = pick(claims(container.read(str(tmp_path / "c.mp4"), "mp4")), "Numbers of fragments are left out at 1 place")
    assert claim.severity == "benign" and "fragments of the recording are missing" in claim.remark
    at = claim.facts[0].offset
    assert at and (tmp_path / "c.mp4").read_bytes()[at - 8 : at - 4] == b"mfhd"
