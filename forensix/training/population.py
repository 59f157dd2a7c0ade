"""Measure the reference population of real voices.

    python -m forensix.training.population --corpora DIR [--repositories DIR]

Measures the ten features of `forensix.voice.features` on real recordings of the training collections (see
`forensix.training.voices`) and writes their weighted percentiles to ``forensix/voice/population.json``. Recordings
with less than a second of speech in the first 15 s are left out; the first 10 s are measured. Every speaker has the
same weight, spread over his or her recordings; a collection weighs as much as 60 speakers at most, and those that do
not tell their speakers apart weigh as much as the number they promise.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forensix.training.voices import ANONYMOUS, Voice, fingerprint, real_voices, samples_of
from forensix.voice import features, population
from forensix.voice.speech import RATE_HZ, speech_segments, total_s

LEAST_SPEECH_S = 1.0
HEARD_S, MEASURED_S = 15.0, 10.0
PER_COLLECTION = 400
MOST_SPEAKERS = 60
SEED = 0
TARGET = Path(population.__file__).with_name("population.json")
GROUPS = {"all": None, "female": "F", "male": "M"}


def measure(voices: Sequence[Voice]) -> tuple[list[Voice], list[dict[str, float | None]]]:
    """Return the voices with enough speech and their features."""
    kept, values = [], []
    for voice in voices:
        samples = samples_of(voice, at_most_s=HEARD_S)
        segments = speech_segments(samples)
        if total_s(segments) >= LEAST_SPEECH_S:
            kept.append(voice)
            values.append(features.extract(samples[: round(MEASURED_S * RATE_HZ)], segments))
    return kept, values


def weights(voices: Sequence[Voice]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the weight of each recording: a speaker is 1, a collection MOST_SPEAKERS at most."""
    recordings = Counter((v.collection, v.speaker) for v in voices)
    weight = np.array(
        [
            (ANONYMOUS.get(v.collection, 1) if v.speaker is None else 1) / recordings[v.collection, v.speaker]
            for v in voices
        ]
    )
    total: dict[str, float] = defaultdict(float)
    for voice, w in zip(voices, weight, strict=True):
        total[voice.collection] += w
    return np.asarray(weight * [min(1.0, MOST_SPEAKERS / total[v.collection]) for v in voices])


def _rounded(d: population.Distribution) -> dict[str, Any]:
    def six(x: float) -> float:
        return float(f"{x:.6g}")

    numbers = {"min_value": six(d.min_value), "max_value": six(d.max_value), "mean_value": six(d.mean_value)}
    return {"count": d.count, **numbers, "percentiles": [six(p) for p in d.percentiles]}


def table(voices: Sequence[Voice], values: Sequence[dict[str, float | None]]) -> dict[str, Any]:
    """Return the features' part of the population file."""
    weight = weights(voices)
    found: dict[str, Any] = {}
    for name, unit in features.UNITS.items():
        groups = {}
        for group, gender in GROUPS.items():
            if gender and name not in population.BY_GENDER:
                continue
            chosen = [
                (value[name], share)
                for voice, value, share in zip(voices, values, weight, strict=True)
                if value[name] is not None and gender in (None, voice.gender)
            ]
            x, w = np.array(chosen).T
            groups[group] = _rounded(population.summarise(x, w, unit))
        found[name] = {"unit": unit, "groups": groups}
    return found


def _sources(voices: Sequence[Voice]) -> list[dict[str, Any]]:
    weight = weights(voices)
    rows = []
    for collection in sorted({v.collection for v in voices}):
        chosen = [i for i, v in enumerate(voices) if v.collection == collection]
        speakers = {voices[i].speaker for i in chosen} - {None}
        rows.append(
            {
                "collection": collection,
                "recordings": len(chosen),
                "speakers": len(speakers) or None,
                "weight": round(float(weight[chosen].sum() / weight.sum()), 4),
                "licences": sorted({voices[i].licence for i in chosen}),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the population."""
    parser = argparse.ArgumentParser(description="Measure the reference population of real voices.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args(arguments)
    listed = real_voices(options.corpora, options.repositories, per_collection=PER_COLLECTION, seed=SEED)
    voices, values = measure(listed)
    record = {
        "about": "Weighted percentiles of acoustic features of real voices; no recording can be told from them.",
        "command": "python -m forensix.training.population --corpora DIR --repositories DIR",
        "inputs_sha256": fingerprint(voices),
        "seed": SEED,
        "recordings": len(voices),
        "sources": _sources(voices),
        "features": table(voices, values),
    }
    options.output.write_text(json.dumps(record, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(voices)} recordings of {len(listed)} were measured; written to {options.output.name}")


if __name__ == "__main__":
    main()
