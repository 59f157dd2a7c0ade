"""Fine-tune the network that tells speakers apart, and choose the distance at which voices are.

    python -m forensix.training.voice.speakers --repositories DIR [--steps 400]

Starts from the weights in the wheel ``resemblyzer`` (Apache-2.0; ``pip install --no-deps resemblyzer``) and learns to
name the training speakers of two collections, LibriSpeech and speechocean762, with an additive margin, from windows of
1.5 s that are clean, noisy or of a telephone's band. The result is a mean of the weights before and after: the network
forgets less of voices unlike these. The threshold is chosen on conversations of half of the speakers of two other
lists (see `talkers`); the benchmark measures on the other half. Writes
``forensix/models/weights/forensix-diarisation``.

References
----------
H. Wang et al., "CosFace: large margin cosine loss for deep face recognition", CVPR 2018.
M. Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022 (the mean of the weights).
"""

import argparse
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt
from torch import nn

from forensix.errors import MissingExtra
from forensix.models import ModelCard, Output
from forensix.models.architectures.speaker_lstm import SpeakerLSTM, build
from forensix.models.card import TrainingSource
from forensix.models.files import SHIPPED, of_package
from forensix.models.store import LoadedModel, save_model
from forensix.training.voice.mixtures import Clip, Conditions, Mixture, clip_of, mix, pink_noise
from forensix.training.voice.real_voices import librispeech, read_samples
from forensix.voice.speakers import HOP, N_FRAMES, Diariser, group, mel_spectrum, window_input
from forensix.voice.speech import RATE_HZ, Segment, speech_segments

SEED = 0
STEPS = 400
SPEAKERS_A_STEP = 24
TUNED_SHARE = 0.3
RATE_NETWORK, RATE_NAMES = 2e-4, 3e-3
SCALE, MARGIN = 25.0, 0.15
LEAST_S = 3.0
THRESHOLDS = np.round(np.arange(0.3, 0.561, 0.02), 2)
CLIPS_A_SPEAKER = 8
TALKS = 6
OCEAN = "jimbozhang+speechocean762"
EMODB = "sylaschacko+voice-emotion-analysis"
LIBRI = "resemble-ai+Resemblyzer"
Clips = dict[str, list[Clip]]


def confusion(
    truth: Sequence[tuple[Segment, str]], hypothesis: Sequence[tuple[Segment, str]], step_s: float = 0.01
) -> float:
    """Return the share of commonly claimed speech whose speaker is wrong under the best naming, 0 to 1."""
    from scipy.optimize import linear_sum_assignment

    n = 1 + round(max(s.end_s for s, _ in (*truth, *hypothesis)) / step_s)
    lines = []
    for turns in (truth, hypothesis):
        names = sorted({speaker for _, speaker in turns})
        line = np.full(n, -1)
        for s, speaker in turns:
            line[round(s.start_s / step_s) : round(s.end_s / step_s)] = names.index(speaker)
        lines.append(line)
    both = (lines[0] >= 0) & (lines[1] >= 0)
    table = np.zeros((lines[0].max() + 1, lines[1].max() + 1))
    np.add.at(table, (lines[0][both], lines[1][both]), 1)
    right = table[linear_sum_assignment(-table)].sum()
    return float(1 - right / max(1, both.sum()))


def training_clips(repositories: Path) -> Clips:
    """Return the speech of the training speakers of speechocean762 and of the LibriSpeech readers."""
    files = [(f"speechocean762 {speaker}", path) for speaker, path in _ocean(repositories, "train")]
    files += [(f"LibriSpeech {voice.speaker}", voice.path) for voice in librispeech(repositories / LIBRI)]
    clips: Clips = {}
    for speaker, path in files:
        if clip := clip_of(speaker, read_samples(path, at_most_s=15), at_most_s=12):
            clips.setdefault(speaker, []).append(clip)
    enough = {name: own for name, own in clips.items() if sum(len(c.samples) for c in own) > LEAST_S * RATE_HZ}
    return dict(sorted(enough.items()))


