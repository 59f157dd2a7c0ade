"""Generated requests against a running service, from the OpenAPI document that it serves: with credentials and without.

    python benchmarks/service_fuzz.py [--cases 5000] > benchmarks/results/service_fuzz.md

Schemathesis makes valid and invalid requests for every operation; an answer of 5xx, or one whose status, headers,
content type or body the document does not describe, is a failure. So is a request without credentials that is served.
Every other form has a picture, and every other path the parameters of something that is there, so that answers of
success are checked as well.
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.service.running import Service, serving
from tests.service.specification import EVENTS, OPERATIONS, TASKS

try:
    import schemathesis
except ModuleNotFoundError:
    sys.exit("the requests are made by schemathesis, which is not installed: pip install 'forensix[test]'")

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
)
N_OPERATIONS = len(OPERATIONS)
LAST = ("DELETE /auth/tokens", "DELETE /webhooks/{event}")
"""They leave nothing for the others."""
KNOWN = "FUZZ_KNOWN"
"""The environment variable that tells the hooks below what is there."""
PICTURE = base64.b64decode(
    "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="  # one pixel
)


@dataclass
class Tally:
    """What came back."""

    cases: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    served: set[str] = field(default_factory=set)
    """Operations that answered with 200."""


def main() -> None:
    """Print the table; exit with 1 when a request found a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=5000, help="least number of requests, over both runs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with serving(place / "home", workers=0, account_rate=0, password_rate=0, queue_limit=1_000_000) as service:
            settings, known = prepared(service)
            signed = fuzz(service, place / "signed", options.cases * 4 // 5, options.seed, settings, known)
            bare = fuzz(service, place / "bare", options.cases // 5, options.seed, "", known)
            bare.failures.update(f"{name}: served without credentials" for name in bare.served)
            answers = service.process.poll() is None
    print("# Generated requests\n")
    print(f"`python benchmarks/service_fuzz.py --cases {options.cases} --seed {options.seed}`, on SQLite.\n")
    columns = ("requests", "cases", "200", "4xx", "503", "other 5xx", "failed checks", "operations that served some")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, tally in (("with credentials", signed), ("without", bare)):
        refused = sum(n for status, n in tally.statuses.items() if status[0] == "4")
        failed = sum(n for status, n in tally.statuses.items() if status[0] == "5" and status != "503")
        print(
            f"| {name} | {tally.cases} | {tally.statuses['200']} | {refused} | {tally.statuses['503']} | {failed} "
            f"| {tally.failures.total()} | {len(tally.served)} of {N_OPERATIONS} |"
        )
    print("\nStatuses: " + ", ".join(f"{s} {n}" for s, n in sorted((signed.statuses + bare.statuses).items())) + ".")
    for what, n in (signed.failures + bare.failures).most_common():
        print(f"\n- {n} x {what}")
    print("\nThe service ran to the end." if answers else "\n**The service ended.**")
    sys.exit(int(not answers or (signed.failures + bare.failures).total() > 0))


def prepared(service: Service) -> tuple[str, dict[str, list[dict[str, str]]]]:
    """Return the credentials for schemathesis, and parameters of what is there, by path.

    Tokens are another account's than the bearer token that is used, which would else be deleted.
    """
    name, password = ben = service.account("ben")
    token = service.token(service.account("anna"))
    settings = (
        f'[auth.openapi.basic]\nusername = "{name}"\npassword = "{password}"\n\n'
        f'[auth.openapi.bearer]\nbearer = "{token}"\n'
    )
    known: dict[str, list[dict[str, str]]] = {"/auth/tokens/{id}": [], "/webhooks/{event}/{id}": []}
    with httpx.Client(base_url=service.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        for task in TASKS:
            response = http.post(f"/tasks/{task}", data={"url": "https://example.org/a"}).json()
            known[f"/tasks/{task}/{{id}}"] = [{"id": response["report_id"]}]
        for event in EVENTS * 10:
            response = http.post(f"/webhooks/{event}", data={"url": "https://example.org/hook"}).json()
            known["/webhooks/{event}/{id}"].append({"event": event, "id": response["id"]})
        for _ in range(40):
            known["/auth/tokens/{id}"].append({"id": http.post("/auth/tokens", auth=ben).json()["id"]})
    return settings, known


def fuzz(
    service: Service, folder: Path, cases: int, seed: int, settings: str, known: dict[str, list[dict[str, str]]]
) -> Tally:
    """Run schemathesis until there were so many cases, and return what came back."""
    folder.mkdir()
    (folder / "schemathesis.toml").write_text(settings)
    tally = Tally()
    hooks = {
        "SCHEMATHESIS_HOOKS": Path(__file__).stem,
        "PYTHONPATH": str(Path(__file__).parent),
        KNOWN: json.dumps(known),
    }
    first = [argument for name in LAST for argument in ("--exclude-name", name)]
    last = [argument for name in LAST for argument in ("--include-name", name)]
    for run in range(10):
        if tally.cases >= cases:
            break
        n = max(1, (cases - tally.cases) // N_OPERATIONS + 1)
        for part, chosen in enumerate((first, last)):
            events = folder / f"events-{run}-{part}.ndjson"
            command = [
                sys.executable, "-m", "schemathesis.cli", "--config-file", str(folder / "schemathesis.toml"), "run",
                f"{service.base_url}/openapi.json", "--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing",
                "--max-examples", str(n), "--seed", str(seed + run), "--continue-on-failure", "--no-shrink",
                "--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "60",
                "--report", "ndjson", "--report-ndjson-path", str(events), *chosen,
            ]  # fmt: skip
            environment = os.environ | hooks
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if not events.exists():
                raise SystemExit(f"schemathesis did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            count(events, tally)
    return tally


def count(events: Path, tally: Tally) -> None:
    """Add what a report of schemathesis holds."""
    for line in events.read_text().splitlines():
        recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
        tally.cases += len(recorder.get("cases", {}))
        for exchange in recorder.get("interactions", {}).values():
            response = exchange.get("response")
            tally.statuses[str(response["status_code"]) if response else "none"] += 1
            if response and response["status_code"] == 200:
                tally.served.add(recorder["label"])
            if response is None:
                tally.failures[f"{recorder['label']}: no answer"] += 1
        for checks in recorder.get("checks", {}).values():
            tally.failures.update(f"{recorder['label']}: {c['name']}" for c in checks if c["status"] != "success")


@schemathesis.hook
def map_body(_context: object, body: object) -> object:
    """Give every other form a picture in place of its random file, and no URL, so that some tasks are created."""
    if isinstance(body, dict) and "file" in body and len(str(body)) % 2:
        return {name: value for name, value in body.items() if name != "url"} | {"file": PICTURE}
    return body


@schemathesis.hook
def map_path_parameters(context: schemathesis.HookContext, parameters: dict[str, object]) -> dict[str, object]:
    """Give every other path the parameters of something that is there."""
    known = json.loads(os.environ.get(KNOWN, "{}")).get(context.operation.path, [])
    mark = zlib.crc32(str(parameters).encode())
    return known[mark // 2 % len(known)] if known and mark % 2 else parameters


if __name__ == "__main__":
    main()
