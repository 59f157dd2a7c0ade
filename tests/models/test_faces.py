"""The network of forensix-face: what it reads of which part of its input."""

import pytest
import torch

from forensix.models.architectures.faces import (
    FACE,
    FACE_FAINT,
    FAINT,
    HALVES,
    MIDDLE,
    N_STATISTICS,
    FaceStages,
    ellipse,
)

SIDE_PX = 96


@pytest.fixture(scope="module")
def network() -> FaceStages:
    torch.manual_seed(0)
    return FaceStages().eval()


def test_parts_are_told_apart_and_none_is_left_out(network: FaceStages) -> None:
    with torch.inference_mode():
        statistics = network.statistics(torch.rand(2, 3, SIDE_PX, SIDE_PX) * 2 - 1)
        logits = network(torch.rand(2, 3, SIDE_PX, SIDE_PX) * 2 - 1)
    assert statistics.shape == (2, N_STATISTICS) and logits.shape == (2, 2)
    assert HALVES.start == 0 and FACE_FAINT.stop == N_STATISTICS
    inside = ellipse(torch.zeros(1, 1, SIDE_PX, SIDE_PX))[0, 0]
    assert inside[round(MIDDLE[1] * SIDE_PX), round(MIDDLE[0] * SIDE_PX)] and not inside[0].any()


def test_faint_detail_of_the_face_shows_in_the_statistics_of_its_part(network: FaceStages) -> None:
    flat = torch.full((1, 3, SIDE_PX, SIDE_PX), 0.2)
    inside = ellipse(flat)
    # Far from the rim of the ellipse, as places of a stage see beyond their own cell.
    around = torch.zeros_like(flat)
    around[:, :, :8] = 1e-3 * torch.randn(1, 3, 8, SIDE_PX)
    within = torch.zeros_like(flat)
    within[:, :, 44:56, 42:54] = 1e-3 * torch.randn(1, 3, 12, 12)
    assert inside[0, 0, 44:56, 42:54].all()
    with torch.inference_mode():
        without, by_face, by_rim = (network.statistics(x)[0] for x in (flat, flat + within, flat + around))
    face, surroundings = (by_face - without)[FACE_FAINT].abs().chunk(2)
    assert face.max() > 2 * surroundings.max()
    face, surroundings = (by_rim - without)[FACE_FAINT].abs().chunk(2)
    assert surroundings.max() > 2 * face.max()
    # So faint that the input as it is hardly tells of it.
    assert (by_face - without)[FAINT].abs().max() > 5 * (by_face - without)[FACE].abs().max()
