"""ExifTool is used where it is installed and missed nowhere."""

import json
import subprocess
from pathlib import Path

import pytest

from forensix.metadata import exiftool
from tests.metadata import making_images as make


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "-a.jpg"
    path.write_bytes(make.jpeg(make.exif_segment(make.tiff_block([(0x010F, make.ASCII, "Maker")]))))
    return path


def test_absent_is_no_error(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exiftool.shutil, "which", lambda _: None)
    assert exiftool.read(picture) == []


@pytest.mark.parametrize("output", [b"", b"not json", b"[]", b"{}", b"[1]"])
def test_nonsense_is_no_error(output: bytes, picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exiftool.shutil, "which", lambda _: "exiftool")
    monkeypatch.setattr(exiftool.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, output, b""))
    assert exiftool.read(picture) == []


def test_tags_become_facts(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps([{"SourceFile": "a", "File:FileSize": "1 kB", "IFD0:Make": "Maker"}]).encode()
    monkeypatch.setattr(exiftool.shutil, "which", lambda _: "exiftool")
    monkeypatch.setattr(exiftool.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, told, b""))
    assert [(f.key, f.value) for f in exiftool.read(picture)] == [("exiftool.IFD0.Make", "Maker")]


def test_the_program_itself(picture: Path) -> None:
    if exiftool.shutil.which("exiftool") is None:
        pytest.skip("ExifTool is not installed")
    assert ("exiftool.IFD0.Make", "Maker") in [(f.key, f.value) for f in exiftool.read(picture)]
