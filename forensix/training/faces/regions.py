"""Train forensix-face-regions, which marks the part of a face that differs from the rest.

    python -m forensix.training.faces.regions --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR --out DIR

The folders are those of `forensix.training.faces.train`; madebyollin/taesd must be among the repositories. It takes ten
minutes on a graphics card with sixteen processor cores beside it, and days without one.

It learns from recorded faces, each beside itself with a part put in (`blends`): of another moment, of somebody else, or
of a made face, nearly all of them generated or driven whole, which looks as what swappers and enhancers draw does. Both
are scaled and encoded alike, so that neither a source nor a codec tells the class. No made face counts as one by
itself, and none at all is seen of the repositories in `HELD_OUT`, which hold swapped, composed and lip-synced faces and
recorded ones of many kinds: they calibrate, and what the card tells is of them. The weights are those at the end of the
schedule.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from forensix import machine
from forensix.faces import aligned
from forensix.faces.align import ALIGNED_PX
from forensix.faces.classify import network_input
from forensix.models import save_model
from forensix.models.architectures.efficientnet import fuse
from forensix.models.architectures.face_regions import FaceRegions
from forensix.training.backbone import load_imagenet
from forensix.training.faces import crops
from forensix.training.faces.lists import Origin, list_faces
from forensix.training.faces.pairs import Material, made_clips, recorded_clips
from forensix.training.faces.regenerated import Autoencoder
from forensix.training.faces.regions_card import make_card
from forensix.training.faces.replay import Batch, Replay
from forensix.training.faces.train import Log, judging_hashes, run_from_shell
from forensix.training.images.cache import difference_hash, near_any
from forensix.training.loop import Plan, cosine, fit, learning

HELD_OUT = (
    "JupyterJones/MyTube_AI_Flask_App",
    "MeiGen-AI/InfiniteTalk",
    "OpenTalker/StyleHEAT",
    "Roger1nho/Veritas",
    "Weizhi-Zhong/IP_LAP",
    "chmoe/Real_Fake_Face",
    "davicoscarelli/Alvate",
    "lelechen63/ATVGnet",
    "muxspace/facial_expressions",
    "serengil/deepface",
    "shaoanlu/fewshot-face-translation-GAN",
    "soumik-kanad/soumik-kanad.github.io",
    "yuval-alaluf/stylegan3-editing",
)
AT_ONCE = 32
LEAST_PX = 72
MOST_HELD_OUT = 120
"""Faces of one class of a repository and maker that judge."""
MOMENTS = 4
WATCHED = 12
"""Of so many recorded faces one is not learnt from: how its pairs are told apart is printed while training lasts."""
N_WATCHED = 160
N_PAIRS = 96
KEPT_PAIRS = 60_000
LEAST_PAIRS = 20 * N_PAIRS
PLAN = Plan(steps=3160, rate=cosine(6e-4, 100, 0.02), decay=1e-2, average=0.998, every=130)
CELLS_SHARE = 3.0
"""How much more the cells' loss weighs than that of whole faces."""
COMMAND = (
    "python -m forensix.training.faces.regions --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR --out DIR"
)


@dataclass(frozen=True, eq=False)
class Judged:
    """Faces that judge: a row each, and their upright crops with the row of each."""

    table: pd.DataFrame
    crops: NDArray[np.uint8]
    rows: NDArray[np.int64]


def faces_of(origin: Origin, work: Path, *, log: Log) -> tuple[pd.DataFrame, pd.DataFrame, Judged]:
    """Return the recorded faces to learn from, the made ones that are put into them, and those that judge."""
    table = list_faces(origin)
    cut = work / "crops"
    crops.fill(table, cut, origin.repositories, log=log)
    held_back = judging_hashes(origin.corpora / "faces")
    recorded: list[dict[str, object]] = []
    made: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    pictures, numbers = [], []
    seen: dict[tuple[str, str, str], int] = {}
    for row, face in crops.rows_with_faces(table, cut):
        upright = aligned(face.rgb[0], face.landmarks[0])
        if face.face_px < LEAST_PX or near_any([difference_hash(upright)], held_back).any():
            continue
        if row["repo"] not in HELD_OUT:
            (recorded if row["label"] == "real" else made).append(row)
            continue
        kind = (row["repo"], row["made_by"], row["label"])
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] > MOST_HELD_OUT:
            continue
        at = np.unique(np.linspace(0, len(face) - 1, MOMENTS).round().astype(int))
        pictures += [aligned(face.rgb[i], face.landmarks[i]) for i in at]
        numbers += [len(rows)] * len(at)
        rows.append(row)
    log(f"{len(recorded)} faces to learn from, {len(made)} to put into them, {len(rows)} that judge")
    return pd.DataFrame(recorded), pd.DataFrame(made), Judged(pd.DataFrame(rows), np.stack(pictures), np.array(numbers))


