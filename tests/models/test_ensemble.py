"""An ensemble scores by the rule of its card, one or many, wherever its members run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from forensix.calibration import sigmoid
from forensix.errors import ModelNotFound, WeightsMismatch
from forensix.evaluation.identity import component_identity
from forensix.models import LoadedModel, ModelCard, Output, placement
from forensix.models.architectures.ensemble import build
from forensix.models.detector import Detector
from forensix.models.ensemble import Ensemble, ensemble_of, listed
from forensix.models.placement import Placement


def card(name: str, **more: Any) -> ModelCard:
    fields = {
        "summary": "",
        "architecture": "ensemble",
        "limits": "",
        "licence": "",
        "weights": "w",
        "sha256": name * 3,
    }
    return ModelCard(name=name, component="spoof", output=Output(labels=("fake",), fake=0), **fields | more)


class Level(Detector):
    """Gives its input, times a factor, as the logit."""

    batch = 1

    def __init__(self, name: str, factor: float) -> None:
        super().__init__(LoadedModel(card(name), torch.nn.Identity()))
        self.factor = factor

    def logits(self, many: Any) -> np.ndarray:
        return self.factor * np.array([float(np.sum(item)) for item in many])

    def _is_one_array(self, given: Any) -> bool:
        return given.ndim == 1


def test_the_mean_of_calibrated_logits() -> None:
    members = [Level("a", 1.0), Level("b", 3.0)]
    both = Ensemble(LoadedModel(card("both"), build(members)), members)
    assert both.score(np.array([0.5])) == pytest.approx(float(sigmoid(1.0)))
    many = both.scores(np.array([v]) for v in np.linspace(-1, 1, 70))
    assert np.allclose(many, sigmoid(2 * np.linspace(-1, 1, 70)), atol=1e-9)
    assert both.scores(np.array([[0.5], [1.0]])) == pytest.approx(sigmoid(np.array([1.0, 2.0])))
    assert both.on(Placement()).device.type == "cpu"
    assert len(both.scores([])) == 0


def test_where_and_how_it_computes_is_where_and_how_its_members_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "computes_halves", lambda: True)
    members = [Level("a", 1.0), Level("b", 3.0)]
    both = Ensemble(LoadedModel(card("both"), build(members)), members)
    both.on(Placement(half=True, batch_size=3))
    assert both.elsewhere == "half" and both.batch_size == 3
    assert str(component_identity("spoof", both)).endswith(" half"), "its scores are kept apart from others"


def test_members_must_be_those_that_it_was_made_of() -> None:
    known = {item.card.name: item for item in (Level("a", 1.0), Level("b", 3.0))}
    config = {"members": listed([(item.card, False) for item in known.values()])}
    model = LoadedModel(card("both", config=config), build(config["members"]))
    assert ensemble_of(model, Path(), known.__getitem__).members == tuple(known.values())
    known["b"].card = card("b", sha256="other")
    with pytest.raises(WeightsMismatch, match="made of another b"):
        ensemble_of(model, Path(), known.__getitem__)
    config["members"][0]["name"] = "../a"
    with pytest.raises(ModelNotFound, match="no name of a model"):
        ensemble_of(model, Path(), known.__getitem__)
