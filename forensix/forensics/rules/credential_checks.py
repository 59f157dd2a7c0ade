"""What the checks of content credentials (C2PA) mean: which failures count, what still holds, and who vouches.

C2PA tells three states apart: a manifest can be well-formed; it is valid where its signature and the hash of the
content hold; and it is trusted where the signer's certificate leads to one on a list. No list is consulted here, so
nothing is ever trusted, and a name is what the signer wrote: whoever signs a photograph with a certificate made for it
gets a valid manifest that says anything.

What a manifest says is taken for words of the file as it is only where it is valid. One that was pasted from another
file, that is tied to no content or that was changed after signing says something, but not of this file.

Source: C2PA Technical Specification 2.2, sections "Validation states" and "Validation status codes".
"""

import re
from collections.abc import Iterable

from forensix.metadata.facts import Fact, Facts

BROKEN = re.compile(r"\.mismatch|claimSignature\.(missing|invalid)")
"""A hash or a signature that does not fit."""

OF_CONTENT = re.compile(r"\.(data|bmff|boxes)Hash\.mismatch")
"""The hash of what the file shows, which also fails where the file's end is missing."""

UNTIED = re.compile(r"hardBindings\.missing")
"""There is no hash of the content at all."""

OF_THE_SIGNER = re.compile(
    r"signingCredential\.(untrusted|expired)|did_unavailable|credential\.untrusted|timeStamp\.|ocsp\.(?!revoked)"
)
"""Who signed and when cannot be told for certain, which says nothing of what was signed."""

IDENTITY = "cawg."
"""Checks of the person or organisation that is named beside the signer."""


def is_broken(code: str) -> bool:
    """Tell whether a failed check says that a hash or a signature does not fit."""
    return BROKEN.search(code) is not None and OF_THE_SIGNER.search(code) is None


def is_doubtful(code: str) -> bool:
    """Tell whether a failed check leaves a part of the credentials unproved.

    >>> [is_doubtful(code) for code in ("signingCredential.ocsp.revoked", "assertion.dataHash.mismatch")]
    [True, False]
    """
    return not is_broken(code) and OF_THE_SIGNER.search(code) is None


def unfit(facts: Facts) -> frozenset[str]:
    """Return the labels of the manifests whose words are not proved to be words about this file.

    All of them where the newest one's signature or its hash of the content fails or could not be checked; of the
    earlier ones those that fail themselves, that a later version found failing when it was made from them, and what is
    known through these alone.
    """
    records = {str(f.value["label"]): f.value for f in facts.items if f.key == "c2pa.manifest"}
    failures = [f.value for f in facts.items if f.key == "c2pa.failure" and _counts(str(f.value["code"]))]
    if facts.get("c2pa.bound") is False or any(row["active"] for row in failures):
        return frozenset(records)
    own = {
        label
        for label, record in records.items()
        if any(label in str(row["url"]) for row in failures)
        or any(_counts(code) for code in record.get("failed_before") or ())
    }
    active = [label for label, record in records.items() if record.get("active")]
    ingredients = {
        label: [str(item.get("active_manifest")) for item in record.get("ingredients") or ()]
        for label, record in records.items()
    }
    return frozenset(_reached(own, ingredients) - _reached(active, ingredients, own))


def _counts(code: str) -> bool:
    return not code.startswith(IDENTITY) and OF_THE_SIGNER.search(code) is None


def _reached(start: Iterable[str], ingredients: dict[str, list[str]], but: Iterable[str] = ()) -> set[str]:
    """Return manifests and what they were made from, one from the other, without going through some."""
    reached: set[str] = set()
    rest = list(start)
    while rest:
        label = rest.pop()
        if label in ingredients and label not in reached and label not in but:
            reached.add(label)
            rest += ingredients[label]
    return reached


def signer(manifest: dict[str, object]) -> str:
    """Return who signed a manifest, by what the certificate says."""
    names = (manifest.get("issuer"), manifest.get("signer"))
    return " ".join(dict.fromkeys(str(name) for name in names if name)) or "nobody named"


def vouching(manifest: dict[str, object]) -> str:
    """Return a sentence on who signed a manifest and that nobody vouches for it."""
    if manifest.get("self_signed"):
        return (
            f"The credentials are signed by {signer(manifest)}, with a certificate that the signer made: nobody "
            "vouches for that name, and anybody can sign any file so."
        )
    issued = f", with a certificate of {manifest['certified_by']}" if manifest.get("certified_by") else ""
    return (
        f"The credentials are signed by {signer(manifest)}{issued}. Nobody vouches for that name here: no list of "
        "trusted signers was consulted, and anybody can make such certificates and sign any file with them."
    )


def vouching_for(facts: Facts, said: Iterable[Fact]) -> str:
    """Return `vouching` of the newest manifest where only content credentials say something, nothing otherwise."""
    said = tuple(said)
    if not said or any(not fact.key.startswith("c2pa.") for fact in said):
        return ""
    manifests = [f.value for f in facts.items if f.key == "c2pa.manifest"]
    newest = next((m for m in manifests if m.get("active")), None)
    return vouching(newest) if newest is not None else ""
