"""What the detectors say of media that the demo makes: 24 swapped faces with and without lost detail, and a voice.

    python benchmarks/demo_media.py

The two portraits are matplotlib's Grace Hopper and scikit-image's astronaut, each with the other's face, by
`forensix.demo.swap.swap` with the random seeds 0 to 11.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib.cbook
import numpy as np
from PIL import Image
from skimage.data import astronaut

import forensix
from forensix.demo import synthesise
from forensix.demo.media import RATE_HZ, SPEECH, swapped
from forensix.models import get_card
from forensix.training.voice.synthesis import mel_griffin_lim

SEEDS = range(12)
VOICES = ("Female1", "Female5", "Male1", "Male5", "Croak")


READ_WITH = (
    "Training made its blends of faces, and some of its synthetic voices, by the same functions from other people, so "
    "this says what kind is found, not how often: both sets are of a few faces and voices."
)


def portraits() -> list[np.ndarray]:
    """Return the two portraits as they are."""
    path = matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    return [np.asarray(Image.open(path).convert("RGB")), astronaut()]


def faces() -> None:
    bounds = get_card("forensix-face").inconclusive
    print(f"forensix-face: fake from {bounds[1]}, real up to {bounds[0]}\n")
    print("| swaps of the two portraits | n | fake | inconclusive | real | no face | scores |")
    print("|---|---|---|---|---|---|---|")
    told = {"untouched": [forensix.analyze(portrait, ["face_manipulation"]) for portrait in portraits()]}
    for name, keep_detail in (("as `swap` makes them", False), ("the same, the new face in all its detail", True)):
        reports = [
            forensix.analyze(swapped(seed, keep_detail=keep_detail, back=back), ["face_manipulation"])
            for back in (False, True)
            for seed in SEEDS
        ]
        row(name, "face_manipulation", reports)
        told[name] = reports
    row("the portraits untouched", "face_manipulation", told["untouched"])
    counts = []
    for name, reports in told.items():
        notes = ["\n".join(report.outcomes["face_manipulation"].notes) for report in reports]
        counts.append(f"{sum('differs from the rest' in note for note in notes)} of {len(reports)} ({name})")
    print(f"\nTold to differ in a part by forensix-face-regions: {'; '.join(counts)}")


def voices() -> None:
    from scipy.signal import resample_poly

    bounds = get_card("forensix-spoof").inconclusive
    print(f"\nforensix-spoof: fake from {bounds[1]}, real up to {bounds[0]}\n")
    print("| computed speech | n | fake | inconclusive | real | no speech | scores |\n|---|---|---|---|---|---|---|")
    plain = [resample_poly(synthesise(SPEECH, voice) / 32768, 160, RATE_HZ // 100) for voice in VOICES]
    sounds = [sound.astype(np.float32) for sound in plain]
    rebuilt = [mel_griffin_lim(sound.copy(), np.random.default_rng(seed)) for sound in sounds for seed in range(4)]
    for name, clips in (("formant synthesis, five voices", sounds), ("rebuilt by Griffin-Lim, four each", rebuilt)):
        reports = [
            forensix.analyze(
                np.clip(np.asarray(clip, np.float32), -1, 1),
                ["voice_analysis"],
                sample_rate=16000,
                explain=False,
                transcribe=False,
            )
            for clip in clips
        ]
        row(name, "voice_analysis", reports)


def row(name: str, task: str, reports: list[forensix.Report]) -> None:
    said = [report.verdicts[task] for report in reports]
    scores = sorted(report.scores[task] for report in reports if report.scores[task] is not None)
    nothing = len(said) - sum(said.count(word) for word in ("fake", "inconclusive", "real"))
    counts = [len(said), *(said.count(word) for word in ("fake", "inconclusive", "real")), nothing]
    print(f"| {name} | {' | '.join(map(str, counts))} | {' '.join(f'{score:.2f}' for score in scores)} |", flush=True)


if __name__ == "__main__":
    print("# Media that the demo makes\n\nCommand: `python benchmarks/demo_media.py`\n")
    faces()
    voices()
    print(f"\n{READ_WITH}")
