"""What a file records of its own past: content credentials, document versions with their signatures, saves.

What is shown here is what the file says; whether it holds is judged by the claims. Every record is hostile: manifests
may name each other in circles, and nest as deep as their writer likes.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.rules.credential_checks import IDENTITY, is_broken, is_doubtful
from forensix.metadata.facts import Facts
from forensix.tasks.evidence import Lineage, Stage, Table

MAX_DEPTH = 8
MAX_STAGES = 60
MAX_STEPS = 40


def history(facts: Facts) -> tuple[Lineage | Table, ...]:
    """Return one display for each kind of record that the file holds."""
    evidence: list[Lineage | Table] = []
    credentials = _credentials(facts)
    if credentials:
        caption = (
            "The version at hand first, then what it was made from, as the manifests tell it. The state is the outcome "
            "of checking hashes and signatures; no list of trusted signers was consulted."
        )
        evidence.append(Lineage("History by the content credentials", caption, credentials))
    versions = _versions(facts)
    if versions:
        caption = (
            "Oldest first. Each later version was added behind the one before, which is still there; "
            "forensix extract-revisions FILE writes them out."
        )
        evidence.append(Lineage("Versions of the document", caption, versions))
    saves = _saves(facts)
    return (*evidence, saves) if saves.rows else tuple(evidence)


def _records(facts: Facts, key: str) -> Iterator[dict[str, Any]]:
    return (fact.value for fact in facts.items if fact.key == key and isinstance(fact.value, dict))


def _credentials(facts: Facts) -> tuple[Stage, ...]:
    """Return the active manifest with its ingredients below it, and manifests that nothing refers to after it."""
    manifests = {str(record.get("label")): record for record in _records(facts, "c2pa.manifest")}
    failures = tuple(_records(facts, "c2pa.failure"))
    state = str(facts.get("c2pa.state") or "unknown")
    drawn: set[str] = set()

    def stage(record: dict[str, Any], depth: int, relation: str) -> Stage:
        label = str(record.get("label"))
        drawn.add(label)
        active = bool(record.get("active"))
        failed = tuple(f for f in failures if (label in str(f.get("url")) if f.get("url") else active))
        parts = []
        for item in record.get("ingredients") or ():
            inner = str(item.get("active_manifest") or "")
            name = _words(item.get("relationship")) or "ingredient"
            if inner in manifests and inner not in drawn and depth < MAX_DEPTH and len(drawn) < MAX_STAGES:
                parts.append(stage(manifests[inner], depth + 1, name))
            else:
                parts.append(_ingredient(item, name, inner, known=inner in manifests))
        return Stage(
            title=str(record.get("title") or "without a title") + (" (this file)" if active else ""),
            marks=(*_state(failed, state if active else ""), *(((relation, "none"),) if relation else ())),
            rows=_rows(
                ("written by", record.get("generator")),
                ("signed by", _joined(record.get("signer"), record.get("issuer"))),
                ("certified by", "the signer itself" if record.get("self_signed") else record.get("certified_by")),
                ("signed at", _time(record.get("time"))),
                ("found by a later version", ", ".join(dict.fromkeys(_found_before(record)))),
                ("the check found", "; ".join(_joined(f.get("code"), f.get("explanation")) for f in failed)),
                ("manifest", label),
            ),
            steps=tuple(_step(action) for action in (record.get("actions") or ())[:MAX_STEPS]),
            parts=tuple(parts),
        )

    order = sorted(manifests.values(), key=lambda record: not record.get("active"))
    stages = []
    for record in order:
        if str(record.get("label")) not in drawn and len(drawn) < MAX_STAGES:
            stages.append(stage(record, 0, "" if record.get("active") else "no version refers to it"))
    return tuple(stages)


def _found_before(record: dict[str, Any]) -> Iterator[str]:
    """Yield what a later version found amiss in this one when it was made from it, but for who signed it."""
    return (code for code in record.get("failed_before") or () if is_broken(code) or is_doubtful(code))


def _ingredient(item: dict[str, Any], relation: str, label: str, *, known: bool) -> Stage:
    words = "its manifest is shown elsewhere" if known else "has no manifest of its own"
    rows = _rows(("format", item.get("format")), ("manifest", label))
    return Stage(str(item.get("title") or "without a title"), ((words, "none"), (relation, "none")), rows)


def _state(failed: tuple[dict[str, Any], ...], state: str) -> tuple[tuple[str, str], ...]:
    """Return how the check of one manifest ended, by the same measure as the claims."""
    codes = [code for f in failed if not (code := str(f.get("code"))).startswith(IDENTITY)]
    if any(is_broken(code) for code in codes):
        return (("broken", "critical"),)
    if any(is_doubtful(code) for code in codes):
        return (("valid in part only", "suspect"),)
    marks = [("hashes and signature hold" if state else "no failure reported", "benign")]
    return (*marks, ("signer not verified", "none")) if codes else tuple(marks)


def _step(action: dict[str, Any]) -> str:
    details = (
        ("by", action.get("agent")),
        ("at", _time(action.get("when"))),
        ("source", action.get("source")),
        ("", action.get("description")),
    )
    more = ", ".join(f"{word} {text}".strip() for word, text in details if text)
    return f"{_words(action.get('action'))}{f': {more}' if more else ''}"


def _versions(facts: Facts) -> tuple[Stage, ...]:
    revisions = tuple(_records(facts, "pdf.revision"))[:MAX_STAGES]
    signatures = tuple(_records(facts, "pdf.signature"))
    if len(revisions) < 2 and not signatures:
        return ()
    stages = []
    for i, record in enumerate(revisions):
        start, end = int(record.get("start_offset") or 0), int(record.get("end_offset") or 0)
        before = [s for s in signatures if int(s.get("covered_to") or 0) <= start]
        here = [s for s in signatures if start < int(s.get("covered_to") or 0) <= end]
        named = [str(name) for name in record.get("named") or ()]
        stages.append(
            Stage(
                title=f"Version {record.get('index')}{', its second section' if record.get('same_save') else ''}",
                marks=tuple(_version_marks(record, before)),
                rows=_rows(
                    ("bytes", f"{start:,} to {end:,} ({start:#x} to {end:#x}), {end - start:,} bytes"),
                    ("changes" if i else "holds", record.get("summary")),
                    *((f"signed in {s.get('field') or 'a field'}", _signature(s)) for s in here),
                    *((f"after {s.get('field') or 'a field'} signed", _since(s)) for s in here),
                ),
                steps=tuple(
                    named[:MAX_STEPS] + ([f"and {len(named) - MAX_STEPS} more"] if len(named) > MAX_STEPS else [])
                ),
            )
        )
    return tuple(stages)


def _version_marks(record: dict[str, Any], before: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    if record.get("content_changed"):
        yield "changes what the pages show", "suspect"
    if record.get("same_save"):
        yield "lists the same objects again", "none"
    refused = [s for s in before if s.get("allowed_kept") is False or s.get("intact") is False]
    if refused:
        yield "added after signing, not as the signature allows", "critical"
    elif before:
        yield "added after signing", "none"


def _signature(record: dict[str, Any]) -> str:
    holds = {True: "the bytes it covers are unchanged", False: "the bytes it covers WERE CHANGED"}
    vouched = (
        "signed by its own holder" if record.get("self_signed") else f"issued by {record.get('issuer') or 'nobody'}"
    )
    parts = (
        record.get("signer") or record.get("name"),
        _time(record.get("signed_at") or record.get("m")),
        f"covers up to byte {record['covered_to']:,}" if isinstance(record.get("covered_to"), int) else "",
        holds.get(record.get("intact"), "not checked"),  # type: ignore[arg-type]
        f"certificate {vouched}" if record.get("signer") else "",
    )
    return "; ".join(str(part) for part in parts if part)


def _since(record: dict[str, Any]) -> str:
    """Return what came after a signature, and whether it allows that."""
    modification = record.get("modification")
    if modification in (None, "none"):
        return "nothing" if record.get("coverage") == "entire_file" else ""
    fields = ", ".join(map(str, record.get("changed_fields") or ()))
    changes = record.get("modification_words") or _words(modification)
    allowed = {True: "the signature allows it", False: "the signature does not allow it"}.get(
        record.get("allowed_kept"),  # type: ignore[arg-type]
        "",
    )
    return "; ".join(part for part in (str(changes), f"fields {fields}" if fields else "", allowed) if part)


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
    filled = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    table = tuple(tuple("everything" if row[i] == "/" else row[i] for i in filled) for row in rows)
    return Table("Editing history in the XMP, oldest first", tuple(columns[i] for i in filled), table)


def _rows(*rows: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in rows if value)


def _words(name: object) -> str:
    """Return a name that programs use as words: ``c2pa.color_adjustments`` as ``color adjustments``."""
    text = str(name or "").removeprefix("c2pa.").replace("_", " ")
    return "".join(f" {c.lower()}" if c.isupper() and text[i - 1 : i].islower() else c for i, c in enumerate(text))


def _time(value: object) -> str:
    """Return an ISO 8601 time with a space where it has a T, and anything else as it is."""
    text = str(value or "")
    return f"{text[:10]} {text[11:]}" if len(text) > 18 and text[10] == "T" and text[4] == "-" else text


def _joined(first: object, *more: object) -> str:
    rest = ", ".join(str(part) for part in more if part)
    return f"{first or ''}{f' ({rest})' if rest else ''}".strip()
