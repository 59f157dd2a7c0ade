"""Sections 1, 2.1 to 2.5, 3, 4.2, 7 and 8: tasks, what they take and what they answer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.service import specification as spec
from tests.service.conformance.live import Live, Rows, form, good, refused

rows = Rows()
KINDS = {"image": "picture.png", "video": "clip.mp4", "audio": "tone.wav", "pdf": "paper.pdf"}
UPLOAD_BYTES = spec.LIMITS["upload_mb"] * 1024**2


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback and give its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _operations(task: str) -> None:
    @rows.add("4.2", f"POST /tasks/{task}: report_id, success; the task is in a state of section 3")
    def _(live: Live) -> None:
        report_id = live.begin(task)
        report = live.poll(task, report_id)
        assert report["id"] == report_id and report["event_type"] == spec.EMITTED[task]

    @rows.add("2.1", f"GET /tasks/{task}/{{id}}: completed, with a result of its section; every answer valid")
    def _(live: Live) -> None:
        assert live.analysed(task)["status"] == "completed"

    @rows.add("4.2", f"{task}: what is left out means its default")
    def _(live: Live) -> None:
        names = {field.name for field in spec.INPUTS[task] if field.default is not None}
        defaults = {field.name: str(field.default).lower() for field in spec.INPUTS[task] if field.name in names}
        assert _content(live.analysed(task)) == _content(live.analysed(task, **defaults))

    @rows.add("4.2", f"{task}: a url in place of a file gives the same result")
    def _(live: Live) -> None:
        with serving(live.folder) as base:
            report = live.finish(task, live.create(task, url=f"{base}/{live.media(task).name}"))
        assert report["status"] == "completed", report
        assert report["result"].get("class_name") == live.analysed(task)["result"].get("class_name")

    @rows.add("4.2", f"{task}: decided: neither or both of file and url are 400")
    def _(live: Live) -> None:
        refused(live.ask("POST", f"/tasks/{task}", files=form(note="x")), 400)
        refused(live.ask("POST", f"/tasks/{task}", data={"explain": "true"}), 400)
        both = form(live.media(task), url="https://example.org/a.png")
        refused(live.ask("POST", f"/tasks/{task}", files=both), 400)
        file_first = dict(reversed(both.items()))
        refused(live.ask("POST", f"/tasks/{task}", files=file_first), 400)

    @rows.add("1", f"{task}: accepts {', '.join(sorted(spec.ACCEPTS[task]))}", thorough=True)
    def _(live: Live) -> None:
        for kind in sorted(spec.ACCEPTS[task]):
            live.create(task, live.made(KINDS[kind]))

    @rows.add("1", f"{task}: decided: media of another kind, and what is no medium, are 415")
    def _(live: Live) -> None:
        for name in (*(KINDS[kind] for kind in sorted(KINDS.keys() - spec.ACCEPTS[task])), "text.txt"):
            refused(live.ask("POST", f"/tasks/{task}", files=form(live.made(name))), 415)

    @rows.add("7", f"{task}: decided: an unknown id, another task's and another account's are 404")
    def _(live: Live) -> None:
        other = next(name for name in spec.TASKS if name != task)
        report_id = live.analysed(task)["id"]
        refused(live.ask("GET", f"/tasks/{task}/unknown"), 404)
        refused(live.ask("GET", f"/tasks/{other}/{report_id}"), 404)
        refused(live.ask("GET", f"/tasks/{task}/{report_id}", token=live.other_token), 404)


def _content(response: dict[str, object]) -> object:
    return {key: value for key, value in response.items() if key != "id"}


for _task in spec.TASKS:
    _operations(_task)


@rows.add("4.2", "voice_analysis: the form encoding that the sample uses")
def _(live: Live) -> None:
    with serving(live.folder) as base:
        fields = {"url": f"{base}/{live.media('voice_analysis').name}", "transcribe": "false"}
        body = good(live.ask("POST", "/tasks/voice_analysis", data=fields), spec.CREATED_TASK)
        report = live.finish("voice_analysis", body["report_id"])
    assert report["status"] == "completed" and "transcript" not in report["result"]


@rows.add("4.2", "voice_analysis: transcribe is true by default; false leaves transcripts out")
def _(live: Live) -> None:
    assert "transcript" in live.analysed("voice_analysis")["result"]
    report = live.analysed("voice_analysis", transcribe="false", explain="true")["result"]
    assert "transcript" not in report and all("transcript" not in s for s in report["explanation"])


@rows.add("2.4", "voice_analysis: explain brings speakers with segments and ten features")
def _(live: Live) -> None:
    assert "explanation" not in live.analysed("voice_analysis")["result"]
    speakers = live.analysed("voice_analysis", transcribe="false", explain="true")["result"]["explanation"]
    assert speakers
    for speaker in speakers:
        assert all(0 <= segment["start"] < segment["end"] for segment in speaker["segments"])
        assert set(speaker["audio_features"]) == set(spec.FEATURE_NAMES)


@rows.add("2.4", "decided: voice_analysis of silence is no_speech, without probability and speakers")
def _(live: Live) -> None:
    report = live.finish("voice_analysis", live.create("voice_analysis", live.made("silence.wav"), explain="true"))
    assert report["result"]["class_name"] == "no_speech"


@rows.add("2.3", "ai_generated_image_detection: a fake has probability and attributions; no map explains a mark")
def _(live: Live) -> None:
    plain = live.analysed("ai_generated_image_detection")["result"]
    explained = live.analysed("ai_generated_image_detection", explain="true")["result"]
    assert plain["class_name"] == explained["class_name"] == "fake"
    assert "explanation" not in plain
    assert "explanation" not in explained, "the mark decides and not the pixels, so that no region of them spoke for it"
    best = max(plain["model_attributions"], key=lambda a: a["probability"])
    assert plain["model_attribution"] == best["model"]
    assert plain["model_attribution_probability"] == best["probability"]


@rows.add("2.2", "face_manipulation: no face is no_faces, without explanation; the preview is there all the same")
def _(live: Live) -> None:
    report = live.analysed("face_manipulation", explain="true")
    assert report["result"] == {"class_name": "no_faces"}
    assert report["preview"].startswith("data:image/")


@rows.add("2.2", "face_manipulation: a real face carries neither probability nor explanation, and a preview")
def _(live: Live) -> None:
    report = live.finish("face_manipulation", live.create("face_manipulation", live.made("face.jpg")))
    assert report["result"] == {"class_name": "real"}
    assert report["preview"].startswith("data:image/")


@rows.add("2.1", "forensic_analysis: additional_info is echoed as it came")
def _(live: Live) -> None:
    text = 'claim 7, "late" – <b>é\u2028</b>'
    assert live.analysed("forensic_analysis", additional_info=text)["additional_info"] == text


@rows.add("2.5", "forensic_analysis: three claim lists, and the deprecated blocks agree on their keys")
def _(live: Live) -> None:
    report = live.finish("forensic_analysis", live.create("forensic_analysis", live.made("picture.png")))["result"]
    assert any("artificial" in claim["claim"] for claim in report["claim_lists"]["critical"])
    assert set(report["red_flags"]) == set(report["trigger_values"]) >= {"AI_GENERATED"}


@rows.add("3", "a finished task does not change")
def _(live: Live) -> None:
    report = live.analysed("forensic_analysis")
    assert all(live.poll("forensic_analysis", report["id"]) == report for _ in range(3))


@rows.add("7", "what fails on decoding is failed, with a sentence and without a result")
def _(live: Live) -> None:
    report = live.finish(
        "ai_generated_image_detection", live.create("ai_generated_image_detection", live.made("cut.png"))
    )
    assert report["status"] == "failed" and report["error"].strip() and "Traceback" not in report["error"]


@rows.add("8", "decided: a url that gives nothing fails the task; one of a private address is never fetched")
def _(live: Live) -> None:
    for url in ("http://127.0.0.1:9/a.png", "http://10.255.255.1/a.png", "http://169.254.169.254/latest"):
        answer = live.ask("POST", "/tasks/forensic_analysis", files=form(url=url))
        if answer.status_code == 400:
            refused(answer, 400)
        else:
            report_id = good(answer, spec.CREATED_TASK)["report_id"]
            assert live.finish("forensic_analysis", report_id)["status"] == "failed"


@rows.add("8", "32 MB are taken; more is 413, and nothing of it is kept")
def _(live: Live) -> None:
    path = live.folder / "large.pdf"
    head = live.made("paper.pdf").read_bytes()
    path.write_bytes(head + b"\0" * (UPLOAD_BYTES - len(head)))
    live.create("forensic_analysis", path)
    before = live.stored()
    path.write_bytes(head + b"\0" * (UPLOAD_BYTES + 1024**2 - len(head)))
    refused(live.ask("POST", "/tasks/forensic_analysis", files=form(path)), 413)
    assert set(live.stored()) <= set(before)


@rows.add("4.2", "decided: an unknown task is 404; a value that is no boolean is 400; a method that is not there 405")
def _(live: Live) -> None:
    refused(live.ask("POST", "/tasks/liveness_detection", files=form(live.made("picture.png"))), 404)
    refused(live.ask("GET", "/tasks/liveness_detection/x"), 404)
    refused(live.ask("POST", "/tasks/face_manipulation", files=form(live.made("picture.png"), explain="maybe")), 400)
    refused(live.ask("PUT", "/tasks/face_manipulation"), 405)
    refused(live.ask("GET", "/nowhere"), 404)


@rows.add("7", "decided: a body of another type is 415, and one that is cut off or malformed 400")
def _(live: Live) -> None:
    path = "/tasks/face_manipulation"
    refused(live.ask("POST", path, json={"url": "https://example.org/a.png"}), 415)
    headers = {"content-type": "multipart/form-data; boundary=x"}
    cut = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n\x89PNG\r\n\x1a\n'
    refused(live.ask("POST", path, content=cut, headers=headers), 400)
    refused(live.ask("POST", path, content=b"nonsense", headers=headers), 400)


def _format(kind: str, suffix: str) -> None:
    @rows.add("8", f"{kind} format {suffix}: analysed", thorough=True)
    def _(live: Live) -> None:
        report_id = live.create("forensic_analysis", live.made(f"format.{suffix}"))
        assert live.finish("forensic_analysis", report_id)["status"] == "completed"


for _kind, _suffixes in {**spec.FORMATS, "document": ("pdf",)}.items():
    for _suffix in _suffixes:
        _format(_kind, _suffix)
