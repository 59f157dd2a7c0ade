"""What there is to know of each task before it runs, said once: routes, client, report and evaluation loop over it.

An entry point of the group ``forensix.tasks`` names a `TaskDescription`, or merely the class of a task, which then goes
by its own ``name``, ``accepts`` and ``components``. Reading a description loads no network; loading the task does.
"""

import importlib
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, get_args

from forensix.errors import UsageError
from forensix.interpreter import entry_points
from forensix.schema import (
    FaceResult,
    ForensicResult,
    ImageResult,
    MediaKind,
    OtherResult,
    VoiceResult,
    WireModel,
)

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPTIONS = ("explain", "transcribe", "additional_info")


@dataclass(frozen=True)
class Verdict:
    """A verdict in words; ``tone`` picks colour and symbol, which never stand alone."""

    word: str
    tone: str
    """``fake``, ``suspect``, ``real``, ``unsure`` or ``none``."""
    meaning: str


@dataclass(frozen=True, eq=False)
class TaskDescription:
    """One task, as everything but its analysis needs to know it."""

    name: str
    accepts: frozenset[MediaKind]
    implementation: str | Callable[[], Any]
    """``"package.module:Class"``, imported when the task runs, or the class itself."""
    result: type[WireModel] = OtherResult
    title: str = ""
    subject: str = ""
    """What it judges, as a sentence about the whole file calls it: ``"the voice"``."""
    finding: str = ""
    """What ``fake`` means, as that sentence calls it: ``"a synthetic voice"``; ``{medium}`` in it stands for the kind
    of medium: a picture, a video, a recording or a document."""
    part_finding: str = ""
    """The same where only a part is said to be fake; its verdict is the one named ``part``."""
    event: str = ""
    """Name of the webhook event; by default that of the task and ``_complete``."""
    options: tuple[str, ...] = ("explain",)
    """Fields of a creation beside ``file`` and ``url``, of ``explain``, ``transcribe`` and ``additional_info``."""
    has_preview: bool = False
    examines_broken: bool = False
    """Whether it examines the file itself: also one that holds nothing to decode, and none that forensix wrote."""
    deciding_slot: str | None = None
    """The slot whose component gives the score; its card has the threshold and the bounds of ``inconclusive``."""
    gives_score: bool = True
    reads_origin: bool = False
    """Whether the score also rests on what the file says of itself, which degraded copies say no more."""
    metrics: tuple[str, ...] = ()
    """Metrics of an evaluation beside those of every task."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdict in words by ``class_name``."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """What each slot is for, in a few words."""
    upload: str = ""
    """What a creation takes as ``file``, in words; by default ``accepts``."""
    explains: str = "also give evidence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name.replace("_", " ").capitalize())
        object.__setattr__(self, "subject", self.subject or self.title)
        object.__setattr__(self, "finding", self.finding or f"fake by {self.title}")
        object.__setattr__(self, "event", self.event or f"{self.name}_complete")
        object.__setattr__(self, "upload", self.upload or " or ".join(sorted(self.accepts)))

    @property
    def scale(self) -> tuple[str, str]:
        """What a score of 0 and one of 1 mean, in the words of the verdicts."""
        words = [self.verdicts[name].word if name in self.verdicts else name for name in ("real", "fake")]
        return words[0].lower(), words[1].lower()

    def load(self) -> Any:
        """Return the task, ready to run; what it needs is imported now."""
        if not isinstance(self.implementation, str):
            return self.implementation()
        module, _, name = self.implementation.partition(":")
        return getattr(importlib.import_module(module), name)()


FACE_MANIPULATION = TaskDescription(
    name="face_manipulation",
    accepts=frozenset({"image", "video"}),
    implementation="forensix.tasks.face_manipulation:FaceManipulation",
    result=FaceResult,
    subject="the face",
    finding="a manipulated or generated face",
    event="face_manipulation_analysis_complete",
    has_preview=True,
    deciding_slot="face_classifier",
    verdicts={
        "fake": Verdict("Looks manipulated", "fake", "at least one face is judged to be manipulated or generated"),
        "real": Verdict("Looks untouched", "real", "no face is judged to be manipulated"),
        "no_faces": Verdict("No faces", "none", "nothing to judge"),
    },
    slots={"face_classifier": "faces", "face_detector": "finder of faces", "face_regions": "regions of faces"},
    upload="image or video",
    explains="explanation is available only if predicted fake",
)
AI_GENERATED_IMAGE_DETECTION = TaskDescription(
    name="ai_generated_image_detection",
    accepts=frozenset({"image", "video"}),
    implementation="forensix.tasks.ai_generated_image_detection:GeneratedImageDetection",
    result=ImageResult,
    title="AI-generated picture",
    subject="the picture",
    finding="a {medium} made by a generator",
    part_finding="a {medium} of which a generator made or changed a part",
    event="ai_generated_image_detection_analysis_complete",
    deciding_slot="image_detector",
    reads_origin=True,
    verdicts={
        "fake": Verdict("Looks generated", "fake", "judged to be made by a generator"),
        "part": Verdict("Partly generated", "fake", "the file says so of a part, not of the whole"),
        "real": Verdict("Looks photographed", "real", "not judged to be made by a generator"),
    },
    slots={
        "image_detector": "generated or not",
        "attribution": "which generator",
        "watermark": "invisible watermark",
    },
    upload="image or video",
    explains="available only for some generator classes and if predicted fake",
)
VOICE_ANALYSIS = TaskDescription(
    name="voice_analysis",
    accepts=frozenset({"audio", "video"}),
    implementation="forensix.tasks.voice_analysis:VoiceAnalysis",
    result=VoiceResult,
    title="Voice",
    subject="the voice",
    finding="a synthetic voice",
    options=("explain", "transcribe"),
    deciding_slot="spoof",
    metrics=("min_dcf", "act_dcf"),
    verdicts={
        "fake": Verdict("Sounds synthetic", "fake", "at least one voice is judged to be synthetic"),
        "real": Verdict("Sounds recorded", "real", "no voice is judged to be synthetic"),
        "no_speech": Verdict("No speech", "none", "nothing to judge"),
    },
    slots={
        "spoof": "synthetic voice",
        "gender": "gender of a voice",
        "speech_activity": "finder of speech",
        "diarisation": "who speaks when",
        "voice_watermark": "watermark of a voice",
    },
    upload="audio",
    explains="also give the speakers",
)
FORENSIC_ANALYSIS = TaskDescription(
    name="forensic_analysis",
    accepts=frozenset({"image", "video", "pdf", "audio"}),
    implementation="forensix.tasks.forensic_analysis:ForensicAnalysis",
    result=ForensicResult,
    title="File forensics",
    subject="the file",
    options=("additional_info",),
    examines_broken=True,
    gives_score=False,
    upload="image, video, pdf or audio",
)
SPECIFIED = (FACE_MANIPULATION, AI_GENERATED_IMAGE_DETECTION, VOICE_ANALYSIS, FORENSIC_ANALYSIS)
"""The tasks of the specification, in its order."""
OTHER_EVENTS = (
    "data_extraction_analysis_complete",
    "face_matching_analysis_complete",
    "id_document_authentication_analysis_complete",
    "liveness_detection_analysis_complete",
)
"""Names of the specification's events that no task here has."""


