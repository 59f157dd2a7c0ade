"""Compare what is said of the signatures of PDFs with ``pdfsig`` (poppler), signature by signature.

    python benchmarks/forensic_signatures.py --corpora FOLDER

goes over every PDF of ``FOLDER/forensics`` that holds a byte range and writes
``benchmarks/results/forensic_signatures.md``. Signatures are paired by the bytes they cover. ``pdfsig`` checks the
digest and the value of each signature, and whether it reaches the end of the file; it says nothing of what came after.
"""

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forensix.forensics import claims
from forensix.media import open_media
from forensix.metadata.reader import read_facts

RESULTS = Path(__file__).parent / "results" / "forensic_signatures.md"
PDFSIG_S = 30
SAYS = {
    "Signature is Valid.": "holds",
    "Digest Mismatch.": "broken",
    "Signature is Invalid.": "broken",
}
NOTES: dict[tuple[str, int], str] = {
    ("0144_", 1): "An Ed25519 signature, which poppler 22.12 cannot check; pyHanko can, and it holds.",
    (
        "0190_",
        0,
    ): "pdfsig calls it valid though it covers 40 of 7486 bytes. Both are right on the digest; what it covers "
    "is not the document, so here that is the claim.",
    (
        "0271_",
        0,
    ): "The fuzzed value is not hexadecimal. pdfsig skips what it cannot read and then finds that the digest "
    "differs; here it is told as not readable.",
    ("0313_", 0): "The list of digest algorithms in the value names another one than the signer's entry. openssl stops "
    "at this ('no matching digest') and poppler's library says mismatch; the digest that the signer's entry names fits "
    "the bytes, and its signature fits the key.",
}
"""Why the two differ, by the start of the file's name and the number of the signature; written after looking."""


@dataclass(frozen=True)
class Pair:
    """What the two say of one signature."""

    path: Path
    index: int
    ranges: tuple[int, ...]
    ours: str
    theirs: str
    end_ours: bool | None
    end_theirs: bool | None
    claims: tuple[str, ...]

    @property
    def agree(self) -> bool:
        """Tell whether both say the same of the digest and of the end."""
        return self.ours == self.theirs and (self.end_ours == self.end_theirs or self.ours != "holds")


def pdfsig(path: Path) -> dict[tuple[int, ...], tuple[str, bool]]:
    """Return for the byte range of each signature what pdfsig says, and whether it reaches the end of the file."""
    answer = subprocess.run(["pdfsig", "-nocert", path], capture_output=True, timeout=PDFSIG_S, check=False)
    by_range = {}
    for block in re.split(r"Signature #\d+:", answer.stdout.decode("utf-8", "replace"))[1:]:
        ranges = re.search(r"Signed Ranges: \[(\d+) - (\d+)\], \[(\d+) - (\d+)\]", block)
        said = re.search(r"Signature Validation: (.*)", block)
        if ranges:
            a, b, c, d = (int(g) for g in ranges.groups())
            words = said[1].strip() if said else "nothing"
            by_range[a, b - a, c, d - c] = (SAYS.get(words, words), "- Total document signed" in block)
    return by_range


def ours(path: Path) -> tuple[dict[tuple[int, ...], tuple[str, bool]], tuple[str, ...]]:
    """Return for the byte range of each signature what is said here, and the claims on signatures."""
    with open_media(path) as media:
        facts = read_facts(media)
        findings = claims(facts, media)
    by_range = {}
    for fact in facts.items:
        if fact.key in ("pdf.signature", "pdf.signature.unread"):
            record = fact.value
            if fact.key == "pdf.signature.unread" or record["intact"] is None:
                said = "not checked"
            else:
                said = "holds" if record["intact"] and record["valid"] else "broken"
            end = abs(record["covered_to"] - path.stat().st_size) <= 2
            by_range[tuple(record["byte_range"][:4])] = (said, end)
    return by_range, tuple(f"{f.severity}: {f.claim.claim}" for f in findings if f.claim.type == "signature")


def compare(path: Path) -> list[Pair]:
    """Return one pair for each signature that either of the two finds."""
    mine, said = ours(path)
    theirs = pdfsig(path)
    pairs = []
    for i, key in enumerate(sorted({*mine, *theirs}, key=lambda k: k[-2] + k[-1])):
        a, b = mine.get(key, ("not found", None)), theirs.get(key, ("not found", None))
        pairs.append(Pair(path, i, key, a[0], b[0], a[1], b[1], said))
    return pairs


def table(pairs: list[Pair], version: str) -> str:
    """Return the report in Markdown."""
    files = {p.path for p in pairs}
    agree = sum(p.agree for p in pairs)
    lines = [
        "# Signatures of PDFs beside pdfsig",
        "",
        f"Made by `python benchmarks/forensic_signatures.py --corpora ../shared/corpora` with {version}.",
        f"{len(pairs)} signatures in {len(files)} files; the two agree on {agree} of {len(pairs)}: on the digest and "
        "the value, and on whether the signature reaches to the end of the file.",
        "",
        "| here | pdfsig | signatures |",
        "|---|---|---|",
    ]
    for (mine, theirs), n in sorted(Counter((p.ours, p.theirs) for p in pairs).items()):
        lines.append(f"| {mine} | {theirs} | {n} |")
    lines += ["", "## Each disagreement", "", "| file | signature | here | pdfsig | why |", "|---|---|---|---|---|"]
    for p in pairs:
        note = next((t for (start, i), t in NOTES.items() if p.path.name.startswith(start) and i == p.index), "")
        if not p.agree or note:
            lines.append(f"| {p.path.name} | {p.index + 1} | {p.ours} | {p.theirs} | {note or 'not looked at yet'} |")
    lines += ["", "## What is claimed beyond that", "", "| file | claims on signatures |", "|---|---|"]
    for path in sorted(files):
        said = next(p.claims for p in pairs if p.path == path)
        lines.append(f"| {path.name} | {'; '.join(dict.fromkeys(said))} |")
    return "\n".join(lines) + "\n"


def main(arguments: Iterable[str] | None = None) -> None:
    """Compare and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds forensics/pdf")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    paths = sorted(p for p in (chosen.corpora / "forensics" / "pdf").iterdir() if b"/ByteRange" in p.read_bytes())
    pairs = [pair for path in paths for pair in compare(path)]
    version = subprocess.run(["pdfsig", "-v"], capture_output=True, text=True, check=False).stderr.splitlines()[0]
    chosen.output.write_text(table(pairs, version), encoding="utf-8")
    print(chosen.output.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
