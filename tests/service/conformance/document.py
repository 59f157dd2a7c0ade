"""The served OpenAPI document against section 4, operation by operation."""

from tests.service import specification as spec
from tests.service.conformance.live import Json, Live, Rows
from tests.service.shapes import differences, plain, properties

rows = Rows()
TYPES = {"boolean": {"type": "boolean"}, "string": {"type": "string"}, "binary": {"type": "string"}}


@rows.add("9", "the document names version 2.40.6 of the interface, and no operation that section 4 lacks")
def _(live: Live) -> None:
    assert live.document["openapi"].startswith("3.")
    assert live.document["info"]["version"] == spec.VERSION
    actual = {
        f"{method.upper()} {path}"
        for path, item in live.document["paths"].items()
        for method in item
        if path.startswith(("/auth", "/tasks", "/webhooks"))
    }
    assert actual == {operation.name for operation in spec.OPERATIONS}
    names = [operation["operationId"] for item in live.document["paths"].values() for operation in item.values()]
    assert len(set(names)) == len(names)


def same(expected: Json, actual: Json, document: Json) -> None:
    """Check that two schemas let the same through."""
    fields = list(differences(expected, actual, document))
    assert not fields, "; ".join(fields)


def _operation(operation: spec.Operation) -> None:
    @rows.add("4", f"OpenAPI: {operation.name}: authentication, path, form, fields, defaults, response")
    def _(live: Live) -> None:
        document = live.document
        actual = document["paths"][operation.path][operation.method.lower()]
        _check_authentication(operation, actual, document)
        _check_parameters(operation, actual, document)
        _check_form(operation, actual, document)
        response = actual["responses"]["200"]["content"]["application/json"]["schema"]
        same(operation.response, response, document)
        assert set(operation.response["required"]) <= set(plain(response, document).get("required", ()))
        assert {int(status) for status in actual["responses"] if status.isdigit()} <= {200, *spec.REJECTIONS}
        assert {"401", "429", "503"} <= set(actual["responses"])
        for status, refusal in actual["responses"].items():
            if status != "200":
                shape = refusal["content"]["application/json"]["schema"]
                same(spec.REJECTED, shape, document)


def _check_authentication(operation: spec.Operation, actual: Json, document: Json) -> None:
    required = actual.get("security", document.get("security"))
    schemes = [document["components"]["securitySchemes"][name] for choice in required for name in choice]
    assert {scheme["scheme"] for scheme in schemes if scheme["type"] == "http"} == {operation.auth}


def _check_parameters(operation: spec.Operation, actual: Json, document: Json) -> None:
    parameters = {parameter["name"]: parameter for parameter in actual.get("parameters", ())}
    assert set(parameters) == set(operation.parameters)
    for name, parameter in parameters.items():
        assert parameter["in"] == "path" and parameter["required"]
        expected: Json = {"type": "string"} | ({"enum": list(spec.EVENTS)} if name == "event" else {})
        same(expected, parameter["schema"], document)


def _check_form(operation: spec.Operation, actual: Json, document: Json) -> None:
    content = actual.get("requestBody", {}).get("content", {})
    assert set(operation.content_types) <= set(content) <= {*operation.content_types, spec.FORM, spec.MULTIPART}
    for content_type in operation.content_types:
        schema = plain(content[content_type]["schema"], document)
        fields = {name: plain(field, document) for name, field in properties(schema).items()}
        # A form without files has no way to carry one.
        inputs = [
            i for i in operation.inputs if content_type == spec.MULTIPART or i.name in fields or i.type != "binary"
        ]
        assert set(fields) == {field.name for field in inputs}
        assert set(schema.get("required", ())) == {field.name for field in inputs if field.required}
        for field in inputs:
            same(TYPES[field.type], fields[field.name], document)
            assert fields[field.name].get("default") == field.default
            if field.type == "binary":
                assert fields[field.name].get("format") == "binary" or "contentMediaType" in fields[field.name]


for _row in spec.OPERATIONS:
    _operation(_row)
