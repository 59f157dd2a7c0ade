"""Reports that the tests of this folder draw."""

import pytest

from forensix.report import Report
from forensix.schema import ImageResult
from forensix.tasks.evidence import Outcome
from tests.report.samples import HOSTILE, face_outcome, forensic_outcome, image_outcome, voice_outcome


@pytest.fixture
def report() -> Report:
    return Report(
        input="folder/" + HOSTILE,
        name=HOSTILE,
        sha256="ab" * 32,
        kind="video",
        format="mp4",
        size_bytes=1_234_567,
        info={"width_px": 640, "height_px": 480, "duration_s": 10.0, "video_codec": HOSTILE, "has_audio": True},
        outcomes={
            "face_manipulation": face_outcome(),
            "ai_generated_image_detection": image_outcome(),
            "voice_analysis": voice_outcome(),
            "forensic_analysis": forensic_outcome(),
        },
        errors={"other_task": HOSTILE},
        settings={"explain": True, "note": HOSTILE},
        versions={"forensix": "0.1.0"},
        models=(
            {
                "name": "face-model",
                "component": "face_classifier",
                "sha256": "cd" * 32,
                "threshold": 0.61,
                "limits": "Blind to small faces.",
            },
        ),
        timings_s={"face_manipulation": 1.5},
        warnings=(HOSTILE,),
        additional_info=HOSTILE,
        started="2026-01-02T03:04:05Z",
    )


@pytest.fixture
def real_report() -> Report:
    """A report with nothing but a picture that was judged real."""
    return Report(
        input="real.png",
        name="real.png",
        sha256="01" * 32,
        outcomes={"ai_generated_image_detection": Outcome(ImageResult(class_name="real"), 0.04)},
    )


@pytest.fixture
def failed_report() -> Report:
    """A report of an input that could not be opened."""
    return Report(
        input="x.bin", name="x.bin", error="this is no picture; send a JPEG", codes={"input": "unsupported_media"}
    )
