"""Measure the reference population of real voices, the shipped one or one's own.

    python -m forensix.training.voice.population --corpora DIR [--repositories DIR]
    forensix population build MANIFEST --output FILE

Measures the ten features of `forensix.voice.features` on real recordings of the training collections (see
`forensix.training.voice.real_voices`) and writes their weighted percentiles to ``forensix/voice/population.json``.
Recordings with less than a second of speech in the first 15 s are left out; the first 10 s are measured. Every
speaker has the same weight, spread over his or her recordings; a collection weighs as much as 60 speakers at most,
and those that do not tell their speakers apart weigh as much as the number they promise.

None of the recordings has a telephone's band, so the bounds for that band are those of the same recordings over a
telephone line. F0 and formants are told by gender as well, and nothing else: voices whose gender is told come from few
collections, and bounds of theirs alone call more voices of other collections outliers (``--all-strata`` writes them).

`build` does the same for the real rows of a dataset manifest: ``group_id`` or ``speaker`` says who speaks (without it
every recording is a speaker), ``source`` the collection, ``gender`` F or M, female or male. A file whose content came
before is left out, and links are downloaded as `forensix.evaluate` does.
"""

import argparse
import json
import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import InputError, UsageError
from forensix.folders import write_whole
from forensix.importers.links import bring
from forensix.manifest import Manifest
from forensix.media import Limits, open_media
from forensix.progress import Progress, display
from forensix.schema import Gender
from forensix.training.voice.real_voices import (
    ANONYMOUS,
    Voice,
    fingerprint,
    over_telephone,
    real_voices,
    samples_of,
)
from forensix.voice import features, population
from forensix.voice.speech import RATE_HZ, speech_segments, total_s

_LOG = logging.getLogger(__name__)

HEARD_S, MEASURED_S = 15.0, 10.0
PER_COLLECTION = 400
MOST_SPEAKERS = 60
SEED = 0
BY_GENDER = ("f0", "f1", "f2")
"""Features that the shipped population has by gender."""

TARGET = Path(population.__file__).with_name("population.json")
GENDERS: dict[str, Gender] = {"f": "female", "m": "male", "female": "female", "male": "male"}


@dataclass(frozen=True)
class Measured:
    """A voice with enough speech, its features, and the strata that it belongs to beside ``all``."""

    voice: Voice
    values: dict[str, float | None]
    strata: tuple[str, ...]


def measure(voices: Iterable[Voice], read: Callable[[Voice], NDArray[Any]]) -> list[Measured]:
    """Measure the voices that have enough speech; ``read`` returns mono 16 kHz samples."""
    kept = []
    for voice in voices:
        samples = read(voice)[: round(HEARD_S * RATE_HZ)]
        segments = speech_segments(samples)
        if total_s(segments) >= population.LEAST_SPEECH_S:
            band = population.band_of(samples, segments)
            gender = _gender(voice.gender)
            strata = (band,) if gender is None else (gender, band, f"{gender} {band}")
            values = features.extract(samples[: round(MEASURED_S * RATE_HZ)], segments)
            kept.append(Measured(voice, values, strata))
    return kept


def _gender(word: str | None) -> Gender | None:
    return GENDERS.get((word or "").strip().lower())


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


def table(measured: Sequence[Measured]) -> dict[str, Any]:
    """Return the features' part of the population file; a stratum with one recording is left out."""
    weight = weights([one.voice for one in measured])
    strata = ["all", *sorted({stratum for one in measured for stratum in one.strata})]
    described: dict[str, Any] = {}
    for name, unit in features.UNITS.items():
        groups = {}
        for stratum in strata:
            chosen = [
                (one.values[name], share)
                for one, share in zip(measured, weight, strict=True)
                if one.values[name] is not None and (stratum == "all" or stratum in one.strata)
            ]
            if len(chosen) > 1:
                x, w = np.array(chosen).T
                groups[stratum] = _rounded(population.summarise(x, w, unit))
        if not groups:
            raise UsageError(f"{name} could be measured on no two recordings: a population needs more real voices")
        described[name] = {"unit": unit, "groups": groups}
    return described


def joined(recorded: Sequence[Measured], called: Sequence[Measured], *, by_gender: Collection[str]) -> dict[str, Any]:
    """Return the features of recordings of a wide band, and of the same over a telephone as the strata ``narrow``.

    Strata of a gender are kept of the features ``by_gender``.
    """
    joint, narrow = table(recorded), table([one for one in called if "narrow" in one.strata])
    for name, feature in joint.items():
        groups = {k: v for k, v in feature["groups"].items() if not k.endswith("wide")}
        groups |= {k: v for k, v in narrow[name]["groups"].items() if k.endswith("narrow")}
        gendered = name in by_gender
        feature["groups"] = {k: v for k, v in groups.items() if gendered or k in ("all", "narrow")}
    return joint


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


