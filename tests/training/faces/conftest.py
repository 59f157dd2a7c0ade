"""What the tests of training on faces share."""

import pytest

from forensix.training.faces import figures


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the sources of a card's intervals a few times: how wide they are is no matter here."""
    monkeypatch.setattr(figures, "DRAWS", 20)
