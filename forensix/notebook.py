"""What the notebooks share: parameters that papermill passes, checked before any work."""

import ast
from typing import Any

from forensix.errors import UsageError

_INJECTED = "# Parameters"


def check_parameters(*names: str) -> None:
    """Refuse parameters that a notebook does not have: papermill itself only warns of them.

    Call it in the first cell after that of the parameters, with all their names. Outside papermill it does nothing.

    Raises
    ------
    UsageError
        The cell that papermill added sets another name.
    """
    from IPython import get_ipython

    shell = get_ipython()
    for source in [] if shell is None else shell.user_ns.get("In", []):
        if source.startswith(_INJECTED):
            unknown = [name for name in _assigned(source) if name not in names]
            if unknown:
                raise UsageError(f"there is no parameter {', '.join(unknown)}; there are: {', '.join(names)}")


def as_list(value: Any) -> Any:
    """Return ``"a, b"``, as a command line passes it, as a list; None for what is empty, all else as it is."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value or None


def _assigned(source: str) -> list[str]:
    return [
        target.id
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
