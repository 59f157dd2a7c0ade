"""A client of the service: create a task, wait for it, read its result, and check what webhooks bring.

    from forensix.client import Client

    with Client.sign_in("http://127.0.0.1:8000", "anna", password) as client:
        answer = client.analyze("voice_analysis", "talk.mp3", explain=True)
        answer.status, answer.result.class_name

Closing the client, as the end of ``with`` does, ends the token that it made for itself. Answers are the
specification's objects (``forensix.schema``). Files are streamed from disk. A request that the service puts off (429
and 503 with ``Retry-After``) is sent again after that time, and polling goes on where an answer was lost or a proxy
says that the service does not answer (502, 503, 504); a creation whose answer was lost is not repeated, because the
task may be there.
"""

from forensix.client.answers import Token, TokenClaims, Webhook
from forensix.client.client import Client
from forensix.client.display import to_report
from forensix.client.webhooks import verify_webhook

__all__ = ["Client", "Token", "TokenClaims", "Webhook", "to_report", "verify_webhook"]
