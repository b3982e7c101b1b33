"""The demo model: what it calls, what it says, and that every client understands it."""

import json
import re

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evidence import evidence
from tests.schema.generated import conforming, is_valid, schemas
from tests.wires import NAMES, asking, assistant, call, parts_of, path_to, result, user, words

from toolglot import (
    Context,
    decode_request,
    decode_response,
    demo,
    encode_response,
    get_protocol,
    ir,
    lint_stream,
)
from toolglot.demo import fill_schema
from toolglot.demo.agent import is_own
from toolglot.demo.choose import callables
from toolglot.demo.hints import Hints, commands, paths, places
from toolglot.errors import MissingExtraError
from toolglot.events import Failed, Grammar, PartDelta, PartEnded, fold
from toolglot.wire.message import WireRequest


def function(name, description="", required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ir.FunctionTool(name=name, description=description, parameters=schema)


TEXT = {"type": "string"}
WEATHER = function("get_weather", "The weather in a city", ["city"], city=TEXT)
CLOCK = function("world_clock", "The time in a zone", ["zone"], zone=TEXT)
BASH = function("Bash", "Runs a command", ["command"], command=TEXT, timeout={"type": "number"})
READ = function("Read", "Reads a file", ["file_path"], file_path=TEXT)
WRITE = function("Write", "Writes a file", ["file_path", "content"], file_path=TEXT, content=TEXT)
EDIT = function(
    "Edit", "", ["path", "old_string", "new_string"], path=TEXT, old_string=TEXT, new_string=TEXT
)
FETCH = function("WebFetch", "", ["url", "prompt"], url=TEXT, prompt=TEXT)
GREP = function("grep_search", "", ["pattern"], pattern=TEXT)
TASK = function("TaskCreate", "Makes a task", ["subject"], subject=TEXT)
PATCH = ir.CustomTool(name="apply_patch", syntax="lark", definition="start: begin hunk+ end")
AGENT = (BASH, READ, WRITE, EDIT, FETCH, GREP, TASK, WEATHER)


def ask(prompt, *tools, **more):
    return demo.reply(asking(user(prompt), tools=tools, **more), Context())


def calls(response):
    return [(part.name, json.loads(part.arguments)) for part in parts_of(response, ir.ToolCall)]


def stop(response):
    return response.choices[0].stop.kind


# --- which tool, with which arguments ------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "name", "arguments"),
    [
        ("Please list files", "Bash", {"command": "ls"}),
        ("ls", "Bash", {"command": "ls"}),
        ("run `git status --short`", "Bash", {"command": "git status --short"}),
        ("try `make help`", "Bash", {"command": "make help"}),
        ("Show me pwd", "Bash", {"command": "pwd"}),
        ("read src/app.py please", "Read", {"file_path": "src/app.py"}),
        ("open README", "Read", {"file_path": "README"}),
        (
            'write "hi there" to notes.txt',
            "Write",
            {"file_path": "notes.txt", "content": "hi there"},
        ),
        (
            "edit a.txt and replace 'x' with 'y'",
            "Edit",
            {"path": "a.txt", "old_string": "x", "new_string": "y"},
        ),
        (
            "fetch https://example.com/a.",
            "WebFetch",
            {"url": "https://example.com/a", "prompt": "fetch https://example.com/a."},
        ),
        ('grep for "TODO"', "grep_search", {"pattern": "TODO"}),
        ("create a task", "TaskCreate", {"subject": "create a task"}),
        ("What is the weather in New York?", "get_weather", {"city": "New York"}),
    ],
)
def test_the_fitting_tool_of_an_agent_is_called(prompt, name, arguments):
    response = ask(prompt, *AGENT)
    assert calls(response) == [(name, arguments)]
    assert stop(response) == "tool_calls"
    assert parts_of(response, ir.ToolCall)[0].id.startswith("call_")


