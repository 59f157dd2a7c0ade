"""Every operation and rule of the specification against a running service, one row each.

    python benchmarks/service_conformance.py > benchmarks/results/service_conformance.md

The rows and their checks are those of ``tests/service/conformance``; the specification they hold answers against is
written by hand in ``tests/service/specification.py``.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.service.conformance import ROWS
from tests.service.conformance.live import Live, Row, living
from tests.service.running import serving


def main() -> None:
    """Print the table; exit with 1 when a row fails."""
    begun = time.perf_counter()
    print("# The service against the specification, version 2.40.6\n")
    print("`python benchmarks/service_conformance.py`, on SQLite, one worker.\n")
    print("| section | rule | |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with (
            serving(place / "home", account_rate=0, webhook_backoff_s=0.2) as service,
            living(service, place) as live,
        ):
            failed = sum(not passes(row, live) for row in ROWS)
    seconds = time.perf_counter() - begun
    print(f"\n{len(ROWS) - failed} of {len(ROWS)} pass, in {seconds:.0f} s with the start of the service.")
    sys.exit(int(failed > 0))


def passes(row: Row, live: Live) -> bool:
    try:
        row.check(live)
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0][:160].replace("|", "/")
        print(f"| {row.section} | {row.rule} | **fail**: {first} |", flush=True)
        return False
    print(f"| {row.section} | {row.rule} | pass |", flush=True)
    return True


if __name__ == "__main__":
    main()
