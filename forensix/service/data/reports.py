"""A task's row as the specification's result object: what is polled is what is delivered, byte for byte."""

import json
from collections.abc import Mapping
from typing import Any

from forensix.errors import UsageError
from forensix.tasks.catalogue import TaskDescription, describe


def description_of(task: str) -> TaskDescription:
    """Return what there is to know of a row's task; where its package no longer loads, what follows from its name."""
    try:
        return describe(task)
    except UsageError:
        return TaskDescription(task, frozenset(), task)


def report_bytes(row: Mapping[str, Any]) -> bytes:
    """Return the JSON of section 2.1 for a row of ``tasks``; the stored result, maybe large, is not parsed for it."""
    fields = {"id": row["id"], "status": row["status"], "event_type": description_of(row["task"]).event}
    if row["status"] == "failed":
        fields["error"] = row["error"]
    if row["status"] == "completed":
        fields |= {name: row[name] for name in ("preview", "additional_info") if row[name] is not None}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    if row["status"] == "completed":
        text = f'{text[:-1]},"result":{row["result"]}}}'
    return text.encode()
