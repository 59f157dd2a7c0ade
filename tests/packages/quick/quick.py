"""A whole task of another package: described once, it gets its route, event, report section and evaluation."""

from typing import Literal

from forensix.media import Media
from forensix.schema import Probability, WireModel
from forensix.tasks import Options, Outcome, TaskDescription, Verdict
from forensix.tasks.evidence import Table
from forensix.tasks.task import component, component_label


class QuickResult(WireModel):
    """What it says of a picture."""

    class_name: Literal["real", "fake"]
    class_probability: Probability | None = None
    smoothness: float


class Quick:
    """Scores a picture with one component that loads no network."""

    name = "quick"
    accepts = frozenset({"image"})
    components = {"image_detector": "sharpness"}

    def run(self, media: Media, options: Options) -> Outcome:
        """Return what the component says."""
        chosen = component(self, "image_detector", options)
        score = float(chosen.score(media.image()))
        fake = score >= 0.5
        result = QuickResult(
            class_name="fake" if fake else "real", class_probability=min(score, 1.0) if fake else None, smoothness=score
        )
        measured = (Table("Smoothness", ("measured",), ((f"{score:.2f}",),)),) if options.explain else ()
        return Outcome(result, score, evidence=measured, models=(component_label(chosen),))


QUICK = TaskDescription(
    name="quick",
    accepts=Quick.accepts,
    implementation=Quick,
    result=QuickResult,
    title="Smoothness",
    event="quick_look_complete",
    deciding_slot="image_detector",
    verdicts={"fake": Verdict("Too smooth", "fake", "smoother than photographs are")},
)
