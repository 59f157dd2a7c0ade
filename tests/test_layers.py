"""The layers of the design: a module imports only lower ones, and siblings of layer 2 never import each other."""

import ast
from pathlib import Path

import pytest

import forensix

PACKAGE = Path(forensix.__file__).parent
LAYERS = {
    "errors": 0,
    "interpreter": 0,
    "schema": 0,
    "media": 1,
    "metadata": 1,
    "models": 1,
    "calibration": 1,
    "metrics": 1,
    "labels": 1,
    "manifest": 1,
    "importers": 1,
    "perturb": 1,
    "faces": 2,
    "synthetic": 2,
    "voice": 2,
    "forensics": 2,
    "tasks": 3,
    "report": 4,
    "analysis": 5,
    "executors": 5,
    "progress": 0,
    "notebook": 6,
    "training": 6,
    "demo": 6,
    "small": 6,
    "demo_marks": 6,
    "service": 6,
    "client": 6,
    "evaluation": 6,
    "explorer": 6,
    "cli": 7,
    "__main__": 8,
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("forensix.")}
    return found - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_lower_layers(path: Path) -> None:
    here = room(path)
    for other in imported_rooms(path) - {here}:
        assert LAYERS[other] <= LAYERS[here], f"{here} imports {other}, which lies above it"
        if LAYERS[here] == 2:
            assert LAYERS[other] < 2, f"{here} and {other} are siblings"


def test_every_room_has_a_layer() -> None:
    assert {room(path) for path in MODULES} == set(LAYERS)
