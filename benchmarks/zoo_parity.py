"""Do the ports of published detectors do what their authors' code does? Both get the same random weights and input.

    python -m benchmarks.zoo_parity --authors DIR [--mesonet DIR] [--write]

DIR holds a checkout of each repository named in ``AUTHORS``. Their classes are loaded from there, made small as
``tests/models/zoo.py`` says and given the seeded weights under their own names, every key and shape; then the picture,
face or sound through their own preparation. Prints Markdown: the authors' logit, ours, and the difference. With
``--write`` the authors' logits become ``tests/models/zoo_expected.json``, and differences go onto the cards.

Where their code fetches a pretrained base, that is replaced by the same class without weights; nothing else of it is.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from PIL import Image

from forensix.models import get_card, load_model
from forensix.models.card import Parity
from forensix.models.store import write_card
from tests.models import zoo

GRIP, COMFOR, UNIVFD = "ClipBased-SyntheticImageDetection", "Community-Forensics", "UniversalFakeDetect"
AUTHORS = {
    "corvi2023": f"networks/resnet_mod.py and main.py of grip-unina/{GRIP}",
    "commfor-384": f"models.py and dataloader.py of JeongsooP/{COMFOR}",
    "univfd": f"models/clip_models.py and validate.py of WisconsinAIVision/{UNIVFD}",
    "clipdet-latent10k-plus": f"networks/openclipnet.py and main.py of grip-unina/{GRIP}",
    "dda": "Inference of roy-ch/Dual-Data-Alignment on facebookresearch/dinov2",
    "gend-clip-l14": "src/hf/modeling_gend.py of yermandy/GenD",
    "gend-pe-l": "src/hf/modeling_gend.py of yermandy/GenD",
    "sbi-ffraw": "src/inference/model.py of mapooon/SelfBlendedImages (the network; not how faces are scaled)",
    "spectra-aasist": "MattyB95/Jabberjay, a rewrite that loads the authors' file",
    "spectra-0": "MattyB95/Jabberjay, a rewrite that loads the authors' file",
}
TWINS = {"aligned": "corvi2023", "aligned-sync": "corvi2023", "staypos-corvi": "corvi2023",
         "staypos-aligned": "corvi2023", "clipdet-latent10k": "clipdet-latent10k-plus",
         "sbi-ffc23": "sbi-ffraw"}  # fmt: skip
"""Cards of the same network and the same feeding."""
Run = Callable[[Any], torch.Tensor]


@contextmanager
def at(*folders: Path) -> Iterator[None]:
    """Import from a checkout, and forget what was imported afterwards."""
    before = set(sys.modules)
    with mock.patch.object(sys, "path", [*map(str, folders), *sys.path]):
        yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(tuple(map(str, folders))):
            del sys.modules[name]


@contextmanager
def standing_in(modules: dict[str, Any]) -> Iterator[None]:
    """Let names be imported as these modules; what else is imported meanwhile stays."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    yield
    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


def absent(*names: str) -> Any:
    """Stand in for packages that a module imports and that what is used of it does not need."""
    return standing_in({name: mock.MagicMock() for name in names})


def pil(rgb: np.ndarray) -> Image.Image:
    return Image.fromarray(rgb)


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
    whole = open_clip.CLIP(96, vision, text)
    with at(folder / GRIP):
        module = importlib.import_module("networks.openclipnet")
        normalised = importlib.import_module("utils.processing").make_normalize("clip")
        with (
            mock.patch.object(open_clip, "create_model", lambda name, pretrained: whole),
            mock.patch("huggingface_hub.hf_hub_download"),
        ):
            network = module.OpenClipLinear(pretrain="clipL14commonpool", normalize=True, next_to_last=True)
    network.tower = whole.visual  # the authors hide it in a list; here its keys are wanted
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
    told: dict[str, Any] = {"transforms": transforms}
    exec(lines, told)  # the authors' own lines
    return network, lambda rgb: network(told["test_transform"](pil(rgb))[None])


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


