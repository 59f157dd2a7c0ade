"""Fetching weights: whole and right or not at all, what was there stays, and every refusal is one sentence."""

import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensix.cli import main
from forensix.errors import UsageError, WeightsMismatch, WeightsMissing
from forensix.models import ModelCard, Output, checked_weights, pull_model, store
from forensix.models.card import WeightsFile

RIGHT = hashlib.sha256(b"weights").hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Authorization", ""))
        status = int(self.path.split("/")[1])
        self.send_response(status)
        self.end_headers()
        if status == 200:
            self.wfile.write(self.path.split("/")[2].encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what writes a card, which alone is known; the cache is empty."""
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FORENSIX_CHECKPOINTS", raising=False)

    def write(url: str, **changes: Any) -> None:
        record = {
            "name": "published", "component": "spoof", "summary": "a line", "architecture": "linear",
            "output": Output(labels=("fake",), fake=0), "limits": "all", "licence": "MIT", "weights": "w.pth",
            "url": url, "sha256": RIGHT,
        } | changes  # fmt: skip
        store.write_card(ModelCard(**record), tmp_path)

    store._cards.cache_clear()
    yield write
    store._cards.cache_clear()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(401, "asks for a token: .* set HF_TOKEN"), (403, "asks for a token"), (404, "is not there any more"),
     (503, "it answers 503")],
)  # fmt: skip
def test_an_address_that_refuses_says_why(card: Any, server: str, status: int, sentence: str) -> None:
    card(f"{server}/{status}/x")
    with pytest.raises(WeightsMissing, match=sentence):
        pull_model("published")


def test_no_network_is_one_sentence(card: Any) -> None:
    card("http://127.0.0.1:9/x")
    with pytest.raises(WeightsMissing, match="could not be fetched"):
        pull_model("published")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_fills_up_leaves_nothing_and_what_was_there_stays(card: Any, server: str) -> None:
    card(f"{server}/200/weights")
    path = pull_model("published")
    card(f"{server}/200/others", sha256=hashlib.sha256(b"others").hexdigest())
    path.with_name(f"w.pth.{os.getpid()}.partial").symlink_to("/dev/full")
    with pytest.raises(WeightsMissing, match=r"could not be written to .*No space left on device"):
        pull_model("published")
    assert [item.name for item in path.parent.iterdir()] == ["w.pth"] and path.read_bytes() == b"weights"


def test_another_file_is_refused_and_what_was_there_stays(card: Any, server: str) -> None:
    card(f"{server}/200/weights")
    path = pull_model("published")
    card(f"{server}/200/forged", sha256="0" * 64)
    with pytest.raises(WeightsMismatch, match="is not the file that the card"):
        pull_model("published")
    assert path.read_bytes() == b"weights"


@pytest.mark.parametrize(("who", "sentence"), [("others", "only third parties tell"), ("nobody", "nobody tells")])
def test_a_hash_that_the_publisher_does_not_tell_is_asked_about_once(
    card: Any, server: str, who: str, sentence: str
) -> None:
    card(f"{server}/200/weights", hash_from=who, sha256="" if who == "nobody" else RIGHT)
    with pytest.raises(UsageError, match=rf"{sentence} the hash of w\.pth .* pull published --yes"):
        pull_model("published")
    path = pull_model("published", yes=True)
    assert pull_model("published") == path == checked_weights("published")
    path.write_bytes(b"changed")
    with pytest.raises(WeightsMismatch, match="delete it and fetch it again"):
        checked_weights("published")


def test_a_person_at_a_terminal_is_asked(
    card: Any, server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card(f"{server}/200/weights", hash_from="others")
    answers = iter(("\n", "y\n"))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True, readline=lambda: next(answers)))
    for status, printed in ((1, ""), (0, "w.pth\n")):
        with pytest.raises(SystemExit) as ended:
            main(["models", "pull", "published"])
        fields = capsys.readouterr()
        assert ended.value.code == status and fields.out.endswith(printed) and bool(fields.out) == bool(printed)
        assert "only third parties tell the hash" in fields.err
    assert Path(fields.out.strip()).read_bytes() == b"weights"


def test_a_folder_may_hold_what_several_models_share_by_another_name(
    card: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card("http://127.0.0.1:9/x")
    for name, content in (("another", b"other weights"), ("family", b"weights")):
        (tmp_path / "kept" / name).mkdir(parents=True)
        (tmp_path / "kept" / name / "w.pth").write_bytes(content)
    monkeypatch.setenv("FORENSIX_CHECKPOINTS", str(tmp_path / "kept"))
    assert checked_weights("published") == tmp_path / "kept" / "family" / "w.pth"
    (tmp_path / "kept" / "family" / "w.pth").write_bytes(b"changed")
    with pytest.raises(WeightsMissing):
        checked_weights("published")


def test_a_head_comes_with_what_it_sits_on(card: Any, server: str) -> None:
    base = WeightsFile(weights="base.pth", url=f"{server}/200/base", sha256=hashlib.sha256(b"base").hexdigest())
    card(f"{server}/200/weights", base=base)
    pull_model("published")
    assert [path.read_bytes() for path in store.checked_files("published")] == [b"weights", b"base"]


def test_a_token_goes_to_the_hub_alone(card: Any, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    card(f"{server}/200/weights")
    Handler.asked.clear()
    pull_model("published")
    assert Handler.asked == [""]
