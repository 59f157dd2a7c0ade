"""Damage by seed: whatever happens to the bytes of a sound file, reading it ends well, and a cut is told.

The large run over real files is ``benchmarks/forensic_fuzz.py``; this is the same damage on files made here.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.mutations import mutate, truncations
from forensix import analyze
from forensix.errors import InputError
from forensix.forensics import Finding, claims
from forensix.media.sniff import HEAD_BYTES, sniff
from forensix.metadata import child
from forensix.metadata.reader import from_values
from tests.making import picture, tone, write_audio, write_image, write_pdf, write_video

IMAGES, VIDEOS = (
    ("jpg", "png", "gif", "webp", "tiff", "heic"),
    ("mp4", "mov", "m4v", "3gp", "mkv", "webm", "avi", "flv"),
)
SOUNDS = ("m4a", "mp3", "aac", "flac", "ogg", "wav")
FORMATS = (*IMAGES, *VIDEOS, *SOUNDS, "pdf")
MUTATIONS, CUTS, LIMIT_S = 24, 20, 10.0
ENDLESS = {"aac", "mp3"}
"""Formats without any header that says how long the file is: cut between two frames, it is a shorter sound file."""


def _paint(index: int) -> np.ndarray:
    return picture(64, 48, shift=index)


@pytest.fixture(scope="module")
def sound_files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    folder = tmp_path_factory.mktemp("sound")
    built: dict[str, bytes] = {}

    def get(format: str) -> bytes:
        if format not in built:
            path = folder / f"a.{format}"
            if format in IMAGES:
                noise = np.random.default_rng(1).integers(0, 60, (48, 64, 3), np.uint8)
                write_image(path, picture(64, 48) + noise)
            elif format in VIDEOS:
                audio = None if format == "3gp" else tone(0.4, rate=44_100 if format == "flv" else 16_000)
                rate = 44_100 if format == "flv" else 16_000
                write_video(path, 10, (64, 48), paint=_paint, audio=audio, audio_rate=rate)
            elif format == "pdf":
                write_pdf(path, 3, info={"Title": "Three pages"})
            else:
                write_audio(path, tone(0.5))
            built[format] = path.read_bytes()
        return built[format]

    return get


def _findings(data: bytes, name: str, folder: Path) -> tuple[Finding, ...] | None:
    """Return what is claimed of bytes, read here rather than in a child, so that any exception is seen."""
    path = folder / name
    path.write_bytes(data)
    try:
        file_format = sniff(data[:HEAD_BYTES], name)
    except InputError as refused:
        assert "\n" not in str(refused)
        return None
    kind = "image" if "image" in file_format.kinds else "pdf" if "pdf" in file_format.kinds else "audio"
    if kind == "audio" and file_format.format in ("mp4", "mov", "m4v", "3gp", "mkv", "webm", "avi", "flv"):
        kind = "video"
    start = time.perf_counter()
    facts = from_values(child.read(str(path), kind, file_format.format, name, file_format.broken is not None))
    assert time.perf_counter() - start < LIMIT_S
    return claims(facts)


def _damage(findings: tuple[Finding, ...]) -> list[str]:
    return [
        f.claim.claim
        for f in findings
        if f.severity != "benign" and (f.claim.type in ("structure", "format") or "shorter than" in f.claim.claim)
    ]


def _is_cut_off(findings: tuple[Finding, ...]) -> bool:
    """Return whether a benign claim says so: a stream of frames without a header, as of web radio, may end anywhere."""
    return any(f.claim.claim == "The end of the recording is cut off" for f in findings)


@pytest.mark.parametrize("format", FORMATS)
def test_the_file_before_the_damage_is_sound(format: str, sound_files: Callable[[str], bytes], tmp_path: Path) -> None:
    findings = _findings(sound_files(format), f"a.{format}", tmp_path)
    assert findings is not None
    assert _damage(findings) == []


@pytest.mark.parametrize("format", FORMATS)
def test_no_damage_escapes(format: str, sound_files: Callable[[str], bytes], tmp_path: Path) -> None:
    data, other = sound_files(format), sound_files(FORMATS[(FORMATS.index(format) + 1) % len(FORMATS)])
    for n in range(MUTATIONS):
        rng = random.Random(f"{format}:{n}")
        _, changed = mutate(data, rng.choice((data, other)), rng)
        _findings(changed, f"a.{format}", tmp_path)


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_is_told(format: str, sound_files: Callable[[str], bytes], tmp_path: Path) -> None:
    silent = []
    cuts = truncations(sound_files(format), CUTS)
    for size, cut in cuts:
        findings = _findings(cut, f"a.{format}", tmp_path)
        if findings is not None and not _damage(findings) and not _is_cut_off(findings):
            silent.append(size)
    assert len(silent) <= (len(cuts) // 10 if format in ENDLESS else 0), f"cut at {silent} of {cuts[-1][0]}"


@pytest.mark.parametrize("format", ["jpg", "pdf", "mp4", "mp3"])
def test_the_whole_way_ends_in_a_report_or_a_sentence(format: str, sound_files: Callable[[str], bytes]) -> None:
    data = sound_files(format)
    for n in range(4):
        _, changed = mutate(data, data, random.Random(n))
        try:
            report = analyze(changed, tasks=["forensic_analysis"], name=f"a.{format}")
        except InputError as refused:
            assert "\n" not in str(refused)
        else:
            assert not report.errors
