"""Tools of kinds that a target lacks come back as the client declared them, over all pairs."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws.corpus import NAMES, PAIRS, names, path_to

from toolglot import ir
from toolglot.adapt.tools.freeform import FreeText
from toolglot.context import Context
from toolglot.events import Event, PartDelta, fold, unfold
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import (
    decode_response,
    encode_response,
    translate_request,
    translate_response,
)
from toolglot.wire.message import WireRequest

slow_ok = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

free_texts = st.text(max_size=40) | st.text(alphabet="\"\\\n{}u'd83e😀\t /", max_size=30)
"""Anything, lone surrogates left out; and what JSON writes in a special way."""

FREEFORM = [(a, b) for a, b in PAIRS if "custom" in get_protocol(a).SURFACE.tools.kinds]
GROUPED = [(a, b) for a, b in PAIRS if "namespace" in get_protocol(a).SURFACE.tools.kinds]
STOP = ir.StopReason(kind="tool_calls")


def asked(client: str, *tools: ir.Tool, history: tuple[ir.Part, ...] = ()) -> Any:
    """A client's request, as its wire has it."""
    messages = [ir.Message(role="user", parts=(ir.Text(text="Go on."),))]
    for part in history:
        role: Any = "user" if isinstance(part, ir.ToolResult) else "assistant"
        messages.append(ir.Message(role=role, parts=(part,)))
    codec = get_protocol(client)
    request = ir.Request(model="m", messages=tuple(messages), tools=tools, stream=False)
    return codec.encode_request(request, Context(target=codec.SURFACE)).body


def sent(client: str, provider: str, body: Any) -> ir.Request:
    """What the provider is asked then."""
    wire, _ = translate_request(body, source=client, target=provider, path=path_to(client))
    codec = get_protocol(provider)
    return codec.decode_request(WireRequest(body=wire.body, path=wire.path), Context())


def answer(call: ir.ToolCall) -> ir.Response:
    return ir.Response(id="r1", model="m", choices=(ir.Choice(parts=(call,), stop=STOP),))


def returned(client: str, provider: str, body: Any, call: ir.ToolCall) -> ir.ToolCall:
    """A call of the provider as the client gets it, in a whole response."""
    wire = encode_response(answer(call), target=provider).body
    shown, _ = translate_response(wire, source=provider, target=client, request=body)
    got = decode_response(shown.body, source=client)
    assert isinstance(got, ir.Response)
    (part,) = got.choices[0].parts
    assert isinstance(part, ir.ToolCall)
    return part


def streamed(
    client: str, provider: str, body: Any, call: ir.ToolCall, cuts: list[int]
) -> ir.ToolCall:
    """The same in a stream, the arguments cut in these places."""
    codec = get_protocol(provider)
    encoder = codec.StreamEncoder(Context(target=codec.SURFACE))
    translator = StreamTranslator(provider, client, request=body)
    events = [each for event in unfold(answer(call)) for each in cut(event, cuts)]
    got = [translator.feed(encoder.encode(event)) for event in events]
    got += [translator.feed(encoder.close()), translator.close()]
    decoder = get_protocol(client).StreamDecoder(Context())
    whole = fold([*(e for data in got for e in decoder.feed(data)), *decoder.close()])
    assert isinstance(whole, ir.Response), whole
    (part,) = whole.choices[0].parts
    assert isinstance(part, ir.ToolCall)
    return part


def cut(event: Event, cuts: list[int]) -> list[Event]:
    if not isinstance(event, PartDelta):
        return [event]
    places = [0, *sorted({c for c in cuts if 0 < c < len(event.text)}), len(event.text)]
    return [PartDelta(event.index, event.text[a:b]) for a, b in pairwise(places)]


def told(request: ir.Request, index: int) -> str:
    """The name of a tool as the provider knows it."""
    name: Any = request.tools[index]
    return str(name.name)


