"""Train forensix-face: from the corpora's face photographs to weights, calibration and card.

    python -m forensix.training.faces.train --corpora DIR --repositories DIR --out DIR

``--repositories`` holds one folder for each training repository (``owner+name``) with its files as published. Real and
generated faces are found in them, made into pairs (`forensix.training.faces.data`), and the network of
``architectures/face_cnn.py`` learns to tell the halves of a pair apart, what was done, and where. A sixth of the
identities are never trained on; the score is calibrated on pairs made of them.
"""

import argparse
from pathlib import Path

from forensix.models import ModelCard, save_model
from forensix.training.faces import fit
from forensix.training.faces.card import N_HELD_OUT, gather, make_card, measure, split
from forensix.training.faces.data import SourceFace

COMMAND = (
    "python -m forensix.training.faces.train --corpora DIR --repositories DIR --out DIR "
    "--pairs {pairs} --epochs {epochs}"
)
N_POOL = 6000
"""Pairs made at a time: their crops are dropped once their maps are there."""


def run(options: argparse.Namespace) -> ModelCard:
    """Train, calibrate and write ``forensix-face``; print the loss and the figures on held-out identities."""
    trained, kept = split(gather(options.corpora / "faces", options.repositories))
    made = [learnable(trained, N_POOL, seed=1 + i) for i in range(max(1, options.pairs // N_POOL))]
    net = fit.train(fit.join(made), epochs=options.epochs, log=print_loss)
    held = learnable(kept, N_HELD_OUT, seed=7)
    command = COMMAND.format(pairs=options.pairs, epochs=f"{options.epochs:g}")
    card = make_card(fit.calibrate(net, held), measure(net, held, command), trained, command)
    return save_model(card, net, options.out)


def learnable(found: list[SourceFace], n: int, seed: int) -> fit.Examples:
    """Make pairs of these faces and return what the network learns from."""
    return fit.examples(fit.make_pool(found, n, seed))


def print_loss(step: int, loss: float) -> None:
    """Print one line of progress."""
    print(f"step {step}: loss {loss:.4f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Train, calibrate and write weights and card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds faces/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of the training repositories")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights and the card")
    parser.add_argument("--pairs", type=int, default=12000)
    parser.add_argument("--epochs", type=float, default=9)
    run(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
