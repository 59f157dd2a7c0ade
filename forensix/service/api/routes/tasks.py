"""Section 4.2: tasks, created and polled with a bearer token."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response

from forensix.service.api.answers import PlainRoute, answer, path_id
from forensix.service.api.context import Context
from forensix.service.api.creation import create_task
from forensix.service.api.forms import Form, check_length, read_form
from forensix.service.api.links import check_url
from forensix.service.api.openapi import BEARER, NewTask, operation, report_model, task_form
from forensix.service.api.uploads import Upload
from forensix.service.data.database import tasks
from forensix.service.data.reports import report_bytes
from forensix.service.errors import Refusal, busy, not_found
from forensix.tasks.catalogue import TaskDescription, descriptions

router = APIRouter(prefix="/tasks", tags=["tasks"], route_class=PlainRoute)

MAX_INFO = 10_000
MAX_UPLOADS = 256
"""Uploads that one process takes at a time: each holds a piece in memory and a file open."""
MAX_UPLOADS_OF_ACCOUNT = 128
"""Those of one account among them, so that nobody takes all the room."""

_POLLED = sa.select(
    *(tasks.c[name] for name in ("id", "task", "status", "error", "result", "preview", "additional_info"))
).where(*(tasks.c[name] == sa.bindparam(f"the_{name}") for name in ("id", "account_id", "task")))


def _creation(task: TaskDescription) -> Callable[[Request], Awaitable[Response]]:
    fields = frozenset({*task.options, "file", "url"})

    async def create(request: Request) -> Response:
        context = Context.of(request)
        bearer = await context.bearer_of_creation(request)
        check_length(request.headers, context.settings.max_upload_bytes)
        report_id = str(uuid.uuid4())

        def open_upload(name: str | None) -> Upload:
            max_bytes = context.settings.max_upload_bytes
            return Upload(context.storage, report_id, name, task=task, max_bytes=max_bytes)

        mine = bearer.account_id
        if context.uploads.total() >= MAX_UPLOADS:
            raise busy(f"{MAX_UPLOADS} uploads are arriving, which is as many as are taken at a time")
        if context.uploads[mine] >= MAX_UPLOADS_OF_ACCOUNT:
            raise busy(f"{MAX_UPLOADS_OF_ACCOUNT} of your uploads are arriving; wait for one of them to end")
        context.uploads[mine] += 1
        try:
            form = await read_form(request, fields, context.store, open_upload)
            try:
                row = _row(context, form, task) | {"id": report_id, "account_id": bearer.account_id}
                if form.upload is not None:
                    await asyncio.shield(context.store(form.upload.store))
            except BaseException:
                # A request that is ended while its upload is being stored included.
                if form.upload is not None:
                    with contextlib.suppress(Exception):
                        await asyncio.shield(context.store(form.upload.discard))
                raise
            # A client that goes away now has a task all the same.
            writing = context.run(create_task, context.database, context.queue, row, bearer.id, form.upload)
            await asyncio.shield(writing)
        finally:
            context.uploads[mine] -= 1
            if not context.uploads[mine]:
                del context.uploads[mine]
        context.count_creation()
        request.state.report_id = report_id
        context.metrics.created.labels(task.name).inc()
        if form.upload is not None:
            context.metrics.upload_bytes.inc(form.upload.size_bytes)
        return answer({"report_id": report_id})

    return create


def _row(context: Context, form: Form, task: TaskDescription) -> dict[str, Any]:
    url = (form.fields.get("url") or "").strip()
    if form.upload is None and not url:
        raise Refusal(400, "file_or_url_missing", "send the media as file, or its address as url: neither came")
    if form.upload is not None and url:
        raise Refusal(400, "file_and_url", "send either file or url: both came")
    return {
        "task": task.name,
        "status": "in_progress",
        "explain": form.boolean("explain", "explain" not in task.options),
        "transcribe": form.boolean("transcribe", True),
        "additional_info": form.text("additional_info", MAX_INFO),
        "url": check_url(url, context.settings.private_hosts) if url else None,
        "upload": form.upload.key if form.upload else None,
        "file_name": form.upload.name if form.upload else None,
        "created_at": time.time(),
        "attempts": 0,
    }


def _polling(task: str) -> Callable[[Request], Awaitable[Response]]:
    async def poll(request: Request) -> Response:
        context = Context.of(request)
        account = await context.account_by_token(request)
        report_id = path_id(request, "report")
        row = await context.run(_find, context, {"the_id": report_id, "the_account_id": account, "the_task": task})
        if row is None:
            raise not_found(f"there is no report of {task} with this id; reports are deleted after a while")
        return Response(report_bytes(row), media_type="application/json")

    return poll


def _find(context: Context, values: dict[str, str]) -> Any:
    with context.database.read() as connection:
        return connection.execute(_POLLED, values).mappings().first()


for _task in descriptions():
    router.post(
        f"/{_task.name}",
        name=f"create_{_task.name}",
        **operation(NewTask, BEARER, f"Create a task: {_task.name}", errors=[400, 413, 415], body=task_form(_task)),
    )(_creation(_task))
    router.get(
        f"/{_task.name}/{{id}}",
        name=f"get_{_task.name}",
        **operation(report_model(_task), BEARER, f"Get the report: {_task.name}", ids=["report"]),
    )(_polling(_task.name))
