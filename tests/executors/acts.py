"""What the tests of executors have workers do: importable, as the workers are other processes."""

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any


def add(common: int, item: int) -> tuple[int, int]:
    return common + item, os.getpid()


def slow_first(common: float, item: int) -> int:
    if item == 0:
        time.sleep(common)
    return item


def act_late(folder: str, item: Any) -> Any:
    """Do what the item says, but let those who watch over this process see first that it has started."""
    if isinstance(item, str):
        time.sleep(1.0)
    return act(folder, item)


def act(folder: str, item: Any) -> Any:
    """Do what the item says; ``once:`` only the first time, which a file in the folder remembers."""
    if not isinstance(item, str):
        return item
    verb, _, name = item.partition(":")
    if verb == "once":
        mark = Path(folder) / name
        if mark.exists():
            return item
        mark.touch()
        verb = "die"
    if verb == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if verb == "raise":
        raise ValueError(name)
    if verb == "sleep":
        time.sleep(float(name))
    return item


def copying(verb: str, item: int) -> str:
    """Return the working folder; of every item but 0, hold a copy in a temporary folder and do what the verb says."""
    if item:
        (Path(tempfile.mkdtemp()) / "copy").touch()
        act("", verb)
    return os.getcwd()


class Unusual(Exception):
    """Cannot be unpickled: its arguments are not its message."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def unusual(common: None, item: int) -> None:
    raise Unusual("not ", "usual")


def big(common: None, item: bytes) -> bytes:
    return item


class Loaded:
    """Stands for a model: each time it is unpacked leaves a file in a folder."""

    def __init__(self, folder: str, n_bytes: int) -> None:
        self.folder, self.content = folder, os.urandom(n_bytes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        (Path(self.folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()


def loaded(common: Loaded, item: int) -> int:
    return item + len(common.content)


def noted(folder: str, item: int) -> int:
    """Take a moment, and leave a file that says that it was done."""
    time.sleep(0.2)
    (Path(folder) / str(item)).touch()
    return item


def crowded(folder: str, item: Any) -> Any:
    """Be killed, where the item says after how many others it has room, while fewer of these are done."""
    if isinstance(item, int):
        return noted(folder, item)
    if len(list(Path(folder).iterdir())) < int(item):
        os.kill(os.getpid(), signal.SIGKILL)
    return item
