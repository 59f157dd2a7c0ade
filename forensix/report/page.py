"""Reports as HTML: one page for any number of reports, or a fragment for a notebook.

Every string is taken to be hostile: templates escape all of it, hidden characters are shown, and pictures are embedded
only when they are JPEG or PNG data, sound and films only when they are MP3 and MP4 data. A page needs no script and no
network; only where there is sound or a film it holds one script, which moves a line while that plays; its content
security policy forbids all other.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from forensix.folders import expanded, write_whole
from forensix.forensics.findings import joined
from forensix.report import charts, filemap, film, strips, structure, words
from forensix.report.claims import ClaimView, cut
from forensix.report.embedded import Room, safe
from forensix.report.sections import Section, sections
from forensix.report.text import marked, visible
from forensix.schema import SEVERITIES
from forensix.tasks.evidence import Bounds, Curve, Film, Lineage, Recording, StructureMap, Table, Timeline
from forensix.tasks.verdicts import score_text

if TYPE_CHECKING:
    from forensix.report.report import Report

_COMMAND = re.compile(r"`(forensix [a-z-]+)`")

MAX_ROWS = 1000
"""Longer tables are cut, and say so."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_MACROS: dict[type, str] = {
    Timeline: "timeline",
    Recording: "recording",
    Curve: "curve",
    Film: "film",
    Bounds: "bounds",
    Table: "table",
    Lineage: "lineage",
    StructureMap: "structure",
}


def _clean(value: Any) -> Any:
    """Show hidden characters in whatever a template prints that no filter has prepared."""
    return visible(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def safe_uri(uri: str, kind: str) -> Markup:
    """Return a data URI, ready for an attribute, or nothing when it is not a picture, sound or film of ours."""
    return Markup(uri if safe(uri, kind) else "")


def coded(html: Markup) -> Markup:
    """Set commands of this program apart, which explanations quote in backticks; nothing else is changed."""
    return Markup(_COMMAND.sub(r"<code>\1</code>", str(html)))


def display_kind(item: object) -> str:
    """Return the name of the template macro that draws a display."""
    return _MACROS[type(item)]


def map_view(item: StructureMap, claims: Iterable[ClaimView]) -> filemap.FileMap:
    """Lay out the map of a file, with marks where the facts of the claims lie."""
    return filemap.file_map(item, [(c.number, c.severity, offset) for c in claims for offset in c.offsets])


def by_severity(claims: Iterable[ClaimView]) -> list[tuple[str, list[ClaimView]]]:
    """Return the claims of each severity that there is, gravest first."""
    claims = list(claims)
    groups = [(severity, [c for c in claims if c.severity == severity]) for severity in SEVERITIES]
    return [(severity, group) for severity, group in groups if group]


@cache
def environment() -> Environment:
    """Return what renders the templates of reports: everything is escaped, and what is undefined is an error."""
    env = Environment(
        loader=PackageLoader("forensix.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    env.filters |= {
        "shown": marked,
        "link": quote,
        "safe_uri": safe_uri,
        "duration": words.time_text,
        "coded": coded,
        "score": score_text,
        "moment": words.moment_text,
        "size": words.size_text,
        "span": structure.node_span,
        "cut": cut,
        "groupby_severity": by_severity,
        "joined": joined,
    }
    env.tests["longer"] = lambda text, limit: len(text) > limit
    env.globals |= {
        "timeline_view": charts.timeline_view,
        "curve_view": charts.curve_view,
        "bound_view": strips.bound_view,
        "map_view": map_view,
        "film_view": film.film_view,
        "recording_view": charts.recording_view,
        "display_kind": display_kind,
        "plural": words.plural,
        "symbols": words.SYMBOLS,
        "severity_meaning": words.SEVERITY_MEANING,
        "max_rows": MAX_ROWS,
    }
    return env


def python_call(report: "Report") -> str:
    """Return the call that repeats a report, with the settings that have a literal form; objects are in capitals."""
    arguments = ["INPUT", f"name={report.name!r}"] if "input" in report.objects else [repr(report.input)]
    for name, value in report.settings.items():
        if name in report.objects:
            arguments.append(f"{name}={name.upper()}")
        elif name == "limits":
            bounds = ", ".join(f"{bound}={most!r}" for bound, most in value.items())
            arguments.append(f"limits=forensix.media.Limits({bounds})")
        elif name.isidentifier() and isinstance(value, (str, int, float, bool, list, tuple)):
            arguments.append(f"{name}={list(value) if isinstance(value, tuple) else value!r}")
    if report.additional_info is not None:
        arguments.append(f"additional_info={report.additional_info!r}")
    return f"forensix.analyze({', '.join(arguments)})"


def _value_text(value: Any) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), _value_text(value)) for name, value in values.items()]


