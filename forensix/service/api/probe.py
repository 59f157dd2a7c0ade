"""Checks that anybody may ask for: made one at a time, and not again for a moment, however many ask."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine

_LOG = logging.getLogger(__name__)
Run = Callable[[Callable[[], bool]], Coroutine[None, None, bool]]

FRESH_S = 1.0
"""How long what a check found holds."""
PATIENCE_S = 5.0
"""Longest wait for a check, which then counts as failed until it ends."""


class Probe:
    """One check, which blocks and returns whether all is well; ``run`` awaits it in a thread. For one event loop."""

    def __init__(self, check: Callable[[], bool], run: Run) -> None:
        self._check, self._run = check, run
        self._task: asyncio.Task[bool] | None = None
        self._ended = -FRESH_S

    async def ask(self) -> bool:
        """Return what the check finds, or found a moment ago."""
        if self._task is None or (self._task.done() and time.monotonic() - self._ended > FRESH_S):
            self._task = asyncio.create_task(self._make())
        # Shielded: whoever stops waiting, others wait for the same.
        done, _ = await asyncio.wait({self._task}, timeout=PATIENCE_S)
        return bool(done) and self._task.result()

    async def _make(self) -> bool:
        try:
            return await self._run(self._check)
        except Exception as error:
            _LOG.warning("a check of readiness failed: %s", type(error).__name__)
            return False
        finally:
            self._ended = time.monotonic()
