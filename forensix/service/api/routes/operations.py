"""What operators and their tools ask: is it alive, can it work, what is it doing. No authentication, no secrets."""

from fastapi import APIRouter, Request, Response

from forensix.service.api.answers import PlainRoute, answer
from forensix.service.api.context import Context
from forensix.service.errors import unavailable

router = APIRouter(include_in_schema=False, route_class=PlainRoute)


@router.get("/healthz")
async def healthz(_request: Request) -> Response:
    """Say that the process answers."""
    return answer({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Say whether tasks can be taken on: the database and the storage answer."""
    context = Context.of(request)
    for what, probe in context.readiness.items():
        if not await probe.ask():
            raise unavailable(what)
    return answer({"status": "ready"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return what Prometheus reads."""
    context = Context.of(request)
    page = await context.run(context.metrics.page, context.database)
    return Response(page, media_type="text/plain; version=1.0.0; charset=utf-8")
