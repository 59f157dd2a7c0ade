"""A task that asks one component for a score and does nothing else."""

from forensix.media import Media
from forensix.schema import ImageResult
from forensix.tasks import Options, Outcome
from forensix.tasks.task import component, component_label


class Quick:
    """Scores a picture."""

    name = "quick"
    accepts = frozenset({"image"})
    components = {"image_detector": "sharpness"}

    def run(self, media: Media, options: Options) -> Outcome:
        """Return what the component says."""
        chosen = component(self, "image_detector", options)
        score = chosen.score(media.image())
        fake = score >= 0.5
        result = ImageResult(class_name="fake" if fake else "real", class_probability=min(score, 1.0) if fake else None)
        return Outcome(result, score, models=(component_label(chosen),))
