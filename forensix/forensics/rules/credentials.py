"""Content credentials (C2PA): what they say of the file's history, and whether they hold.

A hash or signature that does not fit is critical; a part that cannot be validated is suspect; a signer who is unknown
or whose certificate has expired is benign, because neither says that the content was changed. No trust list is used, so
each claim says who signed and that nobody vouches for it (see `credential_checks`).
What a CAWG identity assertion gets wrong concerns who is named, never the content. The first segment of a stream in
fragments (DASH) holds none of the content that was hashed, so it alone can neither keep nor break its hash.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import credential_checks as checks
from forensix.metadata.facts import Fact, Facts

UNKNOWN = re.compile(r"unknown algorithm|unsupported|not ?supported|prerelease", re.IGNORECASE)
EDITING = (
    "edited", "cropped", "color_adjustments", "drawing", "filtered", "orientation", "resized", "placed", "removed",
    "deleted", "addedText", "adjustedColor", "changedSpeed", "enhanced", "trimmed", "dubbed",
)  # fmt: skip

NOT_OF_THE_CONTENT = (
    'Validators call such credentials "Invalid" as a whole, for the certificate of the signer or for whom they name: '
    "other claims tell of it, and it does not concern what the file shows."
)


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on the content credentials of one medium."""
    unreadable = facts.fact("c2pa.unreadable")
    if unreadable is not None:
        unknown = UNKNOWN.search(str(unreadable.value)) is not None
        yield finding(
            "benign" if unknown else "suspect",
            "Content credentials are there but cannot be read",
            f"{place(unreadable)}: the C2PA store cannot be read ({unreadable.value}). "
            + ("It is of a kind that the reader does not know." if unknown else "It is damaged or cut off."),
            "content_credentials",
            "integrity",
            facts=[unreadable],
            flags=[] if unknown else ["METADATA_ERROR"],
        )
    hidden = facts.fact("c2pa.hidden")
    if hidden is not None:
        yield finding(
            "suspect",
            "Content credentials were hidden under another name",
            f"The store at byte {hidden.offset} stands in a part that is named {hidden.value!r}. Programs look for "
            f"credentials ({hidden.where}) under the name that the standard gives them alone, so none shows these, and "
            "no program that writes credentials names them so: the name was changed later.",
            "content_credentials",
            "editing",
            facts=list(facts.all("c2pa.hidden")),
            flags=["FILE_EDITED", "METADATA_ERROR"],
        )
    remote = facts.fact("c2pa.remote")
    if remote is not None:
        yield finding(
            "benign",
            "Content credentials are kept elsewhere",
            f"{place(remote)}: the file names {remote.value} as the place of its credentials. Nothing was fetched.",
            "content_credentials",
            "origin",
            facts=[remote],
        )
    manifests = [f for f in facts.items if f.key == "c2pa.manifest"]
    failures = [f for f in facts.items if f.key == "c2pa.failure"]
    if not manifests:
        return
    yield from _identity([f for f in failures if str(f.value["code"]).startswith(checks.IDENTITY)])
    failures = [f for f in failures if not str(f.value["code"]).startswith(checks.IDENTITY)]
    if _first_segment(facts):
        yield from _fragments([f for f in failures if _hash_of_fragments(f)])
        failures = [f for f in failures if not _hash_of_fragments(f)]
    active = next((f for f in manifests if f.value["active"]), manifests[0])
    yield from _validity(failures, active, is_cut=facts.is_cut)
    yield _history(facts, active, failures, checked=not _first_segment(facts))
    edits = [(f, a) for f in manifests for a in f.value["actions"] if is_edit(a)]
    if edits:
        values = list(dict.fromkeys(a["action"] + (f" ({a['agent']})" if a["agent"] else "") for _, a in edits))
        yield finding(
            "suspect",
            "Content credentials record editing",
            f"{place(edits[0][0])}: the signed history names {', '.join(values[:8])}. What each step changed is "
            "not recorded, only that it was done.",
            "content_credentials",
            "editing",
            facts=_unique(f for f, _ in edits),
            values=values,
            flags=["FILE_EDITED"],
            details=[("source", "software")],
        )
    redactions = [(f, a) for f in manifests for a in f.value["actions"] if a["action"] == "c2pa.redacted"]
    if redactions:
        yield finding(
            "benign",
            "Something was taken out of the content credentials",
            f"{place(redactions[0][0])}: the signer of a later version says that a part of what an earlier one "
            "stated was removed. Names and places are removed so for privacy; what it was is not there any more, "
            "and it changes nothing of what the file shows.",
            "content_credentials",
            "privacy",
            facts=_unique(f for f, _ in redactions),
            values=dict.fromkeys(str(a.get("description") or a["action"]) for _, a in redactions),
        )
    if len(manifests) > 1:
        values = [f"{f.value['label']}: {f.value['generator']}" for f in manifests]
        yield finding(
            "suspect",
            "Content credentials describe several versions",
            f"{place(manifests[0])}: the store holds {len(manifests)} manifests, one for each version or "
            "ingredient that this file was made from. Cropping and developing are recorded so, and so is a "
            "montage.",
            "versions",
            "versions",
            facts=manifests,
            values=values,
        )


