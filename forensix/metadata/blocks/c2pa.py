"""Content credentials (C2PA): every manifest of the store, what each says, and what the validation found.

Read by c2pa-python with its network off and no trust list: ``Valid`` means that hashes and signatures hold, never that
the signer is trusted. Facts:

    c2pa.state          Valid, Invalid or Trusted, of the active manifest
    c2pa.bound          whether the signature of the active manifest and a hash of the content were checked and hold
    c2pa.manifest       one dict per manifest: label, active, generator, issuer and signer (organisation and name in the
                        signer's certificate), certified_by (who issued it), self_signed, time, actions, ingredients,
                        failed_before (what a later version found amiss when it was made from this one)
    c2pa.source         one digitalSourceType with the manifest, action and program that state it, and whether what it
                        speaks of was only placed into the picture or put into what made it, and is none of its versions
    c2pa.failure        one failed check: code, explanation, url and whether it concerns the active manifest
    c2pa.remote         the address where a store is kept that is not in the file; never fetched
    c2pa.unreadable     a store is there that cannot be read
    c2pa.hidden         the name that the container of a store bears in place of its own, see `c2pa_hidden`

Source: C2PA Technical Specification 2.x, section "Validation".
"""

import json
import mmap
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from forensix.metadata.blocks import c2pa_hidden
from forensix.metadata.facts import Fact

MIME = {
    "jpeg": "image/jpeg",
    "png": "image/png",
    "tiff": "image/tiff",
    "gif": "image/gif",
    "webp": "image/webp",
    "heif": "image/heic",
    "avif": "image/avif",
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "mov": "video/quicktime",
    "3gp": "video/mp4",
    "avi": "video/avi",
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "pdf": "application/pdf",
}
PURPOSES = (
    "1.3.6.1.5.5.7.3.4",  # protecting mail
    "1.3.6.1.5.5.7.3.8",  # stamping the time
    "1.3.6.1.5.5.7.3.9",  # telling whether a certificate was revoked
    "1.3.6.1.5.5.7.3.36",  # signing documents (RFC 9336)
    "1.3.6.1.4.1.311.76.59.1.9",  # Microsoft's for content credentials
    "1.3.6.1.4.1.62558.2.1",  # C2PA's own for them, of the certificates on its trust list
)
"""What a signer's certificate may be for (C2PA Certificate Policy). The library takes C2PA's own,
which OpenAI's has since 2026, only where it is told to."""
OFFLINE: dict[str, Any] = {
    "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False, "verify_trust": True},
    "trust": {"trust_config": "\n".join(PURPOSES)},
}
MARKERS = (b"jumb", b"c2pa", b"dcterms:provenance")
"""What is in every store, and the property of XMP that names the address of one kept elsewhere."""

CONTENT_HOLDS = re.compile(r"assertion\.\w+Hash\.match")
"""What the check of a hash of the content says where it fits: of its bytes, its boxes or its parts."""

MAX_MANIFESTS = 64
MAX_ITEMS = 200
WHERE = {"jpeg": "APP11 JUMBF", "png": "caBX chunk", "webp": "C2PA chunk", "tiff": "tag 0xCD41", "pdf": "embedded file"}


def read(path: str | Path, format: str) -> list[Fact]:
    """Return the facts of a file's C2PA manifest store; none where there is no store."""
    mime, where = MIME.get(format), WHERE.get(format, "C2PA box")
    if mime is None:
        return []
    offset = _offset(path)
    if offset is None:
        return []
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as restored:
        hidden = [Fact("c2pa.hidden", name, where, at) for name, at in c2pa_hidden.restore(restored, mime)]
        facts = _read(file, mime, where, offset)
        return hidden + (facts or (_read(restored, mime, where, offset) if hidden else []))


def _read(file: IO[bytes] | mmap.mmap, mime: str, where: str, offset: int) -> list[Fact]:
    import c2pa

    try:
        with (
            c2pa.Settings.from_dict(OFFLINE) as settings,
            c2pa.Context(settings) as context,
            c2pa.Reader(mime, file, context=context) as reader,
        ):
            store = json.loads(reader.json())
            certificates = _certificates(reader)
    except c2pa.C2paError as error:
        if "ManifestNotFound" in str(error) or "no JUMBF data" in str(error):
            return []
        if str(error).startswith("Remote"):
            return [Fact("c2pa.remote", str(error).rsplit(" ", 1)[-1][:300], where, offset)]
        return [Fact("c2pa.unreadable", str(error)[:300], where, offset)]
    return facts_of(store, where, offset, certificates)


