"""The authors' own classes of published detectors, made small, and what prepares their input: loaded from checkouts.

``zoo_parity`` compares them with what forensix does. Each maker takes the folder of the checkouts that ``AUTHORS``
names and returns the network and what runs it on a picture, a face or a sound. Where their code fetches a pretrained
base, that is replaced by the same class without weights; nothing else of it is.
"""

import importlib
import os
import tempfile
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from PIL import Image

from benchmarks.authors_modules import Run, absent, at, pil
from benchmarks.zoo_voices import aasist, antideepfake, df_arena, spectra
from forensix.models import get_card
from tests.models import zoo

GRIP, COMFOR, UNIVFD = "ClipBased-SyntheticImageDetection", "Community-Forensics", "UniversalFakeDetect"
ANTIDEEPFAKE = "models/W2V.py of nii-yamagishilab/AntiDeepfake on facebookresearch/fairseq at 862efab"
AUTHORS = {
    "corvi2023": f"networks/resnet_mod.py and main.py of grip-unina/{GRIP}",
    "commfor-384": f"models.py and dataloader.py of JeongsooP/{COMFOR}",
    "commfor-lowq": "src/aiblink_validation/inference.py of Sekinal/local-ai-image-signal-training",
    "univfd": f"models/clip_models.py and validate.py of WisconsinAIVision/{UNIVFD}",
    "clipdet-latent10k-plus": f"networks/openclipnet.py and main.py of grip-unina/{GRIP}",
    "dda": "Inference of roy-ch/Dual-Data-Alignment on facebookresearch/dinov2",
    "gend-clip-l14": "src/hf/modeling_gend.py of yermandy/GenD",
    "gend-pe-l": "src/hf/modeling_gend.py of yermandy/GenD",
    "sbi-ffraw": "src/inference/model.py of mapooon/SelfBlendedImages (the network; not how faces are scaled)",
    "aasist": "models/AASIST.py, data_utils.py and config/AASIST.conf of clovaai/aasist",
    "aasist-l": "models/AASIST.py, data_utils.py and config/AASIST-L.conf of clovaai/aasist",
    "spectra-aasist": "MattyB95/Jabberjay, a rewrite that loads the authors' file",
    "spectra-0": "MattyB95/Jabberjay, a rewrite that loads the authors' file",
    "df-arena-500m": "backbone.py, conformer.py and feature_extraction_antispoofing.py of the hub's DF_Arena_500M_V_1",
    "antideepfake-w2v-large-nda": ANTIDEEPFAKE,
    "antideepfake-w2v-small-nda": ANTIDEEPFAKE,
}


def corvi(folder: Path) -> tuple[torch.nn.Module, Run]:
    with at(folder / GRIP):
        resnet = importlib.import_module("networks.resnet_mod")
        normalised = importlib.import_module("utils.processing").make_normalize("resnet")
        network = resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], num_classes=1, stride0=1, dropout=0.5)
    return network, lambda rgb: network(normalised(pil(rgb))[None])


def commfor(folder: Path) -> tuple[torch.nn.Module, Run]:
    import timm

    plain = partial(timm.create_model, depth=2)
    with at(folder / COMFOR), absent("datasets", "custom_sampler", "utils"):
        transform = importlib.import_module("dataloader").get_transform(types.SimpleNamespace(input_size=384), "test")
        with mock.patch.object(timm, "create_model", lambda name, pretrained: plain(name, pretrained=False)):
            network = importlib.import_module("models").ViTClassifier(device="cpu")
    return network, lambda rgb: network(transform(pil(rgb))[None])


def commfor_lowq(folder: Path) -> tuple[torch.nn.Module, Run]:
    import huggingface_hub
    import timm
    from safetensors.torch import save_file

    plain = partial(timm.create_model, depth=2)
    with at(folder / "local-ai-image-signal-training" / "src"), tempfile.TemporaryDirectory() as snapshot:
        Path(snapshot, "config.json").write_text("{}")
        save_file(zoo.network("commfor-lowq").state_dict(), Path(snapshot, "model.safetensors"))
        with (
            mock.patch.object(timm, "create_model", lambda name, pretrained: plain(name, pretrained=False)),
            mock.patch.object(huggingface_hub, "snapshot_download", lambda **given: snapshot),
        ):
            module = importlib.import_module("aiblink_validation.inference")
            network = module._load_model("", None, "cpu")[0]
    return network, lambda rgb: network(torch.from_numpy(module.preprocess(pil(rgb)))[None])


def univfd(folder: Path) -> tuple[torch.nn.Module, Run]:
    with at(folder / UNIVFD), absent("scipy.ndimage.filters", "dataset_paths"):
        module = importlib.import_module("models.clip_models")
        clip = importlib.import_module("models.clip.model").CLIP(768, 224, 2, 128, 14, 8, 32, 64, 1, 1)
        with mock.patch.object(module.clip, "load", lambda name, device: (clip, None)):
            network = module.CLIPModel("ViT-L/14")
        data = importlib.import_module("validate").RealFakeDataset
        with mock.patch.object(data, "read_path", lambda *given: ([], [])):
            transform = data("", "", "ours", 1, "CLIP:ViT-L/14").transform
    return network, lambda rgb: network(transform(pil(rgb))[None])


