"""Schemas of tools and output between protocols, through the public functions."""

import json
from typing import Any

import pytest
from tests.laws.corpus import path_to

import toolglot
from toolglot import translate_request, translate_response

OPENAI = ("openai-chat", "openai-responses")


def anthropic(schema: Any, *, history: Any = None, **tool: Any) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    if history is not None:
        use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": history}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
        messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
    tools = [{"name": "f", "input_schema": schema, **tool}]
    return {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}


def told(body: Any, target: str, source: str = "anthropic", **options: Any) -> Any:
    """The tool and the receipt's codes for a target."""
    wire, receipt = translate_request(
        body, source=source, target=target, path=path_to(source), **options
    )
    [tool] = toolglot.decode_request(
        wire.body, source=target, path=wire.path or path_to(target)
    ).tools
    return tool, {(note.code, note.path, note.severity) for note in receipt}


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def gemini_answer(args: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": args}}]}
    return {"candidates": [{"content": content, "finishReason": "STOP"}], "modelVersion": "m"}


def chat_answer(arguments: str) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


# --- required ------------------------------------------------------------------------------------

OPTIONAL = schema_of(
    path={"type": "string"},
    limit={"type": "integer", "description": "Can be omitted."},
    deep={"type": "boolean"},
    offset={"type": "integer", "description": "Only provide if the file is large."},
)


@pytest.mark.parametrize("target", OPENAI)
def test_the_usual_words_make_optional(target):
    """S0-22, S0-61, D-08: `only provide if` is one of them; a boolean stays required."""
    tool, notes = told(anthropic(OPTIONAL), target)
    assert tool.parameters["required"] == ["path", "limit", "deep"]
    assert ("required-filtered", "tools[0]", "info") in notes


@pytest.mark.parametrize("target", OPENAI)
@pytest.mark.parametrize(
    ("options", "required"),
    [
        ({"optional_markers": ("can be omitted",)}, ["path", "deep", "offset"]),
        ({"optional_markers": ()}, ["path", "limit", "deep", "offset"]),
        ({"optional_booleans": True}, ["path", "limit"]),
        ({"filter_required": False, "optional_booleans": True}, list(OPTIONAL["properties"])),
    ],
)
def test_which_words_make_optional_is_the_callers_choice(target, options, required):
    """S0-22, S0-27, D-08: the words, the rule for booleans, and whether to filter at all."""
    assert told(anthropic(OPTIONAL), target, **options)[0].parameters["required"] == required


@pytest.mark.parametrize("target", ["gemini", "ollama"])
def test_nothing_is_filtered_for_targets_that_do_not_need_it(target):
    """S0-27."""
    tool, _ = told(anthropic(OPTIONAL), target)
    assert tool.parameters["required"] == list(OPTIONAL["properties"])


def test_the_clients_own_schema_is_untouched():
    """S0-28: decoded, it has all its requirements, also after a translation for somebody else."""
    body = anthropic(OPTIONAL)
    request = toolglot.decode_request(body, source="anthropic")
    told(body, "openai-chat")
    again = toolglot.encode_request(request, target="anthropic").body
    assert again["tools"][0]["input_schema"] == OPTIONAL


# --- formats -------------------------------------------------------------------------------------

FORMATS = schema_of(
    url={"type": "string", "format": "uri"},
    format={"type": "array", "items": {"type": "string", "format": "email"}},
    inner=schema_of(link={"anyOf": [{"type": "string", "format": "uri-reference"}]}),
)


@pytest.mark.parametrize("target", OPENAI)
def test_unknown_formats_are_described_everywhere(target):
    """S0-64: at any depth, with a note; known ones stay, and so does a member called format."""
    tool, notes = told(anthropic(FORMATS), target)
    members = tool.parameters["properties"]
    described = {"type": "string", "description": 'Further JSON Schema: {"format": "uri"}'}
    assert members["url"] == described
    assert members["format"] == FORMATS["properties"]["format"]
    link = {**described, "description": 'Further JSON Schema: {"format": "uri-reference"}'}
    assert members["inner"]["properties"]["link"] == {"anyOf": [link]}
    assert ("format-dropped", "tools[0]", "info") in notes


@pytest.mark.parametrize("target", ["gemini", "ollama"])
def test_formats_stay_where_they_are_taken(target):
    """S0-64."""
    tool, notes = told(anthropic(FORMATS), target)
    assert tool.parameters == FORMATS
    assert not any(code == "format-dropped" for code, _, _ in notes)


# --- strict --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", OPENAI)
def test_a_strict_schema_is_made_to_conform(target):
    """D-06: all members required, those that were not may be null; closed; known words only."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "format": "uri"},
            "b": {"type": "integer", "default": 3},
            "c": {"enum": ["x", "y"]},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    tool, notes = told(anthropic(schema, strict=True), target)
    assert tool.strict is True
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": 'Further JSON Schema: {"format": "uri"}'},
            "b": {
                "type": ["integer", "null"],
                "description": 'Further JSON Schema: {"default": 3}',
            },
            "c": {"type": ["string", "null"], "enum": ["x", "y", None]},
        },
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
    assert ("schema-narrowed", "tools[0]", "info") in notes
    assert ("schema-described", "tools[0]", "info") in notes


@pytest.mark.parametrize("target", [*OPENAI, "anthropic"])
@pytest.mark.parametrize("limit", [{"minLength": 1}, {"not": {"const": "x"}}])
def test_a_schema_with_limits_that_strictness_would_lose_is_not_strict(target, limit):
    """D-06: the model is told all of it, and nothing is enforced; the receipt says so."""
    schema = {**schema_of(a={"type": "string", **limit}), "additionalProperties": False}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "name": "f", "parameters": schema, "strict": True}],
        "input": "hi",
    }
    chat = {"type": "function", "function": {"name": "f", "parameters": schema, "strict": True}}
    source = "openai-chat" if target != "openai-chat" else "openai-responses"
    if source == "openai-chat":
        body = {"model": "m", "messages": body["messages"], "tools": [chat]}
    else:
        del body["messages"]
    tool, notes = told(body, target, source)
    assert tool.parameters == schema
    assert not tool.strict
    assert ("strict-dropped", "tools[0].strict", "lossy") in notes


def test_null_for_what_was_optional_does_not_reach_the_client():
    """D-06: and what the client leaves out becomes null, as the provider wrote it."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "n": {"type": "null"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    body = anthropic(schema, strict=True, history={"a": "x", "n": None})
    wire, _ = translate_request(body, source="anthropic", target="openai-chat")
    [call] = wire.body["messages"][1]["tool_calls"]
    assert call["function"]["arguments"] == '{"a":"x","b":null,"n":null}'
    answer, _ = translate_response(
        chat_answer('{"a":"x","b":null,"n":null}'),
        source="openai-chat",
        target="anthropic",
        request=body,
    )
    assert answer.body["content"][0]["input"] == {"a": "x", "n": None}


@pytest.mark.parametrize("target", OPENAI)
@pytest.mark.parametrize(
    "schema",
    [
        schema_of(a={"type": "object"}),
        schema_of(a={"type": "object", "additionalProperties": {"type": "string"}}),
        schema_of(a={}),
        {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
        {"anyOf": [schema_of(a={"type": "string"}), schema_of(b={"type": "string"})]},
    ],
)
def test_strict_is_given_up_where_there_is_no_such_schema(target, schema):
    """D-06: with a note, and the schema keeps what it said."""
    tool, notes = told(anthropic(schema, strict=True), target)
    assert tool.strict is False
    assert ("strict-dropped", "tools[0].strict", "lossy") in notes
    assert tool.parameters["type"] == "object"


def test_a_strict_schema_that_conforms_is_left_alone():
    """D-06: also one that leads back into itself, which strict OpenAI takes."""
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["next"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"list": {"$ref": "#/$defs/node"}},
        "required": ["list"],
        "additionalProperties": False,
        "$defs": {"node": node},
    }
    tool, notes = told(anthropic(schema, strict=True), "openai-responses")
    assert (tool.strict, tool.parameters) == (True, schema)
    assert not any(code.startswith("schema") for code, _, _ in notes)


def test_strict_tools_of_openai_are_strict_tools_of_anthropic():
    """case-21, D-06."""
    schema = {**schema_of(a={"type": "string", "const": "x"}), "additionalProperties": False}
    function = {"name": "f", "parameters": schema, "strict": True}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": function}],
    }
    tool, _ = told(body, "anthropic", "openai-chat")
    assert (tool.strict, tool.parameters) == (True, schema)