def _certificates(reader: Any) -> dict[str, dict[str, Any]]:
    """Return issuer and subject of each signer's certificate by the label of the manifest, where they can be read."""
    import c2pa

    try:
        manifests = json.loads(reader.crjson())["manifests"]
        return {m["label"]: m["signature"]["certificateInfo"] for m in manifests if "signature" in m}
    except (c2pa.C2paError, ValueError, KeyError, TypeError):
        return {}


def facts_of(
    store: dict[str, Any], where: str, offset: int | None, certificates: Mapping[str, dict[str, Any]] | None = None
) -> list[Fact]:
    """Turn a decoded manifest store, and the signers' certificates by their manifests' labels, into facts."""
    certificates = certificates or {}
    active = store.get("active_manifest") or ""
    # The library gives them in no order of its own, another one each time.
    manifests = sorted((store.get("manifests") or {}).items(), key=lambda item: (item[0] != active, item[0]))
    facts = [Fact("c2pa.state", str(store.get("validation_state") or "unknown"), where, offset)]
    facts.append(Fact("c2pa.bound", _is_bound(store), where, offset))
    records = {
        label: _manifest(label, manifest, label == active) | _signer(certificates.get(label))
        for label, manifest in manifests[:MAX_MANIFESTS]
    }
    for _, manifest in manifests[:MAX_MANIFESTS]:
        for label, codes in _failed_before(manifest):
            if label in records:
                records[label]["failed_before"] += codes
    if active in records:
        for label in records.keys() - _parents(records, active):
            records[label]["placed"] = True
    for label, manifest in manifests[:MAX_MANIFESTS]:
        here = f"{where}, manifest {label}"
        record = records[label]
        facts.append(Fact("c2pa.manifest", record, here, offset))
        facts += [Fact("c2pa.source", source, here, offset) for source in _sources(record, manifest)]
    facts += [Fact("c2pa.failure", row, where, offset) for row in _failures(store, active)]
    return facts


def _manifest(label: str, manifest: dict[str, Any], active: bool) -> dict[str, Any]:
    signature = manifest.get("signature_info") or {}
    return {
        "label": label,
        "active": active,
        "placed": False,
        "title": manifest.get("title"),
        "generator": _generator(manifest),
        "issuer": signature.get("issuer"),
        "signer": signature.get("common_name"),
        "time": signature.get("time"),
        "algorithm": signature.get("alg"),
        "actions": [_action(a) for a in _actions(manifest)],
        "ingredients": [
            {key: item.get(key) for key in ("title", "relationship", "active_manifest", "format")}
            for item in (manifest.get("ingredients") or [])[:MAX_ITEMS]
        ],
        "assertions": [str(a.get("label")) for a in (manifest.get("assertions") or [])[:MAX_ITEMS]],
        "failed_before": [],
    }


def _signer(certificate: dict[str, Any] | None) -> dict[str, Any]:
    """Return who issued a signer's certificate, and whether that is the signer; ``None`` where it is not known."""
    issuer, subject = ((certificate or {}).get(key) for key in ("issuer", "subject"))
    if not isinstance(issuer, dict) or not isinstance(subject, dict):
        return {"certified_by": None, "self_signed": None}
    names = dict.fromkeys(str(issuer[key]) for key in ("O", "CN") if issuer.get(key))
    return {"certified_by": " ".join(names) or None, "self_signed": issuer == subject}


def _is_bound(store: dict[str, Any]) -> bool:
    """Tell whether the active manifest's signature and a hash of the content were checked, and both hold."""
    results = (store.get("validation_results") or {}).get("activeManifest") or {}
    codes = {str(row.get("code")) for row in results.get("success") or []}
    return "claimSignature.validated" in codes and any(CONTENT_HOLDS.fullmatch(code) for code in codes)


