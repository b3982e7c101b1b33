"""What real agent clients send and insist on, tried on every foreign protocol."""

import json

import pytest
from tests.client_requests import (
    CODEX_HISTORY,
    GEMINI_HISTORY,
    GEMINI_PATH,
    ODD_ID,
    PIXEL,
    REORDERED,
    claude_code,
    claude_title,
    claude_tool_search,
    claude_web_search,
    codex,
    codex_lite,
    codex_tool_search,
    gemini_cli,
    tool_result,
    tool_use,
)
from tests.evidence import evidence
from tests.laws.streams import encode
from tests.wires import NAMES, answer, parts_of, words

from toolglot import Context, Options, decode_request, decode_response, encode_response, ir
from toolglot.events import fold, unfold
from toolglot.exchange import Exchange
from toolglot.lint import lint_stream
from toolglot.registry import get_protocol
from toolglot.wire import jsontext


def foreign(client):
    return [name for name in NAMES if name != client]


def sent(client, target, body, path="", **options):
    """An exchange and what the provider gets."""
    exchange = Exchange(client, target, Options(**options))
    asked = exchange.request(jsontext.encode(body), path)
    heard = decode_request(asked.data, source=target, path=asked.path)
    return exchange, json.loads(asked.data), heard


def losses(exchange):
    return sorted(note.code for note in exchange.notes if note.severity != "info")


def declared(request):
    return [tool.name for tool in request.tools if isinstance(tool, ir.FunctionTool)]


# --- Claude Code ----------------------------------------------------------------------------------

for_claude = pytest.mark.parametrize("target", foreign("anthropic"))


@for_claude
def test_conversations_of_claude_code_share_their_prefix(target):
    one, two = (
        Exchange("anthropic", target).request(jsontext.encode(claude_code(conversation=each)))
        for each in ("a1b", "c2d")
    )
    assert one.data == two.data
    assert b"billing-header" not in one.data
    assert b"You are an agent." in one.data


def test_its_own_provider_gets_every_byte_of_claude_code():
    body = jsontext.encode(claude_code())
    assert Exchange("anthropic", "anthropic").request(body).data == body


def test_others_that_speak_its_protocol_need_not_get_the_attribution():
    exchange = Exchange("anthropic", "anthropic", Options(attribution="drop"))
    got = json.loads(exchange.request(jsontext.encode(claude_code())).data)
    whole = claude_code()
    assert got == {**whole, "system": whole["system"][1:]}
    assert [note.code for note in exchange.notes] == ["attribution-dropped"]
    plain = jsontext.encode({**whole, "system": "Be brief."})
    assert Exchange("anthropic", "anthropic", exchange.options).request(plain).data == plain


@for_claude
def test_a_prompt_that_only_mentions_the_attribution_is_kept(target):
    text = "x-anthropic-billing-header: is a line\nthat clients send."
    _, _, heard = sent("anthropic", target, claude_code(system=text))
    told = (heard.system, *heard.messages) if heard.system else heard.messages
    assert any(text in words(message) for message in told)


@for_claude
def test_system_messages_of_claude_code_stay_in_their_place(target):
    _, _, heard = sent("anthropic", target, claude_code(*REORDERED))
    text = "These agents can be asked: explorer."
    places = [index for index, each in enumerate(heard.messages) if text in words(each)]
    calls = [index for index, each in enumerate(heard.messages) if parts_of(each, ir.ToolCall)]
    assert len(places) == 1
    assert places[0] < calls[0]


EFFORTS = {
    "openai-chat": ("low", "medium", "high", "xhigh", "max"),
    "openai-responses": ("low", "medium", "high", "xhigh", "max"),
    "gemini-interactions": ("low", "medium", "high", "high", "high"),
    "gemini": ("low", "medium", "high", "high", "high"),
    "ollama": ("low", "medium", "high", "high", "high"),
    "bedrock-converse": ("low", "medium", "high", "xhigh", "max"),
}


@for_claude
@pytest.mark.parametrize("place", range(5))
def test_efforts_of_claude_code(target, place):
    effort = ("low", "medium", "high", "xhigh", "max")[place]
    _, _, heard = sent("anthropic", target, claude_code(output_config={"effort": effort}))
    assert heard.reasoning.effort == EFFORTS[target][place]


