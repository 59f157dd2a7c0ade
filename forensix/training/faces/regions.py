"""Train forensix-face-regions, which marks the part of a face that differs from the rest.

    MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 python -m forensix.training.faces.regions \\
        --list faces.csv --pictures images.csv --corpora DIR --repositories DIR --work DIR --out DIR

The folders are those of `forensix.training.faces.train`; madebyollin/taesd must be among the repositories. The two
settings keep memory at hand that would be returned and fetched again at every step: 1.4 s for 2.4.

It learns from recorded faces alone, each beside itself with a part put in (`blends`), both scaled and encoded alike, so
that neither a source nor a codec tells the class. No made face of the lists is learnt from, and no face at all of the
repositories in `HELD_OUT`, which hold the lists' swapped, composed and lip-synced faces and recorded ones of many
kinds: they calibrate, and what the card tells is of them. The weights are those at the end of the schedule.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from forensix.faces import aligned
from forensix.faces.align import ALIGNED_PX
from forensix.faces.classify import network_input
from forensix.models import save_model
from forensix.models.architectures.face_regions import FaceRegions
from forensix.training.backbone import load_imagenet
from forensix.training.depthwise import quicken
from forensix.training.faces import crops
from forensix.training.faces.lists import Origin, list_faces
from forensix.training.faces.pairs import Pairs, Recorded
from forensix.training.faces.regenerated import Autoencoder
from forensix.training.faces.regions_card import make_card
from forensix.training.faces.train import Log, judging_hashes, run_from_shell
from forensix.training.images.cache import difference_hash, near_any
from forensix.training.loop import Plan, cosine, fit

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
LEAST_PX = 72
MOST_HELD_OUT = 120
"""Faces of one class of a repository and maker that judge."""
MOMENTS = 4
N_PAIRS = 16
PLAN = Plan(steps=6000, rate=cosine(6e-4, 100, 0.02), decay=1e-2, average=0.995, minutes=50.0, every=200)
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


def faces_of(origin: Origin, work: Path, *, log: Log) -> tuple[pd.DataFrame, Judged]:
    """Return the recorded faces to learn from, and those that judge."""
    table = list_faces(origin)
    cut = work / "crops"
    crops.fill(table, cut, origin.repositories, log=log)
    held_back = judging_hashes(origin.corpora / "faces")
    learnt: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    pictures, numbers = [], []
    seen: dict[tuple[str, str, str], int] = {}
    for row, face in crops.rows_with_faces(table, cut):
        upright = aligned(face.rgb[0], face.landmarks[0])
        if face.face_px < LEAST_PX or near_any([difference_hash(upright)], held_back).any():
            continue
        if row["repo"] not in HELD_OUT:
            learnt += [row] * (row["label"] == "real")
            continue
        kind = (row["repo"], row["made_by"], row["label"])
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] > MOST_HELD_OUT:
            continue
        at = np.unique(np.linspace(0, len(face) - 1, MOMENTS).round().astype(int))
        pictures += [aligned(face.rgb[i], face.landmarks[i]) for i in at]
        numbers += [len(rows)] * len(at)
        rows.append(row)
    log(f"{len(learnt)} faces to learn from, {len(rows)} that judge")
    return pd.DataFrame(learnt), Judged(pd.DataFrame(rows), np.stack(pictures), np.array(numbers))


def loss_of(network: nn.Module, batch: Pairs) -> Tensor:
    """Return how wrong cells and faces are, recorded and made alike."""
    assert isinstance(network, FaceRegions)
    x = network_input(np.concatenate([batch.recorded, batch.made]), ALIGNED_PX)
    with torch.autocast("cpu", torch.bfloat16):
        cells, faces = network.both(x)
    put = torch.from_numpy(batch.masks)
    of_cells = functional.binary_cross_entropy_with_logits(cells, torch.cat([torch.zeros_like(put), put]))
    made = torch.arange(len(x), dtype=torch.float32) >= len(put)
    of_faces = functional.binary_cross_entropy_with_logits(faces[:, 0], made.float())
    loss: Tensor = CELLS_SHARE * of_cells + of_faces
    return loss


def learning(network: nn.Module) -> nn.Module:
    """Put a network into the mode that it learns in: normalisation stays as it was pretrained."""
    network.train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()
    return network


@torch.inference_mode()
def logits_of(network: FaceRegions, judged: Judged, *, at_once: int = 32) -> NDArray[np.float64]:
    """Return the logit of each face that judges: the mean over its moments."""
    of_crops = []
    for start in range(0, len(judged.crops), at_once):
        x = network_input(judged.crops[start : start + at_once], ALIGNED_PX)
        with torch.autocast("cpu", torch.bfloat16):
            of_crops.append(network(x)[:, 0].double().numpy())
    return np.bincount(judged.rows, np.concatenate(of_crops)) / np.bincount(judged.rows)


def train(origin: Origin, work: Path, out: Path, *, log: Log = print) -> None:
    """Train, and write weights and card to ``out``; a run that was cut off goes on with the checkpoint there."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table, judged = faces_of(origin, work, log=log)
    recorded = Recorded(table, work / "crops", Autoencoder(origin.repositories), log=log)
    network = FaceRegions()
    load_imagenet(network.backbone)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    quicken(network)
    out.mkdir(parents=True, exist_ok=True)

    def tell(step: int, loss: float, done: float) -> None:
        log(f"step {step}: loss {loss:.4f}, {100 * done:.0f} %")

    def draw(rng: np.random.Generator) -> Pairs:
        return recorded.draw(N_PAIRS, rng)

    rng, run = np.random.default_rng(0), "face regions"
    path = out / "checkpoint.pt"
    steps = fit(network, draw, loss_of, PLAN, rng, checkpoint=path, run=run, tell=tell, prepare=learning)
    log(f"{steps} steps")
    stored = FaceRegions()
    stored.load_state_dict(network.state_dict())
    logits = logits_of(stored.eval(), judged)
    card = save_model(make_card(judged.table, logits, table, COMMAND), stored, out, half=True)
    for figure in card.measured:
        n = f"{figure.n_real} real, {figure.n_fake} fake"
        log(f"{figure.metric}: {figure.value} {figure.interval or ''} ({n}; {figure.data})")
    log(f"inconclusive between {card.inconclusive}, of videos {card.inconclusive_video}, fake from {card.threshold}")


if __name__ == "__main__":
    run_from_shell(train, __doc__)
