"""The loop that trains every network: what is killed goes on as if it had not been, and what gets no better stops."""

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from forensix.errors import UsageError
from forensix.training.loop import Plan, cosine, fit

PLAN = Plan(steps=60, rate=cosine(0.05, warm=5, least=0.02), decay=0.0, average=0.5, every=10)
WAY = torch.tensor([1.0, -2.0, 0.5])


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))


def draw(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.from_numpy(rng.normal(size=(16, 3)).astype(np.float32))
    return x, (x @ WAY > 0).float()


def loss_of(net: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    x, y = batch
    return nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)


def weights(net: nn.Module) -> np.ndarray:
    return np.concatenate([value.numpy().ravel() for value in net.state_dict().values()])


def test_a_network_learns_and_its_weights_are_the_average() -> None:
    net = network()
    fixed = draw(np.random.default_rng(9))
    before = loss_of(net, fixed).item()
    losses: list[float] = []
    steps = fit(net, draw, loss_of, PLAN, np.random.default_rng(0), tell=lambda step, loss, done: losses.append(loss))
    assert steps == 60 and len(losses) == 6 and losses[-1] < losses[0]
    assert not net.training and loss_of(net, fixed).item() < 0.6 * before


def test_words_of_progress_come_as_often_as_the_plan_says() -> None:
    told: list[tuple[int, float]] = []
    plan = replace(PLAN, words=7)
    fit(network(), draw, loss_of, plan, np.random.default_rng(0), tell=lambda step, _, done: told.append((step, done)))
    assert told == [(step, step / PLAN.steps) for step in (*range(7, PLAN.steps, 7), PLAN.steps)]


@pytest.mark.parametrize("where", ["learnt from", "judged"])
def test_a_loss_that_is_no_number_ends_it_and_leaves_no_checkpoint_to_go_on_with(tmp_path: Path, where: str) -> None:
    steps = 0

    def diverging(net: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        nonlocal steps
        steps += 1
        return loss_of(net, batch) * (math.nan if where == "learnt from" and steps > 25 else 1)

    options = {"judge": lambda net: math.inf if where == "judged" and steps >= 20 else 1.0}
    with pytest.raises(UsageError, match=r"the training diverged: after 2\d steps its loss is no finite number"):
        fit(network(), draw, diverging, PLAN, np.random.default_rng(0), checkpoint=tmp_path / "kept.pt", **options)
    assert steps in (20, 26) and not any(tmp_path.iterdir())


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from tests.training.test_loop import PLAN, draw, fit, loss_of, network

def deadly(rng, n=[0]):
    n[0] += 1
    if n[0] == 34:
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(rng)

fit(network(), deadly, loss_of, PLAN, np.random.default_rng(0), checkpoint=Path(sys.argv[1]), run="r")
"""


def test_a_killed_run_goes_on_and_ends_with_the_weights_of_one_that_was_not(tmp_path: Path) -> None:
    whole = network()
    fit(whole, draw, loss_of, PLAN, np.random.default_rng(0))
    checkpoint = tmp_path / "checkpoint.pt"
    root = Path(__file__).parents[2]
    died = subprocess.run(
        [sys.executable, "-c", KILLED, str(checkpoint)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL and checkpoint.is_file()
    drawn = 0

    def counted(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal drawn
        drawn += 1
        return draw(rng)

    net = network()
    steps = fit(net, counted, loss_of, PLAN, np.random.default_rng(5), checkpoint=checkpoint, run="r")
    assert (steps, drawn) == (60, 30)
    assert np.array_equal(weights(net), weights(whole))


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.pt"
    fit(network(), draw, loss_of, PLAN, np.random.default_rng(0), checkpoint=checkpoint, run="one")
    with pytest.raises(UsageError, match="unfinished training with other data or settings"):
        fit(network(), draw, loss_of, PLAN, np.random.default_rng(0), checkpoint=checkpoint, run="two")
    checkpoint.write_bytes(checkpoint.read_bytes()[:200])
    with pytest.raises(UsageError, match="damaged, delete it"):
        fit(network(), draw, loss_of, PLAN, np.random.default_rng(0), checkpoint=checkpoint, run="one")


def test_what_gets_no_better_stops_and_the_best_is_kept() -> None:
    said = iter([0.5, 0.3, 0.4, 0.6, 0.7, 0.8])
    kept: list[np.ndarray] = []

    def judge(net: nn.Module) -> float:
        kept.append(weights(net))
        return next(said)

    net = network()
    plan = Plan(steps=60, rate=PLAN.rate, decay=0.0, average=0.5, every=10, patience=3)
    steps = fit(net, draw, loss_of, plan, np.random.default_rng(0), judge=judge)
    assert steps == 50, "two better judgements, then three that were not"
    assert np.array_equal(weights(net), kept[1])


def test_a_full_disk_is_told_and_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = tmp_path / "checkpoint.pt"
    half = Plan(steps=30, rate=PLAN.rate, decay=0.0, average=0.5, every=10)
    fit(network(), draw, loss_of, half, np.random.default_rng(0), checkpoint=checkpoint)
    before = checkpoint.read_bytes()

    def full(kept: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("PytorchStreamWriter failed writing file: No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match=r"cannot be written.*No space left"):
        fit(network(), draw, loss_of, PLAN, np.random.default_rng(0), checkpoint=checkpoint)
    assert checkpoint.read_bytes() == before and list(tmp_path.iterdir()) == [checkpoint]
