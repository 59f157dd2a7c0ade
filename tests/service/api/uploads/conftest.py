"""A service of small uploads."""

from collections.abc import Iterator

import pytest

from tests.service.api.uploads.bodies import LIMIT
from tests.service.in_process import Account, Api, running_api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running_api(tmp_path_factory.mktemp("home"), max_upload_bytes=LIMIT) as running:
        yield running


@pytest.fixture(scope="module")
def account(api: Api) -> Account:
    return api.account()
