"""Lists of files in public repositories: no file on two sides, and bytes that are the ones named."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from forensix.errors import InputNotFound, UsageError
from forensix.training.folds import leave_source_out, sources_of
from forensix.training.sources import Repositories, read_list


def write(folder, rows, columns=("split", "repo", "ref", "path", "blob", "label", "system")):
    path = folder / "list.csv"
    pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
    return path


def test_rows_of_one_blob_are_taken_once_and_not_at_all_where_labels_differ(tmp_path):
    rows = [
        ("train", "a/a", "HEAD", "1.wav", "b1", "fake", "VITS"),
        ("train", "a/b", "HEAD", "2.wav", "b1", "fake", "VITS"),
        ("train", "a/a", "HEAD", "3.wav", "b2", "fake", "VITS"),
        ("train", "a/a", "HEAD", "4.wav", "b2", "real", ""),
        ("train", "a/a", "HEAD", "5.wav", "", "real", ""),
        ("train", "a/a", "HEAD", "6.wav", "", "real", ""),
        ("dev", "c/c", "HEAD", "7.wav", "b3", "real", ""),
    ]
    table = read_list(write(tmp_path, rows))
    assert list(table.path) == ["1.wav", "5.wav", "6.wav", "7.wav"]
    assert list(table.made_by) == ["VITS", "", "", ""]
    assert list(read_list(tmp_path / "list.csv", split="dev").path) == ["7.wav"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (("dev", "a/a", "HEAD", "2.wav", "b2", "real", ""), "the repo a/a is in two splits"),
        (("dev", "a/b", "HEAD", "2.wav", "b1", "real", ""), "the blob b1 is in two splits"),
    ],
)
def test_what_is_in_two_splits_is_refused(tmp_path, second, said):
    path = write(tmp_path, [("train", "a/a", "HEAD", "1.wav", "b1", "real", ""), second])
    with pytest.raises(UsageError, match=said):
        read_list(path)


def test_a_list_without_a_column_says_which(tmp_path):
    with pytest.raises(UsageError, match="has no column label"):
        read_list(write(tmp_path, [("train", "a/a", "HEAD", "x")], ("split", "repo", "ref", "path")))


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repositories")
    work = folder / "owner+clone"
    work.mkdir()

    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        return subprocess.run(["git", "-C", work, *identity, *arguments], check=True, capture_output=True).stdout

    git("init", "-q")
    (work / "a b.wav").write_bytes(b"first")
    git("add", ".")
    git("commit", "-qm", "1")
    blob = git("rev-parse", "HEAD:a b.wav").decode().strip()
    (work / "a b.wav").write_bytes(b"second\n")
    git("commit", "-qam", "2")
    plain = folder / "owner+checkout" / "x"
    plain.mkdir(parents=True)
    (plain / "a.wav").write_bytes(b"first")
    (folder / "secret").write_bytes(b"secret")
    with Repositories(folder) as opened:
        yield opened, blob


def test_a_blob_is_found_wherever_the_file_went_since(repositories):
    opened, blob = repositories
    assert opened.read("owner/clone", "a b.wav", blob=blob) == b"first"
    assert opened.read("owner/clone", "a b.wav") == b"second\n"
    assert opened.read("owner/clone", "a b.wav", ref="HEAD~1") == b"first"
    assert opened.read("owner/clone", "a b.wav", ref="0" * 40) == b"second\n"
    assert opened.read("owner/checkout", "x/a.wav", blob=blob) == b"first"
    assert opened.has("owner/clone") and not opened.has("owner/none")


def test_what_is_not_the_file_named_is_refused(repositories):
    opened, _ = repositories
    other = "0123456789" * 4
    for repo in ("owner/clone", "owner/checkout"):
        path = "a b.wav" if repo == "owner/clone" else "x/a.wav"
        with pytest.raises(InputNotFound, match=other):
            opened.read(repo, path, blob=other)
        with pytest.raises(InputNotFound, match="no file"):
            opened.read(repo, "none.wav")
    with pytest.raises(InputNotFound, match="no file"):
        opened.read("owner/checkout", "../secret")
    with pytest.raises(InputNotFound, match="owner/none is not in"):
        opened.read("owner/none", "a.wav")


def test_files_share_a_source_by_repository_or_maker_at_any_remove():
    repos = ["a", "a", "b", "b", "c", "d"]
    makers = ["", "X", "X", "Y", "Y", ""]
    assert list(sources_of(repos, makers)) == [0, 0, 0, 0, 0, 1]


def test_folds_hold_whole_sources_out_and_are_alike():
    rng = np.random.default_rng(0)
    repos = [f"r{i}" for i in range(40) for _ in range(int(rng.integers(5, 200)))]
    numbers = np.array([int(name[1:]) for name in repos])
    fake = numbers % 2 == 1
    # Three repositories share one system.
    makers = ["" if not f else "shared" if n in (1, 3, 5) else f"s{n}" for n, f in zip(numbers, fake, strict=True)]
    folds = leave_source_out(repos, makers, fake, 4, seed=1)
    assert all(len(set(folds[numbers == n])) == 1 for n in range(40))
    assert len(set(folds[np.isin(numbers, (1, 3, 5))])) == 1
    for held in range(4):
        for kind in (False, True):
            assert 0.1 < ((folds == held) & (fake == kind)).sum() / (fake == kind).sum() < 0.45
    assert (folds == leave_source_out(repos, makers, fake, 4, seed=1)).all()


def test_too_few_sources_for_the_folds_are_refused():
    with pytest.raises(ValueError, match="3 folds need as many sources; there are 2"):
        leave_source_out(["a", "b"], ["", "X"], [False, True], 3)
    with pytest.raises(ValueError, match="without one class"):
        leave_source_out(["a", "b", "c"], ["", "", "X"], [False, False, True], 2)
