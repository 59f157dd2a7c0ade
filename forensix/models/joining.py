"""What several threads ask of one network goes through it together.

Threads that come while the network is at work wait. Whoever has the next turn takes along all that wait with inputs of
the same shape and kind, and hands each its rows. So batches are the fuller the more is in flight, and nobody waits for
others that may never come.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future

import torch
from torch import Tensor

Rows = tuple[Tensor, ...]
"""What a network gives for inputs (n, ...): tensors of n rows each."""


class Joiner:
    """One turn at a time; see the module's text. A copy in another process has turns of its own."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._waiting: list[tuple[Hashable, Tensor, Future[Rows]]] = []

    def __reduce__(self) -> tuple[type["Joiner"], tuple[()]]:
        return Joiner, ()

    def call(self, kind: Hashable, x: Tensor, run: Callable[[Tensor], Rows]) -> Rows:
        """Return the rows of ``run`` for ``x``, on its own or with what others wait for.

        Inputs of one ``kind`` must fit together along their first axis, and their ``run`` do the same. Where a joint
        call fails each is made by itself, so that an error comes to the one who caused it.
        """
        own: Future[Rows] = Future()
        with self._changed:
            self._waiting.append((kind, x, own))
            self._changed.wait_for(lambda: own.done() or not self._busy)
            if own.done():
                return own.result()
            self._busy = True
            alike = [(tensor, answer) for of, tensor, answer in self._waiting if of == kind]
            self._waiting = [entry for entry in self._waiting if entry[0] != kind]
        try:
            _answer(alike, run)
        finally:
            with self._changed:
                self._busy = False
                # After an interrupt: the others are still there, and one of them takes the next turn.
                left = [(kind, tensor, answer) for tensor, answer in alike if not answer.done() and answer is not own]
                self._waiting += left
                self._changed.notify_all()
        return own.result()


def _answer(alike: Sequence[tuple[Tensor, "Future[Rows]"]], run: Callable[[Tensor], Rows]) -> None:
    inputs = [tensor for tensor, _ in alike]
    try:
        joint = run(inputs[0] if len(inputs) == 1 else torch.cat(inputs))
    except Exception as error:
        if len(alike) == 1:
            alike[0][1].set_exception(error)
        failed = True
    else:
        failed = False
        counts = [len(tensor) for tensor in inputs]
        each = zip(*(torch.split(part, counts) for part in joint), strict=True)
        for (_, answer), rows in zip(alike, each, strict=True):
            answer.set_result(rows)
    # Out of the block, so that what the error holds on to is freed first.
    if failed and len(alike) > 1:
        for entry in alike:
            _answer([entry], run)
