"""Several files at a time in one process: fewer passes through the network than files, and the same results."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor, nn

import forensix
from forensix import small
from forensix.models.detector import Detector

PICTURES = "ai_generated_image_detection"
PASSES = 2
"""Of a picture alone: its windows, and its square, which is larger."""


class Slow(nn.Module):
    """A network whose first pass takes until ``enough`` others wait for it; it counts the passes."""

    def __init__(self, detector: Detector, enough: int) -> None:
        super().__init__()
        self.network, self.inner, self.enough, self.passes = detector.network, [detector.network.module], enough, 0

    def forward(self, x: Tensor) -> Any:
        self.passes += 1
        until = time.monotonic() + 240
        while self.passes == 1 and len(self.network._joiner._waiting) < self.enough and time.monotonic() < until:
            time.sleep(0.001)
        return self.inner[0](x)


def slow(name: str, enough: int) -> tuple[Detector, Slow]:
    detector = forensix.load_detector(name, batch_size=1000)
    detector.network.module = built = Slow(detector, enough)
    return detector, built


@pytest.mark.slow
def test_the_files_of_analyze_many_share_passes_through_the_network():
    paths = sorted(small.folder("images").glob("*.jpg"))
    detector, network = slow("forensix-image", 3)
    fields = []
    reports = list(
        forensix.analyze_many(
            paths,
            [PICTURES],
            explain=False,
            executor="threads:4",
            image_detector=detector,
            progress=lambda name, stage, done: fields.append((name, stage, done)),
        )
    )
    alone = list(forensix.analyze_many(paths, [PICTURES], explain=False, executor="here"))
    assert [report.input for report in reports] == [str(path) for path in paths]
    assert [item.scores[PICTURES] for item in reports] == pytest.approx(
        [item.scores[PICTURES] for item in alone], abs=1e-6
    )
    assert network.passes <= PASSES * len(paths) - 2
    assert fields == [(str(path), "done", (n + 1) / len(paths)) for n, path in enumerate(paths)]


@pytest.mark.slow
def test_the_files_of_evaluate_share_passes_through_the_network():
    folder = small.folder("images")
    detector, network = slow("forensix-image", 2)
    evaluation = forensix.evaluate(
        folder / "manifest.csv", PICTURES, component=detector, executor="threads:3", cache=False
    )
    alone = forensix.evaluate(folder / "manifest.csv", PICTURES, executor="here", cache=False)
    assert list(evaluation.scores["path"]) == list(alone.scores["path"])
    assert list(evaluation.scores["score"]) == pytest.approx(list(alone.scores["score"]), abs=1e-6)
    assert network.passes <= PASSES * len(alone.scores) - 1


def test_one_component_is_built_however_many_ask_for_it(monkeypatch: pytest.MonkeyPatch):
    from forensix.models import registry

    built = []
    monkeypatch.setattr(registry, "_read", lambda name, slot: built.append(name) or time.sleep(0.2) or Built())
    registry._build.cache_clear()
    paths = sorted(small.folder("images").glob("*.jpg"))[:4]
    try:
        reports = list(forensix.analyze_many(paths, [PICTURES], explain=False, executor="threads:4"))
    finally:
        registry._build.cache_clear()
    assert built == ["forensix-image"] and [report.scores[PICTURES] for report in reports] == [0.25] * 4


class Built:
    """A component that is slow to build."""

    def score(self, rgb: object) -> float:
        return 0.25


def test_files_beside_the_processor_are_in_flight_together(monkeypatch: pytest.MonkeyPatch):
    from forensix.models import Placement

    monkeypatch.setattr(Placement, "is_apart", True)
    paths = sorted(small.folder("images").glob("*.jpg"))
    detector, network = slow("forensix-image", 2)
    reports = list(forensix.analyze_many(paths, [PICTURES], explain=False, image_detector=detector))
    assert network.passes < len(paths) and not any(report.failed for report in reports)


def everything(report: forensix.Report) -> dict[str, Any]:
    wire = json.dumps({task: report.to_wire(task) for task in report.outcomes}, default=lambda one: one.model_dump())
    fields = {"errors": report.errors, "error": report.error}
    return {"wire": rounded(json.loads(wire)), "scores": rounded(report.scores), **fields}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


@pytest.mark.slow
def test_real_files_of_every_kind_give_the_same_reports(corpora: Path):
    kinds = [corpora / "forensics" / kind for kind in ("pdf", "audio", "image", "video")]
    paths = [
        *sorted((corpora / "images" / "dev").rglob("*.webp"))[:1],
        *sorted((corpora / "voice" / "dev").rglob("*.flac"))[:2],
        *sorted((corpora / "faces" / "dev").rglob("*.jpg"))[:2],
        *sorted((corpora / "faces" / "dev").rglob("*.mp4"))[:1],
        *(min(kind.iterdir()) for kind in kinds),
    ]
    alone = [everything(report) for report in forensix.analyze_many(paths, executor="here")]
    together = [everything(report) for report in forensix.analyze_many(paths, executor="threads:4")]
    for path, first, other in zip(paths, alone, together, strict=True):
        assert first == other, path
