"""A workshop: a service and its workers without a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    actual = Workshop(tmp_path)
    yield actual
    actual.close()