@cache
def entries() -> dict[str, EntryPoint]:
    """Return what installed packages offer, by task: the specification's in its order, then those of other packages."""
    by_name = entry_points("forensix.tasks")
    specified = [task.name for task in SPECIFIED if task.name in by_name]
    return {name: by_name[name] for name in (*specified, *sorted(set(by_name) - set(specified)))}


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks: the specification's in its order, then those of other packages."""
    return tuple(task.name for task in descriptions())


def descriptions() -> tuple[TaskDescription, ...]:
    """Return what there is to know of all tasks, in the order of `task_names`.

    A task of another package that cannot be described is left out, and a warning says why.
    """
    found, reasons = _sorted_out()
    for reason in reasons.values():
        leave_out(reason)
    return found


def left_out() -> dict[str, str]:
    """Return why tasks of other packages are left out, by their names."""
    return _sorted_out()[1]


def _sorted_out() -> tuple[tuple[TaskDescription, ...], dict[str, str]]:
    by_event: dict[str, TaskDescription] = {}
    reasons: dict[str, str] = {}
    for name in entries():
        try:
            task = describe(name)
        except UsageError as error:
            reasons[name] = str(error)
        else:
            if by_event.setdefault(task.event, task) is not task:
                reasons[name] = str(unusable(name, f"{task.event} is the event of {by_event[task.event].name}"))
    return tuple(by_event.values()), reasons


