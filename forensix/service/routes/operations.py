"""What operators and their tools ask: is it alive, can it work, what is it doing. No authentication, no secrets."""

import asyncio

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response

from forensix.service.answers import PlainRoute, answer
from forensix.service.context import Context
from forensix.service.errors import unavailable

router = APIRouter(include_in_schema=False, route_class=PlainRoute)

_READY_S = 5.0


@router.get("/healthz")
async def healthz(_request: Request) -> Response:
    """Say that the process answers."""
    return answer({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Say whether tasks can be taken on: the database and the storage answer."""
    context = Context.of(request)
    for what, check in (("database", _check_database), ("storage", _check_storage)):
        try:
            async with asyncio.timeout(_READY_S):
                ready = await context.run(check, context)
        except TimeoutError:
            ready = False
        if not ready:
            raise unavailable(what)
    return answer({"status": "ready"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return what Prometheus reads."""
    context = Context.of(request)
    page = await context.run(context.metrics.page, context.database)
    return Response(page, media_type="text/plain; version=1.0.0; charset=utf-8")


def _check_database(context: Context) -> bool:
    with context.database.read() as connection:
        return bool(connection.scalar(sa.text("SELECT 1")) == 1)


def _check_storage(context: Context) -> bool:
    return context.storage.ready()
