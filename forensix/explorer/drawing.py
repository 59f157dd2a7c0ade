"""What stands around reports: sentences, a page of a table of scores, a row, a histogram. All text is escaped."""

import base64
import io
import warnings
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import pandas as pd
from markupsafe import Markup

from forensix.evaluation import Evaluation
from forensix.evaluation.displays import ScoreDisplay
from forensix.explorer.selection import AS_THEY_ARE, FALSE_ALARM, MISS, OUTCOMES, Selection
from forensix.labels import LABELS
from forensix.report.page import styles
from forensix.report.text import marked, visible
from forensix.report.words import SYMBOLS, number_text, plural, task_title
from forensix.tasks.pictures import score_colour
from forensix.tasks.verdicts import score_text

MOST_SERIES = 12
"""Histograms beside each other; of more values, all rows are drawn as one."""

_TONES = {"right": "real", FALSE_ALARM: "fake", MISS: "suspect", "failed": "failed", "nothing to score": "none"}
_SYMBOLS = {FALSE_ALARM: "▲", MISS: "▼"} | {
    name: SYMBOLS[tone] for name, tone in _TONES.items() if name not in (FALSE_ALARM, MISS)
}
_TELLING = ("source", "family", "generator", "method", "system", "language", "quality", "split")
_MOST_TOLD = 3


def style() -> str:
    """Return the style sheets, of reports and of what stands around them, as one element."""
    own = resources.files("forensix.explorer").joinpath("style.css").read_text(encoding="utf-8")
    return f"<style>{styles()}\n{own}</style>"


def sentence(text: str, *, wrong: bool = False) -> str:
    """Draw one sentence; nothing for an empty one."""
    if not text:
        return ""
    look = " fx-wrong" if wrong else ""
    symbol = Markup('<span aria-hidden="true">✕</span> ') if wrong else ""
    return f'<div class="fx"><p class="fx-say{look}" role="status">{symbol}{marked(text)}</p></div>'


def heading(evaluation: Evaluation) -> str:
    """Draw what an evaluation is of, and what its reader should know."""
    files = plural(evaluation.scores["path"].nunique(), "file")
    title = f"{task_title(str(evaluation.info['task']))}: {files}, {', '.join(evaluation.components)}"
    notes = Markup("").join(Markup("<li>{}</li>").format(marked(note)) for note in evaluation.notes)
    listed = Markup('<ul class="fx-notes">{}</ul>').format(notes) if notes else ""
    return f'<div class="fx"><h2 class="fx-title">{marked(title)}</h2>{listed}</div>'


def counted(rows: pd.DataFrame, n_all: int) -> str:
    """Draw how many rows are shown and what they are."""
    counts = rows["outcome"].value_counts()
    words = ", ".join(f"{_SYMBOLS[name]} {_number(counts[name], name)}" for name in OUTCOMES if counts.get(name, 0))
    return sentence(f"{plural(len(rows), 'row')} of {n_all:,}" + (f": {words}" if words else ""))


def _number(n: int, outcome: str) -> str:
    several = {FALSE_ALARM: "false alarms", MISS: "misses"}
    return f"{n:,} {several.get(outcome, outcome) if n > 1 else outcome}"


def column_names(frame: pd.DataFrame, selection: Selection) -> tuple[str, ...]:
    """Return the columns that a page shows beside the score: those that are chosen by, and a few that tell most."""
    some = [name for name in _TELLING if name in frame.columns and frame[name].nunique() > 1][:_MOST_TOLD]
    first = ["condition"] if selection.degradation is None else []
    named = [name for name in selection.where if name not in ("label", "condition", "outcome")]
    return tuple(dict.fromkeys([*first, *named, *some]))


def page(rows: pd.DataFrame, columns: Sequence[str], current: int | None) -> str:
    """Draw some rows of a table, without the names of the files; ``current`` is the position that is looked at."""
    with_error = bool((rows["outcome"] == "failed").any())
    titles = ["label", "score", "verdict is", "wrong by", *columns, *(["error"] if with_error else [])]
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(marked(title)) for title in titles)
    body = [_row(row, columns, with_error, place == current) for place, (_, row) in enumerate(rows.iterrows())]
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="fx"><table class="fx-rows">{table}</table></div>'


