"""Folders that are not quite as a data set is published: one sentence says what is wrong."""

from pathlib import Path

import pytest

from forensix import Manifest
from forensix.errors import UsageError
from tests.importers.trees import touch


def test_a_root_one_too_high_or_too_deep_is_told_with_the_right_one(tmp_path: Path) -> None:
    inner = tmp_path / "Celeb-DF-v2"
    touch(inner, "List_of_testing_videos.txt", "Celeb-real/id0_0000.mp4", "YouTube-real/1.mp4", "Celeb-synthesis/a.mp4")
    for wrong in (tmp_path, inner / "Celeb-real"):
        with pytest.raises(UsageError, match=f"but {wrong} does not: give {inner}, which does$"):
            Manifest.import_("celeb_df_v2", wrong)


def test_a_protocol_that_is_no_file_or_no_utf8_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "Celeb-real/id0_0000.mp4")
    listing = tmp_path / "List_of_testing_videos.txt"
    listing.mkdir()
    with pytest.raises(UsageError, match=r"videos\.txt must be a file, and is none$"):
        Manifest.import_("celeb_df_v2", tmp_path)
    listing.rmdir()
    listing.write_text("1 YouTube-real/00170.mp4\n", encoding="utf-16")
    with pytest.raises(UsageError, match=r"no UTF-8 text \(byte 0\): save it as UTF-8$"):
        Manifest.import_("celeb_df_v2", tmp_path)