@pytest.mark.parametrize("name", ["exec_command", "run_shell_command", "bash", "shell"])
def test_every_client_has_its_own_name_for_the_shell(name):
    tool = function(name, "", ["cmd"], cmd=TEXT)
    assert calls(ask("list files", READ, tool)) == [(name, {"cmd": "ls"})]
    assert calls(ask("read my notes.md", WRITE, tool)) == [(name, {"cmd": "cat notes.md"})]


def test_a_shell_that_takes_a_list():
    tool = function("shell", "", ["command"], command={"type": "array", "items": TEXT})
    assert calls(ask("list files", tool)) == [("shell", {"command": ["bash", "-lc", "ls"]})]


@pytest.mark.parametrize(
    "prompt",
    [
        "hello",
        "hi, who are you?",
        "thank you",
        "I read a book",
        "write a poem",
        "edit a.txt",
        "Respond with TEXT ONLY. Do not call any tools. List files.",
        "",
    ],
)
def test_small_talk_calls_nothing(prompt):
    response = ask(prompt, *AGENT)
    assert calls(response) == []
    assert stop(response) == "end"
    assert "toolglot's demo model" in words(response)
    assert "ANTHROPIC_API_KEY" in words(response)
    assert "toolglot.toml" in words(response)


def test_a_lone_tool_is_called_for_a_word_in_common():
    assert calls(ask("Is it raining in Oslo?", WEATHER)) == [("get_weather", {"city": "Oslo"})]
    assert calls(ask("time in what zone?", WEATHER, CLOCK))[0][0] == "world_clock"
    assert calls(ask("sing a song", WEATHER, CLOCK)) == []


@pytest.mark.parametrize(
    "prompt",
    ["delete everything", "run rm -rf / now", "read x; rm -rf ~", "list files && drop them"],
)
def test_commands_are_harmless_unless_quoted_in_backticks(prompt):
    assert all(re.fullmatch(r"cat '?[\w.]+'?|ls|pwd|date", each) for each in commands(prompt))
    for _, arguments in calls(ask(prompt, BASH)):
        assert "rm" not in arguments["command"]


def test_a_path_cannot_break_out_of_a_command():
    assert commands("read it's/$(reboot).txt") == []
    assert commands("cat /etc/hosts") == ["cat /etc/hosts"]


def test_words_of_prompts():
    assert paths("see ./a/b.py, ~/c and d.json. Not 3.5 nor https://x.org/y.html") == [
        "./a/b.py",
        "~/c",
        "d.json",
    ]
    assert places("from Rio de Janeiro to San Jose and Lima") == ["Rio", "San Jose", "Lima"]
    assert places("weather in paris?") == ["paris"]
    assert Hints("3 of 4.5").numbers() == [3, 4.5]


def test_only_the_users_own_last_words_count():
    reminder = "<system-reminder>\nrefuse error\nlist files\n</system-reminder>"
    request = asking(
        ir.Message(role="system", parts=(ir.Text(text="error"),)),
        user("long"),
        assistant("Fine."),
        user(reminder, "What is the weather in Rome?", reminder),
        ir.Message(role="system", parts=(ir.Text(text="refuse"),)),
        system=ir.Message(role="system", parts=(ir.Text(text="error"),)),
        tools=AGENT,
    )
    assert calls(demo.reply(request, Context())) == [("get_weather", {"city": "Rome"})]


def test_long_prompts_hold_no_cues():
    assert isinstance(ask("error " + "word " * 40), ir.Response)


# --- what the request allows ---------------------------------------------------------------------


def test_tool_choice_is_obeyed():
    def with_choice(prompt, **more):
        return calls(ask(prompt, WEATHER, CLOCK, tool_choice=ir.ToolChoice(**more)))

    assert with_choice("weather in Rome", mode="none") == []
    assert with_choice("hello", mode="required") == [("get_weather", {"city": "Paris"})]
    named = with_choice("weather in Rome", mode="tool", names=("world_clock",))
    assert [name for name, _ in named] == ["world_clock"]
    narrowed = with_choice("weather in Rome", mode="auto", names=("world_clock",))
    assert narrowed == []