@for_claude
def test_a_budget_above_the_limit_is_cut(target):
    """Qwen Code sends 32000 with a limit of 8000."""
    thinking = {"type": "enabled", "budget_tokens": 32000}
    body = claude_code(thinking=thinking, output_config={}, max_tokens=8000)
    _, _, heard = sent("anthropic", target, body)
    told = (heard.reasoning.effort, heard.reasoning.budget)
    assert told == ((None, 7999) if target in ("gemini", "bedrock-converse") else ("medium", None))


@for_claude
def test_what_only_anthropic_reads_is_left_out_in_sight(target):
    exchange, body, heard = sent("anthropic", target, claude_code())
    assert "context_management" in {note.path for note in exchange.notes}
    assert "context_management" not in body
    keeps = "user" in get_protocol(target).SURFACE.settings
    assert heard.user == ('{"device_id":"00","session_id":"11"}' if keeps else None)
    assert declared(heard) == ["Bash", "Read"]


@for_claude
def test_a_turn_that_claude_code_has_put_in_order(target):
    """case-32: only ids tell what belongs together."""
    _, _, heard = sent("anthropic", target, claude_code(*REORDERED))
    calls, results = parts_of(heard, ir.ToolCall), parts_of(heard, ir.ToolResult)
    assert [call.name for call in calls] == ["Bash", "Bash", "Read"]
    by_id = {result.id: result for result in results}
    one, two, three = (by_id[call.id] for call in calls)
    assert words(one) == "ONE"
    assert words(two).endswith("Exit code 3")
    assert words(two) != "Exit code 3" or two.is_error
    assert "First.Second." in words(heard)
    pictures = parts_of(three, ir.Image) or parts_of(heard, ir.Image)
    assert [picture.source.data for picture in pictures] == [PIXEL]
    if get_protocol(target).SURFACE.calls.results_in_order:
        assert [result.id for result in results] == [call.id for call in calls]


@pytest.mark.parametrize("stream", [False, True])
@for_claude
def test_a_provider_gets_back_the_order_that_claude_code_changes(target, stream):
    """case-35: reasoning between calls goes back to the call that it came before."""
    parts = (
        ir.Text(text="First. "),
        ir.ToolCall(id="call_1", name="Bash", arguments='{"command":"one"}'),
        ir.Text(text="Second."),
        ir.Reasoning(text="Hm.", signature="c2ln"),
        ir.ToolCall(id="call_2", name="Read", arguments='{"file_path":"two"}', signature="Z2Vt"),
    )
    wire = encode_response(answer(*parts), target=target)
    written = decode_response(wire.body, source=target).choices[0].parts
    exchange, _, _ = sent("anthropic", target, claude_code())
    shown = (exchange.unfolded if stream else exchange.response)(wire.data())
    if stream:
        decoder = get_protocol("anthropic").StreamDecoder(own("anthropic"))
        read = fold([*decoder.feed(shown.data), *decoder.close()])
        content = encode_response(read, target="anthropic").body["content"]
    else:
        content = json.loads(shown.data)["content"]
    calls = [block for block in content if block["type"] == "tool_use"]
    reordered = [block for block in content if block["type"] != "tool_use"] + calls
    results = [tool_result(block["id"], "Done.") for block in reversed(calls)]
    _, _, heard = sent(
        "anthropic",
        target,
        claude_code(
            {"role": "assistant", "content": reordered}, {"role": "user", "content": results}
        ),
    )
    said = [message for message in heard.messages if message.role == "assistant"]
    again = [part for message in said for part in message.parts]
    kinds = [type(part) for part in written]
    if get_protocol(target).SURFACE.messages.ordered:
        assert [type(part) for part in again] == kinds
    assert words(answer(*again)) == words(answer(*written))


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini"])
def test_odd_ids_come_and_go_unchanged(target):
    exchange, _, heard = sent("anthropic", target, claude_code(*REORDERED))
    assert parts_of(heard, ir.ToolCall)[0].id == ODD_ID
    reply = answer(ir.ToolCall(id=ODD_ID, name="Bash", arguments='{"command":"x"}'))
    shown = json.loads(exchange.response(encode_response(reply, target=target).data()).data)
    assert [block["id"] for block in shown["content"] if block["type"] == "tool_use"] == [ODD_ID]


