"""One network, several threads: what waits goes together, and each gets what is its own."""

import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from forensix.errors import LimitExceeded
from forensix.models.placement import Network, Placement


class Gated(nn.Module):
    """Doubles its inputs; the first call waits until it is let go. ``sizes`` are those of the calls."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[tuple[int, ...]] = []
        self.begun, self.let_go = threading.Event(), threading.Event()

    def forward(self, x: Tensor) -> Tensor:
        self.sizes.append(tuple(x.shape))
        if len(self.sizes) == 1:
            self.begun.set()
            assert self.let_go.wait(60)
        if bool((x == 13).any()):
            raise ValueError("13 is refused")
        return 2 * x

    def twice(self, x: Tensor, by: float) -> tuple[Tensor, Tensor]:
        self.sizes.append((-1, *x.shape))
        return by * x, x


def asked(network: Network, many: list[Callable[[], tuple[Tensor, ...]]]) -> list["Future[tuple[Tensor, ...]]"]:
    """Ask while a first call is at work, so that all of these wait; return what comes of each."""
    gated = network.module
    with ThreadPoolExecutor(len(many) + 1) as pool:
        first = pool.submit(network, torch.zeros(1, 3))
        assert gated.begun.wait(60)
        actual = []
        for n, ask in enumerate(many):
            actual.append(pool.submit(ask))
            while len(network._joiner._waiting) <= n and not actual[-1].done():
                time.sleep(0.001)
        gated.let_go.set()
        first.result(60)
    return actual


def test_what_waits_goes_through_together_and_each_gets_its_own_rows():
    network = Network(Gated(), 8)
    network.move(Placement(batch_size=8))
    inputs = [torch.full((n, 3), float(n)) for n in (1, 2, 5, 3)] + [
        torch.ones(2, 4),
        torch.ones(1, 3, dtype=torch.int),
    ]
    actual = asked(network, [lambda x=x: network(x) for x in inputs])
    for x, answer in zip(inputs, actual, strict=True):
        assert torch.equal(answer.result()[0], 2.0 * x)
    shapes = network.module.sizes
    assert sorted(shapes[1:]) == sorted([(8, 3), (3, 3), (2, 4), (1, 3)])  # eleven rows of one kind, eight at a time


def test_other_methods_and_arguments_do_not_mix():
    network = Network(Gated(), 8)
    x = torch.ones(1, 3)
    actual = asked(network, [lambda: network(x), lambda: network(x, "twice", 3.0), lambda: network(x, "twice", 4.0),
                            lambda: network(2 * x, "twice", 3.0)])  # fmt: skip
    assert [float(answer.result()[0][0, 0]) for answer in actual] == [2, 3, 4, 6]
    assert sorted(network.module.sizes[1:]) == [(-1, 1, 3), (-1, 2, 3), (1, 3)]


def test_an_error_comes_to_the_one_who_caused_it():
    network = Network(Gated(), 8)
    actual = asked(network, [lambda n=n: network(torch.full((1, 3), n)) for n in (1.0, 13.0, 2.0)])
    assert [float(actual[i].result()[0][0, 0]) for i in (0, 2)] == [2, 4]
    with pytest.raises(ValueError, match="13 is refused"):
        actual[1].result()
    assert float(network(torch.ones(1, 3))[0][0, 0]) == 2


def test_a_joint_batch_that_does_not_fit_is_halved():
    class Small(Gated):
        def forward(self, x: Tensor) -> Tensor:
            if len(x) > 3:
                raise RuntimeError("CUDA out of memory. Tried to allocate")
            return super().forward(x)

    network = Network(Small(), 8)
    actual = asked(network, [lambda: network(torch.ones(2, 3))] * 4)
    assert all(torch.equal(answer.result()[0], torch.full((2, 3), 2.0)) for answer in actual)
    assert network.batch_size == 3


def test_only_what_alone_is_too_large_is_refused():
    class Picky(Gated):
        def forward(self, x: Tensor) -> Tensor:
            if bool((x == 9).any()):
                raise RuntimeError("out of memory")
            return super().forward(x)

    network = Network(Picky(), 8)
    actual = asked(network, [lambda n=n: network(torch.full((1, 3), n)) for n in (1.0, 9.0)])
    assert float(actual[0].result()[0][0, 0]) == 2
    with pytest.raises(LimitExceeded, match="one input alone"):
        actual[1].result()


def test_who_waits_is_not_lost_where_the_one_at_work_is_interrupted():
    class Interrupted(Gated):
        def forward(self, x: Tensor) -> Tensor:
            out = super().forward(x)
            if len(self.sizes) == 2:
                raise KeyboardInterrupt
            return out

    network = Network(Interrupted(), 8)
    actual = asked(network, [lambda: network(torch.ones(1, 3))] * 3)
    ends = [type(answer.exception()) for answer in actual]
    assert sorted(ends, key=str) == sorted([KeyboardInterrupt, type(None), type(None)], key=str)


def test_a_network_can_be_sent_to_another_process():
    network = pickle.loads(pickle.dumps(Network(nn.Linear(3, 1), 4)))
    assert network(torch.zeros(5, 3))[0].shape == (5, 1)
