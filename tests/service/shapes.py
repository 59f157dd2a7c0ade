"""Compare two JSON Schemas by what they let through: types, fields and values, however each is written down."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def differences(
    expected: Json, actual: Json, document: Json, where: str = "$", *, nulls: bool = False
) -> Iterator[str]:
    """Yield a sentence for each difference; references in ``actual`` are looked up in ``document``.

    An expected string without values may be narrowed to some. ``nulls`` takes a field that may also be null for one
    that may only be absent.
    """
    actual = plain(actual, document, nulls=nulls)
    if "null" in kinds(actual):
        yield f"{where} may be null"
        return
    if expected.get("type") != actual.get("type"):
        yield f"{where} is {actual.get('type') or actual}, not {expected.get('type')}"
        return
    if "enum" in expected and values(expected) != values(actual):
        yield f"{where} has the values {sorted(values(actual))}, not {sorted(values(expected))}"
    match expected["type"]:
        case "array":
            yield from differences(expected["items"], items(actual), document, f"{where}[]", nulls=nulls)
        case "object" if expected.get("properties"):
            target, there = expected["properties"], properties(actual)
            yield from (f"{where}.{name} is missing" for name in target.keys() - there.keys())
            yield from (f"{where}.{name} is not in the specification" for name in there.keys() - target.keys())
            if actual.get("additionalProperties") is not False and "propertyNames" not in actual:
                yield f"{where} lets other fields through"
            for name in target.keys() & there.keys():
                yield from differences(target[name], there[name], document, f"{where}.{name}", nulls=nulls)
        case "object":
            inner = actual.get("additionalProperties")
            if not isinstance(inner, dict):
                yield f"{where} is not a map"
            else:
                yield from differences(expected["additionalProperties"], inner, document, f"{where}[key]", nulls=nulls)


def plain(schema: Json, document: Json, *, nulls: bool = False) -> Json:
    """Return a schema without references, lone ``allOf`` and, with ``nulls``, without the null of ``anyOf``."""
    while True:
        if "$ref" in schema:
            target: Any = document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            schema = target
            continue
        branches = schema.get("anyOf") or schema.get("oneOf") or []
        if nulls:
            branches = [branch for branch in branches if branch != {"type": "null"}]
        lone = branches if len(branches) == 1 else schema.get("allOf", [])
        if "type" in schema or len(lone) != 1:
            return schema
        schema = lone[0]


def kinds(schema: Json) -> set[str]:
    """Return the types that a schema lets through at its top."""
    branches = (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ()))
    named = [branch["type"] for branch in branches if "type" in branch]
    return {kind for name in named for kind in ([name] if isinstance(name, str) else name)}


def values(schema: Json) -> set[str]:
    return set(schema["enum"]) if "enum" in schema else {schema["const"]} if "const" in schema else set()


def items(schema: Json) -> Json:
    """Return what an array holds; that of a tuple whose places are all alike is the one."""
    places = schema.get("prefixItems", ())
    if places and all(place == places[0] for place in places):
        return dict(places[0])
    return dict(schema.get("items") or {})


def properties(schema: Json) -> dict[str, Json]:
    """Return the fields of an object; a map with a closed set of keys has those."""
    names = schema.get("propertyNames", {}).get("enum")
    if names:
        return dict.fromkeys(names, schema["additionalProperties"])
    return dict(schema.get("properties", {}))