def loss_of(network: nn.Module, batch: Batch) -> Tensor:
    """Return how wrong cells and faces are, recorded and made alike."""
    assert isinstance(network, FaceRegions)
    x, put = batch.crops, batch.masks
    with torch.autocast(x.device.type, torch.bfloat16):
        cells, faces = network.both(x)
    of_cells = functional.binary_cross_entropy_with_logits(cells, torch.cat([torch.zeros_like(put), put]))
    made = torch.arange(len(x), dtype=torch.float32, device=x.device) >= len(put)
    of_faces = functional.binary_cross_entropy_with_logits(faces[:, 0], made.float())
    loss: Tensor = CELLS_SHARE * of_cells + of_faces
    return loss


@torch.inference_mode()
def logits_of(network: FaceRegions, judged: Judged) -> NDArray[np.float64]:
    """Return the logit of each face that judges: the mean over its moments."""
    of_crops = []
    for start in range(0, len(judged.crops), AT_ONCE):
        x = network_input(judged.crops[start : start + AT_ONCE], ALIGNED_PX)
        of_crops.append(network(x)[:, 0].double().numpy())
    return np.bincount(judged.rows, np.concatenate(of_crops)) / np.bincount(judged.rows)


def train(origin: Origin, work: Path, out: Path, *, log: Log = print) -> None:
    """Train, and write weights and card to ``out``; a run that was cut off goes on with the checkpoint there."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    table, made, judged = faces_of(origin, work, log=log)
    clips = recorded_clips(table, work / "crops", Autoencoder(origin.repositories), log=log)
    donors = made_clips(made, work / "crops")
    is_watched = np.arange(len(clips)) % WATCHED == WATCHED // 2 - 1
    learnt, watched = ([clip for clip, own in zip(clips, is_watched, strict=True) if own == of] for of in (0, 1))
    watched_pairs = Material(watched, donors).draw(N_WATCHED, np.random.default_rng(1))
    network = FaceRegions()
    load_imagenet(network.backbone)
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    out.mkdir(parents=True, exist_ok=True)
    workers = max(1, machine.cores() - 1)
    replay = Replay(Material(learnt, donors), device, kept=KEPT_PAIRS, workers=workers, seed=0)

    @torch.inference_mode()
    def tell(step: int, loss: float, done: float) -> None:
        x = torch.cat([network_input(crops, ALIGNED_PX) for crops in (watched_pairs.recorded, watched_pairs.made)])
        of_recorded, of_made = torch.cat([network(part.to(device)) for part in torch.split(x, N_PAIRS)]).chunk(2)
        told = f"of {N_WATCHED} others {int((of_made > of_recorded).sum())} are told apart"
        log(f"step {step} of {replay.n_made} pairs: loss {loss:.4f}, {told}, {100 * done:.0f} %")

    def draw(rng: np.random.Generator) -> Batch:
        return replay.draw(N_PAIRS, rng, least=LEAST_PAIRS)

    rng, run = np.random.default_rng(0), "face regions"
    path = out / "checkpoint.pt"
    steps = fit(network, draw, loss_of, PLAN, rng, checkpoint=path, run=run, tell=tell, prepare=learning)
    replay.close()
    log(f"{steps} steps")
    store(network.cpu(), table[~is_watched], judged, out, log=log)


def store(network: FaceRegions, learnt: pd.DataFrame, judged: Judged, out: Path, *, log: Log) -> None:
    """Write the trained network, its normalisation in its convolutions, and the card of what it says of ``judged``."""
    stored = fuse(network)
    shipped = save_model(make_card(judged.table, logits_of(stored, judged), learnt, COMMAND), stored, out, half=True)
    for figure in shipped.measured:
        n = f"{figure.n_real} real, {figure.n_fake} fake"
        log(f"{figure.metric}: {figure.value} {figure.interval or ''} ({n}; {figure.data})")
    log(f"inconclusive between {shipped.inconclusive}, of videos {shipped.inconclusive_video}")


if __name__ == "__main__":
    run_from_shell(train, __doc__)