def _record(measured: Sequence[Measured], bounds: dict[str, Any], command: str) -> dict[str, Any]:
    voices = [one.voice for one in measured]
    return {
        "about": "Weighted percentiles of acoustic features of real voices; no recording can be told from them.",
        "command": command,
        "inputs_sha256": fingerprint(voices),
        "seed": SEED,
        "recordings": len(voices),
        "sources": _sources(voices),
        "features": bounds,
    }


@dataclass(frozen=True)
class Built:
    """What a population of one's own rests on."""

    measured: int
    listed: int
    """Real rows of the manifest."""
    left_out: Mapping[str, int]
    """How many were left out, by why."""
    unknown_genders: Mapping[str, int]
    """How many rows have a gender that is none of `GENDERS`, by that word: they count for all voices only."""

    def __str__(self) -> str:
        why = ", ".join(f"{n} {reason}" for reason, n in self.left_out.items() if n)
        return f"{self.measured} of {self.listed} real recordings measured{f' (left out: {why})' if why else ''}"


def build(
    manifest: Manifest,
    output: Path,
    *,
    private_hosts: Collection[str] = (),
    progress: Progress | bool | None = None,
) -> Built:
    """Measure the real rows of a manifest, write the population, and return what it rests on.

    ``private_hosts`` may be reached by links in the manifest although their addresses are private; ``progress`` is
    told after each recording.

    Raises
    ------
    UsageError
        There are fewer real recordings with speech than `population.LEAST_RECORDINGS`; where fewer are listed, nothing
        is measured.
    """
    left_out = {"whose content came before": 0, "that cannot be read": 0, "with less than a second of speech": 0}
    seen: set[str] = set()

    def read(voice: Voice) -> NDArray[Any]:
        try:
            with open_media(voice.path, name=voice.name) as media:
                if media.sha256 not in seen:
                    seen.add(media.sha256)
                    return np.array(media.samples()[: round(HEARD_S * RATE_HZ)])
                left_out["whose content came before"] += 1
        except InputError as error:
            unread(error)
        return np.zeros(0, np.int16)

    def unread(error: InputError) -> None:
        _LOG.warning("left out: %s", error)
        left_out["that cannot be read"] += 1

    real = manifest.where(label="real")
    rows = real.table.to_dict("records")
    if len(rows) < population.LEAST_RECORDINGS:
        raise UsageError(f"there are {len(rows)} real recordings; {population.too_few()}")
    voices = []
    brought = bring(list(real.table["path"]), Limits(), private_hosts)
    for row, path, found in zip(rows, real.paths(), brought, strict=True):
        if isinstance(found, InputError):
            unread(found)
        else:
            voices.append(_voice(row, path))
    with display(progress) as tell:
        measured = measure(_told(voices, tell), read)
    left_out["with less than a second of speech"] = len(rows) - len(measured) - sum(left_out.values())
    words = Counter(v.gender for v in voices if v.gender is not None and _gender(v.gender) is None)
    built = Built(len(measured), len(rows), left_out, words)
    if built.measured < population.LEAST_RECORDINGS:
        raise UsageError(f"{built}; {population.too_few()}")
    text = json.dumps(_record(measured, table(measured), "forensix population build MANIFEST"), separators=(",", ":"))
    write_whole(output, f"{text}\n")
    return built


def _told(voices: Sequence[Voice], tell: Progress) -> Iterator[Voice]:
    """Yield the voices, and tell of each that is done with."""
    for n, voice in enumerate(voices):
        yield voice
        tell("population", f"{n + 1:,} of {len(voices):,} recordings", (n + 1) / len(voices))


def _voice(row: Mapping[Any, Any], path: Path) -> Voice:
    """Return the voice of a row of a manifest."""
    stated = {key: str(row[key]) for key in ("group_id", "speaker", "source", "gender") if _is_told(row.get(key))}
    speaker = stated.get("group_id") or stated.get("speaker") or str(row["path"])
    source = stated.get("source", "manifest")
    return Voice(path, str(row["path"]), source, speaker, stated.get("gender"), "as the manifest says")


def _is_told(value: object) -> bool:
    """Tell whether a cell says something: text that is not blank, or a number, as those of speakers in Parquet are."""
    return bool(value.strip()) if isinstance(value, str) else isinstance(value, Real) and not math.isnan(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the shipped population."""
    parser = argparse.ArgumentParser(description="Measure the reference population of real voices.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    parser.add_argument("--output", type=Path, default=TARGET)
    parser.add_argument("--all-strata", action="store_true", help="every feature by gender")
    options = parser.parse_args(arguments)
    listed = real_voices(options.corpora, options.repositories, per_collection=PER_COLLECTION, seed=SEED)
    measured = measure(listed, lambda voice: samples_of(voice, at_most_s=HEARD_S))
    called = measure(listed, lambda voice: over_telephone(samples_of(voice, at_most_s=HEARD_S)))
    bounds = joined(measured, called, by_gender=list(features.UNITS) if options.all_strata else BY_GENDER)
    record = _record(measured, bounds, "python -m forensix.training.voice.population --corpora DIR --repositories DIR")
    options.output.write_text(json.dumps(record, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(measured)} recordings of {len(listed)} were measured; written to {options.output.name}")


if __name__ == "__main__":
    main()
