"""What is started and loaded by default fits what a container, a batch job or a service is allowed, not the machine."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from forensix import executors, machine
from forensix.executors.threads import files_in_flight
from forensix.service.settings import Settings

GIB = 1 << 30


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine have 64 cores and 256 GB."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_AVPHYS_PAGES": 256 * GIB // 4096, "SC_PAGE_SIZE": 4096}.__getitem__)
    monkeypatch.delenv("FORENSIX_WORKERS", raising=False)


def bounded(named: str, files: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "groups").write_text(named)
    for name, text in files.items():
        path = folder / "mounted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    monkeypatch.setattr(machine, "_GROUPS_OF_THIS", folder / "groups")
    monkeypatch.setattr(machine, "_MOUNTED", folder / "mounted")


@pytest.mark.parametrize(
    ("named", "files"),
    [
        ("0::/\n", {"cpu.max": "150000 100000", "memory.max": str(8 * GIB), "memory.current": str(GIB)}),
        (
            "0::/jobs.slice/one.scope\n",
            {
                "jobs.slice/one.scope/cpu.max": "max 100000",
                "jobs.slice/one.scope/memory.max": "max",
                "jobs.slice/cpu.max": "200000 100000",
                "jobs.slice/memory.max": str(8 * GIB),
                "jobs.slice/memory.current": str(5 * GIB),
                "jobs.slice/memory.stat": f"anon 1\ninactive_file {4 * GIB}",
            },
        ),
        (
            "4:memory:/docker/1f\n2:cpu,cpuacct:/docker/1f\n1:name=systemd:/docker/1f\n",
            {
                "cpu/cpu.cfs_quota_us": "200000",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": str(8 * GIB),
                "memory/memory.usage_in_bytes": str(GIB),
            },
        ),
    ],
    ids=["container", "below a bounded group", "version 1"],
)
def test_a_quota_bounds_what_is_started(
    named: str, files: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(named, files, tmp_path, monkeypatch)
    assert machine.cores() == 2 and machine.free_bytes() == 7 * GIB
    assert executors.processes() == 2 and files_in_flight() == 8 and Settings.read().workers == 1


def test_little_memory_means_few_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded("0::/\n", {"memory.max": str(4 * GIB), "memory.current": str(GIB // 2)}, tmp_path, monkeypatch)
    assert machine.cores() == 64 and executors.processes() == 1


@pytest.mark.parametrize("files", [{}, {"cpu.max": "max 100000", "memory.max": "max"}], ids=["no groups", "unbounded"])
def test_without_a_bound_the_machine_counts(
    files: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded("0::/\n" if files else "", files, tmp_path, monkeypatch)
    assert machine.cores() == 64 and machine.free_bytes() == 256 * GIB
    assert executors.processes() == 64 and Settings.read().workers == 63


def test_cores_that_this_process_may_not_run_on_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert machine.cores() == executors.processes() == Settings.read().workers == 1
