"""Words beside picture and sound: what a text track, chapters and a time code say to an examiner."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from forensix.forensics import claims
from forensix.metadata.av import reader as container
from forensix.metadata.av.texts import LETTERS, LINES
from tests.forensics.rules import pick
from tests.making import write_video

HEADER = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
    b"Style: Default,Arial,16\n\n[Events]\nFormat: Layer, Start, End, Style, Name, Text\n"
)
"""What an encoder of subtitles asks for."""


@contextmanager
def copied(source: Path, path: Path) -> Iterator[Any]:
    """Copy the picture of a video; what the caller adds is written with it."""
    with av.open(str(source)) as given, av.open(str(path), "w") as out:
        picture = out.add_stream_from_template(given.streams.video[0])
        yield out
        for packet in given.demux(video=0):
            if packet.size:
                packet.stream = picture
                out.mux(packet)


def with_text(source: Path, path: Path, lines: list[str]) -> Path:
    """Copy a video and add a German track of subtitles, a line a second from 0.5 s on."""
    is_mp4, unit = path.suffix != ".mkv", Fraction(1, 1000)
    with copied(source, path) as out:
        words = out.add_stream("mov_text" if is_mp4 else "subrip")
        words.codec_context.subtitle_header = HEADER
        words.metadata["language"], words.time_base = "ger", unit
        for n, line in enumerate(lines):
            raw = line.encode()
            piece = av.Packet(struct.pack(">H", len(raw)) + raw if is_mp4 else raw)
            piece.stream, piece.time_base, piece.duration = words, unit, 900
            piece.pts = piece.dts = 1000 * n + 500
            out.mux(piece)
    return path


@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv"])
def test_a_track_of_text_is_told_with_its_words_and_their_place(suffix: str, tmp_path: Path) -> None:
    source = write_video(tmp_path / f"a.{suffix}", 50, (64, 48))
    path = with_text(source, tmp_path / f"b.{suffix}", ["the <i>password</i> is 1234", "nothing else"])
    claim = pick(claims(container.read(str(path), suffix)), "The video has a track of text")
    assert claim.severity == "benign" and "language ger" in claim.claim.explanation
    assert "holds 2 pieces of text, the first 0.5 s: the password is 1234; 1.5 s: nothing" in claim.claim.explanation
    begins = claim.facts[0].offset
    assert begins and b"the <i>password" in path.read_bytes()[begins : begins + 25]
    plain = claims(container.read(str(source), suffix))
    assert not [f for f in plain if "track of text" in f.claim.claim]


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_file_is_as_long_as_its_last_subtitle(suffix: str, tmp_path: Path) -> None:
    source = write_video(tmp_path / f"a.{suffix}", 50, (64, 48))
    path = with_text(source, tmp_path / f"b.{suffix}", ["and so on"] * 5)
    facts = container.read(str(path), suffix)
    assert facts.get("stream.subtitle")["ends_s"] == 5.4 and facts.get("container.movie.duration_s") >= 5.4
    assert facts.problems == ()


def test_endless_text_is_cut(tmp_path: Path) -> None:
    source = write_video(tmp_path / "a.mkv", 50, (64, 48))
    path = with_text(source, tmp_path / "b.mkv", ["x" * 60_000] * 100)
    told = container.read(str(path), "mkv").get("stream.subtitle")
    assert told["pieces"] == 100 and [len(words) for _, words in told["lines"]] == [LETTERS] * LINES


@pytest.mark.parametrize(
    ("suffix", "code", "said"),
    [
        ("mov", "10:11:12:13", "Cameras count by the time of day"),
        ("mp4", "01:00:00;02", "Timelines of editing programs begin so"),
        ("mkv", "10:11:12:13", "Cameras count by the time of day"),
    ],
)
def test_a_time_code_says_what_it_may_be_set_against(suffix: str, code: str, said: str, tmp_path: Path) -> None:
    source = write_video(tmp_path / f"a.{suffix}", 12, (64, 48), 30)
    path = tmp_path / f"b.{suffix}"
    with copied(source, path) as out:
        out.metadata["timecode"] = code
    claim = pick(claims(container.read(str(path), suffix)), f"The recording counts its frames from {code}")
    assert claim.severity == "benign" and said in claim.claim.explanation
    assert ("drop frame" in claim.claim.explanation) is (";" in code)
    assert claim.facts[0].offset is not None


def test_chapters_are_told_with_their_titles(tmp_path: Path) -> None:
    source = write_video(tmp_path / "a.mkv", 50, (64, 48))
    path = tmp_path / "b.mkv"
    with copied(source, path) as out:
        times = {"start": 0, "end": 1000, "time_base": Fraction(1, 1000)}
        out.set_chapters([{"id": 1, "metadata": {"title": "The walk home"}, **times}])
    claim = pick(claims(container.read(str(path), "mkv")), "The file names chapters")
    assert claim.severity == "benign" and claim.claim.value == ("0 s: The walk home",)
