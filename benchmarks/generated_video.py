"""Generated videos: frames pooled, what an analysis makes of frames and faces, and a temporal cue.

    python benchmarks/generated_video.py --list faces.csv --repositories DIR [--most N] [--detector NAME]

Videos of the development rows whose every frame was generated (synthesis and reenactment of people) against recorded
ones, at most ``--most`` of a repository, label and tool. Pooled: the mean logit of 16 frames spread over the whole
length, as the task pools them. Analysis: the same with what is said of faces weighed in, as the task does it where the
detector's card says so. Temporal: the standard deviation of the second differences of how far features move from frame
to frame, over 16 frames at 8 per second from the start, with features of an ImageNet network on whole frames of 224 px;
higher is more likely recorded, so its sign is turned. AUC over all, and within the repositories that have both classes.

Source of the temporal cue: "D3: training-free AI-generated video detection using second-order features", ICCV 2025.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from PIL import Image

from forensix.errors import ForensixError
from forensix.media import Media, open_media
from forensix.metrics import auc
from forensix.models import band_of, load_component
from forensix.synthetic.detector import aggregate_frames
from forensix.tasks.frame_scores import frame_scores
from forensix.tasks.fusion import opinion_of_faces
from forensix.tasks.task import Options
from forensix.training.images.videos import WHOLLY_GENERATED
from forensix.training.sources import Repositories, read_list

N_FRAMES = 16
RATE_HZ = 8.0
SIDE_PX = 224
CUES = ("pooled", "analysis", "temporal")
SUFFIXES = (".mp4", ".mov", ".webm", ".mkv", ".avi", ".m4v")


def network() -> torch.nn.Module:
    """Return what turns frames into features: the backbone of the training, with its ImageNet weights."""
    from forensix.models.architectures.efficientnet import Backbone
    from forensix.training.backbone import load_imagenet

    backbone = Backbone().eval()
    load_imagenet(backbone)
    return backbone


def temporal(media: Media, features: torch.nn.Module) -> float:
    """Return the spread of second differences; NaN with fewer than eight frames."""
    frames = []
    for frame in media.frames(rate_hz=RATE_HZ, max_side_px=2 * SIDE_PX):
        frames.append(np.asarray(Image.fromarray(frame.rgb).resize((SIDE_PX, SIDE_PX)), np.float32))
        if len(frames) == N_FRAMES:
            break
    if len(frames) < N_FRAMES // 2:
        return float("nan")
    with torch.inference_mode():
        x = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2) / 127.5 - 1
        last = features(x)
        last = last[-1] if isinstance(last, list | tuple) else last
        flat = last.flatten(2).mean(2) if last.dim() == 4 else last
    moved = torch.linalg.vector_norm(flat[1:] - flat[:-1], dim=1)
    return float((moved[1:] - moved[:-1]).std())


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    table = read_list(arguments.list, split="dev")
    table = table[table["path"].str.lower().str.endswith(SUFFIXES)]
    table = table[(table["label"] == "real") | ((table["label"] == "fake") & table["method"].isin(WHOLLY_GENERATED))]
    table = table.sample(frac=1, random_state=0)
    table = table[table.groupby(["repo", "label", "made_by"]).cumcount() < arguments.most]
    detector, features = detector_of(arguments), network()
    with Repositories(arguments.repositories) as sources:
        for row in table.itertuples():
            if not sources.has(row.repo):
                continue
            try:
                data = sources.read(row.repo, row.path, blob=row.blob, ref=row.ref)
                with open_media(data, name=Path(row.path).name) as media:
                    frames = aggregate_frames(frame_scores(media, detector).counted)
                    faces = opinion_of_faces(media, detector, Options())
                    scores = {
                        "pooled": frames,
                        "analysis": float(faces.fused(frames)) if faces else frames,
                        "temporal": -temporal(media, features),
                    }
            except ForensixError as error:
                print(f"left out: {row.repo} {row.path}: {error}")
                continue
            yield {"repo": row.repo, "tool": row.made_by, "fake": row.label == "fake"} | scores


def detector_of(arguments: argparse.Namespace) -> Any:
    return load_component("image_detector", arguments.detector)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="Generated videos.")
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--most", type=int, default=8)
    parser.add_argument("--detector", default="forensix-image")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = pd.DataFrame(rows(arguments)).dropna()
    command = f"python benchmarks/generated_video.py --list faces.csv --repositories DIR --most {arguments.most}"
    print(f"# Generated videos\n\n    {command}\n")
    print(f"Detector {arguments.detector}; {table.fake.sum()} generated by {table[table.fake].tool.nunique()} tools, "
          f"{(~table.fake).sum()} recorded of {table[~table.fake].repo.nunique()} repositories.\n")  # fmt: skip
    print(f"| videos | {' | '.join(CUES)} |\n|---|---|---|---|")
    shared = [repo for repo, part in table.groupby("repo") if part.fake.nunique() == 2]
    for name, part in (("all", table), *((repo, table[table.repo == repo]) for repo in shared)):
        cells = [f"{auc(part.fake.astype(int), part[cue]):.2f}" for cue in CUES]
        print(f"| {name} ({part.fake.sum()} + {(~part.fake).sum()}) | " + " | ".join(cells) + " |")
    low, high = band_of(detector_of(arguments).card, "video")
    for name, part in (("generated", table[table.fake]), ("recorded", table[~table.fake])):
        called = f"called generated {(part.analysis >= high).mean():.2f}, recorded {(part.analysis <= low).mean():.2f}"
        print(f"\n{name}, by the analysis: {called}.")


if __name__ == "__main__":
    main()
