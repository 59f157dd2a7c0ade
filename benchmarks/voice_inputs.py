"""What voice analysis says of difficult sound: each must get a right verdict, none, or one clear sentence.

    python benchmarks/voice_inputs.py [--corpora DIR] [--sources voice.csv --repositories DIR] > FILE

Everything is made on the spot, from noise, tones and the formant synthesiser of the demo, except that with the corpora
real voices are used as well, and that with a list of sources singing and speech of its ``train`` rows are told apart.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.io import wavfile
from scipy.signal import resample_poly

import forensix
from forensix.demo import RATE_HZ, SPEECH, synthesise
from forensix.training.voice.real_voices import read_samples

TASK = "voice_analysis"
RATE = 16_000


def voices(corpora: Path | None) -> dict[str, np.ndarray]:
    """Return a synthetic voice and, with the corpora, two real ones, int16 at 16 kHz."""
    computed = resample_poly(synthesise(SPEECH).astype(np.float64), RATE, RATE_HZ)
    recordings = {"computed": np.clip(computed, -32768, 32767).astype(np.int16)}
    if corpora is not None:
        rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
        rows = rows[(rows["split"] == "dev") & (rows["label"] == "real")]
        for name, speaker in (("real", "LJSpeech"), ("another", "emodb16")):
            paths = rows[rows["speaker"] == speaker]["path"][:4]
            recordings[name] = np.concatenate([read_samples(corpora / "voice" / path) for path in paths])
    return recordings


def inputs(corpora: Path | None) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield a name, a rate in Hz, and samples, shape (n,) or (n, channels)."""
    rng = np.random.default_rng(0)
    t_s = np.arange(10 * RATE) / RATE
    yield "silence", RATE, np.zeros(5 * RATE, np.int16)
    yield "no samples at all", RATE, np.zeros(0, np.int16)
    yield "white noise", RATE, (3000 * rng.normal(size=5 * RATE)).astype(np.int16)
    chords = sum(np.sin(2 * np.pi * hz * t_s) * np.exp(-3 * (t_s % 0.5)) for hz in (262, 330, 392, 523))
    yield "music: plucked chords", RATE, (6000 * chords).astype(np.int16)
    yield "a direct current", RATE, np.full(5 * RATE, 20_000, np.int16)
    for name, x in voices(corpora).items():
        wide = x.astype(np.float64) / 32768
        yield f"{name} voice, 0.2 s", RATE, x[RATE : RATE + RATE // 5]
        yield f"{name} voice", RATE, x
        yield f"{name} voice, clipped by 20 dB", RATE, np.clip(10 * wide, -1, 1).astype(np.float32)
        yield f"{name} voice on a direct current", RATE, (0.5 * wide + 0.45).astype(np.float32)
        yield f"{name} voice, floats 100 times full scale", RATE, (100 * wide).astype(np.float32)
        holes = wide.astype(np.float32)
        holes[::1000], holes[1::1000] = np.nan, np.inf
        yield f"{name} voice with NaN and infinity", RATE, holes
        yield f"{name} voice at 8 kHz", 8000, resample_poly(wide, 1, 2).astype(np.float32)
        yield f"{name} voice at 192 kHz", 192_000, resample_poly(wide, 12, 1).astype(np.float32)
    recordings = voices(corpora)
    a, b = recordings.get("real", recordings["computed"]), recordings["computed"]
    n = min(len(a), len(b))
    pause = np.zeros(n, np.int16)
    yield "two people on two channels", RATE, np.stack([np.r_[a[:n], pause], np.r_[pause, b[:n]]], axis=1)
    half = resample_poly(np.r_[a, np.zeros(RATE, np.int16)].astype(float), 1, 2).astype(np.int16)
    yield "20 minutes of one voice, 8 kHz", RATE // 2, np.resize(half, 1199 * RATE // 2)
    yield "more than 20 minutes, 8 kHz", RATE // 2, np.resize(half, 1260 * RATE // 2)


def line(name: str, rate_hz: int, samples: np.ndarray, folder: Path) -> str:
    path = folder / "input.wav"
    wavfile.write(path, rate_hz, samples)
    begun_s = time.process_time()
    (report,) = forensix.analyze_many([str(path)], [TASK], transcribe=False)
    took = f"{time.process_time() - begun_s:.1f}"
    if report.error or TASK in report.errors:
        return f"| {name} | failed | | {report.error or report.errors[TASK]} | {took} |"
    outcome = report.outcomes[TASK]
    score = "" if outcome.score is None else f"{outcome.score:.2f}"
    said = " ".join([outcome.summary, *outcome.notes, *report.warnings])
    return f"| {name} | {report.verdicts[TASK]} | {score} | {said} | {took} |"


def singing(sources: Path, repositories: Path) -> Iterator[str]:
    """Yield lines on how often recordings of singing and of speech are called sung."""
    import io

    import av

    from forensix.training.sources import Repositories, read_list
    from forensix.voice.features import hear
    from forensix.voice.singing import is_singing
    from forensix.voice.speech import speech_segments

    kinds = {
        "sung": ("M4Singer/M4Singer.github.io", "GTSinger/GTSinger.github.io", "StyleSinger/StyleSinger.github.io"),
        "spoken": ("clam-tts/clam-tts.github.io", "ditto-tts/ditto-tts.github.io", "maum-ai/cotatron"),
        "read by learners": ("jimbozhang/speechocean762",),
        "acted": ("sylaschacko/voice-emotion-analysis",),
    }
    rows = read_list(sources, split="train")
    with Repositories(repositories) as files:
        for kind, repos in kinds.items():
            some = rows[rows["repo"].isin(repos) & (rows["label"] == "real") & ~rows["path"].str.contains("Speech-")]
            answers = []
            for row in some.sample(min(60, len(some)), random_state=0).to_dict("records"):
                with av.open(io.BytesIO(files.read(row["repo"], row["path"], blob=row["blob"]))) as container:
                    resampler = av.AudioResampler("s16", "mono", RATE)
                    parts = [f.to_ndarray()[0] for x in container.decode(audio=0) for f in resampler.resample(x)]
                x = np.concatenate(parts)[: 20 * RATE]
                segments = speech_segments(x)
                answers.append("no speech" if not segments else "sung" if is_singing(hear(x, segments)) else "spoken")
            shares = " | ".join(
                f"{np.mean([answer == one for one in answers]):.2f}" for answer in ("sung", "no speech")
            )
            yield f"| {kind} | {len(answers)} | {shares} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Show what voice analysis says of difficult sound.")
    parser.add_argument("--corpora", type=Path, help="folder that holds voice/manifest.csv")
    parser.add_argument("--sources", type=Path, help="a list of public files")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("# Difficult sound\n\n    python benchmarks/voice_inputs.py --corpora DIR", end="")
    print(" --sources voice.csv --repositories DIR" if options.sources else "")
    print("\n| input | verdict | score | what is said | processor s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, rate_hz, samples in inputs(options.corpora):
            print(line(name, rate_hz, samples, Path(folder)), flush=True)
    if options.sources:
        print("\n| recordings | n | called sung | no speech found |\n|---|---|---|---|")
        for text in singing(options.sources, options.repositories):
            print(text, flush=True)


if __name__ == "__main__":
    main()
