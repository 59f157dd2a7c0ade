"""Claims about PDF documents: who wrote them, how they are locked, what they can do, what they carry.

What is drawn over what is in `pdf_covers`, versions and dates are in `pdf_versions` and `pdf_dates`, signatures in
`pdf_signatures`, words that are not seen in `pdf_unseen`, words that are not stored as they are seen in `pdf_words`. A
lock, a script or an attachment says nothing about tampering by itself; it is told so that an examiner knows what was
not seen.

References
----------
ISO 32000-2:2020; C. Mainka et al., "Shadow Attacks: Hiding and Replacing Content in Signed PDFs", 2021.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import (
    pdf_covers,
    pdf_dates,
    pdf_pictures,
    pdf_producers,
    pdf_signatures,
    pdf_unseen,
    pdf_versions,
    pdf_words,
    video_tags,
)
from forensix.forensics.software import SCANNER, named
from forensix.metadata.facts import Facts

FORM_SCRIPT = re.compile(r"^\s*(AF(Number|Date|Time|Special|Percent|Simple|Range|Make|Extract|Merge)\w*|event\.value)")
EXECUTABLE = re.compile(r"\.(exe|scr|bat|cmd|com|js|vbs|ps1|jar|msi|dll|hta|lnk|sh|app|apk|docm|xlsm|pptm)$", re.I)
BESIDE = re.compile(r"(?!/)(?:[^\\/:%<>|\x00-\x1f]+/)*[^\\/:%<>|\x00-\x1f]+\.pdf", re.I)
"""A document in the same folder or below: nothing on another host, and no program."""

UNREAD = re.compile(r"cannot be (read|opened)|was not opened")
"""In the message of a problem: what the document says was not read, or not all of it."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what follows from the facts of a PDF."""
    yield from pdf_covers.rules(facts)
    yield from pdf_unseen.rules(facts)
    yield from pdf_words.rules(facts)
    yield from video_tags.software(
        # One cause is told once: what says of itself that it modified the document is told so.
        (f for f in pdf_producers.names(facts) if f not in pdf_producers.modified(facts)),
        screen_type=False,
    )
    yield from video_tags.history(facts)
    yield from pdf_versions.rules(facts)
    yield from pdf_dates.rules(facts)
    yield from pdf_producers.rules(facts)
    yield from pdf_pictures.rules(facts)
    yield from pdf_signatures.rules(facts)
    yield from _encryption(facts)
    yield from _actions(facts)
    yield from _contents(facts)
    yield from _origin(facts)


def _encryption(facts: Facts) -> Iterator[Finding]:
    encryption = list(facts.all("pdf.encryption"))
    if not encryption:
        return
    method = facts.get("pdf.encryption.method") or "unknown method"
    about = f"{method}, {facts.get('pdf.encryption.version')}" if facts.get("pdf.encryption.version") else method
    if facts.get("pdf.encryption.recipients") is not None:
        yield finding(
            "benign",
            "The document opens only with a certificate",
            f"It is encrypted ({about}) for the holders of certain certificates; only its structure could be read.",
            "security",
            "security",
            facts=encryption,
            values=[about],
            details=(("password_protected", True),),
        )
    elif facts.get("pdf.encryption.locked"):
        yield finding(
            "benign",
            "The document opens only with a password",
            f"It is encrypted ({about}) and an empty password does not open it. Its structure and its versions could "
            "be read; its text, its information and its pictures could not.",
            "security",
            "security",
            facts=encryption,
            values=[about],
            details=(("password_protected", True),),
        )
    else:
        forbidden = [name.replace("_", " ") for name in facts.get("pdf.encryption.forbidden") or []]
        what = f" It asks viewers to forbid: {', '.join(forbidden)}." if forbidden else ""
        yield finding(
            "benign",
            "The document is encrypted but opens without a password",
            f"It is encrypted ({about}); only an owner password, which viewers may ask for, protects it.{what}",
            "security",
            "security",
            facts=encryption,
            values=[about, *forbidden],
            details=(("password_protected", False),),
        )


