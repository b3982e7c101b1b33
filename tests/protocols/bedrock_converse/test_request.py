"""Requests of Converse, in what is particular to them."""

import pytest
from tests.protocols.bedrock_converse.helpers import codes, decode, encode, foreign, said

from toolglot import translate_request
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    CacheMark,
    Document,
    FileRef,
    FunctionTool,
    Inline,
    Message,
    PlainText,
    Reasoning,
    ReasoningSettings,
    Text,
    ToolCall,
    ToolResult,
)

HI = {"role": "user", "content": [{"text": "hi"}]}
ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"


# --- the path -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        ("/model/amazon.nova-pro-v1%3A0/converse", "amazon.nova-pro-v1:0", False),
        ("/model/amazon.nova-pro-v1:0/converse-stream", "amazon.nova-pro-v1:0", True),
        ("/model/" + ARN.replace("/", "%2F") + "/converse", ARN, False),
        (f"/model/{ARN}/converse-stream", ARN, True),
    ],
)
def test_the_path_has_the_model_and_whether_to_stream(path, model, stream):
    request = decode({"messages": [HI]}, path=path)
    assert (request.model, request.stream) == (model, stream)


def test_slashes_of_a_model_are_not_those_of_the_path():
    wire, _ = translate_request(
        {"model": "x", "messages": [{"role": "user", "content": "hi"}], "stream": True},
        source="openai-chat",
        target="bedrock-converse",
        model=ARN,
    )
    assert wire.path == f"/model/{ARN.replace('/', '%2F')}/converse-stream"
    assert "model" not in wire.body
    assert "stream" not in wire.body


@pytest.mark.parametrize("key", ["modelId", "model"])
def test_a_body_may_name_the_model_as_the_sdk_does(key):
    body = {key: "amazon.nova-pro-v1:0", "messages": [HI]}
    request = decode(body, path="")
    assert request.model == "amazon.nova-pro-v1:0"
    assert encode(request) == body


def test_a_request_without_a_model_is_refused():
    with pytest.raises(DecodeError, match="modelId: expected string, but it is missing"):
        decode({"messages": [HI]}, path="")


# --- blocks ---------------------------------------------------------------------------------------


def test_a_cache_point_marks_what_is_before_it():
    content = [{"text": "a"}, {"cachePoint": {"type": "default", "ttl": "1h"}}, {"text": "b"}]
    [message] = decode({"messages": [{"role": "user", "content": content}]}).messages
    assert message.parts == (Text(text="a", cache=CacheMark(ttl="1h")), Text(text="b"))


def test_paths_of_notes_count_cache_points():
    content = [{"text": "a"}, {"cachePoint": {"type": "default"}}, {"hologram": {}}]
    _, receipt = translate_request(
        {"modelId": "m", "messages": [{"role": "user", "content": content}]},
        source="bedrock-converse",
        target="openai-chat",
    )
    assert ("part-dropped", "messages[0].content[2]") in {(n.code, n.path) for n in receipt}


def test_paths_of_tools_count_cache_points():
    spec = {"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object"}}}}
    tools = [spec, {"cachePoint": {"type": "default"}}, {"systemTool": {"name": "nova_grounding"}}]
    _, receipt = translate_request(
        {"modelId": "m", "messages": [HI], "toolConfig": {"tools": tools}},
        source="bedrock-converse",
        target="anthropic",
    )
    assert "toolConfig.tools[2]" in {note.path for note in receipt}


def test_a_mark_inside_a_result_stands_behind_it():
    result = ToolResult(id="t", parts=(Text(text="x", cache=CacheMark()),))
    ctx = foreign()
    [message] = encode(said(result), ctx)["messages"]
    assert [next(iter(block)) for block in message["content"]] == ["toolResult", "cachePoint"]
    assert "cache-marked" in codes(ctx)


def test_json_in_a_result_is_its_text_for_others_and_itself_again_here():
    value = {"high": 1.0, "big": 2**70, "none": None}
    block = {"toolResult": {"toolUseId": "t", "content": [{"json": value}]}}
    request = decode({"messages": [{"role": "user", "content": [block]}]})
    [part] = request.messages[0].parts
    assert part.parts[0].text == '{"high":1.0,"big":1180591620717411303424,"none":null}'
    assert encode(request)["messages"][0]["content"] == [block]


@pytest.mark.parametrize(("status", "failed"), [("error", True), ("success", False), (None, None)])
def test_the_status_of_a_result(status, failed):
    result = {"toolUseId": "t", "content": [{"text": "x"}]} | ({"status": status} if status else {})
    request = decode({"messages": [{"role": "user", "content": [{"toolResult": result}]}]})
    assert request.messages[0].parts[0].is_error is failed


def test_a_failed_result_of_others_says_something():
    ctx = foreign()
    [block] = encode(said(ToolResult(id="t", is_error=True)), ctx)["messages"][0]["content"]
    assert block["toolResult"]["content"] == [{"text": "(no content)"}]
    assert codes(ctx) == ["default-added"]


