"""Measure who-speaks-when on conversations put together from clips, and on meetings.

    python benchmarks/voice_diarisation.py --corpora DIR --repositories DIR > benchmarks/results/voice_diarisation.md

``--repositories`` holds one folder ``<owner>+<name>`` a repository. Diarisation error rates are pyannote.metrics'
(``pip install pyannote.metrics``), without a collar, overlap scored. The truth of a conversation is where the finder of
speech hears each clip by itself, so what is missed or heard in vain counts what pauses, noise and overlap change; that
of the meetings was written by people.
"""

import argparse
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.training.voice.mixtures import Clip, Conditions, clip_of
from forensix.training.voice.real_voices import read_rttm, read_samples
from forensix.training.voice.speakers import talkers, talks
from forensix.voice.speakers import diarise
from forensix.voice.speech import Segment, speech_segments

try:
    from pyannote.core import Annotation
    from pyannote.core import Segment as Stretch
    from pyannote.metrics.diarization import DiarizationErrorRate
except ModuleNotFoundError:
    sys.exit("diarisation error rates are pyannote.metrics', which is not installed: pip install pyannote.metrics")

N_TALKS = 12
SETTINGS: tuple[tuple[str, int, Conditions], ...] = (
    ("one speaker", 1, Conditions()),
    ("two", 2, Conditions()),
    ("two, pauses of 0.05 to 0.3 s", 2, Conditions(pause_s=(0.05, 0.3))),
    ("two, every third turn overlaps", 2, Conditions(overlap=0.33)),
    ("two, noise 20 dB below", 2, Conditions(snr_db=20)),
    ("two, noise 10 dB below", 2, Conditions(snr_db=10)),
    ("three", 3, Conditions()),
    ("four", 4, Conditions()),
)


def annotation(turns: Iterable[tuple[Segment, str]]) -> Annotation:
    labelled = Annotation()
    for i, (segment, speaker) in enumerate(turns):
        labelled[Stretch(segment.start_s, segment.end_s), i] = speaker
    return labelled


def row(name: str, recordings: Iterable[tuple[np.ndarray, Sequence[tuple[Segment, str]]]]) -> str:
    """Diarise recordings whose turns are known, and return a line of the table."""
    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    counts, right = [], []
    for samples, turns in recordings:
        speakers = diarise(samples, speech_segments(samples))
        metric(annotation(turns), annotation((s, f.speaker) for f in speakers for s in f.segments))
        counts.append(len(speakers))
        right.append(len(speakers) == len({speaker for _, speaker in turns}))
    total = metric["total"]
    parts = [100 * metric[key] / total for key in ("missed detection", "false alarm", "confusion")]
    cells = " | ".join(f"{value:.1f}" for value in (*parts, 100 * abs(metric)))
    return f"| {name} | {len(counts)} | {np.mean(right):.2f} | {np.mean(counts):.1f} | {cells} |"


HEAD = (
    "| recordings | n | right number | mean number | missed, % | false alarm, % | wrong speaker, % | DER, % |\n"
    "|---|---|---|---|---|---|---|---|"
)


def vctk(corpora: Path) -> dict[str, list[Clip]]:
    """Return the speakers of the corpora's dev rows that have names, by collection of one recording condition."""
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    rows = rows[(rows["split"] == "dev") & (rows["label"] == "real") & rows["source_repo"].str.contains("autovc")]
    clips: dict[str, list[Clip]] = {}
    for line in rows.to_dict("records"):
        if clip := clip_of(line["speaker"], read_samples(corpora / "voice" / line["path"])):
            clips.setdefault(line["speaker"], []).append(clip)
    # Clips of 2 s: each is heard three times, so that a voice is one that can be told apart at all.
    return {name: recordings * 3 for name, recordings in clips.items() if len(recordings) > 1}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Measure who speaks when.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with one folder <owner>+<name> each")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # pyannote.metrics: the whole recording is scored
    print("# Who speaks when\n\n    python benchmarks/voice_diarisation.py --corpora DIR --repositories DIR")
    collections: Mapping[str, Mapping[str, Sequence[Clip]]] = {
        "VCTK readers of the corpora's dev rows (English; two or more clips, each heard three times)": vctk(
            options.corpora
        ),
        **{
            f"{name} ({'learners of English' if 'ocean' in name else 'actors in seven moods, German'}; the half of "
            "the speakers that the threshold was not chosen by)": clips
            for name, clips in talkers(options.repositories, "measured").items()
        },
    }
    for collection, clips in collections.items():
        print(f"\n## {collection}: {len(clips)} speakers\n\n{HEAD}")
        for name, n_speakers, conditions in SETTINGS:
            if len(clips) >= n_speakers:
                drawn = talks(clips, n_speakers, conditions, N_TALKS)
                print(row(name, ((talk.samples, talk.turns) for talk in drawn)), flush=True)
    root = options.repositories / "pyannote+pyannote-audio/tests/data"
    turns = {
        name: reference for path in sorted(root.glob("debug.*.rttm")) for name, reference in read_rttm(path).items()
    }
    meetings = [(name, root / f"{name}.wav", reference) for name, reference in sorted(turns.items())]
    meetings = [(name, path, reference) for name, path, reference in meetings if path.is_file()]
    print(f"\n## Meetings of AMI, 30 s each, reference turns by people: {len(meetings)}\n\n{HEAD}")
    for wanted in (1, 2, 3, 4):
        some = [(read_samples(p, at_most_s=30), t) for _, p, t in meetings if len({s for _, s in t}) == wanted]
        if some:
            print(row(f"{wanted} speaker{'s' if wanted > 1 else ''}", some), flush=True)
    print(row("all", [(read_samples(path, at_most_s=30), reference) for _, path, reference in meetings]))


if __name__ == "__main__":
    main()