@for_claude
def test_web_search_of_claude_code_is_asked_for_or_left_out(target):
    exchange, body, _ = sent("anthropic", target, claude_web_search())
    tools = {
        "openai-responses": [{"type": "web_search"}],
        "gemini-interactions": [{"type": "google_search"}],
        "gemini": [{"googleSearch": {}}],
    }
    assert body.get("tools") == tools.get(target)
    assert body.get("tool_choice") == ("required" if target == "openai-responses" else None)
    assert {"tool-mapped", "tool-dropped"} & set(exchange.receipt.codes())


FOUND = {
    "openai-responses": [
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "herons"},
        },
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Three herons.", "annotations": []}],
        },
    ],
}


@for_claude
def test_what_was_found_is_a_text(target):
    exchange, _, _ = sent("anthropic", target, claude_web_search())
    reply = json.loads(encode_response(answer("Three herons."), target=target).data())
    if target in FOUND:
        reply["output"] = FOUND[target]
    shown = exchange.response(jsontext.encode(reply))
    assert shown.status == 200
    content = json.loads(shown.data)["content"]
    assert [block["text"] for block in content if block["type"] == "text"] == ["Three herons."]
    assert json.loads(shown.data)["stop_reason"] == "end_turn"


@for_claude
def test_the_title_that_claude_code_asks_for(target):
    _, _, heard = sent("anthropic", target, claude_title())
    assert heard.output.kind == "schema"
    assert heard.output.schema["properties"] == {"title": {"type": "string"}}
    assert heard.tools == ()
    if target == "gemini-interactions":  # It is never off.
        assert heard.reasoning.effort == "minimal"
    else:
        assert heard.reasoning.enabled is False


@for_claude
def test_tools_that_claude_code_has_found_can_be_called(target):
    exchange, _, heard = sent("anthropic", target, claude_tool_search())
    assert declared(heard) == ["ToolSearch", "Read"]
    assert words(parts_of(heard, ir.ToolResult)[0]) == "This tool can be called now: Read"
    assert "Tool loaded." in words(heard)
    notes = {(note.code, note.severity) for note in exchange.notes}
    assert ("part-replaced", "info") in notes
    assert ("field-minor", "info") in notes


# --- Codex ----------------------------------------------------------------------------------------

for_codex = pytest.mark.parametrize("target", foreign("openai-responses"))


@for_codex
def test_the_prompt_of_codex_is_system_text(target):
    _, _, heard = sent("openai-responses", target, codex())
    leading = (heard.system,) if heard.system else ()
    told = [*leading, *(m for m in heard.messages if m.role in ("system", "developer"))]
    # One protocol has one string for all of it.
    between = "\n\n" if target == "gemini-interactions" else ""
    assert "".join(map(words, told)) == f"You are an agent.{between}The sandbox is off."
    users = "".join(words(message) for message in heard.messages if message.role == "user")
    assert users == "<cwd>/pond</cwd>List the herons."


@for_codex
def test_the_bookkeeping_of_codex_is_no_loss(target):
    exchange, _, _ = sent("openai-responses", target, codex(*CODEX_HISTORY))
    lost = {note.path: note.code for note in exchange.notes if note.severity != "info"}
    # A freeform tool loses its grammar, reasoning its state; effort may have other names.
    odd = {path for path, code in lost.items() if code in ("field-unknown", "field-dropped")}
    assert odd == set()
    keeps_key = "cache_key" in get_protocol(target).SURFACE.settings
    assert ("cache-dropped" in exchange.receipt.codes()) is not keeps_key


@for_codex
def test_history_of_codex(target):
    """case-29: pictures in the output of a function reach the model."""
    _, _, heard = sent("openai-responses", target, codex(*CODEX_HISTORY))
    calls = parts_of(heard, ir.ToolCall)
    assert [call.name for call in calls] == ["mcp__pond__count", "apply_patch"]
    assert json.loads(calls[0].arguments) == {"text": "herons"}
    assert "*** Begin Patch" in calls[1].arguments
    results = {result.id: result for result in parts_of(heard, ir.ToolResult)}
    assert "Wall time: 1 s" in words(results[calls[0].id])
    assert words(results[calls[1].id]) == "Done."
    pictures = [*parts_of(results[calls[0].id], ir.Image), *parts_of(heard, ir.Image)]
    assert [picture.source.data for picture in pictures] == [PIXEL]


