"""Section 4.1: tokens, managed with HTTP Basic credentials."""

from fastapi import APIRouter, Request, Response

from forensix.service.api.answers import PlainRoute, answer, path_id
from forensix.service.api.context import Context
from forensix.service.api.openapi import BASIC, ClaimsAnswer, DeletedTokens, NewToken, operation

router = APIRouter(prefix="/auth/tokens", tags=["tokens"], route_class=PlainRoute)


@router.post("", **operation(NewToken, BASIC, "Request a token", errors=[400]))
async def create_token(request: Request) -> Response:
    """Make a token; ``token`` itself is shown here and never again."""
    context = Context.of(request)
    account = await context.account_by_password(request)
    issued = await context.run(context.tokens.issue, account)
    return answer({"claims": issued.claims, "id": issued.id, "token": issued.token})


@router.get("", **operation(ClaimsAnswer, BASIC, "List the tokens"))
async def list_tokens(request: Request) -> Response:
    """Return the claims of the account's tokens that are good, by token id."""
    context = Context.of(request)
    account = await context.account_by_password(request)
    return answer({"claims": await context.run(context.tokens.listing, account)})


@router.delete("", **operation(DeletedTokens, BASIC, "Delete all tokens"))
async def delete_tokens(request: Request) -> Response:
    """End all tokens of the account at once."""
    context = Context.of(request)
    account = await context.account_by_password(request)
    return answer({"deleted_tokens": await context.run(context.tokens.delete, account)})


@router.get("/{id}", **operation(ClaimsAnswer, BASIC, "Look a token up", ids=["token"]))
async def get_token(request: Request) -> Response:
    """Return the claims of one token, by its id."""
    context = Context.of(request)
    account = await context.account_by_password(request)
    return answer({"claims": await context.run(context.tokens.listing, account, path_id(request, "token"))})


@router.delete("/{id}", **operation(DeletedTokens, BASIC, "Delete a token", ids=["token"]))
async def delete_token(request: Request) -> Response:
    """End one token at once."""
    context = Context.of(request)
    account = await context.account_by_password(request)
    return answer({"deleted_tokens": await context.run(context.tokens.delete, account, path_id(request, "token"))})
