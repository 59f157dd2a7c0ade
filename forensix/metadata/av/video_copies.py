"""A stretch of a video that comes again, in its packets: what copying without encoding anew leaves, as for a loop.

Packets are the same to the byte there, so all of a long video can be looked through where few of its frames can be
decoded. An encoder makes no two alike while the picture moves; where nothing does, they are small and may be. Blind to
copies that were encoded anew.
"""

from collections.abc import Sequence

LENGTH = 8
BYTES_PER_PIXEL = 0.002
MIN_BYTES = 200
"""Smaller packets say that nothing moves, as do those of less than so much for each pixel: half a byte for a block.

Recorders of screens spend half of that on a picture that stands still, the same in each group.
"""


def stretch(sums: Sequence[int], sizes: Sequence[int], n_pixels: int) -> tuple[int, int, int] | None:
    """Return the longest stretch of at least 8 packets that comes again: its two starts and its length.

    ``sums`` are checksums, ``sizes`` bytes, both in the order of the file. At least half of the packets have to move.
    """
    least = max(MIN_BYTES, BYTES_PER_PIXEL * n_pixels)
    last: dict[int, int] = {}
    best: tuple[int, int, int] | None = None
    before, run, n_moving = -2, 0, 0
    for i, value in enumerate(sums):
        at = last.get(value, -2)
        last[value] = i
        if at < 0 or i - at < 2:
            at, run = -2, 0
        elif at != before + 1:
            run = 0
        run, n_moving = (run + 1, n_moving * (run > 0) + (sizes[i] >= least)) if at >= 0 else (0, 0)
        before = at
        if run >= LENGTH and 2 * n_moving >= run and (best is None or run > best[2]):
            best = (at - run + 1, i - run + 1, run)
    return best