def codex_items(exchange, target, *parts, stream=False):
    """The items that Codex gets for an answer of these parts."""
    reply = answer(*parts, usage=ir.Usage(input=7, output=2))
    if not stream:
        return json.loads(exchange.response(encode_response(reply, target=target).data()).data)
    translator = exchange.stream()
    data = translator.feed(encode(target, unfold(reply))) + translator.close()
    events = [json.loads(line[6:]) for line in data.decode().split("\n") if line[:6] == "data: "]
    done = [each["item"] for each in events if each["type"] == "response.output_item.done"]
    final = events[-1]
    assert final["type"] == "response.completed"
    assert done == final["response"]["output"]
    return final["response"]


@for_codex
@pytest.mark.parametrize("stream", [False, True])
def test_calls_come_back_to_codex_as_it_declared_them(target, stream):
    """X-20: the namespace apart from the name, freeform as freeform."""
    exchange, _, heard = sent("openai-responses", target, codex())
    custom = next((tool for tool in heard.tools if isinstance(tool, ir.CustomTool)), None)
    patch = (
        ir.ToolCall(id="c2", name="apply_patch", arguments="*** End Patch", type="custom")
        if custom
        else ir.ToolCall(id="c2", name="apply_patch", arguments='{"input":"*** End Patch"}')
    )
    count = ir.ToolCall(id="c1", name="mcp__pond__count", arguments='{"text":"x"}')
    shown = codex_items(exchange, target, count, patch, stream=stream)
    first, second = shown["output"][:2]
    assert (first["type"], first["namespace"], first["name"]) == (
        "function_call",
        "mcp__pond",
        "count",
    )
    assert (second["type"], second["input"]) == ("custom_tool_call", "*** End Patch")
    assert all(item["status"] == "completed" for item in (first, second))
    assert all(item["call_id"] for item in (first, second))
    assert shown["id"]
    assert shown["usage"]["total_tokens"] == 9
    assert shown["usage"]["input_tokens_details"]["cached_tokens"] == 0


@for_codex
@pytest.mark.parametrize("stream", [False, True])
def test_tools_that_codex_declares_in_an_item(target, stream):
    """case-28: they are tools for every provider, and calls come back in their namespace."""
    exchange, _, heard = sent("openai-responses", target, codex_lite())
    names = [tool.name for tool in heard.tools]
    assert names == ["functions__exec", "functions__wait", "collaboration__send_message"]
    assert "schema-loosened" not in exchange.receipt.codes()
    wait = ir.ToolCall(id="c1", name="functions__wait", arguments='{"text":"x"}')
    (item, *_) = codex_items(exchange, target, wait, stream=stream)["output"]
    assert (item["type"], item["namespace"], item["name"]) == ("function_call", "functions", "wait")


@for_codex
@pytest.mark.parametrize("stream", [False, True])
def test_tools_that_codex_has_found_can_be_called(target, stream):
    exchange, _, heard = sent("openai-responses", target, codex_tool_search())
    assert declared(heard) == ["tool_search", "mcp__pond__count"]
    assert "mcp__pond__count" in words(parts_of(heard, ir.ToolResult)[0])
    search = ir.ToolCall(id="c1", name="tool_search", arguments='{"query":"read"}')
    count = ir.ToolCall(id="c2", name="mcp__pond__count", arguments='{"text":"x"}')
    first, second = codex_items(exchange, target, search, count, stream=stream)["output"][:2]
    assert (first["type"], first["execution"], first["arguments"]) == (
        "tool_search_call",
        "client",
        {"query": "read"},
    )
    assert (second["namespace"], second["name"]) == ("mcp__pond", "count")


def test_a_pause_lets_codex_ask_again():
    exchange, _, _ = sent("openai-responses", "anthropic", codex())
    reply = encode_response(answer("So far.", stop="pause"), target="anthropic")
    shown = json.loads(exchange.response(reply.data()).data)
    assert (shown["status"], shown["end_turn"]) == ("completed", False)
    again = decode_response(shown, source="openai-responses")
    assert again.choices[0].stop.kind == "pause"
    ended = json.loads(
        Exchange("openai-responses", "anthropic")
        .response(encode_response(answer("All."), target="anthropic").data())
        .data
    )
    assert "end_turn" not in ended


