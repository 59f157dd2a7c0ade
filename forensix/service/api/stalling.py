"""How long the service waits for a body that comes slowly, or not at all."""

import asyncio
from typing import Any

from forensix.service.errors import bad_form

STALL_S = 30.0
"""Longest wait for the next bytes of a body; a quarter less at times, see `StallLimit`."""
SLOWEST_BYTES_PER_S = 4096
"""Slowest body on the whole, but for so long a wait: a byte now and then would keep it open for ever."""


class StallLimit:
    """Gives up on a body of which nothing more comes, or too little; `came` is called with each chunk.

    The deadline is moved only now and then: a timer for every chunk would cost as much as reading it.
    """

    def __init__(self) -> None:
        self._limit = asyncio.timeout(STALL_S)
        self._n_bytes = 0

    async def __aenter__(self) -> "StallLimit":
        self._begun = asyncio.get_running_loop().time()
        await self._limit.__aenter__()
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            slowest = f"slower than {SLOWEST_BYTES_PER_S / 1024:g} KB a second"
            raise bad_form(f"nothing more of the body came for {STALL_S:g} s, or all of it {slowest}") from None

    def rest(self) -> None:
        """Stop the clock until `came` is called again: what follows is our own doing."""
        self._limit.reschedule(None)

    def came(self, n_bytes: int) -> None:
        """Take note of further bytes, and wait for the next from now on."""
        self._n_bytes += n_bytes
        until = STALL_S + min(asyncio.get_running_loop().time(), self._begun + self._n_bytes / SLOWEST_BYTES_PER_S)
        when = self._limit.when()
        if when is None or until - when > STALL_S / 4:
            self._limit.reschedule(until)