def talkers(repositories: Path, part: Literal["chosen_by", "measured"]) -> dict[str, Clips]:
    """Return speakers that no training saw, by collection: those that the threshold is chosen by, or the others.

    They are the test speakers of speechocean762 (learners of English) and the actors of EmoDB (German, seven moods);
    a speaker's name decides the part.
    """
    actors = sorted((repositories / EMODB / "wav").glob("*.wav"))
    listed = {
        "speechocean762, test": list(_ocean(repositories, "test")),
        "EmoDB": [(path.name[:2], path) for path in random.Random(SEED).sample(actors, len(actors))],
    }
    by_collection: dict[str, Clips] = {}
    for collection, files in listed.items():
        clips: Clips = {}
        for speaker, path in files:
            wanted = (zlib.crc32(f"{collection} {speaker}".encode()) % 2 == 0) == (part == "chosen_by")
            few = wanted and len(clips.get(speaker, ())) < CLIPS_A_SPEAKER
            if few and (clip := clip_of(speaker, read_samples(path))):
                clips.setdefault(speaker, []).append(clip)
        by_collection[collection] = {name: some for name, some in clips.items() if len(some) >= CLIPS_A_SPEAKER - 2}
    return by_collection


def talks(clips: Mapping[str, Sequence[Clip]], n_speakers: int, conditions: Conditions, n: int) -> Iterator[Mixture]:
    """Yield conversations between speakers drawn from a collection, the same at every call."""
    for seed in range(n):
        chosen = random.Random(1000 * n_speakers + seed).sample(sorted(clips), n_speakers)
        yield mix([clip for speaker in chosen for clip in clips[speaker]], conditions, seed=seed)


def _ocean(repositories: Path, split: str) -> Iterator[tuple[str, Path]]:
    root = repositories / OCEAN
    for line in sorted((root / split / "utt2spk").read_text(encoding="utf-8").splitlines()):
        name, speaker = line.split()
        yield speaker, root / "WAVE" / f"SPEAKER{speaker}" / f"{name}.WAV"


def pretrained() -> SpeakerLSTM:
    """Return the network of the wheel ``resemblyzer``; nothing of that package is imported."""
    weights = of_package("resemblyzer", "pretrained.pt")
    if weights is None:
        raise MissingExtra("the weights to start from come with a wheel: run 'pip install --no-deps resemblyzer'")
    state = torch.load(weights, map_location="cpu", weights_only=True)["model_state"]
    network = build()
    network.load_state_dict({k: v for k, v in state.items() if not k.startswith("similarity_")}, strict=True)
    return network


