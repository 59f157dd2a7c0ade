"""The terminal: readable without colour, and no string from a file steers it."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from forensix.report import Report, print_report, words
from forensix.schema import AudioFeatures, OtherResult
from forensix.tasks.evidence import Bound, Bounds, Outcome, Table
from tests.report.samples import image_outcome, voice_outcome


def printed(report: Report, encoding: str = "utf-8", width: int = 80, **options: object) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    print_report(report, Console(file=stream, width=width, **options))  # type: ignore[arg-type]
    stream.flush()
    raw = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return str(raw.decode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_piped_output_is_plain_and_80_wide(report: Report, encoding: str) -> None:
    text = printed(report, encoding)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b]", text)
    assert max(len(line) for line in text.splitlines()) <= 80


def test_verdicts_with_their_evidence_are_there(report: Report) -> None:
    text = " ".join(line.strip("│ ") for line in printed(report).splitlines())
    for expected in (
        "Face manipulation: ▲ Looks manipulated",
        "score 0.87  looks untouched ─",
        "looks manipulated from 0.61 on",
        "face swap",
        "limits of face-model",
        "[U+001B]",
        "[U+202E]",
        "[bold]x[/bold]",
        "and 14 more values",
        "(editing / software)",
        "pictures of evidence (shown by --html)",
        "10 of 10 out of bounds",
        "1 of 2 out of bounds",
        "✕ Failed",
        "ab" * 32,
    ):
        assert expected in text, expected


def test_a_verdict_that_means_nothing_more_has_no_brackets() -> None:
    outcome = Outcome(OtherResult(), None)
    text = printed(Report(input="a", name="a", outcomes={"other": outcome}))
    assert "Other: ○ Done" in text and "()" not in text


def test_one_sentence_for_the_file_stands_on_top(report: Report, real_report: Report) -> None:
    assert "Likely a manipulated or generated face" in printed(report).splitlines()[1]
    assert real_report.headline in printed(real_report).splitlines()[1]


def test_a_table_that_a_narrow_terminal_would_break_is_told_in_lines() -> None:
    columns = ("speaker", "verdict", "score", "gender", "speech")
    table = Table("Speakers", columns, (("speaker_1", "real", "0.10", "female (0.99)", "12.0 s"),))
    outcome = Outcome(OtherResult(), None, evidence=(table,))
    report = Report(input="a", name="a", outcomes={"other": outcome})
    lines = [line.strip("│ ") for line in printed(report, width=40).splitlines()]
    at = lines.index("Speakers")
    told = ["speaker: speaker_1", "verdict: real", "score: 0.10", "gender: female (0.99)", "speech: 12.0 s"]
    assert lines[at + 1 : at + 6] == told
    assert any(line.strip("│ ").split() == [*columns] for line in printed(report, width=80).splitlines())


def test_what_was_supplied_with_the_request_is_told(real_report: Report) -> None:
    report = replace(real_report, additional_info="found on\x1b[31m a phone")
    assert "supplied with the request: found on[U+001B][31m a phone" in printed(report)
    assert "supplied" not in printed(real_report)


def test_ascii_output_keeps_verdict_and_scale(report: Report) -> None:
    text = printed(report, "ascii")
    assert "Face manipulation: !! Looks manipulated" in text and "x Failed" in text
    (drawn,) = re.findall("score 0.87 +looks untouched ([-.|O]+) looks manipulated", text)
    assert abs((drawn.index("O") + 0.5) / len(drawn) - 0.87) < 0.04


def test_a_score_in_the_band_is_inconclusive(report: Report) -> None:
    models = ({**report.models[0], "inconclusive": (0.5, 0.9)},)
    outcome = replace(report.outcomes["face_manipulation"], inconclusive=True)
    text = printed(Report(input="a", name="a", outcomes={"face_manipulation": outcome}, models=models), "ascii")
    assert "Face manipulation: ? Inconclusive" in text and "inconclusive between 0.50 and 0.90" in text
    (drawn,) = re.findall("looks untouched ([-.O]+) looks manipulated", text)
    n = len(drawn)
    assert set(drawn[: n // 2]) == {"-"} and set(drawn[n // 2 : round(0.9 * n)]) == {".", "O"} and drawn[-1] == "-"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_scale_stays_on_one_line(report: Report, width: int) -> None:
    outcome = replace(report.outcomes["face_manipulation"], score=0.9975)
    text = printed(Report(input="a", name="a", outcomes={"face_manipulation": outcome}), width=width)
    assert re.search("score 0.9975  looks untouched [─│●]{4,26} looks manipulated", text)


def test_a_narrow_terminal_shows_what_the_ends_mean_below_the_scale(report: Report) -> None:
    outcome = replace(report.outcomes["face_manipulation"], score=0.9975)
    text = printed(Report(input="a", name="a", outcomes={"face_manipulation": outcome}), width=40)
    assert re.search("score 0.9975  0 [─│●]{4,26} 1 ", text)
    assert "0: looks untouched, 1: looks" in text


def test_a_long_cell_does_not_fill_the_screen() -> None:
    rows = (("seed", '{"steps": 20} ' * 60),)
    outcome = replace(image_outcome(), evidence=(Table("Facts", ("fact", "value"), rows),))
    text = printed(Report(input="a", name="a", outcomes={"ai_generated_image_detection": outcome}))
    assert 0 < text.count("steps") < 10


def test_colour_is_only_for_terminals(report: Report) -> None:
    assert "\x1b[" in printed(report, force_terminal=True, color_system="standard")
    hostile = printed(report, force_terminal=True, color_system=None)
    assert "\x1b" not in hostile and "\x07" not in hostile


def test_empty_and_failed_reports(failed_report: Report) -> None:
    assert "No analysis was run" in printed(Report(input="a", name="a"))
    assert "Not analysed: this is no picture" in printed(failed_report)


def test_a_table_without_rows_has_no_title_and_one_bound_no_plural() -> None:
    lone = Bounds("Detail", (Bound("detail", "dB", 1.0, 0.0, 2.0, -1.0, 3.0, 1.0, 50, False),))
    outcome = replace(image_outcome(), evidence=(Table("Faces", ("lane", "time"), ()), lone))
    text = printed(Report(input="a", name="a", outcomes={"ai_generated_image_detection": outcome}))
    assert "Faces" not in text and "Detail: the one measured lies within bounds" in text


def test_what_is_unusual_of_a_voice_is_explained_once_and_said_to_move_no_score() -> None:
    outcome = voice_outcome()
    (speaker,) = outcome.result.explanation
    two = (speaker, speaker.model_copy(update={"speaker": "another"}))
    outcome = replace(outcome, result=outcome.result.model_copy(update={"explanation": two}))
    report = Report(input="a", name="a", outcomes={"voice_analysis": outcome})
    text = " ".join(line.strip("│ ") for line in printed(report).splitlines())
    for name in AudioFeatures.model_fields:
        assert name == "background_noise" or name.replace("_", " ") in words.ABOUT_FEATURES
    for drawn in (text, report.to_html()):
        assert drawn.count("it moves no score and makes no voice synthetic") == 1
        assert "in semitones (st)" in drawn


@pytest.mark.parametrize("inconclusive", [False, True])
def test_an_undecided_picture_has_no_generator_and_no_heat_map(inconclusive: bool) -> None:
    outcome = replace(image_outcome(), inconclusive=inconclusive)
    report = Report(input="a", name="a", outcomes={"ai_generated_image_detection": outcome})
    assert ("some-generator" in printed(report)) is not inconclusive
    html = report.to_html()
    assert ("some-generator" in html) is not inconclusive and ("Heat map" in html) is not inconclusive
