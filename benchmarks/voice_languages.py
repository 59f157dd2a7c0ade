"""Count the words that Whisper tiny.en writes of English and of other languages, before and after it is doubted.

    python benchmarks/voice_languages.py --corpora DIR > benchmarks/results/voice_languages.md

Recordings and synthetic speech of the corpus of voices whose language is named; of English ones of each class and split
as many as ``--most``, drawn at random. All that is written where another language is spoken was said by nobody.
"""

import argparse
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import torch

from forensix.errors import ForensixError
from forensix.media import open_media
from forensix.voice import transcript
from forensix.voice.speech import speech_segments


def heard(path: Path) -> tuple[int, int, bool] | None:
    """Return the words before and after passages are left out, and whether any were; nothing where nobody speaks."""
    with open_media(path) as media:
        samples = np.array(media.samples())
    segments = speech_segments(samples)
    if not segments:
        return None
    engine = transcript.whisper_tiny_en()
    after = engine.transcribe(samples, segments)
    with mock.patch.multiple(transcript, SURE=0.0, LEAST_LOGARITHM=-np.inf, MOST_REPEATED=np.inf):
        before = engine.transcribe(samples, segments)
    return len(before.text.split()), len(after.text.split()), bool(after.unsure)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds the corpus voice")
    parser.add_argument("--most", type=int, default=60, help="English files of each class and split")
    options = parser.parse_args()
    torch.set_num_threads(1)
    root = options.corpora / "voice"
    rows = pd.read_csv(root / "manifest.csv", dtype=str)
    rows = rows[rows["language"].notna()]
    rows["english"] = np.where(rows["language"].str.startswith("en"), "English", "another language")
    rows = rows.sample(frac=1.0, random_state=0).groupby(["english", "label", "split"]).head(options.most)
    print("# Words of other languages\n\n    python benchmarks/voice_languages.py --corpora DIR\n")
    print("| spoken | class | split | files | words written at first | words kept | files with a passage left out |")
    print("|---|---|---|---|---|---|---|")
    for (language, label, split), part in rows.groupby(["english", "label", "split"]):
        counts = []
        for path in part["path"]:
            try:
                counts.append(heard(root / path))
            except ForensixError as error:
                print(f"<!-- {path}: {error} -->")
        known = np.array([count for count in counts if count is not None])
        before, after, doubted = known.sum(axis=0)
        kept = f"{after} ({after / before:.0%})"
        print(f"| {language} | {label} | {split} | {len(known)} | {before} | {kept} | {doubted} |", flush=True)


if __name__ == "__main__":
    main()
