"""Measure how often the forensic claims accuse real media, by kind of media and by repository.

    python -m benchmarks.forensic_false_alarms --corpora FOLDER --sources FOLDER --repositories FOLDER

takes what is labelled real with its original bytes in ``--corpora`` (pictures and videos that were not re-encoded, and
the camera originals of ``forensics``) and in the lists of ``--sources`` (pictures, videos, speech; read from the
repositories' mirrors in ``--repositories``), at most ``PER_REPOSITORY`` files a repository, drawn with a seed. Each is
opened, read and judged as a user's file is. Beside them stand the files of ``forensics`` that are known to be edited,
for the claims' counts on both.

``--cache FILE`` keeps what each file gave; ``--only image`` measures the pictures again and takes the rest from there.

``--documents FOLDER`` measures PDFs alone, all that lie below that folder, each once, and prints what came of them: how
many get a suspect or critical claim, each claim, and the seconds a document takes. Where a ``manifest.csv`` in it, as
of ``forensics``, says that a document was edited, made by a generator or damaged, or that its dates disagree, it is
counted apart.

``--here`` reads and measures in this process (see `benchmarks.in_process`), where a shared machine would run out the
clock of the sandbox.

An untouched camera file is told by its structure alone, whatever the claims say: a JPEG with a make, a date and a
maker's note, whose stated size is the picture's, with no JFIF, nothing of Adobe's and no editor named.
"""

import argparse
import csv
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.false_alarm_tables import EDITED, KINDS, NOTED, document_claims, frequent, rates
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
ORIGINAL = "original bytes"
NOT_PLAIN = (*EDITED, "ai_generated", "date_mismatch", "malformed")
"""What a manifest says of documents that are counted apart."""


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


def documents(root: Path) -> Iterator[File]:
    """Yield the PDFs below a folder, each content once; those that a manifest says `NOT_PLAIN` of are not real."""
    labels: dict[Path, set[str]] = {}
    if (root / "manifest.csv").exists():
        with (root / "manifest.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                labels[root / row["path"]] = {row["expect"], *row["also"].split("|")}
    seen = set()
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() != ".pdf" or not path.is_file():
            continue
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest not in seen:
            seen.add(digest)
            is_plain = labels.get(path, set()).isdisjoint(NOT_PLAIN)
            yield File("pdf", root.name, str(path.relative_to(root)), is_plain, path.read_bytes)


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


def measured(files: Iterable[File]) -> list[str]:
    """Return the tables of documents, and print those that are accused on the way."""
    rows = []
    for file in files:
        begun = time.monotonic()
        row = judge(file)
        rows.append({**row, "seconds": time.monotonic() - begun})
        if noted := [f"{claim}: {why}" for severity, claim, _, why in row["claims"] if severity in NOTED]:
            print(f"{'plain' if file.is_real else 'apart'} {file.path} {noted}", flush=True)
        if "refused" in row:
            print(f"refused {file.path}: {row['refused']}", flush=True)
    return document_claims(rows)


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--repositories", type=Path, help="folder of mirrors named owner+name")
    parser.add_argument("--documents", type=Path, help="folder of PDFs: measures these alone, and prints the result")
    parser.add_argument("--only", choices=KINDS, help="measure this kind again, take the others from the cache")
    parser.add_argument("--cache", type=Path, help="JSON file of what each file gave")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--here", action="store_true", help="read and measure in this process, without limits of time")
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    if chosen.documents:
        with in_process() if chosen.here else nullcontext():
            print("\n".join(measured(documents(chosen.documents))))
        return
    if not (chosen.corpora and chosen.sources and chosen.repositories):
        parser.error("give --corpora, --sources and --repositories, or --documents alone")
    cached = json.loads(chosen.cache.read_text()) if chosen.cache and chosen.cache.exists() else {}
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
        "--repositories MIRRORS --here` (its docstring says what is taken). A file counts as suspect with any "
        "suspect or critical claim but that an editor is named. Shares with 95 % Wilson intervals, which treat files "
        "of one repository as if they were drawn alone.",
        "",
        "Repositories of this table were in sight while thresholds were set: of copied areas openMVG, page_dewarp, "
        "SROIE and experiment-real-or-ai-face, of parts with another compression history SROIE, Houses, BrushNet and "
        "sharp, of captions ConePictures. Photographs that chose nothing are in `forensic_copies.md` and "
        "`forensic_consistency.md`.",
        "",
    ]
    chosen.output.write_text("\n".join([*head, *rates(rows), *frequent(rows)]), encoding="utf-8")
    print(f"written to {chosen.output}")


if __name__ == "__main__":
    main()
