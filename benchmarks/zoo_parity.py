"""Do the ports of published detectors do what their authors' code does? Both get the same random weights and input.

    python -m benchmarks.zoo_parity --authors DIR [--mesonet DIR] [--write]

DIR holds a checkout of each repository that ``zoo_authors`` names. Their classes are loaded from there, made small as
``tests/models/zoo.py`` says and given the seeded weights under their own names, every key and shape; then the picture,
face or sound through their own preparation. Prints Markdown: the authors' logit, ours, and the difference. With
``--write`` the authors' logits become ``tests/models/zoo_expected.json``, and differences go onto the cards.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from benchmarks.authors_modules import at, standing_in
from benchmarks.zoo_authors import AUTHORS, MAKERS
from forensix.models import get_card, load_model
from forensix.models.card import Parity
from forensix.models.files import SHIPPED
from forensix.models.store import write_card
from tests.models import zoo

TWINS = {"aligned": "corvi2023", "aligned-sync": "corvi2023", "staypos-corvi": "corvi2023",
         "staypos-aligned": "corvi2023", "clipdet-latent10k": "clipdet-latent10k-plus",
         "sbi-ffc23": "sbi-ffraw"}  # fmt: skip
"""Cards of the same network and the same feeding."""


def file_of(name: str, state: dict[str, torch.Tensor]) -> tuple[dict[str, Any], ...]:
    """Return what the published files would hold, of the state of the authors' class."""
    if name in ("corvi2023", "dda", "sbi-ffraw"):
        return ({"model": state},)
    if name == "univfd":
        head = {key.removeprefix("fc."): value for key, value in state.items() if key.startswith("fc.")}
        return head, {key.removeprefix("model."): value for key, value in state.items() if key.startswith("model.")}
    if name == "clipdet-latent10k-plus":
        tower = {key.replace("tower.", "visual."): value for key, value in state.items() if key.startswith("tower.")}
        tower["visual.proj"] = torch.zeros(128, 96)  # the published base has it, and the authors take it off
        return {"model": {key: value for key, value in state.items() if key.startswith("fc.")}}, tower
    if name == "df-arena-500m":
        return ({f"backbone.{key}": value for key, value in state.items()},)
    return (state,)


def give(name: str, authors: torch.nn.Module, ours: torch.nn.Module) -> None:
    """Load our seeded weights into the authors' class: through `adapt`, which must use every key of theirs.

    Each number of their state is first a number of its own, so that what `adapt` makes of it says where it goes.
    """
    card = get_card(name)
    adapt = getattr(importlib.import_module(f"forensix.models.architectures.{card.architecture}"), "adapt", None)
    state = authors.state_dict()
    marked, total = {}, 0
    for key, value in state.items():
        marked[key] = torch.arange(total, total + value.numel(), dtype=torch.float64).reshape(value.shape)
        total += value.numel()
    files = file_of(name, marked)
    adapted = adapt(*files) if adapt else files[0]
    seeded = ours.state_dict()
    assert adapted.keys() == seeded.keys(), adapted.keys() ^ seeded.keys()
    values = torch.zeros(total)
    for key, where in adapted.items():
        assert where.shape == seeded[key].shape, key
        values[where.flatten().long()] = seeded[key].flatten().float()
    authors.load_state_dict({key: values[at.long()].to(state[key].dtype) for key, at in marked.items()}, strict=True)


def logit(name: str, outputs: torch.Tensor) -> float:
    output = get_card(name).output
    values = outputs.flatten().double()
    return float(sum(sign * values[at] for sign, at in ((1, output.fake), (-1, output.real)) if at is not None))


