"""Bounds of videos on the card of the picture detector come from videos of repositories that it never saw."""

import pandas as pd
import pytest

from forensix.models import get_card
from forensix.training.images import videos
from tests.making import write_video


def test_wholly_generated_and_recorded_videos_are_taken_of_repositories_that_training_did_not_see():
    card = get_card(videos.NAME)
    seen = card.trained_on[0].source
    columns = ["repo", "path", "kind", "label", "method", "made_by"]
    rows = [(repo, f"{i}.mp4", "video", "real", "none", "") for repo in ("a/b", seen) for i in range(5)]
    rows += [("a/b", f"x{i}.mp4", "video", "fake", "face_reenactment", f"tool {i % 2}") for i in range(10)]
    rows += [("a/b", "y.mp4", "video", "fake", "faceswap", "tool 3"), ("a/b", "z.png", "image", "real", "none", "")]
    rows += [("a/b", "grid.mp4", "video", "grid", "mixed", "tool 1")]
    table = pd.DataFrame(rows, columns=columns)
    chosen = videos.choose(table, card, 3)
    assert set(chosen["repo"]) == {"a/b"} and set(chosen["method"]) == {"none", "face_reenactment"}
    assert chosen.groupby(["label", "made_by"]).size().tolist() == [3, 3, 3]
    assert chosen.equals(videos.choose(table, card, 3))


def test_what_cannot_be_read_is_told_and_left_out(tmp_path, capsys):
    write_video(tmp_path / "a.mp4", 4, (96, 96))

    class Folder:
        def read(self, repo, path, *, blob, ref):
            return (tmp_path / path).read_bytes() if path == "a.mp4" else b"no video"

    class Detector:
        def score(self, rgb):
            return 0.25

    rows = [("a/b", name, "real", "", "HEAD", "") for name in ("a.mp4", "b.mp4")]
    table = pd.DataFrame(rows, columns=["repo", "path", "label", "blob", "ref", "made_by"])
    scored = videos.score_all(table, Folder(), Detector())
    assert scored["score"].tolist() == [pytest.approx(0.25)] and tuple(scored.columns) == videos.COLUMNS
    assert "a/b/b.mp4" in capsys.readouterr().out
