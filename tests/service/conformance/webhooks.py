"""Sections 2.7, 4.3 and 6: registrations and deliveries."""

import json

from forensix.client import verify_webhook
from tests.service import specification as spec
from tests.service.conformance.live import Live, Rows, good, refused, stays
from tests.service.running import wait_until

rows = Rows()
UNUSED = "liveness_detection_analysis_complete"
QUIET_S = 1.5


def register(live: Live, event: str, url: str, token: str | None = None) -> str:
    answer = live.ask("POST", f"/webhooks/{event}", token=token, data={"url": url})
    return str(good(answer, spec.CREATED_WEBHOOK)["id"])


def listed(live: Live, event: str, token: str | None = None) -> dict[str, str]:
    actual = good(live.ask("GET", f"/webhooks/{event}", token=token), spec.LISTED_WEBHOOKS)
    return {item["id"]: item["url"] for item in actual["urls"]}


def clear(live: Live, event: str, token: str | None = None) -> None:
    good(live.ask("DELETE", f"/webhooks/{event}", token=token), spec.DELETED_WEBHOOKS)


def _event(event: str) -> None:
    @rows.add("4.3", f"{event}: registered, listed and deleted")
    def _(live: Live) -> None:
        clear(live, event)
        first = register(live, event, live.receiver.url("/one"))
        second = register(live, event, live.receiver.url("/two"))
        assert listed(live, event) == {first: live.receiver.url("/one"), second: live.receiver.url("/two")}
        good(live.ask("DELETE", f"/webhooks/{event}/{first}"), spec.DELETED_WEBHOOKS)
        assert list(listed(live, event)) == [second]
        clear(live, event)
        assert listed(live, event) == {}


for _name in spec.EVENTS:
    _event(_name)


@rows.add("4.3", "another event is 404; an id that is not there is 404")
def _(live: Live) -> None:
    for method in ("GET", "DELETE"):
        refused(live.ask(method, "/webhooks/other_complete"), 404)
    refused(live.ask("POST", "/webhooks/other_complete", data={"url": live.receiver.url()}), 404)
    refused(live.ask("DELETE", f"/webhooks/{UNUSED}/unknown"), 404)


@rows.add("4.3", "url is required, and must be an address that the service may reach")
def _(live: Live) -> None:
    refused(live.ask("POST", f"/webhooks/{UNUSED}"), 400)
    refused(live.ask("POST", f"/webhooks/{UNUSED}", data={"address": "https://example.org"}), 400)
    for url in ("", "example.org", "ftp://example.org/", "file:///etc/passwd", "http://10.0.0.1/", "http://[::1]/"):
        refused(live.ask("POST", f"/webhooks/{UNUSED}", data={"url": url}), 400)
    assert listed(live, UNUSED) == {}


@rows.add("5", "an account neither sees nor deletes another's webhooks")
def _(live: Live) -> None:
    mine = register(live, UNUSED, live.receiver.url("/mine"))
    assert listed(live, UNUSED, live.other_token) == {}
    refused(live.ask("DELETE", f"/webhooks/{UNUSED}/{mine}", token=live.other_token), 404)
    good(live.ask("DELETE", f"/webhooks/{UNUSED}", token=live.other_token), spec.DELETED_WEBHOOKS)
    assert list(listed(live, UNUSED)) == [mine]
    refused(live.ask("DELETE", f"/webhooks/{spec.EVENTS[0]}/{mine}"), 404)
    clear(live, UNUSED)


def _delivered(task: str) -> None:
    @rows.add("6", f"{task}: the finished task is posted to every address, as polling shows it, signed")
    def _(live: Live) -> None:
        token, secret = live.hooked
        event = spec.EMITTED[task]
        paths = [f"/{task}/one", f"/{task}/two"]
        for path in paths:
            register(live, event, live.receiver.url(path), token)
        report_id = live.create(task, live.media(task), token=token)
        for path in paths:
            delivery = live.receiver.wait(path=path)[0]
            assert delivery.headers["content-type"].partition(";")[0] == "application/json"
            assert json.loads(delivery.body) == live.poll(task, report_id, token=token)
            assert verify_webhook(secret, delivery.headers, delivery.body).id == report_id
        clear(live, event, token)


for _task in spec.TASKS:
    _delivered(_task)


@rows.add("6", "decided: a failed task is delivered too")
def _(live: Live) -> None:
    token, _ = live.hooked
    register(live, spec.EMITTED["ai_generated_image_detection"], live.receiver.url("/failed"), token)
    report_id = live.create("ai_generated_image_detection", live.made("cut.png"), token=token)
    fields = json.loads(live.receiver.wait(path="/failed")[0].body)
    assert (fields["id"], fields["status"]) == (report_id, "failed") and "result" not in fields
    clear(live, spec.EMITTED["ai_generated_image_detection"], token)


@rows.add("6", "an attempt that is not answered with success is repeated, with the same webhook-id, until it is")
def _(live: Live) -> None:
    token, _ = live.hooked
    event = spec.EMITTED["forensic_analysis"]
    register(live, event, live.receiver.url("/again"), token)
    live.receiver.answers[:] = [500, 302]
    live.create("forensic_analysis", live.media("forensic_analysis"), token=token)
    actual = live.receiver.wait(3, path="/again")
    assert len({delivery.headers["webhook-id"] for delivery in actual}) == 1
    assert len({delivery.body for delivery in actual}) == 1
    assert stays(lambda: len(live.receiver.to("/again")) == 3, QUIET_S)
    assert live.receiver.to("/redirected") == []
    clear(live, event, token)


@rows.add("6", "decided: an address that is registered after the task was created still gets it")
def _(live: Live) -> None:
    token, _ = live.hooked
    event = spec.EMITTED["forensic_analysis"]
    clear(live, event, token)
    report_id = live.create("forensic_analysis", live.media("forensic_analysis"), token=token)
    live.finish("forensic_analysis", report_id, token=token)
    register(live, event, live.receiver.url("/late"), token)
    live.receiver.wait(path="/late")
    clear(live, event, token)


@rows.add("6", "decided: an address that was deleted gets nothing more; the unused events are never emitted")
def _(live: Live) -> None:
    token, _ = live.hooked
    event = spec.EMITTED["forensic_analysis"]
    gone = register(live, event, live.receiver.url("/gone"), token)
    good(live.ask("DELETE", f"/webhooks/{event}/{gone}", token=token), spec.DELETED_WEBHOOKS)
    for name in set(spec.EVENTS) - set(spec.EMITTED.values()):
        register(live, name, live.receiver.url("/unused"), token)
    register(live, event, live.receiver.url("/there"), token)
    report_id = live.create("forensic_analysis", live.media("forensic_analysis"), token=token)
    wait_until(lambda: any(report_id.encode() in d.body for d in live.receiver.to("/there")), 60, "the delivery")
    assert stays(lambda: not live.receiver.to("/gone") and not live.receiver.to("/unused"), QUIET_S)
    for name in spec.EVENTS:
        clear(live, name, token)
