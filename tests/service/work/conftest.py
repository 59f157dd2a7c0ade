"""A receiver of webhooks."""

from collections.abc import Iterator

import pytest

from tests.service.running import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as actual:
        yield actual