# --- free text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("client", "provider"), FREEFORM)
@given(text=free_texts, style=st.tuples(st.booleans(), st.booleans()), data=st.data())
@slow_ok
def test_any_text_comes_back_from_any_provider(
    client: str, provider: str, text: str, style: tuple[bool, bool], data: st.DataObject
) -> None:
    """S1-55, case-25: what a model writes as `input` is the input of the client's own call."""
    past = ir.ToolCall(id="call_1", name="patch", arguments=text, type="custom")
    result = ir.ToolResult(id="call_1", parts=(ir.Text(text="ok"),), kind="custom")
    tool = ir.CustomTool(name="patch", syntax="lark", definition="start: /.+/")
    body = asked(client, tool, history=(past, result))
    request = sent(client, provider, body)
    (history,) = (p for m in request.messages for p in m.parts if isinstance(p, ir.ToolCall))
    native = "custom" in get_protocol(provider).SURFACE.tools.kinds
    assert (history.arguments if native else json.loads(history.arguments)["input"]) == text
    assert history.kind == ("custom" if native else "function")
    spaced, escaped = style
    separators = (", ", ": ") if spaced else (",", ":")
    wrapped = json.dumps({"input": text}, ensure_ascii=escaped, separators=separators)
    call = ir.ToolCall(
        id="call_2",
        name=told(request, 0),
        arguments=text if native else wrapped,
        type="custom" if native else "function",
    )
    cuts = data.draw(st.lists(st.integers(1, max(1, len(wrapped))), max_size=6))
    for got in (
        returned(client, provider, body, call),
        streamed(client, provider, body, call, cuts),
        streamed(client, provider, body, call, list(range(len(wrapped)))),
    ):
        assert (got.name, got.kind, got.arguments) == ("patch", "custom", text)


@given(
    text=free_texts | st.text(alphabet=st.characters(), max_size=20),
    before=st.dictionaries(names.filter(lambda n: n != "input"), st.text() | st.integers()),
    escaped=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
def test_a_text_is_the_same_at_every_cut(
    text: str, before: dict[str, Any], escaped: bool, indent: int | None
) -> None:
    """S1-55: an escape may be cut anywhere, a character of two halves included."""
    wrapped = json.dumps({**before, "input": text}, ensure_ascii=escaped, indent=indent)
    meant = json.loads(wrapped)["input"]
    for place in range(len(wrapped) + 1):
        reader = FreeText("patch")
        assert reader.feed(wrapped[:place]) + reader.feed(wrapped[place:]) + reader.close() == meant


@given(text=st.text(alphabet='{}[]"\\:, inputabc\n\t1', max_size=40), data=st.data())
def test_whatever_a_model_writes_reads_the_same_in_pieces(text: str, data: st.DataObject) -> None:
    """S1-55: also what is no JSON at all."""
    whole, pieces = FreeText("patch"), FreeText("patch")
    meant = whole.feed(text) + whole.close()
    cuts = [0, *sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5))), len(text)]
    got = [pieces.feed(text[a:b]) for a, b in pairwise(cuts)]
    assert "".join(got) + pieces.close() == meant
    assert whole.odd == pieces.odd


# --- namespaces ----------------------------------------------------------------------------------


@st.composite
def groups(draw: st.DrawFn) -> tuple[ir.Tool, ...]:
    """Namespaces and functions, whose names may well be the same when joined."""
    short = st.sampled_from(["a", "b", "a__b", "b__", "a__b__a", "mcp__x", "read"])
    tools: list[ir.Tool] = [ir.FunctionTool(name=n) for n in draw(st.sets(short, max_size=3))]
    for name in sorted(draw(st.sets(short, min_size=1, max_size=3))):
        members: list[ir.Tool] = [
            ir.CustomTool(name=n) if draw(st.booleans()) else ir.FunctionTool(name=n)
            for n in sorted(draw(st.sets(short, min_size=1, max_size=3)))
        ]
        tools.append(ir.NamespaceTool(name=name, description="D", tools=tuple(members)))
    return tuple(tools)


