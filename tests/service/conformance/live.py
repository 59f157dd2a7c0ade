"""What the checks of a live service share: two accounts, media made on the spot, and what was asked before."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests import making
from tests.service import specification as spec
from tests.service.running import Receiver, Service, receiving, wait_until

Json = dict[str, Any]
ANALYSIS_S = 120.0
GENERATOR = "a castle\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 320x240, Model: sd_xl_base_1.0"


@dataclass(frozen=True)
class Row:
    """A rule of the specification, or a decision where it is silent, and what checks it."""

    section: str
    rule: str
    check: Callable[["Live"], None]
    thorough: bool = False
    """Of many of a kind: the benchmark runs it, the tests do not."""


class Rows(list[Row]):
    """Checks in the order in which they are written."""

    def add(
        self, section: str, rule: str, *, thorough: bool = False
    ) -> Callable[[Callable[["Live"], None]], Callable[["Live"], None]]:
        """Return a decorator that adds a check."""

        def register(check: Callable[["Live"], None]) -> Callable[["Live"], None]:
            self.append(Row(section, rule, check, thorough))
            return check

        return register


@dataclass
class Live:
    """A service that runs, as its clients see it; ``folder`` is for media."""

    service: Service
    receiver: Receiver
    folder: Path
    http: httpx.Client
    created: dict[str, str] = field(default_factory=dict)
    finished: dict[str, Json] = field(default_factory=dict)

    @cached_property
    def anna(self) -> tuple[str, str]:
        return self.service.account("anna")

    @cached_property
    def ben(self) -> tuple[str, str]:
        return self.service.account("ben")

    @cached_property
    def token(self) -> str:
        """A token of anna's."""
        return self.service.token(self.anna)

    @cached_property
    def other_token(self) -> str:
        """A token of ben's."""
        return self.service.token(self.ben)

    @cached_property
    def hooked(self) -> tuple[str, str]:
        """Token and webhook secret of an account without tasks that still look for a webhook."""
        auth = self.service.account("dora")
        fields = self.service.command("account", "secret", auth[0]).split()
        return self.service.token(auth), next(word for word in fields if word.startswith("whsec_"))

    @cached_property
    def document(self) -> Json:
        """The served OpenAPI document."""
        return dict(self.http.get("/openapi.json").raise_for_status().json())

    def ask(self, method: str, path: str, *, token: str | None = None, **content: Any) -> httpx.Response:
        """Send a request with anna's bearer token, or another; ``auth`` replaces it."""
        if "auth" not in content:
            content["headers"] = {"Authorization": f"Bearer {token or self.token}", **content.get("headers", {})}
        return self.http.request(method, path, **content)

    def create(self, task: str, file: Path | None = None, *, token: str | None = None, **fields: str) -> str:
        """Create a task in the order that clients in the field use, options before the file; return its id."""
        answer = self.ask("POST", f"/tasks/{task}", token=token, files=form(file, **fields))
        return str(good(answer, spec.CREATED_TASK)["report_id"])

    def poll(self, task: str, report_id: str, *, token: str | None = None) -> Json:
        """Return a task as it stands, checked against the specification."""
        return good(self.ask("GET", f"/tasks/{task}/{report_id}", token=token), spec.task_report(task))

    def finish(self, task: str, report_id: str, *, token: str | None = None) -> Json:
        """Return a task once it is finished; every answer on the way is checked."""
        actual: Json = {}

        def done() -> bool:
            actual.update(self.poll(task, report_id, token=token))
            return actual["status"] != "in_progress"

        wait_until(done, ANALYSIS_S, f"{task} to finish", every_s=0.1)
        return actual

    def analysed(self, task: str, **fields: str) -> Json:
        """Return the finished task on the medium of `media`, of the first time it was asked for."""
        key = json.dumps([task, fields])
        if key not in self.finished:
            self.finished[key] = self.finish(task, self.created.pop(key, "") or self.begin(task, **fields))
        return self.finished[key]

    def begin(self, task: str, **fields: str) -> str:
        """Create the task that `analysed` waits for, and return its id."""
        key = json.dumps([task, fields])
        self.created[key] = self.create(task, self.media(task), **fields)
        return self.created[key]

    def media(self, task: str) -> Path:
        """Return a small medium of a kind that a task takes; the picture carries a generator's parameters."""
        name = {"voice_analysis": "speech.wav", "forensic_analysis": "paper.pdf"}.get(task, "picture.png")
        return self.made(name)

    def made(self, name: str) -> Path:
        """Return a medium by its file name, made the first time."""
        path = self.folder / name
        if not path.exists():
            _make(path)
        return path

    def stored(self) -> list[Path]:
        """Return what lies in the service's storage."""
        return sorted(path for path in (self.service.home / "files").rglob("*") if path.is_file())


