"""Deliveries that are believed and those that are not."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable

import pytest

from forensix.client import verify_webhook
from forensix.errors import ServiceError, UntrustedWebhook, UsageError
from forensix.tasks.catalogue import TaskDescription, descriptions
from tests.client.script import SECRET


def delivery(body: bytes, *, key: bytes = b"k" * 24, at_s: float | None = None) -> dict[str, str]:
    """Return headers as the Standard Webhooks convention has them, signed here and not by forensix."""
    sent_at = str(int(time.time() if at_s is None else at_s))
    signature = base64.b64encode(hmac.new(key, b"msg_1." + sent_at.encode() + b"." + body, hashlib.sha256).digest())
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": sent_at, "Webhook-Signature": f"v1,{signature.decode()}"}


BODY = json.dumps(
    {"id": "1", "status": "failed", "event_type": "voice_analysis_complete", "error": "it could not be decoded"}
).encode()


def test_a_signed_delivery_is_believed() -> None:
    assert verify_webhook(SECRET, delivery(BODY), BODY).error == "it could not be decoded"
    headers = delivery(BODY)
    headers["Webhook-Signature"] = f"v1,AAAA v1a,BBBB {headers['Webhook-Signature']}"
    assert verify_webhook(SECRET, headers, BODY).id == "1"


@pytest.mark.parametrize("task", [task for task in descriptions() if "class_name" in task.result.model_fields])
def test_a_result_is_of_the_task_that_the_event_names(task: TaskDescription) -> None:
    body = json.dumps(
        {"id": "1", "status": "completed", "event_type": task.event, "result": {"class_name": "real"}}
    ).encode()
    assert type(verify_webhook(SECRET, delivery(body), body).result) is task.result


def test_an_event_that_is_not_known_here_is_told() -> None:
    body = BODY.replace(b"voice_analysis_complete", b"newer_complete")
    with pytest.raises(ServiceError, match="this version does not know"):
        verify_webhook(SECRET, delivery(body), body)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_delivery_without_a_header_is_not_believed(name: str) -> None:
    headers = delivery(BODY)
    del headers[name]
    with pytest.raises(UntrustedWebhook, match=name.lower()):
        verify_webhook(SECRET, headers, BODY)


@pytest.mark.parametrize(
    "forged",
    [
        lambda: delivery(BODY, key=b"other"),
        lambda: delivery(BODY + b" "),
        lambda: {**delivery(BODY), "Webhook-Id": "msg_2"},
        lambda: {**delivery(BODY), "Webhook-Signature": ""},
        lambda: {**delivery(BODY), "Webhook-Signature": "v1,é"},
        lambda: {**delivery(BODY), "Webhook-Signature": "v1,\udcff"},
        lambda: {**delivery(BODY), "Webhook-Id": "\udcff"},
        lambda: {**delivery(BODY), "Webhook-Signature": delivery(BODY)["Webhook-Signature"].replace("v1,", "v2,")},
    ],
)
def test_a_delivery_that_is_not_signed_is_not_believed(forged: Callable[[], dict[str, str]]) -> None:
    # Signed now: what was signed when the tests were collected may be too old by the time it is looked at.
    with pytest.raises(UntrustedWebhook, match="not signed"):
        verify_webhook(SECRET, forged(), BODY)


@pytest.mark.parametrize("offset_s", [-301, 302])
def test_an_old_delivery_is_not_believed(offset_s: float) -> None:
    with pytest.raises(UntrustedWebhook, match="too old"):
        verify_webhook(SECRET, delivery(BODY, at_s=time.time() + offset_s), BODY)
    assert verify_webhook(SECRET, delivery(BODY, at_s=time.time() - 301), BODY, tolerance_s=600).id == "1"


@pytest.mark.parametrize("sent_at", ["", "nan", "-1", "9" * 400, "²"])
def test_a_time_that_is_none_is_not_believed(sent_at: str) -> None:
    with pytest.raises(UntrustedWebhook):
        verify_webhook(SECRET, {**delivery(BODY), "Webhook-Timestamp": sent_at}, BODY)


@pytest.mark.parametrize("secret", ["whsec_not base64", "whsec_my secret", "whsec_é", "whsec_", ""])
def test_a_secret_that_is_none_is_told(secret: str) -> None:
    with pytest.raises(UsageError, match="whsec_"):
        verify_webhook(secret, delivery(BODY, key=b""), BODY)