@pytest.mark.parametrize(("optional", "strict"), [(False, True), (True, False)])
def test_strict_output_is_strict_or_said_not_to_be(optional, strict):
    """D-06: output goes to the client as it comes, so null cannot stand for what is not there."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "format": "uri"}},
        "required": [] if optional else ["a"],
        "additionalProperties": False,
    }
    named = {"name": "r", "schema": schema, "strict": True}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "response_format": {"type": "json_schema", "json_schema": named},
    }
    wire, receipt = translate_request(body, source="openai-chat", target="openai-responses")
    assert wire.body["text"]["format"]["strict"] is strict
    assert ("strict-dropped" in receipt.codes()) is optional
    assert ("format" in wire.body["text"]["format"]["schema"]["properties"]["a"]) is optional


def test_output_schemas_are_closed_for_a_target_that_wants_it():
    """D-06: Anthropic refuses output schemas with open objects."""
    named = {"name": "r", "schema": schema_of(a={"type": "string"})}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "response_format": {"type": "json_schema", "json_schema": named},
    }
    wire, _ = translate_request(body, source="openai-chat", target="anthropic")
    assert wire.body["output_config"]["format"]["schema"]["additionalProperties"] is False


# --- Gemini --------------------------------------------------------------------------------------

CASE_22 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$comment": "c",
    "type": "object",
    "properties": {
        "title": {"type": ["string", "null"], "deprecated": True},
        "format": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
        "properties": {"$ref": "#/$defs/node"},
        "default": {"type": "integer", "exclusiveMinimum": 0},
        "const": {"allOf": [{"type": "string"}, {"maxLength": 3}]},
        "enum": {"enum": ["a"], "enumDescriptions": ["first"]},
        "list": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "map": {"type": "object", "patternProperties": {"^x": True}, "propertyNames": {}},
        "any": True,
    },
    "additionalProperties": False,
    "required": ["title", "missing"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"v": {"const": "x"}, "next": {"$ref": "#/$defs/node"}},
        }
    },
    "encrypted": True,
}


def test_schemas_for_servers_that_take_openapi_only():
    """X-21, case-22: listed words only, references inlined and cut, null by `nullable`."""
    body = anthropic(CASE_22, strict=True, cache_control={"type": "ephemeral"}, defer_loading=True)
    wire, receipt = translate_request(
        body, source="anthropic", target="gemini", schema_dialect="openapi"
    )
    [declared] = wire.body["tools"][0]["functionDeclarations"]
    assert declared.keys() == {"name", "parameters"}
    found = declared["parameters"]
    members = found["properties"]
    assert list(members) == list(CASE_22["properties"]), "members called like keywords survive"
    assert members["title"] == {"type": "string", "nullable": True}
    assert members["format"] == {"type": "integer", "description": "d", "nullable": True}
    assert members["default"] == {"type": "integer", "minimum": 1}
    assert members["const"] == {"type": "string", "maxLength": 3}
    assert members["enum"] == {"enum": ["a"], "type": "string"}
    words = {word: members[word].pop("description") for word in ("list", "map")}
    assert words["list"] == 'Further JSON Schema: {"uniqueItems": true}'
    assert words["map"].startswith('Further JSON Schema: {"')
    assert "patternProperties" in words["map"]
    assert members["list"] == {"type": "array", "items": {"type": "string"}}
    assert members["map"] == {"type": "object"}
    assert {each["type"] for each in members["any"]["anyOf"]} >= {"string", "number", "object"}
    inner = members["properties"]["properties"]
    assert inner["v"] == {"enum": ["x"], "type": "string"}
    assert inner["next"]["properties"]["next"] == {
        "type": "object",
        "description": 'Has the same form as "node", which it is a part of.',
    }, "cut where it repeats"
    assert found["required"] == ["title"], "only what is described can be required"
    assert found.keys() == {"type", "properties", "required", "description"}
    [loose] = [note for note in receipt if note.code == "schema-loosened"]
    assert loose.path == "tools[0]"
    assert "$ref" in loose.message.removeprefix("dropped: ").split(", ")
    [described] = [note for note in receipt if note.code == "schema-described"]
    assert described.path == "tools[0]"
    assert "list (uniqueItems)" in described.message


def test_schemas_for_gemini_keep_to_what_it_honours():
    """X-21, case-22, case-21: `const` is a list of one value; types may be lists."""
    tool, notes = told(anthropic(CASE_22), "gemini")
    members = tool.parameters["properties"]
    assert members["title"] == {"type": ["string", "null"]}
    node = tool.parameters["$defs"]["node"]["properties"]
    assert members["properties"] == node["next"] == {"$ref": "#/$defs/node"}
    assert node["v"] == {"enum": ["x"], "type": "string"}
    assert members["any"] == {}
    assert tool.parameters["additionalProperties"] is False
    assert ("schema-described", "tools[0]", "info") in notes


@pytest.mark.parametrize(
    ("schema", "client"),
    [
        ({"type": "integer", "enum": [1, 2]}, 2),
        ({"type": "integer", "enum": ["1", "2"]}, 2),
        ({"type": "string", "enum": [1, 2]}, "2"),
        ({"enum": ["a", 2, None]}, 2),
        ({"enum": ["2", 2]}, 2),
    ],
)
def test_listed_numbers_are_told_as_texts_and_come_back(schema, client):
    """case-23: with the type that the client declared, in answers and in the history."""
    body = anthropic(schema_of(n=schema), history={"n": client})
    wire, _ = translate_request(body, source="anthropic", target="gemini", schema_dialect="openapi")
    [declared] = wire.body["tools"][0]["functionDeclarations"]
    told_as = declared["parameters"]["properties"]["n"]
    assert told_as["type"] == "string"
    assert all(isinstance(each, str) for each in told_as["enum"])
    [part] = wire.body["contents"][1]["parts"]
    assert part["functionCall"]["args"] == {"n": "2"}
    answer, _ = translate_response(
        gemini_answer({"n": "2"}),
        source="gemini",
        target="anthropic",
        request=body,
        schema_dialect="openapi",
    )
    assert answer.body["content"][0]["input"] == {"n": client}


def test_only_tools_whose_arguments_differ_are_held_back_in_a_stream():
    """case-23: others keep streaming; a schema that fits needs no undoing."""
    plain = {"name": "g", "input_schema": schema_of(a={"type": "string", "pattern": "x"})}
    body = anthropic(schema_of(n={"enum": [True]}))
    body["tools"].append(plain)
    context = toolglot.Context(
        source=toolglot.get_protocol("anthropic").SURFACE,
        target=toolglot.get_protocol("gemini").SURFACE,
    )
    translate_request(body, source="anthropic", target="gemini", context=context)
    assert list(context.undo.tools) == ["f"]


def test_openapi_from_clients_of_gemini_is_json_schema_elsewhere():
    """X-21: the other way: types in lower case, `nullable` as a type."""
    declared = {
        "name": "f",
        "parameters": {
            "type": "OBJECT",
            "properties": {"a": {"type": "STRING", "nullable": True, "maxLength": "3"}},
            "required": ["a"],
        },
    }
    body = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [declared]}],
    }
    for target in ("anthropic", "openai-chat", "ollama"):
        tool, notes = told(body, target, "gemini")
        assert tool.parameters == schema_of(a={"type": ["string", "null"], "maxLength": 3})
        assert "schema-narrowed" in {code for code, _, _ in notes}


# --- the top -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_a_union_at_the_top_becomes_one_object(target):
    """X-21, case-22: no provider takes a union there."""
    one = {**schema_of(a={"type": "string"}, x={"type": "integer"}), "additionalProperties": False}
    two = {**schema_of(b={"type": "string"}, x={"type": "integer"}), "additionalProperties": False}
    tool, notes = told(anthropic({"oneOf": [one, two]}), target)
    words = tool.parameters.pop("description")
    assert words.startswith('Further JSON Schema: {"oneOf": [{"type": "object"')
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "x": {"type": "integer"},
            "b": {"type": "string"},
        },
        "required": ["x"],
        "additionalProperties": False,
    }
    assert ("schema-described", "tools[0]", "info") in notes


def test_arguments_that_are_no_object_are_wrapped_and_unwrapped():
    """X-21."""
    schema = {"type": "array", "items": {"type": "string"}}
    function = {"name": "f", "parameters": schema}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '["a"]'}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ],
        "tools": [{"type": "function", "function": function}],
    }
    tool, _ = told(body, "gemini", "openai-chat")
    assert tool.parameters == schema_of(value=schema)
    wire, _ = translate_request(body, source="openai-chat", target="gemini")
    assert wire.body["contents"][1]["parts"][0]["functionCall"]["args"] == {"value": ["a"]}
    answer, _ = translate_response(
        gemini_answer({"value": ["a"]}), source="gemini", target="openai-chat", request=body
    )
    [call] = answer.body["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == ["a"]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_ordinary_schemas_cross_over_as_they_are(target):
    """S3-21, S3-22: between the two, a schema is the same object on both sides."""
    schema = schema_of(a={"type": "string", "description": "d"}, b={"enum": [1, "x"]})
    source = "anthropic" if target == "openai-chat" else "openai-chat"
    if source == "anthropic":
        body = anthropic(schema)
    else:
        function = {"name": "f", "parameters": schema}
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": function}],
        }
    assert told(body, target, source)[0].parameters == schema


def test_flat_tools_of_responses_are_read_like_nested_ones():
    """S3-23: an entry without `function` is a tool, too."""
    flat = {"type": "function", "name": "f", "parameters": schema_of(a={"type": "string"})}
    body = {"model": "m", "input": "hi", "tools": [flat]}
    tool, _ = told(body, "anthropic", "openai-responses")
    assert (tool.name, tool.parameters) == ("f", flat["parameters"])


@pytest.mark.parametrize("target", ["openai-chat", "gemini"])
def test_whoever_changes_a_translated_schema_changes_no_other_translation(target):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "(optional)", "const": "x"}},
        "required": ["a"],
    }
    body = {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "x"}],
        "tools": [{"name": "f", "input_schema": schema}],
    }

    def parameters():
        wire, _ = toolglot.translate_request(body, source="anthropic", target=target)
        tool = wire.body["tools"][0]
        tool = tool.get("function") or tool["functionDeclarations"][0]
        return tool.get("parameters") or tool["parametersJsonSchema"]

    first = parameters()
    first["properties"].clear()
    assert parameters()["properties"].keys() == {"a"}


# --- names of parameters --------------------------------------------------------------------------

ODD = {
    "type": "object",
    "properties": {"$filter": {"type": "string"}, "top": {"type": "integer"}},
    "required": ["$filter"],
}


def chat_with(schema: Any, arguments: str) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
    }


def test_parameters_have_names_that_the_target_takes_and_their_own_in_answers():
    body = chat_with(ODD, '{"$filter":"x","top":3}')
    wire, receipt = translate_request(body, source="openai-chat", target="anthropic")
    schema = wire.body["tools"][0]["input_schema"]
    [alias] = schema["required"]
    assert alias.startswith("_filter_")
    assert list(schema["properties"]) == [alias, "top"]
    assert wire.body["messages"][1]["content"][0]["input"] == {alias: "x", "top": 3}
    assert "schema-narrowed" in receipt.codes()
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {alias: "y", "top": 1}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    back, _ = translate_response(answer, source="anthropic", target="openai-chat", request=body)
    [call] = back.body["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"$filter": "y", "top": 1}


def test_names_that_the_target_takes_stay():
    body = chat_with({"type": "object", "properties": {"a.b-c": {}}}, "{}")
    wire, receipt = translate_request(body, source="openai-chat", target="anthropic")
    assert list(wire.body["tools"][0]["input_schema"]["properties"]) == ["a.b-c"]
    assert "schema-narrowed" not in receipt.codes()


@pytest.mark.parametrize("target", OPENAI)
def test_openai_gets_schemas_that_are_written_out(target):
    schema = {"type": "object", "properties": {"l": {"type": "array"}}}
    tool, codes = told(anthropic(schema), target)
    assert tool.parameters["properties"]["l"] == {"type": "array", "items": {}}
    assert ("schema-narrowed", "tools[0]", "info") in codes
    tool, _ = told(anthropic({"type": "object"}), target)
    assert tool.parameters == {"type": "object", "properties": {}}
