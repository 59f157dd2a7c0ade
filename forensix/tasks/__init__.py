"""Tasks: the analyses of the specification, one file each, and those that other packages add.

A task is a class without arguments that has a name, the kinds of media it accepts, the component slots it fills, and
one verb, ``run(media, options) -> Outcome``. Built-in tasks and those of other packages are found through the entry
points of the group ``forensix.tasks``::

    [project.entry-points."forensix.tasks"]
    my_task = "my_package:MyTask"
"""

from forensix.tasks.evidence import Outcome
from forensix.tasks.task import Options, Task, load_task, select_tasks, task_names

__all__ = ["Options", "Outcome", "Task", "load_task", "select_tasks", "task_names"]
