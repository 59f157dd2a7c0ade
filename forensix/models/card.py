"""The card of a model: everything needed to feed it, to read its outputs and to know how far to trust it."""

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from forensix.calibration import Calibration

Slot = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""What a component is for: a name of the entry points' group ``forensix.<slot>``."""
MARK_DIGITS = 16
"""A file's mark is so many first digits of its SHA-256."""
MOST_MARKS = 1000
"""A card keeps so many marks of files at most."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Output(_Record):
    """How the network's output vector is turned into one logit, higher for fake.

    ``labels`` name the outputs in order. With one output it is the logit itself (``fake=0``, ``real=None``) or, where
    it is higher for real (``fake=None``, ``real=0``), the logit turned round; with two, the logit is ``output[fake] -
    output[real]``. For classifiers that name classes (attribution, gender), both are ``None``.
    """

    labels: tuple[str, ...]
    fake: int | None = None
    real: int | None = None

    @model_validator(mode="after")
    def _of_labels(self) -> "Output":
        if any(at is not None and not 0 <= at < len(self.labels) for at in (self.fake, self.real)):
            raise ValueError(f"fake and real must be places of the {len(self.labels)} labels, counted from 0")
        return self


class TrainingSource(_Record):
    """One collection that training saw."""

    source: str
    label: str
    n: int
    licence: str


class Measurement(_Record):
    """One measured figure: what, on which data, how many, with a 95 % interval, by which command."""

    metric: str
    value: float
    interval: tuple[float, float] | None = None
    data: str
    n_real: int | None = None
    n_fake: int | None = None
    command: str

    @field_validator("interval", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        """An interval that could not be drawn is none: JSON has no NaN."""
        return None if value is not None and any(math.isnan(end) for end in value) else value


class Pooling(_Record):
    """How a face classifier's frames become a verdict, and which faces are judged at all.

    A face's logit is the mean of its frames' logits between the quantiles ``low`` and ``high``: 0.1 and 0.9 make a
    trimmed mean, 0.5 and 1 the mean of the higher half. A face that is smaller than ``min_face_px`` (mean of its boxes,
    the shorter side), whose crops carry less detail than ``min_detail`` (`forensix.faces.verdict.detail`) or that a
    video shows for less than ``min_seen_s`` is not judged. One of a picture that is smoother than ``min_texture``
    (`forensix.faces.verdict.texture`) is not called fake.
    """

    low: Annotated[float, Field(ge=0, lt=1)] = 0.5
    high: Annotated[float, Field(gt=0, le=1)] = 1.0
    min_face_px: Annotated[float, Field(ge=0)] = 48.0
    min_detail: Annotated[float, Field(ge=0)] = 0.1
    min_seen_s: Annotated[float, Field(ge=0)] = 0.4
    min_texture: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _in_order(self) -> "Pooling":
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
        return self


class DetailGap(_Record):
    """How much fine detail recorded faces in videos lack beside their surroundings (`forensix.faces.detail_gap`).

    A face that lacks more than nearly all of them is told of; no score is moved.
    """

    recorded: tuple[float, float, float, float]
    """Gaps of recorded faces: the least, the mean, the one that 5 % lie above, the greatest."""


class Steadiness(_Record):
    """What the score of a face of a video is raised or lowered by for how steady its fine detail is.

    A linear rule on the values of `forensix.faces.steadiness`, less their means and over their deviations; what lies
    further than `MOST` deviations away counts as that far. Its logit, kept within ``most_logit`` of 0, is added to the
    calibrated one of the crops, as independent evidence.
    """

    means: tuple[float, ...]
    deviations: tuple[Annotated[float, Field(gt=0)], ...]
    weights: tuple[float, ...]
    intercept: float
    most_logit: Annotated[float, Field(gt=0)]
    """A few dozen recorded faces cannot show that a made one is more likely by more than so much."""

    MOST: ClassVar[float] = 3.0

    def logit(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the logit of rows of values (..., n), one a row; NaN where one is."""
        z = (values - np.array(self.means)) / np.array(self.deviations)
        logits: NDArray[np.float64] = np.clip(z, -self.MOST, self.MOST) @ np.array(self.weights) + self.intercept
        return np.clip(logits, -self.most_logit, self.most_logit)

    @model_validator(mode="after")
    def _alike(self) -> "Steadiness":
        if not len(self.means) == len(self.deviations) == len(self.weights):
            raise ValueError("there must be as many means as deviations and weights")
        return self


