"""What the tests of the service share."""

from collections.abc import Iterator

import pytest

from tests.service.in_process import Api, running_api
from tests.service.running import Service, serving


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one worker, which all tests of a session share: only what an account sees is a test's own."""
    with serving(tmp_path_factory.mktemp("home"), account_rate=0, webhook_backoff_s=0.2) as running:
        yield running


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The API without workers, which all tests of a module share."""
    with running_api(tmp_path_factory.mktemp("home")) as running:
        yield running
