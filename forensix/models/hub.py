"""Classifiers of the Hugging Face hub as detectors, where the names of their labels tell which one means fake.

``load_detector("owner/name")`` fetches one with the package transformers; a folder that holds one, as `save_pretrained`
writes it, is read without a network. Their cards are made here of what their configuration says. Nothing is known of
how good they are, and code that a repository brings along is never run.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from safetensors import SafetensorError
from torch import Tensor, nn

from forensix.errors import MissingExtra, ModelNotFound, UsageError, WeightsMismatch, first_line
from forensix.models.card import ModelCard, Output
from forensix.models.store import LoadedModel

FAKE = {"fake", "deepfake", "spoof", "spoofed", "synthetic", "generated", "artificial", "ai", "aigenerated", "machine"}
REAL = {"real", "bonafide", "genuine", "authentic", "human", "hum", "natural", "nature", "realism", "live"}
_SLOTS = {"ForImageClassification": "image_detector", "ForAudioClassification": "spoof",
          "ForSequenceClassification": "spoof"}  # fmt: skip


class Classifier(nn.Module):
    """A classifier of transformers, prepared inputs (batch, ...) to outputs (batch, labels)."""

    def __init__(self, network: Any, processor: Any) -> None:
        super().__init__()
        self.network = network
        self.processor = processor

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (batch, labels)."""
        outputs: Tensor = self.network(x).logits
        return outputs


def outputs_of(labels: Mapping[int, str], name: str) -> Output:
    """Return which output means fake and which real.

    Raises
    ------
    UsageError
        The names do not tell, or there are others beside the two.
    """
    ordered = [str(labels[i]) for i in sorted(labels)]
    plain = [re.sub("[^a-z]", "", label.lower()) for label in ordered]
    fake, real = ([i for i, label in enumerate(plain) if label in words] for words in (FAKE, REAL))
    if len(ordered) != 2 or len(fake) != 1 or len(real) != 1:
        raise UsageError(f"the labels of {name} are {', '.join(ordered)}: they do not tell which one means fake")
    return Output(labels=tuple(ordered), fake=fake[0], real=real[0])


def load_hub(name: str) -> LoadedModel:
    """Return a classifier of the hub, or of a folder, and a card made of what its configuration says.

    Raises
    ------
    MissingExtra
        The package transformers is not installed.
    ModelNotFound
        There is none of that name, it is gated and there is no token, or the hub does not answer.
    UsageError
        It is no classifier of pictures or sound, or its labels do not tell which one means fake.
    """
    try:
        import transformers
    except ImportError:
        raise MissingExtra("models of the hub need the package transformers: pip install 'forensix[zoo]'") from None
    library: Any = transformers
    config = _fetched(library.AutoConfig, name)
    kinds = [(end, slot) for end, slot in _SLOTS.items() if any(a.endswith(end) for a in config.architectures or ())]
    if not kinds:
        raise UsageError(f"{name} is no classifier of pictures or sound, but {', '.join(config.architectures or ())}")
    slot = kinds[0][1]
    output = outputs_of(config.id2label, name)
    if slot == "image_detector":
        loader, processor = library.AutoModelForImageClassification, library.AutoImageProcessor
    else:
        loader, processor = library.AutoModelForAudioClassification, library.AutoFeatureExtractor
    prepared = _fetched(processor, name)
    network, info = _fetched(loader, name, output_loading_info=True)
    wrong = {kind: sorted(keys) for kind, keys in info.items() if keys and kind.endswith("keys")}
    if wrong:
        raise WeightsMismatch(f"the weights of {name} do not fit its configuration: {wrong}")
    card = ModelCard(
        name=re.sub("[^a-z0-9_.-]", "-", Path(name).name.lower() if os.path.isdir(name) else name.lower()).strip("-."),
        component=slot,
        summary=f"{name} of the Hugging Face hub, by the names of its labels.",
        architecture="hub",
        preprocessing=_feeding(slot),
        output=output,
        limits="Nothing is known here of how good it is. Its probability is the authors' own and not calibrated here.",
        licence="as its page on the hub says",
        weights="model",
        url=None if os.path.isdir(name) else f"https://huggingface.co/{name}",
        sha256=_digest(name, network),
        hash_from="nobody",
        n_parameters=sum(p.numel() for p in network.parameters()),
    )
    return LoadedModel(card, Classifier(network, prepared).eval())


def _feeding(slot: str) -> dict[str, Any]:
    if slot == "image_detector":
        return {}
    return {"window": 160_000, "hop": 160_000, "shortest": 16_000, "at_most": 16, "level": False}


def _digest(name: str, network: nn.Module) -> str:
    """Return a hash of the weights themselves: two models of one name are told apart by it."""
    digest = hashlib.sha256(name.encode())
    for key, value in network.state_dict().items():
        digest.update(key.encode())
        digest.update(value.detach().float().numpy().tobytes())
    return digest.hexdigest()


def _fetched(kind: Any, name: str, **more: Any) -> Any:
    try:
        return kind.from_pretrained(name, trust_remote_code=False, **more)
    except (OSError, ValueError, RuntimeError, UnpicklingError, SafetensorError) as error:
        reason = first_line(error).rstrip(".")
        gated = "gated" in str(error).lower()
        why = "its authors ask for a token: accept their terms and set HF_TOKEN" if gated else reason
        raise ModelNotFound(f"{name} could not be loaded from the hub: {why}") from error
