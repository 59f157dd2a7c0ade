"""ExifTool beside our own readers: what it adds, and that nothing it does can hurt, not even when it is not itself."""

import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from forensix import analyze
from forensix.errors import BrokenMedia
from forensix.media import program
from forensix.metadata import exiftool
from forensix.metadata.facts import Fact, Facts
from forensix.tasks.evidence import FactList
from tests.making import write_image

REAL = shutil.which("exiftool")


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    exif = Image.Exif()
    exif[0x010F], exif[0x0131] = "Maker", "Adobe Photoshop 25.0 (Windows)"
    exif[0x9C9B] = "Title for Windows\0".encode("utf-16-le")
    return write_image(tmp_path / "a.jpg", exif=exif)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that puts a shell script in ExifTool's place."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv(exiftool.VARIABLE, raising=False)

    def put(script: str) -> Path:
        path = folder / "exiftool"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return path

    return put


def _read(path: Path) -> Facts:
    """Return the facts that a report shows."""
    outcome = analyze(path, ["forensic_analysis"]).outcomes["forensic_analysis"]
    (shown,) = (part for part in outcome.evidence if isinstance(part, FactList))
    return Facts("image", "jpeg", shown.facts)


MISBEHAVIOUR = {
    "hangs": ("while :; do :; done", "was stopped"),
    "computes": ("trap '' XCPU; while :; do :; done; echo '[{}]'", "was stopped"),
    "sleeps": ("sleep 1000", "took longer than"),
    "prints garbage": ("head -c 5000 /dev/urandom", "did not answer in JSON"),
    "prints nothing": ("exit 0", "did not answer in JSON"),
    "prints without end": ("while :; do echo 0123456789012345678901234567890123456789; done", "printed more than"),
    "prints 100 MB": ("head -c 100000000 /dev/zero", "printed more than"),
    "nests deeply": ("head -c 1000000 /dev/zero | tr '\\0' '['", "did not answer in JSON"),
    "answers a number": ("echo 17", "did not answer in JSON"),
    "dies": ("kill -SEGV $$", "did not answer in JSON"),
}


@pytest.mark.parametrize("script", MISBEHAVIOUR)
def test_a_program_that_misbehaves_costs_seconds_and_no_fact(
    script: str, photo: Path, fake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exiftool, "TIMEOUT_S", 1.5)
    fake(MISBEHAVIOUR[script][0])
    start = time.monotonic()
    facts = _read(photo)
    assert time.monotonic() - start < 12
    assert facts.get("exif.Software") == "Adobe Photoshop 25.0 (Windows)"
    assert MISBEHAVIOUR[script][1] in str(facts.get("exiftool.stopped"))
    assert len(list(facts.all("exiftool"))) == 1


