"""How requests are refused: one exception, one JSON body, one place that lists the codes."""

from collections.abc import Mapping

from forensix.service.encoding import json_bytes

SLUGS = {
    "bad_form": "the request or its body is malformed, cut off, or a field is given twice or is too long",
    "bad_field": "a field has a value that it cannot have",
    "bad_url": "the URL is malformed, of another scheme than http(s), with a password, or of a private address",
    "file_or_url_missing": "neither a file nor a url came",
    "file_and_url": "both a file and a url came",
    "broken_media": "the file is empty",
    "too_many": "so many tokens or webhooks are not kept",
    "unauthorized": "the user name and password, or the token, are missing, wrong, expired or revoked",
    "not_found": "no such path, task, event, token, webhook or report for this account",
    "method_not_allowed": "the path is right, the method is not",
    "too_large": "the upload or the form is larger than allowed",
    "unsupported_media": "the content is of no format that this analysis takes",
    "unsupported_form": "the body is neither multipart/form-data nor application/x-www-form-urlencoded",
    "rate_limited": "too many requests, or too many wrong passwords; wait as long as Retry-After says",
    "busy": "the queue or the service is full; wait as long as Retry-After says",
    "unavailable": "the database or the storage cannot be reached; wait as long as Retry-After says",
    "internal": "an error of the service; the log tells more under the request's id",
}
"""Every ``code`` of a refusal, and what it stands for."""


class Refusal(Exception):
    """A request that is answered with an error: status, slug, a sentence, and headers that go with them."""

    def __init__(self, status: int, code: str, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.code, self.sentence = status, code, sentence
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """Return the JSON body."""
        return json_bytes({"success": False, "error": self.sentence, "code": self.code})


def bad_form(sentence: str) -> Refusal:
    """Return the refusal of a body that cannot be read."""
    return Refusal(400, "bad_form", sentence)


def bad_field(sentence: str) -> Refusal:
    """Return the refusal of a field's value."""
    return Refusal(400, "bad_field", sentence)


def not_found(sentence: str) -> Refusal:
    """Return the refusal for what is not there, or is another account's."""
    return Refusal(404, "not_found", sentence)


def too_large(sentence: str) -> Refusal:
    """Return the refusal of a body that is larger than allowed."""
    return Refusal(413, "too_large", sentence)


def bad_password() -> Refusal:
    """Return the refusal of missing or wrong Basic credentials; it never says which part was wrong."""
    return Refusal(
        401,
        "unauthorized",
        "the name or the password is missing or wrong; send those of an account by HTTP Basic authentication",
        {"WWW-Authenticate": 'Basic realm="forensix", charset="UTF-8"'},
    )


def bad_token(why: str, *, is_given: bool = True) -> Refusal:
    """Return the refusal of a bearer token; where none is given, the header names no error of it (RFC 6750)."""
    error = ', error="invalid_token"' if is_given else ""
    return Refusal(
        401,
        "unauthorized",
        f"{why}; send a token of POST /auth/tokens in the Authorization header",
        {"WWW-Authenticate": f'Bearer realm="forensix"{error}'},
    )


def rate_limited(what: str, retry_s: float) -> Refusal:
    """Return the refusal of one request too many."""
    seconds = max(1, round(retry_s + 0.5))
    return Refusal(429, "rate_limited", f"too many {what}; try again in {seconds} s", {"Retry-After": str(seconds)})


def busy(sentence: str, retry_s: int = 10) -> Refusal:
    """Return the refusal of what cannot be taken on now."""
    return Refusal(503, "busy", sentence, {"Retry-After": str(retry_s)})


def unavailable(what: str) -> Refusal:
    """Return the refusal while the database or the storage is away."""
    return Refusal(
        503, "unavailable", f"the {what} cannot be used at the moment; try again in a few seconds", {"Retry-After": "5"}
    )