def test_a_pause_in_a_stream_lets_codex_ask_again():
    exchange, _, _ = sent("openai-responses", "anthropic", codex())
    translator = exchange.stream()
    events = unfold(answer("So far.", stop="pause"))
    data = translator.feed(encode("anthropic", events)) + translator.close()
    assert lint_stream(data, "openai-responses") == []
    last = json.loads(data.decode().rstrip().rpartition("data: ")[2])
    assert last["type"] == "response.completed"
    assert last["response"]["end_turn"] is False


def test_end_turn_with_calls_is_still_about_the_calls():
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "n", "arguments": "{}"}
    body = {
        "id": "resp_1",
        "model": "m",
        "status": "completed",
        "output": [call],
        "end_turn": False,
    }
    read = decode_response(body, source="openai-responses")
    assert read.choices[0].stop.kind == "tool_calls"
    assert encode_response(read, target="openai-responses").body["end_turn"] is False


# --- Gemini CLI -----------------------------------------------------------------------------------

for_gemini = pytest.mark.parametrize("target", foreign("gemini"))


@for_gemini
def test_a_turn_of_gemini_cli(target):
    exchange, body, heard = sent("gemini", target, gemini_cli(*GEMINI_HISTORY), GEMINI_PATH)
    assert (body.get("model") or heard.model) == "gemini-3.1-pro-preview"
    assert heard.stream is True
    calls, results = parts_of(heard, ir.ToolCall), parts_of(heard, ir.ToolResult)
    assert [json.loads(call.arguments) for call in calls] == [{"path": "heron.png"}, {"path": "."}]
    by_id = {result.id: result for result in results}
    assert words(by_id[calls[0].id]) == "One picture."
    failed = by_id[calls[1].id]
    assert failed.is_error or words(failed) == "[tool error] No pond."
    assert [each.source.data for each in parts_of(heard, ir.Image)] == [PIXEL]
    assert "reasoning-dropped" not in exchange.receipt.codes()
    assert heard.reasoning.effort == "high"


@for_gemini
def test_names_with_dots_come_back_to_gemini_cli(target):
    exchange, _, heard = sent("gemini", target, gemini_cli(*GEMINI_HISTORY), GEMINI_PATH)
    name = declared(heard)[1]
    assert parts_of(heard, ir.ToolCall)[1].name == name
    reply = encode_response(answer(ir.ToolCall(id="c1", name=name, arguments="{}")), target=target)
    (candidate,) = json.loads(exchange.response(reply.data()).data)["candidates"]
    called = [part["functionCall"] for part in candidate["content"]["parts"] if len(part)]
    assert called[0]["name"] == "mcp_pond_count.all-x"


def test_sampling_of_gemini_cli_gives_way_to_reasoning():
    _, body, _ = sent("gemini", "anthropic", gemini_cli(), GEMINI_PATH)
    assert not {"temperature", "top_p", "top_k"} & body.keys()
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}


@for_gemini
def test_both_spellings_of_gemini(target):
    """The Python SDK writes snake_case, some clients upper-case types and any case of levels."""
    schema = {"type": "OBJECT", "properties": {"path": {"type": "STRING", "nullable": True}}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": schema}]}],
        "generation_config": {
            "response_mime_type": "application/json",
            "response_json_schema": {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}},
            "thinking_config": {"include_thoughts": True, "thinking_level": "hIgh"},
        },
    }
    _, _, heard = sent("gemini", target, body, "/v1/models/g:generateContent")
    kinds = heard.tools[0].parameters["properties"]["path"]["type"]
    assert kinds == ["string", "null"]
    assert heard.output.schema["properties"] == {"a": {"type": "integer"}}
    assert heard.reasoning.effort == "high"
    assert heard.stream is not True


