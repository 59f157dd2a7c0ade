"""A bar for long work: in a terminal, or in a notebook, whoever runs that."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from forensix.errors import UsageError

Progress = Callable[[str, str, float], None]
"""Called with the task's name, a stage in words, and how much is done, 0 to 1."""

_EVERY_S = 1.0
"""Between two words to a notebook: what runs it unattended takes in each, and falls behind when they are many."""


def display(progress: Progress | bool | None, *, lasting: bool = True) -> "contextlib.AbstractContextManager[Progress]":
    """Return what is to be told of progress, in a ``with`` statement.

    A function is told itself; True draws a bar, False none, and None draws one in a notebook only. What a ``lasting``
    bar was told last is seen at the end; any other goes when the work is done.

    Raises
    ------
    UsageError
        It is none of these.
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(f"progress is True, False or a function that is told of it, not {progress!r}")
    if progress is None:
        progress = _kernel()
    if progress is True:
        return bar(lasting=lasting)
    return contextlib.nullcontext(progress or (lambda name, said, done: None))


def noted(progress: Progress, raised: list[Exception]) -> Progress:
    """Return a function that tells ``progress`` all it is told, and puts into ``raised`` what that raises.

    It is how who is told ends the work: no fault of the program, as what else a task raises may be.
    """

    def tell(name: str, said: str, done: float) -> None:
        try:
            progress(name, said, done)
        except Exception as error:
            raised.append(error)
            raise

    return tell


@contextlib.contextmanager
def bar(*, lasting: bool = True) -> Iterator[Progress]:
    """Yield a function to be told of progress, which draws a bar."""
    if _kernel():
        yield from _in_notebook(lasting)
    else:
        yield from _in_terminal(lasting)


def _kernel() -> bool:
    # Importing it takes longer than many an analysis; a kernel has it.
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def _in_notebook(lasting: bool) -> Iterator[Progress]:
    from IPython.display import HTML, display

    handle: Any = display(HTML("<progress></progress> opening"), display_id=True)
    lines: list[str] = []
    at = 0.0

    def tell(name: str, said: str, done: float) -> None:
        nonlocal at
        lines[:] = [f'<progress value="{done:.3f}"></progress> {escape(name)}: {escape(said)}']
        if time.monotonic() - at >= _EVERY_S:
            at = time.monotonic()
            handle.update(HTML(lines.pop()))

    try:
        yield tell
    finally:
        if not lasting:
            # Not without any data: whoever makes a page of the notebook would be warned of an output of no kind.
            handle.update({"text/plain": ""}, raw=True)
        elif lines:
            handle.update(HTML(lines.pop()))


def _in_terminal(lasting: bool) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    # Beside what is printed, which may go elsewhere.
    console = Console(stderr=True)
    with Bar(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console,
             transient=console.is_terminal and not lasting) as bar:  # fmt: skip
        line = bar.add_task("opening", total=1.0)
        yield lambda name, said, done: bar.update(line, description=f"{name}: {said}", completed=done)
