"""The application: routes, refusals, and what they share. It stores and queues; analysing is the workers' business."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import Route

from forensix.schema import SPEC_VERSION
from forensix.service.api import openapi
from forensix.service.api.context import Context
from forensix.service.api.middleware import RequestMiddleware, refused
from forensix.service.api.routes import operations, tasks, tokens, webhooks
from forensix.service.data import accounts
from forensix.service.errors import Refusal, not_found
from forensix.service.settings import Settings
from forensix.tasks.catalogue import task_names

_ROUTES = (tokens, tasks, webhooks, operations)
_ABOUT = "Analyses media for AI manipulation or generation. Results by polling or, better, by webhook."


def create_app(settings: Settings) -> FastAPI:
    """Return the application; the database must have been migrated."""
    context = Context(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await context.run(accounts.warm_up)
        yield
        await context.settle()
        context.close()

    app = FastAPI(
        title="Deepfake and Media-Forensics Analysis Service",
        version=SPEC_VERSION,
        description=_ABOUT,
        lifespan=lifespan,
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        exception_handlers={Refusal: _refuse, HTTPException: _refuse_path},
    )
    app.state.context = context
    app.add_middleware(RequestMiddleware, context=context)
    for module in _ROUTES:
        app.include_router(module.router)

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            document_of_routes = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                separate_input_output_schemas=False,
            )
            app.openapi_schema = openapi.finish(document_of_routes)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
    return app


async def _refuse(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return refused(refusal, Context.of(request))


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return what a path can be asked; the router itself names the methods of its first match only."""
    every = [*app.routes, *(route for module in _ROUTES for route in module.router.routes)]
    routes = [route for route in every if isinstance(route, Route)]
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def _refuse_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = ", ".join(_methods(request.app, request.url.path))
        refusal = Refusal(405, "method_not_allowed", f"this path takes {allowed} only", {"Allow": allowed})
    elif error.status_code == 404:
        tasks = ", ".join(task_names())
        refusal = not_found(f"there is no such path; tasks are {tasks}")
    else:
        refusal = Refusal(error.status_code, "bad_form", "the request cannot be understood")
    return await _refuse(request, refusal)
