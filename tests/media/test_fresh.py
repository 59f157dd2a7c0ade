"""A child is ended by its parent's end and by nothing that the parent writes."""

import os
import signal
import subprocess
import sys

import pytest

from forensix.interpreter import environment
from forensix.media.fresh import Fresh

SCRIPT = """
import json, os, sys, time
from forensix.media.child import follow_parent
follow_parent(json.loads(os.environ["SETTINGS"])["lifeline"])
print("follows", flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
time.sleep(60)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread looks for the parent")


@pytest.fixture
def followed():
    process = Fresh([sys.executable, "-c", SCRIPT], "SETTINGS", {}, environment(os.environ), stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"follows\n"
    yield process
    process.end()
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def test_what_is_written_does_not_end_it(followed: Fresh) -> None:
    for _ in range(20):
        followed.stdin.write(b"words\n")
        assert followed.stdout.readline() == b"words\n"


def test_the_end_of_the_parent_ends_it(followed: Fresh) -> None:
    lifeline, followed._lifeline = followed._lifeline, -1
    os.close(lifeline)
    assert followed.wait(10) == -signal.SIGIO


def test_end_kills_and_may_be_called_again(followed: Fresh) -> None:
    followed.end()
    followed.end()
    assert followed.returncode == -signal.SIGKILL


def test_nothing_stays_open_of_one_that_cannot_be_started() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            Fresh(["/no/such/program"], "SETTINGS", {}, {})
    assert len(os.listdir("/proc/self/fd")) == before
