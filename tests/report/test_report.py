"""The report as data: wire objects, JSON, data frame."""

import dataclasses
import json
import math

import pandas as pd
import pytest

from forensix.errors import UsageError
from forensix.report import Report
from forensix.schema import (
    Claim,
    ClaimLists,
    DocumentDetails,
    FaceResult,
    ForensicResult,
    ImageResult,
    TaskReport,
    VoiceResult,
)
from forensix.tasks.catalogue import SPECIFIED, describe
from forensix.tasks.evidence import Outcome
from tests.report.samples import voice_outcome

TASKS = tuple(task.name for task in SPECIFIED)


def test_wire_objects_are_those_of_the_specification(report: Report) -> None:
    for task in TASKS:
        wire = report.to_wire(task)
        assert TaskReport.model_validate(wire).to_wire() == wire
        assert wire["status"] == "completed" and wire["event_type"] == describe(task).event and "error" not in wire
    assert set(report.to_wire("face_manipulation")) == {"id", "status", "event_type", "result", "preview"}
    assert set(report.to_wire("forensic_analysis")) == {"id", "status", "event_type", "result", "additional_info"}
    assert set(report.to_wire("voice_analysis")) == {"id", "status", "event_type", "result"}


def test_failed_task_on_the_wire(report: Report) -> None:
    wire = report.to_wire("other_task")
    assert set(wire) == {"id", "status", "event_type", "error"}
    assert wire["status"] == "failed" and wire["error"] == report.errors["other_task"]


def test_probability_is_left_out_when_real_but_the_score_is_kept(real_report: Report) -> None:
    task = "ai_generated_image_detection"
    assert real_report.to_wire(task)["result"] == {"class_name": "real"}
    assert real_report.scores == {task: 0.04}
    assert real_report.verdicts == {task: "real"}


def test_an_input_that_cannot_be_opened_fails_every_task(failed_report: Report) -> None:
    assert failed_report.to_wire("voice_analysis")["error"] == failed_report.error
    assert (
        json.loads(failed_report.to_json())
        == failed_report.to_dict()
        == {
            "input": "x.bin",
            "sha256": None,
            "results": {},
            "verdicts": {},
            "scores": {},
            "error": "this is no picture; send a JPEG",
        }
    )


def test_a_task_that_was_not_run_is_refused_with_those_that_were(real_report: Report) -> None:
    with pytest.raises(UsageError, match="ai_generated_image_detection"):
        real_report.to_wire("voice_analysis")


def test_json_has_exactly_its_keys_and_survives_a_round_trip(report: Report) -> None:
    fields = report.to_dict()
    assert list(fields) == ["input", "sha256", "results", "verdicts", "scores", "error"]
    assert fields["scores"] == {
        "face_manipulation": 0.87,
        "ai_generated_image_detection": 0.7,
        "voice_analysis": 0.9987,
        "forensic_analysis": None,
        "other_task": None,
    }
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields


def test_json_tells_an_inconclusive_verdict_from_one_of_real() -> None:
    def made(*, inconclusive: bool) -> dict[str, object]:
        outcome = Outcome(VoiceResult(class_name="real"), 0.4, inconclusive=inconclusive)
        return Report("a.wav", "a.wav", outcomes={"voice_analysis": outcome}).to_dict()

    undecided, clear = made(inconclusive=True), made(inconclusive=False)
    assert undecided["results"] == clear["results"], "the specification has one class for both"
    assert undecided["verdicts"] == {"voice_analysis": "inconclusive"}
    assert clear["verdicts"] == {"voice_analysis": "real"}


def test_identifiers_depend_on_content_task_settings_and_models(report: Report) -> None:
    task = "face_manipulation"
    assert len(report.task_id(task)) == 32 and int(report.task_id(task), 16)
    same = dataclasses.replace(report, input="elsewhere", name="other", started=None)
    assert same.task_id(task) == report.task_id(task)
    others = [
        dataclasses.replace(report, sha256="00" * 32),
        dataclasses.replace(report, settings={}),
        dataclasses.replace(report, models=({"name": "face-model", "sha256": "ee" * 32},)),
    ]
    ids = {report.task_id(t) for t in TASKS} | {other.task_id(task) for other in others}
    assert len(ids) == len(TASKS) + len(others)


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.01, 1.01])
def test_a_score_outside_of_its_range_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Report(input="a", name="a", outcomes={"face_manipulation": Outcome(FaceResult(class_name="real"), score)})


def test_verdicts_of_claims_are_the_gravest_severity(report: Report) -> None:
    assert report.verdicts["forensic_analysis"] == "critical"
    assert report.verdicts["other_task"] == "failed"