def _failed_before(manifest: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield each earlier manifest that one names, with the checks that its signer recorded as failed."""
    for item in (manifest.get("ingredients") or [])[:MAX_ITEMS]:
        results = (item.get("validation_results") or {}).get("activeManifest") or {}
        rows = [*(results.get("failure") or []), *(item.get("validation_status") or [])]
        if item.get("active_manifest"):
            yield item["active_manifest"], [str(row.get("code")) for row in rows[:MAX_ITEMS]]


def _generator(manifest: dict[str, Any]) -> str:
    infos = manifest.get("claim_generator_info") or []
    if isinstance(infos, dict):
        infos = [infos]
    names = [f"{i.get('name', '')} {i.get('version') or ''}".strip() for i in infos if isinstance(i, dict)]
    return ", ".join(names) or str(manifest.get("claim_generator") or "")


def _actions(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    actions = []
    for assertion in (manifest.get("assertions") or [])[:MAX_ITEMS]:
        data = assertion.get("data")
        if str(assertion.get("label", "")).startswith("c2pa.actions") and isinstance(data, dict):
            agents, steps = data.get("softwareAgents"), data.get("actions")
            steps = steps if isinstance(steps, list) else []
            actions += [_with_agent(a, agents) for a in steps if isinstance(a, dict)]
    return actions[:MAX_ITEMS]


def _with_agent(action: dict[str, Any], agents: Any) -> dict[str, Any]:
    """Return an action with the program that it only gives the number of, in the list that the actions share."""
    index = action.get("softwareAgentIndex")
    if not isinstance(agents, list) or not isinstance(index, int) or not 0 <= index < len(agents):
        return action
    return {"softwareAgent": agents[index]} | action


def _action(action: dict[str, Any]) -> dict[str, Any]:
    parameters = action.get("parameters")
    return {
        "action": str(action.get("action")),
        "agent": _agent(action.get("softwareAgent")),
        "when": action.get("when"),
        "source": _last(action.get("digitalSourceType")),
        "description": (parameters or {}).get("description") if isinstance(parameters, dict) else None,
    }


def _agent(agent: Any) -> str:
    if isinstance(agent, dict):
        return f"{agent.get('name', '')} {agent.get('version') or ''}".strip()
    return str(agent or "")


def _last(url: Any) -> str:
    return str(url or "").rstrip("/").rsplit("/", 1)[-1]


def _parents(records: dict[str, dict[str, Any]], active: str) -> set[str]:
    """Return the active manifest and those of the versions that it was made from, one from the other."""
    reached, rest = set(), [active]
    while rest:
        label = rest.pop()
        if label in records and label not in reached:
            reached.add(label)
            ingredients = records[label]["ingredients"]
            rest += [i["active_manifest"] for i in ingredients if i["relationship"] == "parentOf"]
    return reached


_SHARED = {
    "manifest": "label",
    "active": "active",
    "placed": "placed",
    "generator": "generator",
    "issuer": "issuer",
    "self_signed": "self_signed",
}


def _sources(record: dict[str, Any], manifest: dict[str, Any]) -> list[dict[str, Any]]:
    shared = {key: record[name] for key, name in _SHARED.items()}
    sources = [
        {**shared, "source": a["source"], "action": a["action"], "agent": a["agent"]}
        for a in record["actions"]
        if a["source"]
    ]
    for assertion in (manifest.get("assertions") or [])[:MAX_ITEMS]:
        data = assertion.get("data")
        # Metadata assertions write names with the prefix of their vocabulary.
        stated = (data[key] for key in data if key.endswith("igitalSourceType")) if isinstance(data, dict) else ()
        sources += [
            {**shared, "source": _last(value), "action": str(assertion.get("label")), "agent": ""}
            for value in stated
            if value
        ]
    return sources


def _failures(store: dict[str, Any], active: str) -> list[dict[str, Any]]:
    results = store.get("validation_results") or {}
    rows = [(row, True) for row in (results.get("activeManifest") or {}).get("failure") or []]
    for delta in results.get("ingredientDeltas") or []:
        rows += [(row, False) for row in (delta.get("validationDeltas") or {}).get("failure") or []]
    if not results:
        rows += [(row, active in str(row.get("url"))) for row in store.get("validation_status") or []]
    return [
        {
            "code": str(row.get("code")),
            "explanation": str(row.get("explanation") or ""),
            "url": str(row.get("url") or ""),
            "active": of_active,
        }
        for row, of_active in rows[:MAX_ITEMS]
    ]


def _offset(path: str | Path) -> int | None:
    """Return where the first JUMBF or C2PA marker stands, or ``None``: most files have none and need no parser."""
    step, overlap, position, rest = 1 << 20, 32, 0, b""
    with Path(path).open("rb") as file:
        while block := file.read(step):
            joined = rest + block
            hits = [i for i in (joined.find(marker) for marker in MARKERS) if i >= 0]
            if hits:
                return position - len(rest) + min(hits)
            position += len(block)
            rest = joined[-overlap:]
    return None
