"""The result objects of the specification (version 2.40.6), one class each.

All are frozen. A field that is ``None`` is absent on the wire: ``to_wire()`` leaves it out. What the specification
says about absent fields (no probability when predicted real, no explanation without a face, ...) is enforced when an
object is made, so that no task can send what must not be sent.
"""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, model_validator

SPEC_VERSION = "2.40.6"

MediaKind = Literal["image", "video", "audio", "pdf"]

Status = Literal["in_progress", "completed", "failed"]
FaceClass = Literal["real", "fake", "no_faces"]
ImageClass = Literal["real", "fake"]
VoiceClass = Literal["real", "fake", "no_speech"]
ManipulationType = Literal["faceswap", "face_reenactment", "lipsync", "face_synthesis"]
Gender = Literal["male", "female", "unknown"]
Severity = Literal["critical", "suspect", "benign"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Gravest first."""

ClaimType = Literal[
    "ai_generated",  # the file names a generator, or its credentials say so
    "content_credentials",  # what a C2PA manifest says, and whether it holds
    "signature",  # digital signatures of documents
    "software",  # the program that wrote the file
    "screenshot",
    "dates",
    "versions",  # revisions, thumbnails, previews, editing history
    "encoding",  # how the samples, pixels or boxes were written
    "pixels",  # what the decoded pixels themselves show
    "security",  # passwords, scripts, embedded files
    "structure",  # malformed, truncated, data after the end
    "format",  # content against name or declared type
    "device",  # camera, serial number, lens
    "location",
    "metadata",  # stripped, or anything else the file says of itself
]
UserCategory = Literal["ai", "editing", "origin", "dates", "versions", "integrity", "security", "privacy"]
Source = Literal["physical", "screenshot", "software", "ai_generated", "unknown"]

RedFlag = Literal[
    "AI_GENERATED",
    "FILE_EDITED",
    "METADATA_ERROR",
    "SCREENSHOT_SOFTWARE",
    "SUSPECT_SOFTWARE",
    "SUSPECT_SOFTWARE_",
]

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
BBox = tuple[Number, Number, Number, Number]
"""``[x1, y1, x2, y2]`` in pixels of the original frame as players show it, top-left origin."""


class WireModel(BaseModel):
    """A frozen piece of a result; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object of the specification; absent fields are left out."""
        return self.model_dump(mode="json", exclude_none=True)


def _probability_iff_fake(class_name: str, probability: float | None) -> None:
    if (class_name == "fake") != (probability is not None):
        raise ValueError(f"class_probability belongs to fake and to nothing else: got {probability} for {class_name}")


class Track(WireModel):
    """One face in one frame of a video."""

    bbox: BBox
    frame_idx: int
    frame_ms: Number
    frame_rate: Number


class FaceExplanation(WireModel):
    """One face, followed over the frames it is seen in."""

    bbox: BBox
    bbox_average_size: tuple[Number, Number]
    class_name: FaceClass
    class_probability: Probability | None = None
    face: str
    face_heatmap: str
    frame_idx: int
    frame_ms: Number
    id: int
    tracks: tuple[Track, ...]

    @model_validator(mode="after")
    def _rules(self) -> Self:
        _probability_iff_fake(self.class_name, self.class_probability)
        return self


class FaceResult(WireModel):
    """Section 2.2."""

    class_name: FaceClass
    class_probability: Probability | None = None
    manipulation_type: ManipulationType | None = None
    explanation: tuple[FaceExplanation, ...] | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        _probability_iff_fake(self.class_name, self.class_probability)
        if self.class_name != "fake" and (self.manipulation_type or self.explanation is not None):
            raise ValueError("manipulation_type and explanation are sent for fake only")
        return self


class ImageExplanation(WireModel):
    """Pictures, as data URIs, that show what spoke for a generated image."""

    eye_mouth_overlays_image: str | None = None
    heatmap: str | None = None
    heatmap_object: str | None = None


class Attribution(WireModel):
    """One generator and its probability: by what the file names, or among the generators that the model knows."""

    model: Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")]
    probability: Probability


class ImageResult(WireModel):
    """Section 2.3."""

    class_name: ImageClass
    class_probability: Probability | None = None
    explanation: ImageExplanation | None = None
    model_attribution: Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")] | None = None
    model_attribution_probability: Probability | None = None
    model_attributions: tuple[Attribution, ...] | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        _probability_iff_fake(self.class_name, self.class_probability)
        fake_only = (self.explanation, self.model_attribution, self.model_attribution_probability)
        if self.class_name != "fake" and any(v is not None for v in (*fake_only, self.model_attributions)):
            raise ValueError("explanation and attributions are sent for fake only")
        return self


class AudioFeature(WireModel):
    """One acoustic feature of one speaker beside the reference population."""

    is_outlier: bool
    lower_bound: Number
    upper_bound: Number
    min_value: Number
    max_value: Number
    mean_value: Number
    sample_value: Number | None = None
    """Absent, like ``percentile_rank``, when it cannot be measured; it is then no outlier."""
    num_real_samples: int
    percentile_rank: Annotated[int, Field(ge=0, le=100)] | None = None
    unit: str


class AudioFeatures(WireModel):
    """The ten features of section 2.4, exactly these keys."""

    background_noise: AudioFeature
    f0: AudioFeature
    f1: AudioFeature
    f2: AudioFeature
    jitter: AudioFeature
    naturalness: AudioFeature
    pitch_consistency: AudioFeature
    shimmer: AudioFeature
    spectral_artifacts: AudioFeature
    temporal_patterns: AudioFeature


class Segment(WireModel):
    """A stretch of speech, in seconds from the start."""

    start: Number
    end: Number


class Speaker(WireModel):
    """One voice of a recording."""

    class_name: VoiceClass
    class_probability: Probability | None = None
    gender: Gender
    gender_probability: Probability | None = None
    speaker: str
    transcript: str | None = None
    segments: tuple[Segment, ...]
    audio_features: AudioFeatures | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        _probability_iff_fake(self.class_name, self.class_probability)
        return self


class VoiceResult(WireModel):
    """Section 2.4."""

    class_name: VoiceClass
    class_probability: Probability | None = None
    transcript: str | None = None
    explanation: tuple[Speaker, ...] | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        _probability_iff_fake(self.class_name, self.class_probability)
        if self.class_name == "no_speech" and self.explanation is not None:
            raise ValueError("explanation is left out when there is no speech")
        return self


class Claim(WireModel):
    """What follows from the facts that a file carries, for a person to check."""

    claim: str
    explanation: str
    type: ClaimType
    user_category: UserCategory
    value: tuple[str, ...]


class ClaimLists(WireModel):
    """Claims by severity; all three keys are always there."""

    critical: tuple[Claim, ...] = ()
    suspect: tuple[Claim, ...] = ()
    benign: tuple[Claim, ...] = ()


class DocumentDetails(WireModel):
    """Deprecated block of section 2.5, derived from the claims."""

    GPS_location: str | None = None
    digital_signature_by: str | None = None
    password_protected: bool | None = None
    source: Source | None = None


class ForensicResult(WireModel):
    """Section 2.5."""

    claim_lists: ClaimLists
    document_details: DocumentDetails
    red_flags: dict[RedFlag, str]
    trigger_values: dict[RedFlag, tuple[str, ...]]

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if set(self.red_flags) != set(self.trigger_values):
            raise ValueError("red_flags and trigger_values must have the same keys")
        return self


class OtherResult(WireModel):
    """The result of a task whose shape nobody described."""

    model_config = ConfigDict(frozen=True, extra="allow")


Result = FaceResult | ImageResult | VoiceResult | ForensicResult | SerializeAsAny[WireModel]
"""That of a task of the specification, or an object of another package's task."""


class TaskReport(WireModel):
    """Section 2.1: one task on one input, as polled and as delivered."""

    id: str
    status: Status
    event_type: str
    error: str | None = None
    result: Result | None = None
    preview: str | None = None
    additional_info: str | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if (self.status == "completed") != (self.result is not None):
            raise ValueError("result is there when, and only when, the status is completed")
        if (self.status == "failed") != (self.error is not None):
            raise ValueError("error is there when, and only when, the status is failed")
        return self
