"""A JupyterLab of our own, on a free port, in a folder of its own; gone for sure at the end."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 60


def notebook(*cells: str) -> str:
    """Return a notebook of code cells as text."""
    code = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for i, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": code, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


@contextmanager
def running_lab(folder: Path, *, theme: str = "JupyterLab Light") -> Iterator[str]:
    """Yield the address, up to the token, of a server over ``folder``; whatever it started ends with it."""
    home = folder / ".home"
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    (settings / "notification.jupyterlab-settings").write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    environment = os.environ | {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")])),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        *(
            f"--ServerApp.root_dir={folder}",
            "--LabApp.extension_manager=readonly",
            "--ContentsManager.allow_hidden=True",
        ),
    ]
    with (folder / "lab.log").open("wb") as log:
        # A group of its own, to be ended as one.
        server = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True)
        try:
            address = f"http://127.0.0.1:{port}/lab/tree/{{path}}?token={token}"
            _wait(server, f"http://127.0.0.1:{port}/api/status?token={token}", folder / "lab.log")
            yield address
        finally:
            _end(server)


def _wait(server: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(log.read_text())


def _end(server: "subprocess.Popen[bytes]") -> None:
    kernels = _descendants(server.pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, number)
            server.wait(timeout=10)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    # Kernels are groups of their own, and end by themselves once the server is gone, unless they hang.
    for pid in kernels:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _descendants(pid: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields.rpartition(")")[2].split()[1])
    actual, wave = [], [pid]
    while wave:
        wave = [child for child, parent in parents.items() if parent in wave]
        actual += wave
    return actual
