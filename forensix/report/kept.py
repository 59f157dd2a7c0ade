"""A report in its JSON file: all but the evidence, which its page shows, so that it can be listed without analysing.

Beside what `Report.to_dict` gives, the file has ``report``: the fields of the report and of its outcomes that the
specification's objects do not hold.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix.tasks.catalogue import describe
from forensix.tasks.evidence import Outcome

if TYPE_CHECKING:
    from forensix.report.report import Report

_BESIDE = {"input", "sha256", "additional_info", "outcomes", "command", "objects"}
_ON_THE_PAGE = {"result", "evidence", "preview", "frame_scores", "beside"}


@dataclass(frozen=True)
class Kept:
    """A report that lies in a folder."""

    name: str
    """Of its files, without ending."""
    input: str
    sha256: str | None
    failed: bool
    made_by: Mapping[str, Any]
    """What the writer of the folder said that all its reports are made by."""


def text(report: "Report", made_by: Mapping[str, Any] | None) -> str:
    """Return the text of a report's JSON file."""
    outcomes = {task: _plain(outcome, _ON_THE_PAGE) for task, outcome in report.outcomes.items()}
    made = {"additional_info": report.additional_info, "made_by": made_by, "outcomes": outcomes}
    whole = {**report.to_dict(), "report": {**_plain(report, _BESIDE), **made}}
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def find(path: Path) -> Kept | None:
    """Return the report that a JSON file holds, or None where it is no report.

    Raises
    ------
    ValueError
        It is no JSON: an interrupted writer left it, or it was damaged.
    """
    said = json.loads(path.read_bytes())
    try:
        made = said["report"]
        failed = bool(made["error"] or made["errors"])
        return Kept(path.name.removesuffix(".json"), said["input"], said["sha256"], failed, made["made_by"] or {})
    except (KeyError, TypeError):
        return None


def read(path: Path) -> "Report":
    """Return the report of a JSON file that `find` found, without evidence."""
    from forensix.report.report import Report

    said = json.loads(path.read_bytes())
    made = said["report"]
    del made["made_by"]
    outcomes = {}
    for task, plain in made.pop("outcomes").items():
        wire = said["results"][task]
        result = describe(task).result.model_validate(wire["result"])
        outcomes[task] = Outcome(result=result, preview=wire.get("preview"), **plain)
    return Report(input=said["input"], sha256=said["sha256"], outcomes=outcomes, **made)


def _plain(of: Any, left_out: set[str]) -> dict[str, Any]:
    return {field.name: getattr(of, field.name) for field in fields(of) if field.name not in left_out}