def mesonet(folder: Path, weights: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Return the outputs before the sigmoid, with the published weights, of the authors' classes and ours."""
    os.environ["KERAS_BACKEND"] = "torch"
    try:
        import keras
    except ModuleNotFoundError:
        sys.exit("the authors' MesoNet runs in Keras, which is not installed: pip install keras")

    parts = ("models", "layers", "optimizers")
    stand_in = {f"tensorflow.keras.{part}": getattr(keras, part) for part in parts}
    x = np.stack([zoo.picture(256, 256, 1), np.full((256, 256, 3), 128, np.uint8)]).astype(np.float32) / 255
    rows = {}
    with standing_in(stand_in), at(folder / "MesoNet"):
        module = importlib.import_module("classifiers")
        for name in ("meso4-df", "meso4-f2f", "mesoinception-df", "mesoinception-f2f"):
            theirs = (module.MesoInception4 if "inception" in name else module.Meso4)()
            theirs.load(str(weights / get_card(name).weights))
            p = np.asarray(theirs.predict(x), dtype=np.float64).ravel()
            ours = load_model(name, folder=weights).module
            with torch.inference_mode():
                outputs = ours(torch.from_numpy(x).permute(0, 3, 1, 2)).double().numpy().ravel()
            rows[name] = (np.log(p / (1 - p)).tolist(), outputs.tolist())
    return rows


def pairs(folder: Path, weights: Path) -> Iterator[tuple[str, float, float]]:
    """Yield each MesoNet's mean score of its authors' forged and real test pictures."""
    from forensix.models.feeding import fed

    for name in ("meso4-df", "meso4-f2f", "mesoinception-df", "mesoinception-f2f"):
        network = load_model(name, folder=weights).module
        means = []
        for label in ("df", "real"):
            paths = sorted((folder / "MesoNet" / "test_images" / label).glob("*.jpg"))
            batch = torch.cat([fed(np.asarray(Image.open(path)), {"resize": [256, 256]}) for path in paths])
            with torch.inference_mode():
                means.append(float(torch.sigmoid(-network(batch)).mean()))
        yield name, means[0], means[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--authors", type=Path, required=True, help="folder of the authors' repositories")
    parser.add_argument("--mesonet", type=Path, help="folder of MesoNet's published weights")
    parser.add_argument("--only", nargs="*", default=list(MAKERS))
    parser.add_argument("--write", action="store_true", help="write the expected logits and the cards")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("# Ports of published detectors beside their authors' code\n")
    print("Command: `python -m benchmarks.zoo_parity --authors DIR --mesonet DIR`\n")
    print("| detector | keys | authors' logit | ours | difference | authors' code |\n|---|---|---|---|---|---|")
    expected = zoo.expected() if zoo.EXPECTED.is_file() else {}
    for name in options.only:
        with redirect_stdout(sys.stderr):  # some of them print
            authors, run = MAKERS[name](options.authors)
        detector = zoo.detector(name)
        give(name, authors, detector.network.module)
        authors.eval()
        with torch.inference_mode():
            theirs = logit(name, run(zoo.given(name)))
        ours = float(detector.logits([zoo.given(name)])[0])
        keys = len(authors.state_dict())
        print(
            f"| {name} | {keys} | {theirs:.6f} | {ours:.6f} | {abs(theirs - ours):.1e} | {AUTHORS[name]} |", flush=True
        )
        expected[name] = theirs
        if options.write:
            parity = Parity(error=float(f"{abs(theirs - ours):.1e}"), against=AUTHORS[name])
            for twin_ in (name, *(twin for twin, of in TWINS.items() if of == name)):
                write_card(get_card(twin_).model_copy(update={"parity": parity}), SHIPPED)
    if options.mesonet:
        print("\nMesoNet with its published weights, before the sigmoid, which is higher for real:\n")
        print("| detector | authors' outputs | ours | difference |\n|---|---|---|---|")
        with redirect_stdout(sys.stderr):
            parities = mesonet(options.authors, options.mesonet)
        for name, (theirs_all, ours_all) in parities.items():
            error = max(abs(a - b) for a, b in zip(theirs_all, ours_all, strict=True))
            cells = [", ".join(f"{value:.5f}" for value in values) for values in (theirs_all, ours_all)]
            print(f"| {name} | {cells[0]} | {cells[1]} | {error:.1e} |", flush=True)
            expected[name] = theirs_all
            if options.write:
                against = "classifiers.py of DariusAf/MesoNet on Keras, published weights, a crop of 256 px"
                parity = Parity(error=float(f"{error:.1e}"), against=against)
                write_card(get_card(name).model_copy(update={"parity": parity}), SHIPPED)
        print("\nMean score of the authors' own test pictures, two of either kind:\n")
        print("| detector | forged | real |\n|---|---|---|")
        for name, fake, real in pairs(options.authors, options.mesonet):
            print(f"| {name} | {fake:.3f} | {real:.3f} |", flush=True)
    if options.write:
        zoo.EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
