"""Authors' networks of synthetic speech."""

import importlib
import json
import types
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from benchmarks.authors_modules import Run, absent, at, standing_in
from tests.models import zoo

FAIRSEQ = {
    "fairseq_dropout": ("FairseqDropout",),
    "fp32_group_norm": ("Fp32GroupNorm",),
    "layer_norm": ("LayerNorm", "Fp32LayerNorm"),
    "gelu": ("gelu", "gelu_accurate"),
    "grad_multiply": ("GradMultiply",),
    "gumbel_vector_quantizer": ("GumbelVectorQuantizer",),
    "multihead_attention": ("MultiheadAttention",),
    "same_pad": ("SamePad",),
    "transpose_last": ("TransposeLast",),
}
"""What the encoder takes of fairseq's modules, by file."""


def aasist(folder: Path, name: str) -> tuple[torch.nn.Module, Run]:
    root = folder / "aasist"
    with at(root), absent("soundfile"):
        config = json.loads((root / "config" / f"{name}.conf").read_text())["model_config"]
        network = importlib.import_module("models.AASIST").Model(config)
        pad = importlib.import_module("data_utils").pad
    return network, lambda samples: network(torch.from_numpy(pad(samples, 64_600))[None])[1]


def spectra(folder: Path, place: str, name: str) -> tuple[torch.nn.Module, Run]:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    shape = {"feat_extract_norm": "layer", "do_stable_layer_norm": True, "conv_bias": True}
    config = Wav2Vec2Config(**zoo.SMALL["spectra-aasist"], **shape)
    root = folder / "Jabberjay" / "src" / "Jabberjay"
    packages = {}
    for package in ("Jabberjay", "Jabberjay.Models", "Jabberjay.Models.Spectra", f"Jabberjay.Models.{place}"):
        packages[package] = types.ModuleType(package)
        packages[package].__path__ = [str(root / Path(*package.split(".")[1:]))]
    with (
        standing_in(packages),
        mock.patch.object(Wav2Vec2Model, "from_pretrained", lambda name, **more: Wav2Vec2Model(config)),
    ):
        module = importlib.import_module(f"Jabberjay.Models.{place}.model")
        shared = importlib.import_module("Jabberjay.Models.Spectra.shared")
        bridge = shared.MLPBridge
        with mock.patch.object(module, "MLPBridge", lambda width, *sizes, **more: bridge(64, *sizes, **more)):
            network = getattr(module, name)()
    return network, lambda samples: network(shared.preprocess(samples, 16_000))


def df_arena(folder: Path) -> tuple[torch.nn.Module, Run]:
    from transformers import Wav2Vec2Config

    hub = "DF_Arena_500M_V_1"
    shape = {"feat_extract_norm": "layer", "do_stable_layer_norm": True, "conv_bias": True, "mask_time_prob": 0.075}
    config = Wav2Vec2Config(**zoo.SMALL["df-arena-500m"], **shape)
    # What they were trained with, release 4, gave the last of the hidden states normalised.
    config.tie_last_hidden_states = True
    package = types.ModuleType(hub)
    package.__path__ = [str(folder / hub)]
    scope: dict[str, Any] = {"__name__": f"{hub}.backbone", "__file__": str(folder / hub / "backbone.py")}
    with (
        standing_in({hub: package}),
        mock.patch.object(Wav2Vec2Config, "from_pretrained", lambda *given, **more: config),
    ):
        exec((folder / hub / "backbone.py").read_text().replace("1024", "64"), scope)  # their width is written out
        network = scope["DF_Arena_500M"]()
        fed = importlib.import_module(f"{hub}.feature_extraction_antispoofing").AntispoofingFeatureExtractor()
    return network, lambda samples: network(fed(samples)["input_values"][None])


def antideepfake(folder: Path, name: str, card: str) -> tuple[torch.nn.Module, Run]:
    """The authors' class on fairseq's encoder, whose package as a whole wants older releases of everything."""
    root = folder / "fairseq" / "fairseq"
    packages = {}
    for package in ("", ".models", ".models.wav2vec", ".modules", ".data"):
        packages[f"fairseq{package}"] = types.ModuleType(f"fairseq{package}")
        packages[f"fairseq{package}"].__path__ = [str(root.joinpath(*package.split(".")))]
    packages["fairseq.models"].BaseFairseqModel = torch.nn.Module
    packages["fairseq.models"].register_model = lambda *given, **more: lambda kind: kind
    unused = ("data.data_utils", "dataclass", "dataclass.utils", "modules.transformer_sentence_encoder")
    others = {f"fairseq.{module}": mock.MagicMock() for module in unused}
    others["fairseq.dataclass"].FairseqDataclass = object
    with standing_in(packages | others), at(folder / "AntiDeepfake"):
        modules = packages["fairseq.modules"]
        for file, names in FAIRSEQ.items():
            source = importlib.import_module(f"fairseq.modules.{file}")
            vars(modules).update({module: getattr(source, module) for module in names})
        encoder = importlib.import_module("fairseq.models.wav2vec.wav2vec2")
        vars(packages["fairseq.models.wav2vec"]).update(vars(encoder))
        small = zoo.SMALL[card]
        theirs = importlib.import_module("models.W2V_configs")
        theirs.global_input_dims[name] = small["hidden_size"]
        theirs.global_configs[name] |= {
            "encoder_embed_dim": small["hidden_size"],
            "encoder_layers": small["num_hidden_layers"],
            "encoder_attention_heads": small["num_attention_heads"],
            "encoder_ffn_embed_dim": small["intermediate_size"],
        }
        del theirs.global_configs[name]["_name"]
        network = importlib.import_module("models.W2V").Model(name)

    def run(samples: np.ndarray) -> torch.Tensor:
        wave = torch.from_numpy(samples)
        return network(torch.nn.functional.layer_norm(wave, wave.shape)[None])  # dataio.py, 'Normalize waveform'

    return network, run
