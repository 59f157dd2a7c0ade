"""Set the bounds of videos on the card of forensix-image, which learns from pictures alone.

    python -m forensix.training.images.videos --list faces.csv --repositories DIR

Whole videos are scored as a user's are: the training rows of a list of videos with faces, recorded ones and those whose
every frame was generated, without the repositories that the card names. Bounds, and how often what lies outside them is
wrong, go on the card.
"""

import argparse
from pathlib import Path

import pandas as pd

from forensix.analysis import analyze
from forensix.errors import InputError
from forensix.models import ModelCard
from forensix.models.store import get_card, write_card
from forensix.training.bands import AS_IT_IS, with_video_band
from forensix.training.sources import Repositories, read_list

NAME, TASK = "forensix-image", "ai_generated_image_detection"
COMMAND = "python -m forensix.training.images.videos --list {listed} --repositories DIR --most {most}"
WHOLLY_GENERATED = ("face_synthesis", "face_reenactment")
"""Methods that make every pixel of a frame."""


def choose(table: pd.DataFrame, card: ModelCard, most: int, *, seed: int = 0) -> pd.DataFrame:
    """Return at most ``most`` videos of each class and maker of each repository that the card does not name."""
    seen = {source.source for source in card.trained_on}
    is_generated = (table["label"] == "fake") & table["method"].isin(WHOLLY_GENERATED)
    kept = table[(table["kind"] == "video") & ((table["label"] == "real") | is_generated) & ~table["repo"].isin(seen)]
    sample = kept.sample(frac=1.0, random_state=seed).groupby(["repo", "label", "made_by"]).head(most)
    return sample.sort_values(["repo", "path"]).reset_index(drop=True)


def score_all(table: pd.DataFrame, repositories: Repositories) -> pd.DataFrame:
    """Return a row for each video that could be scored: repo, label, condition, score."""
    rows = []
    for row in table.itertuples():
        name = f"{row.repo}/{row.path}"
        try:
            data = repositories.read(str(row.repo), str(row.path), blob=str(row.blob), ref=str(row.ref))
            score = analyze(data, [TASK], explain=False).scores[TASK]
        except InputError as error:
            print(f"{row.label}\t\t{name}\t{error}", flush=True)
            continue
        print(f"{row.label}\t{'' if score is None else f'{score:.4f}'}\t{name}", flush=True)
        if score is not None:
            rows.append((row.repo, row.label, AS_IT_IS, score))
    return pd.DataFrame(rows, columns=["repo", "label", "condition", "score"])


def main() -> None:
    """Read the command line, score, and write the card."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of labelled videos")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--most", type=int, default=8, help="videos of a repository, class and maker")
    options = parser.parse_args()
    command = COMMAND.format(listed=options.listed.name, most=options.most)
    with Repositories(options.repositories) as repositories:
        table = choose(read_list(options.listed, split="train"), get_card(NAME), options.most)
        here = table[[repositories.has(repo) for repo in table["repo"]]]
        card = with_video_band(get_card(NAME), score_all(here, repositories), command)
    write_card(card)
    print(f"inconclusive between {card.inconclusive_video}")
    for one in card.measured:
        if one.command == command:
            print(f"{one.metric}: {one.value} {one.interval or ''} ({one.n_real} real, {one.n_fake} fake; {one.data})")


if __name__ == "__main__":
    main()