def test_tools_in_namespaces_are_called_there():
    space = ir.NamespaceTool(name="mcp__sky", tools=(WEATHER,))
    (made,) = parts_of(ask("weather in Rome", CLOCK, space), ir.ToolCall)
    assert (made.namespace, made.name) == ("mcp__sky", "get_weather")
    choice = ir.ToolChoice(mode="tool", names=("mcp__sky__get_weather",))
    (made,) = parts_of(ask("hello", CLOCK, space, tool_choice=choice), ir.ToolCall)
    assert made.name == "get_weather"


def test_provider_tools_get_a_plain_answer():
    tool = ir.ProviderTool(protocol="anthropic", type="web_search_20250305", value={})
    choice = ir.ToolChoice(mode="tool", names=("web_search",))
    response = ask("search the web for cats", tool, tool_choice=choice)
    assert stop(response) == "end"
    assert "cats" in words(response)


def test_freeform_tools_get_text():
    (made,) = parts_of(ask('write "hi" to new.txt', BASH, PATCH), ir.ToolCall)
    assert (made.kind, made.name) == ("custom", "apply_patch")
    assert made.arguments == "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch\n"
    assert calls(ask("list files", PATCH, BASH)) == [("Bash", {"command": "ls"})]
    assert calls(ask("hello", PATCH)) == []
    script = ir.CustomTool(name="exec", description="Runs JavaScript")
    (made,) = parts_of(ask("run `ls -l`", script), ir.ToolCall)
    assert made.arguments.startswith('const done = await tools.exec_command({cmd: "ls -l"})')
    sql = ir.CustomTool(name="sql_query", description="Runs SQL")
    (made,) = parts_of(ask("an sql query please", sql), ir.ToolCall)
    assert made.arguments == "SELECT 1"
    other = ir.CustomTool(name="note", description="Takes a note")
    (made,) = parts_of(ask('note "milk"', other), ir.ToolCall)
    assert made.arguments == "milk"


def test_parallel_calls():
    assert calls(ask("parallel: weather in Rome and Oslo", WEATHER)) == [
        ("get_weather", {"city": "Rome"}),
        ("get_weather", {"city": "Oslo"}),
    ]
    assert calls(ask("list files, parallel", *AGENT)) == [
        ("Bash", {"command": "ls"}),
        ("Bash", {"command": "pwd"}),
    ]
    now = function("weather_now", "The weather now")
    both = calls(ask("the weather now, parallel", now, WEATHER))
    assert [name for name, _ in both] == ["weather_now", "get_weather"]
    made = parts_of(ask("list files, parallel", *AGENT), ir.ToolCall)
    assert made[0].id != made[1].id
    assert len(calls(ask("parallel: list files", *AGENT, parallel_tool_calls=False))) == 1


# --- after the calls -----------------------------------------------------------------------------


def after(prompt, *messages, tools=AGENT, **more):
    return demo.reply(asking(user(prompt), *messages, tools=tools, **more), Context())


def test_results_are_answered_from_and_the_turn_ends():
    lines = "\n".join(f"line {number}" for number in range(20))
    image = ir.Image(source=ir.Inline(media_type="image/png", data="AA=="))
    response = after(
        "list files",
        assistant(call("Bash", id="a"), call("Read", id="b"), call("Read", id="c")),
        user(
            result(lines, "a"),
            result("no such file", "b", is_error=True),
            ir.ToolResult(id="c", parts=(image,)),
        ),
    )
    assert calls(response) == []
    assert stop(response) == "end"
    assert "`Bash` answered:\n\n> line 0\n> line 1\n" in words(response)
    assert "(12 more lines)" in words(response)
    assert "`Read` failed:\n\n> no such file" in words(response)
    assert "`Read` answered with an image (image/png)." in words(response)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Exit code: 0\nWall time: 0 s\nOutput:\nhello", "> hello"),
        ('{"output": "hello"}', "> hello"),
        ('{"a": 1}', '> {"a": 1}'),
        ("{no json", "> {no json"),
    ],
)
def test_what_clients_put_around_results(text, shown):
    response = after("list files", assistant(call("Bash")), user(result(text)))
    assert words(response) == f"`Bash` answered:\n\n{shown}"


