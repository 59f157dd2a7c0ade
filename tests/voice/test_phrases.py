import numpy as np
import pytest

from forensix.voice.phrases import MOST_S, contrasts, inserted, phrases
from forensix.voice.speech import Segment, total_s


def test_short_pauses_stay_inside_a_phrase_and_long_ones_end_it() -> None:
    assert phrases([Segment(0, 1), Segment(1.3, 2), Segment(3, 3.2), Segment(5, 7)]) == (Segment(0, 2), Segment(5, 7))
    assert phrases([Segment(1, 1.3)]) == (Segment(1, 1.3),)


def test_long_speech_is_cut_at_its_longest_pause() -> None:
    speech = [Segment(0, 2), Segment(2.1, 3), Segment(3.4, 5), Segment(5.2, 6.5)]
    assert phrases(speech) == (Segment(0, 3), Segment(3.4, 6.5))


def test_speech_without_a_pause_is_cut_evenly_and_nothing_is_lost() -> None:
    pieces = phrases([Segment(2.0, 12.0)])
    assert len(pieces) == 3 and all(p.duration_s <= MOST_S for p in pieces)
    assert total_s(pieces) == pytest.approx(10.0)


def test_contrast_is_the_difference_of_means_by_its_deviation() -> None:
    values = contrasts([0.5, 0.5, 0.9, 0.5], [2, 1, 2, 3])
    assert values[2, 2] == values[np.isfinite(values)].max()
    assert values[2, 2] == pytest.approx(np.log(9) * np.sqrt(2 * 6 / 8))
    assert values[0, 3] == -np.inf and values[2, 1] == -np.inf


def test_a_synthetic_run_in_a_real_voice_is_found() -> None:
    scores = [0.05, 0.1, 0.05, 0.97, 0.99, 0.1, 0.02]
    assert inserted(scores, [3.0] * 7, 0.5) == range(3, 5)


@pytest.mark.parametrize(
    "scores",
    [
        [0.9],
        [0.1, 0.2, 0.1, 0.3],
        [0.9, 0.99, 0.95, 0.9],  # all of it is synthetic
        [0.4, 0.45, 0.6, 0.4],  # stands out, but is not synthetic by itself
    ],
)
def test_an_even_voice_has_nothing_inserted(scores: list[float]) -> None:
    assert inserted(scores, [3.0] * len(scores), 0.5) is None


def test_a_moment_is_too_short_to_be_one() -> None:
    assert inserted([0.05, 0.99, 0.05], [3.0, 0.6, 3.0], 0.5) is None