def _first_segment(facts: Facts) -> bool:
    """Tell whether a file is the head of a stream in fragments: an index, and none of what it is the index of."""
    boxes = facts.get("container.boxes")
    return isinstance(boxes, list) and "moov" in boxes and not {"mdat", "moof"} & set(boxes)


def _hash_of_fragments(failure: Fact) -> bool:
    return str(failure.value["code"]).startswith("assertion.bmffHash")


def _fragments(failures: Sequence[Fact]) -> Iterator[Finding]:
    if failures:
        yield finding(
            "benign",
            "Content credentials cannot be checked without the rest of the stream",
            f"{place(failures[0])}: this is the first segment of a video in fragments (DASH). The credentials cover "
            "the fragments, which are files of their own; with them at hand a C2PA validator can tell.",
            "content_credentials",
            "integrity",
            facts=failures,
            values=[f.value["code"] for f in failures],
        )


def _identity(failures: Sequence[Fact]) -> Iterator[Finding]:
    """Tell what fails in the identity of whom the credentials name (CAWG)."""
    if not failures:
        return
    contradicted = [f for f in failures if re.search(r"mismatch|duplicate|pad\.invalid", f.value["code"])]
    yield finding(
        "suspect" if contradicted else "benign",
        "The person or organisation that the content credentials name is not verified",
        f"{place(failures[0])}: {_codes(contradicted or failures)}. This concerns the identity assertion (CAWG) "
        "alone; the hash of the content is checked apart from it.",
        "content_credentials",
        "origin",
        facts=failures,
        values=[f.value["code"] for f in failures],
    )


def is_edit(action: dict[str, Any]) -> bool:
    """Tell whether a step changes what is there, and does not make it."""
    name = str(action.get("action", "")).rsplit(".", 1)[-1]
    return name in EDITING