def test_a_program_may_not_write_reach_out_or_see_the_environment(
    photo: Path, fake: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_USER", "hidden")
    target = tmp_path / "written"
    fake(f"echo x > {target} 2>/dev/null\nset > /dev/stdout\n")
    raw = program.run([exiftool.installed() or ""], photo)
    assert b"hidden" not in raw
    assert not target.exists() or target.stat().st_size == 0


def test_it_gets_the_bytes_and_never_the_name(tmp_path: Path, photo: Path, fake: Callable[[str], Path]) -> None:
    path = photo.rename(tmp_path / "-execute; touch x|")
    fake('for a in "$@"; do printf "<%s>" "$a"; done; cat | wc -c')
    raw = program.run([exiftool.installed() or "", *exiftool.OPTIONS], path).decode()
    assert raw.startswith("<-config><><-json>")
    assert "touch" not in raw
    assert int(raw.rsplit(">", 1)[1]) == path.stat().st_size


def test_a_file_that_is_gone_is_a_reason(tmp_path: Path, fake: Callable[[str], Path]) -> None:
    fake("cat")
    assert "stopped" in exiftool.answers(tmp_path / "none")


def test_time_is_bounded(photo: Path, fake: Callable[[str], Path]) -> None:
    fake("sleep 1000")
    with pytest.raises(BrokenMedia, match="exiftool took longer than 1 s on this file and was stopped"):
        program.run([exiftool.installed() or ""], photo, timeout_s=1)


@pytest.mark.parametrize("value", ["off", "0", "", "/nowhere/exiftool"])
def test_it_can_be_switched_off(
    value: str, fake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, photo: Path
) -> None:
    fake("exit 0")
    monkeypatch.setenv(exiftool.VARIABLE, value)
    assert exiftool.installed() is None
    assert exiftool.answers(photo) == {}
    assert not list(_read(photo).all("exiftool"))


def test_only_what_nobody_else_found_is_added() -> None:
    own = [Fact("exif.Make", "Maker", "IFD0"), Fact("image.size", [10, 20], "decoder")]
    row = {
        "SourceFile": "-",
        "ExifTool:ExifToolVersion": 12.57,
        "IFD0:Make": "MAKER (as ExifTool spells it)",
        "IFD0:Artist": "Maker",
        "Apple:RunTimeFlags": "Valid",
        "Apple:Copy1:RunTimeFlags": float("nan"),
        "Odd Group:Tag/.../": {"a": [1, 2]},
        "Big:Number": 10**400,
        "XMP:Empty": "",
    }
    by_key = {f.key: f.value for f in exiftool.beyond(row, own)}
    assert by_key["exiftool.version"] == "12.57"
    assert by_key["exiftool.Apple.RunTimeFlags"] == "Valid"
    assert by_key["exiftool.Odd_Group.Tag_..._"] == '{"a": [1, 2]}'
    assert "exiftool.IFD0.Make" not in by_key
    assert "exiftool.IFD0.Artist" not in by_key
    assert by_key["exiftool.Big.Number"] == "1" + 400 * "0"
    assert "exiftool.XMP.Empty" not in by_key
    assert len(exiftool.beyond({"A:B": "x" * 9000}, ())[0].value) == exiftool.VALUE_LENGTH
    json.dumps(list(by_key.values()), allow_nan=False)
    many = {f"A:Tag{i}": i for i in range(5000)}
    assert len(exiftool.beyond(many, ())) <= exiftool.FACTS + 1


def test_claims_are_the_same_without_it(
    photo: Path, fake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "ExifTool:ExifToolVersion": 12.5,
        "IFD0:CreatorTool": "Midjourney",
        "PNG:parameters": "Steps: 20",
    }
    monkeypatch.setenv(exiftool.VARIABLE, "off")
    bare = analyze(photo, ["forensic_analysis"]).to_wire("forensic_analysis")["result"]
    monkeypatch.delenv(exiftool.VARIABLE)
    fake(f"echo '{json.dumps([row])}'")
    assert _read(photo).get("exiftool.IFD0.CreatorTool") == "Midjourney"
    report = analyze(photo)
    assert report.to_wire("forensic_analysis")["result"] == bare
    assert report.outcomes["ai_generated_image_detection"].result.class_name == "real"


def test_it_is_not_asked_where_nothing_is_shown(
    photo: Path, fake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exiftool, "answers", None)
    assert analyze(photo, ["forensic_analysis", "ai_generated_image_detection"], explain=False).scores


@pytest.mark.skipif(REAL is None, reason="ExifTool is not installed")
def test_the_real_one_adds_what_our_readers_do_not_know(photo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(exiftool.VARIABLE, raising=False)
    facts = _read(photo)
    version = subprocess.run([str(REAL), "-ver"], capture_output=True, text=True, check=True).stdout.strip()
    assert facts.get("exiftool.version") == version
    added = [f for f in facts.all("exiftool") if f.key != "exiftool.version"]
    assert added
    assert all(f.where.startswith("exiftool ") and ":" in f.where for f in added)
    assert not [f for f in added if str(f.value) == "Adobe Photoshop 25.0 (Windows)"]


@pytest.mark.skipif(REAL is None, reason="ExifTool is not installed")
def test_the_real_one_reads_no_configuration(tmp_path: Path, photo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".ExifTool_config").write_text("print STDOUT 'configured'; 1;\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EXIFTOOL_HOME", str(tmp_path))
    assert b"configured" not in program.run([str(REAL), *exiftool.OPTIONS], photo)