def _actions(facts: Facts) -> Iterator[Finding]:
    scripts = list(facts.all("pdf.action.JavaScript"))
    own = [f for f in scripts if not FORM_SCRIPT.match(str(f.value))]
    at_opening = facts.get("pdf.open_action") == "JavaScript" or facts.get("pdf.additional_actions")
    if scripts:
        runs = "One runs as soon as the document is opened, printed or saved." if at_opening else ""
        kind = "" if own else "These only format and check form fields."
        yield finding(
            "suspect" if own and at_opening else "benign",
            f"The document holds JavaScript ({len(scripts)} {'script' if len(scripts) == 1 else 'scripts'})",
            f"A script can change what a reader sees, fetch data or attack the viewer. {runs}{kind}".strip(),
            "security",
            "security",
            facts=(own or scripts)[:20],
        )
    opens = [f for f in facts.all("pdf.action.Launch") if BESIDE.fullmatch(str(f.value))]
    if opens:
        yield finding(
            "benign",
            "The document can open another document beside it",
            f"{place(opens[0])} names {str(opens[0].value)[:120]!r}. Forms lead to their instructions so.",
            "security",
            "security",
            facts=opens[:20],
        )
    for key, what, severity in (
        ("Launch", "The document can start another program", "suspect"),
        ("SubmitForm", "The document can send its form to an address", "benign"),
        ("ImportData", "The document can fill its form from a file", "suspect"),
        ("GoToE", "The document can open a document inside it", "benign"),
    ):
        actions = [f for f in facts.all(f"pdf.action.{key}") if f not in opens]
        if actions:
            yield finding(
                severity,  # type: ignore[arg-type]
                what,
                f"{place(actions[0])} holds an action of the kind {key}. Forms and portfolios use such actions, and so "
                "does malicious software.",
                "security",
                "security",
                facts=actions[:20],
                values=[str(f.value)[:200] for f in actions[:20] if f.value],
            )
    opening = facts.fact("pdf.open_action")
    if opening and opening.value not in ("GoTo", "?"):
        yield finding(
            "benign",
            f"An action runs when the document is opened ({opening.value})",
            f"{place(opening)} holds an action of the kind {opening.value}, which a viewer may carry out without "
            "asking.",
            "security",
            "security",
            facts=[opening],
        )


def _contents(facts: Facts) -> Iterator[Finding]:
    files = [*facts.all("pdf.embedded_file"), *facts.all("pdf.embedded_media")]
    danger = [f for f in files if EXECUTABLE.search(str(f.value))]
    if files:
        yield finding(
            "suspect" if danger else "benign",
            f"The document carries other files ({len(files)})",
            "Files or media are attached inside it" + (", among them programs or scripts." if danger else "."),
            "security",
            "security",
            facts=(danger or files)[:20],
        )
    changed = facts.records("pdf.changed_file")
    if changed:
        yield finding(
            "suspect",
            "An attached file is not the one that was attached"
            if len(changed) == 1
            else f"{len(changed)} attached files are not those that were attached",
            f"{place(changed[0])}: beside {changed[0].value['name'][:80]!r} stands the MD5 of the file that was "
            "attached, and that of the file that is there now is another. What is attached was changed or exchanged "
            "later, by a program that knows nothing of the checksum; one that reckons it wrongly leaves this too. "
            "Invoices carry the amounts and the account that machines read in such a file.",
            "structure",
            "editing",
            facts=changed,
            values=[f"{f.value['name']}: stated {f.value['stated']}, is {f.value['present']}" for f in changed],
            flags=("FILE_EDITED",),
        )
    if facts.get("pdf.form.xfa"):
        yield finding(
            "benign",
            "The document holds an XFA form",
            "What a reader sees may be drawn from the XFA form and not from the pages, and differ between viewers.",
            "security",
            "security",
            facts=list(facts.all("pdf.form.xfa")),
            values=(),
        )
    links = list(facts.all("pdf.uri"))
    hosts = list(dict.fromkeys(host for f in links if (host := _host(str(f.value)))))
    if hosts:
        yield finding(
            "benign",
            f"The document links to {len(hosts)} {'address' if len(hosts) == 1 else 'addresses'}",
            "Links that a reader can follow lead out of it.",
            "metadata",
            "origin",
            facts=links[:40],
            values=hosts[:40],
        )


def _host(link: str) -> str:
    try:
        return urlsplit(link).hostname or ""
    except ValueError:
        return ""


def _origin(facts: Facts) -> Iterator[Finding]:
    scan = facts.fact("pdf.scan")
    named_scanner = [f for f, p in named(video_tags.made_with(facts)) if p.name == SCANNER]
    if named_scanner or (scan and not facts.get("pdf.text_pages")):
        sure = (
            "names a scanner" if named_scanner else "holds pages that are one picture each, without text of their own"
        )
        yield finding(
            "benign",
            "The document looks like a scan",
            f"It {sure}, as a scanned or photographed page has. A picture put into a document looks the same.",
            "metadata",
            "origin",
            facts=[*named_scanner, *([scan] if scan else [])],
            values=[
                *(f.value for f in named_scanner),
                *([f"{scan.value} {'page' if scan.value == 1 else 'pages'}"] if scan else []),
            ],
        )
    # Where the document or a part of it could not be read, what it names is not known.
    failed = any(p.where == "document" and UNREAD.search(p.message) for p in facts.problems)
    is_read = not failed and not facts.get("pdf.encryption.locked")
    if is_read and not any(facts.get(k) for k in video_tags.NAMES):
        yield finding(
            "benign",
            "The document does not say which program wrote it",
            "It holds neither a producer nor a creator. Programs may leave them out and people may remove them, so "
            "this is no sign of editing.",
            "metadata",
            "origin",
        )