def test_media_beside_results_belong_to_them():
    image = ir.Image(source=ir.Remote(url="https://example.com/a.png"))
    response = after(
        "list files", assistant(call("Bash")), user(result("x")), user("Attached media:", image)
    )
    assert words(response) == "`Bash` answered:\n\n> x\n\nThere is also an image."


def test_one_round_for_a_message_and_two_if_asked():
    first = (assistant(call("Bash")), user(result("x")))
    second = (assistant(call("Bash", id="call_2")), user(result("y", "call_2")))
    assert calls(after("list files twice", *first)) == [("Bash", {"command": "pwd"})]
    assert calls(after("list files twice", *first, *second)) == []
    assert calls(after("list files", *first, assistant("Done."), user("read a.md"))) == [
        ("Read", {"file_path": "a.md"})
    ]
    # A client may force a call for ever; parallel calls in messages of their own are one round.
    forced = ir.ToolChoice(mode="required")
    assert calls(after("list files", *first, tool_choice=forced)) == []
    apart = (
        assistant(call("Bash", id="a")),
        assistant(call("Bash", id="b")),
        user(result("x", "a")),
        user(result("y", "b")),
    )
    assert len(calls(after("list files twice", *apart))) == 1


def test_what_the_user_says_after_an_interrupted_call_is_new():
    response = after(
        "list files", assistant(call("Bash")), user(result("aborted")), user("read a.md")
    )
    assert calls(response) == [("Read", {"file_path": "a.md"})]


def test_a_tool_that_takes_the_answer_is_called_last():
    final = function("final_result", "", ["total"], total={"type": "integer"})
    forced = ir.ToolChoice(mode="required")
    tools = (WEATHER, final)
    assert calls(after("weather in Rome", tools=tools))[0][0] == "get_weather"
    since = (assistant(call("get_weather")), user(result("7 degrees")))
    last = after("weather in Rome, 7", *since, tools=tools, tool_choice=forced)
    assert calls(last) == [("final_result", {"total": 7})]


# --- cues, limits, reasoning, output -------------------------------------------------------------


def test_error():
    error = ask("an error please", *AGENT)
    assert isinstance(error, ir.ApiError)
    assert (error.kind, error.status) == ("overloaded", 529)
    assert list(demo.events(error)) == [Failed(error)]
    assert isinstance(ask("many errors"), ir.Response)


def test_refuse():
    response = ask("refuse to list files", *AGENT)
    assert [type(part) for part in response.choices[0].parts] == [ir.Refusal]
    assert stop(response) == "refusal"


def test_long():
    response = ask("a long list of files", *AGENT)
    assert 1900 < len(words(response).split()) < 2200
    assert response.usage.output > 2000


def test_truncate_cuts_a_call():
    response = ask("truncate: list files", *AGENT)
    (made,) = parts_of(response, ir.ToolCall)
    with pytest.raises(ValueError):
        json.loads(made.arguments)
    assert stop(response) == "length"
    assert PartEnded(0, incomplete=True) in list(demo.events(response))


@given(st.integers(1, 60), st.sampled_from(["hello", "list files parallel", "refuse", "long"]))
def test_max_tokens_is_a_limit(most, prompt):
    reasoning = ir.ReasoningSettings(enabled=True)
    response = ask(prompt, *AGENT, max_tokens=most, reasoning=reasoning)
    whole = ask(prompt, *AGENT, reasoning=reasoning)
    assert response.usage.output == min(most, whole.usage.output)
    assert stop(response) == (stop(whole) if whole.usage.output <= most else "length")
    assert fold(demo.events(response)) == response


def test_stop_sequences():
    response = ask("hello", stop=("zzz", " demo"))
    assert words(response) == "This is toolglot's"
    assert response.choices[0].stop == ir.StopReason(kind="stop_sequence", sequence=" demo")


