"""A network learns from one part of a manifest until another part tells that it gets no better."""

import logging
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from forensix.errors import UsageError
from forensix.progress import Progress
from forensix.training.loop import Plan, cosine, fit, learning
from forensix.training.own.material import Material
from forensix.training.own.recipe import Batch, Recipe

SMOOTHING = 0.05
JUDGED_BATCHES = 4
EVERY = 25
"""Steps between checkpoints, and judgements on the groups that stop the training."""
PATIENCE = 8

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How long and how fast a network learns from one's own files; see `train`."""

    steps: int
    batch_size: int | None
    rate: float | None
    all_layers: bool | None
    seed: int

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 1)
        check_whole("batch_size", 2 if self.batch_size is None else self.batch_size, 2, of=2)
        check_whole("seed", self.seed, 0)
        if self.rate is not None and not 0 < self.rate < 1:
            raise UsageError(f"rate must lie between 0 and 1, not {self.rate}")

    @property
    def options(self) -> list[str]:
        """The options of the command ``forensix train`` that say the same."""
        told = {"seed": self.seed, "steps": self.steps, "batch-size": self.batch_size, "rate": self.rate}
        words = [word for name, value in told.items() if value is not None for word in (f"--{name}", str(value))]
        return [*words, *(["--all-layers"] if self.all_layers else [])]


def check_whole(name: str, value: int, least: int, *, of: int = 1) -> None:
    """Refuse what is no whole number from ``least`` up, or no multiple ``of`` another, with a sentence."""
    if isinstance(value, bool) or not isinstance(value, Real) or value % of or value < least:
        even = ", an even one" if of == 2 else ""
        raise UsageError(f"{name} must be a whole number from {least} up{even}, not {value}")


def learn(
    recipe: Recipe,
    learnt: Material,
    stopping: Material,
    settings: Settings,
    device: torch.device,
    checkpoint: Path,
    run: str,
    tell: Progress,
    task: str,
) -> str:
    """Teach the network; return for the limits of its card, with a space behind, and log, that it got no better."""
    tell(task, "learning", 0.3)
    torch.manual_seed(settings.seed)
    network = recipe.module.to(device)
    all_layers = recipe.all_layers if settings.all_layers is None else settings.all_layers
    chosen = {id(one) for one in recipe.tuned(all_layers=all_layers)}
    for parameter in network.parameters():
        parameter.requires_grad = id(parameter) in chosen
    n = settings.batch_size or recipe.batch_size
    fixed = np.random.default_rng([settings.seed, 1])
    judged = [recipe.draw(stopping, n, fixed) for _ in range(JUDGED_BATCHES)]

    def loss_of(network: nn.Module, batch: Batch) -> Tensor:
        inputs, outputs, labels = batch
        soft = labels.to(device) * (1 - 2 * SMOOTHING) + SMOOTHING
        logits = recipe.logits(network, inputs.to(device), outputs)
        return nn.functional.binary_cross_entropy_with_logits(logits.float(), soft)

    def judge(network: nn.Module) -> float:
        with torch.inference_mode():
            return float(np.mean([loss_of(network, batch).item() for batch in judged]))

    before = judge(network.eval())
    fit(
        network,
        lambda rng: recipe.draw(learnt, n, rng),
        loss_of,
        Plan(
            steps=settings.steps,
            rate=cosine(settings.rate or recipe.rate, warm=20, least=0.02),
            decay=0.02,
            average=0.95,
            every=EVERY,
            words=1,
            patience=PATIENCE,
        ),
        np.random.default_rng(settings.seed),
        checkpoint=checkpoint,
        run=run,
        judge=judge,
        tell=lambda step, loss, done: tell(task, f"step {step}, loss {loss:.3f}", 0.3 + 0.5 * done),
        prepare=learning,
    )
    if (after := judge(network)) < before:
        return ""
    told = (
        f"On the groups that stop the training it got no better than {recipe.card.name} was before (a loss of"
        f" {after:.2f} after {before:.2f}): a lower rate, or more steps, may help."
    )
    _LOG.warning(told)
    return f"{told} "
