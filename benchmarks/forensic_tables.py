"""Learn which quantisation tables are whose, and measure how well a maker is known from its tables alone.

    python -m benchmarks.forensic_tables --corpora FOLDER [--more FOLDER ...] [--write]

reads the JPEG files of the forensic corpus and of folders with original files, and learns only from files that prove
their encoder by something other than the tables:

- Adobe: an APP14 Adobe segment, which Adobe's encoder writes, and either a tag that names an Adobe program or a Ducky
  segment; and the thumbnail in a Photoshop block under the same conditions.
- A camera's maker: EXIF make and maker notes, no program named, and no segment of Adobe's; at least two files.

Tables that some quality of the standard reproduces are never learnt, nor are sets that two makers share. `--write`
replaces `forensix/metadata/image/jpeg_makers.csv`. Recognition is measured with the tables alone, as after removal of
every tag, from tables learnt without the file itself, and without its whole repository. Intervals are Wilson's, 95 %.
"""

import argparse
import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forensic_pixels import interval
from forensix.forensics.rules import image, image_encoding
from forensix.metadata.facts import Facts
from forensix.metadata.image import jpeg, jpeg_tables

RESULTS = Path(__file__).parent / "results" / "forensic_tables.md"
TABLE = Path(jpeg_tables.__file__).with_name("jpeg_makers.csv")
MIN_CAMERA_FILES = 2
SUFFIXES = (".jpg", ".jpeg", ".jpe", ".jfif")


@dataclass(frozen=True)
class Seen:
    """One JPEG picture; ``proves`` is the maker that it proves without its tables, or empty."""

    name: str
    repository: str
    sha256: str
    tables: str
    luminance: str
    is_own: bool
    proves: str
    names_adobe: bool
    is_camera: bool
    model: str
    claim: str
    is_thumbnail: bool = False


def read(path: Path, repository: str) -> list[Seen]:
    """Return a file's picture and, where it has one, the thumbnail of its Photoshop block."""
    data = path.read_bytes()
    parts = jpeg.parse(data)
    if not parts.tables:
        return []
    facts = Facts("image", "jpeg", tuple(parts.facts))
    programs = [program for _, program in image._programs(facts)]
    names_adobe = any(program.name.startswith("Adobe") for program in programs)
    has_marker = facts.fact("jpeg.adobe") is not None
    is_adobe = has_marker and (names_adobe or facts.fact("jpeg.ducky") is not None)
    make = str(facts.get("exif.Make") or "").strip(" \0")
    model = str(facts.get("exif.Model") or "").strip(" \0")
    others = any(program.category != "camera" for program in programs) or facts.fact("photoshop.resource") is not None
    is_camera = bool(make) and facts.fact("exif.MakerNote") is not None and not others and not has_marker
    proves = "Adobe" if is_adobe else make.title() if is_camera else ""
    sha256 = hashlib.sha256(data).hexdigest()

    claimed = list(image_encoding.adobe_tables(facts, is_named=names_adobe))

    def seen(tables: dict[int, list[int]], maker: str, *, is_thumbnail: bool) -> Seen:
        complete, luminance = jpeg_tables.fingerprint(tables)
        is_own = jpeg_tables.describe(tables)["maker"] == "own"
        return Seen(
            path.name,
            repository,
            sha256,
            complete,
            luminance,
            is_own,
            maker,
            names_adobe,
            is_camera,
            model,
            claimed[0].severity if claimed else "",
            is_thumbnail,
        )

    rows = [seen(parts.tables, proves, is_thumbnail=False)]
    for name, raw, _ in parts.thumbnails:
        small = jpeg.parse(raw)
        if name == "Photoshop thumbnail" and small.tables and any(f.key == "jpeg.adobe" for f in small.facts):
            rows.append(seen(small.tables, "Adobe" if names_adobe else "", is_thumbnail=True))
    return rows


def learn(pictures: Iterable[Seen]) -> list[dict[str, str]]:
    """Return the rows of the list of makers."""
    proved: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    whose: dict[str, set[str]] = defaultdict(set)
    thumbnails: Counter[tuple[str, str]] = Counter()
    models: dict[tuple[str, str], set[str]] = defaultdict(set)
    for picture in pictures:
        if picture.is_own and picture.proves:
            key = picture.tables, picture.luminance
            proved[key][picture.proves].add(picture.sha256)
            whose[picture.luminance].add(picture.proves)
            thumbnails[key] += picture.is_thumbnail
            models[key].add(picture.model)
    rows = []
    for key, makers in proved.items():
        if len(whose[key[1]]) > 1:
            continue
        (maker, files), *_ = makers.items()
        if maker != "Adobe" and len(files) < MIN_CAMERA_FILES:
            continue
        if maker == "Adobe":
            note = f"APP14 with an Adobe program's name or Ducky; thumbnails: {thumbnails[key]}"
        else:
            note = f"make and maker notes and no program; models: {len(models[key])}"
        rows.append(
            {"tables": key[0], "luminance": key[1], "maker": maker, "files": str(len(files)), "learnt_from": note}
        )
    return sorted(rows, key=lambda row: (row["maker"], -int(row["files"]), row["tables"]))


def recognised(picture: Seen, rows: list[dict[str, str]], *, by_luminance: bool = True) -> str:
    """Return the maker that rows give for a picture's tables, or nothing, as the library looks them up."""
    by_set = {row["tables"]: row["maker"] for row in rows}
    single = {row["luminance"]: row["maker"] for row in rows} if by_luminance else {}
    if not picture.is_own:
        return ""
    return by_set.get(picture.tables) or single.get(picture.luminance, "")


