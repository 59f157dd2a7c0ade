"""The same computed picture as generators leave it: with content credentials, with a recipe, and with nothing.

No generator was there: the pixels are computed noise, and the marks are written here, as anybody could. They show what
is read and how it is weighed, and say nothing about a detector. The credentials are signed with a key made on the spot,
so they hold, and nobody vouches for the signer.
"""

import datetime
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

SIDE_PX = 384
SOURCE_TYPE = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
WORKFLOW = {
    "3": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": 20, "cfg": 7.0, "model": ["4", 0]}},
    "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "sd_xl_base_1.0.safetensors"}},
}


def make_marked_pictures(folder: Path) -> Iterator[Path]:
    """Write a picture with credentials, one with ComfyUI's recipe, and one without a mark; all of the same pixels."""
    picture = Image.fromarray(_computed())
    picture.save(folder / "unmarked.png")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    (folder / "credentials.png").write_bytes(_signed(buffer.getvalue()))
    recipe = PngInfo()
    recipe.add_text("prompt", json.dumps(WORKFLOW))
    picture.save(folder / "comfyui.png", pnginfo=recipe)
    for name in ("credentials.png", "comfyui.png", "unmarked.png"):
        yield folder / name


def _computed() -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(7)
    layers = [gaussian_filter(rng.normal(size=(SIDE_PX, SIDE_PX, 3)), (size, size, 0)) * size for size in (2, 9, 40)]
    low, high = np.quantile(total := sum(layers), [0.01, 0.99])
    return np.asarray(np.clip((total - low) / (high - low), 0, 1) * 255, np.uint8)


def _signed(png: bytes) -> bytes:
    """Return a PNG with credentials that say that a generator made it."""
    import c2pa

    created = {"action": "c2pa.created", "digitalSourceType": SOURCE_TYPE, "softwareAgent": "Adobe Firefly"}
    manifest = {
        "claim_generator_info": [{"name": "forensix demo", "version": "1"}],
        "assertions": [{"label": "c2pa.actions", "data": {"actions": [created]}}],
    }
    chain, key = _signer()
    info = c2pa.C2paSignerInfo(c2pa.C2paSigningAlg.ES256, chain, key, None)
    signed = io.BytesIO()
    with c2pa.Signer.from_info(info) as signer, c2pa.Builder(json.dumps(manifest)) as builder:
        builder.sign(signer, "image/png", io.BytesIO(png), signed)
    return signed.getvalue()


def _signer() -> tuple[bytes, bytes]:
    """Return a chain of certificates and a private key, PEM, of a signer whom nobody knows."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)

    def named(text: str) -> x509.Name:
        attributes = ((NameOID.ORGANIZATION_NAME, "forensix demo"), (NameOID.COMMON_NAME, text))
        return x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])

    def certificate(subject: str, of: ec.EllipticCurvePrivateKey, *, ca: bool) -> x509.CertificateBuilder:
        usage = x509.KeyUsage(not ca, False, False, False, False, ca, ca, False, False)
        return (
            x509.CertificateBuilder()
            .subject_name(named(subject))
            .issuer_name(named("Root"))
            .public_key(of.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=365))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(of.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False)
            .add_extension(x509.BasicConstraints(ca, None), True)
            .add_extension(usage, True)
        )

    root = certificate("Root", root_key, ca=True).sign(root_key, hashes.SHA256())
    mail = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION])
    leaf = certificate("Signer", key, ca=False).add_extension(mail, False).sign(root_key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return leaf.public_bytes(pem) + root.public_bytes(pem), private
