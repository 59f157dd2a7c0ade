"""The loop that every network of forensix is trained by: steps, averaged weights, checkpoints, and when to stop.

A run that was killed goes on where its last checkpoint stands, with the same draws as if it had not been: random states
are kept beside weights and optimiser. The weights that count are an exponential average over the steps.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from forensix.errors import UsageError, first_line

Batch = TypeVar("Batch")
Rng = np.random.Generator
Tell = Callable[[int, float, float], None]
"""Told the steps made, the mean loss of the last ``every``, and the share of the schedule that is done."""


@dataclass(frozen=True)
class Plan:
    """How long and how fast a network learns."""

    steps: int
    rate: Callable[[int, float], float]
    """Learning rate by the step and the share of the schedule that is done."""
    decay: float
    average: float
    """How much of the averaged weights stays at each step."""
    minutes: float = math.inf
    """Processor time after which the schedule ends, if that is sooner than ``steps``."""
    every: int = 200
    """Steps between checkpoints and judgements."""
    words: int = 0
    """Steps between words of progress; 0 for ``every``."""
    patience: int = 0
    """Judgements without a better one after which training stops; 0 for never."""


def cosine(rate: float, warm: int, least: float) -> Callable[[int, float], float]:
    """Return a learning rate that rises over ``warm`` steps and falls along a cosine to ``least`` times ``rate``."""

    def at(step: int, progress: float) -> float:
        return rate * (min(1.0, (step + 1) / warm) * (least + (1 - least) * 0.5 * (1 + math.cos(math.pi * progress))))

    return at


@dataclass(eq=False)
class _Best:
    value: float = math.inf
    since: int = 0
    state: dict[str, Tensor] | None = None


def fit(
    network: nn.Module,
    draw: Callable[[Rng], Batch],
    loss_of: Callable[[nn.Module, Batch], Tensor],
    plan: Plan,
    rng: Rng,
    *,
    checkpoint: Path | None = None,
    run: str = "",
    judge: Callable[[nn.Module], float] | None = None,
    tell: Tell | None = None,
    prepare: Callable[[nn.Module], Any] = nn.Module.train,
) -> int:
    """Train a network in place and return the steps made; its weights are the averaged ones, in evaluation mode.

    Parameters
    ----------
    draw
        Makes a batch with the generator ``rng``, which nothing else may use.
    checkpoint
        File that is written every ``plan.every`` steps, and continued where it is there.
    run
        What tells this run from another: a checkpoint of another is refused.
    judge
        Returns how wrong the averaged network, in evaluation mode, is on what it does not learn from. The weights
        with the least value are taken; without it the last ones.
    prepare
        Puts the network into the mode that it learns in.

    Raises
    ------
    UsageError
        The checkpoint is of another run, or damaged; or the loss, or what ``judge`` returns, is no finite number. The
        checkpoint is removed then: what comes after it would end there again.
    """
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=plan.rate(0, 0.0), weight_decay=plan.decay)
    averaged = torch.optim.swa_utils.AveragedModel(
        network,
        multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(plan.average),  # type: ignore[no-untyped-call]
        use_buffers=True,
    )
    step, spent_s, best = 0, 0.0, _Best()
    if checkpoint is not None and checkpoint.is_file():
        step, spent_s, best = _resume(checkpoint, run, network, averaged, optimizer, rng)
    begun = time.process_time() - spent_s
    losses: deque[float] = deque(maxlen=plan.every)
    prepare(network)

    def progress() -> float:
        return max(step / plan.steps, (time.process_time() - begun) / (60 * plan.minutes))

    while (done := progress()) < 1 and not (plan.patience and best.since >= plan.patience):
        for group in optimizer.param_groups:
            group["lr"] = plan.rate(step, done)
        loss = loss_of(network, draw(rng))
        losses.append(_finite(loss.item(), step, checkpoint))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learned, 5.0)
        optimizer.step()
        averaged.update_parameters(network)
        step += 1
        if tell is not None and (step % (plan.words or plan.every) == 0 or step == plan.steps):
            tell(step, float(np.mean(losses)), progress())
        if step % plan.every == 0 or step == plan.steps:
            if judge is not None:
                _finite(_judged(averaged.module, judge, best), step, checkpoint)
            if checkpoint is not None:
                spent_s = time.process_time() - begun
                _keep(checkpoint, run, step, spent_s, network, averaged, optimizer, rng, best)
    network.load_state_dict(best.state or averaged.module.state_dict())
    network.eval()
    return step


def learning(network: nn.Module) -> nn.Module:
    """Put a network into the mode that it learns in, with the normalisation that it came with.

    The statistics of a few files would be worse.
    """
    network.train()
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.eval()
    return network


def _finite(value: float, step: int, checkpoint: Path | None) -> float:
    if math.isfinite(value):
        return value
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    raise UsageError(
        f"the training diverged: after {step} steps its loss is no finite number, so no model is written; take a lower"
        " rate"
    )


def _judged(network: nn.Module, judge: Callable[[nn.Module], float], best: _Best) -> float:
    network.eval()
    with torch.inference_mode():
        value = judge(network)
    best.since += 1
    if value < best.value:
        best.value, best.since = value, 0
        best.state = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    return value


def _keep(
    path: Path,
    run: str,
    step: int,
    spent_s: float,
    network: nn.Module,
    averaged: nn.Module,
    optimizer: torch.optim.Optimizer,
    rng: Rng,
    best: _Best,
) -> None:
    kept = {
        "run": run,
        "step": step,
        "spent_s": spent_s,
        "network": network.state_dict(),
        "averaged": averaged.state_dict(),
        "optimizer": optimizer.state_dict(),
        "numpy": rng.bit_generator.state,
        "torch": torch.get_rng_state(),
        "best": vars(best),
    }
    partial = path.with_suffix(".partial")
    try:
        torch.save(kept, partial)
        partial.replace(path)
    except RuntimeError as error:
        # torch has its own words where a disk is full.
        partial.unlink(missing_ok=True)
        raise OSError(f"{path} cannot be written: {error}") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _resume(
    path: Path, run: str, network: nn.Module, averaged: nn.Module, optimizer: torch.optim.Optimizer, rng: Rng
) -> tuple[int, float, _Best]:
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        if kept["run"] != run:
            raise UsageError(
                f"{path.parent} holds an unfinished training with other data or settings: name another folder, or"
                " delete that one"
            )
        network.load_state_dict(kept["network"])
        averaged.load_state_dict(kept["averaged"])
        optimizer.load_state_dict(kept["optimizer"])
        rng.bit_generator.state = kept["numpy"]
        torch.set_rng_state(kept["torch"])
        return int(kept["step"]), float(kept["spent_s"]), _Best(**kept["best"])
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"the checkpoint {path} is damaged, delete it: {first_line(error)}") from None
