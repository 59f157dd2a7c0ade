"""Measure how often the forensic claims accuse real media, by kind of media and by repository.

    python benchmarks/forensic_false_alarms.py --corpora FOLDER --sources FOLDER --repositories FOLDER

takes what is labelled real with its original bytes in ``--corpora`` (pictures and videos that were not re-encoded, and
the camera originals of ``forensics``) and in the lists of ``--sources`` (pictures, videos, speech; read from the
repositories' mirrors in ``--repositories``), at most ``PER_REPOSITORY`` files a repository, drawn with a seed. Each is
opened, read and judged as a user's file is. Beside them stand the files of ``forensics`` that are known to be edited,
for the claims' counts on both.

``--cache FILE`` keeps what each file gave; ``--only image`` measures the pictures again and takes the rest from there.
``--before FILE`` is the cache of an earlier run, whose rates then stand beside.

``--here`` reads and measures in this process (see `benchmarks.in_process`), where a shared machine would run out the
clock of the sandbox.

An untouched camera file is told by its structure alone, whatever the claims say: a JPEG with a make, a date and a
maker's note, whose stated size is the picture's, with no JFIF, nothing of Adobe's and no editor named.
"""

import argparse
import csv
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.forensic_pixels import interval
from benchmarks.in_process import in_process
from forensix.errors import ForensixError, InputNotFound
from forensix.forensics import Finding, claims
from forensix.forensics.software import identify
from forensix.media import open_media
from forensix.metadata.facts import Facts
from forensix.metadata.reader import read_facts
from forensix.training.sources import Repositories, read_list

RESULTS = Path(__file__).parent / "results" / "forensic_false_alarms.md"
PER_REPOSITORY = {"image": 8, "video": 6, "audio": 3}
SEED = 12
NOTED = ("suspect", "critical")
ORIGINAL = "original bytes"
MOST = 30
KINDS = ("image", "video", "audio")
EDITED = ("edited", "multi_version")
FAMILIES = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        ("An editing program is named|The file names the editing program .*", "The file names an editing program"),
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
        ("The editing history names several versions", "The editing history holds # entries of saving"),
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


@dataclass(frozen=True)
class File:
    """One file to judge: where it comes from, and how its bytes are had."""

    kind: str
    repo: str
    path: str
    is_real: bool
    read: Callable[[], bytes]

    @property
    def key(self) -> str:
        """Return the name of the file in the cache."""
        return f"{self.repo}:{self.path}"


def listed(sources: Path, repositories: Repositories) -> Iterator[File]:
    """Yield the real files of the lists whose repositories are there."""
    for name in ("images", "faces", "voice"):
        table = read_list(sources / f"{name}.csv")
        table = table[table["label"] == "real"]
        if name == "faces":
            table = table[table["kind"] == "video"]
        kind = {"images": "image", "faces": "video", "voice": "audio"}[name]
        for row in table.to_dict("records"):
            if not repositories.has(row["repo"]):
                continue
            read = partial(repositories.read, row["repo"], row["path"], blob=row["blob"], ref=row["ref"])
            yield File(kind, row["repo"], row["path"], True, read)


