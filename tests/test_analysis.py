"""analyze and analyze_many: what the user relies on, whichever task runs."""

import errno
import io
import json
import shutil
import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

import forensix
from forensix.errors import InputNotFound, UnsupportedMedia, UsageError, WeightsMissing
from forensix.evaluation.plan import choose_components
from forensix.media import Limits, Media, medium
from forensix.models import registry
from forensix.report.page import python_call
from forensix.schema import ImageResult
from forensix.tasks import Options, Outcome, catalogue, load_task, select_tasks, task_names
from forensix.tasks.forensic_analysis import ForensicAnalysis
from tests.making import write_image
from tests.report.parsed import Page

GENERATED = "ai_generated_image_detection"
TASKS = tuple(task.name for task in catalogue.SPECIFIED)


class Always:
    """A task that answers without looking, to see what surrounds it."""

    name = "always"
    accepts = frozenset({"image"})
    components = {"opinion": "none"}

    def run(self, media: Media, options: Options) -> Outcome:
        options.progress("looking", 0.5)
        chosen = options.components.get("opinion")
        if chosen == "broken":
            raise UnsupportedMedia("this cannot be looked at")
        if chosen == "defective":
            raise KeyError("a table lacks it")
        if chosen == "ends":
            raise SystemExit(4)
        if chosen == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        if chosen == "missing":
            raise WeightsMissing("its weights are not here")
        score = np.float32(0.5) if chosen == "of numpy" else 0.25
        return Outcome(ImageResult(class_name="real"), score=score)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    write_image(path)
    return path


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a task of another package."""
    added = EntryPoint("always", "tests.test_analysis:Always", "forensix.tasks")
    entries = catalogue.entries() | {"always": added}
    monkeypatch.setattr(catalogue, "entries", lambda: entries)


def test_the_call_that_repeats_a_report_says_what_was_handed_over_as_an_object(picture: Path, always: None) -> None:
    opinion = SimpleNamespace()
    by_path = forensix.analyze(picture, ["always"], opinion="kind")
    assert eval(python_call(by_path)).to_dict() == by_path.to_dict()
    given = picture.read_bytes()
    (by_object,) = forensix.analyze_many([given], ["always"], name="scan.png", opinion=opinion)
    call = python_call(by_object)
    assert eval(call, {"forensix": forensix, "INPUT": given, "OPINION": opinion}).to_dict() == by_object.to_dict()
    assert "OPINION and INPUT stand for the objects that were handed over." in Page(by_object.to_html()).text
    assert "handed over" not in by_path.to_html()


def test_the_call_that_repeats_a_report_says_how_the_input_was_opened(picture: Path, always: None) -> None:
    options: dict[str, Any] = {"limits": Limits(image_pixels=10**6), "name": "y.jpg", "batch_size": 3}
    options |= {"additional_info": "case 'x'", "private_hosts": ["nas"]}
    by_path = forensix.analyze(picture, ["always"], **options)
    (in_a_batch,) = forensix.analyze_many([picture], ["always"], executor="here", **options)
    assert by_path.settings == in_a_batch.settings
    assert by_path.settings["limits"] == {"image_pixels": 10**6}
    call = python_call(by_path)
    assert "limits=forensix.media.Limits(image_pixels=1000000)" in call and call in Page(by_path.to_html()).text
    again = eval(call)
    assert again.to_dict() == by_path.to_dict() and again.settings == by_path.settings
    sound = np.zeros(44_100, np.float32)
    heard = forensix.analyze(sound, ["voice_analysis"], sample_rate=44_100, transcribe=False)
    assert eval(python_call(heard), {"forensix": forensix, "INPUT": sound}).settings == heard.settings
    (heard_too,) = forensix.analyze_many([sound], ["voice_analysis"], sample_rate=44_100, transcribe=False)
    assert heard_too.settings == heard.settings
    plain = forensix.analyze(picture, ["always"], name=picture.name)
    assert plain.settings == {"tasks": ["always"], "explain": True, "transcribe": True}


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"explain": "no"}, "explain is True or False, not 'no'"),
        ({"transcribe": 0}, "transcribe is True or False"),
        ({"additional_info": 17}, "additional_info is text, not 17"),
        ({"name": Path("a.png")}, "name is text"),
        ({"limits": 3}, r"limits is a forensix.media.Limits"),
        ({"progress": "bar"}, "progress is True, False or a function"),
        ({"progress": 0}, "progress is True, False or a function"),
    ],
)
def test_an_option_of_another_type_is_refused_before_the_work(
    picture: Path, always: None, option: dict[str, object], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        forensix.analyze(picture, ["always"], **option)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=sentence):
        list(forensix.analyze_many([picture], ["always"], **option))


def test_where_to_run_is_an_option_of_many_inputs(picture: Path) -> None:
    with pytest.raises(UsageError, match="option of analyze_many"):
        forensix.analyze(picture, executor=2)


def test_the_specifications_tasks_come_first_and_accept_what_it_says() -> None:
    assert task_names()[:4] == TASKS
    assert {name: set(load_task(name).accepts) for name in TASKS} == {
        "face_manipulation": {"image", "video"},
        "ai_generated_image_detection": {"image", "video"},
        "voice_analysis": {"audio", "video"},
        "forensic_analysis": {"image", "video", "pdf", "audio"},
    }
    chosen, refused = select_tasks(None, SimpleNamespace(kind="pdf", written=None))  # type: ignore[arg-type]
    assert chosen == ("forensic_analysis",) and refused == {}


def test_a_pdf_loads_no_network(tmp_path: Path) -> None:
    from forensix.demo import make_document

    (path,) = make_document(tmp_path)
    code = f"import sys, forensix; forensix.analyze({str(path)!r}); print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


@pytest.mark.slow
def test_a_picture_is_judged_without_the_slow_packages_beside_torch(picture: Path) -> None:
    slow = ["torchvision", "timm", "facenet_pytorch", "scipy", "sklearn", "skimage", "pandas", "matplotlib", "av"]
    code = f"import sys, forensix; r = forensix.analyze({str(picture)!r}); assert not r.errors, r.errors"
    script = f"{code}; print([m for m in {slow!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_speech_is_judged_without_the_slow_half_of_scipy() -> None:
    slow = ["scipy.signal", "scipy.stats", "scipy.optimize"]
    script = f"import sys, forensix.tasks.voice_analysis; print([m for m in {slow!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


def test_the_file_is_examined_while_networks_run(picture: Path, always: None, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=60)
    for kind in (Always, ForensicAnalysis):
        run = kind.run
        monkeypatch.setattr(kind, "run", lambda *given, run=run: (both.wait(), run(*given))[1])
    report = forensix.analyze(picture, ["always", "forensic_analysis"])
    assert report.errors == {}
    assert list(report.verdicts) == ["always", "forensic_analysis"]


def test_a_picture_is_decoded_once_for_all_tasks(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, call = [], medium.call
    monkeypatch.setattr(
        medium, "call", lambda target, *given, **limits: (calls.append(target), call(target, *given, **limits))[1]
    )
    assert forensix.analyze(picture).errors == {}
    assert calls == ["forensix.media.images:decode"]


def test_a_task_of_another_package_runs_like_the_others(picture: Path, always: None) -> None:
    observed = []
    report = forensix.analyze(picture, ["always"], progress=lambda *update: observed.append(update))
    assert report.scores == {"always": 0.25}
    assert report.to_wire("always")["result"] == {"class_name": "real"}
    assert observed == [("always", "looking", 0.5)]


def test_a_score_of_numpy_is_a_number_in_json(picture: Path, always: None) -> None:
    report = forensix.analyze(picture, ["always"], opinion="of numpy")
    assert json.loads(report.to_json())["scores"] == {"always": 0.5}


def test_one_task_that_fails_leaves_the_others(picture: Path, always: None) -> None:
    report = forensix.analyze(picture, ["forensic_analysis", "always"], opinion="broken")
    assert report.errors == {"always": "this cannot be looked at"}
    assert report.to_wire("always")["status"] == "failed"
    assert report.to_wire("forensic_analysis")["status"] == "completed"
    assert report.failed


def test_one_task_that_breaks_down_leaves_the_others(picture: Path, always: None) -> None:
    report = forensix.analyze(picture, ["always", "forensic_analysis"], opinion="defective")
    sentence = (
        "picture.png broke down, which is an error of the program and not of the file: KeyError in test_analysis.py"
    )
    assert sentence in report.errors["always"] and "a table lacks it" in report.errors["always"]
    assert report.codes == {"always": "internal"} and report.failed
    assert report.verdicts["forensic_analysis"] != "failed"
    assert 'raise KeyError("a table lacks it")' in report.tracebacks["always"]


class Reader:
    """Reads no watermark as it should."""

    def __init__(self, given: object = None) -> None:
        self.given = given

    def read(self, rgb: np.ndarray) -> object:
        if self.given is None:
            raise KeyError("a table lacks it")
        return self.given


@pytest.mark.parametrize("by_name", [False, True])
def test_a_component_of_the_callers_own_that_breaks_down_is_named(
    picture: Path, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    entry = EntryPoint("mine", "tests.test_analysis:Reader", "forensix.watermark")
    monkeypatch.setattr(registry, "_entries", lambda slot: {"mine": entry} if slot == "watermark" else {})
    report = forensix.analyze(picture, [GENERATED, "forensic_analysis"], watermark="mine" if by_name else Reader())
    assert report.errors[GENERATED].startswith(
        "the analysis of picture.png broke down in the watermark component Reader: KeyError in test_analysis.py, line "
    )
    assert "a table lacks it" in report.errors[GENERATED] and report.codes == {GENERATED: "internal"}
    assert report.verdicts["forensic_analysis"] != "failed"


@pytest.mark.parametrize("given", [float("nan"), "junk", np.ones((3, 7))])
def test_a_component_of_the_callers_own_that_gives_something_else_is_named(picture: Path, given: object) -> None:
    report = forensix.analyze(picture, [GENERATED, "forensic_analysis"], watermark=Reader(given))
    assert "broke down, maybe over what it was given by the watermark component Reader: " in report.errors[GENERATED]
    assert report.verdicts["forensic_analysis"] != "failed"


def test_a_task_that_would_end_the_program_breaks_down_alone(picture: Path, always: None) -> None:
    report = forensix.analyze(picture, ["always"], opinion="ends")
    assert "SystemExit in test_analysis.py" in report.errors["always"] and report.codes == {"always": "internal"}


@pytest.mark.parametrize(("opinion", "error"), [("full", OSError), ("missing", WeightsMissing)])
def test_what_would_fail_for_every_input_is_raised(
    picture: Path, always: None, opinion: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        forensix.analyze(picture, ["always", "forensic_analysis"], opinion=opinion)
    with pytest.raises(error):
        list(forensix.analyze_many([picture] * 2, ["always"], executor="here", opinion=opinion))


def test_who_is_told_of_progress_may_end_the_analysis(picture: Path, always: None) -> None:
    class Enough(Exception):
        pass

    def tell(*_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        forensix.analyze(picture, ["always", "forensic_analysis"], progress=tell)
    with pytest.raises(Enough):
        next(forensix.analyze_many([picture] * 2, ["always"], executor="here", progress=tell))


def test_a_component_is_named_by_its_cards_path_as_well(picture: Path, tmp_path: Path, monkeypatch) -> None:
    """A folder as `forensix.train` leaves it, named from within its parent too."""
    (tmp_path / "mine").mkdir()
    for file in (Path(forensix.__file__).parent / "models" / "weights").glob("forensix-image.*"):
        shutil.copy(file, tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    task, folder = "ai_generated_image_detection", Path("mine")
    expected = forensix.analyze(picture, [task], explain=False).scores
    report = forensix.analyze(picture, [task], explain=False, image_detector=folder)
    assert report.scores == expected and report.settings["image_detector"] == "./mine"
    many = forensix.analyze_many([picture], [task], explain=False, image_detector=folder.resolve(), executor="here")
    assert [report.scores for report in many] == [expected]
    assert list(choose_components(load_task(task), "image_detector", [folder])) == ["forensix-image"]


def test_wrong_calls_stop_before_the_first_input(picture: Path) -> None:
    with pytest.raises(UsageError, match="no task named 'nonesuch'"):
        forensix.analyze_many([picture], ["nonesuch"])
    with pytest.raises(UsageError, match="no task has a component 'spoofs'"):
        forensix.analyze_many([picture], spoofs="aasist")
    with pytest.raises(UsageError, match="list of names"):
        forensix.analyze(picture, "voice_analysis")
    with pytest.raises(UsageError, match="tasks names none: leave it out for all that fit, or name some of face_mani"):
        forensix.analyze(picture, tasks=[])
    with pytest.raises(UsageError, match="no option 'task': did you mean 'tasks'"):
        forensix.analyze(picture, task="voice_analysis")
    with pytest.raises(UsageError, match="evaluate: analyze takes it by its slot, as in image_detector='univfd'"):
        forensix.analyze(picture, component="univfd")
    with pytest.raises(UsageError, match="analyze takes it by its slot, as in spoof='aasist'"):
        forensix.analyze_many([picture], component="nonesuch")
    for call in (forensix.analyze, lambda one, **more: forensix.analyze_many([one], **more)):
        with pytest.raises(UsageError, match="there is no device 'gpu': name 'auto', 'cpu', 'cuda'"):
            call(picture, device="gpu")
        with pytest.raises(UsageError, match="no device 'meta' that torch can compute on"):
            call(picture, device="meta")
        with pytest.raises(UsageError, match="batch_size is a whole number from 1 up, not 0"):
            call(picture, batch_size=0)


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"image_detector": object()}, "image_detector is a name or an object with the method score; this object has"),
        ({"diarisation": None}, "diarisation is a name or an object with the method diarise; this NoneType has none"),
        ({"spoof": dict}, r"spoof is a name or an object, and dict is a class: write dict\(\)"),
    ],
)
def test_an_object_that_cannot_fill_its_slot_is_refused_before_any_work(
    chosen: dict[str, object], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        forensix.analyze("nowhere.jpg", **chosen)
    with pytest.raises(UsageError, match=sentence):
        next(iter(forensix.analyze_many(["nowhere.jpg"], **chosen)))


def test_a_task_that_does_not_take_this_medium_says_what_it_takes(picture: Path) -> None:
    with pytest.raises(UnsupportedMedia, match=r"voice_analysis analyses audio, video; \S+ is image"):
        forensix.analyze(picture, ["voice_analysis"])


def test_a_task_that_does_not_take_this_medium_leaves_the_others(picture: Path) -> None:
    report = forensix.analyze(picture, ["voice_analysis", "forensic_analysis"])
    assert report.to_wire("forensic_analysis")["status"] == "completed"
    assert report.errors == {"voice_analysis": "voice_analysis analyses audio, video; picture.png is image"}
    assert report.codes == {"voice_analysis": "unsupported_media"} and report.failed


@pytest.mark.parametrize("many", [False, True])
def test_a_bar_is_drawn_where_it_is_asked_for(
    picture: Path, always: None, capsys: pytest.CaptureFixture[str], many: bool
) -> None:
    for progress, drawn in ((True, True), (None, False), (False, False)):
        if many:
            list(forensix.analyze_many([picture], ["always"], progress=progress))
        else:
            forensix.analyze(picture, ["always"], progress=progress)
        assert ("always: looking" in capsys.readouterr().err) == drawn


def test_in_a_notebook_a_bar_comes_and_goes(picture: Path, always: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from forensix import progress

    output: list[object] = []

    class Handle:
        def update(self, what: object, raw: bool = False) -> None:
            output.append(what)

    monkeypatch.setattr(progress, "_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda first, **_: output.append(first) or Handle())
    forensix.analyze(picture, ["always"])
    assert "always: looking" in output[1].data and output[-1] == {"text/plain": ""}  # type: ignore[attr-defined]
    output.clear()
    forensix.analyze(picture, ["always"], progress=False)
    assert output == []


def test_analyze_raises_and_analyze_many_reports(tmp_path: Path, picture: Path) -> None:
    absent = tmp_path / "absent.png"
    with pytest.raises(InputNotFound):
        forensix.analyze(absent)
    bad, good = forensix.analyze_many([absent, picture], ["forensic_analysis"])
    assert "absent.png" in bad.error
    assert bad.failed
    assert not good.failed


def test_bytes_are_analysed_like_the_file(picture: Path) -> None:
    by_path = forensix.analyze(picture, ["forensic_analysis"])
    by_bytes = forensix.analyze(picture.read_bytes(), ["forensic_analysis"], name="picture.png")
    assert by_bytes.sha256 == by_path.sha256
    assert by_bytes.to_wire("forensic_analysis") == by_path.to_wire("forensic_analysis")


def test_a_picture_in_memory_is_analysed_like_the_file_that_holds_it(picture: Path) -> None:
    task = "ai_generated_image_detection"
    with Image.open(picture) as opened, picture.open("rb") as file:
        rgb = np.asarray(opened.convert("RGB"))
        sources = [picture, opened, rgb, file, io.BytesIO(picture.read_bytes())]
        reports = list(forensix.analyze_many(sources, [task], explain=False, executor="here"))
    assert len({report.scores[task] for report in reports}) == 1
    assert [report.input for report in reports] == [
        str(picture),
        "picture",
        "picture",
        "picture.png",
        "the file object",
    ]
    assert reports[3].sha256 == reports[4].sha256 == reports[0].sha256


def test_no_claim_is_made_of_a_file_that_forensix_wrote_itself_unless_it_is_asked_for(picture: Path) -> None:
    with Image.open(picture) as opened:
        opened.load()
    report = forensix.analyze(opened, explain=False)
    assert "forensic_analysis" not in report.tasks and "face_manipulation" in report.tasks
    assert any("not a file: forensic_analysis was left out" in text for text in report.warnings)
    asked = forensix.analyze(opened, ["forensic_analysis"], explain=False)
    assert asked.tasks == ("forensic_analysis",)
    assert any("forensix wrote the png file that forensic_analysis examined" in text for text in asked.warnings)
    assert not forensix.analyze(picture, ["forensic_analysis"], explain=False).warnings


@pytest.mark.slow
def test_sound_in_memory_is_analysed_like_the_file_that_holds_it(tmp_path: Path) -> None:
    from forensix.demo import make_recording

    (path,) = make_recording(tmp_path)
    rate_hz, samples = wavfile.read(path)
    stereo = np.stack([samples, samples], axis=1).astype(np.float64) / 32768
    by_path = forensix.analyze(path, ["voice_analysis"], explain=False)
    for array in (samples, stereo):
        report = forensix.analyze(array, explain=False, sample_rate=rate_hz, name="call 7")
        assert report.tasks == ("voice_analysis",) and report.name == "call 7"
        assert report.scores["voice_analysis"] == pytest.approx(by_path.scores["voice_analysis"], abs=0.01)


def test_what_cannot_be_taken_gets_its_sentence_and_the_others_their_reports(picture: Path) -> None:
    sources = [np.zeros((8, 8, 3)), io.StringIO("text"), picture, np.full((64, 64), 128, np.uint8)]
    reports = list(forensix.analyze_many(sources, ["forensic_analysis"], explain=False, executor=2))
    assert [report.input for report in reports] == ["input 1", "input 2", str(picture), "picture"]
    assert "float64" in str(reports[0].error) and "mode 'rb'" in str(reports[1].error)
    assert not reports[2].failed and not reports[3].failed


def test_additional_info_is_echoed_by_the_forensic_task_only(picture: Path) -> None:
    report = forensix.analyze(picture, ["forensic_analysis", "face_manipulation"], additional_info="case 7")
    assert report.to_wire("forensic_analysis")["additional_info"] == "case 7"
    assert "additional_info" not in report.to_wire("face_manipulation")


def test_a_report_holds_what_is_needed_to_repeat_it(picture: Path) -> None:
    report = forensix.analyze(picture, ["forensic_analysis"], explain=False)
    assert report.settings["explain"] is False
    assert report.versions["forensix"]
    assert report.timings_s["forensic_analysis"] > 0
    assert len(report.sha256) == 64
