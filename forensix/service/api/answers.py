"""Answers: JSON with ``success``, and ids from paths looked at before a database sees them."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from forensix.service.encoding import json_bytes
from forensix.service.errors import not_found

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class PlainRoute(APIRoute):
    """A route whose function takes the request as it is: FastAPI describes it, and does nothing else with it."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return the function itself."""
        return self.endpoint


def answer(fields: dict[str, Any], status: int = 200) -> Response:
    """Return fields as JSON, with ``success`` true."""
    return Response(json_bytes({**fields, "success": True}), status, media_type="application/json")


def path_id(request: Request, what: str) -> str:
    """Return the id in the path.

    Raises
    ------
    Refusal
        404: it has a form that no id has.
    """
    value: str = request.path_params["id"]
    if not _ID.fullmatch(value):
        raise not_found(f"there is no such {what}")
    return value