@for_gemini
def test_a_level_that_says_nothing_is_no_loss(target):
    """Qwen Code sends it."""
    config = {"thinkingConfig": {"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}}
    exchange, _, heard = sent("gemini", target, gemini_cli(generationConfig=config), GEMINI_PATH)
    assert losses(exchange) == []
    assert heard.reasoning is None


@for_gemini
def test_calls_without_ids_are_paired_by_order_and_name(target):
    """opencode sends no ids, and the result under a key of its own."""
    parts = [{"functionCall": {"name": "read_file", "args": {"path": path}}} for path in ("a", "b")]
    results = [
        {
            "functionResponse": {
                "name": "read_file",
                "response": {"name": "read_file", "content": text},
            }
        }
        for text in ("A", "B")
    ]
    body = gemini_cli({"role": "model", "parts": parts}, {"role": "user", "parts": results})
    _, _, heard = sent("gemini", target, body, GEMINI_PATH)
    calls = parts_of(heard, ir.ToolCall)
    by_id = {result.id: words(result) for result in parts_of(heard, ir.ToolResult)}
    assert len({call.id for call in calls}) == 2
    assert [by_id[call.id] for call in calls] == ["A", "B"]


@for_gemini
def test_google_search_is_mapped_or_left_out(target):
    body = gemini_cli(tools=[{"googleSearch": {}}])
    _, wire, _ = sent("gemini", target, body, GEMINI_PATH)
    kinds = {
        "anthropic": "web_search_20250305",
        "openai-responses": "web_search",
        "gemini-interactions": "google_search",
    }
    assert [tool["type"] for tool in wire.get("tools", ())] == (
        [kinds[target]] if target in kinds else []
    )


# --- opencode and Qwen Code -----------------------------------------------------------------------

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("target", foreign("openai-chat"))
def test_chat_of_opencode_and_qwen_code(target):
    attached = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    body = {
        "model": "m",
        "max_tokens": 8000,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
            {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "H"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "One."}]},
            {"role": "user", "content": [{"type": "text", "text": "Attached:"}, attached]},
        ],
    }
    _, _, heard = sent("openai-chat", target, body)
    (call,), (result,) = parts_of(heard, ir.ToolCall), parts_of(heard, ir.ToolResult)
    assert (call.id, words(result)) == (result.id, "One.")
    assert [each.source.data for each in parts_of(heard, ir.Image)] == [PIXEL]
    assert heard.max_tokens == 8000


@for_codex
def test_responses_of_opencode(target):
    body = {
        "model": "m",
        "input": [
            {"role": "developer", "content": "You are an agent."},
            {"role": "user", "content": [{"type": "input_text", "text": "Look."}]},
            {"type": "reasoning", "encrypted_content": "abc", "summary": []},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "One."},
        ],
    }
    _, _, heard = sent("openai-responses", target, body)
    (call,), (result,) = parts_of(heard, ir.ToolCall), parts_of(heard, ir.ToolResult)
    assert (call.id, words(result)) == (result.id, "One.")
    assert "Looking." in words(heard)


def test_cache_marks_on_calls_are_noted():
    """opencode marks calls, too."""
    marked = {**tool_use("toolu_1", command="x"), "cache_control": {"type": "ephemeral"}}
    body = claude_code(
        {"role": "assistant", "content": [marked]},
        {"role": "user", "content": [tool_result("toolu_1", "X")]},
    )
    exchange, _, _ = sent("anthropic", "openai-chat", body)
    assert "messages[2].content[0]" in {
        note.path for note in exchange.notes if note.code == "cache-dropped"
    }


# --- the strictest common stream ------------------------------------------------------------------

FULL = answer(
    ir.Reasoning(text="Hm.", signature="c2lnbmF0dXJl"),
    "Two calls.",
    ir.ToolCall(id="call_1", name="f", arguments='{"a":1}'),
    ir.ToolCall(id="call_2", name="g", arguments="{}"),
    usage=ir.Usage(input=5, cache_read=2, output=3, reasoning=1),
)
ASKED = ir.Request(
    model="asked-for", messages=(), stream=True, include_usage=True,
    tools=(ir.FunctionTool(name="f"), ir.FunctionTool(name="g")),
)  # fmt: skip


def streamed(client, provider, response=FULL):
    """What a client gets for a stream that names another model."""
    wire = get_protocol(client).encode_request(ASKED, own(client))
    exchange = Exchange(client, provider, Options(model="really-this"), now=1794700000)
    exchange.request(wire.data(), wire.path)
    translator = exchange.stream()
    return translator.feed(encode(provider, unfold(response))) + translator.close()


def own(client):
    """The context of a client by itself."""
    return Context(target=get_protocol(client).SURFACE)


def sse(data):
    """The events of a stream: their `event:` lines and their JSON."""
    found = []
    for block in data.decode().replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(": ")[::2] for line in block.split("\n") if line]
        assert all(name in ("event", "data") for name, _ in lines), "no comments"
        if lines:
            fields = dict(lines)
            found.append((fields.get("event"), fields["data"]))
    return found


