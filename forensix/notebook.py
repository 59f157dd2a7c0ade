"""What the notebooks share: parameters that papermill passes, checked before any work."""

import ast
import json
from typing import Any

from forensix.errors import UsageError

_INJECTED = "# Parameters"


def check_parameters(*names: str) -> None:
    """Refuse parameters that a notebook does not have, of which papermill itself only warns, and those that are empty.

    Call it in the first cell after that of the parameters, with all their names. Outside papermill it does nothing.

    Raises
    ------
    UsageError
        The cell that papermill added sets another name, or an empty text: that of a variable that is not set would
        let the notebook show its own media under the name of somebody else's.
    """
    from IPython import get_ipython

    shell = get_ipython()
    for source in [] if shell is None else shell.user_ns.get("In", []):
        if source.startswith(_INJECTED):
            assigned = _assigned(source)
            unknown = [name for name in assigned if name not in names]
            if unknown:
                raise UsageError(f"there is no parameter {', '.join(unknown)}; there are: {', '.join(names)}")
            for name, value in assigned.items():
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and not value.value.strip(" ,"):
                    why = "as a shell variable that is not set makes it"
                    raise UsageError(f"{name} is empty, {why}: leave it out, or give it a value")


def as_text(value: Any) -> str | None:
    """Return a number, which papermill makes of ``-p split 0``, as text; None for what is empty."""
    return None if value in (None, "") else str(value)


def as_list(value: Any) -> Any:
    """Return ``"a, b"`` and JSON, as a command line passes them, as a list or a dict; None for what is empty.

    Raises
    ------
    UsageError
        What begins as JSON does is none.
    """
    if isinstance(value, int | float):
        value = str(value)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            raise UsageError(f'{value} is no JSON: write it like {{"jpeg": [90, 50]}}') from None
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value or None


def _assigned(source: str) -> dict[str, ast.expr]:
    return {
        target.id: statement.value
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
