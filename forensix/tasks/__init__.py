"""Tasks: the analyses of the specification, one file each, and those that other packages add.

A task is a class without arguments that has a name, the kinds of media it accepts, the component slots it fills, and
one verb, ``run(media, options) -> Outcome``. What routes, client, report and evaluation need to know of it stands in
its `TaskDescription`. Built-in tasks and those of other packages are found through the entry points of the group
``forensix.tasks``, which name the description, or the class where there is nothing more to say::

    [project.entry-points."forensix.tasks"]
    my_task = "my_package:MY_TASK"
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.tasks.catalogue import TaskDescription, Verdict, describe, descriptions, task_names
    from forensix.tasks.evidence import Outcome
    from forensix.tasks.task import Options, Task, load_task, select_tasks

__all__ = [
    "Options",
    "Outcome",
    "Task",
    "TaskDescription",
    "Verdict",
    "describe",
    "descriptions",
    "load_task",
    "select_tasks",
    "task_names",
]

# Who only asks what there is, the service's client for one, needs neither numpy nor media.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "catalogue": ["TaskDescription", "Verdict", "describe", "descriptions", "task_names"],
        "evidence": ["Outcome"],
        "task": ["Options", "Task", "load_task", "select_tasks"],
    },
)
