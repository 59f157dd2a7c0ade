"""A PostgreSQL server of a test's own: in a temporary folder, on a free port of loopback, gone afterwards."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.service.running import free_port, wait_until

_PLACES = (*map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), os.environ.get("PATH", ""))
# PostgreSQL refuses to run as root.
_AS_NOBODY = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []


def program(name: str) -> str | None:
    """Return the path of one of PostgreSQL's programs, None when it is not installed."""
    return shutil.which(name, path=os.pathsep.join(_PLACES))


class Server:
    """A server that can be stopped and started again, as a fault."""

    def __init__(self, folder: Path) -> None:
        self._data, self._folder, self.port = folder / "data", folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(
            [*_AS_NOBODY, str(program("initdb")), "-D", str(self._data), "-A", "trust", "-U", "forensix"],
            check=True,
            capture_output=True,
            cwd="/",
        )

    @property
    def url(self) -> str:
        """Return what to set FORENSIX_DATABASE_URL to."""
        return f"postgresql://forensix@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        where = ["-D", str(self._data), "-p", str(self.port), "-k", str(self._folder), "-h", "127.0.0.1"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_AS_NOBODY, str(program("postgres")), *where], stdout=log, stderr=log, cwd="/", start_new_session=True
            )
        wait_until(self._answers, 30, "PostgreSQL to answer", every_s=0.1)

    def stop(self) -> None:
        """Stop the server at once, connections included."""
        process, self._process = self._process, None
        if process is not None:
            # The group: runuser stands between us and the server.
            os.killpg(process.pid, signal.SIGQUIT)
            process.wait(30)
            wait_until(lambda: not (self._data / "postmaster.pid").exists(), 30, "PostgreSQL to stop", every_s=0.05)

    def create(self, name: str) -> str:
        """Make another database and return its URL."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[arg-type]
        return self.url.removesuffix("postgres") + name

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=2):
            return True
        return False


@contextlib.contextmanager
def postgres() -> Iterator[Server]:
    """Run a server until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="forensix-postgres-"))
    folder.chmod(0o777)
    server: Server | None = None
    try:
        server = Server(folder)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
