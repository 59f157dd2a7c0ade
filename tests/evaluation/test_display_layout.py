"""No words of a display overlap or are cut off, however long and many they are."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forensix.evaluation.displays import (
    CalibrationDisplay,
    ConfusionDisplay,
    DetDisplay,
    PrecisionRecallDisplay,
    RobustnessDisplay,
    RocDisplay,
    ScoreDisplay,
)
from tests.evaluation.scored import degraded, scores

pytestmark = pytest.mark.usefixtures("no_window")

MADE = {
    "roc": lambda: RocDisplay.from_frame(pd.concat([scores(), scores("theirs", 1)]), n_bootstrap=20).plot(),
    "roc by generator": lambda: RocDisplay.from_frame(scores(), "generator", n_bootstrap=20).plot(log=True),
    "det": lambda: DetDisplay.from_frame(pd.concat([scores(), scores("theirs", 1)]), n_bootstrap=20).plot(),
    "precision and recall": lambda: PrecisionRecallDisplay.from_frame(scores(), "generator").plot(),
    "calibration": lambda: CalibrationDisplay.from_frame(pd.concat([scores(), scores("theirs", 1)])).plot(),
    "scores": lambda: ScoreDisplay.from_frame(scores()).plot(),
    "robustness": lambda: RobustnessDisplay.from_frame(degraded()).plot(),
    "robustness, costs": lambda: RobustnessDisplay.from_frame(degraded(), metric="min_dcf").plot(),
    "confusion": lambda: ConfusionDisplay.from_frame(
        scores().assign(score=lambda f: f["score"].where(f.index > 9))
    ).plot(),
    "confusion of verdicts": lambda: ConfusionDisplay.from_frame(
        scores().assign(
            score=lambda f: f["score"].where(f.index > 9), class_name="real", inconclusive=lambda f: f.index > 20
        ),
        verdicts=True,
    ).plot(),
    "perfect": lambda: DetDisplay.from_predictions([0, 0, 1], [0.1, 0.2, 0.9]).plot(),
}


@pytest.mark.parametrize("name", MADE)
def test_no_words_overlap_or_leave_the_picture(name: str) -> None:
    output = MADE[name]()
    output.figure_.canvas.draw()
    canvas = output.figure_.bbox
    boxes = []
    for ax in [output.ax_, *output.ax_.child_axes]:
        words = [*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label, *ax.texts]
        low, high = sorted(ax.get_xlim()), sorted(ax.get_ylim())
        for text in words:
            if text.get_visible() and text.get_text():
                x, y = text.get_position()
                ticks = text in ax.get_xticklabels(), text in ax.get_yticklabels()
                if (ticks[0] and not low[0] <= x <= low[1]) or (ticks[1] and not high[0] <= y <= high[1]):
                    continue
                boxes.append((text.get_text(), text.get_window_extent()))
    for text, box in boxes:
        assert canvas.x0 - 1 <= box.x0 and box.x1 <= canvas.x1 + 1, f"{text!r} is cut off"
        assert canvas.y0 - 1 <= box.y0 and box.y1 <= canvas.y1 + 1, f"{text!r} is cut off"
    for (first, a), (other, b) in itertools.combinations(boxes, 2):
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(overlap) <= 1, f"{first!r} and {other!r} overlap"


@pytest.mark.parametrize("name", MADE)
def test_nothing_is_cut_off_when_a_figure_is_saved_as_it_is(name: str) -> None:
    import matplotlib.pyplot as plt

    output = MADE[name]()
    for figure in (output.figure_, output.plot(ax=plt.subplots()[1]).figure_):
        figure.canvas.draw()
        drawn, (width_in, height_in) = figure.get_tightbbox(), figure.get_size_inches()
        assert drawn.x0 >= 0 and drawn.y0 >= 0 and drawn.x1 <= width_in and drawn.y1 <= height_in


LONG = ["wav2vec2_xlsr_aasist_distilled_2024_multilingual", "voice_outliers_reference_population_librispeech_clean"]


def generated(n: int) -> pd.DataFrame:
    frame = scores(n=20 * n)
    names = np.array([f"generator-{i:02d}-v{i % 4}.{i % 3}" for i in range(n)])[np.arange(len(frame)) % n]
    named = np.where(frame["label"] == "fake", names, "librispeech")
    return frame.assign(generator=np.where(frame["label"] == "fake", names, None), source=named)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("display", [RocDisplay, DetDisplay, PrecisionRecallDisplay, CalibrationDisplay])
def test_legends_cover_no_curve_and_are_saved_whole(display: Any, given: bool) -> None:
    import matplotlib.pyplot as plt

    two = pd.concat([scores(LONG[0]), scores(LONG[1], 1)])
    draws = {} if display is CalibrationDisplay else {"n_bootstrap": 20}
    many = (display.from_frame(generated(n), "generator", **draws) for n in (14, 60))
    for output in (display.from_frame(two, **draws), *many):
        ax = plt.subplots(figsize=(6, 6), layout="constrained")[1] if given else None
        output.plot(ax).figure_.canvas.draw()
        legend = output.ax_.get_legend()
        box, canvas, below = legend.get_window_extent(), output.figure_.bbox, output.ax_.xaxis.label.get_window_extent()
        assert len(legend.get_texts()) == len(output.curves)
        assert box.y1 <= below.y0 + 1, "the legend lies on the axes"
        assert canvas.x0 - 1 <= box.x0 and box.x1 <= canvas.x1 + 1 and canvas.y0 - 1 <= box.y0
        if not given:
            assert output.ax_.bbox.height > 0.6 * 3.2 * output.figure_.dpi, "the legend takes the curves' room"


@pytest.mark.parametrize("n", [14, 60])
def test_names_of_many_sources_do_not_touch(n: int) -> None:
    import matplotlib.pyplot as plt

    display = ScoreDisplay.from_frame(generated(n))
    for ax in (None, plt.subplots(figsize=(6, 3.6), layout="constrained")[1]):
        display.plot(ax).figure_.canvas.draw()
        boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
        assert len(boxes) == n + 1
        assert all(upper.y0 >= lower.y1 - 1 for upper, lower in itertools.pairwise(boxes))


def test_words_of_a_narrow_confusion_do_not_touch() -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots(figsize=(1.6, 2), layout="constrained")[1]
    ConfusionDisplay.from_frame(scores()).plot(ax).figure_.canvas.draw()
    left, right = (text.get_window_extent() for text in ax.get_xticklabels())
    assert left.x1 < right.x0