for_all = pytest.mark.parametrize("provider", NAMES)


@for_all
def test_the_stream_that_every_anthropic_client_reads(provider):
    events = [(name, json.loads(text)) for name, text in sse(streamed("anthropic", provider))]
    assert all(name == event["type"] for name, event in events)
    message = events[0][1]["message"]
    assert message["type"] == "message"
    assert (message["role"], message["model"], message["content"]) == ("assistant", "asked-for", [])
    assert message["id"]
    assert message["stop_reason"] is None
    assert message["stop_sequence"] is None
    assert {"input_tokens", "output_tokens"} <= message["usage"].keys()
    open_block, blocks, given = None, 0, {}
    for name, event in events[1:-2]:
        if name == "content_block_start":
            assert (open_block, event["index"]) == (None, blocks)
            open_block, blocks = blocks, blocks + 1
            if event["content_block"]["type"] == "tool_use":
                assert event["content_block"]["input"] == {}
                given[event["index"]] = ""
        elif name == "content_block_delta":
            assert event["index"] == open_block
            delta = event["delta"]
            if delta["type"] == "signature_delta":
                assert isinstance(delta["signature"], str)
            if delta["type"] == "input_json_delta":
                given[open_block] += delta["partial_json"]
        elif name == "content_block_stop":
            assert event["index"] == open_block
            open_block = None
    assert [json.loads(text or "{}") for text in given.values()] == [{"a": 1}, {}]
    last, end = events[-2][1], events[-1][1]
    assert last["type"] == "message_delta"
    assert last["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert last["usage"]["output_tokens"] == 3
    assert end == {"type": "message_stop"}


@for_all
def test_the_stream_that_every_responses_client_reads(provider):
    events = [(n, json.loads(text)) for n, text in sse(streamed("openai-responses", provider))]
    assert all(name == event["type"] for name, event in events)
    assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
    kinds = [name for name, _ in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    final = events[-1][1]["response"]
    assert final["id"] == events[0][1]["response"]["id"]
    assert final["model"] == "asked-for"
    added = {e["output_index"]: e["item"] for n, e in events if n == "response.output_item.added"}
    done = {e["output_index"]: e["item"] for n, e in events if n == "response.output_item.done"}
    assert [done[index] for index in sorted(done)] == final["output"]
    for index, item in added.items():
        assert item["id"] == done[index]["id"]
        assert item.get("status", "in_progress") == "in_progress"
        assert done[index].get("status", "completed") == "completed"
    for name, event in events[2:-1]:
        if not name.startswith("response.output_item."):
            assert event["item_id"] == added[event["output_index"]]["id"]
            assert "arguments" in name or "_index" in "".join(event.keys() - {"output_index"})
    calls = [item for item in final["output"] if item["type"] == "function_call"]
    assert [json.loads(call["arguments"]) for call in calls] == [{"a": 1}, {}]
    usage = final["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["input_tokens_details"]["cached_tokens"] >= 0
    assert usage["output_tokens_details"]["reasoning_tokens"] >= 0


@for_all
def test_the_stream_that_every_chat_client_reads(provider):
    events = [text for _, text in sse(streamed("openai-chat", provider))]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(text) for text in events[:-1]]
    for chunk in chunks:
        assert chunk["id"] == chunks[0]["id"]
        assert (chunk["object"], chunk["model"]) == ("chat.completion.chunk", "asked-for")
        assert isinstance(chunk["created"], int)
        assert all(choice["index"] == 0 for choice in chunk["choices"])
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"]
    reasons = [c["choices"][0].get("finish_reason") for c in chunks if c["choices"]]
    assert [reason for reason in reasons if reason] == ["tool_calls"]
    calls: dict[int, str] = {}
    for chunk in chunks[:-1]:
        for call in chunk["choices"][0]["delta"].get("tool_calls", ()):
            if call["index"] not in calls:
                assert call["id"]
                assert call["type"] == "function"
                assert call["function"]["name"]
                calls[call["index"]] = ""
            calls[call["index"]] += call["function"].get("arguments", "")
    assert {index: json.loads(text) for index, text in calls.items()} == {0: {"a": 1}, 1: {}}


@for_all
def test_the_stream_that_every_gemini_client_reads(provider):
    data = streamed("gemini", provider)
    if provider != "gemini":
        assert data.endswith(b"\r\n\r\n")
    events = sse(data)
    assert all(name is None for name, _ in events)
    chunks = [json.loads(text) for _, text in events]
    called = []
    for chunk in chunks:
        assert chunk["modelVersion"] == "asked-for"
        assert chunk["responseId"] == chunks[0]["responseId"]
        candidate = chunk["candidates"][0]
        assert candidate["index"] == 0
        content = candidate.get("content", {"role": "model", "parts": []})
        assert content["role"] == "model"
        called += [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    assert [(call["name"], call["args"]) for call in called] == [("f", {"a": 1}), ("g", {})]
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks][-1] == "STOP"
    assert chunks[-1]["usageMetadata"]["totalTokenCount"]


@for_all
def test_the_stream_that_every_ollama_client_reads(provider):
    lines = [json.loads(line) for line in streamed("ollama", provider).decode().splitlines()]
    for line in lines:
        assert line["message"]["role"] == "assistant"
        assert line["model"] == "asked-for"
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    last = lines[-1]
    assert last["done_reason"] == "stop"
    assert (last["prompt_eval_count"], last["eval_count"]) == (7, 3)
    called = [call["function"] for line in lines for call in line["message"].get("tool_calls", ())]
    assert [(call["name"], call["arguments"]) for call in called] == [("f", {"a": 1}), ("g", {})]


@pytest.mark.parametrize("client", NAMES)
@for_all
def test_an_answer_names_the_model_that_was_asked_for(client, provider):
    """Claude Code drops its reasoning otherwise; also where calls or counts are changed."""
    wire = get_protocol(client).encode_request(ASKED, own(client))
    for more in ({}, {"validate": "repair"}, {"window": 1000, "client_window": 2000}):
        exchange = Exchange(client, provider, Options(model="really-this", **more))
        exchange.request(wire.data(), wire.path)
        shown = exchange.response(encode_response(FULL, target=provider).data())
        named = "asked-for" if get_protocol(client).SURFACE.model_at else ""
        assert decode_response(shown.data, source=client).model == named
        again = Exchange(client, provider, Options(model="really-this", **more))
        again.request(wire.data(), wire.path)
        translator = again.stream()
        data = translator.feed(encode(provider, unfold(FULL))) + translator.close()
        decoder = get_protocol(client).StreamDecoder(own(client))
        events = [*decoder.feed(data), *decoder.close()]
        read = fold(events)
        assert isinstance(read, ir.Response)
        assert read.model == named


# --- real captures --------------------------------------------------------------------------------

PLACES = {
    "/messages": "anthropic",
    "/responses": "openai-responses",
    "/chat/completions": "openai-chat",
}


def captures():
    for file in evidence("clients", "*.request.json"):
        wire = json.loads(file.read_text(encoding="utf-8"))
        path = wire["path"].partition("?")[0]
        client = "gemini" if ":" in path.rpartition("/")[2] else PLACES.get(path[3:])
        if client is not None and isinstance(wire["body"], dict):
            yield pytest.param(client, path, wire["body"], id=file.name.partition(".request")[0])


CAPTURED = list(captures())


def test_captures_are_of_every_protocol_that_agents_speak():
    assert {capture.values[0] for capture in CAPTURED} == {*PLACES.values(), "gemini"}


@pytest.mark.parametrize(("client", "path", "body"), CAPTURED)
def test_captured_requests_reach_every_provider(client, path, body):
    asked = decode_request(body, source=client, path=path)
    for target in foreign(client):
        exchange, _, heard = sent(client, target, body, path)
        assert exchange.client_request.model == heard.model
        calls, results = parts_of(heard, ir.ToolCall), parts_of(heard, ir.ToolResult)
        assert len(calls) >= len(parts_of(asked, ir.ToolCall))
        if len(results) == len(calls):
            assert {call.id for call in calls} == {result.id for result in results}
        assert len(parts_of(heard, ir.Image)) <= len(calls) + 1
        names = [tool.name for tool in heard.tools if not isinstance(tool, ir.ProviderTool)]
        assert len(set(names)) == len(names)
        assert len(names) >= sum(not isinstance(t, ir.ProviderTool) for t in asked.tools)
