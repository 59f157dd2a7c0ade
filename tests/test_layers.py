"""The layers of the design: wings keep their order, nothing goes in circles, and private names stay in their folder."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import forensix

PACKAGE = Path(forensix.__file__).parent
LAYERS = {
    "errors": 0,
    "folders": 0,
    "machine": 0,
    "interpreter": 0,
    "schema": 0,
    "media": 1,
    "metadata": 1,
    "models": 1,
    "calibration": 1,
    "metrics": 1,
    "labels": 1,
    "manifest": 1,
    "manifest_table": 1,
    "torch_data": 1,
    "importers": 1,
    "perturb": 1,
    "faces": 2,
    "synthetic": 2,
    "voice": 2,
    "forensics": 2,
    "tasks": 3,
    "report": 4,
    "analysis": 5,
    "batch": 5,
    "executors": 5,
    "progress": 0,
    "notebook": 6,
    "training": 6,
    "demo": 6,
    "small": 6,
    "service": 6,
    "client": 6,
    "evaluation": 6,
    "explorer": 6,
    "cli": 7,
    "__main__": 8,
}
WINGS = {
    "metadata": {"facts": 0, "blocks": 1, "image": 2, "pdf": 2, "av": 2, "": 3},
    "forensics": {"traces": 0, "findings": 0, "generators": 0, "recipes": 1, "software": 1, "rules": 2, "": 3},
    "service": {
        "settings": 0,
        "encoding": 0,
        "logs": 0,
        "stopping": 0,
        "errors": 1,
        "data": 2,
        "work": 3,
        "api": 3,
        "": 4,
    },
    "training": {"": 0, "voice": 1, "faces": 1, "images": 1, "own": 2},
}
"""Inside a folder: a wing or a module, and how high it lies; the empty name stands for all modules not named. What lies
at one height does not see its neighbours."""
SEES_A_WING = {"training/faces": {"training/images"}}
"""Neighbours that one wing may use all the same: faces are cut from the pictures that images list and cache."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


KNOWN = {dotted(path): path for path in MODULES}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, types: bool = True) -> Iterator[tuple[str, str]]:
    """Yield module and name of every import from forensix, those inside functions too; ``types`` for those of types."""

    def walk(node: ast.AST) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) and not types:
                continue
            if isinstance(child, ast.Import):
                yield from ((alias.name, "") for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path} imports relatively"
                for alias in child.names:
                    complete = f"{child.module}.{alias.name}"
                    yield (complete, "") if complete in KNOWN else (str(child.module), alias.name)
            yield from walk(child)

    return ((module, name) for module, name in walk(parsed(path)) if module.startswith("forensix"))


def wing(module: str) -> tuple[str, str]:
    """Return the folder that has wings and the wing or module in it, both empty where there are none."""
    parts = [*module.split(".")[1:], "", ""]
    heights = WINGS.get(parts[0])
    return ("", "") if heights is None else (parts[0], parts[1] if parts[1] in heights else "")


def test_a_module_imports_nothing_that_lies_higher() -> None:
    wrong = []
    for path in MODULES:
        here = room(path)
        for module, name in imports(path):
            other = module.split(".")[1] if "." in module else name
            if other in LAYERS and other != here:
                is_sibling = LAYERS[here] == LAYERS[other] == 2
                wrong += [f"{dotted(path)} imports {module}"] if is_sibling or LAYERS[other] > LAYERS[here] else []
            elif other not in {here, "__version__"} and module != "forensix":
                wrong.append(f"{dotted(path)} imports {module}, which has no layer")
    assert not wrong


def test_a_wing_imports_only_lower_wings() -> None:
    wrong = []
    for path in MODULES:
        folder, mine = wing(dotted(path))
        for module, _ in imports(path, types=False) if folder else ():
            other_folder, other = wing(module)
            if other_folder != folder or other == mine or module == f"forensix.{folder}":
                continue
            is_seen = f"{folder}/{other}" in SEES_A_WING.get(f"{folder}/{mine}", ())
            if not is_seen and WINGS[folder][other] >= WINGS[folder][mine]:
                wrong.append(f"{dotted(path)} imports {module}")
    assert not wrong


def test_private_names_stay_in_their_folder() -> None:
    wrong = []
    for path in MODULES:
        nodes = list(ast.walk(parsed(path)))
        taken = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if f"{node.module}.{alias.name}" in KNOWN
        }
        used = [(module, name) for module, name in imports(path) if name]
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in taken:
                used.append((taken[node.value.id], node.attr))
        own = dotted(path) if path.name == "__init__.py" else dotted(path).rpartition(".")[0]
        for module, name in used:
            is_private = any(part.startswith("_") and not part.startswith("__") for part in (*module.split("."), name))
            if is_private and not module.startswith(own):
                wrong.append(f"{dotted(path)} uses {module}.{name}")
    assert not wrong


def test_nothing_goes_in_circles() -> None:
    graph = {name: {module for module, _ in imports(path, types=False)} - {name} for name, path in KNOWN.items()}
    assert not list(circles(graph))


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"d"}, "f": {"d"}}
    assert set(circles(graph)) == {frozenset("abc"), frozenset("de")}


def circles(graph: Mapping[str, set[str]]) -> Iterator[frozenset[str]]:
    """Yield the sets of modules that reach each other."""
    reach = {start: reachable(graph, start) for start in graph}
    groups = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in graph if a in reach[a]}
    return iter(groups)


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += graph.get(module, ())
    return reached


def test_every_room_has_a_layer_and_every_wing_says_what_lives_there() -> None:
    assert {room(path) for path in MODULES} == set(LAYERS)
    for folder, heights in WINGS.items():
        for name in heights:
            place = PACKAGE / folder / name
            if name and place.is_dir():
                assert len(ast.get_docstring(ast.parse((place / "__init__.py").read_text())) or "") > 40, place
