"""The tables of `benchmarks.forensic_false_alarms`: rates, and the most frequent claims."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.forensic_pixels import interval

NOTED = ("suspect", "critical")


MOST = 30


KINDS = ("image", "video", "audio")


EDITED = ("edited", "multi_version")


FAMILIES = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        ("An editing program is named|The file names the editing programs? .*", "The file names an editing program"),
        ("A converter is named|Processed by FFmpeg|The file was converted .*", "The file was converted or rewritten"),
        ("How the JPEG was compressed|The JPEG was compressed with .*", "The JPEG was compressed with certain tables"),
        ("An error-level map .*", "An error-level map of the picture is attached"),
        ("The device that made it is named", "The file names the device that made it"),
        ("A colour profile is embedded", "The file embeds a colour profile"),
        ("The file says nothing of its origin", "The file says nothing about its origin"),
        ("How the picture is encoded|The picture is encoded as .*", "The picture is encoded in a certain way"),
        ("The order of the boxes is told|The index comes .*", "The index comes before or after the recording"),
        ("The names of the tracks tell .*|The tracks bear .*", "The tracks bear the names that a program gives"),
        ("The encoder is named", "The file names the library that encoded it"),
        ("A program has written a .* block", "A program has added a block for captions"),
        ("A program or firmware is named", "The file states the version of the camera's firmware"),
        ("Serial numbers are in the file", "The file holds serial numbers"),
        ("The picture was derived from another", "The file says that it was made from another document"),
        (
            "The editing history (names several versions|holds .*)",
            "The editing history holds # entries of saving",
        ),
        ("An editing history is kept", "The file keeps an editing history"),
        ("The embedded previews? shows? this picture", "The embedded preview shows this picture"),
        ("(An|#) embedded previews? shows? another picture", "An embedded preview shows another picture"),
        ("The sound ends at .*|The sound holds nothing above .*", "The sound holds nothing above # Hz"),
        ("Frames hardly differ .*|# frames? hardly .*", "# frames hardly differ from the frame before"),
        ("The sound breaks at .*|The waveform jumps at .*", "The waveform jumps at # places"),
        ("The background changes at once", "The background noise changes abruptly"),
        ("The (file's )?name does not fit (the|its) content", "The file's name does not match its content"),
        ("The picture is a screenshot", "The file says that it is a screenshot"),
        ("The file has small faults of form", "The file has small structural faults"),
        ("The caption was changed by another program", "The caption was changed after its digest was written"),
        (
            "Photoshop left its marks .*|The file holds blocks that Adobe.*",
            "The file holds Photoshop's blocks, unnamed",
        ),
    )
)
"""Claims that are counted as one: what they name is left out, and earlier wordings of them count with today's."""


def is_suspect(row: dict[str, Any]) -> bool:
    """Tell whether a file is accused of more than naming an editor."""
    return any(severity in NOTED and not named for severity, _, named, _ in row["claims"])


def is_critical(row: dict[str, Any]) -> bool:
    """Tell whether a file has a critical claim."""
    return any(severity == "critical" for severity, *_ in row["claims"])


def rates(rows: list[dict[str, Any]]) -> list[str]:
    """Return the tables of rates by kind, and by repository."""
    lines = [
        "| real media | files | repositories | suspect or critical | repositories with any | critical |",
        "|---|---|---|---|---|---|",
    ]
    real = [r for r in rows if r["is_real"]]
    groups = [(kind, [r for r in real if r["kind"] == kind]) for kind in KINDS]
    groups += [("camera files as written", [r for r in real if r["is_camera"]])]
    for name, of in [*groups, ("all", real)]:
        with_any = {r["repo"] for r in of if is_suspect(r)}
        lines.append(
            f"| {name} | {len(of)} | {len({r['repo'] for r in of})} | {share(of, is_suspect)} | {len(with_any)} | "
            f"{share(of, is_critical)} |"
        )
    lines += [
        "",
        "By repository:",
        "",
        "| kind | repository | files | suspect or critical |",
        "|---|---|---|---|",
    ]
    for kind, repo in sorted({(r["kind"], r["repo"]) for r in real}):
        of = [r for r in real if (r["kind"], r["repo"]) == (kind, repo)]
        lines.append(f"| {kind} | {repo} | {len(of)} | {share(of, is_suspect)} |")
    return [*lines, ""]


def share(rows: list[dict[str, Any]], holds: Callable[[dict[str, Any]], bool]) -> str:
    """Return a share with its interval, or nothing where there are no rows."""
    return interval(sum(map(holds, rows)), len(rows)) if rows else ""


def frequent(rows: list[dict[str, Any]]) -> list[str]:
    """Return the claims that occur most, with the files that get them."""
    lines = [
        f"The {MOST} most frequent claims (numbers and names in their words left out), in files that get them:",
        "",
        "| severity | claim | real | edited |",
        "|---|---|---|---|",
    ]
    counted = count(rows)
    most = sorted(counted, key=lambda key: (-sum(counted[key].values()), key))[:MOST]
    noted = [key for key in sorted(counted, key=lambda key: (-counted[key][True], key)) if key[0] in NOTED]
    table = {key: f"| {' | '.join(key)} | {counted[key][True]} | {counted[key][False]} |" for key in counted}
    lines += [table[key] for key in most]
    lines += ["", "All suspect and critical claims on real files:", "", *lines[2:4]]
    lines += [table[key] for key in noted if counted[key][True]]
    return [*lines, ""]


def document_claims(rows: list[dict[str, Any]]) -> list[str]:
    """Return the tables of documents: how many are accused, and by what; each row says its ``seconds`` too."""
    lines = ["| documents | n | suspect at most | critical | seconds each |", "|---|---|---|---|---|"]
    for name, is_plain in (("plain", True), ("counted apart", False)):
        of = [row for row in rows if row["is_real"] == is_plain]
        n_critical = sum(map(is_critical, of))
        n_suspect = sum(any(severity in NOTED for severity, *_ in row["claims"]) for row in of) - n_critical
        mean_s = sum(row["seconds"] for row in of) / max(1, len(of))
        lines.append(f"| {name} | {len(of)} | {n_suspect} | {n_critical} | {mean_s:.2f} |")
    lines += ["", "| claim | severity | plain | counted apart |", "|---|---|---|---|"]
    counted = count(rows)
    for severity, claim in sorted(counted, key=lambda key: key[::-1]):
        of_claim = counted[severity, claim]
        lines.append(f"| {claim} | {severity} | {of_claim[True]} | {of_claim[False]} |")
    return lines


def count(rows: list[dict[str, Any]]) -> dict[tuple[str, str], Counter[bool]]:
    """Count files by severity and claim, real and edited apart."""
    counted: dict[tuple[str, str], Counter[bool]] = {}
    for row in rows:
        for severity, claim in {(s, without_numbers(c)) for s, c, *_ in row["claims"]}:
            counted.setdefault((severity, claim), Counter())[row["is_real"]] += 1
    return counted


def without_numbers(claim: str) -> str:
    """Return a claim with its numbers replaced and without what it names, so that it is counted as one."""
    plain = re.sub(r"\d+", "#", claim).replace("|", "/")
    return next((words for pattern, words in FAMILIES if pattern.fullmatch(plain)), plain)