@pytest.mark.parametrize(("client", "provider"), GROUPED)
@given(tools=groups(), data=st.data())
@slow_ok
def test_every_member_of_a_namespace_comes_back_as_itself(
    client: str, provider: str, tools: tuple[ir.Tool, ...], data: st.DataObject
) -> None:
    """X-20: names differ for the provider, and lead back to namespace, name and kind."""
    members = [
        (space.name, tool)
        for space in tools
        if isinstance(space, ir.NamespaceTool)
        for tool in space.tools
        if isinstance(tool, (ir.FunctionTool, ir.CustomTool))
    ]
    members += [(None, tool) for tool in tools if isinstance(tool, ir.FunctionTool)]  # type: ignore[misc]
    space, tool = data.draw(st.sampled_from(members))
    kind: Any = "custom" if isinstance(tool, ir.CustomTool) else "function"
    past = ir.ToolCall(id="call_1", name=tool.name, namespace=space, arguments="{}", type=kind)
    result = ir.ToolResult(id="call_1", parts=(ir.Text(text="ok"),), kind=kind)
    body = asked(client, *tools, history=(past, result))
    request = sent(client, provider, body)
    declared = [told(request, index) for index in range(len(request.tools))]
    assert len(set(declared)) == len(declared) == len(members)
    (history,) = (p for m in request.messages for p in m.parts if isinstance(p, ir.ToolCall))
    assert history.namespace is None
    assert history.name in declared
    wrapped = kind == "custom" and "custom" not in get_protocol(provider).SURFACE.tools.kinds
    call = ir.ToolCall(
        id="call_2",
        name=history.name,
        arguments='{"input":"{}"}' if wrapped else "{}",
        type=history.kind,
    )
    for got in (
        returned(client, provider, body, call),
        streamed(client, provider, body, call, [3]),
    ):
        meant = (space, tool.name, kind, "{}")
        assert (got.namespace, got.name, got.kind, got.arguments) == meant


# --- tools of providers --------------------------------------------------------------------------