def _validity(failures: Sequence[Fact], active: Fact, *, is_cut: bool) -> Iterator[Finding]:
    untied = [f for f in failures if checks.UNTIED.search(str(f.value["code"]))]
    others = [f for f in failures if f not in untied]
    broken = [f for f in others if checks.is_broken(str(f.value["code"]))]
    doubtful = [f for f in others if checks.is_doubtful(str(f.value["code"]))]
    limits = [f for f in others if f not in broken and f not in doubtful]
    if broken and is_cut and all(checks.OF_CONTENT.search(str(f.value["code"])) for f in broken):
        yield finding(
            "suspect",
            "Content credentials cannot be checked, since the file's end is missing",
            f"{place(broken[0])}: {_codes(broken)}. Their hash is of the whole file, of which a part is not there: "
            "fetch the file anew. Until then a change of the content would look like this as well, and what they say "
            "is not taken for what this file is.",
            "content_credentials",
            "integrity",
            facts=broken,
            values=[f.value["code"] for f in broken],
            flags=["METADATA_ERROR"],
        )
    elif broken:
        yield finding(
            "critical",
            "Content credentials are broken",
            f"{place(broken[0])}: {_codes(broken)}. Hash or signature no longer match: the content or its history "
            "was changed after signing, or the credentials were taken from another file. A website that makes a "
            "picture smaller and keeps the credentials breaks them as well as a change of what is shown. What "
            "they say is not taken for what this file is.",
            "content_credentials",
            "integrity",
            facts=broken,
            values=[f.value["code"] for f in broken],
            flags=["FILE_EDITED", "METADATA_ERROR"],
        )
    if untied:
        yield finding(
            "suspect",
            "Content credentials are tied to no content",
            f"{place(untied[0])}: {_codes(untied)}. They hold no hash of what they speak of, so they fit any file "
            "that they are put into, and say nothing of this one.",
            "content_credentials",
            "integrity",
            facts=untied,
            values=[f.value["code"] for f in untied],
            flags=["METADATA_ERROR"],
        )
    if doubtful:
        yield finding(
            "suspect",
            "Content credentials are valid in part only",
            f"{place(doubtful[0])}: {_codes(doubtful)}. The hash of the content is not contradicted, but "
            "validators call such credentials invalid, and they cannot be relied on.",
            "content_credentials",
            "integrity",
            facts=doubtful,
            values=[f.value["code"] for f in doubtful],
            flags=["METADATA_ERROR"],
        )
    if limits:
        yield finding(
            "benign",
            "The signer of the content credentials is not verified",
            f"{place(limits[0])}: {_codes(limits)}. {checks.vouching(active.value)} Nothing was looked up on the "
            "network; an expired or unknown certificate does not mean that the content was changed.",
            "content_credentials",
            "integrity",
            facts=limits,
            values=[f.value["code"] for f in limits],
        )


def _codes(failures: Sequence[Fact]) -> str:
    return "; ".join(dict.fromkeys(f"{f.value['code']} ({f.value['explanation']})" for f in failures[:5]))


def _history(facts: Facts, active: Fact, failures: Sequence[Fact], *, checked: bool) -> Finding:
    manifest = active.value
    signer = checks.signer(manifest)
    steps = ", ".join(
        f"{a['action']} by {a['agent'] or manifest['generator'] or 'unknown'}" for a in manifest["actions"][:8]
    )
    codes = [str(f.value["code"]) for f in failures]
    is_bound = facts.get("c2pa.bound") is not False
    intact = checked and is_bound and not any(checks.is_broken(c) or checks.is_doubtful(c) for c in codes)
    state = facts.get("c2pa.state")
    by_itself = bool(manifest.get("self_signed"))
    return finding(
        "benign",
        "Content credentials are there"
        if not intact
        else "Content credentials are intact, but nobody vouches for who signed them"
        if by_itself
        else "Content credentials are intact",
        f"{place(active)}: a C2PA manifest signed by {signer}"
        + (f" at {manifest['time']}" if manifest["time"] else "")
        + f", written by {manifest['generator'] or 'an unnamed program'}"
        + (f"; steps: {steps}" if steps else "")
        + (". Hashes and signature are valid; whether the signer can be trusted was not checked." if intact else ".")
        + (f" {NOT_OF_THE_CONTENT}" if intact and state == "Invalid" else ""),
        "content_credentials",
        "origin",
        facts=[active],
        values=[
            v
            for v in (
                manifest["issuer"],
                manifest["signer"],
                manifest["generator"],
                manifest["time"],
                f"state: {state}" if state else "",
            )
            if v
        ],
        details=[("digital_signature_by", f"{signer} (signed by itself)" if by_itself else signer)]
        if signer != "nobody named"
        else [],
    )


def _unique(facts: Iterable[Fact]) -> list[Fact]:
    unique: list[Fact] = []
    for fact in facts:
        if not any(fact is other for other in unique):
            unique.append(fact)
    return unique
