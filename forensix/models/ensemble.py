"""Several detectors in one slot: each scores, and a rule adds up their calibrated logits.

The card's ``config`` lists the members, each with its ``name`` and the ``sha256`` of its weights. Those that are
``kept`` lie beside the card, in ``members/NAME``; the others are found by name. The rule's weights are the card's own.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forensix.calibration import logit
from forensix.errors import ModelNotFound, WeightsMismatch
from forensix.models.card import ModelCard
from forensix.models.detector import Detector, Scores
from forensix.models.placement import Placement
from forensix.models.store import LoadedModel

ARCHITECTURE = "ensemble"
MEMBERS = "members"
"""Folder beside the card in which members lie that are known by no name."""


class Ensemble(Detector):
    """Scores what its members score; see the module's text. It has neither heat map nor types of its own."""

    batch = 32

    def __init__(self, model: LoadedModel, members: Sequence[Detector]) -> None:
        super().__init__(model)
        self.members = tuple(members)

    @property
    def device(self) -> torch.device:
        """Where the members' networks run."""
        return self.members[0].device

    @property
    def batch_size(self) -> int:
        """Inputs that go through a member's network at once."""
        return self.members[0].batch_size

    @property
    def elsewhere(self) -> str:
        """How the members compute otherwise than when their figures were measured; see `Detector`."""
        return self.members[0].elsewhere

    def on(self, placement: Placement) -> Self:
        """Move the members' networks to a device, and return the ensemble."""
        for member in self.members:
            member.on(placement)
        return self

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the rule's logit of each input, float64 (n,), higher for fake."""
        if isinstance(many, np.ndarray):
            return self._together(many)
        waiting, outputs = iter(many), []
        while part := list(islice(waiting, self.batch)):
            outputs.append(self._together(part))
        return np.concatenate(outputs) if outputs else np.zeros(0)

    def _together(self, many: Any) -> Scores:
        each = np.stack([logit(member.scores(many)) for member in self.members], axis=1)
        with torch.inference_mode():
            return np.asarray(self.network.module(torch.from_numpy(each)).numpy(), dtype=np.float64)

    def _is_one_array(self, inputs: "NDArray[Any] | Tensor") -> bool:
        return self.members[0]._is_one_array(inputs)


def ensemble_of(model: LoadedModel, folder: Path, load: Callable[[str], Detector]) -> Ensemble:
    """Return the ensemble of a card that lies in ``folder``; ``load`` makes a member of a name or a path.

    Raises
    ------
    WeightsMismatch
        A member's weights are not those that the ensemble was made of.
    ModelNotFound, WeightsMissing
        A member is not there.
    """
    members = []
    for entry in model.card.config["members"]:
        if Path(entry["name"]).name != entry["name"]:
            raise ModelNotFound(f"{model.card.name} lists {entry['name']!r}, which is no name of a model")
        member = load(str(folder / MEMBERS / entry["name"]) if entry["kept"] else entry["name"])
        if member.card.sha256 != entry["sha256"]:
            raise WeightsMismatch(
                f"{model.card.name} was made of another {entry['name']}: sha256 {entry['sha256'][:12]}… was expected,"
                f" {member.card.sha256[:12]}… came"
            )
        members.append(member)
    return Ensemble(model, members)


def listed(members: Sequence[tuple[ModelCard, bool]]) -> list[dict[str, Any]]:
    """Return members, each with whether it is kept beside the card, as an ensemble's ``config`` lists them."""
    return [{"name": card.name, "sha256": card.sha256, "kept": is_kept} for card, is_kept in members]
