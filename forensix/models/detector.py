"""What every detector of fakes has: a card, a device, and ``score`` for one or many of whatever holds its input."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forensix.calibration import Calibration
from forensix.errors import UsageError
from forensix.models.card import ModelCard, Output
from forensix.models.inputs import is_file
from forensix.models.placement import Network, Placement
from forensix.models.store import LoadedModel

Scores = NDArray[np.float64]
_UNCALIBRATED = Calibration(slope=1.0, intercept=0.0)


class Detector(ABC):
    """A network that tells fake from real, with the card that says how to feed it.

    What fills the slots ``image_detector``, ``face_classifier`` and ``spoof`` is one of these;
    `forensix.load_detector` makes them by name. Each class says what its inputs are. The network is the detector's own
    from then on: it is moved, and may be changed to what says the same faster.
    """

    batch: ClassVar[int]
    """Inputs that go through the network at once, unless the caller says another number."""

    def __init__(self, model: LoadedModel) -> None:
        self.card: ModelCard = model.card
        self.network = Network(model.module, self.batch)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.card.name!r}, device={str(self.device)!r}, batch_size={self.batch_size})"

    @property
    def device(self) -> torch.device:
        """Where the network runs."""
        return self.network.device

    @property
    def batch_size(self) -> int:
        """Inputs that go through the network at once; smaller than what was asked for where that did not fit."""
        return self.network.batch_size

    @property
    def elsewhere(self) -> str:
        """How it computes otherwise than when its figures were measured; empty on the processor with 32 bits."""
        words = [*([] if self.device.type == "cpu" else [str(self.device)]), *(["half"] if self.network.half else [])]
        return " ".join(words)

    def on(self, placement: Placement) -> Self:
        """Move the network to a device, and return the detector."""
        self.network.move(placement)
        return self

    def score(self, inputs: Any) -> Any:
        """Return how likely it is fake: a float in [0, 1] for one, float64 (n,) for many.

        The score is calibrated where the card has a calibration, else the probability that the authors' outputs give.

        Parameters
        ----------
        inputs
            One input, or many: a list, any iterable, or an array or tensor with one axis more than one has. A path and
            ``bytes`` are those of a file, whose content is opened as `forensix.open_media` does. What else one input
            may be, the class says. Iterables are taken as they are needed.

        Raises
        ------
        InputError
            A file cannot be opened, or holds nothing that this detector looks at.
        UsageError
            Another type or shape, or the network gives what is no number: its weights are damaged.
        """
        if self._is_one(inputs):
            return float(self.scores([inputs])[0])
        return self.scores(inputs)

    def scores(self, many: Iterable[Any]) -> Scores:
        """Return the score of each of many inputs, float64 (n,); see `score`."""
        return self._calibrated(self.logits(many))

    def logit(self, one: Any) -> float:
        """Return the raw logit of one input, higher for fake."""
        return float(self.logits([one])[0])

    @abstractmethod
    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each of many inputs, float64 (n,), higher for fake."""

    def _is_one(self, inputs: Any) -> bool:
        """Return whether it is one input: a file, anything but an iterable, or an array of as many axes as one has."""
        if isinstance(inputs, np.ndarray | Tensor):
            return self._is_one_array(inputs)
        return is_file(inputs) or not isinstance(inputs, Iterable)

    @abstractmethod
    def _is_one_array(self, inputs: "NDArray[Any] | Tensor") -> bool: ...

    def _calibrated(self, logits: Any) -> Scores:
        if np.isnan(logits).any():
            raise UsageError(f"{self.card.name} gives a score that is no number: are its weights damaged?")
        return (self.card.calibration or _UNCALIBRATED).score(logits)

    def _one_logit(self, outputs: Tensor) -> Scores:
        return read_out(outputs.double(), self.card.output).numpy()


def read_out(values: Tensor, output: Output) -> Tensor:
    """Return logits (n,), higher for fake, of a network's outputs (n,) or (n, labels): here alone direction is set."""
    if values.ndim == 1:
        return values
    signed = [sign * values[:, at] for sign, at in ((1, output.fake), (-1, output.real)) if at is not None]
    return torch.stack(signed).sum(0)


def batches(network: Network, inputs: Iterable[Tensor]) -> Iterator[tuple[Tensor, ...]]:
    """Yield the network's outputs of each input, (k, ...) with k of its own; inputs of one shape go together.

    Inputs are taken until as many as a batch wait.
    """
    waiting: list[Tensor] = []
    for x in inputs:
        waiting.append(x)
        if sum(map(len, waiting)) >= network.batch_size:
            yield from _together(network, waiting)
            waiting = []
    yield from _together(network, waiting)


def _together(network: Network, waiting: list[Tensor]) -> list[tuple[Tensor, ...]]:
    results: dict[int, tuple[Tensor, ...]] = {}
    for shape in dict.fromkeys(x.shape[1:] for x in waiting):
        places = [i for i, x in enumerate(waiting) if x.shape[1:] == shape]
        outputs = network(torch.cat([waiting[i] for i in places]))
        counts = [len(waiting[i]) for i in places]
        results |= dict(zip(places, zip(*(torch.split(part, counts) for part in outputs), strict=True), strict=True))
    return [results[i] for i in range(len(waiting))]
