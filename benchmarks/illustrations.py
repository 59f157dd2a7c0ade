"""Pictures that people drew, before generators did: how many are called generated, and what the rule for them costs.

    python -m benchmarks.illustrations --list CSV --repositories DIR

Of each repository of `DRAWN` and `UNSEEN` up to `MOST` pictures of 448 px and more are taken from its last state
before `BEFORE`: illustrations of games and cards, wallpapers, textures, rendered scenes and screens, a few photographs
among them. They are analysed as they are. ``reach the bound`` counts scores, ``called generated`` verdicts, and the
column between them those that no other rule than `looks_illustrated` would have withheld. Nothing was trained on
`DRAWN`; that half of some of these were called generated is why there is a rule, and they were in sight when its
threshold was set. `UNSEEN` were looked at once, after it was made.

Then the list's development pictures of 448 px and more: what the rule withholds of the generated ones that reach the
bound is its cost, and of the photographs its gain. Shares come with Wilson intervals of 95 %.
"""

import argparse
import io
import random
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
from PIL import Image

import forensix
from benchmarks.forensic_pixels import interval
from forensix.errors import ForensixError, InputNotFound
from forensix.models import band_of, get_card
from forensix.synthetic import content
from forensix.tasks.catalogue import AI_GENERATED_IMAGE_DETECTION
from forensix.training.sources import Repositories, read_list

TASK = AI_GENERATED_IMAGE_DETECTION.name
DRAWN = (
    "ELY3M/my-wallpapers-and-images",
    "NAJA5152/TouhouMachineLearning2022",
    "OpenDungeons/OpenDungeons",
    "Tuxemon/Tuxemon",
    "antoniosarosi/Wallpapers",
    "bianjingshiyi/TouhouHeartstone",
    "galaxyyao/TouhouGrave",
    "naev/naev-artwork",
    "renpy/renpy",
)
UNSEEN = (
    "Kylart/KawAnime",
    "TakeoItashi/VisualNovel",
    "TouHouGuMiao/NewLie",
    "UXTOUHOU/TouHouExploding",
    "a710594/Touhou_Dungeon",
    "asd4486/DOKIDOKI-Visual-Novel-Maker",
    "imgRenko/Simple-TouHou-STG-Framework-for-Unity",
    "wizered67/ProjectVisualNovel",
)
BEFORE = "2022-04-01"
"""DALL-E 2 was shown in April 2022, and the first model whose weights anybody could run in August."""
MOST = 30
LEAST_BYTES, MOST_BYTES = 30_000, 8_000_000
LEAST_SIDE_PX = content.SMALL_PX
PICTURE = re.compile(r"\.(jpe?g|png|webp)$", re.IGNORECASE)


def drawn(folder: Path) -> Iterator[bytes]:
    """Yield pictures of a repository's last state before `BEFORE`, in an order drawn by a fixed seed."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "--git-dir", folder, *words], capture_output=True, check=True).stdout

    commit = git("rev-list", "-1", f"--before={BEFORE}", "HEAD").decode().strip()
    blobs = []
    for entry in git("ls-tree", "-r", "-l", "-z", commit).decode(errors="replace").split("\0")[:-1]:
        about, path = entry.split("\t", 1)
        _, _, blob, size = about.split()
        if PICTURE.search(path) and size.isdigit() and LEAST_BYTES < int(size) < MOST_BYTES:
            blobs.append(blob)
    random.Random(1).shuffle(blobs)
    left = MOST
    for blob in dict.fromkeys(blobs):
        data = git("cat-file", "blob", blob)
        if left and is_large(data):
            left -= 1
            yield data


def is_large(data: bytes) -> bool:
    """Tell whether bytes are a picture that is not called small."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            return min(image.size) >= LEAST_SIDE_PX
    except (OSError, ValueError, SyntaxError):
        return False


def judged(pictures: Iterable[bytes], upper: float) -> pd.DataFrame:
    """Return of each picture whether it reaches the bound, is called generated, and is withheld by the rule alone."""
    rows = []
    for data in pictures:
        try:
            report = forensix.analyze(io.BytesIO(data), tasks=[TASK], explain=False)
        except ForensixError:
            continue
        if report.verdicts[TASK] == "failed":
            continue
        reaches, is_fake = (report.scores[TASK] or 0.0) >= upper, report.verdicts[TASK] == "fake"
        is_rule = any(note.startswith("The picture looks drawn") for note in report.outcomes[TASK].notes)
        rows.append((reaches, reaches and is_rule, is_fake))
    return pd.DataFrame(rows, columns=["reaches", "withheld", "fake"])


def show(name: str, table: pd.DataFrame) -> None:
    """Print a row of counts."""
    counts = (interval(int(table[column].sum()), len(table)) for column in table)
    print(f"| {name} | {len(table)} | {' | '.join(counts)} |", flush=True)


def development(list_path: Path, repositories: Path, label: str) -> Iterator[bytes]:
    """Yield the list's development pictures of a label that are at hand and large enough."""
    with Repositories(repositories) as opened:
        for row in read_list(list_path, split="dev").itertuples():
            if row.label == label:
                try:
                    data = opened.read(str(row.repo), str(row.path), blob=str(row.blob), ref=str(row.ref))
                except InputNotFound:
                    continue
                if is_large(data):
                    yield data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, help="images.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of git folders, owner+name/repo")
    arguments = parser.parse_args()
    _, upper = band_of(get_card("forensix-image"), "image") or (0.0, 1.0)
    head = f"| n | reach the bound {upper:.3g} | withheld for looking drawn | called generated |\n|---|---|---|---|---|"
    print(
        "# Pictures that people drew\n\nCommand: `python -m benchmarks.illustrations --list CSV --repositories DIR`\n"
    )
    for what, repositories in (("which showed that a rule is needed", DRAWN), ("looked at after it was made", UNSEEN)):
        print(f"| drawn before {BEFORE}, {what} {head}")
        tables = []
        for repo in repositories:
            folder = arguments.repositories / repo.replace("/", "+") / "repo"
            tables.append(judged(drawn(folder), upper))
            show(repo, tables[-1])
        show("all", pd.concat(tables))
        print()
    print(f"| development pictures of the list {head}")
    for label, what in (("fake", "generated"), ("real", "photographs")):
        show(what, judged(development(arguments.list, arguments.repositories, label), upper))


if __name__ == "__main__":
    main()