def clipdet(folder: Path) -> tuple[torch.nn.Module, Run]:
    import open_clip
    from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

    vision = {"layers": 2, "width": 128, "head_width": 64, "patch_size": 14, "image_size": 224}
    text = {"context_length": 8, "vocab_size": 32, "width": 64, "heads": 1, "layers": 1}
    clip = open_clip.CLIP(96, vision, text)
    with at(folder / GRIP):
        module = importlib.import_module("networks.openclipnet")
        normalised = importlib.import_module("utils.processing").make_normalize("clip")
        with (
            mock.patch.object(open_clip, "create_model", lambda name, pretrained: clip),
            mock.patch("huggingface_hub.hf_hub_download"),
        ):
            network = module.OpenClipLinear(pretrain="clipL14commonpool", normalize=True, next_to_last=True)
    network.tower = clip.visual  # the authors hide it in a list; here its keys are wanted
    # main.py, 'Clip224'
    transform = Compose([Resize(224, interpolation=InterpolationMode.BICUBIC), CenterCrop((224, 224)), normalised])
    return network, lambda rgb: network(transform(pil(rgb))[None])


def dda(folder: Path) -> tuple[torch.nn.Module, Run]:
    from torchvision import transforms

    with at(folder / "dinov2"), mock.patch.dict(os.environ, {"XFORMERS_DISABLED": "1"}):
        dino = importlib.import_module("dinov2.models.vision_transformer").DinoVisionTransformer(
            img_size=518, patch_size=14, init_values=1.0, block_chunks=0, embed_dim=64, depth=2, num_heads=2
        )
    inference = folder / "Dual-Data-Alignment" / "Inference"
    with at(inference), mock.patch.object(torch.hub, "load", lambda *given, **more: dino):
        importlib.import_module("models.dinov2_models").CHANNELS["dinov2_vitl14"] = 64
        network = importlib.import_module("models.dinov2_models_lora").DINOv2ModelWithLoRA(
            name="dinov2_vitl14", lora_rank=8, lora_alpha=1, lora_targets=None
        )
    code = (inference / "inference.py").read_text()
    lines = code[code.index("test_transform = ") : code.index("# Load the image")]
    scope: dict[str, Any] = {"transforms": transforms}
    exec(lines, scope)  # the authors' own lines
    return network, lambda rgb: network(scope["test_transform"](pil(rgb))[None])


def gend(folder: Path, backbone: str) -> tuple[torch.nn.Module, Run]:
    import timm
    import transformers

    config = transformers.CLIPConfig(
        vision_config={"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512,
                       "patch_size": 14, "image_size": 224, "projection_dim": 96},
        text_config={"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 64},
        projection_dim=96,
    )  # fmt: skip
    processor = transformers.CLIPImageProcessorPil()
    small = partial(timm.create_model, depth=2, embed_dim=128, num_heads=2)
    with (
        at(folder / "GenD" / "src" / "hf"),
        mock.patch.object(transformers.CLIPModel, "from_pretrained", lambda name: transformers.CLIPModel(config)),
        mock.patch.object(transformers.CLIPProcessor, "from_pretrained", lambda name: processor),
        mock.patch.object(timm, "create_model", lambda name, pretrained, **more: small(name, pretrained=False, **more)),
    ):
        module = importlib.import_module("modeling_gend")
        network = module.GenD(module.GenDConfig(backbone=backbone, head="LinearNorm"))
    box = get_card("gend-clip-l14").preprocessing["area"]

    def run(crop: np.ndarray) -> torch.Tensor:
        picture = pil(crop)
        cut = picture.crop(tuple(round(share * 224) for share in box))
        return network(network.feature_extractor.preprocess(cut)[None])

    return network, run


def sbi(folder: Path) -> tuple[torch.nn.Module, Run]:
    from efficientnet_pytorch import EfficientNet

    plain = partial(EfficientNet.from_name, "efficientnet-b4", num_classes=2)
    with (
        at(folder / "SelfBlendedImages" / "src" / "inference"),
        mock.patch.object(EfficientNet, "from_pretrained", lambda name, advprop, num_classes: plain()),
    ):
        network = importlib.import_module("model").Detector()
    box = get_card("sbi-ffraw").preprocessing["area"]

    def run(crop: np.ndarray) -> torch.Tensor:
        cut = pil(crop).crop(tuple(round(share * 224) for share in box)).resize((380, 380), Image.Resampling.BILINEAR)
        return network(torch.tensor(np.asarray(cut).transpose(2, 0, 1)[None]).float() / 255)

    return network, run


MAKERS: dict[str, Callable[[Path], tuple[torch.nn.Module, Run]]] = {
    "corvi2023": corvi,
    "commfor-384": commfor,
    "commfor-lowq": commfor_lowq,
    "univfd": univfd,
    "clipdet-latent10k-plus": clipdet,
    "dda": dda,
    "gend-clip-l14": partial(gend, backbone="openai/clip-vit-large-patch14"),
    "gend-pe-l": partial(gend, backbone="vit_pe_core_large_patch14_336"),
    "sbi-ffraw": sbi,
    "aasist": partial(aasist, name="AASIST"),
    "aasist-l": partial(aasist, name="AASIST-L"),
    "spectra-aasist": partial(spectra, place="SpectraAASIST", name="SpectraAASIST"),
    "spectra-0": partial(spectra, place="Spectra0", name="Spectra0Model"),
    "df-arena-500m": df_arena,
    "antideepfake-w2v-large-nda": partial(antideepfake, name="w2v_large", card="antideepfake-w2v-large-nda"),
    "antideepfake-w2v-small-nda": partial(antideepfake, name="w2v_small", card="antideepfake-w2v-small-nda"),
}