@pytest.mark.parametrize(
    ("settings", "thinks"),
    [
        (None, False),
        ({"enabled": False, "effort": "high"}, False),
        ({"effort": "none"}, False),
        ({"budget": 0}, False),
        ({"enabled": True}, True),
        ({"effort": "low"}, True),
        ({"summary": "auto"}, True),
        ({"budget": 1000}, True),
    ],
)
def test_it_thinks_when_asked(settings, thinks):
    asked = None if settings is None else ir.ReasoningSettings(**settings)
    response = ask("weather in Rome", WEATHER, reasoning=asked)
    found = parts_of(response, ir.Reasoning)
    assert bool(found) is thinks
    assert (response.usage.reasoning or 0) == (-(-len(found[0].text) // 4) if thinks else 0)
    assert all(is_own(part) for part in found)
    assert calls(response) == [("get_weather", {"city": "Rome"})]


def test_structured_output():
    schema = {
        "type": "OBJECT",
        "properties": {
            "title": {"type": "STRING"},
            "score": {"type": "INTEGER", "minimum": 1, "maximum": 5},
            "kind": {"type": "STRING", "enum": ["small", "large"]},
        },
        "required": ["title", "score", "kind"],
    }
    output = ir.OutputFormat(kind="schema", schema=schema)
    response = ask("<session>\nA large thing\n</session>", output=output)
    assert json.loads(words(response)) == {"title": "A large thing", "score": 1, "kind": "large"}
    anything = ask("hello", output=ir.OutputFormat(kind="json"))
    assert list(json.loads(words(anything))) == ["answer"]
    assert stop(anything) == "end"


def test_usage_grows_with_the_request():
    small, large = ask("hello"), ask("hello", *AGENT)
    assert 0 < small.usage.input < large.usage.input
    assert small.usage.output == -(-len(words(small)) // 4)
    assert demo.count_tokens(asking(user("x" * 400))) == 100


def test_equal_requests_get_equal_answers():
    assert ask("list files", *AGENT) == ask("list files", *AGENT)
    assert ask("list files", *AGENT).model == "some-model"
    first = parts_of(ask("list files", *AGENT), ir.ToolCall)[0]
    later = after("hi", assistant("Hello."), user("list files"))
    assert parts_of(later, ir.ToolCall)[0].id != first.id
    at = demo.reply(asking(user("hello")), Context(now=1234))
    assert at.created == 1234


# --- arguments for any schema --------------------------------------------------------------------

TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "label": {"type": "string", "minLength": 3, "maxLength": 5},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["label", "next"],
        }
    },
    "$ref": "#/$defs/node",
}
SCHEMAS = [
    TREE,
    {"const": 4},
    {"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}},
    {"type": "object", "minProperties": 2, "properties": {"a": {"type": "null"}}},
    {"type": "object", "patternProperties": {"^n_": {"type": "number"}}, "required": ["n_1"]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "prefixItems": [TEXT, {"type": "boolean"}], "items": False},
    {"type": "array", "maxItems": 0},
    {"type": "array", "contains": {"const": 3}},
    {"type": "integer", "minimum": 7, "multipleOf": 5},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "integer", "exclusiveMaximum": -3},
    {"type": ["null", "string"], "minLength": 100},
    {"type": "string", "pattern": r"^\d{4}$"},
    {"type": "string", "pattern": r"^[a-z]+-\d+$", "maxLength": 8},
    {"type": "string", "pattern": r"\p{L}"},
    {"type": "string", "enum": ["a", "b"], "default": "b"},
    {"type": "string", "not": {"const": "List the files"}, "examples": ["other"]},
    {"allOf": [{"type": "object", "properties": {"a": TEXT}}, {"required": ["a"]}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"oneOf": [{"type": "integer"}, {"type": ["null", "integer"]}]},
    {
        "type": "object",
        "properties": {"a": {"oneOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["a"],
    },
    {"type": "array", "items": {"$ref": "#"}},
    {"anyOf": [False, {"type": "object", "required": ["k"], "properties": {"k": {"const": 1}}}]},
    {"type": "STRING", "nullable": True},
    {"properties": {"a": {"type": "boolean"}}, "required": ["a"]},
    *({"type": "string", "format": name} for name in ("date", "uri", "uuid", "email", "ipv6")),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:60])
def test_values_conform(schema):
    value = fill_schema.value_of(schema, Hints("List the files"))
    if schema.get("type") == "STRING":
        assert value == "List the files"
    else:
        known = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        assert known.is_valid(value), value


@given(st.data())
def test_values_conform_to_any_closed_schema_that_allows_some(data):
    schema = data.draw(schemas(closed=True))
    assume(data.draw(conforming(schema)) is not None)
    value = fill_schema.value_of(schema, Hints("List the 3 files in Paris"))
    assert is_valid(schema, value), value


@given(schemas(closed=True))
def test_values_conform_without_a_checker(schema):
    assume('"oneOf"' not in json.dumps(schema))

    def missing(_schema):
        raise MissingExtraError("validate", "jsonschema-rs")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill_schema, "checker", missing)
        value = fill_schema.value_of(schema, Hints("List the 3 files in Paris"))
    assert is_valid(schema, value), value


def test_streams_come_in_small_pieces():
    response = ask("run `echo one two three four five six`", BASH)
    pieces = [event.text for event in demo.events(response) if isinstance(event, PartDelta)]
    assert "".join(pieces) == parts_of(response, ir.ToolCall)[0].arguments
    assert len(pieces) > 2
    assert max(map(len, pieces)) == 16
    response = ask("  hello \n\n there")
    pieces = [event.text for event in demo.events(response) if isinstance(event, PartDelta)]
    assert "".join(pieces) == words(response)
    assert len(pieces) == len(words(response).split())


def test_optional_parameters_are_filled_from_the_prompt_where_nothing_is_required():
    tool = function("find_train", "", (), city=TEXT, seats={"type": "integer"})
    assert calls(ask("a train in Oslo", tool)) == [("find_train", {"city": "Oslo"})]


# --- through the protocols -----------------------------------------------------------------------

SITUATIONS = {
    "small talk": asking(user("hello")),
    "call": asking(user("weather in Rome"), tools=(WEATHER, CLOCK)),
    "parallel": asking(user("parallel weather in Rome and Oslo"), tools=(WEATHER,)),
    "thinking": asking(
        user("weather in Rome"),
        tools=(WEATHER,),
        max_tokens=20_000,
        reasoning=ir.ReasoningSettings(enabled=True, budget=9_000, effort="high"),
    ),
    "refuse": asking(user("refuse")),
    "long": asking(user("long")),
    "error": asking(user("error")),
    "limit": asking(user("hello"), max_tokens=5),
    "truncate": asking(user("truncate the weather in Rome"), tools=(WEATHER,)),
}
STOPS = {"refusal": {"refusal", "content_filter", "end"}}
"""Where protocols have no word of their own for why an answer stopped: what they say instead."""


def answer_in(name, request):
    """The answer to a request that a client of a protocol sends, and its context."""
    codec = get_protocol(name)
    wire = codec.encode_request(request, Context(target=codec.SURFACE))
    wire = WireRequest(body=wire.body, path=wire.path or path_to(name))
    asked = codec.decode_request(wire, Context(source=codec.SURFACE))
    ctx = Context(target=codec.SURFACE, request=asked)
    return demo.reply(asked, ctx), ctx, codec


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_protocol_can_say_it(name, situation):
    response, ctx, _ = answer_in(name, SITUATIONS[situation])
    wire = encode_response(response, target=name, context=ctx)
    again = decode_response(wire.body, source=name, status=wire.status)
    if isinstance(response, ir.ApiError):
        assert (again.kind, wire.status) == ("overloaded", 529)
        return
    assert stop(again) in STOPS.get(stop(response), {stop(response)})
    assert [part.name for part in parts_of(again, ir.ToolCall)] == [
        part.name for part in parts_of(response, ir.ToolCall)
    ]
    if situation != "truncate":
        assert calls(again) == calls(response)
    if situation == "thinking":
        assert parts_of(again, ir.Reasoning)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("situation", [each for each in SITUATIONS if each != "error"])
def test_every_protocol_can_stream_it(name, situation):
    response, ctx, codec = answer_in(name, SITUATIONS[situation])
    encoder, grammar = codec.StreamEncoder(ctx), Grammar()
    data = b""
    for event in demo.events(response):
        grammar.check(event)
        data += encoder.encode(event)
    data += encoder.close()
    assert grammar.complete
    assert lint_stream(data, name) == []
    assert fold(demo.events(response)) == response
    decoder = codec.StreamDecoder(Context(source=codec.SURFACE))
    again = fold([*decoder.feed(data), *decoder.close()])
    assert stop(again) in STOPS.get(stop(response), {stop(response)})
    if situation != "truncate":
        assert calls(again) == calls(response)


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_conversation_in_every_protocol(name):
    asked = SITUATIONS["thinking"]
    response, ctx, codec = answer_in(name, asked)
    wire = encode_response(response, target=name, context=ctx)
    told = decode_response(wire.body, source=name)
    (made,) = parts_of(told, ir.ToolCall)
    history = (
        *asked.messages,
        ir.Message(role="assistant", parts=told.choices[0].parts),
        user(result("7 degrees, rain", made.id, name="get_weather")),
    )
    last, _, _ = answer_in(name, replace(asked, messages=history))
    assert words(last) == "`get_weather` answered:\n\n> 7 degrees, rain"
    if codec.SURFACE.reasoning.foreign_prefix or name in (
        "anthropic",
        "openai-responses",
        "gemini",
    ):
        assert "1 came back unchanged" in parts_of(last, ir.Reasoning)[0].text


# --- as real clients ask -------------------------------------------------------------------------

ENDPOINTS = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
}


