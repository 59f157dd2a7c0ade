"""A bar for long runs: in a terminal, or in a notebook, whoever runs that."""

import contextlib
import time
from collections.abc import Iterator
from html import escape
from typing import Any

from forensix.analysis import Progress

_EVERY_S = 1.0
"""Between two words to a notebook: what runs it unattended takes in each, and falls behind when they are many."""


@contextlib.contextmanager
def drawn() -> Iterator[Progress]:
    """Yield a function to be told of progress; what it was told last is seen at the end."""
    kernel = _kernel()
    if kernel:
        yield from _in_notebook()
    else:
        yield from _in_terminal()


def _kernel() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def _in_notebook() -> Iterator[Progress]:
    from IPython.display import HTML, display

    handle: Any = display(HTML(""), display_id=True)
    told: list[str] = []
    at = 0.0

    def tell(name: str, said: str, done: float) -> None:
        nonlocal at
        told[:] = [f'<progress value="{done:.3f}"></progress> {escape(name)}: {escape(said)}']
        if time.monotonic() - at >= _EVERY_S:
            at = time.monotonic()
            handle.update(HTML(told.pop()))

    try:
        yield tell
    finally:
        if told:
            handle.update(HTML(told.pop()))


def _in_terminal() -> Iterator[Progress]:
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()) as bar:
        line = bar.add_task("opening", total=1.0)
        yield lambda name, said, done: bar.update(line, description=f"{name}: {said}", completed=done)
