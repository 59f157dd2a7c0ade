"""Storage: whole files or none, in a folder and elsewhere."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest

from forensix.errors import MissingExtra, UsageError
from forensix.service.data import storage as storages
from forensix.service.data.storage import Storage
from tests.service.objects import ObjectStore, object_store


@pytest.fixture(scope="module")
def objects() -> Iterator[ObjectStore]:
    with object_store() as store, pytest.MonkeyPatch.context() as patch:
        for name, value in store.environment.items():
            patch.setenv(name, value)
        yield store
        fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture(params=["folder", "synced folder", "objects"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "objects":
        request.getfixturevalue("objects")
        return Storage(f"s3://uploads/{tmp_path.name}")
    return Storage(f"file://{tmp_path}/files", sync=request.param == "synced folder")


def keys(storage: Storage) -> list[str]:
    return sorted(key for key, _ in storage.listing())


def put(storage: Storage, key: str, data: bytes) -> None:
    file = storage.write(key)
    file.write(data)
    file.close()


def test_a_file_is_there_once_it_is_closed_and_not_before(storage: Storage) -> None:
    file = storage.write("one")
    file.write(b"first ")
    with pytest.raises(FileNotFoundError):
        storage.read("one")
    assert keys(storage) == []
    file.write(b"second")
    file.close()
    file.discard()
    with storage.read("one") as stored:
        assert stored.read() == b"first second"
    ((key, stored_at),) = storage.listing()
    assert key == "one" and abs(stored_at - time.time()) < 60


@pytest.mark.parametrize(
    ("total_mb", "free_mb", "stored"), [(10_000, 129, True), (10_000, 128, False), (48, 7, True), (48, 6, False)]
)
def test_the_last_room_on_a_disk_is_left_to_analyses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total_mb: int, free_mb: int, stored: bool
) -> None:
    folder = Storage(f"file://{tmp_path}/files")
    mb = 1024**2
    usage = SimpleNamespace(total=total_mb * mb, free=free_mb * mb)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage)
    assert folder.ready() == stored
    if stored:
        put(folder, "one", bytes(mb))
    else:
        file = folder.write("one")
        with pytest.raises(OSError, match="which analyses need") as full:
            file.write(b"x")
        assert full.value.errno == errno.ENOSPC
        file.discard()
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["one"] * stored


def test_what_is_gathered_for_elsewhere_has_no_name_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    storage = Storage("memory://gathered")
    file = storage.write("key")
    for piece in (b"first", bytes(3 << 20)):
        file.write(piece)
    # A process that is killed now leaves nobody's media behind.
    assert list(tmp_path.iterdir()) == []
    file.close()
    with storage.read("key") as stored:
        assert stored.read() == b"first" + bytes(3 << 20)


def test_what_is_discarded_was_never_there(storage: Storage, tmp_path: Path) -> None:
    file = storage.write("one")
    file.write(b"x" * 100_000)
    file.discard()
    file.discard()
    assert keys(storage) == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_local_path_holds_the_file(storage: Storage, tmp_path: Path) -> None:
    put(storage, "one", b"data")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with storage.local("one", scratch) as path:
        assert path.read_bytes() == b"data"
    assert list(scratch.iterdir()) == []
    with pytest.raises(FileNotFoundError), storage.local("two", scratch):
        pass
    assert list(scratch.iterdir()) == []


def test_what_others_store_is_seen_after_a_listing(objects: ObjectStore, tmp_path: Path) -> None:
    storage = Storage(f"s3://uploads/{tmp_path.name}")
    put(storage, "one", b"data")
    assert keys(storage) == ["one"]
    other = fsspec.filesystem("s3", skip_instance_cache=True)
    other.pipe_file(f"uploads/{tmp_path.name}/two", b"of another process")
    other.rm_file(f"uploads/{tmp_path.name}/one")
    with storage.local("two", tmp_path) as path:
        assert path.read_bytes() == b"of another process"
    with pytest.raises(FileNotFoundError), storage.local("one", tmp_path):
        pass
    assert keys(storage) == ["two"]


def test_an_object_store_that_is_away_is_no_missing_file(objects: ObjectStore, tmp_path: Path) -> None:
    storage = Storage(f"s3://uploads/{tmp_path.name}")
    put(storage, "one", b"data")
    objects.stop()
    try:
        for use in (lambda: put(storage, "two", b""), lambda: keys(storage), lambda: storage.delete("one")):
            with pytest.raises(OSError, match="storage cannot be used") as error:
                use()
            assert not isinstance(error.value, FileNotFoundError)
        with pytest.raises(OSError, match="storage cannot be used"), storage.local("one", tmp_path):
            pass
        assert not storage.ready()
    finally:
        objects.start()
    assert storage.ready()
    assert keys(storage) == ["one"]


def test_an_object_store_that_says_nothing_is_asked_twice_and_given_up(
    objects: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3 = fsspec.get_filesystem_class("s3")
    s3.clear_instance_cache()
    monkeypatch.setitem(storages._S3, "read_timeout", 0.2)
    storage = Storage(f"s3://uploads/{tmp_path.name}")
    s3.clear_instance_cache()
    with objects.silent() as taken:
        for n_uses, use in enumerate((lambda: keys(storage), lambda: storage.delete("one")), start=1):
            with pytest.raises(OSError, match="Read timeout"):
                use()
            assert len(taken) == 2 * n_uses


@pytest.mark.parametrize("size", [1000, 30 << 20])
def test_an_object_store_that_takes_no_file_is_given_up(
    objects: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    storage = Storage(f"s3://uploads/{tmp_path.name}")
    monkeypatch.setattr(storages, "_PATIENCE_S", 0.5)
    monkeypatch.setattr(storages, "_SLOWEST_BYTES_PER_S", 100 << 20)
    with objects.silent(), pytest.raises(TimeoutError, match="does not answer"):
        put(storage, "one", bytes(size))
    monkeypatch.undo()
    put(storage, "one", bytes(size))


def test_a_folder_that_is_away_is_no_missing_file(tmp_path: Path) -> None:
    storage = Storage(f"file://{tmp_path}/files")
    put(storage, "one", b"data")
    (tmp_path / "files").rename(tmp_path / "away")
    with pytest.raises(OSError, match="not there") as error, storage.local("one", tmp_path):
        pass
    assert not isinstance(error.value, FileNotFoundError)


def test_deleting_twice_is_harmless(storage: Storage) -> None:
    put(storage, "one", b"data")
    storage.delete("one")
    storage.delete("one")
    assert keys(storage) == []


@pytest.mark.parametrize("key", ["", "../one", "a/b", "a.b", "a\x00", "x" * 129, "é"])
def test_only_plain_keys_are_taken(storage: Storage, key: str) -> None:
    for use in (storage.write, storage.read, storage.delete):
        with pytest.raises(ValueError, match="storage key"):
            use(key)


def test_readiness_leaves_nothing_behind(storage: Storage) -> None:
    assert storage.ready()
    assert keys(storage) == []


def test_a_folder_that_is_gone_is_not_ready(tmp_path: Path) -> None:
    storage = Storage(f"file://{tmp_path}/files")
    (tmp_path / "files").rmdir()
    assert not storage.ready()


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_is_no_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="which is no folder: name another"):
        Storage(f"file://{tmp_path}/{name}")


def test_the_log_says_why_a_folder_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    storage = Storage(f"file://{tmp_path}/files")

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path))

    with monkeypatch.context() as patch:
        patch.setattr("os.open", refuse)
        assert not storage.ready()
    assert caplog.messages == ["the storage is not ready: Read-only file system"]


def test_nobody_else_can_read_uploads(tmp_path: Path) -> None:
    storage = Storage(f"file://{tmp_path}/files")
    put(storage, "one", b"data")
    assert (tmp_path / "files").stat().st_mode & 0o077 == 0
    assert (tmp_path / "files" / "one").stat().st_mode & 0o077 == 0


def test_broken_off_uploads_are_swept_when_they_are_old(tmp_path: Path) -> None:
    storage = Storage(f"file://{tmp_path}/files")
    put(storage, "kept", b"data")
    halves = [storage.write("old"), storage.write("new")]
    for half in halves:
        half.write(b"half")
    (partial,) = (tmp_path / "files").glob("old.*")
    os.utime(partial, (time.time() - 7200,) * 2)
    assert storage.sweep(3600) == 1
    assert len(list((tmp_path / "files").iterdir())) == 2
    for half in halves:
        half.discard()


def test_a_url_that_cannot_be_used_says_why() -> None:
    with pytest.raises(UsageError, match="FORENSIX_STORAGE_URL"):
        Storage("nonsense://bucket")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(MissingExtra, match="gcsfs"):
        Storage("gs://bucket/folder")
