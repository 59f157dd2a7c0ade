"""Small copies of the published networks, with weights that a seed alone decides, and inputs to feed them.

``benchmarks/zoo_parity.py`` gives the same weights and inputs to the authors' own classes and writes what they say into
``zoo_expected.json``.
"""

import json
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from forensix.models import LoadedModel, get_card
from forensix.models.detector import Detector

SEED = 20_241
EXPECTED = Path(__file__).with_name("zoo_expected.json")
_TOWER = {"width": 128, "depth": 2, "heads": 2}
_LISTENER = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
SMALL: dict[str, dict[str, Any]] = {
    "corvi2023": {"layers": (1, 1, 1, 1)},
    "commfor-384": {"depth": 2},
    "commfor-lowq": {"depth": 2},
    "univfd": {**_TOWER, "output": 768},
    "clipdet-latent10k-plus": _TOWER,
    "dda": {"width": 64, "depth": 2, "heads": 2},
    "gend-clip-l14": _TOWER,
    "gend-pe-l": {"depth": 2, "embed_dim": 128, "num_heads": 2},
    "sbi-ffraw": {},
    "aasist": {},
    "aasist-l": {},
    "spectra-aasist": _LISTENER,
    "spectra-0": _LISTENER,
    "df-arena-500m": _LISTENER,
    "antideepfake-w2v-large-nda": _LISTENER,
    "antideepfake-w2v-small-nda": _LISTENER,
}
"""What of a card's ``config`` is made smaller; the code is the same."""


def seeded(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return weights of the same names and shapes, each drawn by the seed and its name."""
    actual = {}
    for key, value in state.items():
        if not value.is_floating_point():
            actual[key] = value
            continue
        draw = np.random.default_rng([SEED, zlib.crc32(key.encode())]).standard_normal(tuple(value.shape))
        if key.endswith("running_var"):
            drawn = 0.5 + np.abs(draw)
        elif any(part in key for part in ("pos_", "position", "token", "class_embedding")) and value.ndim != 4:
            drawn = 0.5 * draw
        elif value.ndim < 2:
            drawn = 0.1 * draw + (1 if key.endswith(("weight", "gamma")) else 0)
        else:
            drawn = draw / np.sqrt(np.prod(value.shape[1:]))
        actual[key] = torch.from_numpy(np.asarray(drawn)).to(value.dtype)
    return actual


def network(name: str) -> torch.nn.Module:
    """Return the small network of a card with seeded weights."""
    card = get_card(name)
    module = import_module(f"forensix.models.architectures.{card.architecture}")
    built: torch.nn.Module = module.build(**(card.config | SMALL[name])).eval()
    built.load_state_dict(seeded(built.state_dict()), strict=True)
    return built


def detector(name: str) -> Detector:
    """Return the detector of a card, fed as the card says, on the small network."""
    from forensix.models.registry import READERS

    module, _, maker = READERS[get_card(name).component].partition(":")
    built: Detector = getattr(import_module(module), maker)(LoadedModel(get_card(name), network(name)))
    return built


def picture(height: int = 500, width: int = 460, seed: int = 0) -> np.ndarray:
    """Return a picture uint8 (H, W, 3) with coarse and fine detail."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (7, 9, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    return np.clip(np.asarray(coarse).astype(int) + rng.integers(-20, 21, (height, width, 3)), 0, 255).astype(np.uint8)


def crop() -> np.ndarray:
    """Return a picture of the size of a face crop."""
    return picture(224, 224, seed=1)


def sound(n: int = 50_000) -> np.ndarray:
    """Return float32 samples: a wandering tone in noise."""
    rng = np.random.default_rng(2)
    tone = np.sin(np.cumsum(0.05 + 0.01 * np.sin(np.arange(n) / 3000)))
    return (0.3 * tone + 0.05 * rng.standard_normal(n)).astype(np.float32)


def given(name: str) -> np.ndarray:
    """Return what a card's detector is tried on."""
    if get_card(name).preprocessing.get("rounded"):
        return picture(500, 455)  # where rounding and cutting off differ
    return {"image_detector": picture, "face_classifier": crop, "spoof": sound}[get_card(name).component]()


def expected() -> dict[str, Any]:
    """Return the logit of each small detector as the authors' code gives it; of MesoNet's published ones, outputs."""
    fields: dict[str, Any] = json.loads(EXPECTED.read_text())
    return fields