def captured():
    for path in evidence("clients", "*.request.json"):
        capture = json.loads(path.read_text(encoding="utf-8"))
        place, body = capture.get("path", ""), capture.get("body")
        name = "gemini" if "enerateContent" in place else ENDPOINTS.get(place)
        if name and isinstance(body, dict):
            yield pytest.param(name, place, body, id=path.name.removesuffix(".request.json"))


@pytest.mark.parametrize(("name", "path", "body"), list(captured()))
def test_requests_of_real_clients(name, path, body):
    foreign = get_protocol("ollama" if name != "ollama" else "anthropic").SURFACE
    ctx = Context(source=get_protocol(name).SURFACE, target=foreign)
    request = decode_request(body, source=name, path=path, context=ctx)
    first = demo.reply(request, Context())
    assert isinstance(first, ir.Response)
    if request.output is not None and request.output.kind == "schema":
        assert json.loads(words(first)).keys() == set(request.output.schema["required"])
    for prompt in ("list files", "read README.md", "hello", "parallel: run `ls`"):
        asked = replace(request, messages=(*request.messages, user(prompt)))
        _check_calls(demo.reply(asked, Context()), asked)
    for tool in callables(request.tools, None):
        choice = ir.ToolChoice(mode="tool", names=(tool.tool.name,))
        asked = replace(request, messages=(user("do it"),), tool_choice=choice)
        made = _check_calls(demo.reply(asked, Context()), asked)
        assert made[0].name == tool.tool.name


def _check_calls(response, request):
    declared = {(tool.namespace, tool.tool.name): tool for tool in callables(request.tools, None)}
    made = parts_of(response, ir.ToolCall)
    for each in made:
        tool = declared[each.namespace, each.name]
        if each.kind == "function":
            value = json.loads(each.arguments)
            assert jsonschema_rs.validator_for(tool.schema).is_valid(value), (each.name, value)
    return made
