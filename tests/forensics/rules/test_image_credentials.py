"""Content credentials: signed by the test with a throw-away certificate, then read, edited and broken."""

import datetime
import io
import json
from pathlib import Path

import pytest

from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.forensics.rules import provenance
from forensix.metadata import child, reader
from forensix.metadata.blocks import c2pa as reader_c2pa
from forensix.metadata.facts import Fact, Facts
from tests.metadata import making_images as make
from tests.metadata.av.test_container_facts import sound

SOURCE = "http://cv.iptc.org/newscodes/digitalsourcetype/"
CREATED = {"action": "c2pa.created", "digitalSourceType": SOURCE + "digitalCapture"}


@pytest.fixture(scope="module")
def signer_parts() -> tuple[bytes, bytes]:
    """Return a certificate chain and a private key, both PEM, made for this run."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), False)
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
) -> bytes:
    """Return a file, a JPEG unless another is given, with credentials that record the actions."""
    import c2pa

    manifest = {
        "claim_generator_info": [{"name": "Test program", "version": "1"}],
        "title": "picture",
        "assertions": [{"label": "c2pa.actions", "data": {"actions": list(actions)}}],
    }
    info = c2pa.C2paSignerInfo(c2pa.C2paSigningAlg.ES256, parts[0], parts[1], None)
    buffer = io.BytesIO()
    with c2pa.Signer.from_info(info) as signer, c2pa.Builder(json.dumps(manifest)) as builder:
        if edits is not None:
            builder.set_intent(c2pa.C2paBuilderIntent.EDIT)
        builder.sign(signer, mime, io.BytesIO(plain or edits or make.jpeg(image=make.gradient(128, 96))), buffer)
    return buffer.getvalue()


def facts_of(data: bytes, folder: Path) -> Facts:
    path = folder / "picture.jpg"
    path.write_bytes(data)
    return reader.from_values(child.read(str(path), "image", "jpeg", path.name))


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
    assert provenance.generator_identifier(provenance.generator_marks(facts)) == "firefly"


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


@pytest.mark.parametrize("is_changed", [False, True])
def test_where_credentials_that_name_a_generator_do_not_fit_the_file_that_is_said_with_it(
    is_changed: bool, signer_parts: tuple[bytes, bytes], tmp_path: Path
) -> None:
    generated = {"action": "c2pa.created", "digitalSourceType": SOURCE + "trainedAlgorithmicMedia"}
    data = bytearray(signed(signer_parts, generated))
    data[-20] ^= 0x55 * is_changed
    facts = facts_of(bytes(data), tmp_path)
    (claim,) = [f.claim for f in claims(facts) if f.claim.type == "ai_generated"]
    words = "Only content credentials say so, and they do not fit the file"
    assert (words in claim.explanation) == is_changed
    marks = provenance.generator_marks(facts)
    assert (words in provenance.doubt_of_marks(facts, marks)) == is_changed
    assert not provenance.doubt_of_marks(facts, [*marks, Fact("exif.Software", "Midjourney", "IFD0")])


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
    manifest = {"signature_info": {"issuer": "Test"}, "assertions": []}
    failures = [
        {"code": "cawg.x509.signature.mismatch", "explanation": "", "url": ""},
        {"code": "signingCredential.untrusted", "explanation": "", "url": ""},
    ]
    store = {
        "active_manifest": "a",
        "manifests": {"a": manifest},
        "validation_results": {"activeManifest": {"failure": failures}},
    }
    findings = titles(claims(Facts("image", "jpeg", tuple(reader_c2pa.facts_of(store, "APP11", 2)))))
    assert findings["The person or organisation that the content credentials name is not verified"] == "suspect"
    assert findings["Content credentials are intact"] == "benign"
    assert "critical" not in findings.values()


@pytest.mark.parametrize(("state", "explained"), [("Invalid", True), ("Valid", False)])
def test_intact_credentials_that_validators_call_invalid_are_told_why(state: str, explained: bool) -> None:
    failure = {"code": "signingCredential.expired", "explanation": "", "url": ""}
    store = {
        "active_manifest": "a",
        "manifests": {"a": {"signature_info": {"issuer": "Test"}, "assertions": []}},
        "validation_state": state,
        "validation_results": {"activeManifest": {"failure": [failure]}},
    }
    found = claims(Facts("image", "jpeg", tuple(reader_c2pa.facts_of(store, "APP11", 2))))
    (intact,) = [f for f in found if f.claim.claim == "Content credentials are intact"]
    assert f"state: {state}" in intact.claim.value
    assert ("for the certificate of the signer" in intact.claim.explanation) is explained


@pytest.mark.parametrize("code", ["algorithm.unsupported", "signingCredential.invalid", "assertion.dataHash.malformed"])
def test_what_could_not_be_checked_is_not_called_intact(code: str) -> None:
    store = {
        "active_manifest": "a",
        "manifests": {"a": {"signature_info": {"issuer": "Test"}, "assertions": []}},
        "validation_results": {"activeManifest": {"failure": [{"code": code, "explanation": "", "url": ""}]}},
    }
    findings = titles(claims(Facts("image", "jpeg", tuple(reader_c2pa.facts_of(store, "APP11", 2)))))
    assert findings["Content credentials are valid in part only"] == "suspect"
    assert findings["Content credentials are there"] == "benign" and "Content credentials are intact" not in findings


def test_the_head_of_a_stream_in_fragments_is_not_called_changed(corpora: Path) -> None:
    path = corpora / "forensics" / "video" / "0321_dashinit.mp4"
    facts = reader.from_values(child.read(str(path), "video", "mp4", path.name))
    findings = titles(claims(facts))
    assert findings["Content credentials cannot be checked without the rest of the stream"] == "benign"
    assert "critical" not in findings.values()
    assert "Content credentials are intact" not in findings
