"""Pictures that a generator made: pixel evidence, the generator's name, and marks in the file.

from forensix.synthetic import forensix_image, forensix_attribution
detector = forensix_image()
detector.score(rgb)      # calibrated, [0, 1], higher is more likely generated
detector.heatmap(rgb)    # (H, W), where in the picture
forensix_attribution().attribute(rgb)   # (("flux", 0.4), ("unknown", 0.2), ...)
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.synthetic.attribution import Attributor, forensix_attribution
    from forensix.synthetic.detector import ImageDetector, aggregate_frames, forensix_image

__all__ = ["Attributor", "ImageDetector", "aggregate_frames", "forensix_attribution", "forensix_image"]

# torch is only imported when a model is asked for.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "attribution": ["Attributor", "forensix_attribution"],
        "detector": ["ImageDetector", "aggregate_frames", "forensix_image"],
    },
)
