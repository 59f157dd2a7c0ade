"""Section 4.3: webhooks, managed with a bearer token."""

import time
import uuid

import sqlalchemy as sa
from fastapi import APIRouter, Request, Response

from forensix.service.api.answers import PlainRoute, answer, path_id
from forensix.service.api.context import Context
from forensix.service.api.forms import read_form
from forensix.service.api.links import check_webhook
from forensix.service.api.openapi import BEARER, EVENT_NAMES, NewWebhook, Success, WebhookList, operation, webhook_form
from forensix.service.api.uploads import Upload
from forensix.service.data.database import tokens, webhooks
from forensix.service.data.tokens import LOCKED_ACCOUNT, Bearer
from forensix.service.errors import Refusal, bad_field, bad_token, not_found

router = APIRouter(prefix="/webhooks/{event}", tags=["webhooks"], route_class=PlainRoute)

# A token that is locked cannot be revoked before the transaction ends.
_TOKEN = sa.select(tokens.c.id).where(tokens.c.id == sa.bindparam("id")).with_for_update(read=True, key_share=True)


@router.post(
    "", **operation(NewWebhook, BEARER, "Register a URL", errors=[400, 413, 415], ids=["event"], body=webhook_form())
)
async def create_webhook(request: Request) -> Response:
    """Register a URL for an event; one that is registered already keeps its id."""
    context = Context.of(request)
    bearer = await context.bearer(request)
    event = _event(request)
    form = await read_form(request, frozenset({"url"}), context.run, _no_upload)
    url = form.text("url", 100_000)
    if not url or not url.strip():
        raise bad_field("send the URL that results are posted to as url")
    url = check_webhook(url, context.settings.private_hosts)
    return answer({"id": await context.run(_register, context, bearer, event, url)})


@router.get("", **operation(WebhookList, BEARER, "List the URLs", ids=["event"]))
async def list_webhooks(request: Request) -> Response:
    """Return the URLs that the account has registered for an event."""
    context = Context.of(request)
    account = await context.account_by_token(request)
    event = _event(request)
    return answer({"urls": await context.run(_registered, context, account, event)})


@router.delete("", **operation(Success, BEARER, "Delete all URLs of an event", ids=["event"]))
async def delete_webhooks(request: Request) -> Response:
    """Forget all URLs that the account has registered for an event."""
    context = Context.of(request)
    account = await context.account_by_token(request)
    await context.run(_delete, context, account, _event(request), None)
    return answer({})


@router.delete("/{id}", **operation(Success, BEARER, "Delete a URL", ids=["event", "webhook"]))
async def delete_webhook(request: Request) -> Response:
    """Forget one URL."""
    context = Context.of(request)
    account = await context.account_by_token(request)
    event = _event(request)
    if not await context.run(_delete, context, account, event, path_id(request, "webhook")):
        raise not_found("there is no such webhook for this event; GET lists those that there are")
    return answer({})


def _event(request: Request) -> str:
    event: str = request.path_params["event"]
    if event not in EVENT_NAMES:
        raise not_found(f"there is no such event; there are {', '.join(EVENT_NAMES)}")
    return event


def _no_upload(_name: str | None) -> Upload:
    raise AssertionError("a form without a field file opens no upload")


def _mine(account: str, event: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return webhooks.c.account_id == account, webhooks.c.event == event


def _register(context: Context, bearer: Bearer, event: str, url: str) -> str:
    account, most = bearer.account_id, context.settings.webhooks_per_event
    with context.database.write() as connection:
        # Once more: the form may have taken its time, and the token may have been revoked because it was stolen.
        if connection.scalar(_TOKEN, {"id": bearer.id}) is None:
            raise bad_token("the token was revoked")
        # One registration of an account after another, or the same URL could be registered twice.
        if connection.scalar(LOCKED_ACCOUNT, {"id": account}) is None:
            raise bad_token("the account is gone")
        query = sa.select(webhooks.c.id, webhooks.c.url).where(*_mine(account, event))
        ids = {row.url: str(row.id) for row in connection.execute(query)}
        if url in ids:
            return ids[url]
        if len(ids) >= most:
            raise Refusal(400, "too_many", f"{most} URLs are registered for this event; delete one that is not in use")
        row = {"id": str(uuid.uuid4()), "account_id": account, "event": event, "url": url, "created_at": time.time()}
        connection.execute(sa.insert(webhooks).values(row))
        return str(row["id"])


def _registered(context: Context, account: str, event: str) -> list[dict[str, str]]:
    query = sa.select(webhooks.c.id, webhooks.c.url).where(*_mine(account, event))
    with context.database.read() as connection:
        rows = connection.execute(query.order_by(webhooks.c.created_at, webhooks.c.id))
        return [{"id": row.id, "url": row.url} for row in rows]


def _delete(context: Context, account: str, event: str, webhook_id: str | None) -> int:
    query = sa.delete(webhooks).where(*_mine(account, event))
    if webhook_id is not None:
        query = query.where(webhooks.c.id == webhook_id)
    with context.database.write() as connection:
        return connection.execute(query).rowcount
