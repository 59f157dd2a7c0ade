"""The bit reservoir of MPEG Layer III: the sound of a frame may begin in the frames before it.

Each frame says how many bytes before its own its sound begins. An encoder's first frame begins with itself: where the
first one refers to bytes that are not there, the beginning was cut off. The sounds of two frames never overlap: where
they do, frames were taken out or put in without encoding anew. A join whose sounds happen not to overlap stays unseen.

References
----------
ISO/IEC 11172-3, 2.4.1.7 and 2.4.3.4 (main_data_begin, part2_3_length).
"""

from typing import Any

SIDE_BYTES = {(True, True): 17, (True, False): 32, (False, True): 9, (False, False): 17}
"""Length of the side information by whether it is MPEG-1 and whether it is mono."""


class Reservoir:
    """Follows the frames of a file, each told by ``torn``."""

    def __init__(self) -> None:
        self._place, self._end = 0, 0
        self.missing: int | None = None
        """Bytes before the first frame that it refers to; ``None`` before there is one."""

    def lost(self) -> None:
        """Forget what was before: other bytes stand between two frames, or another stream begins."""
        self._end = -1 << 30

    def torn(self, data: Any, at: int, frame: tuple[int, ...]) -> bool:
        """Take the next frame, as `mpeg_audio.header` gives it; say whether it does not follow the one before."""
        is_first, is_mono = frame[0] == 3, frame[4] == 3
        n_side = SIDE_BYTES[is_first, is_mono]
        start = at + (4 if data[at + 1] & 1 else 6)
        side, inside = bytes(data[start : start + n_side]), frame[5] - (start - at) - n_side
        if len(side) < n_side or inside < 0:
            return False
        back, n_bytes = _main(side, is_first=is_first, is_mono=is_mono)
        begin = self._place - back
        if self.missing is None:
            self.missing, self._end = back, begin
        overlaps = begin < self._end
        self._end = begin + n_bytes
        self._place += inside
        return overlaps


def _main(side: bytes, *, is_first: bool, is_mono: bool) -> tuple[int, int]:
    """Return how many bytes before its own the sound of a frame begins, and how many it takes."""
    bits, n = int.from_bytes(side, "big"), 8 * len(side)
    channels = 1 if is_mono else 2
    if is_first:
        back, at, n_parts, part = 9, 9 + (5 if is_mono else 3) + 4 * channels, 2 * channels, 59
    else:
        back, at, n_parts, part = 8, 8 + channels, channels, 63
    lengths = ((bits >> (n - at - i * part - 12)) & 0xFFF for i in range(n_parts))
    return bits >> (n - back), (sum(lengths) + 7) // 8