def _how_to_read(sections: Iterable[Section]) -> list[str]:
    """Return what a reader has to know of scores and of claims, where there are any; of scores on an empty page."""
    sections = list(sections)
    texts = [words.HOW_TO_READ] if any(s.scale is not None or not s.claims for s in sections) or not sections else []
    return [*texts, words.HOW_TO_READ_CLAIMS] if any(s.claims for s in sections) else texts


def _context(report: "Report", anchor: str = "") -> dict[str, Any]:
    """Return what the templates draw; ``anchor`` begins the ids that links lead to, and without one there are none."""
    parts: Sequence[Section] = sections(report)
    return {
        "report": report,
        "anchor": anchor,
        "sections": parts,
        "content": words.content_text(report.kind, report.format),
        "info": words.info_rows(dict(report.info)),
        "call": report.command or python_call(report),
        "settings": _texts(report.settings),
        "versions": _texts(report.versions),
        "timings": [(words.task_title(task), words.time_text(seconds)) for task, seconds in report.timings_s.items()],
    }


def _script(sections: Iterable[Section]) -> Markup:
    """Return the script that lets the displays of a recording or a film follow its player, where there is one."""
    displays = [d for section in sections for d in section.displays]
    has_sound = any(isinstance(d, Recording) and safe(d.sound, "sound") for d in displays)
    if not has_sound and not any(isinstance(d, Film) and safe(d.clip, "film") for d in displays):
        return Markup()
    return Markup(files("forensix.report").joinpath("templates/follow.js").read_text(encoding="utf-8"))


def _hash_of(script: str) -> str:
    """Return what lets a content security policy allow exactly this script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def render_page(reports: "Iterable[Report]", *, title: str | None = None, ended_early: bool = False) -> str:
    """Return one HTML page with all reports; it needs no other file, no network and no script.

    ``ended_early`` has it say that there were more inputs.
    """
    contexts = [_context(report, f"input-{number}") for number, report in enumerate(reports, 1)]
    if title is None:
        title = contexts[0]["report"].name if len(contexts) == 1 else words.plural(len(contexts), "input")
    parts = [section for context in contexts for section in context["sections"]]
    script = _script(parts)
    policy = POLICY if not script else f"{POLICY}; media-src data:; script-src {_hash_of(script)}"
    page = environment().get_template("page.html")
    return page.render(
        contexts=contexts,
        title=title,
        policy=policy,
        ended_early=words.ENDED_EARLY if ended_early else "",
        how_to_read=_how_to_read(parts),
        script=script,
        room=Room(),
    )


def render_index(rows: Sequence[Mapping[str, Any]], *, ended_early: bool = False) -> str:
    """Return a page that links the reports of a folder; a row has ``report``, ``sections`` and ``file``, its name.

    ``ended_early`` has it say that there were more inputs.
    """
    page = environment().get_template("index.html")
    return page.render(
        rows=rows,
        policy=POLICY,
        ended_early=words.ENDED_EARLY if ended_early else "",
        how_to_read=(words.HOW_TO_READ, words.HOW_TO_READ_CLAIMS),
    )


def render_fragment(report: "Report") -> str:
    """Return a report as HTML to be shown inside another page; its styles reach nothing outside of it."""
    context = _context(report)
    extras = {"how_to_read": _how_to_read(context["sections"]), "script": _script(context["sections"])}
    return environment().get_template("fragment.html").render(context=context, room=Room(), **extras)


def styles() -> str:
    """Return the style sheet of reports, for what is shown beside them; it speaks of the class ``fx`` alone."""
    return environment().get_template("style.css").render()


def save_page(
    reports: "Iterable[Report]", path: str | Path, *, title: str | None = None, ended_early: bool = False
) -> Path:
    """Write :func:`render_page` to ``path`` in one step: a reader sees the old page or the new one, never a part."""
    return write_whole(expanded(path), render_page(reports, title=title, ended_early=ended_early))
