"""Files in work: those of a running worker stay, those that a dead one left go, wherever it worked."""

import errno
import fcntl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensix.service.work import leases
from forensix.service.work.scratch import Scratch
from tests.service.running import wait_until
from tests.service.workshop import Workshop, kill

_WORKER = """
import subprocess, sys
from pathlib import Path
from forensix.service.work.scratch import Scratch
scratch = Scratch(Path(sys.argv[1]), sys.argv[2])
(scratch.folder / "upload").write_bytes(b"private")
child = subprocess.Popen(["cat"], stdout=subprocess.DEVNULL)
print(scratch.folder, flush=True)
child.wait()
"""


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    actual = Workshop(tmp_path)
    yield actual
    actual.close()


@pytest.fixture
def root(workshop: Workshop) -> Path:
    return workshop.home / "scratch"


def worker_with_child(root: Path, lease: str) -> tuple["subprocess.Popen[bytes]", Path]:
    """Return a process that works on an upload, and has a child that outlives it until their input ends; its folder."""
    command = [sys.executable, "-c", _WORKER, str(root), lease]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().decode().strip())


def left_behind(root: Path, name: str) -> Path:
    """Return a folder with an upload in it that nobody works on, and without a lock file."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "upload").write_bytes(b"private")
    return folder


def test_uploads_of_a_killed_worker_go_and_those_of_a_running_one_stay(workshop: Workshop, root: Path) -> None:
    own = Scratch(root, "here/0")
    process, theirs = worker_with_child(root, "there/3")
    with process:
        (own.folder / "upload").touch()
        assert own.clear(workshop.database) == 0
        assert (theirs / "upload").read_bytes() == b"private"
        kill(process)
        # Its child is still there.
        assert own.clear(workshop.database) == 1
    assert {path.name for path in root.iterdir()} == {"here-0.0", "here-0.0.lock"}
    assert (own.folder / "upload").exists()
    own.close()
    assert list(root.iterdir()) == []


def test_a_worker_started_again_has_an_empty_folder(root: Path) -> None:
    process, folder = worker_with_child(root, "here/0")
    with process:
        kill(process)
    again = Scratch(root, "here/0")
    assert again.folder == folder
    assert list(folder.iterdir()) == []


def test_workers_of_two_databases_in_one_home_do_not_share_a_folder(workshop: Workshop, root: Path) -> None:
    first, second = Scratch(root, "here/0"), Scratch(root, "here/0")
    (first.folder / "upload").touch()
    assert first.folder != second.folder
    assert second.clear(workshop.database) == first.clear(workshop.database) == 0
    first.close()
    assert second.clear(workshop.database) == 0
    assert second.folder.is_dir()


def test_files_of_a_lease_that_is_held_stay_where_locks_do_not_reach(workshop: Workshop, root: Path) -> None:
    lease = leases.take_lease(workshop.database, "there")
    theirs = left_behind(root, "there-0.0")
    own = Scratch(root, "here/0")
    assert own.clear(workshop.database) == 0
    assert theirs.exists()
    leases.leave(workshop.database, lease)
    assert own.clear(workshop.database) == 1
    assert not theirs.exists()


def test_a_lock_file_that_was_deleted_meanwhile_locks_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, workshop: Workshop
) -> None:
    flock, first = fcntl.flock, root / "here-0.0.lock"

    def delete_then_lock(descriptor: int, operation: int) -> None:
        first.unlink(missing_ok=True)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", delete_then_lock)
    own = Scratch(root, "here/0")
    assert own.folder.name == "here-0.1"
    monkeypatch.undo()
    assert Scratch(root, "there/0").clear(workshop.database) == 0


def test_a_disk_without_locks_ends_no_worker_and_keeps_what_others_have(
    workshop: Workshop, root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    theirs, mine = left_behind(root, "there-0.0"), left_behind(root, "here-0.0")
    own = Scratch(root, "here/0")
    assert own.folder == mine
    assert list(mine.iterdir()) == []
    assert "No locks available" in caplog.text
    assert own.clear(workshop.database) == 0
    assert (theirs / "upload").exists()
    own.close()
    assert not mine.exists()


@pytest.mark.slow
def test_a_worker_that_starts_deletes_what_another_left(workshop: Workshop, root: Path) -> None:
    gone = left_behind(root, "gone-0")
    running = Scratch(root, "there/0")
    with workshop.working():
        wait_until(lambda: not gone.exists(), 60, "the folder to go", log=workshop.log)
        assert running.folder.is_dir()
        # And in its rounds what was left since.
        later = left_behind(root, "later-0")
        wait_until(lambda: not later.exists(), 60, "the later folder to go", log=workshop.log)
        assert running.folder.is_dir()