@cache
def leave_out(reason: str) -> None:
    """Warn, once, of a task that nobody asked for."""
    _LOG.warning("left out: %s", reason)


def check_name(name: str) -> None:
    """Raise `UsageError` unless a task has that name; where its package is broken the error says so."""
    if name not in tuple(entries()):
        raise UsageError(f"there is no task named {name!r}; there are: {', '.join(task_names())}")
    describe(name)


def describe(name: str) -> TaskDescription:
    """Return what there is to know of a task; of one that no package here offers, what follows from its name.

    Raises
    ------
    UsageError
        The package that offers it cannot be loaded, or describes no task.
    """
    if name not in entries():
        return TaskDescription(name, frozenset(), name)
    described = _described(entries()[name])
    if isinstance(described, UsageError):
        raise UsageError(str(described)) from described.__cause__
    return described


@cache
def _described(entry: EntryPoint) -> TaskDescription | UsageError:
    try:
        loaded: Any = entry.load()
        description = getattr(loaded, "description", loaded)
        if not isinstance(description, TaskDescription):
            if not hasattr(loaded, "run"):
                return unusable(
                    entry.name, f"{type(loaded).__name__} is neither a TaskDescription nor the class of a task"
                )
            slots = iter(loaded.components)
            description = TaskDescription(entry.name, loaded.accepts, loaded, deciding_slot=next(slots, None))
        wrong = _wrong(description, entry.name)
    except (Exception, SystemExit) as error:
        return unusable(entry.name, error)
    return unusable(entry.name, wrong) if wrong else description


def _wrong(task: TaskDescription, name: str) -> str:
    """Return what is wrong with the description that a package has under a name; nothing where all is well."""
    if not _NAME.fullmatch(name):
        return "a name is small letters, digits and underscores, and begins with a letter"
    if task.name != name:
        return f"its description is that of {task.name!r}"
    if unknown := sorted(set(task.options) - set(_OPTIONS)):
        return f"there is no option {unknown[0]!r}; there are: {', '.join(_OPTIONS)}"
    if unknown := sorted(set(task.accepts) - set(get_args(MediaKind))):
        return f"there is no kind {unknown[0]!r} of medium; there are: {', '.join(get_args(MediaKind))}"
    if not issubclass(task.result, WireModel):
        return f"its result must be a forensix.schema.WireModel, not {task.result.__name__}"
    if not _NAME.fullmatch(task.event):
        return f"the name of an event is small letters, digits and underscores: got {task.event!r}"
    if task not in SPECIFIED and task.event in {*(other.event for other in SPECIFIED), *OTHER_EVENTS}:
        return f"{task.event} is an event of the specification"
    return ""


def unusable(name: str, why: str | BaseException) -> UsageError:
    """Return the error of a task that cannot be had, with the package that offers it."""
    entry = entries()[name]
    reason = why if isinstance(why, str) else f"{type(why).__name__}: {why}".removesuffix(": ")
    package = f" of {entry.dist.name}" if entry.dist else ""
    error = UsageError(f"the task {name} ({entry.value}{package}) cannot be loaded: {reason}")
    error.__cause__ = why if isinstance(why, BaseException) else None
    return error
