"""The OpenAPI document: the specification's operations and no others, and absent fields that are absent, not null."""

from collections.abc import Iterator
from typing import Any

import pytest

from forensix.service.errors import SLUGS
from tests.service.in_process import Api


@pytest.fixture(scope="module")
def document(api: Api) -> dict[str, Any]:
    answer = api.client.get("/openapi.json")
    assert answer.status_code == 200
    actual: dict[str, Any] = answer.json()
    return actual


def test_nothing_may_be_null(document: dict[str, Any]) -> None:
    def walk(schema: Any, where: str) -> Iterator[str]:
        if isinstance(schema, dict):
            if schema.get("type") == "null" or ("default" in schema and schema["default"] is None):
                yield where
            for key, value in schema.items():
                yield from walk(value, f"{where}/{key}")
        elif isinstance(schema, list):
            for n, value in enumerate(schema):
                yield from walk(value, f"{where}/{n}")

    assert list(walk(document, "")) == []


def test_every_code_of_a_refusal_is_explained(document: dict[str, Any]) -> None:
    explained = document["components"]["schemas"]["Error"]["properties"]["code"]["description"]
    assert [slug for slug in SLUGS if f"`{slug}`: " not in explained] == []