def test_calls_that_the_provider_answers_are_not_the_clients():
    call = {"toolUseId": "t", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
    result = {"toolUseId": "t", "content": [], "type": "nova_grounding_result"}
    content = [{"toolUse": call}, {"toolResult": result}]
    request = decode({"messages": [HI, {"role": "assistant", "content": content}, HI]})
    assert not any(isinstance(part, (ToolCall, ToolResult)) for part in request.messages[1].parts)


def test_documents_of_others_get_names_that_are_taken():
    pdf = Inline(media_type="application/pdf", data="JVBERi0=")
    ctx = foreign()
    documents = [
        Document(source=pdf, name="pilot_book.v2.pdf"),
        Document(source=pdf, name="pilot book"),
        Document(source=pdf, name="pilot   book"),
        Document(source=pdf),
        Document(source=PlainText(text="x")),
    ]
    blocks = encode(said(*documents), ctx)["messages"][0]["content"]
    assert [block["document"]["name"] for block in blocks] == [
        "pilot-book-v2-pdf",
        "pilot book",
        "pilot book-2",
        "document",
        "document-2",
    ]
    assert blocks[4]["document"]["format"] == "txt"
    assert codes(ctx) == ["value-mapped", "value-mapped", "default-added", "default-added"]


@pytest.mark.parametrize(
    ("media_type", "block"),
    [
        ("video/mp4", {"video": {"format": "mp4", "source": {"bytes": "eA=="}}}),
        ("video/3gpp", {"video": {"format": "three_gp", "source": {"bytes": "eA=="}}}),
        (
            "text/csv; charset=utf-8",
            {"document": {"format": "csv", "name": "document", "source": {"bytes": "eA=="}}},
        ),
    ],
)
def test_the_format_says_the_media_type(media_type, block):
    part = Document(source=Inline(media_type=media_type, data="eA=="))
    assert encode(said(part), foreign())["messages"][0]["content"] == [block]


def test_a_file_in_a_bucket_is_nobody_elses():
    source = {"s3Location": {"uri": "s3://harbour/a.png", "bucketOwner": "123456789012"}}
    block = {"image": {"format": "png", "source": source}}
    request = decode({"messages": [{"role": "user", "content": [block]}]})
    [part] = request.messages[0].parts
    issuer = "bedrock-converse"
    assert part.source == FileRef(id="s3://harbour/a.png", issuer=issuer, media_type="image/png")
    assert encode(request)["messages"][0]["content"] == [block]


def test_state_of_others_is_base64_where_clients_want_bytes():
    wire = encode(said(Reasoning(redacted=True, signature="tg1.not base64"), role="assistant"))
    blob = wire["messages"][0]["content"][0]["reasoningContent"]["redactedContent"]
    assert blob == "dG9vbGdsb3Q6dGcxLm5vdCBiYXNlNjQ="
    [part] = decode({"messages": wire["messages"]}).messages[0].parts
    assert part == Reasoning(redacted=True, signature="tg1.not base64")


def test_what_a_guardrail_looks_at_is_still_said():
    guarded = {"guardContent": {"text": {"text": "May I?", "qualifiers": ["query"]}}}
    body = {"modelId": "m", "messages": [{"role": "user", "content": [guarded]}]}
    assert encode(decode(body, path="")) == body
    wire, receipt = translate_request(body, source="bedrock-converse", target="openai-chat")
    assert wire.body["messages"] == [{"role": "user", "content": "May I?"}]
    assert "messages[0].content[0].guardContent.text.qualifiers" in {n.path for n in receipt}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"searchResult": {"source": "https://a.example", "title": "A",
                           "content": [{"text": "x"}]}},
         ["> A", "> https://a.example", "> x"]),
        ({"toolUse": {"toolUseId": "t", "name": "nova_grounding", "input": {"q": 1},
                      "type": "server_tool_use"}}, ["nova_grounding", '> {"q":1}']),
        ({"document": {"name": "d", "source": {"content": [{"text": "one"}, {"text": "two"}]}}},
         ["> d", "> one", "> two"]),
    ],
)  # fmt: skip
def test_what_only_converse_has_is_told(block, words):
    role = "assistant" if "toolUse" in block else "user"
    messages = [HI, {"role": role, "content": [block]}, HI]
    wire, receipt = translate_request(
        {"modelId": "m", "messages": messages}, source="bedrock-converse", target="openai-chat"
    )
    said = wire.data().decode()
    assert all(each.replace('"', '\\"') in said for each in words)
    assert "part-told" in {note.code for note in receipt}


# --- tools ----------------------------------------------------------------------------------------

CALLED = (
    Message(role="user", parts=(Text(text="go"),)),
    Message(role="assistant", parts=(ToolCall(id="c1", name="look"),)),
    Message(role="user", parts=(ToolResult(id="c1", parts=(Text(text="seen"),)),)),
)
CHAT = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
]
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def translated(body):
    pair = {"source": "openai-chat", "target": "bedrock-converse"}
    wire, receipt = translate_request(body, **pair, prompt_cache="off")
    return wire.body, {note.code: note for note in receipt}