class Fusion(_Record):
    """What another model says of the same picture, weighed into a detector's score (score-level fusion).

    To the detector's calibrated logit comes ``weight`` times that of the other: of the faces in a picture
    (`forensix.faces.verdict.file_logit`), or of the picture that faces lie in. Of a file without a face that can be
    judged a detector's score stands alone; so does what it says when it is called by itself.
    """

    model: str
    """Name of the other, with which the weight was fitted."""
    weight: Annotated[float, Field(ge=0)]
    video_weight: Annotated[float, Field(ge=0)] | None = None
    """The same for videos; ``None`` where they are judged alone."""

    def weight_of(self, kind: str) -> float | None:
        """Return the weight for a medium of a kind, such as ``"video"``; None where nothing is weighed in."""
        return self.video_weight if kind == "video" else self.weight


class Parts(_Record):
    """What a model that marks parts put into faces says of a face, beside the classifier's own score.

    A face may be made in either of two ways: as a whole, which the classifier tells, or in part, which the other does.
    The odds of each, times how common it is among made faces, add up (`forensix.tasks.parts`).
    """

    model: str
    share: Annotated[float, Field(gt=0, lt=1)]
    """Of made faces, before one was looked at, those that had a part put in."""

    def logit(self, whole: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logits of faces that were made in either way, from those of both ways.

        Examples
        --------
        >>> parts = Parts(model="forensix-face-regions", share=0.2)
        >>> parts.logit(np.array([0.0, -9.0, 3.0]), np.array([0.0, 3.0, -9.0])).round(2).tolist()
        [0.0, 1.39, 2.78]
        """
        either: NDArray[np.float64] = np.logaddexp(np.log1p(-self.share) + whole, np.log(self.share) + part)
        return either


FileName = Annotated[str, Field(pattern=r"^[^/\\]+$")]


class WeightsFile(_Record):
    """A file of weights that a model needs beside its own."""

    weights: FileName
    url: str
    sha256: str
    hash_from: Literal["file", "publisher", "others", "nobody"] = "publisher"


class Parity(_Record):
    """How far a port is from the authors' code, both with the same random weights and the same input."""

    error: float
    """Largest difference of the outputs, preprocessing included."""
    against: str
    """The code that it was compared with."""
    command: str = "python -m benchmarks.zoo_parity --authors DIR"


class ModelCard(_Record):
    """A model's record; stored as JSON beside its weights."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    component: Slot
    summary: str
    architecture: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """File in ``models/architectures`` whose ``build(**config)`` makes the network; ``onnx``: the weights hold it."""
    config: dict[str, Any] = {}
    preprocessing: dict[str, Any] = {}
    output: Output
    calibration: Calibration | None = None
    """Fitted on sources that training did not see; ``None`` for published checkpoints that come without one."""
    calibrated_on: str | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Scores at and above it are called fake, but those of videos that have bounds of their own."""
    inconclusive: tuple[float, float] | None = None
    """Scores strictly between these decide nothing: of every source held out of training at most 5 % of the real lie at
    or above the upper one, and at most 10 % of the fakes at or below the lower one. ``None`` where that was not
    measured; the wire's two classes follow from ``threshold`` alone. A bound at 0 or 1 is one beyond which nothing was
    shown to lie (`forensix.metrics.supported`)."""
    inconclusive_video: tuple[float, float] | None = None
    """The same for videos, of a model that judges pictures too; ``None`` where they have no bounds of their own. On the
    wire, too, videos are fake from the upper one on, and none is where that is 1."""
    judges: tuple[str, ...] = ()
    """For detectors of pictures: kinds (`forensix.synthetic.content.KINDS`) that no score decides or accuses otherwise,
    and that this one judges in pictures, as its bounds were measured on such."""
    fusion: Fusion | None = None
    """For detectors of pictures and of faces, in analyses. With it, bounds and threshold are of both together."""
    pooling: Pooling | None = None
    """For face classifiers; ``None`` stands for the defaults."""
    detail_gap: DetailGap | None = None
    """For face classifiers; ``None`` where nothing is told of fine detail."""
    steadiness: Steadiness | None = None
    """For face classifiers, in analyses of videos. With it, bounds of videos are of both together."""
    parts: Parts | None = None
    """For face classifiers, in analyses. With it, bounds are of both together."""
    trained_on: tuple[TrainingSource, ...] = ()
    trained_on_before: tuple[TrainingSource, ...] = ()
    """What the model saw that it was trained from, and those before that one."""
    measured: tuple[Measurement, ...] = ()
    limits: str
    """What the model is blind to, in a sentence or two."""
    licence: str
    paper: str | None = None
    seed: int | None = None
    command: str | None = None
    """The command that trained it."""
    version: str | None = None
    """The release of forensix that trained it."""
    manifest_sha256: str | None = None
    """Of the table of the dataset manifest that it was trained on, as CSV."""
    learnt_files: Annotated[tuple[str, ...], Field(repr=False)] = ()
    """Marks of the files that a model of one's own learnt from (`forensix.training.own.seen`); empty where not told."""
    stopping_files: Annotated[tuple[str, ...], Field(repr=False)] = ()
    """Marks of those that stopped its training."""
    calibration_files: Annotated[tuple[str, ...], Field(repr=False)] = ()
    """Marks of those that were held out: they calibrated it and set its threshold and bounds."""
    weights: FileName
    """File name of the weights: ``.safetensors``; ``.pth``, ``.pt``, ``.bin``, ``.h5`` or ``.onnx`` if published."""
    url: str | None = None
    """Where a published checkpoint is fetched from; ``None`` when it ships with the package."""
    sha256: str
    """Empty where nobody tells it: then the file that was pulled first is the one."""
    hash_from: Literal["file", "publisher", "others", "nobody"] = "file"
    """Who tells the hash: whoever made this card had the file; the publisher says so; only others do; nobody does."""
    base: WeightsFile | None = None
    """For a checkpoint that holds a head alone: the weights of what it sits on."""
    n_parameters: int | None = None
    published: str | None = None
    """A figure of the authors, and where it was read; not measured here."""
    parity: Parity | None = None
    """``None`` where the network is not a port, or it was not shown that the port does what the authors' code does."""

    @model_validator(mode="after")
    def _band_around_threshold(self) -> "ModelCard":
        if self.inconclusive is not None and not self.inconclusive[0] <= self.threshold <= self.inconclusive[1]:
            raise ValueError(f"the threshold {self.threshold} must lie in the inconclusive band {self.inconclusive}")
        for band in (self.inconclusive, self.inconclusive_video):
            if band is not None and not 0 <= band[0] <= band[1] <= 1:
                raise ValueError(f"the bounds of an inconclusive band must rise from 0 to 1: {band}")
        return self


def band_of(card: Any, kind: str | None) -> tuple[float, float] | None:
    """Return the bounds between which a card's scores decide nothing of a medium of a kind, such as ``"video"``.

    ``card`` may be anything, or nothing: what has no bounds has none.
    """
    own = getattr(card, "inconclusive_video", None) if kind == "video" else None
    band: tuple[float, float] | None = own or getattr(card, "inconclusive", None)
    return band
