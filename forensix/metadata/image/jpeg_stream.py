"""Whether the code of a JPEG's picture reads as code: a second, strict decoder beside the forgiving one.

The usual decoder shows what it can and says nothing, so pieces that were cut out, moved or overwritten pass. FFmpeg's
stops where a code word does not exist, a block overflows or the data ends early. Damage that happens to be valid code
is seen by neither. Its verdict counts only where it is sure (invalid data), not where it lacks a kind of JPEG.
"""

import av

MAX_PIXELS = 40_000_000


def is_broken(data: bytes) -> bool:
    """Tell whether the strict decoder finds the first picture's code invalid."""
    decoder = av.CodecContext.create("mjpeg", "r")
    decoder.thread_count = 1
    decoder.options = {"err_detect": "explode"}
    try:
        decoder.decode(av.Packet(data))
    except av.error.InvalidDataError:
        return True
    except (av.FFmpegError, ValueError, MemoryError):
        return False
    return False