def test_calls_of_undeclared_tools_declare_them():
    body, notes = translated({"model": "m", "messages": CHAT})
    [tool] = body["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "look"
    assert tool["toolSpec"]["inputSchema"]["json"]["type"] == "object"
    assert notes["default-added"].path == "tools"


def test_no_tool_may_be_called_where_none_was():
    body, notes = translated(
        {"model": "m", "messages": CHAT[:1], "tools": [LOOK], "tool_choice": "none"}
    )
    assert "toolConfig" not in body
    assert notes["choice-mapped"].severity == "info"
    assert notes["tool-dropped"].path == "tools"


def test_no_tool_may_be_called_where_some_were():
    body, notes = translated(
        {"model": "m", "messages": CHAT, "tools": [LOOK], "tool_choice": "none"}
    )
    assert len(body["toolConfig"]["tools"]) == 1
    assert "toolChoice" not in body["toolConfig"]
    assert notes["choice-mapped"].severity == "lossy"


def test_an_empty_description_is_left_out_for_it_would_be_refused():
    tool = FunctionTool(name="f", description="", parameters={"type": "object"})
    assert (
        "description"
        not in encode(said(Text(text="x"), tools=(tool,)), foreign())["toolConfig"]["tools"][0][
            "toolSpec"
        ]
    )


@pytest.mark.parametrize("choice", [{"tool": {}}, {"none": {}}, {"auto": 7}, []])
def test_a_choice_that_cannot_be_read_is_refused(choice):
    config = {"tools": [], "toolChoice": choice}
    if choice == []:
        config["toolChoice"] = "auto"
    with pytest.raises(DecodeError, match=r"toolConfig\.toolChoice"):
        decode({"messages": [HI], "toolConfig": config})


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "fields", "reasoning", "top_k"),
    [
        (
            "anthropic.claude-sonnet-4-5",
            {"top_k": 5, "thinking": {"type": "enabled", "budget_tokens": 2000}},
            ReasoningSettings(enabled=True, budget=2000),
            5,
        ),
        (
            "us.amazon.nova-2-lite-v1:0",
            {"inferenceConfig": {"topK": 5}, "reasoningConfig": {"type": "disabled"}},
            ReasoningSettings(enabled=False),
            5,
        ),
        (
            "openai.gpt-oss-120b-1:0",
            {"reasoning_effort": "high"},
            ReasoningSettings(effort="high"),
            None,
        ),
    ],
)
def test_what_a_model_takes_is_said_in_its_makers_words(model, fields, reasoning, top_k):
    body = {"messages": [HI], "additionalModelRequestFields": fields}
    request = decode(body, path=f"/model/{model}/converse")
    assert (request.reasoning, request.top_k) == (reasoning, top_k)
    assert encode(request) == body


def test_fields_that_nobody_here_knows_stay_and_are_named():
    body = {
        "modelId": "m",
        "messages": [HI],
        "additionalModelRequestFields": {"anthropic_beta": ["x"], "top_k": 3},
        "guardrailConfig": {"guardrailIdentifier": "g"},
        "performanceConfig": {"latency": "optimized"},
    }
    assert encode(decode(body, path="")) == body
    _, receipt = translate_request(body, source="bedrock-converse", target="openai-chat")
    named = {note.path: note.severity for note in receipt}
    assert named["additionalModelRequestFields.anthropic_beta"] == "unsupported"
    assert named["guardrailConfig"] == "unsupported"
    assert named["performanceConfig"] == "info"


def test_a_schema_is_text_and_stays_as_it_was_written():
    body = {"modelId": "m", "messages": [HI], "outputConfig": {"textFormat": {
        "type": "json_schema",
        "structure": {"jsonSchema": {"schema": '{ "type": "object" }', "name": "n"}},
    }}}  # fmt: skip
    request = decode(body, path="")
    assert request.output.schema == {"type": "object"}
    assert encode(request) == body


def test_a_schema_that_is_no_json_is_left_alone():
    body = {"modelId": "m", "messages": [HI], "outputConfig": {"textFormat": {
        "type": "json_schema", "structure": {"jsonSchema": {"schema": "{"}},
    }}}  # fmt: skip
    request = decode(body, path="")
    assert request.output is None
    assert encode(request) == body


def test_metadata_that_does_not_fit_is_left_out_by_name():
    metadata = {"team": "north", "mood": "über", "n": 7, "": "x"}
    ctx = foreign()
    assert encode(said(Text(text="x"), metadata=metadata), ctx)["requestMetadata"] == {
        "team": "north"
    }
    [note] = ctx.receipt()
    assert note.message.endswith("few characters: mood, n, ")


def test_a_later_system_message_moves_for_others_and_stays_here():
    messages = [HI, {"role": "system", "content": [{"text": "Be brief."}]}]
    request = decode({"messages": messages})
    assert [each.role for each in request.messages] == ["user", "system"]
    assert encode(request, Context())["messages"] == messages