def test_failed_is_true_for_a_task_and_for_an_input(report: Report, real_report: Report, failed_report: Report) -> None:
    assert (report.failed, real_report.failed, failed_report.failed) == (True, False, True)


def test_frame_has_one_row_a_task_and_one_for_an_input_without(report: Report, failed_report: Report) -> None:
    frame = report.to_frame()
    assert list(frame["task"]) == list(report.tasks)
    assert frame.set_index("task").loc["voice_analysis", "score"] == 0.9987
    failed = failed_report.to_frame()
    assert len(failed) == 1 and failed.loc[0, "error"] == failed_report.error
    assert set(failed.columns) == set(frame.columns)


def test_frames_of_many_reports_can_be_counted_with(report: Report, real_report: Report, failed_report: Report) -> None:
    """A recording, a PDF without a score and an input that could not be opened, put together."""
    claims_alone = dataclasses.replace(report, outcomes={"forensic_analysis": report.outcomes["forensic_analysis"]})
    reports = [report, dataclasses.replace(claims_alone, errors={}), failed_report, real_report]
    frame = pd.concat([one.to_frame() for one in reports], ignore_index=True)
    assert list(frame.loc[frame["score"] > 0.9, "task"]) == ["voice_analysis"]
    assert frame["time_s"].dtype == frame["score"].dtype == "float64"
    claims = pd.concat([one.claims() for one in reports], ignore_index=True)
    assert claims["number"].dtype == "int64" and len(claims) == 2 * len(report.claims()) > 0


def test_repr_is_one_short_line(report: Report, failed_report: Report) -> None:
    text = repr(report)
    assert "face_manipulation looks manipulated (score 0.87)" in text and "other_task failed" in text
    assert text.isprintable()
    assert failed_report.error in repr(failed_report)


def test_who_speaks_when_as_rttm() -> None:
    with pytest.raises(UsageError, match="has no speakers"):
        Report("talk.wav", "talk.wav").to_rttm()
    text = Report("talk 1.wav", "talk 1.wav", outcomes={"voice_analysis": voice_outcome()}).to_rttm()
    fields = text.split()
    assert len(text.splitlines()) == 1 and len(fields) == 10
    assert fields[:6] == ["SPEAKER", "talk_1.wav", "1", "0.000", "2.500", "<NA>"]


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (
            {"face_manipulation": ("real", 0.1), "voice_analysis": ("fake", 0.93)},
            "Likely a synthetic voice (score 0.93); nothing points to a manipulated or generated face.",
        ),
        (
            {"face_manipulation": ("fake", 0.91), "voice_analysis": ("fake", 0.93)},
            "Likely a manipulated or generated face (score 0.91) and a synthetic voice (score 0.93).",
        ),
        (
            {"face_manipulation": ("undecided", 0.5), "voice_analysis": ("undecided", 0.5)},
            "The face and the voice stay undecided.",
        ),
        (
            {"face_manipulation": ("undecided", 0.5), "voice_analysis": ("real", 0.1)},
            "The face stays undecided; nothing in the voice points to a fake, which is no proof of authenticity.",
        ),
        (
            {"voice_analysis": ("real", 0.1)},
            "Nothing in the voice points to a fake, which is no proof of authenticity.",
        ),
        ({"voice_analysis": ("no_speech", None)}, "No speech, so there is nothing to judge."),
        (
            {"face_manipulation": ("no_faces", None), "voice_analysis": ("no_speech", None)},
            "No faces and no speech, so there is nothing to judge.",
        ),
        (
            {"face_manipulation": ("no_faces", None), "voice_analysis": ("undecided", 0.5)},
            "The voice stays undecided.",
        ),
    ],
)
def test_one_sentence_for_the_file_says_what_was_found_and_what_stays_open(
    scores: dict[str, tuple[str, float | None]], sentence: str
) -> None:
    results = {"face_manipulation": FaceResult, "voice_analysis": VoiceResult}
    outcomes = {}
    for task, (name, score) in scores.items():
        fields = {"class_name": "real" if name == "undecided" else name}
        if name == "fake":
            fields["class_probability"] = score
        outcomes[task] = Outcome(results[task].model_validate(fields), score, inconclusive=name == "undecided")
    assert Report(input="a.mp4", name="a.mp4", outcomes=outcomes).headline == sentence


