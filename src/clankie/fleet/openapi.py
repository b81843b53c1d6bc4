"""How a call whose exact bytes matter is described: its body is read by us, not by the web framework.

Owns turning a contract's model into OpenAPI. Must not know any call.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType

from clankie.fleet.admin.contracts import AdminError
from clankie.fleet.contracts import ErrorAnswer

_NAMES = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
}
_PLAIN = ("pattern", "enum", "const", "minimum", "maximum", "required", "default")


def schema_of(model: type[msgspec.Struct]) -> Schema:
    """The model's schema, whole: nothing in it refers elsewhere."""
    schemas, components = msgspec.json.schema_components([model], ref_template="{name}")
    return _schema(schemas[0], components)


def _schema(found: dict[str, Any], components: dict[str, Any]) -> Schema:
    if "$ref" in found:
        return _schema(components[found["$ref"]], components)
    fields: dict[str, Any] = {
        ours: found[theirs] for theirs, ours in _NAMES.items() if theirs in found
    }
    fields |= {name: found[name] for name in _PLAIN if name in found}
    if "pattern" in fields:  # JSON Schema's dialect has no \A and \Z
        fields["pattern"] = fields["pattern"].replace(r"\A", "^").replace(r"\Z", "$")
    if "type" in found:
        fields["type"] = OpenAPIType(found["type"])
    if "properties" in found:
        fields["properties"] = {
            name: _schema(member, components) for name, member in found["properties"].items()
        }
        fields["additional_properties"] = found.get("additionalProperties", False)
    if isinstance(found.get("items"), dict):
        fields["items"] = _schema(found["items"], components)
    return Schema(**fields)


def reads(model: type[msgspec.Struct]) -> type[Operation]:
    """An operation whose body is this model's JSON."""
    body = RequestBody(
        content={"application/json": OpenAPIMediaType(schema=schema_of(model))}, required=True
    )

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            self.request_body = body

    return Described


def refusals(**statuses: str) -> dict[int, ResponseSpec]:
    """Refusals by status: `refusals(s401="…")`."""
    return {
        int(status[1:]): ResponseSpec(ErrorAnswer, description=text, generate_examples=False)
        for status, text in statuses.items()
    }


def admin_refusals() -> dict[int, ResponseSpec]:
    """What every administrators' call may be refused with."""
    texts = {
        400: "`malformed`",
        401: "`unauthorized`",
        403: "`host_refused`, `origin_refused`",
        409: "What was asked cannot be done as it is; the message says why, the next step what to do",
        413: "`malformed`: the body is too large",
        503: "`unavailable`: ask again",
    }
    return {
        status: ResponseSpec(AdminError, description=text, generate_examples=False)
        for status, text in texts.items()
    }
