"""Schemas of parameters as clients write them, by what is particular about them.

Each is the schema of one parameter. The kinds are those of the public suite with which Kimi's
providers are checked (MoonshotAI/Kimi-Vendor-Verifier, `tool_call_json_schema`) and of what subsets
of JSON Schema leave out; the schemas are our own.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer"}


def obj(*required: str, **members: Any) -> Schema:
    """An object with members, some of them required."""
    return {"type": "object", "properties": members, "required": list(required)}


def closed(*required: str, **members: Any) -> Schema:
    """The same, with no other members."""
    return {**obj(*required, **members), "additionalProperties": False}


def rows(items: Any, **limits: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": items, **limits}


BERTH = closed("pier", pier=TEXT, depth={"type": "number", "minimum": 0})
TREE = obj("name", name=TEXT, inner=rows({"$ref": "#/$defs/part"}))
STRICT_TREE = closed("name", "inner", name=TEXT, inner=rows({"$ref": "#/$defs/part"}))
CHAIN = closed(
    "load", "next", load=COUNT, next={"anyOf": [{"$ref": "#/$defs/wagon"}, {"type": "null"}]}
)

CASES: dict[str, list[Schema]] = {
    "types": [
        TEXT,
        {"type": "number"},
        COUNT,
        {"type": "boolean"},
        {"type": "null"},
        {"type": "object"},
        rows(TEXT),
        {},
        {"type": ["string", "null", "integer", "boolean", "array", "object", "number"]},
        {"type": ["integer", "null"]},
        {"description": "Anything.", "title": "Any"},
        {"type": "string", "description": ""},
        {"type": "string", "description": "One\nline\nafter\tthe other: {}[]|;'\",.<>?"},
    ],
    "texts": [
        {"type": "string", "minLength": 0, "maxLength": 12},
        {"type": "string", "minLength": 7, "maxLength": 7},
        {"type": "string", "maxLength": 4_000_000},
        {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
        {"type": "string", "pattern": "^[0-9]{4}$"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "uri"},
        {"type": "string", "format": "ipv4", "maxLength": 15},
        {"type": "string", "format": "tide-table"},
        {"type": "string", "default": "ebb", "examples": ["ebb", "flow"]},
    ],
    "numbers": [
        {"type": "number", "minimum": -4, "maximum": 4},
        {"type": "integer", "minimum": 31},
        {"type": "integer", "minimum": 100, "maximum": 100},
        {"type": "number", "exclusiveMinimum": 8, "exclusiveMaximum": 9},
        {"type": "integer", "exclusiveMinimum": 17},
        {"type": "integer", "multipleOf": 7, "minimum": 20},
        {"type": "number", "multipleOf": 0.25, "minimum": 0.3},
        {"type": "number", "maximum": -0.5},
    ],
    "listed values": [
        {"type": "string", "enum": ["", " ", "\n", "back\\slash"]},
        {"type": "number", "enum": [0, -1, 2.5]},
        {"type": "integer", "enum": [59, 62]},
        {"type": "boolean", "enum": [True, False]},
        {"type": "boolean", "enum": [True]},
        {"type": ["string", "null"], "enum": ["ebb", None]},
        {"type": "integer", "enum": [1, 2, 3], "minimum": 2, "maximum": 9},
        {"enum": ["ebb", 2, True, None]},
        {"enum": [{"pier": 1}, ["a"], 3]},
        {"const": "flow"},
        {"const": 4},
        {"type": "object", "const": {"pier": "A"}},
        {"type": "string", "enum": ["ebb", "flow", "slack"], "minLength": 5, "pattern": "^s"},
        {"type": "string", "enum": [f"berth {n}" for n in range(600)]},
    ],
    "lists": [
        rows(TEXT, minItems=0, maxItems=4),
        rows(TEXT, minItems=3),
        rows(TEXT, maxItems=0),
        rows(COUNT, minItems=2, uniqueItems=True),
        rows(rows({"type": "integer", "enum": [1, 2]})),
        rows({"anyOf": [TEXT, COUNT]}),
        rows(BERTH, minItems=1),
        {"type": "array"},
        rows({}),
        {"type": "array", "prefixItems": [TEXT, COUNT], "minItems": 2},
        {"type": "array", "prefixItems": [TEXT, COUNT], "items": False, "minItems": 2},
        {"type": "array", "items": [COUNT, TEXT], "additionalItems": False, "minItems": 2},
        rows(COUNT, contains={"type": "integer", "minimum": 40}),
    ],
    "objects": [
        obj(),
        closed(),
        closed("a", a=TEXT),
        closed(a=TEXT, b=COUNT),
        obj("a", "c", a=TEXT, b=COUNT, c={"type": "boolean"}),
        {**obj(), "additionalProperties": True},
        {**obj(), "additionalProperties": COUNT},
        {**obj("a", a=TEXT), "additionalProperties": BERTH},
        {**obj(), "additionalProperties": {}},
        {"type": "object", "required": ["free"]},
        {**obj(), "minProperties": 2},
        {**obj(a=TEXT, b=TEXT), "minProperties": 1, "maxProperties": 1},
        {**obj(), "patternProperties": {"^x-": COUNT}, "additionalProperties": False},
        {**obj("berth"), "propertyNames": {"pattern": "^[a-z]+$"}},
        {**obj("a", a=TEXT, b=TEXT), "dependentRequired": {"a": ["b"]}},
        obj("place", place=obj("town", town=obj("street", street=TEXT))),
    ],
    "names": [
        obj("type", "enum", type=TEXT, enum=COUNT, items=rows(TEXT)),
        obj("a.b", **{"a.b": TEXT, "c/d": {"anyOf": [TEXT, obj(**{"e/f": TEXT})]}}),
        obj("first name", **{"first name": TEXT, "straße": COUNT, "港": TEXT}),
        obj("properties", properties=obj("required", required={"type": "boolean"})),
        obj("$defs", **{"$defs": TEXT, "title": TEXT, "description": TEXT, "default": COUNT}),
    ],
    "unions": [
        {"anyOf": [TEXT, {"type": "number"}]},
        {"anyOf": [obj("a", a=TEXT), obj("b", b=COUNT)]},
        {"anyOf": [{"type": "boolean"}, {"type": "boolean"}]},
        {"anyOf": [{"type": "null"}, {"type": "null"}]},
        {"anyOf": [TEXT, {"type": "null"}], "default": None},
        {"anyOf": [rows({"type": "boolean"}), rows(rows(COUNT))]},
        {"anyOf": [{"const": "ebb"}, {"const": "flow"}]},
        {"anyOf": [closed("kind", kind={"const": k}, n=COUNT) for k in ("a", "b", "c")]},
        {"anyOf": [closed(f"k{n}", **{f"k{n}": TEXT}) for n in range(12)]},
        {"oneOf": [COUNT, TEXT]},
        {"oneOf": [{"type": "integer", "minimum": 9}, {"type": "integer", "maximum": 3}]},
        {"type": "string", "anyOf": [{"minLength": 9}, {"pattern": "^z"}]},
        {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"type": "object", "anyOf": [BERTH, closed("port", port=TEXT)]},
    ],
    "all of": [
        {"allOf": [obj("a", a=TEXT), obj("b", b=COUNT)]},
        {"allOf": [{"type": "integer", "minimum": 5}, {"minimum": 8}]},
        {"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "b$"}, {"minLength": 2}]},
        {"allOf": [{"enum": ["a", "b", "c"]}, {"enum": ["b", "d"]}]},
        {"allOf": [{"anyOf": [TEXT, COUNT]}, {"anyOf": [COUNT, {"type": "null"}]}]},
        {"allOf": [{"$ref": "#/$defs/berth"}], "description": "Where.", "default": {"pier": "A"}},
    ],
    "conditions": [
        {"type": "string", "not": {"enum": ["demo", "Demo"]}},
        {"type": "integer", "not": {"maximum": 3}},
        {
            **obj("kind", kind={"enum": ["ship"]}, name=TEXT),
            "if": {"properties": {"kind": {"const": "ship"}}},
            "then": {"required": ["name"]},
        },
        {**closed("a", a=TEXT), "unevaluatedProperties": False},
    ],
    "references": [
        {"$ref": "#/$defs/berth"},
        {"$ref": "#/$defs/berth", "description": "Where it lies.", "title": "Berth"},
        obj("from", "to", **{"from": {"$ref": "#/$defs/berth"}, "to": {"$ref": "#/$defs/berth"}}),
        {"anyOf": [{"$ref": "#/$defs/berth"}, {"$ref": "#/$defs/name"}]},
        {"$ref": "#/$defs/alias"},
        rows({"$ref": "#/$defs/alias"}, minItems=1),
        {"$ref": "#/$defs/list/items"},
        {"$ref": "#/$defs/name", "minLength": 9},
        {"$ref": "#/definitions/old"},
        {"$ref": "#/$defs/odd~1name%20here"},
    ],
    "recursion": [
        {"$ref": "#/$defs/part"},
        {"$ref": "#/$defs/strict_part"},
        {"$ref": "#/$defs/wagon"},
        {"anyOf": [{"$ref": "#/$defs/part"}, TEXT]},
        {"$ref": "#/$defs/ping"},
        {"$ref": "#/$defs/limited"},
        {"$ref": "#/$defs/group/items"},
    ],
}

DEFINITIONS: Schema = {
    "berth": BERTH,
    "name": TEXT,
    "alias": {"$ref": "#/$defs/other", "description": "By another name"},
    "other": {"$ref": "#/$defs/name", "title": "Other"},
    "list": rows(closed("n", n={"type": "integer", "minimum": 12})),
    "odd/name here": {"type": "string", "minLength": 6},
    "part": TREE,
    "strict_part": {
        **STRICT_TREE,
        "properties": {**STRICT_TREE["properties"], "inner": rows({"$ref": "#/$defs/strict_part"})},
    },
    "wagon": CHAIN,
    "ping": obj("pong", pong={"anyOf": [{"$ref": "#/$defs/pong"}, {"type": "null"}]}),
    "pong": obj("ping", ping={"anyOf": [{"$ref": "#/$defs/ping"}, {"type": "null"}]}),
    "limited": obj(
        "code",
        code={"type": "string", "pattern": "^[A-Z]{2}$"},
        inner=rows({"$ref": "#/$defs/limited"}, uniqueItems=True),
    ),
    "group": rows({**obj("data", data=TEXT), "additionalProperties": {"$ref": "#/$defs/berth"}}),
}
"""What the references lead to."""


def parameters(schema: Schema) -> Schema:
    """The parameters of a tool with one that has this schema."""
    text = str(schema)
    whole: Schema = {**closed("value", value=schema)}
    if "#/$defs/" in text:
        whole["$defs"] = DEFINITIONS
    if type(schema.get("items")) is list:
        whole["$schema"] = "http://json-schema.org/draft-07/schema#"
    if "#/definitions/" in text:
        whole["definitions"] = {"old": {"type": "integer", "minimum": 3}}
    return whole
