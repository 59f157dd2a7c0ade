"""Measure the words of the transcript engines on English speech whose text is known.

    python benchmarks/voice_words.py --repositories DIR [--clips 80] > benchmarks/results/voice_words.md

``--repositories`` holds one folder ``<owner>+<name>`` a repository. Word error rates are jiwer's (``pip install
jiwer``), after lower case, without punctuation, with digits spelt one by one; times are seconds on the clock for each
second of sound, the loading of the model left out.
"""

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from forensix.models import load_component
from forensix.training.voice.real_voices import read_samples
from forensix.voice.speech import RATE_HZ, speech_segments

try:
    import jiwer
except ModuleNotFoundError:
    sys.exit("word error rates are jiwer's, which is not installed: pip install jiwer")

ENGINES = ("pocketsphinx", "whisper-tiny.en")
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
Utterance = tuple[Path, str]


def learners(repositories: Path, n: int) -> list[Utterance]:
    """Return sentences of the test speakers of speechocean762, drawn at random."""
    root = repositories / "jimbozhang+speechocean762"
    speakers = dict(line.split() for line in (root / "test/utt2spk").read_text(encoding="utf-8").splitlines())
    lines = (line.split(None, 1) for line in (root / "test/text").read_text(encoding="utf-8").splitlines())
    utterances = [(root / f"WAVE/SPEAKER{speakers[name]}/{name}.WAV", text) for name, text in sorted(lines)]
    return random.Random(0).sample(utterances, n)


def readers(repositories: Path) -> Iterator[Utterance]:
    """Yield the samples of speechbrain's tests: short commands and sentences that are read."""
    root = repositories / "speechbrain+speechbrain/tests/samples"
    for part in ("train", "dev"):
        path = root / f"annotation/ASR_{part}.json"
        if path.is_file():
            for name, row in json.loads(path.read_text(encoding="utf-8")).items():
                yield root / f"ASR/{name}.wav", row["words"]


def novel(repositories: Path) -> Iterator[Utterance]:
    """Yield sentences of a novel read aloud, of pocketsphinx's tests."""
    root = repositories / "cmusphinx+pocketsphinx/test/data/librivox"
    for line in (root / "transcription").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"(.*)\(([^()]+)\)\s*", line):
            yield root / f"{match[2]}.wav", re.sub(r"</?s>", "", match[1])


def normalised(text: str) -> str:
    text = re.sub(r"\d", lambda digit: f" {DIGITS[int(digit[0])]} ", text.lower().replace("-", " "))
    return " ".join(re.sub(r"[^a-z' ]", " ", text).split())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure the words of the transcript engines.")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with one folder <owner>+<name> each")
    parser.add_argument("--clips", type=int, default=80, help="of the learners of English")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sources = {
        "speechocean762, test (learners of English, some of them children)": learners(
            options.repositories, options.clips
        ),
        "speechbrain samples (read)": list(readers(options.repositories)),
        "a novel read aloud (MP3 at 64 kbit/s)": list(novel(options.repositories)),
    }
    print("# Words\n\n    python benchmarks/voice_words.py --repositories DIR\n")
    print("| speech | clips | words | engine | word error rate | s a second |\n|---|---|---|---|---|---|")
    for source, utterances in sources.items():
        clips = [(read_samples(path), normalised(text)) for path, text in utterances if path.is_file()]
        heard = [(samples, speech_segments(samples), text) for samples, text in clips]
        for name in ENGINES:
            engine = load_component("transcript", name)
            begun_s = time.monotonic()
            said = [normalised(engine.transcribe(samples, segments).text) for samples, segments, _ in heard]
            took = (time.monotonic() - begun_s) / (sum(len(samples) for samples, _, _ in heard) / RATE_HZ)
            truth = [text for _, _, text in heard]
            n_words = sum(len(text.split()) for text in truth)
            print(
                f"| {source} | {len(clips)} | {n_words} | {name} | {jiwer.wer(truth, said):.3f} | {took:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
