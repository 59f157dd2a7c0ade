"""Results of the service, drawn as the library draws its own."""

from typing import TYPE_CHECKING

from forensix.schema import TaskReport
from forensix.tasks.catalogue import descriptions

if TYPE_CHECKING:
    from forensix.report import Report
    from forensix.tasks.evidence import Outcome

NOT_TOLD = "The service does not call it fake; whether it is real or undecided, it does not tell."


def to_report(name: str, *answers: TaskReport) -> "Report":
    """Return a report that draws finished tasks on one medium, in a notebook or as a page.

    It shows what the service sends; scores of what is real and the detailed evidence stay with the service. What is
    undecided is of the class ``real`` as well, so nothing of that class is called real here.

    Examples
    --------
    >>> to_report("talk.mp3", client.analyze("voice_analysis", "talk.mp3"))  # doctest: +SKIP
    """
    from forensix.report import Report

    names = {task.event: task.name for task in descriptions()}
    done = {names[a.event_type]: a for a in answers}
    return Report(
        input=name,
        name=name,
        outcomes={task: _outcome(a) for task, a in done.items() if a.result},
        errors={task: a.error for task, a in done.items() if a.error},
        additional_info=next((a.additional_info for a in answers if a.additional_info), None),
    )


def _outcome(answer: TaskReport) -> "Outcome":
    from forensix.tasks.evidence import Outcome

    assert answer.result is not None
    score = getattr(answer.result, "class_probability", None)
    if getattr(answer.result, "class_name", None) == "real":
        return Outcome(
            answer.result, score, preview=answer.preview, inconclusive=True, is_untold=True, summary=NOT_TOLD
        )
    return Outcome(answer.result, score, preview=answer.preview)
