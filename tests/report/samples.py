"""What tasks hand over, with strings that files could hold to do harm."""

import base64
import io

import numpy as np
from PIL import Image

from forensix.metadata.facts import Fact, Node
from forensix.schema import (
    Attribution,
    AudioFeature,
    AudioFeatures,
    Claim,
    ClaimLists,
    DocumentDetails,
    FaceExplanation,
    FaceResult,
    ForensicResult,
    ImageExplanation,
    ImageResult,
    Segment,
    Speaker,
    Track,
    VoiceResult,
)
from forensix.tasks.evidence import (
    Basis,
    Bound,
    Bounds,
    Curve,
    FactList,
    Lineage,
    Outcome,
    Picture,
    Span,
    Stage,
    StructureMap,
    Table,
    Timeline,
)

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> "
    "\x1b[31m\x07 a\u202eb \u200b\udc80 [bold]x[/bold] {{ 7*7 }}"
)
"""Markup, attribute escapes, ANSI, bell, bidi override, zero width, lone surrogate, rich markup, template."""


PLACED = Fact(HOSTILE, HOSTILE, HOSTILE, 21)
RECORD = Fact("record", {HOSTILE: HOSTILE, "list": [{"a": HOSTILE}]}, "where")


def picture(format: str = "PNG", value: int = 0) -> str:
    """Return a small picture as a data URI."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), value, np.uint8)).save(buffer, format)
    return f"data:image/{format.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def face_outcome() -> Outcome:
    face = FaceExplanation(
        bbox=(1, 2, 30, 40),
        bbox_average_size=(29, 38),
        class_name="fake",
        class_probability=0.87,
        face=picture("JPEG", 10),
        face_heatmap=picture("JPEG", 200),
        frame_idx=12,
        frame_ms=400,
        id=1,
        tracks=(Track(bbox=(1, 2, 30, 40), frame_idx=12, frame_ms=400, frame_rate=30),),
    )
    return Outcome(
        FaceResult(class_name="fake", class_probability=0.87, manipulation_type="faceswap", explanation=(face,)),
        0.87,
        evidence=(
            Timeline(HOSTILE, 10.0, (Span(HOSTILE, 0, 4, HOSTILE, 0.9), Span("face 2", 5, 5.01, "", None))),
            Curve("Windows", (0.0, 1.0, 2.0, 3.0), (0.1, 0.9, float("nan"), 0.4), "time (s)", "score", 0.5),
            Curve("Nothing", (), (), "x", "y"),
        ),
        notes=(HOSTILE,),
        models=("face-model",),
        preview=picture("JPEG", 99),
        summary="Face 1 carries the score.",
    )


def image_outcome() -> Outcome:
    return Outcome(
        ImageResult(
            class_name="fake",
            class_probability=0.7,
            explanation=ImageExplanation(heatmap=picture("PNG", 50)),
            model_attribution="some-generator",
            model_attribution_probability=0.6,
            model_attributions=(Attribution(model="some-generator", probability=0.6),),
        ),
        0.7,
        evidence=(
            Picture(HOSTILE, "javascript:alert(1)", "not a picture"),
            Picture("Kept", picture("PNG", 60), HOSTILE),
        ),
    )


def voice_outcome() -> Outcome:
    feature = AudioFeature(
        is_outlier=True,
        lower_bound=1,
        upper_bound=2,
        min_value=0.5,
        max_value=3,
        mean_value=1.5,
        sample_value=900,
        num_real_samples=10,
        percentile_rank=100,
        unit=HOSTILE,
    )
    speaker = Speaker(
        class_name="fake",
        class_probability=0.9987,
        gender="unknown",
        speaker=HOSTILE,
        transcript=HOSTILE,
        segments=(Segment(start=0, end=2.5),),
        audio_features=AudioFeatures(**dict.fromkeys(AudioFeatures.model_fields, feature)),
    )
    result = VoiceResult(class_name="fake", class_probability=0.9987, transcript=HOSTILE, explanation=(speaker,))
    return Outcome(result, 0.9987)


def forensic_outcome() -> Outcome:
    def claim(text: str, *values: str) -> Claim:
        return Claim(claim=text, explanation=HOSTILE, type="software", user_category="editing", value=values)

    lists = ClaimLists(
        critical=(claim("Critical " + HOSTILE, "javascript:alert(1)", HOSTILE),),
        suspect=(claim("Suspect thing", *(str(i) for i in range(20))),),
        benign=(claim("Benign thing"),),
    )
    nested = Node(HOSTILE, 10, 50, HOSTILE, (Node("inner", 20, 10),))
    part = Stage(HOSTILE, steps=tuple(HOSTILE for _ in range(20)))
    stage = Stage(HOSTILE, ((HOSTILE, "critical"),), (("signed by", HOSTILE), (HOSTILE, "v")), (HOSTILE,), (part,))
    rows = (
        Bound("f0", "Hz", None, 80, 160, 60, 220, 120, None, False),
        Bound("jitter", "%", 0.1, 0.5, 2, 0.2, 3, 1, 1, True),
        Bound("shimmer", "%", 4, 3, 9, 2, 14, 6, 40, False),
    )
    return Outcome(
        ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={}),
        None,
        evidence=(
            Basis(
                lists.critical[0], ((PLACED, b"</pre><script>"), (RECORD, b""), (Fact("plain", HOSTILE, HOSTILE), b""))
            ),
            FactList((PLACED, RECORD)),
            Lineage(HOSTILE, HOSTILE, (stage,)),
            StructureMap("Pieces", 100, (nested, Node("tail", 90, 5)), ((22, HOSTILE),)),
            Table(HOSTILE, ("key", HOSTILE), ((HOSTILE, "v"),), folded=True),
            Bounds("Ranges", rows),
        ),
    )