MAKERS: dict[str, Callable[[Path], tuple[torch.nn.Module, Run]]] = {
    "corvi2023": corvi,
    "commfor-384": commfor,
    "univfd": univfd,
    "clipdet-latent10k-plus": clipdet,
    "dda": dda,
    "gend-clip-l14": partial(gend, backbone="openai/clip-vit-large-patch14"),
    "gend-pe-l": partial(gend, backbone="vit_pe_core_large_patch14_336"),
    "sbi-ffraw": sbi,
    "spectra-aasist": partial(spectra, place="SpectraAASIST", name="SpectraAASIST"),
    "spectra-0": partial(spectra, place="Spectra0", name="Spectra0Model"),
}


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
    found = adapt(*files) if adapt else files[0]
    seeded = ours.state_dict()
    assert found.keys() == seeded.keys(), found.keys() ^ seeded.keys()
    values = torch.zeros(total)
    for key, where in found.items():
        assert where.shape == seeded[key].shape, key
        values[where.flatten().long()] = seeded[key].flatten().float()
    authors.load_state_dict({key: values[at.long()].to(state[key].dtype) for key, at in marked.items()}, strict=True)


def logit(name: str, outputs: torch.Tensor) -> float:
    output = get_card(name).output
    values = outputs.flatten().double()
    return float(values[output.fake] - (values[output.real] if output.real is not None else 0))


def mesonet(folder: Path, weights: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Return the outputs before the sigmoid, with the published weights, of the authors' classes and ours."""
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    parts = ("models", "layers", "optimizers")
    stand_in = {f"tensorflow.keras.{part}": getattr(keras, part) for part in parts}
    x = np.stack([zoo.picture(256, 256, 1), np.full((256, 256, 3), 128, np.uint8)]).astype(np.float32) / 255
    found = {}
    with standing_in(stand_in), at(folder / "MesoNet"):
        module = importlib.import_module("classifiers")
        for name in ("meso4-df", "meso4-f2f", "mesoinception-df", "mesoinception-f2f"):
            theirs = (module.MesoInception4 if "inception" in name else module.Meso4)()
            theirs.load(str(weights / get_card(name).weights))
            p = np.asarray(theirs.predict(x), dtype=np.float64).ravel()
            ours = load_model(name, folder=weights).module
            with torch.inference_mode():
                outputs = ours(torch.from_numpy(x).permute(0, 3, 1, 2)).double().numpy().ravel()
            found[name] = (np.log(p / (1 - p)).tolist(), outputs.tolist())
    return found


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
            for one in (name, *(twin for twin, of in TWINS.items() if of == name)):
                write_card(get_card(one).model_copy(update={"parity": parity}))
    if options.mesonet:
        print("\nMesoNet with its published weights, before the sigmoid, which is higher for real:\n")
        print("| detector | authors' outputs | ours | difference |\n|---|---|---|---|")
        for name, (theirs_all, ours_all) in mesonet(options.authors, options.mesonet).items():
            error = max(abs(a - b) for a, b in zip(theirs_all, ours_all, strict=True))
            shown = [", ".join(f"{value:.5f}" for value in values) for values in (theirs_all, ours_all)]
            print(f"| {name} | {shown[0]} | {shown[1]} | {error:.1e} |", flush=True)
            expected[name] = theirs_all
            if options.write:
                against = "classifiers.py of DariusAf/MesoNet on Keras, published weights, a crop of 256 px"
                parity = Parity(error=float(f"{error:.1e}"), against=against)
                write_card(get_card(name).model_copy(update={"parity": parity}))
        print("\nMean score of the authors' own test pictures, two of either kind:\n")
        print("| detector | forged | real |\n|---|---|---|")
        for name, fake, real in pairs(options.authors, options.mesonet):
            print(f"| {name} | {fake:.3f} | {real:.3f} |", flush=True)
    if options.write:
        zoo.EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
