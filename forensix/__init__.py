"""forensix tells whether a video, picture, recording or PDF was manipulated or generated, and shows why.

>>> import forensix
>>> picture = forensix.small.folder("images") / "photographed-0.jpg"
>>> report = forensix.analyze(picture, tasks=["forensic_analysis"])
>>> report.headline
'Nothing in the file points to a fake, which is no proof of authenticity.'

Importing is free: nothing heavy is loaded before it is used.
"""

from typing import TYPE_CHECKING

import lazy_loader

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "ForensixError",
    "Manifest",
    "Report",
    "__version__",
    "analyze",
    "analyze_many",
    "combine",
    "evaluate",
    "explore",
    "list_models",
    "load_detector",
    "load_model",
    "open_media",
    "small",
    "train",
]

if TYPE_CHECKING:
    from forensix import small
    from forensix.analysis import analyze
    from forensix.batch import analyze_many
    from forensix.errors import ForensixError
    from forensix.evaluation import Evaluation, evaluate
    from forensix.explorer import explore
    from forensix.manifest import Manifest
    from forensix.media import open_media
    from forensix.models import list_models, load_detector, load_model
    from forensix.report import Report
    from forensix.training.own.combine import combine
    from forensix.training.own.run import train

__getattr__, _, _ = lazy_loader.attach(
    __name__,
    submodules={"small"},
    submod_attrs={
        "analysis": ["analyze"],
        "batch": ["analyze_many"],
        "errors": ["ForensixError"],
        "evaluation": ["Evaluation", "evaluate"],
        "explorer": ["explore"],
        "manifest": ["Manifest"],
        "media": ["open_media"],
        "models": ["list_models", "load_detector", "load_model"],
        "report": ["Report"],
        "training.own.combine": ["combine"],
        "training.own.run": ["train"],
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