@pytest.mark.parametrize(
    ("n", "inconclusive", "sentence"),
    [
        (1, True, "The face stays undecided."),
        (40, True, "The 40 faces stay undecided."),
        (40, False, "Nothing in the 40 faces points to a fake, which is no proof of authenticity."),
    ],
)
def test_the_sentence_for_the_file_counts_its_faces(n: int, inconclusive: bool, sentence: str) -> None:
    outcome = Outcome(FaceResult(class_name="real"), 0.3, inconclusive=inconclusive, n_subjects=n)
    assert Report(input="a.mp4", name="a.mp4", outcomes={"face_manipulation": outcome}).headline == sentence


def test_beside_a_claim_on_pixels_the_picture_is_not_said_to_point_to_nothing() -> None:
    claim = Claim(claim="A part was pasted in", explanation="It was.", type="pixels", user_category="editing", value=())
    lists = ClaimLists(critical=(), suspect=(claim,), benign=())
    outcomes = {
        "ai_generated_image_detection": Outcome(ImageResult(class_name="real"), 0.1),
        "forensic_analysis": dataclasses.replace(CLEAR, result=CLEAR.result.model_copy(update={"claim_lists": lists})),
    }
    assert Report("a.jpg", "a.jpg", kind="image", outcomes=outcomes).headline == (
        'The file calls for an explanation: "A part was pasted in"; nothing points to a picture made by a generator.'
    )


def test_a_picture_with_a_fake_face_is_not_said_to_point_to_nothing() -> None:
    outcomes = {
        "face_manipulation": Outcome(FaceResult(class_name="fake", class_probability=0.9), 0.9),
        "ai_generated_image_detection": Outcome(ImageResult(class_name="real"), 0.1),
    }
    assert Report("a.jpg", "a.jpg", kind="image", outcomes=outcomes).headline == (
        "Likely a manipulated or generated face (score 0.90); nothing points to a picture made by a generator."
    )


def test_claims_about_the_file_stand_in_its_sentence(report: Report) -> None:
    lists = report.outcomes["forensic_analysis"].result.claim_lists
    assert f'the file holds critical evidence: "{lists.critical[0].claim}"' in report.headline
    assert report.headline.startswith("Likely a manipulated or generated face")
    assert "fx-headline" in report.to_html()


CLEAR = Outcome(
    ForensicResult(
        claim_lists=ClaimLists(critical=(), suspect=(), benign=()),
        document_details=DocumentDetails(),
        red_flags={},
        trigger_values={},
    ),
    None,
)


@pytest.mark.parametrize(
    ("voice", "file", "sentence"),
    [
        ("fake", CLEAR, "Likely a synthetic voice (score 0.99); the file's own data show nothing suspect."),
        (
            "fake",
            dataclasses.replace(CLEAR, is_partial=True),
            "Likely a synthetic voice (score 0.99); what could be read of the file's own data shows nothing suspect.",
        ),
        ("real", CLEAR, "Nothing in the voice and the file points to a fake, which is no proof of authenticity."),
    ],
)
def test_a_file_in_which_a_fake_was_found_is_not_said_to_point_to_none(
    voice: str, file: Outcome, sentence: str
) -> None:
    result = VoiceResult.model_validate({"class_name": voice, "class_probability": 0.99 if voice == "fake" else None})
    outcomes = {"voice_analysis": Outcome(result, 0.99), "forensic_analysis": file}
    assert Report(input="a.wav", name="a.wav", outcomes=outcomes).headline == sentence


EDITING = Claim(claim="A box covers text", explanation="", type="versions", user_category="editing", value=())
SIGNATURE = Claim(claim="Added after signing", explanation="", type="signature", user_category="integrity", value=())
DATES = Claim(claim="The dates disagree", explanation="", type="dates", user_category="dates", value=())
VERSIONS = Claim(claim="There are 2 versions", explanation="", type="versions", user_category="versions", value=())
PROGRAM = Claim(claim="An editor is named", explanation="", type="software", user_category="editing", value=())


@pytest.mark.parametrize("n", range(4))
def test_the_sentence_names_the_claim_that_says_most(n: int) -> None:
    telling = (EDITING, SIGNATURE, DATES, VERSIONS)[n:]
    lists = ClaimLists(critical=(), suspect=(PROGRAM, *reversed(telling)), benign=())
    outcome = Outcome(
        ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={}), None
    )
    report = Report(input="a.pdf", name="a.pdf", outcomes={"forensic_analysis": outcome})
    said = (VERSIONS, PROGRAM) if n == 3 else (telling[0],)
    assert any(f'The file calls for an explanation: "{claim.claim}" and' in report.headline for claim in said)


def test_an_input_that_was_not_analysed_has_no_sentence(failed_report: Report) -> None:
    assert failed_report.headline == ""
