"""Content credentials: the same store gives the same facts, whatever order the library has today."""

import itertools
from pathlib import Path

from forensix.metadata.blocks.c2pa import MAX_MANIFESTS, facts_of, read
from tests.metadata import making_images as make


def labels(names: tuple[str, ...], active: str) -> list[str]:
    store = {"active_manifest": active, "manifests": {name: {"title": name} for name in names}}
    return [fact.value["label"] for fact in facts_of(store, "a place", None) if fact.key == "c2pa.manifest"]


def test_manifests_stand_in_one_order_the_active_one_first() -> None:
    assert all(labels(names, "b") == ["b", "a", "c"] for names in itertools.permutations(("a", "b", "c")))


def test_the_active_manifest_is_among_those_that_are_listed_of_many() -> None:
    names = tuple(f"m{i:03}" for i in range(MAX_MANIFESTS + 5))
    assert labels(names, names[-1])[0] == names[-1]
    assert len(labels(names, names[-1])) == MAX_MANIFESTS


def test_what_was_placed_into_the_picture_is_told_from_what_it_was_made_from() -> None:
    def manifest(*ingredients: tuple[str, str]) -> dict[str, object]:
        data = {"digitalSourceType": "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"}
        named = [{"relationship": kind, "active_manifest": label} for kind, label in ingredients]
        return {"ingredients": named, "assertions": [{"label": "a source", "data": data}]}

    manifests = {
        "now": manifest(("parentOf", "before"), ("componentOf", "logo"), ("inputTo", "example")),
        "before": manifest(("componentOf", "now")),
        "logo": manifest(("parentOf", "sketch")),
        "sketch": manifest(),
        "example": manifest(),
        "of nobody": manifest(),
    }
    facts = facts_of({"active_manifest": "now", "manifests": manifests}, "a place", None)
    placed = {fact.value["manifest"]: fact.value["placed"] for fact in facts if fact.key == "c2pa.source"}
    others = {"logo": True, "sketch": True, "example": True, "of nobody": True}
    assert placed == {"now": False, "before": False} | others
    facts = facts_of({"active_manifest": "unread", "manifests": manifests}, "a place", None)
    assert not any(fact.value["placed"] for fact in facts if fact.key == "c2pa.source")


def test_the_program_of_an_action_that_gives_its_number_is_named() -> None:
    def data(index: object) -> dict[str, object]:
        action = {"action": "c2pa.created", "softwareAgentIndex": index, "digitalSourceType": "digitalCapture"}
        return {"actions": [action], "softwareAgents": [{"name": "One"}, {"name": "Two", "version": "2"}]}

    for index, agent in ((1, "Two 2"), (2, ""), (-1, ""), ("1", "")):
        manifest = {"assertions": [{"label": "c2pa.actions.v2", "data": data(index)}]}
        facts = facts_of({"active_manifest": "a", "manifests": {"a": manifest}}, "a place", None)
        assert [fact.value["agent"] for fact in facts if fact.key == "c2pa.source"] == [agent]


def test_the_source_type_in_an_assertion_of_iptc_metadata_is_read() -> None:
    url = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
    assertion = {"label": "stds.iptc", "data": {"Iptc4xmpExt:DigitalSourceType": url}}
    store = {"active_manifest": "a", "manifests": {"a": {"assertions": [assertion]}}}
    assert [f.value["source"] for f in facts_of(store, "a place", None) if f.key == "c2pa.source"] == [
        "trainedAlgorithmicMedia"
    ]


def test_credentials_kept_elsewhere_are_told_whatever_their_address(tmp_path: Path) -> None:
    address = "https://manifests.example.org/urn-uuid-1234"
    names = f'xmlns:dcterms="http://purl.org/dc/terms/" dcterms:provenance="{address}"'
    path = tmp_path / "picture.jpg"
    path.write_bytes(make.jpeg(make.xmp_segment(make.xmp_packet(names))))
    (fact,) = read(path, "jpeg")
    assert (fact.key, fact.value) == ("c2pa.remote", address)


def test_who_issued_the_signers_certificate_is_read_and_whether_it_is_the_signer() -> None:
    def signer(issuer: object, subject: object) -> tuple[object, object]:
        store = {"active_manifest": "a", "manifests": {"a": {}}}
        certificates = {"a": {"issuer": issuer, "subject": subject}}
        (value,) = [f.value for f in facts_of(store, "a place", None, certificates) if f.key == "c2pa.manifest"]
        return value["certified_by"], value["self_signed"]

    own = {"O": "Somebody", "CN": "Me"}
    assert signer({"C": "DE", "O": "An authority", "CN": "A root"}, own) == ("An authority A root", False)
    assert signer(own, own) == ("Somebody Me", True)
    assert signer(None, own) == signer(own, "text") == (None, None)


def test_actions_that_are_no_list_are_passed_over() -> None:
    for actions in (True, 5, 1.5, "created", {"action": "c2pa.created"}):
        assertion = {"label": "c2pa.actions", "data": {"actions": actions}}
        store = {"active_manifest": "a", "manifests": {"a": {"assertions": [assertion]}}}
        assert [f.value["actions"] for f in facts_of(store, "a place", None) if f.key == "c2pa.manifest"] == [[]]
