"""Words from English speech by PocketSphinx; runs in a sandboxed child, because native code on hostile audio may die.

References
----------
D. Huggins-Daines et al., "PocketSphinx: a free, real-time continuous speech recognition system for hand-held devices",
ICASSP 2006.
"""

import re
from collections.abc import Iterator

WINDOWS_PER_S = 100
_NOT_A_WORD = re.compile(r"^[<\[+]")


def decode(pieces: list[bytes]) -> Iterator[list[list[object]]]:
    """Yield ``[[word, start_s, end_s], ...]`` for each piece of raw mono 16 kHz int16 speech, times from its start."""
    from pocketsphinx import Config, Decoder

    # Without the second, flat-lexicon pass: a fifth faster, and no more errors on the clips of the benchmark.
    decoder = Decoder(Config(cmn="batch", fwdflat=False, loglevel="FATAL"))
    for raw in pieces:
        decoder.start_utt()
        decoder.process_raw(raw, no_search=False, full_utt=True)
        decoder.end_utt()
        words: list[list[object]] = []
        for segment in decoder.seg() if decoder.hyp() is not None else ():
            if not _NOT_A_WORD.match(segment.word):
                word = re.sub(r"\(\d+\)$", "", segment.word)  # "a(2)" is the second pronunciation of "a"
                words.append([word, segment.start_frame / WINDOWS_PER_S, (segment.end_frame + 1) / WINDOWS_PER_S])
        yield words
