"""Boxes with labels on pictures: every box is drawn, and of labels that would lie on each other the first."""

import numpy as np

from forensix.tasks.pictures import outlined

GREY = np.full((300, 400, 3), 120, np.uint8)
COLOURS = [(200, 0, 0), (0, 200, 0)]


def drawn(second_x: float, labels: list[str]) -> np.ndarray:
    boxes = np.array([[20.0, 60.0, 50.0, 100.0], [second_x, 60.0, second_x + 30, 100.0]])
    return outlined(GREY, boxes, labels, COLOURS)


def test_of_labels_that_would_overlap_the_first_is_kept() -> None:
    both = ["face 0: 0.93", "face 1: 0.51"]
    np.testing.assert_array_equal(drawn(60, both), drawn(60, [both[0], ""]))
    assert (drawn(60, both) != drawn(60, ["", both[1]])).any()
    assert (drawn(250, both) != drawn(250, [both[0], ""])).any(), "far apart, both are there"


def test_a_label_at_the_right_edge_is_whole() -> None:
    edge = drawn(365, ["", "face 1: 0.51"])
    middle = drawn(200, ["", "face 1: 0.51"])
    white = [(one == 255).all(axis=2).sum() for one in (edge, middle)]
    assert white[0] == white[1] > 0


def test_a_box_without_room_for_its_label_is_drawn_all_the_same() -> None:
    assert (drawn(60, ["face 0", "face 1"]) == COLOURS[1]).all(axis=2).any()


def test_labels_of_faces_side_by_side_in_a_wide_strip_can_be_read() -> None:
    boxes = np.array([[140.0 * i + 30, 40, 140.0 * i + 100, 120] for i in range(6)])
    strip, colours, text = np.full((145, 892, 3), 120, np.uint8), [COLOURS[1]] * 6, "face 1: 0.96"
    all_labels, one_label = (outlined(strip, boxes, labels, colours) for labels in ([text] * 6, [text] + [""] * 5))
    assert (all_labels == 255).all(axis=2).sum() == 6 * (one_label == 255).all(axis=2).sum() > 0