def packed(corpora: Path) -> Iterator[File]:
    """Yield the files of the corpora that kept their bytes: real ones, and those known to be edited."""
    for folder, kind in (("images", "image"), ("faces", "video"), ("forensics", "")):
        root = corpora / folder
        with (root / "manifest.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if folder == "forensics":
                    is_real, is_edited = row["expect"] == "camera_original", row["expect"] in EDITED
                    if row["media"] not in KINDS or not (is_real or is_edited):
                        continue
                elif row["label"] != "real" or row["how"] != ORIGINAL or row.get("kind", kind) != kind:
                    continue
                else:
                    is_real = True
                path, source = root / row["path"], row.get("source_path", row["path"])
                yield File(kind or row["media"], row["source_repo"], source, is_real, path.read_bytes)


def sampled(files: Iterable[File]) -> list[File]:
    """Return at most `PER_REPOSITORY` real files of a repository and kind, and all edited ones."""
    by: dict[tuple[str, str], dict[str, File]] = {}
    edited = []
    for file in files:
        if file.is_real:
            by.setdefault((file.kind, file.repo), {}).setdefault(file.path, file)
        else:
            edited.append(file)
    chosen = []
    for (kind, repo), of in sorted(by.items(), key=lambda item: (KINDS.index(item[0][0]), item[0])):
        paths = sorted(of)
        random.Random(f"{SEED} {kind} {repo}").shuffle(paths)
        chosen += [of[path] for path in paths[: PER_REPOSITORY[kind]]]
    return sorted(chosen + edited, key=lambda file: KINDS.index(file.kind))


def judge(file: File) -> dict[str, Any]:
    """Return what one file gives: its claims, and whether its structure is that of an untouched camera file."""
    row = {"kind": file.kind, "repo": file.repo, "path": file.path, "is_real": file.is_real}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / PurePosixPath(file.path).name
        copy.write_bytes(file.read())
        try:
            with open_media(copy) as media:
                facts = read_facts(media)
                findings = claims(facts, media)
        except ForensixError as refused:
            return {**row, "is_camera": False, "claims": [], "refused": str(refused)}
    claim_rows = [(f.severity, f.claim.claim, names_editor(f), f.claim.explanation) for f in findings]
    return {**row, "is_camera": is_camera(facts), "claims": claim_rows}


def is_camera(facts: Facts) -> bool:
    """Tell whether a file is built as a camera builds it; see the head of this file."""
    size, stated = facts.get("image.size"), [facts.get(f"exif.ExifImage{side}") for side in ("Width", "Height")]
    program = identify(facts.get("exif.Software"))
    return (
        facts.format == "jpeg"
        and all(facts.get(f"exif.{tag}") for tag in ("Make", "MakerNote", "DateTimeOriginal"))
        and all(facts.fact(key) is None for key in ("jpeg.jfif", "jpeg.adobe", "photoshop.resource", "xmp.history"))
        and (program is None or program.category == "camera")
        and size is not None
        and stated == list(size)
    )


def names_editor(finding: Finding) -> bool:
    """Tell whether a claim says no more than that an editing program is named, as the specification asks for."""
    texts = [*(fact.value for fact in finding.facts if isinstance(fact.value, str)), *finding.claim.value]
    programs = [identify(text) for text in texts]
    return "SUSPECT_SOFTWARE" in finding.flags and any(p is not None and p.category == "editor" for p in programs)


def is_suspect(row: dict[str, Any]) -> bool:
    """Tell whether a file is accused of more than naming an editor."""
    return any(severity in NOTED and not named for severity, _, named, _ in row["claims"])


def is_critical(row: dict[str, Any]) -> bool:
    """Tell whether a file has a critical claim."""
    return any(severity == "critical" for severity, *_ in row["claims"])


def rates(rows: list[dict[str, Any]], before: dict[str, dict[str, Any]]) -> list[str]:
    """Return the tables of rates by kind, and by repository."""
    lines = [
        "| real media | files | repositories | suspect or critical | repositories with any | critical | "
        "before: suspect or critical | before: critical |",
        "|---|---|---|---|---|---|---|---|",
    ]
    real = [r for r in rows if r["is_real"]]
    groups = [(kind, [r for r in real if r["kind"] == kind]) for kind in KINDS]
    groups += [("camera files as written", [r for r in real if r["is_camera"]])]
    for name, of in [*groups, ("all", real)]:
        with_any = {r["repo"] for r in of if is_suspect(r)}
        lines.append(
            f"| {name} | {len(of)} | {len({r['repo'] for r in of})} | {share(of, is_suspect)} | {len(with_any)} | "
            f"{share(of, is_critical)} | {share(earlier(of, before), is_suspect)} | "
            f"{share(earlier(of, before), is_critical)} |"
        )
    lines += [
        "",
        "By repository:",
        "",
        "| kind | repository | files | suspect or critical | before |",
        "|---|---|---|---|---|",
    ]
    for kind, repo in sorted({(r["kind"], r["repo"]) for r in real}):
        of = [r for r in real if (r["kind"], r["repo"]) == (kind, repo)]
        lines.append(
            f"| {kind} | {repo} | {len(of)} | {share(of, is_suspect)} | {share(earlier(of, before), is_suspect)} |"
        )
    return [*lines, ""]


def share(rows: list[dict[str, Any]], holds: Callable[[dict[str, Any]], bool]) -> str:
    """Return a share with its interval, or nothing where there are no rows."""
    return interval(sum(map(holds, rows)), len(rows)) if rows else ""


def earlier(rows: list[dict[str, Any]], before: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the same files gave in the earlier run."""
    return [before[key] for r in rows if (key := f"{r['repo']}:{r['path']}") in before]


def frequent(rows: list[dict[str, Any]], before: dict[str, dict[str, Any]]) -> list[str]:
    """Return the claims that occur most, with the files that get them."""
    lines = [
        f"The {MOST} most frequent claims (numbers and names in their words left out), in files that get them:",
        "",
        "| severity | claim | real | edited | before: real | before: edited |",
        "|---|---|---|---|---|---|",
    ]
    now, then = (count(of) for of in (rows, earlier(rows, before)))
    most = sorted(now, key=lambda key: (-sum(now[key].values()), key))[:MOST]
    noted = [key for key in sorted(now, key=lambda key: (-now[key][True], key)) if key[0] in NOTED and now[key][True]]
    for key in most:
        lines.append(_counted(key, now, then))
    lines += ["", "All suspect and critical claims on real files:", "", *lines[2:4]]
    lines += [_counted(key, now, then) for key in noted]
    return [*lines, ""]


def _counted(key: tuple[str, str], now: dict[Any, Counter[bool]], then: dict[Any, Counter[bool]]) -> str:
    past = then.get(key, Counter())
    return f"| {key[0]} | {key[1]} | {now[key][True]} | {now[key][False]} | {past[True]} | {past[False]} |"


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


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True, help="folder of mirrors named owner+name")
    parser.add_argument("--only", choices=KINDS, help="measure this kind again, take the others from the cache")
    parser.add_argument("--cache", type=Path, help="JSON file of what each file gave")
    parser.add_argument("--before", type=Path, help="cache of an earlier run, to stand beside")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--here", action="store_true", help="read and measure in this process, without limits of time")
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    cached = json.loads(chosen.cache.read_text()) if chosen.cache and chosen.cache.exists() else {}
    before = json.loads(chosen.before.read_text()) if chosen.before else {}
    rows = []
    with Repositories(chosen.repositories) as repositories, in_process() if chosen.here else nullcontext():
        files = sampled([*listed(chosen.sources, repositories), *packed(chosen.corpora)])
        for i, file in enumerate(files):
            if chosen.only not in (None, file.kind):
                if file.key in cached:
                    rows.append(cached[file.key])
                continue
            try:
                cached[file.key] = judge(file)
            except InputNotFound as absent:
                print(f"left out: {absent}", flush=True)
                continue
            rows.append(cached[file.key])
            if chosen.cache:
                chosen.cache.write_text(json.dumps(cached))
            noted = [c for s, c, named, _ in cached[file.key]["claims"] if s in NOTED]
            print(f"{i + 1}/{len(files)} {'real' if file.is_real else 'edited'} {file.key} {noted}", flush=True)
    head = [
        "# Forensic claims on real media",
        "",
        "Made by `python -m benchmarks.forensic_false_alarms --corpora ../shared/corpora --sources ../shared/sources "
        "--repositories MIRRORS --here --before FILE` (its docstring says what is taken). A file counts as suspect "
        "with any suspect or critical claim but that an editor is named. Shares with 95 % Wilson intervals, which "
        "treat files of one repository as if they were drawn alone. Claims of the earlier run are counted under "
        "today's words.",
        "",
        "Repositories of this table were in sight while thresholds were set: of copied areas openMVG, page_dewarp, "
        "SROIE and experiment-real-or-ai-face, of parts with another compression history SROIE, Houses, BrushNet and "
        "sharp. Photographs that chose nothing are in `forensic_copies.md` and `forensic_consistency.md`.",
        "",
    ]
    chosen.output.write_text("\n".join([*head, *rates(rows, before), *frequent(rows, before)]), encoding="utf-8")
    print(f"written to {chosen.output}")


if __name__ == "__main__":
    main()
