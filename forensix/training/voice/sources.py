"""Which recordings of the training repositories are human and which synthetic, and their samples.

Labels come from path rules, one list per repository; a file that no rule names is left out. Left out on purpose: phones
in isolation, mixtures, noise and room responses, outputs of the first training steps (not speech), and whatever the dev
split of the corpus holds.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import pandas as pd
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000
CHUNK_S = 4.0
AUDIO = {".wav", ".flac", ".mp3", ".ogg", ".m4a", ".opus"}

# repository -> (pattern searched in the path, label, group). The first that matches holds. A group is a recording
# collection for human speech and a system for synthetic speech; sampling is balanced over groups.
RULES: dict[str, list[tuple[str, str, str]]] = {
    "CorentinJ/Real-Time-Voice-Cloning": [(r"^samples/", "real", "read speech")],
    "Picovoice/speech-to-intent-benchmark": [(r"^data/speech/clean/", "real", "commands")],
    "Picovoice/wake-word-benchmark": [(r"^audio/[^/]+/", "real", "wake words")],
    "kan-bayashi/ParallelWaveGAN": [
        (r"^wav/ljspeech/raw/", "real", "LJSpeech"),
        (r"^wav/ljspeech/(?P<system>[^/]+)/", "fake", "{system}"),
    ],
    "keonlee9420/DiffGAN-TTS": [(r"^demo/", "fake", "DiffGAN-TTS")],
    "keonlee9420/PortaSpeech": [(r"^demo/", "fake", "PortaSpeech")],
    "lhotse-speech/lhotse": [
        (r"fixtures/ljspeech/", "real", "LJSpeech"),
        (r"fixtures/ami/", "real", "meetings"),
        (r"fixtures/libri/libri-1088-134315-0000\.wav$", "real", "LibriSpeech"),
        (r"mix_cut_test/audio/storage/2412", "real", "LibriSpeech"),
    ],
    "ming024/FastSpeech2": [
        (r"LJSpeech/.*_ground-truth", "real", "LJSpeech"),
        (r"AISHELL3/.*_ground-truth", "real", "AISHELL-3"),
        (r"LibriTTS/.*_ground-truth", "real", "LibriTTS"),
        (r"_synthesized|LJSpeech_long", "fake", "FastSpeech2"),
    ],
    "neonbjb/tortoise-tts": [
        (r"^tortoise/voices/lj/", "real", "LJSpeech"),
        (r"^tortoise/voices/", "real", "voice references"),
        (r"naturalspeech\.mp3$", "fake", "NaturalSpeech"),
        (r"tacotron2\.mp3$", "fake", "Tacotron2"),
        (r"^examples/", "fake", "Tortoise"),
    ],
    "pyannote/pyannote-audio": [(r"^tests/data/(dev|trn|tst)\d\d", "real", "meetings")],
    "r9y9/wavenet_vocoder": [
        (r"mixture_lj/.*_target", "real", "LJSpeech"),
        (r"^audio/slt/.*_target", "", ""),  # passed through 8-bit quantisation: neither one nor the other
        (r"_target", "real", "CMU ARCTIC"),
        (r"^audio/slt/.*_predicted", "fake", "WaveNet 8-bit"),
        (r"_predicted", "fake", "WaveNet"),
        (r"^audio/tacotron2/", "fake", "Tacotron2+WaveNet"),
    ],
    "resemble-ai/Resemblyzer": [
        (r"^audio_data/librispeech", "real", "LibriSpeech"),
        (r"^audio_data/donald_trump/real/", "real", "speeches"),
        (r"^audio_data/donald_trump/fake/", "fake", "cloned speeches"),
    ],
    "rhasspy/larynx": [(r"^local/.*/samples/", "fake", "Larynx")],
    "seungwonpark/melgan": [
        (r"_reconstructed_", "fake", "MelGAN"),
        (r"^audios/LJ\d+-\d+\.wav$", "real", "LJSpeech"),
    ],
    "shivammehta25/Matcha-TTS": [
        (r"/VOC_", "fake", "HiFi-GAN copies"),
        (r"/VITS_", "fake", "VITS"),
        (r"/FS2_", "fake", "FastSpeech2+HiFi-GAN"),
        (r"/GRAD-", "fake", "Grad-TTS"),
        (r"/(MAT|GCFM)-", "fake", "Matcha-TTS"),
    ],
    "shivammehta25/Neural-HMM": [
        (r"TrainingIterations|_update_", "", ""),
        (r"^docs/.*NeuralHMM.*HiFiGAN", "fake", "Neural-HMM+HiFi-GAN"),
        (r"^docs/.*Tacotron.*HiFiGAN", "fake", "Tacotron2+HiFi-GAN"),
        (r"^docs/audio/.*/(NVIDIA)?Tacotron[^/]*$", "fake", "Tacotron2+WaveGlow"),
        (r"^docs/.*NeuralHMM", "fake", "Neural-HMM+WaveGlow"),
    ],
    "speechbrain/speechbrain": [
        (r"^tests/samples/TTS/LJ", "real", "LJSpeech"),
        (r"^tests/samples/ASR/", "real", "read speech"),
    ],
}


@dataclass(frozen=True)
class Recording:
    """One labelled file."""

    path: Path
    repository: str
    label: str
    group: str
    licence: str

    @property
    def is_fake(self) -> bool:
        """Whether the speech is synthetic."""
        return self.label == "fake"


def rule_for(repository: str, path: str) -> tuple[str, str] | None:
    """Return (label, group) of a file in a repository, or ``None`` where no rule names it."""
    for pattern, label, group in RULES.get(repository, []):
        found = re.search(pattern, path)
        if found:
            return (label, group.format(**found.groupdict())) if label else None
    return None


def _rank(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def collect(corpora: Path, repositories: Path | None, *, per_group: int = 900) -> list[Recording]:
    """List the training recordings.

    Where a checkout of a source repository is at hand (``owner+name`` or ``owner/name`` under ``repositories``), all of
    its files that a rule names; of the other sources, the train rows of the corpus. At most ``per_group`` files of each
    group of a repository, chosen by a hash of their path.

    Raises
    ------
    ValueError
        A rule contradicts the label that the corpus gives to the same file.
    """
    table = pd.read_csv(corpora / "voice" / "manifest.csv", dtype=str, keep_default_na=False)
    dev = set(zip(*(table[table["split"] == "dev"][c] for c in ("source_repo", "source_path")), strict=True))
    train = table[table["split"] == "train"]
    found: list[Recording] = []
    for repository, rows in train.groupby("source_repo"):
        known = dict(zip(rows["source_path"], rows["label"], strict=True))
        licence = rows["licence"].iloc[0]
        checkout = _checkout(repositories, str(repository))
        if checkout is None:
            for row in rows.itertuples():
                _, group = rule_for(str(repository), str(row.source_path)) or ("", str(row.system))
                path = corpora / "voice" / str(row.path)
                found.append(Recording(path, str(repository), str(row.label), group, licence))
            continue
        groups: dict[tuple[str, str], list[str]] = {}
        for path in checkout.rglob("*"):
            relative = path.relative_to(checkout).as_posix()
            ruled = rule_for(str(repository), relative)
            if path.suffix.lower() not in AUDIO or ruled is None or (repository, relative) in dev:
                continue
            if known.get(relative, ruled[0]) != ruled[0]:
                raise ValueError(f"{repository}: the corpus calls {relative} {known[relative]}, the rules {ruled[0]}")
            groups.setdefault(ruled, []).append(relative)
        for (label, group), paths in groups.items():
            chosen = sorted(sorted(paths, key=_rank)[:per_group])
            found += [Recording(checkout / p, str(repository), label, group, licence) for p in chosen]
    return sorted(found, key=lambda r: (r.repository, r.path.as_posix()))


def _checkout(repositories: Path | None, repository: str) -> Path | None:
    if repositories is None:
        return None
    places = (repositories / repository.replace("/", "+"), repositories / repository)
    return next((place for place in places if place.is_dir()), None)


def decode(path: Path, *, max_s: float = 60.0) -> NDArray[np.float32]:
    """Return mono samples at 16 kHz of the first ``max_s`` seconds."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)
    pieces: list[NDArray[np.float32]] = []
    n, limit = 0, int(max_s * SAMPLE_RATE_HZ)
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            for piece in resampler.resample(frame):
                pieces.append(piece.to_ndarray()[0])
                n += pieces[-1].size
            if n >= limit:
                break
    return np.concatenate(pieces)[:limit] if pieces else np.zeros(0, np.float32)


def chunks(samples: NDArray[np.float32], *, at_most: int) -> Iterator[NDArray[np.float32]]:
    """Yield up to ``at_most`` pieces of at most 4 s, spread evenly over the recording."""
    size = int(CHUNK_S * SAMPLE_RATE_HZ)
    n = min(at_most, max(1, round(samples.size / size)))
    for start in np.linspace(0, max(0, samples.size - size), n).astype(int):
        yield samples[start : start + size]
