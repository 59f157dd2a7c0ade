"""The report of one input: what each task found, with everything needed to repeat it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix.errors import UsageError
from forensix.report.claims import facts_with_claims, numbered
from forensix.report.headline import headline
from forensix.report.words import FAILED, verdict, verdict_class
from forensix.schema import Speaker, TaskReport
from forensix.tasks.catalogue import describe
from forensix.tasks.evidence import Basis, Outcome, check_outcome
from forensix.tasks.verdicts import score_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Report:
    """The results of one medium.

    A report draws itself in a notebook; ``print_report`` writes it to a terminal, :meth:`save_html` to a page that
    needs nothing else.
    """

    input: str
    """The path or URL as it was given."""
    name: str
    sha256: str | None = None
    kind: str | None = None
    format: str | None = None
    size_bytes: int | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the medium: ``width_px``, ``duration_s``, ..."""
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """A sentence for each task that failed."""
    error: str | None = None
    """Why the input as a whole could not be analysed."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """The slug of each error, by task; that of :attr:`error` is under ``"input"``."""
    tracebacks: Mapping[str, str] = field(default_factory=dict)
    """For errors with the slug ``internal``, under the same keys: where the program broke down, line by line."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    models: tuple[Mapping[str, Any], ...] = ()
    """``name`` and ``sha256`` of each model that was used. ``component``, ``summary``, ``threshold``, ``inconclusive``,
    ``limits``, ``licence`` and ``calibrated`` are shown where they are there."""
    timings_s: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    additional_info: str | None = None
    started: str | None = None
    """ISO 8601, UTC."""
    command: str | None = None
    """What makes the report again, where that is more than a call with :attr:`input` and :attr:`settings`."""
    objects: tuple[str, ...] = ()
    """What was handed over as an object, so that no text says it: slots of components, ``"input"`` for the input."""

    def __post_init__(self) -> None:
        for task, outcome in self.outcomes.items():
            check_outcome(outcome)
            if task in self.errors:
                raise ValueError(f"{task} cannot both have an outcome and have failed")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that were run, those that failed last."""
        return (*self.outcomes, *self.errors)

    @property
    def failed(self) -> bool:
        """Whether the input could not be analysed, or a task did not finish."""
        return self.error is not None or bool(self.errors)

    @property
    def results(self) -> dict[str, TaskReport]:
        """The specification's object (section 2.1) for each task."""
        return {task: self._task_report(task) for task in self.tasks}

    @property
    def scores(self) -> dict[str, float | None]:
        """Scores in [0, 1], higher is more likely fake; ``None`` where there is nothing to score or the task failed."""
        return {task: self.outcomes[task].score if task in self.outcomes else None for task in self.tasks}

    @property
    def verdicts(self) -> dict[str, str]:
        """One word a task: its class name, or ``"inconclusive"``, ``"failed"``.

        For claims it is the gravest severity, or ``"no_claims"``.
        """
        done = {task: verdict_class(outcome) for task, outcome in self.outcomes.items()}
        return done | dict.fromkeys(self.errors, "failed")

    @property
    def headline(self) -> str:
        """One sentence for the whole file: what was found, how sure that is, and what stays open; see `headline`."""
        return headline(self.outcomes, {} if self.error else self.errors, self.kind)

    def task_id(self, task: str) -> str:
        """Return an identifier that is the same for the same bytes, task, settings and models."""
        outcome = self.outcomes.get(task)
        used = outcome.models if outcome else ()
        models = sorted((str(m["name"]), str(m.get("sha256"))) for m in self.models if m["name"] in used)
        made_of = [self.sha256 or self.input, task, dict(self.settings), models]
        return hashlib.sha256(json.dumps(made_of, sort_keys=True, default=str).encode()).hexdigest()[:32]

    def _task_report(self, task: str) -> TaskReport:
        outcome = self.outcomes.get(task)
        error = None if outcome else self.errors.get(task) or self.error
        if outcome is None and error is None:
            raise UsageError(f"task {task!r} was not run on {self.name}; run were: {', '.join(self.tasks) or 'none'}")
        description = describe(task)
        return TaskReport(
            id=self.task_id(task),
            status="completed" if outcome else "failed",
            event_type=description.event,
            error=error,
            result=outcome.result if outcome else None,
            preview=outcome.preview if outcome and description.has_preview else None,
            additional_info=self.additional_info if "additional_info" in description.options else None,
        )

    def to_wire(self, task: str) -> dict[str, Any]:
        """Return the result object of the specification (section 2.1) for one task.

        Raises
        ------
        UsageError
            The task was not run.
        """
        return self._task_report(task).to_wire()

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text of one line."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as a dict that JSON can hold; ``error`` also tells of tasks that failed.

        Of what is inconclusive only ``verdicts`` says so: the class of the specification's ``results`` is then "real".
        """
        return {
            "input": self.input,
            "sha256": self.sha256,
            "results": {task: self.to_wire(task) for task in self.tasks},
            "verdicts": self.verdicts,
            "scores": self.scores,
            "error": self.error or " ".join(dict.fromkeys(self.errors.values())) or None,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row a task; an input that could not be analysed gives one row.

        ``score`` and ``time_s`` are floats, NaN where there is none, also in what ``pandas.concat`` makes of many.
        """
        import pandas as pd

        common: dict[str, Any] = {
            "input": self.input,
            "name": self.name,
            "sha256": self.sha256,
            "kind": self.kind,
            "format": self.format,
        }
        rows = [
            common
            | {
                "task": task,
                "verdict": self.verdicts[task],
                "score": self.scores[task],
                "summary": self.outcomes[task].summary if task in self.outcomes else None,
                "error": self.errors.get(task),
                "time_s": self.timings_s.get(task),
            }
            for task in self.tasks
        ]
        without = dict.fromkeys(("task", "verdict", "score", "summary", "error", "time_s"))
        frame = pd.DataFrame([_storable(row) for row in rows or [common | without | {"error": self.error}]])
        return frame.astype({"score": "float64", "time_s": "float64"})

    def claims(self) -> "pd.DataFrame":
        """Return the forensic claims as a data frame, one row a claim, gravest first.

        ``number`` is the claim's number in the drawn report; ``value`` is a tuple of texts; ``n_facts`` counts the
        facts that the claim rests on, where evidence was asked for. Frames of many reports can be put together with
        ``pandas.concat``: ``name`` tells them apart.
        """
        import pandas as pd

        columns = ("name", "number", "severity", "type", "user_category", "claim", "explanation", "value", "n_facts")
        rows = []
        for outcome in self.outcomes.values():
            bases = {item.claim: len(item.facts) for item in outcome.evidence if isinstance(item, Basis)}
            rows += [
                {
                    "name": self.name,
                    "number": number,
                    "severity": severity,
                    **dict(claim),
                    "n_facts": bases.get(claim),
                }
                for number, severity, claim in numbered(outcome.result)
            ]
        return pd.DataFrame([_storable(row) for row in rows], columns=list(columns)).astype(
            {"number": "int64", "n_facts": "Int64"}
        )

    def facts(self, claim: int | None = None) -> "pd.DataFrame":
        """Return what was read from the file as a data frame: ``name``, ``fact``, ``value``, ``where``, ``offset``,
        ``claims``.

        ``offset`` is in bytes from the start of the file, absent where the fact has no single place; ``claims`` holds
        the numbers of the claims that rest on the fact. Give the number of a ``claim`` for the facts of that one.
        Without evidence (``explain=False``) there are no rows.
        """
        import pandas as pd

        rows = [
            _storable(
                {
                    "name": self.name,
                    "fact": fact.key,
                    "value": fact.value,
                    "where": fact.where,
                    "offset": fact.offset,
                    "claims": numbers,
                }
            )
            for outcome in self.outcomes.values()
            for fact, numbers in facts_with_claims(outcome)
            if claim is None or claim in numbers
        ]
        frame = pd.DataFrame(rows, columns=["name", "fact", "value", "where", "offset", "claims"])
        return frame.astype({"offset": "Int64"})

    def to_rttm(self) -> str:
        """Return who speaks when as RTTM (NIST, Rich Transcription), a line a segment in order of time.

        Raises
        ------
        UsageError
            The report has no speakers: no voice was analysed, none was heard, or evidence was not asked for.
        """
        explanations = (getattr(outcome.result, "explanation", None) or () for outcome in self.outcomes.values())
        speakers = [speaker for listed in explanations if isinstance(listed, tuple) for speaker in listed]
        turns = sorted((s.start, s.end, v.speaker) for v in speakers if isinstance(v, Speaker) for s in v.segments)
        if not turns:
            raise UsageError(f"the report of {self.name} has no speakers: analyse a voice with explain=True")
        name = "_".join(self.name.split())
        line = "SPEAKER {} 1 {:.3f} {:.3f} <NA> <NA> {} <NA> <NA>\n".format
        return "".join(line(name, start, end - start, "_".join(who.split())) for start, end, who in turns)

    def to_html(self) -> str:
        """Return the report as one HTML page that needs no other file, no network and no script."""
        from forensix.report.page import render_page

        return render_page([self])

    def save_html(self, path: str | Path) -> Path:
        """Write the page of :meth:`to_html` in one step, and return its path."""
        from forensix.report.page import save_page

        return save_page([self], path)

    def _repr_html_(self) -> str:
        from forensix.report.page import render_fragment

        return render_fragment(self)

    def __repr__(self) -> str:
        if self.error:
            return f"<Report {self.name!r}: {self.error}>"
        parts = []
        for task in self.tasks:
            outcome = self.outcomes.get(task)
            word = verdict(task, outcome).word.lower() if outcome else FAILED.word.lower()
            score = f" (score {score_text(outcome.score)})" if outcome and outcome.score is not None else ""
            parts.append(f"{task} {word}{score}")
        return f"<Report {self.name!r}: {'; '.join(parts) or 'no tasks'}>"


def _storable(row: dict[str, Any]) -> dict[str, Any]:
    """Escape what no column of text can hold: halves of characters, which file names and tags may carry."""
    return {
        key: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for key, value in row.items()
    }
