"""Content credentials: signed by the test with a throw-away certificate, then read, edited and broken."""

import datetime
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.forensics.rules import ai_marks
from forensix.metadata import child, reader
from forensix.metadata.blocks import c2pa as reader_c2pa
from forensix.metadata.blocks.c2pa import OFFLINE
from forensix.metadata.facts import Fact, Facts
from tests.making import write_video
from tests.metadata import making_images as make
from tests.metadata.av.test_container_facts import sound

SOURCE = "http://cv.iptc.org/newscodes/digitalsourcetype/"
CREATED = {"action": "c2pa.created", "digitalSourceType": SOURCE + "digitalCapture"}


@pytest.fixture(scope="module")
def signer_parts() -> tuple[bytes, bytes]:
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return made_for(ExtendedKeyUsageOID.EMAIL_PROTECTION.dotted_string)


def made_for(purpose: str) -> tuple[bytes, bytes]:
    """Return a certificate chain for a purpose and its private key, both PEM, made for this run."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    def name(text: str) -> x509.Name:
        return x509.Name(
            [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Test"), x509.NameAttribute(NameOID.COMMON_NAME, text)]
        )

    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    end = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)
    root_key, leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def base(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(name(subject))
            .issuer_name(name("Root"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False)
        )

    def usage(sign: bool, ca: bool) -> x509.KeyUsage:
        return x509.KeyUsage(sign, False, False, False, False, ca, ca, False, False)

    root = (
        base("Root", root_key)
        .add_extension(x509.BasicConstraints(True, None), True)
        .add_extension(usage(False, True), True)
        .sign(root_key, hashes.SHA256())
    )
    leaf = (
        base("Leaf", leaf_key)
        .add_extension(x509.BasicConstraints(False, None), True)
        .add_extension(usage(True, False), True)
        .add_extension(x509.ExtendedKeyUsage([x509.ObjectIdentifier(purpose)]), False)
        .sign(root_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return leaf.public_bytes(pem) + root.public_bytes(pem), key


def signed(
    parts: tuple[bytes, bytes],
    *actions: dict[str, object],
    edits: bytes | None = None,
    plain: bytes | None = None,
    mime: str = "image/jpeg",
    update: bool = False,
) -> bytes:
    """Return a file, a JPEG unless another is given, with credentials that record the actions."""
    import c2pa

    manifest = {
        "claim_generator_info": [{"name": "Test program", "version": "1"}],
        "title": "picture",
        "assertions": [{"label": "c2pa.actions", "data": {"actions": list(actions)}}] if actions else [],
    }
    info = c2pa.C2paSignerInfo(c2pa.C2paSigningAlg.ES256, parts[0], parts[1], None)
    buffer = io.BytesIO()
    with (
        c2pa.Settings.from_dict(OFFLINE) as settings,
        c2pa.Context(settings) as context,
        c2pa.Signer.from_info(info) as signer,
        c2pa.Builder(json.dumps(manifest), context=context) as builder,
    ):
        if edits is not None:
            builder.set_intent(c2pa.C2paBuilderIntent.UPDATE if update else c2pa.C2paBuilderIntent.EDIT)
        builder.sign(signer, mime, io.BytesIO(plain or edits or make.jpeg(image=make.gradient(128, 96))), buffer)
    return buffer.getvalue()


def facts_of(data: bytes, folder: Path) -> Facts:
    path = folder / "picture.jpg"
    path.write_bytes(data)
    return reader.from_values(child.read(str(path), "image", "jpeg", path.name))


def store_of(*codes: str, **more: object) -> dict[str, object]:
    """Return a decoded store of one manifest, whose signature and hash hold, with failed checks."""
    held = [{"code": code} for code in ("claimSignature.validated", "assertion.dataHash.match")]
    failures = [{"code": code, "explanation": "", "url": ""} for code in codes]
    return {
        "active_manifest": "a",
        "manifests": {"a": {"signature_info": {"issuer": "Test"}, "assertions": [], **more}},
        "validation_results": {"activeManifest": {"success": held, "failure": failures}},
    }


def told_of(store: dict[str, object], certificates: dict[str, Any] | None = None) -> tuple[Finding, ...]:
    return claims(Facts("image", "jpeg", tuple(reader_c2pa.facts_of(store, "APP11", 2, certificates))))


def titles(findings: tuple[Finding, ...]) -> dict[str, str]:
    return {f.claim.claim: f.severity for f in findings}


def test_intact_credentials_are_told_with_their_history(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    data = signed(signer_parts, CREATED)
    findings = claims(facts_of(data, tmp_path))
    assert titles(findings)["Content credentials are intact"] == "benign"
    assert not any(s != "benign" for s in titles(findings).values())
    assert result(findings).document_details.digital_signature_by == "Test Leaf"


def test_valid_is_not_trusted(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    findings = claims(facts_of(signed(signer_parts, CREATED), tmp_path))
    assert titles(findings)["The signer of the content credentials is not verified"] == "benign"


@pytest.mark.parametrize(
    ("source", "what"),
    [("trainedAlgorithmicMedia", "it"), ("compositeWithTrainedAlgorithmicMedia", "a part of it")],
)
def test_generated_by_source_type(source: str, what: str, signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    action = {"action": "c2pa.created", "digitalSourceType": SOURCE + source, "softwareAgent": "Adobe Firefly"}
    facts = facts_of(signed(signer_parts, action), tmp_path)
    findings = claims(facts)
    assert titles(findings)[f"The file says that {what} was made by artificial intelligence"] == "critical"
    assert ai_marks.generator_identifier(ai_marks.generator_marks(facts)) == "firefly"


@pytest.mark.parametrize("format", ["wav", "mp3", "flac"])
def test_recordings_carry_credentials_too(format: str, signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    codec = {"mp3": "libmp3lame", "flac": "flac", "wav": "pcm_s16le"}[format]
    plain = sound(tmp_path / f"plain.{format}", codec).read_bytes()
    action = {"action": "c2pa.created", "digitalSourceType": SOURCE + "trainedAlgorithmicMedia"}
    path = tmp_path / f"signed.{format}"
    path.write_bytes(signed(signer_parts, action, plain=plain, mime=reader_c2pa.MIME[format]))
    facts = reader_c2pa.read(path, format)
    assert [f.value["source"] for f in facts if f.key == "c2pa.source"] == ["trainedAlgorithmicMedia"]


def test_a_mark_in_an_ingredient_counts(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    parent = signed(signer_parts, {"action": "c2pa.created", "digitalSourceType": SOURCE + "trainedAlgorithmicMedia"})
    data = signed(signer_parts, {"action": "c2pa.resized"}, edits=parent)
    findings = titles(claims(facts_of(data, tmp_path)))
    assert findings["The file says that it was made by artificial intelligence"] == "critical"
    assert findings["Content credentials describe several versions"] == "suspect"
    assert findings["Content credentials record editing"] == "suspect"


def test_a_changed_picture_breaks_the_hash(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    data = bytearray(signed(signer_parts, CREATED))
    data[-20] ^= 0x55
    findings = titles(claims(facts_of(bytes(data), tmp_path)))
    assert findings["Content credentials are broken"] == "critical"
    assert "Content credentials are intact" not in findings


def test_credentials_of_a_file_whose_end_is_missing_accuse_nobody(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    findings = titles(claims(facts_of(signed(signer_parts, CREATED)[:-300], tmp_path)))
    assert findings["Content credentials cannot be checked, since the file's end is missing"] == "suspect"
    assert "critical" not in findings.values() and "Content credentials are intact" not in findings


GENERATED = {"action": "c2pa.created", "digitalSourceType": SOURCE + "trainedAlgorithmicMedia"}
BY_AI = "The file says that it was made by artificial intelligence"
UNPROVED = "Content credentials that are not proved to be this file's say that artificial intelligence made it"


def pasted(donor: bytes) -> bytes:
    """Return another picture with the credentials of a JPEG in it."""
    at, segments = 2, b""
    while donor[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(donor[at + 2 : at + 4], "big")
        segments += donor[at:end] if donor[at + 1] == 0xEB else b""
        at = end
    photograph = make.jpeg(image=make.gradient(200, 150))
    return photograph[:2] + segments + photograph[2:]


@pytest.mark.parametrize("name", ["APP10", "COM", "APP11", "tEsT", "free"])
def test_a_store_under_another_name_is_told_and_read(
    name: str, signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    kind = {"tEsT": "png", "free": "mp4"}.get(name, "jpeg")
    if kind == "mp4":
        plain = write_video(tmp_path / "plain.mp4", 2).read_bytes()
    else:
        plain = make.png() if kind == "png" else make.jpeg(image=make.gradient(128, 96))
    data = bytearray(signed(signer_parts, GENERATED, plain=plain, mime=reader_c2pa.MIME[kind]))
    path = tmp_path / f"signed.{kind}"
    path.write_bytes(data)
    assert not any(f.key == "c2pa.hidden" for f in reader_c2pa.read(path, kind))
    if kind == "jpeg":
        at = data.index(b"\xff\xeb")
        data[at + 1], data[at + 4 : at + 6] = {"APP10": 0xEA, "COM": 0xFE, "APP11": 0xEB}[name], b"XX"
    else:
        at = data.index(b"caBX" if kind == "png" else b"uuid\xd8\xfe\xc3\xd6") - 4
        data[at + 4 : at + 8] = name.encode()
    path.write_bytes(data)
    facts = reader_c2pa.read(path, kind)
    assert [(f.value, f.offset) for f in facts if f.key == "c2pa.hidden"] == [(name, at)]
    found = titles(claims(Facts("image", kind, tuple(facts))))
    assert found["Content credentials were hidden under another name"] == "suspect" and BY_AI in found


def changed(data: bytes) -> bytes:
    return data[:-20] + bytes([data[-20] ^ 0x55]) + data[-19:]


@pytest.mark.parametrize("spoil", [pasted, changed])
def test_credentials_of_a_generator_that_do_not_fit_the_file_accuse_nobody(
    spoil: Callable[[bytes], bytes], signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    facts = facts_of(spoil(signed(signer_parts, GENERATED)), tmp_path)
    found = claims(facts)
    assert titles(found)[UNPROVED] == "suspect" and BY_AI not in titles(found)
    assert titles(found)["Content credentials are broken"] == "critical"
    assert ai_marks.generator_marks(facts) == () and len(ai_marks.unfit_marks(facts)) == 1
    assert "AI_GENERATED" not in result(found).red_flags
    assert result(found).document_details.source != "ai_generated"
    beside = Facts("image", "jpeg", (*facts.items, Fact("exif.Software", "Midjourney", "IFD0")))
    assert BY_AI in titles(claims(beside)) and UNPROVED not in titles(claims(beside))


def test_credentials_of_a_camera_that_were_taken_from_another_file_clear_nobody(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    title = "The file says that its content was captured by a camera or recorder"
    own = signed(signer_parts, CREATED)
    assert title in titles(claims(facts_of(own, tmp_path)))
    assert title not in titles(claims(facts_of(pasted(own), tmp_path)))


def test_an_editor_that_found_earlier_credentials_broken_makes_them_no_better(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    edited = signed(signer_parts, {"action": "c2pa.resized"}, edits=pasted(signed(signer_parts, GENERATED)))
    found = titles(claims(facts_of(edited, tmp_path)))
    assert found["Content credentials are intact"] == "benign"
    assert UNPROVED in found and BY_AI not in found


def test_an_earlier_version_that_was_changed_in_the_store_accuses_nobody(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    edited = signed(signer_parts, {"action": "c2pa.resized"}, edits=signed(signer_parts, GENERATED))
    found = titles(claims(facts_of(edited.replace(b"Test program", b"Best program", 1), tmp_path)))
    assert UNPROVED in found and BY_AI not in found


def test_an_update_that_changes_no_content_rests_on_the_hash_of_the_version_before(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    updated = signed(signer_parts, edits=signed(signer_parts, GENERATED), update=True)
    found = titles(claims(facts_of(updated, tmp_path)))
    assert BY_AI in found and found["Content credentials are intact"] == "benign"
    found = titles(claims(facts_of(pasted(updated), tmp_path)))
    assert UNPROVED in found and BY_AI not in found


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("claim.hardBindings.missing", "Content credentials are tied to no content"),
        ("signingCredential.ocsp.revoked", "Content credentials are valid in part only"),
        ("assertion.action.redacted", "Content credentials are valid in part only"),
        ("assertion.action.ingredientMismatch", "Content credentials are valid in part only"),
        ("a.code.of.a.later.specification", "Content credentials are valid in part only"),
    ],
)
def test_what_validators_call_invalid_is_not_relied_on(code: str, title: str) -> None:
    assertion = {"label": "c2pa.actions", "data": {"actions": [GENERATED]}}
    found = titles(told_of(store_of(code, assertions=[assertion])))
    assert found[title] == "suspect" and found[UNPROVED] == "suspect" and BY_AI not in found
    assert "Content credentials are intact" not in found
    assert BY_AI in titles(told_of(store_of("signingCredential.expired", assertions=[assertion])))


def test_a_hash_that_nobody_checked_proves_nothing() -> None:
    store = store_of(assertions=[{"label": "c2pa.actions", "data": {"actions": [GENERATED]}}])
    store["validation_results"] = {"activeManifest": {"failure": []}}
    found = titles(told_of(store))
    assert UNPROVED in found and "Content credentials are intact" not in found


@pytest.mark.parametrize("is_own", [True, False])
def test_who_signed_and_that_nobody_vouches_is_said_where_only_credentials_name_a_generator(
    is_own: bool, signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    parts = own_certificate() if is_own else signer_parts
    facts = facts_of(signed(parts, GENERATED), tmp_path)
    found = claims(facts)
    (claim,) = [f.claim for f in found if f.claim.claim == BY_AI]
    signer = "signed by OpenAI, with a certificate that the signer made: nobody vouches"
    assert (signer if is_own else "signed by Test Leaf, with a certificate of Test Root. Nobody vouches") in (
        claim.explanation
    )
    title = f"Content credentials are intact{', but nobody vouches for who signed them' if is_own else ''}"
    assert titles(found)[title] == "benign"
    # What anybody can call himself names no generator.
    assert ai_marks.generator_identifier(ai_marks.generator_marks(facts)) is None
    beside = Facts("image", "jpeg", (*facts.items, Fact("exif.Software", "Midjourney", "IFD0")))
    (claim,) = [f.claim for f in claims(beside) if f.claim.claim == BY_AI]
    assert "vouches" not in claim.explanation


def test_a_certificate_for_content_credentials_alone_is_valid(tmp_path: Path) -> None:
    facts = facts_of(signed(made_for("1.3.6.1.4.1.62558.2.1"), CREATED), tmp_path)
    assert facts.get("c2pa.state") == "Valid"
    assert not [f for f in claims(facts) if f.claim.type == "content_credentials" and f.severity != "benign"]


def own_certificate() -> tuple[bytes, bytes]:
    """Return a certificate that its holder issued, in the name of another, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(oid, "OpenAI") for oid in (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(5)
        .not_valid_before(datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), False)
        .add_extension(x509.BasicConstraints(False, None), True)
        .add_extension(x509.KeyUsage(True, *[False] * 8), True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(pem), secret


def test_what_was_taken_out_of_the_credentials_is_no_change_of_the_content() -> None:
    step = {"action": "c2pa.redacted", "parameters": {"description": "the place"}}
    store = store_of(assertions=[{"label": "c2pa.actions.v2", "data": {"actions": [step]}}])
    found = told_of(store)
    assert titles(found)["Something was taken out of the content credentials"] == "benign"
    assert all(f.severity == "benign" and "FILE_EDITED" not in f.flags for f in found)


@pytest.mark.parametrize(
    "inside", [b"\x81", b"\xa1\x61a", b"\xc1", b"\x9f", b"\x9b\x7f" + b"\xff" * 7, b"\x5b" + b"\x7f" * 8]
)
def test_cbor_that_is_nested_without_end_or_claims_to_be_huge_is_told_and_hangs_nothing(
    inside: bytes, signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    n = 4000
    data = signed(signer_parts, {**CREATED, "parameters": {"description": "Q" * n}})
    at = data.index(b"Q" * n) - 3
    facts = facts_of(data[:at] + (inside * n)[: n + 3] + data[at + n + 3 :], tmp_path)
    found = claims(facts)
    assert any(f.severity != "benign" for f in found if f.claim.type == "content_credentials")
    assert not any(f.claim.claim.startswith("Content credentials are intact") for f in found)


def test_manifests_that_were_made_from_each_other_are_not_followed_round(
    signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    first = signed(signer_parts, GENERATED)
    second = signed(signer_parts, {"action": "c2pa.resized"}, edits=first)
    labels = [label_of(data, tmp_path).encode() for data in (first, second)]
    circle = second.replace(b"/c2pa/" + labels[0], b"/c2pa/" + labels[1])
    found = titles(claims(facts_of(circle, tmp_path)))
    assert found["Content credentials are there but cannot be read"] == "suspect" and BY_AI not in found


def label_of(data: bytes, folder: Path) -> str:
    return next(
        f.value["label"] for f in facts_of(data, folder).items if f.key == "c2pa.manifest" and f.value["active"]
    )


def test_a_changed_manifest_breaks_the_signature(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    data = signed(signer_parts, CREATED)
    changed = data.replace(b"Test program", b"Best program")
    findings = titles(claims(facts_of(changed, tmp_path)))
    assert findings.get("Content credentials are broken") == "critical"


def test_a_cut_store_is_told(signer_parts: tuple[bytes, bytes], tmp_path: Path) -> None:
    data = signed(signer_parts, CREATED)
    at = data.index(b"c2pa.signature")
    cut = data[:at] + bytes(200) + data[at + 200 :]
    findings = titles(claims(facts_of(cut, tmp_path)))
    assert any(s != "benign" for t, s in findings.items() if t.startswith("Content credentials"))


def test_files_without_a_marker_are_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "plain.jpg"
    path.write_bytes(make.jpeg())
    assert reader_c2pa.read(path, "jpeg") == []


def test_an_identity_that_is_not_proved_is_no_change_of_the_content() -> None:
    findings = titles(told_of(store_of("cawg.x509.signature.mismatch", "signingCredential.untrusted")))
    assert findings["The person or organisation that the content credentials name is not verified"] == "suspect"
    assert findings["Content credentials are intact"] == "benign"
    assert "critical" not in findings.values()


@pytest.mark.parametrize(("state", "explained"), [("Invalid", True), ("Valid", False)])
def test_intact_credentials_that_validators_call_invalid_are_told_why(state: str, explained: bool) -> None:
    found = told_of({**store_of("signingCredential.expired"), "validation_state": state})
    (intact,) = [f for f in found if f.claim.claim == "Content credentials are intact"]
    assert f"state: {state}" in intact.claim.value
    assert ("for the certificate of the signer" in intact.claim.explanation) is explained


@pytest.mark.parametrize("code", ["algorithm.unsupported", "signingCredential.invalid", "assertion.dataHash.malformed"])
def test_what_could_not_be_checked_is_not_called_intact(code: str) -> None:
    findings = titles(told_of(store_of(code)))
    assert findings["Content credentials are valid in part only"] == "suspect"
    assert findings["Content credentials are there"] == "benign" and "Content credentials are intact" not in findings


def test_the_head_of_a_stream_in_fragments_is_not_called_changed(corpora: Path) -> None:
    path = corpora / "forensics" / "video" / "0321_dashinit.mp4"
    facts = reader.from_values(child.read(str(path), "video", "mp4", path.name))
    findings = titles(claims(facts))
    assert findings["Content credentials cannot be checked without the rest of the stream"] == "benign"
    assert "critical" not in findings.values()
    assert "Content credentials are intact" not in findings
