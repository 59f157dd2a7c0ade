"""Manifests whose rows are links: downloaded once, by the same rules as a link that is analysed."""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from forensix import Manifest, evaluate
from forensix.errors import UsageError
from forensix.explorer.looking import place_of
from forensix.importers.links import located
from forensix.media import Limits
from tests.evaluation.detectors import Grey

TASK = "quick"
HERE = ["127.0.0.1"]


class Web:
    """The folder of a manifest's files, as a site; ``asked`` are the paths that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()


@pytest.fixture
def web(few: Manifest) -> Iterator[Web]:
    actual = Web(Path(few.root))
    yield actual
    actual.server.shutdown()
    actual.server.server_close()


@pytest.fixture
def linked(few: Manifest, web: Web, tmp_path: Path) -> Path:
    """Two files beside the manifest, four links, and one that leads nowhere."""
    rows = [(path.name, label) for path, label in zip(few.paths()[:2], few.table["label"], strict=False)]
    for path in few.paths()[:2]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rows += [
        (f"{web.url}/{path.name}?n=1", entry.label) for path, entry in zip(few.paths()[2:6], few[2:6], strict=True)
    ]
    rows += [(f"{web.url}/gone.png", "real")]
    pd.DataFrame(rows, columns=["path", "label"]).to_csv(tmp_path / "manifest.csv", index=False)
    return tmp_path / "manifest.csv"


def test_links_are_downloaded_once_and_score_as_files_do(few: Manifest, web: Web, linked: Path) -> None:
    first = evaluate(linked, TASK, component=Grey(), private_hosts=HERE)
    assert first.scores["path"].tolist() == pd.read_csv(linked)["path"].tolist()
    files = evaluate(few[:6], TASK, component=Grey(), cache=False)
    assert first.scores["score"].tolist()[:6] == files.scores["score"].tolist()
    assert first.failures["path"].tolist() == [f"{web.url}/gone.png"]
    assert "answered with HTTP status 404" in first.failures["error"].iloc[0]
    assert len(set(web.asked)) == len(web.asked) == 5
    web.asked.clear()
    second = evaluate(linked, TASK, component=Grey(), private_hosts=HERE)
    assert second.info["from_cache"] == 6 and web.asked == ["/gone.png"]
    # What was downloaded is there for whatever else takes the manifest, and for a closer look.
    assert place_of(first, first.scores.iloc[2], None).read_bytes() == few.paths()[2].read_bytes()
    manifest = Manifest.read(linked)
    assert manifest.missing() == [f"{web.url}/gone.png"]
    assert [path.read_bytes() for path in manifest[:6].check().paths()] == [p.read_bytes() for p in few.paths()[:6]]
    with pytest.raises(UsageError, match="links are downloaded when a manifest is evaluated"):
        manifest.check()


def test_links_reach_no_private_host_unless_named_and_are_bounded(web: Web, linked: Path) -> None:
    refused = evaluate(linked, TASK, component=Grey())
    assert refused.failures["error"].str.contains("private").sum() == 5 and not web.asked
    small = evaluate(linked, TASK, component=Grey(), private_hosts=HERE, limits=Limits(max_bytes=64))
    assert small.failures["error"].str.contains("the limit for a download is").sum() == 4
    assert list(located("", f"{web.url}/x").parent.iterdir()) == []


def test_links_that_cannot_be_kept(linked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match=r"links cannot be kept in .* set FORENSIX_HOME"):
        evaluate(linked, TASK, component=Grey(), private_hosts=HERE, cache=False)


def test_a_manifest_behind_a_url_may_list_links(web: Web, linked: Path) -> None:
    found = evaluate(f"file://{linked}", TASK, component=Grey(), private_hosts=HERE)
    assert len(found.scores) == 7 and found.failures["path"].tolist() == [f"{web.url}/gone.png"]
