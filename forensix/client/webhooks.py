"""Webhook deliveries: do they come from the service, and what do they tell?"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from forensix.client.answers import task_report
from forensix.errors import ServiceError, UntrustedWebhook, UsageError
from forensix.schema import TaskReport
from forensix.tasks.catalogue import descriptions


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    tolerance_s: float = 300.0,
) -> TaskReport:
    """Check that a delivery comes from the service and is fresh, and return the task that it tells of.

    A delivery can come more than once: ``webhook-id`` is then the same.

    Parameters
    ----------
    secret
        The account's webhook secret, ``"whsec_..."``, as ``forensix account secret NAME`` prints it.
    headers
        Those of the request; their names in any case.
    body
        The bytes as they came, before any parsing.
    tolerance_s
        How far the time in the headers may lie from that of this machine.

    Raises
    ------
    UntrustedWebhook
        A header is missing, no signature fits, or the time is out of tolerance.
    UsageError
        The secret is not one.

    References
    ----------
    Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks

    Examples
    --------
    >>> headers = {"webhook-id": "msg_1", "webhook-timestamp": "0", "webhook-signature": "v1,AAAA"}
    >>> verify_webhook("whsec_c2VjcmV0", headers, b"{}")
    Traceback (most recent call last):
    ...
    forensix.errors.UntrustedWebhook: the delivery msg_1 is too old or from the future: check the clock
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at, signatures = (by_name[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
    except KeyError as error:
        raise UntrustedWebhook(f"the delivery has no header {error.args[0]}") from None
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at[:20])) > tolerance_s:
        raise UntrustedWebhook(f"the delivery {message_id} is too old or from the future: check the clock")
    # Whoever posts may send bytes that are no text, which no signature holds.
    signed = b".".join((message_id.encode(errors="replace"), sent_at.encode(), body))
    expected = base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256))
    versions = (signature.partition(",") for signature in signatures.split())
    if not any(v == "v1" and hmac.compare_digest(value.encode(errors="replace"), expected) for v, _, value in versions):
        raise UntrustedWebhook(f"the delivery {message_id} is not signed with this account's secret")
    answer = json.loads(body)
    task = next((task.name for task in descriptions() if task.event == answer.get("event_type")), None)
    if task is None:
        raise ServiceError(f"the delivery {message_id} is of an event that this version does not know", code="event")
    return task_report(task, answer)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    # Anybody can sign with an empty key, which a setting that is missing would be.
    if not key:
        raise UsageError("a webhook secret is whsec_ and base64, as forensix account secret NAME prints it")
    return key