class _Windows:
    """Draws windows of speakers, degraded by chance, as the network's input."""

    def __init__(self, clips: Clips) -> None:
        self._clips = clips
        self._draw = random.Random(SEED)
        self._line = butter(4, [300, 3400], "bandpass", fs=RATE_HZ, output="sos")

    def names(self, n: int) -> list[int]:
        return self._draw.sample(range(len(self._clips)), n)

    def window(self, speaker: str) -> NDArray[np.float32]:
        draw, n = self._draw, N_FRAMES * HOP
        x = draw.choice(self._clips[speaker]).samples
        x = np.tile(x, -(-n // len(x))) if len(x) < n else x
        start = draw.randrange(len(x) - n + 1)
        x = x[start : start + n]
        chance = draw.random()
        if chance < 0.4:
            level = float(np.sqrt(np.mean(x**2))) * 10 ** (-draw.uniform(5, 25) / 20)
            x = x + pink_noise(n, draw.randrange(1 << 30)) * np.float32(level)
        elif chance < 0.5:
            x = sosfilt(self._line, x).astype(np.float32)
        return window_input(mel_spectrum(x), x)


def fine_tune(clips: Clips, steps: int) -> SpeakerLSTM:
    """Learn to name the speakers, and return the mean of the weights before and after."""
    network, windows, names = pretrained(), _Windows(clips), list(clips)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    with torch.no_grad():
        first = [torch.from_numpy(np.stack([windows.window(name) for _ in range(4)])) for name in names]
        centres = nn.Parameter(nn.functional.normalize(torch.stack([network(x).mean(0) for x in first]), dim=1))
    groups = [
        {"params": list(network.parameters()), "lr": RATE_NETWORK},
        {"params": [centres], "lr": RATE_NAMES},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=1e-4)
    for step in range(steps):
        share = min(1, (step + 1) / 20) * (0.5 * (1 + np.cos(np.pi * step / steps)) + 0.02)
        for parameters, rate in zip(optimiser.param_groups, (RATE_NETWORK, RATE_NAMES), strict=True):
            parameters["lr"] = rate * share
        who = torch.tensor(windows.names(SPEAKERS_A_STEP) * 2)
        x = torch.from_numpy(np.stack([windows.window(names[i]) for i in who.tolist()]))
        cosines = nn.functional.normalize(network.embed(x), dim=1) @ nn.functional.normalize(centres, dim=1).T
        cosines[torch.arange(len(who)), who] -= MARGIN
        loss = nn.functional.cross_entropy(SCALE * cosines, who)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.2f}", flush=True)
    after = network.state_dict()
    network.load_state_dict({key: (1 - TUNED_SHARE) * before[key] + TUNED_SHARE * after[key] for key in before})
    return network.eval()


def choose_threshold(diariser: Diariser, collections: Mapping[str, Clips]) -> float:
    """Return the threshold with the least confusion on conversations of one, two and three speakers."""
    prepared = []
    for clips in collections.values():
        for n_speakers in (1, 2, 3):
            for talk in talks(clips, n_speakers, Conditions(), TALKS):
                segments = speech_segments(talk.samples)
                prepared.append((talk, segments, diariser.prepare(talk.samples, segments)))
    errors = []
    for threshold in THRESHOLDS:
        grouped = [(talk, group(ready, segments, float(threshold))) for talk, segments, ready in prepared]
        wrong = [confusion(talk.turns, [(s, f.speaker) for f in who for s in f.segments]) for talk, who in grouped]
        right = [len(who) == len(talk.speakers) for talk, who in grouped]
        errors.append(float(np.mean(wrong)))
        print(f"threshold {threshold}: confusion {errors[-1]:.3f}, right number {np.mean(right):.2f}")
    return float(THRESHOLDS[int(np.argmin(errors))])


def _card(clips: Clips, threshold: float, steps: int) -> ModelCard:
    counts = {name: [s for s in clips if s.startswith(name)] for name in ("LibriSpeech", "speechocean762")}
    sources = [TrainingSource(source=k, label="real", n=len(v), licence="CC-BY-4.0") for k, v in counts.items()]
    return ModelCard(
        name="forensix-diarisation",
        component="diarisation",
        summary="Speaker vectors for telling the speakers of a recording apart, fine-tuned from Resemblyzer's network.",
        architecture="speaker_lstm",
        output=Output(labels=("speaker vector",)),
        threshold=threshold,
        trained_on=tuple(sources),
        limits=(
            "Joins voices that are alike and gives overlapping words to one speaker; a voice of less than 3 s is not "
            "told apart; strong emotion, noise or a change of microphone may split a speaker."
        ),
        licence="Apache-2.0; fine-tuned from the weights of the wheel resemblyzer (Apache-2.0)",
        paper='L. Wan et al., "Generalized end-to-end loss for speaker verification", ICASSP 2018',
        seed=SEED,
        command=f"python -m forensix.training.voice.speakers --repositories DIR --steps {steps}",
        weights="forensix-diarisation.safetensors",
        sha256="",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn, choose, write."""
    parser = argparse.ArgumentParser(description="Fine-tune the network that tells speakers apart.")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with one folder <owner>+<name> each")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    clips = training_clips(options.repositories)
    network = fine_tune(clips, options.steps)
    card = _card(clips, 0.4, options.steps)
    threshold = choose_threshold(Diariser(LoadedModel(card, network)), talkers(options.repositories, "chosen_by"))
    card = save_model(card.model_copy(update={"threshold": threshold}), network, SHIPPED, half=True)
    print(f"threshold {threshold}, {card.n_parameters} parameters")


if __name__ == "__main__":
    main()
