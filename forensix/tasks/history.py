"""What a file records of its own past, as tables: content credentials, document versions, signatures, saves."""

from collections.abc import Iterator
from typing import Any

from forensix.metadata.facts import Facts
from forensix.tasks.evidence import Table


def history(facts: Facts) -> tuple[Table, ...]:
    """Return one table for each kind of record that the file holds, in the file's own order."""
    found = (_credentials(facts), _revisions(facts), _signatures(facts), _saves(facts))
    return tuple(table for table in found if table.rows)


def _records(facts: Facts, key: str) -> Iterator[dict[str, Any]]:
    return (fact.value for fact in facts.items if fact.key == key and isinstance(fact.value, dict))


def _credentials(facts: Facts) -> Table:
    rows = []
    titles = {record.get("label"): record.get("title") for record in _records(facts, "c2pa.manifest")}
    for record in _records(facts, "c2pa.manifest"):
        made_from = [
            _joined(part.get("title") or titles.get(part.get("active_manifest")), part.get("relationship"))
            for part in record.get("ingredients") or ()
        ]
        steps = [
            _joined(step.get("action"), step.get("agent"), step.get("source")) for step in record.get("actions") or ()
        ]
        rows.append(
            (
                _joined(record.get("title"), "this file" if record.get("active") else ""),
                str(record.get("generator") or ""),
                _joined(record.get("signer"), record.get("issuer")),
                str(record.get("time") or ""),
                "\n".join(steps),
                "\n".join(made_from),
            )
        )
    columns = ("version", "written by", "signed by", "signed at", "steps", "made from")
    return Table(
        "Content credentials, newest first; what they say, whether they hold is a claim above", columns, tuple(rows)
    )


def _revisions(facts: Facts) -> Table:
    signed = {record.get("covered_to"): record.get("field") for record in _records(facts, "pdf.signature")}
    rows = tuple(
        (
            str(record.get("index")),
            f"{record.get('start_offset')} to {record.get('end_offset')}",
            str(record.get("summary") or ""),
            "\n".join(map(str, (record.get("named") or ())[:12])),
            f"up to here by {signed[record.get('end_offset')]}" if record.get("end_offset") in signed else "",
        )
        for record in _records(facts, "pdf.revision")
    )
    columns = ("version", "bytes", "changes", "which", "signed")
    return Table("Versions of the document, oldest first", columns, rows if len(rows) > 1 else ())


def _signatures(facts: Facts) -> Table:
    rows = tuple(
        (
            str(record.get("field") or ""),
            str(record.get("signer") or record.get("name") or ""),
            str(record.get("issuer") or ""),
            str(record.get("signed_at") or record.get("m") or ""),
            {True: "yes", False: "no"}.get(record.get("intact"), "not checked"),  # type: ignore[arg-type]
            str(record.get("modification") or "").replace("_", " "),
        )
        for record in _records(facts, "pdf.signature")
    )
    columns = ("field", "signer", "issued by", "signed at", "bytes unchanged", "added afterwards")
    return Table("Signatures", columns, rows)


def _saves(facts: Facts) -> Table:
    rows = []
    for fact in facts.items:
        if fact.key == "xmp.history" and isinstance(fact.value, list):
            rows += [
                tuple(str(step.get(key) or "") for key in ("action", "when", "softwareAgent", "changed", "parameters"))
                for step in fact.value
                if isinstance(step, dict)
            ]
    columns = ("step", "when", "program", "changed", "how")
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    table = tuple(tuple(row[i] for i in kept) for row in rows)
    return Table("Editing history in the XMP, oldest first", tuple(columns[i] for i in kept), table)


def _joined(first: object, *more: object) -> str:
    rest = ", ".join(str(part) for part in more if part)
    return f"{first or ''}{f' ({rest})' if rest else ''}".strip()
