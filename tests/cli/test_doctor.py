"""``forensix doctor``: what is there and what is not, and nothing heavy to find that out."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from forensix.cli import doctor
from forensix.metadata import exiftool
from forensix.models import list_models, store

REPOSITORY = Path(__file__).resolve().parents[2]


def test_every_extra_for_users_is_described() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(doctor.EXTRAS) == set(project["optional-dependencies"]) - {"test", "dev"}


def test_a_missing_package_is_named_with_the_line_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "s3fs":
            raise metadata.PackageNotFoundError(name)
        return "0.0.1" if name == "resemble-perth" else real(name)

    monkeypatch.setattr(doctor, "version", version)
    actual = {part.name: part for part in doctor.extras()}
    assert not actual["s3"].there and "s3fs" in actual["s3"].detail
    assert actual["s3"].remedy == "pip install 'forensix[s3]'"
    assert not actual["watermark"].there, "another release than the one that was measured"
    assert actual["service"].there and not actual["service"].remedy


def test_shipped_weights_are_checked_and_others_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FORENSIX_CHECKPOINTS", raising=False)
    shipped, *others = doctor.models()
    assert shipped.there and "forensix-face" in shipped.brings
    assert {part.name for part in others} == {card.name for card in list_models() if card.url}
    assert {(part.there, part.remedy) for part in others} == {
        (False, f"forensix models pull {part.name}") for part in others
    }
    damaged = tmp_path / "weights"
    damaged.mkdir()
    for path in store.SHIPPED.glob("*.safetensors"):
        (damaged / path.name).write_bytes(path.read_bytes()[:-1] if path.stem == "forensix-face" else path.read_bytes())
    monkeypatch.setattr(store, "SHIPPED", damaged)
    shipped = next(doctor.models())
    assert not shipped.there and shipped.detail.endswith("cards: forensix-face")


@pytest.mark.parametrize("columns", [60, 70, 80, 100])
def test_names_stay_whole_where_lines_end(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    doctor.tell()
    words = capsys.readouterr().out.replace(",", " ").split()
    assert {card.name for card in list_models()} <= set(words)


def test_it_loads_nothing_that_an_analysis_needs() -> None:
    code = (
        "import sys\nfrom forensix.cli import main\ntry: main(['doctor'])\nexcept SystemExit as stopped: status ="
        " stopped.code\nheavy = ['torch', 'scipy', 'av', 'matplotlib', 'PIL', 'onnxruntime', 'faster_whisper']\n"
        "print(status, [name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_whisper_model_that_is_not_there_is_not_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(named: str) -> tuple[bool, str]:
        monkeypatch.setenv("FORENSIX_WHISPER", named)
        (part,) = [part for part in doctor.surroundings() if part.name == "FORENSIX_WHISPER"]
        return part.there, part.detail

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("nope", "small"):
        assert said(name) == (False, f"{name} is neither a folder nor a model of the hub on this machine")
    snapshot = tmp_path / "hub" / "models--Systran--faster-whisper-small" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "model.bin").touch()
    (tmp_path / "hub" / "models--Systran--faster-whisper-small" / "refs").mkdir()
    (tmp_path / "hub" / "models--Systran--faster-whisper-small" / "refs" / "main").write_text("1")
    assert said("small") == (True, "small")
    assert said(str(tmp_path)) == (False, f"{tmp_path} holds no model.bin of faster-whisper")
    (tmp_path / "model.bin").touch()
    assert said(str(tmp_path)) == (True, str(tmp_path))
    monkeypatch.setattr(doctor, "version", lambda name: (_ for _ in ()).throw(metadata.PackageNotFoundError(name)))
    assert said("small") == (False, "small needs faster-whisper: pip install 'forensix[whisper]'")


def test_a_file_that_is_no_population_is_not_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "population.json"
    named.write_text("[]")
    monkeypatch.setenv("FORENSIX_POPULATION", str(named))
    (part,) = [part for part in doctor.surroundings() if part.name == "FORENSIX_POPULATION"]
    assert not part.there and part.detail.endswith("which 'forensix population build' did not write")


@pytest.mark.parametrize("named", ["", "off", "OFF", "0", "no", "false"])
def test_exiftool_is_switched_off_where_it_is_for_an_analysis(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSIX_EXIFTOOL", named)
    part = next(doctor.surroundings())
    assert exiftool.installed() is None and not part.there
    assert (part.detail, part.remedy) == ("switched off by FORENSIX_EXIFTOOL", "")


def test_exiftool_is_there_where_it_is_for_an_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "exiftool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.delenv("FORENSIX_EXIFTOOL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    part = next(doctor.surroundings())
    assert part.there and part.detail == str(tool) == exiftool.installed()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    part = next(doctor.surroundings())
    assert exiftool.installed() is None and not part.there and part.detail == "not on this machine"
    assert part.remedy