@contextmanager
def living(service: Service, folder: Path) -> Iterator[Live]:
    """Return what the checks need for as long as the block goes on."""
    with receiving() as receiver, httpx.Client(base_url=service.base_url, timeout=60) as http:
        yield Live(service, receiver, folder, http)


def form(file: Path | None = None, **fields: str) -> dict[str, Any]:
    """Return the parts of a multipart form, the file last."""
    parts: dict[str, Any] = {name: (None, value) for name, value in fields.items()}
    return parts | ({"file": (file.name, file.read_bytes())} if file else {})


def good(answer: httpx.Response, schema: Json) -> Json:
    """Check that an answer is 200 with an object of a schema, and return the object."""
    assert answer.status_code == 200, f"status {answer.status_code}: {answer.text[:300]}"
    assert answer.headers["content-type"].partition(";")[0] == "application/json"
    actual = answer.json()
    jsonschema.validate(actual, schema, jsonschema.Draft202012Validator)
    return dict(actual)


def refused(answer: httpx.Response, status: int, *codes: str) -> Json:
    """Check that an answer refuses with a status, in the shape that refusals have, and return its object."""
    assert answer.status_code == status, f"status {answer.status_code}, not {status}: {answer.text[:300]}"
    assert answer.headers["content-type"].partition(";")[0] == "application/json"
    actual = dict(answer.json())
    jsonschema.validate(actual, spec.REJECTED)
    assert actual["error"].strip() and "\n" not in actual["error"]
    assert not codes or actual["code"] in codes, actual
    if status == 401:
        assert answer.headers["www-authenticate"].split()[0] in {"Basic", "Bearer"}
    if status in {429, 503}:
        assert int(answer.headers["retry-after"]) > 0
    return actual


def stays(check: Callable[[], bool], seconds: float) -> bool:
    """Return whether a condition holds for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not check():
            return False
        time.sleep(0.05)
    return True


def _make(path: Path) -> None:
    if path.name == "speech.wav":
        from scipy.io import wavfile

        from forensix.demo import RATE_HZ, synthesise

        wavfile.write(path, RATE_HZ, synthesise("This voice was never recorded. A program made it."))
    elif path.name == "face.jpg":
        from matplotlib import cbook

        with cbook.get_sample_data("grace_hopper.jpg", asfileobj=True) as file:
            Image.open(file).convert("RGB").save(path)
    elif path.name == "picture.png":
        info = PngInfo()
        info.add_text("parameters", GENERATOR)
        making.write_image(path, pnginfo=info)
    elif path.name == "silence.wav":
        making.write_audio(path, np.zeros(16_000, np.int16))
    elif path.name == "cut.png":
        complete = path.with_name("whole.png")
        making.write_image(complete)
        path.write_bytes(complete.read_bytes()[: complete.stat().st_size // 2])
    elif path.name == "text.txt":
        path.write_text("not a medium\n" * 100)
    elif path.suffix == ".pdf":
        making.write_pdf(path)
    elif path.suffix == ".3gpp":
        making.write_video(path, 10, container="3gp")
    elif path.suffix[1:] in making.VIDEO_CODECS:
        making.write_video(path, 10)
    elif path.suffix[1:] in {*making.AUDIO_CODECS, "pcm"}:
        making.write_audio(path)
    else:
        making.write_image(path)