PROVIDER_TOOLS: dict[str, list[Any]] = {
    "anthropic": [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
        {"type": "web_search_20260318", "name": "web_search", "blocked_domains": ["a.b"]},
        {"type": "web_fetch_20250910", "name": "web_fetch", "citations": {"enabled": True}},
        {"type": "code_execution_20250825", "name": "code_execution"},
        {"type": "bash_20250124", "name": "bash", "cache_control": {"type": "ephemeral"}},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "computer_20250124", "name": "computer", "display_width_px": 9},
        {"type": "mcp_toolset", "mcp_server_name": "x"},
        {"type": "web_search_2", "user_location": 7},
    ],
    "openai-responses": [
        {"type": "web_search", "external_web_access": True, "filters": {"allowed_domains": ["x"]}},
        {"type": "web_search_preview", "search_context_size": "low", "user_location": None},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "code_interpreter", "container": "cntr_1"},
        {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "shell", "environment": {"type": "container_auto"}},
        {"type": "apply_patch"},
        {"type": "tool_search", "execution": "client", "parameters": 7},
        {"type": "tool_search"},
        {"type": "image_generation"},
        {"type": "file_search", "vector_store_ids": ["v"]},
        {"type": "computer_use_preview", "display_width": 9},
        {"type": "mcp", "server_label": "x", "server_url": "https://mcp.example"},
        {"type": "web_search", "filters": 7, "user_location": [1]},
    ],
    "gemini": [
        {"googleSearch": {}},
        {"googleSearchRetrieval": {"dynamicRetrievalConfig": {}}},
        {"urlContext": {}},
        {"codeExecution": {}},
        {"codeExecution": {}, "googleSearch": {"timeRangeFilter": {"startTime": "x"}}},
        {"googleMaps": {}},
        {"fileSearch": {"fileSearchStoreNames": ["x"]}},
        {"computerUse": {"environment": "ENVIRONMENT_BROWSER"}},
        {"googleSearch": 7},
    ],
    "gemini-interactions": [
        {"type": "google_search", "search_types": ["web_search"]},
        {"type": "google_search", "search_types": ["image_search"]},
        {"type": "url_context"},
        {"type": "code_execution"},
        {"type": "mcp_server", "name": "x", "url": "https://x.example"},
        {"type": "computer_use", "environment": "browser"},
    ],
    "openai-chat": [{"type": "web_search"}, {"type": "mcp", "name": 7}],
    "ollama": [],
    "bedrock-converse": [{"systemTool": {"name": "nova_grounding"}}, {"hologram": 7}],
}
CHOICES: dict[str, list[Any]] = {
    "anthropic": [{"type": "tool", "name": "web_search"}, {"type": "any"}, {"type": "auto"}],
    "openai-responses": [
        {"type": "web_search_preview"},
        {"type": "shell"},
        {"type": "code_interpreter"},
        {"type": "mcp", "server_label": "x"},
        "required",
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]},
    ],
    "gemini": [],
    "gemini-interactions": [],
    "openai-chat": ["required"],
    "ollama": [],
    "bedrock-converse": [],
}
FUNCTION: dict[str, Any] = {
    "anthropic": {"name": "look", "input_schema": {"type": "object"}},
    "openai-responses": {"type": "function", "name": "look", "parameters": {"type": "object"}},
    "gemini": {"functionDeclarations": [{"name": "look"}]},
    "gemini-interactions": {"type": "function", "name": "look", "parameters": {"type": "object"}},
    "openai-chat": {"type": "function", "function": {"name": "look"}},
    "bedrock-converse": {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}},
}


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", [name for name in NAMES if PROVIDER_TOOLS[name]])
@given(data=st.data())
@slow_ok
def test_no_mix_of_provider_tools_kills_a_request(
    source: str, target: str, data: st.DataObject
) -> None:
    """S1-10, case-27: what can be mapped is, the rest is named, and the request stays sound."""
    if source == target:
        return
    choices = [*PROVIDER_TOOLS[source], FUNCTION[source]]
    tools = data.draw(st.lists(st.sampled_from(choices), max_size=6))
    body = asked(source)
    if source == "bedrock-converse":
        body["toolConfig"] = {"tools": tools}
    else:
        body["tools"] = tools
    if source == "openai-chat" and data.draw(st.booleans()):
        body["web_search_options"] = {"search_context_size": "low"}
    if CHOICES[source] and data.draw(st.booleans()):
        body["tool_choice"] = data.draw(st.sampled_from(CHOICES[source]))
    wire, receipt = translate_request(body, source=source, target=target, path=path_to(source))
    codec = get_protocol(target)
    request = codec.decode_request(WireRequest(body=wire.body, path=wire.path), Context())
    kinds = [tool.type for tool in request.tools if isinstance(tool, ir.ProviderTool)]
    assert len(set(kinds)) == len(kinds), "no tool is there twice"
    ctx = Context(source=get_protocol(source).SURFACE)
    before = get_protocol(source).decode_request(WireRequest(body=body, path=path_to(source)), ctx)
    said = {note.path for note in receipt}
    for index, tool in enumerate(before.tools):
        assert isinstance(tool, ir.FunctionTool) or ctx.tool_at(index) in said
    if request.tool_choice is not None:
        assert request.tools, "a choice only where there is something to choose"
        chosen = before.tool_choice.names if before.tool_choice else ()
        if set(chosen) <= keys(before.tools):
            assert set(request.tool_choice.names) <= keys(request.tools)


def keys(tools: tuple[ir.Tool, ...]) -> set[str]:
    """By what tools can be chosen."""
    own = [tool for tool in tools if isinstance(tool, ir.ProviderTool)]
    named = [str(tool.name) for tool in tools if not isinstance(tool, ir.ProviderTool)]
    return {*named, *(tool.type for tool in own), *(str(t.value.get("name")) for t in own)}
