"""Models: a card each, weights that match it to the byte, and components found by name.

A *card* says what a network is, how it is fed, what its outputs mean, what it was trained on and how it was measured.
``load_model("forensix-spoof")`` returns the card and the network in evaluation mode; it stops when the weights are
missing, when their hash is not the card's, or when a key is missing or left over. Nothing is guessed.

Weights of our own ship in the package. Published checkpoints are read from ``folder=``, from the folder named by
``FORENSIX_CHECKPOINTS``, or from the user's cache, where ``forensix models pull NAME`` puts them.

>>> from forensix.models import list_models
>>> any(card.name == "forensix-spoof" for card in list_models())
True
"""

from forensix.models.card import (
    DetailGap,
    Fusion,
    Measurement,
    ModelCard,
    Output,
    Parts,
    Pooling,
    Steadiness,
    TrainingSource,
    band_of,
)
from forensix.models.placement import Placement
from forensix.models.registry import (
    as_absolute,
    as_named,
    check_component,
    check_object,
    component_names,
    is_foreign,
    load_component,
    load_detector,
)
from forensix.models.store import (
    LoadedModel,
    checked_weights,
    get_card,
    list_models,
    load_model,
    pull_model,
    save_model,
)

__all__ = [
    "DetailGap",
    "Fusion",
    "LoadedModel",
    "Measurement",
    "ModelCard",
    "Output",
    "Parts",
    "Placement",
    "Pooling",
    "Steadiness",
    "TrainingSource",
    "as_absolute",
    "as_named",
    "band_of",
    "check_component",
    "check_object",
    "checked_weights",
    "component_names",
    "get_card",
    "is_foreign",
    "list_models",
    "load_component",
    "load_detector",
    "load_model",
    "pull_model",
    "save_model",
]
