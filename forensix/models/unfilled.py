"""Build a network that gets its weights at once without drawing random ones, which takes longer than reading them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.nn import init
from torch.overrides import TorchFunctionMode

_DRAWN = {init.uniform_, init.normal_, init.kaiming_uniform_}


class Unfilled(TorchFunctionMode):
    """While it is entered, parameters that torch's layers would draw at random hold whatever lies in memory."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return what the function gives; of one that draws a parameter, the parameter as it is."""
        given = dict(kwargs or {})
        return given["tensor"] if func in _DRAWN else func(*args, **given)
