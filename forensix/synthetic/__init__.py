"""Pictures that a generator made: pixel evidence, the generator's name, and marks in the file.

from forensix.synthetic import forensix_image, forensix_attribution
detector = forensix_image()
detector.score(rgb)      # calibrated, [0, 1], higher is more likely generated
detector.heatmap(rgb)    # (H, W), where in the picture
forensix_attribution().attribute(rgb)   # (("flux", 0.4), ("unknown", 0.2), ...)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensix.synthetic.attribution import Attributor, forensix_attribution
    from forensix.synthetic.detector import ImageDetector, aggregate_frames, forensix_image

__all__ = ["Attributor", "ImageDetector", "aggregate_frames", "forensix_attribution", "forensix_image"]


def __getattr__(name: str) -> Any:
    # torch is only imported when a model is asked for.
    if name in ("Attributor", "forensix_attribution"):
        from forensix.synthetic import attribution

        return getattr(attribution, name)
    if name in ("ImageDetector", "aggregate_frames", "forensix_image"):
        from forensix.synthetic import detector

        return getattr(detector, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
