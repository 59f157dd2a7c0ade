"""Where a network runs, how many inputs go through it at once, and what happens where these do not fit.

``device="auto"`` takes CUDA, then Apple's MPS, then the processor. The default is the processor, where every figure on
a card was measured. Where memory runs out the batch is halved, until one input alone does not fit.
"""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

from forensix.errors import LimitExceeded, UsageError
from forensix.interpreter import environment

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

T = TypeVar("T")

ON_PROCESSOR = 6
"""The most inputs at once on the processor, where the caller does not say: the windows of one picture. What the layers
give of more no longer fits its caches, and the system clears pages for it anew each time."""
_SPINS = "1000"
"""About 50 microseconds: longer than what lies between two layers, and nothing beside a turn of another program."""
_HALF_PRODUCT = "import torch; torch.nn.Linear(64, 64).bfloat16()(torch.zeros(64, 64).bfloat16())"


def share_cores() -> None:
    """Have torch's threads sleep when they have waited for each other for a while; call it before torch is loaded.

    GNU's OpenMP lets them spin for milliseconds at each of a network's hundreds of steps: on cores that other programs
    use too an analysis then takes several times as long. What the environment says already stays.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


def _leave_threads() -> None:
    """In a fork of this process: compute without torch's threads, as torch's own data loader does.

    They stayed with the process that was forked, and GNU's OpenMP would wait for them for ever.
    """
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_threads)


@dataclass(frozen=True)
class Placement:
    """What the caller asked for.

    ``device`` is ``"auto"`` or a name of torch's; ``batch_size`` counts inputs of a network (windows, crops), ``None``
    for each component's own number; ``half`` does the matrix products with 16 bits.
    """

    device: str = "cpu"
    batch_size: int | None = None
    half: bool = False

    def __post_init__(self) -> None:
        n = self.batch_size
        if n is not None and (isinstance(n, bool) or not isinstance(n, Integral) or n < 1):
            raise UsageError(f"batch_size is a whole number from 1 up, not {n!r}")
        object.__setattr__(self, "device", str(self.device))

    def check(self) -> None:
        """Raise `UsageError` unless the device is there; torch is not imported for the processor."""
        if self.device != "cpu":
            choose_device(self.device)

    @property
    def is_apart(self) -> bool:
        """Whether networks run beside the processor, where full batches pay; raises as `check` does."""
        return self.device != "cpu" and choose_device(self.device).type != "cpu"


def choose_device(name: str) -> "torch.device":
    """Return the device of a name: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps`` or another that torch knows.

    Raises
    ------
    UsageError
        There is no such device, or not on this machine.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"there is no device {name!r}: name 'auto', 'cpu', 'cuda', 'cuda:1' or 'mps'") from None
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError):
        raise UsageError(
            f"this machine has no device {name!r} that torch can compute on: name 'cpu', or 'auto' for what there is"
        ) from None
    return device


@functools.cache
def computes_halves() -> bool:
    """Say whether the processor multiplies numbers of 16 bits; tried once, in a process of its own.

    Some virtual machines name instructions that they do not run: there such a product ends the process.
    """
    command = [sys.executable, "-P", "-c", _HALF_PRODUCT]
    return subprocess.run(command, check=False, env=environment(), cwd=os.sep, capture_output=True).returncode == 0


def in_batches(call: Callable[[int, int], T], n: int, at_most: int) -> tuple[list[T], int]:
    """Return ``call(start, stop)`` of successive ranges that cover ``range(n)``, and the length that fitted.

    Where the device runs out of memory the length is halved, and stays so.

    Raises
    ------
    LimitExceeded
        One input alone does not fit.
    """
    results: list[T] = []
    start = 0
    while start < n:
        stop = min(n, start + at_most)
        try:
            results.append(call(start, stop))
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise
            # What the error holds on to is freed only when it is gone: the next try is outside of this block.
            full = True
        else:
            full, start = False, stop
        if full:
            at_most = _halved(stop - start)
    return results, at_most


def _is_out_of_memory(error: RuntimeError) -> bool:
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "out of memory" in str(error)


def _halved(n: int) -> int:
    import torch

    if n == 1:
        raise LimitExceeded("one input alone needs more memory than the device has: scale it down, or name 'cpu'")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return n // 2


class Network:
    """A network in evaluation mode, on its device, that takes any number of inputs.

    What several threads ask of it goes through it together; see `forensix.models.joining`.
    """

    def __init__(self, module: "nn.Module", batch_size: int) -> None:
        import torch

        from forensix.models.joining import Joiner

        self.module = module.eval()
        self._joiner = Joiner()
        self.device = torch.device("cpu")
        self._own_batch_size = batch_size
        self.batch_size = min(batch_size, ON_PROCESSOR)
        self.half = False

    def move(self, placement: Placement) -> None:
        """Go where the caller wants it.

        Raises
        ------
        UsageError
            There is no such device, or it is the processor, which does not compute with 16 bits here.
        """
        device = choose_device(placement.device)
        if placement.half and device.type == "cpu" and not computes_halves():
            raise UsageError("this machine's processor does not compute with 16 bits: leave half=True out")
        self.device = device
        self.module.to(self.device)
        own = self._own_batch_size
        self.batch_size = placement.batch_size or (min(own, ON_PROCESSOR) if self.device.type == "cpu" else own)
        self.half = placement.half

    def __call__(self, x: "Tensor", method: str = "forward", *arguments: Hashable) -> "tuple[Tensor, ...]":
        """Return what a method of the network gives for a batch of any size: float32 on the processor, a tuple always.

        Raises
        ------
        LimitExceeded
            One input alone does not fit into the device's memory.
        """
        kind = method, arguments, x.shape[1:], x.dtype
        return self._joiner.call(kind, x, lambda joint: self._run(joint, method, arguments))

    def _run(self, x: "Tensor", method: str, arguments: tuple[Hashable, ...]) -> "tuple[Tensor, ...]":
        import torch

        run = getattr(self.module, method) if method != "forward" else self.module
        kind = torch.bfloat16 if self.device.type == "cpu" else torch.float16

        def batch(start: int, stop: int) -> "tuple[Tensor, ...]":
            with torch.inference_mode(), torch.autocast(self.device.type, dtype=kind, enabled=self.half):
                out = run(x[start:stop].to(self.device), *arguments)
            return tuple(part.float().cpu() for part in (out if isinstance(out, tuple) else (out,)))

        parts, self.batch_size = in_batches(batch, len(x), self.batch_size)
        return tuple(torch.cat(column) for column in zip(*parts, strict=True))
