"""Results of the service, drawn as the library draws its own."""

from typing import TYPE_CHECKING

from forensix.schema import TaskReport
from forensix.tasks.catalogue import descriptions

if TYPE_CHECKING:
    from forensix.report import Report


def to_report(name: str, *answers: TaskReport) -> "Report":
    """Return a report that draws finished tasks on one medium, in a notebook or as a page.

    It shows what the service sends; scores of what is real and the detailed evidence stay with the service.

    Examples
    --------
    >>> to_report("talk.mp3", client.analyze("voice_analysis", "talk.mp3"))  # doctest: +SKIP
    """
    from forensix.report import Report
    from forensix.tasks.evidence import Outcome

    names = {task.event: task.name for task in descriptions()}
    done = {names[a.event_type]: a for a in answers}
    return Report(
        input=name,
        name=name,
        outcomes={
            task: Outcome(a.result, getattr(a.result, "class_probability", None), preview=a.preview)
            for task, a in done.items()
            if a.result
        },
        errors={task: a.error for task, a in done.items() if a.error},
        additional_info=next((a.additional_info for a in answers if a.additional_info), None),
    )
