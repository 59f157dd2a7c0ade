"""Score whole videos by forensix-image, which learns from pictures alone, so that they get bounds of their own.

    python -m forensix.training.images.videos --list faces.csv --repositories DIR --work DIR

Their frames are scored as those of a user's video: the training rows of a list of videos with faces, recorded ones and
those whose every frame was generated, without the repositories that the card names. What is said of them is kept in
``--work``; `forensix.training.faces.fusion` weighs in what is said of their faces and sets the bounds.
"""

import argparse
from pathlib import Path

import pandas as pd

from forensix.errors import ForensixError
from forensix.media import open_media
from forensix.models import ModelCard, get_card
from forensix.synthetic.detector import ImageDetector, aggregate_frames, forensix_image
from forensix.tasks.frame_scores import frame_scores
from forensix.training.sources import Repositories, read_list

NAME = "forensix-image"
KEPT = "videos.csv"
MOST = 8
"""Videos of each class and maker of a repository."""
COLUMNS = ("repo", "path", "label", "made_by", "score")
WHOLLY_GENERATED = ("face_synthesis", "face_reenactment")
"""Methods that make every pixel of a frame."""


def choose(table: pd.DataFrame, card: ModelCard, most: int) -> pd.DataFrame:
    """Return at most ``most`` videos of each class and maker of each repository that the card does not name."""
    seen = {source.source for source in card.trained_on}
    is_generated = (table["label"] == "fake") & table["method"].isin(WHOLLY_GENERATED)
    kept = table[(table["kind"] == "video") & ((table["label"] == "real") | is_generated) & ~table["repo"].isin(seen)]
    sample = kept.sample(frac=1.0, random_state=0).groupby(["repo", "label", "made_by"]).head(most)
    return sample.sort_values(["repo", "path"]).reset_index(drop=True)


def score_all(table: pd.DataFrame, repositories: Repositories, detector: ImageDetector) -> pd.DataFrame:
    """Return a row for each video that could be scored, with `COLUMNS`; ``score`` is that of its frames."""
    rows = []
    for row in table.itertuples():
        name = f"{row.repo}/{row.path}"
        try:
            data = repositories.read(str(row.repo), str(row.path), blob=str(row.blob), ref=str(row.ref))
            with open_media(data) as media:
                score = aggregate_frames(frame_scores(media, detector).counted)
        except ForensixError as error:
            print(f"{row.label}\t\t{name}\t{error}", flush=True)
            continue
        print(f"{row.label}\t{score:.4f}\t{name}", flush=True)
        rows.append((row.repo, row.path, row.label, row.made_by, score))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def main() -> None:
    """Read the command line and score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of labelled videos")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="folder that keeps what is said of them")
    options = parser.parse_args()
    with Repositories(options.repositories) as repositories:
        table = choose(read_list(options.listed, split="train"), get_card(NAME), MOST)
        here = table[[repositories.has(repo) for repo in table["repo"]]]
        scored = score_all(here, repositories, forensix_image())
    options.work.mkdir(parents=True, exist_ok=True)
    scored.to_csv(options.work / KEPT, index=False)


if __name__ == "__main__":
    main()