def gather(corpora: Path, more: Iterable[Path]) -> list[Seen]:
    """Read every JPEG once; the same bytes at two places count as one file."""
    with (corpora / "forensics" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        listed = [(corpora / "forensics" / row["path"], row["source_repo"]) for row in csv.DictReader(file)]
    for folder in more:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                listed.append((path, path.relative_to(folder).parts[0].replace("+", "/")))
    rows: list[Seen] = []
    known: set[str] = set()
    for path, repository in listed:
        if path.suffix.lower() not in SUFFIXES:
            continue
        pictures = read(path, repository)
        if pictures and pictures[0].sha256 not in known:
            known.add(pictures[0].sha256)
            rows += pictures
    return rows


def report(pictures: list[Seen], rows: list[dict[str, str]]) -> str:
    """Return the text of the report."""
    files = [p for p in pictures if not p.is_thumbnail]
    adobe = [p for p in files if p.names_adobe]
    cameras = [p for p in files if p.is_camera]
    silent = [p for p in files if not p.names_adobe and not p.is_camera and p.is_own and not p.proves]
    lines = [
        "# Quantisation tables and their makers",
        "",
        "Made by `python -m benchmarks.forensic_tables` (its docstring says from what and how). "
        f"{len(files)} different JPEG files, {sum(p.is_own for p in files)} with tables that no quality of the "
        "standard reproduces. Shares with 95 % Wilson intervals.",
        "",
        "| with the tables alone | tables learnt without the file | without its repository |",
        "|---|---|---|",
    ]
    without_file = {p.sha256: learn(q for q in pictures if q.sha256 != p.sha256) for p in adobe + cameras if p.is_own}
    repositories = {p.repository for p in files}
    without_repository = {name: learn(q for q in pictures if q.repository != name) for name in repositories}

    def known(group: list[Seen], maker: str | None, *, by_luminance: bool = True) -> str:
        """Return the shares of a group that are given a maker, or any maker, under both ways to learn."""

        def hit(maker_read: str) -> bool:
            return bool(maker_read) if maker is None else maker_read == maker

        n_hits = sum(hit(recognised(p, without_file.get(p.sha256, []), by_luminance=by_luminance)) for p in group)
        far = sum(hit(recognised(p, without_repository[p.repository], by_luminance=by_luminance)) for p in group)
        return f"{interval(n_hits, len(group))} | {interval(far, len(group))}"

    own = [p for p in adobe if p.is_own]
    proving = [p for p in own if p.proves == "Adobe"]
    lines += [
        f"| name Adobe: recognised as Adobe's | {known(adobe, 'Adobe')} |",
        f"| of these with tables of their own | {known(own, 'Adobe')} |",
        f"| of these with Adobe's APP14 | {known(proving, 'Adobe')} |",
        f"| the same, by whole sets only | {known(proving, 'Adobe', by_luminance=False)} |",
        f"| camera files ({len({p.model for p in cameras})} models): taken for Adobe's | {known(cameras, 'Adobe')} |",
        f"| camera files with own tables: some maker known | {known([p for p in cameras if p.is_own], None)} |",
        "",
    ]
    missed = [p.name for p in own if recognised(p, without_file[p.sha256]) != "Adobe"]
    again = [p.name for p in adobe if not p.is_own]
    wrong = [p.name for p in cameras if recognised(p, rows) not in ("", p.proves)]
    lines += [
        f"Name Adobe, have tables of their own and are missed without the file: {', '.join(missed) or 'none'}.",
        "",
        f"Name Adobe but have the standard's tables, so nothing can be learnt from them: {', '.join(again) or 'none'}.",
        "",
        f"Camera files given another maker by the list as it stands: {', '.join(wrong) or 'none'}.",
        "",
        "| files that prove no maker, tables of their own | files |",
        "|---|---|",
    ]
    by_maker: dict[str, list[str]] = defaultdict(list)
    for p in silent:
        by_maker[recognised(p, rows) or "not in the list"].append(p.name)
    for name, names in sorted(by_maker.items()):
        lines.append(f"| {name}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''} | {len(names)} |")
    rest = [p for p in files if not p.names_adobe and not p.is_camera]
    lines += [
        "",
        "| the claim on files as they are, list as it was before this run | benign | suspect |",
        "|---|---|---|",
    ]
    for name, group in (("camera files", cameras), ("others that do not name Adobe", rest)):
        counts = [[p.name for p in group if p.claim == severity] for severity in ("benign", "suspect")]
        cells = " | ".join(f"{len(n)} of {len(group)}{': ' if n else ''}{', '.join(n[:6])}" for n in counts)
        lines.append(f"| {name} | {cells} |")
    lines += ["", "| tables | luminance | maker | files | learnt from |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    shared = defaultdict(set)
    for p in pictures:
        if p.is_own and p.proves:
            shared[p.luminance].add(p.proves)
    both = [f"{table}: {' and '.join(sorted(makers))}" for table, makers in sorted(shared.items()) if len(makers) > 1]
    lines += ["", f"Luminance tables that two makers share, and which are not learnt: {'; '.join(both) or 'none'}.", ""]
    return "\n".join(lines)


def main() -> None:
    """Learn, measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--more", type=Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    pictures = gather(arguments.corpora, arguments.more)
    rows = learn(pictures)
    if arguments.write:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    text = report(pictures, rows)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
