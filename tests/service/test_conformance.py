"""A real running service against every operation and rule of the specification."""

from collections.abc import Iterator

import pytest

from tests.service.conformance import ROWS
from tests.service.conformance.live import Live, Row, living
from tests.service.running import Service


@pytest.fixture(scope="session")
def live(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with living(service, tmp_path_factory.mktemp("media")) as live:
        yield live


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if not row.thorough], ids=lambda row: f"{row.section} {row.rule}")
def test_rule(row: Row, live: Live) -> None:
    row.check(live)


def test_every_operation_has_rows() -> None:
    assert len({(row.section, row.rule) for row in ROWS}) == len(ROWS)
    assert len(ROWS) > 100
