"""Which files voices are learnt from and measured on: a list of sources, and the voice corpus with its repositories.

Labels of the list are its own. Of the repositories that the corpus' train rows come from, all files that a path rule
names are taken; a file that none names is left out. Left out on purpose: phones in isolation, mixtures, noise and room
responses, outputs of the first training steps (not speech), and whatever the dev split of the corpus holds.
"""

import re
from pathlib import Path

import pandas as pd

from forensix.errors import InputNotFound
from forensix.training.sources import Repositories, read_list
from forensix.training.voice.clips import seed_of

AUDIO = {".wav", ".flac", ".mp3", ".ogg", ".m4a", ".opus"}
AT_MOST = {"fake": 60, "real": 150}
"""Training files of each system, or collection of human speech, of a repository."""
COLUMNS = ["repo", "path", "ref", "blob", "label", "made_by", "licence", "file"]
LICENCE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE")
LICENCES = {
    "MIT License": "MIT",
    "Apache License": "Apache-2.0",
    "BSD 3-Clause": "BSD-3-Clause",
    "Redistribution and use": "BSD",
    "CC0 1.0": "CC0-1.0",
    "Attribution-NonCommercial": "CC-BY-NC",
    "Attribution-ShareAlike": "CC-BY-SA",
    "Attribution 4.0": "CC-BY-4.0",
    "GNU AFFERO": "AGPL-3.0",
    "GNU GENERAL PUBLIC": "GPL-3.0",
    "Mozilla Public License": "MPL-2.0",
    "Permission is hereby granted": "MIT",
}

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


def rule_for(repo: str, path: str) -> tuple[str, str] | None:
    """Return (label, group) of a file in a repository, or ``None`` where no rule names it."""
    for pattern, label, group in RULES.get(repo, []):
        match = re.search(pattern, path)
        if match:
            return (label, group.format(**match.groupdict())) if label else None
    return None


def listed(path: Path, repositories: Repositories, split: str) -> pd.DataFrame:
    """Return one split of a list of sources, with what licence file each repository has."""
    table = read_list(path, split=split)
    licences = {repo: licence_of(repositories, repo) for repo in table["repo"].unique()}
    return table.assign(licence=table["repo"].map(licences), file="")[COLUMNS]


def licence_of(repositories: Repositories, repo: str) -> str:
    """Return the name of a repository's licence file's licence; it seldom says that it covers the recordings."""
    for name in LICENCE_FILES:
        try:
            text = repositories.read(repo, name).decode("utf-8", "replace")[:2000]
        except InputNotFound:
            continue
        known = next((short for words, short in LICENCES.items() if words.lower() in text.lower()), "own terms")
        return f"{known} (repository; recordings not named)"
    return "none stated"


def of_corpus(corpora: Path, split: str) -> pd.DataFrame:
    """Return the rows of one split of the voice corpus."""
    table = pd.read_csv(corpora / "voice" / "manifest.csv", dtype=str, keep_default_na=False)
    table = table[table["split"] == split]
    files = [str(corpora / "voice" / path) for path in table["path"]]
    made_by = table["system"].where(table["label"] == "fake", table["source_repo"])
    renamed = table.rename(columns={"source_repo": "repo", "path": "packed", "source_path": "path"})
    return renamed.assign(made_by=made_by, ref="HEAD", blob="", file=files)[COLUMNS].reset_index(drop=True)


def behind_corpus(corpora: Path, repositories: Repositories) -> pd.DataFrame:
    """Return what the repositories behind the corpus' train rows hold, or those rows where a repository is not at hand.

    At most `AT_MOST` files of each group of a repository, chosen by a hash of their path.

    Raises
    ------
    ValueError
        A rule contradicts the label that the corpus gives to the same file.
    """
    train, dev = of_corpus(corpora, "train"), of_corpus(corpora, "dev")
    held_out = set(zip(dev["repo"], dev["path"], strict=True))
    tables = []
    for repo, rows in train.groupby("repo"):
        named = [
            rule_for(str(repo), path) or ("", made_by)
            for path, made_by in zip(rows["path"], rows["made_by"], strict=True)
        ]
        known = dict(zip(rows["path"], rows["label"], strict=True))
        files = []
        for path, _ in repositories.files(str(repo)) if repositories.has(str(repo)) else []:
            ruled = rule_for(str(repo), path)
            if Path(path).suffix.lower() not in AUDIO or ruled is None or (repo, path) in held_out:
                continue
            if known.get(path, ruled[0]) != ruled[0]:
                raise ValueError(f"{repo}: the corpus calls {path} {known[path]}, the rules {ruled[0]}")
            files.append({"repo": repo, "path": path, "label": ruled[0], "made_by": ruled[1]})
        if not files:
            tables.append(rows.assign(made_by=[group for _, group in named]))
            continue
        table = pd.DataFrame(files)
        table = table.assign(ref="HEAD", blob="", file="", licence=rows["licence"].iloc[0])
        tables.append(limited(table))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def training(path: Path, corpora: Path, repositories: Repositories) -> pd.DataFrame:
    """Return all files to train on: the train rows of a list, and what is behind the corpus."""
    tables = [limited(listed(path, repositories, "train")), behind_corpus(corpora, repositories)]
    return pd.concat(tables, ignore_index=True)


def limited(table: pd.DataFrame) -> pd.DataFrame:
    """Return at most `AT_MOST` rows of each class and maker of a repository, chosen by a hash of their path."""
    order = table["path"].map(seed_of).sort_values().index
    groups = table.loc[order].groupby(["repo", "label", "made_by"]).cumcount()
    return table[groups.sort_index() < table["label"].map(AT_MOST)]
