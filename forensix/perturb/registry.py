"""The names of degradations, their strengths from mild to severe, and how they are applied.

A degradation draws its chance from its name, its strength, the seed and the content it is given: the same file is
degraded alike in every run, on every machine and in any order, and nothing depends on whether it is real or fake.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from forensix.errors import UsageError
from forensix.perturb import audio, image, rawboost

Kind = Literal["image", "audio", "video"]
KINDS: tuple[Kind, ...] = ("image", "audio", "video")
#: Degradations without a strength are given as this one.
Strength = float | None
# Units of what is counted: 70.5 would be done as 70 and shown as 70.5.
_INTEGER_UNITS = ("quality", "kbit/s", "times")
Apply = Callable[[Any, Any, np.random.Generator], Any]


@dataclass(frozen=True)
class Degradation:
    """One degradation: ``strengths`` from mild to severe in ``unit``, (None,) where there is nothing to choose.

    ``bounds`` are the least and the largest that do what the name says: beyond them a file stays as it is, nothing is
    left of it, or the encoder does something else.
    """

    kind: Kind
    name: str
    strengths: tuple[Strength, ...]
    unit: str
    bounds: tuple[float, float] | None
    summary: str
    apply: Apply | None = None
    """``apply(data, strength, generator)``; None for videos, which go from file to file."""
    encode: Callable[[Any], dict[str, float]] | None = None
    """Of videos: what `forensix.perturb.video.encode` is given for a strength; None for others."""
    rates: tuple[int, ...] = ()
    """The only strengths, where an encoder knows few: it takes others for the nearest of them."""

    def at(self, strength: Strength) -> Callable[..., Any]:
        """Return ``function(data, seed=0)``: uint8 RGB (H, W, 3) for pictures, float32 (n,) at 16 kHz for sound.

        Videos go from file to file, by `forensix.perturb.degrade_file`: the function refuses them.

        Raises
        ------
        UsageError
            The strength is none of its own; the function, where data are of another type or shape.
        """
        self._check(strength)
        return lambda data, *, seed=0: self._applied(data, strength, seed)

    def _applied(self, data: Any, strength: Strength, seed: int) -> Any:
        if self.apply is None:
            raise UsageError(
                f"{self.name} goes from file to file: forensix.perturb.degrade_file(path, {self.name!r}, ...)"
            )
        self._check_data(data)
        amount = strength if strength is None or self.unit not in _INTEGER_UNITS else round(strength)
        return self.apply(data, amount, self._generator(data, strength, seed))

    def _check_data(self, data: Any) -> None:
        dtype = getattr(data, "dtype", None)
        shape: tuple[int, ...] = getattr(data, "shape", ())
        if self.kind == "image" and (dtype != np.uint8 or len(shape) != 3 or shape[2] != 3 or 0 in shape):
            raise UsageError(f"{self.name} takes a picture, uint8 (H, W, 3), not {_described(data)}")
        if self.kind == "audio" and (dtype != np.float32 or len(shape) != 1):
            raise UsageError(f"{self.name} takes sound, float32 (n,) at 16 kHz, not {_described(data)}")

    def _check(self, strength: Strength) -> None:
        if (strength is None) != (self.strengths == (None,)):
            raise UsageError(
                f"{self.name} has no strengths: leave it out"
                if strength is not None
                else f"{self.name} needs a strength, for example {self.strengths[0]} ({self.unit})"
            )
        if strength is None or self.bounds is None:
            return
        if isinstance(strength, bool) or not isinstance(strength, Real) or not np.isfinite(strength):
            raise UsageError(f"a strength of {self.name} must be a number, not {strength!r}")
        if self.rates and strength not in self.rates:
            listed = ", ".join(map(str, self.rates))
            raise UsageError(f"a strength of {self.name} is one of {listed} ({self.unit}), not {strength:g}")
        low, high = self.bounds
        is_integer = self.unit in _INTEGER_UNITS
        if not low <= strength <= high or (is_integer and strength != round(strength)):
            raise UsageError(
                f"a strength of {self.name} is a {'whole ' if is_integer else ''}number from {low:g} to {high:g}"
                f" ({self.unit}), not {strength:g}"
            )

    def _generator(self, data: NDArray[Any], strength: Strength, seed: int) -> np.random.Generator:
        digest = hashlib.sha256(
            f"{self.kind}/{self.name}/{'' if strength is None else float(strength)}/{seed}/".encode()
        )
        digest.update(f"{data.dtype.str}{data.shape}".encode())
        digest.update(np.ascontiguousarray(data).data)
        return np.random.default_rng(int.from_bytes(digest.digest()[:16], "little"))


def _described(data: Any) -> str:
    return f"{data.dtype} {data.shape}" if isinstance(data, np.ndarray) else f"a {type(data).__name__}"


def _picture(
    name: str, strengths: tuple[float, ...], unit: str, bounds: tuple[float, float], summary: str, change: Any
) -> Degradation:
    """Return a degradation of pictures without chance, by ``change(rgb, strength)``."""
    return Degradation("image", name, strengths, unit, bounds, summary, lambda rgb, strength, _: change(rgb, strength))


def _sound(
    name: str, strengths: tuple[float, ...], unit: str, bounds: tuple[float, float], summary: str, change: Any, key: str
) -> Degradation:
    """Return a degradation of sound by ``change(samples, generator, key=strength)``."""

    def apply(samples: Any, strength: Any, generator: np.random.Generator) -> Any:
        return change(samples, generator, **{key: strength})

    return Degradation("audio", name, strengths, unit, bounds, summary, apply)


def _line(name: str, summary: str, change: Any) -> Degradation:
    """Return a telephone line, which has no strengths, by ``change(samples, generator)``."""
    return Degradation("audio", name, (None,), "", None, summary, lambda samples, _, rng: change(samples, rng))


def _sent_on(name: str, summary: str, *steps: Any) -> Degradation:
    """Return a degradation of pictures by ``step(rgb, generator)``, one after the other, some times over."""
    return Degradation("image", name, (1, 2, 3), "times", (1, 20), summary, partial(image.repeated, steps))


_RETOUCHED = Degradation(
    "image",
    "retouched",
    (None,),
    "",
    None,
    "smoothed, sharpened, of other tones and colours, each by chance",
    lambda rgb, _, rng: image.retouched(rgb, rng),
)
_IMAGES = (
    _picture("jpeg", (90, 70, 50, 30), "quality", (1, 100), "JPEG, 4:2:0", image.jpeg),
    _picture("webp", (90, 70, 50), "quality", (1, 100), "lossy WebP", image.webp),
    _picture("resize", (0.75, 0.5, 0.25), "factor", (0.01, 0.99), "scaled down", image.resize),
    _picture("enlarge", (1.25, 1.5, 2.0), "factor", (1.01, 16), "scaled up", image.enlarged),
    _picture("blur", (0.5, 1.0, 2.0, 3.0), "sigma, px", (0.2, 100), "Gaussian", image.blur),
    Degradation("image", "noise", (2.0, 4.0, 8.0, 16.0), "sigma, grey levels", (0.2, 255), "Gaussian", image.noise),
    _picture("smooth", (0.5, 1.0), "share of fine detail", (0.1, 1), "as portraits are, edges kept", image.smooth),
    _picture("contrast", (0.5, 1.0), "of an S-shaped curve", (0.1, 1), "dark darker, bright brighter", image.contrast),
    _RETOUCHED,
    _picture("crop", (0.9, 0.7, 0.5), "share of the sides", (0.01, 0.99), "centre kept", image.centre),
    _sent_on("screenshot", "shown at another size and tone, captured off its grid", image.screenshot),
    _sent_on("shared", "through a social network: at most 1080 px, JPEG 65 to 85", image.shared),
    _sent_on("screenshot_shared", "a screenshot that is sent on", image.screenshot, image.shared),
)
_BENT = "RawBoost-like: filtered powers of the signal"
_HIT = "RawBoost-like: impulses in proportion to the signal"
_NOTCHED = "RawBoost-like: stationary noise through notches"
_PINK, _ROOM = partial(audio.noise, slope=1.0), partial(audio.reverberate, direct_db=6.0)
_AUDIO = (
    replace(_sound("mp3", (64, 32, 16), "kbit/s", (8, 160), "MP3", audio.mp3, "kbps"), rates=audio.MP3_KBPS),
    _sound("aac", (64, 32, 16), "kbit/s", (8, 96), "AAC", audio.aac, "kbps"),
    _sound("opus", (32, 16, 8), "kbit/s", (6, 256), "Opus", audio.opus, "kbps"),
    _line("telephone", "300 to 3400 Hz, G.711", audio.telephone),
    _line("g722", "wide-band telephony", audio.g722),
    _sound("pink_noise", (30.0, 20.0, 10.0), "dB SNR", (-20, 80), "Gaussian, pink", _PINK, "snr_db"),
    _sound("reverberation", (0.2, 0.4, 0.8), "decay, s", (0.05, 10), "a room, 6 dB under the voice", _ROOM, "decay_s"),
    _sound("low_pass", (6000.0, 4000.0, 3000.0), "Hz", (50, 7800), "nothing above", audio.low_pass, "cutoff_hz"),
    _sound("clip", (0.002, 0.01, 0.05), "share of samples", (0.0001, 0.5), "overdriven", audio.clip, "fraction"),
    _sound("convolutive", (20.0, 10.0, 5.0), "dB below", (0, 60), _BENT, rawboost.convolutive, "below_db"),
    _sound("impulsive", (0.01, 0.05, 0.1), "share of samples", (0.0001, 1), _HIT, rawboost.impulsive, "share"),
    _sound("coloured", (40.0, 25.0, 10.0), "dB SNR", (-20, 80), _NOTCHED, rawboost.coloured, "snr_db"),
    _sound(
        "rawboost", (0.2, 0.5, 1.0), "of the whole range", (0, 1), "the last three in turn", rawboost.series, "strength"
    ),
)
_CRF, _SCALE = (23, 28, 33, 38, 43), (0.75, 0.5, 0.25)
_VIDEO = (
    Degradation("video", "crf", _CRF, "CRF of x264", (0, 51), "compressed again", encode=lambda s: {"crf": float(s)}),
    Degradation(
        "video",
        "scale",
        _SCALE,
        "factor",
        (0.01, 0.99),
        "scaled down, compressed at CRF 18",
        encode=lambda s: {"factor": float(s)},
    ),
)
# No two share a name, whatever their kind, so that a table of scores says by itself what was done.
_ALL = {(entry.kind, entry.name): entry for entry in (*_IMAGES, *_AUDIO, *_VIDEO)}


def names(kind: str) -> tuple[str, ...]:
    """Return the names of the degradations of pictures, sound or videos."""
    _known(kind)
    return tuple(name for of, name in _ALL if of == kind)


def find(kind: str, name: str) -> Degradation:
    """Return a degradation.

    Raises
    ------
    UsageError
        There is none of that kind and name; the sentence lists those that there are.
    """
    _known(kind)
    if (kind, name) not in _ALL:
        others = [of for of in KINDS if of != kind and (of, name) in _ALL]
        hint = f" ({name} is for {' and '.join(others)})" if others else ""
        raise UsageError(
            f"no degradation of {kind} files is called {name!r}{hint}; there are: {', '.join(names(kind))}"
        )
    return _ALL[kind, name]  # type: ignore[index]


def grid(
    kind: str, chosen: Iterable[str] | Mapping[str, Iterable[Strength]] | None = None
) -> list[tuple[str, Strength, Callable[..., Any]]]:
    """Return ``(name, strength, function)`` for each degradation and strength, mild ones first.

    Parameters
    ----------
    kind
        ``"image"``, ``"audio"`` or ``"video"``.
    chosen
        Names, for their own strengths, or ``{"jpeg": [90, 70]}``; all by default. ``"none"`` is left out.

    Raises
    ------
    UsageError
        A name or a strength is none of those, or where a list is due there is none.

    Examples
    --------
    >>> [(name, strength) for name, strength, _ in grid("audio", {"mp3": [48], "telephone": [None]})]
    [('mp3', 48), ('telephone', None)]
    """
    if chosen is not None and not _is_list(chosen):
        raise UsageError(f"degradations are a list of names: write [{chosen!r}]")
    distinct = dict.fromkeys(names(kind) if chosen is None else chosen)
    cells = []
    for name in distinct:
        if name == "none":
            continue
        entry = find(kind, name)
        strengths = chosen[name] if isinstance(chosen, Mapping) else None
        if strengths is not None and not _is_list(strengths):
            raise UsageError(f"strengths of {name} are a list: write {{{name!r}: [{strengths!r}]}}")
        for strength in entry.strengths if strengths is None else strengths:
            cells.append((name, strength, entry.at(strength)))
    return cells


def ordered(name: str, strengths: Iterable[float]) -> list[float]:
    """Return strengths from mild to severe, by what the name means; of unknown names, ascending."""
    known = next((entry.strengths for (_, of), entry in _ALL.items() if of == name), ())
    falls = len(known) > 1 and (known[0] or 0) > (known[-1] or 0)
    return sorted(set(strengths), reverse=falls)


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _known(kind: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"there are degradations of {', '.join(KINDS)} files, not of {kind!r}")