def _row(row: "pd.Series[Any]", columns: Iterable[str], with_error: bool, current: bool) -> str:
    scored = not pd.isna(row["score"])
    cells = [
        Markup("<td>{}</td>").format(marked(row["label"])),
        Markup('<td><span class="fx-swatch" style="background:{}"></span>{}</td>').format(
            "#{:02x}{:02x}{:02x}".format(*score_colour(float(row["score"]))), score_text(float(row["score"]))
        )
        if scored
        else Markup("<td>–</td>"),
        _outcome(str(row["outcome"])),
        Markup('<td class="fx-number">{}</td>').format(f"{row['wrong_by']:+.2f}" if scored else "–"),
        *(Markup('<td title="{}">{}</td>').format(_plain(row[name]), marked(_plain(row[name]))) for name in columns),
    ]
    if with_error:
        cells.append(Markup('<td title="{}">{}</td>').format(_plain(row["error"]), marked(_plain(row["error"]))))
    return f"<tr{' class=fx-looked' if current else ''}>{Markup('').join(cells)}</tr>"


def _outcome(name: str) -> Markup:
    return Markup('<td><span class="fx-out fx-{}"><span aria-hidden="true">{}</span> {}</span></td>').format(
        _TONES[name], _SYMBOLS[name], name
    )


def _plain(value: object) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)) or value is pd.NA:
        return "–"
    return visible(number_text(value) if isinstance(value, float) else value, limit=300)


def looked_at(row: "pd.Series[Any]", threshold: float) -> str:
    """Draw the row whose file is looked at."""
    scored = "no score" if pd.isna(row["score"]) else f"score {score_text(float(row['score']))}"
    outcome = str(row["outcome"])
    condition = "" if row["degradation"] == AS_THEY_ARE else f", degraded by {row['condition']}"
    name = "inconclusive" if row.get("inconclusive") else row["class_name"]
    verdict = f", verdict {name}" if name in (*LABELS, "inconclusive") else ""
    called = f"called fake from {number_text(threshold)}{condition}"
    words = f"labelled {row['label']}, {scored} by {row['component']}{verdict}, {called}"
    error = "" if row["error"] is None or pd.isna(row["error"]) else f": {row['error']}"
    return Markup(
        '<div class="fx"><h2 class="fx-title">{}</h2><p class="fx-say">{}: '
        '<strong class="fx-out fx-{}"><span aria-hidden="true">{}</span> {}</strong>{}</p></div>'
    ).format(marked(row["path"]), marked(words), _TONES[outcome], _SYMBOLS[outcome], outcome, marked(error))


def histogram(rows: pd.DataFrame, threshold: float, column: str | None) -> str:
    """Draw how the scores of rows lie, by a column where it has few values; a sentence where there are none."""
    scored = rows[rows["score"].notna()]
    if scored.empty:
        return sentence("No score to draw: nothing here was scored." if len(rows) else "No row matches.")
    if column is None or not 1 < scored[column].nunique(dropna=False) <= MOST_SERIES:
        column = None
    # Without the conditions, which a display would choose by: they are chosen already.
    table = scored[["label", "score", "class_name"]].copy()
    if column is not None and column != "label":
        table["shown"] = (
            scored[column].astype(object).where(scored[column].notna(), "unknown").astype(str).map(_literal)
        )
    by = "shown" if "shown" in table else None
    display = ScoreDisplay.from_frame(table, by, threshold=threshold, verdicts=True)
    return picture(display, f"Histogram of {plural(len(scored), 'score')} from 0 to 1, real and fake apart")


def _literal(name: str) -> str:
    """Return a name that plots take as it is: a dollar sign would start a formula."""
    return visible(name, limit=40).replace("$", r"\$")


def picture(display: ScoreDisplay, described: str) -> str:
    """Draw a display as a picture that scales."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    with plt.ioff(), warnings.catch_warnings():
        # Of letters that the font lacks: a box stands for them, and the log of the notebook is no place for it.
        warnings.simplefilter("ignore")
        figure = display.plot().figure_
        figure.savefig(buffer, format="svg", transparent=True)  # type: ignore[union-attr]
        plt.close(figure)  # type: ignore[arg-type]
    data = base64.b64encode(buffer.getvalue()).decode()
    return Markup('<img class="fx-explorer-plot" alt="{}" src="data:image/svg+xml;base64,{}">').format(described, data)
