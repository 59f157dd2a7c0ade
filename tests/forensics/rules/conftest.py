"""A signer whose certificate each run makes anew."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID
from pyhanko.sign import signers


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> signers.SimpleSigner:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test Signer")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.KeyUsage(True, True, *[False] * 7), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("key") / "key.p12"
    secret = serialization.BestAvailableEncryption(b"x")
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"k", key, certificate, None, secret))
    return signers.SimpleSigner.load_pkcs12(str(path), passphrase=b"x")
