"""Scores to draw: of one or several components, by generator, and of degraded copies."""

import numpy as np
import pandas as pd

GENERATORS = ["vits", "tacotron2-hifigan", "elevenlabs", "xtts", "bark", "openvoice", "tortoise"]


def scores(component: str = "ours", shift: float = 2.0, n: int = 300, seed: int = 0, **columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    fake = rng.random(n) < 0.6
    generator = np.where(fake, rng.choice(GENERATORS, n), None)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + shift * (fake - 0.5))))
    return pd.DataFrame(
        {
            "path": [f"{i}" for i in range(n)],
            "label": np.where(fake, "fake", "real"),
            "generator": generator,
            "source": np.where(fake, generator, rng.choice(["librispeech", "vctk"], n)),
            "group_id": np.arange(n) // 4,
            "task": "voice_analysis",
            "component": component,
            "degradation": "none",
            "strength": np.nan,
            "level": "file",
            "score": np.round(score, 2),
            "error": None,
            **columns,
        }
    )


def degraded() -> pd.DataFrame:
    parts = [scores()]
    for name, strengths in {"mp3": [64.0, 16.0, 32.0], "noise": [8.0, 2.0], "telephone": [np.nan]}.items():
        parts += [scores(shift=1.0, seed=k, degradation=name, strength=s) for k, s in enumerate(strengths)]
    return pd.concat(parts, ignore_index=True)
