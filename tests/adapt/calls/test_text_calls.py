"""Calls that a model wrote into its text reach every client as calls of its own."""

import json

import pytest
from msgspec.structs import replace
from tests.laws.streams import assert_legal, cut_at, decode, loose, stream_of
from tests.wires import NAMES, answer, asking, call, codes, parts_of, said, shown, user, words

from toolglot import (
    Context,
    Options,
    StreamTranslator,
    get_protocol,
    ir,
    translate_request,
    translate_response,
)
from toolglot.adapt.answers.passes import adapt_response
from toolglot.adapt.calls.text_calls import ChoiceCalls, DeclaredTools, FindTextCalls
from toolglot.events import (
    Failed,
    Finished,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    fold,
    unfold,
)
from toolglot.lint import lint_stream
from toolglot.translate import decode_response

SCHEMA = {
    "type": "object",
    "properties": {"cmd": {"type": "string"}, "times": {"type": "integer"}},
    "required": ["cmd"],
}
TOOLS = (ir.FunctionTool(name="run", parameters=SCHEMA), ir.FunctionTool(name="stop"))
ASK = asking(user("hi"), tools=TOOLS)
RUN = '<tool_call>{"name": "run", "arguments": {"cmd": "ls"}}</tool_call>'
OPEN = "<function=run>\n<parameter=cmd>\nls\n</parameter>\n"
ALL = [(source, target) for source in NAMES for target in NAMES]
every_pair = pytest.mark.parametrize(("source", "target"), ALL)


def context(request=ASK, name="openai-chat", **options):
    surface = get_protocol(name).SURFACE
    ctx = Context(
        Options(**{"dialect": "auto", **options}), source=surface, target=surface, request=request
    )
    ctx.declared = request.tools if request else None
    return ctx


def promoted(*parts, stop=None, ctx=None):
    ctx = ctx or context()
    return adapt_response(answer(*parts, stop=stop), ctx).choices[0], ctx


def told(choice):
    return [
        (part.name, part.arguments) if isinstance(part, ir.ToolCall) else part.text
        for part in choice.parts
    ]


def streamed(events, ctx=None):
    promoting = FindTextCalls(ctx or context())
    events = [each for event in events for each in promoting.feed(event)]
    assert_legal(events)
    return events


def as_client_sees_it(text, source, target, **options):
    """An answer in words, whole and as a stream, as a client of another protocol gets it."""
    response = answer(text, usage=ir.Usage(input=1, output=1))
    options = {"dialect": "auto", **options}
    wire, receipt = shown(response, source, target, request=said(ASK, target), **options)
    whole = decode_response(wire.body, source=target)
    translator = StreamTranslator(source, target, request=said(ASK, target), **options)
    data = stream_of(source, response)
    written = b"".join([translator.feed(data), translator.close()])
    assert lint_stream(written, target) == []
    return whole, fold(decode(target, [written])), receipt


# --- every protocol -------------------------------------------------------------------------------


@every_pair
@pytest.mark.parametrize(
    ("text", "calls", "rest"),
    [
        (RUN, [("run", {"cmd": "ls"})], ""),
        (f"Let me look.\n{RUN}\n{RUN.replace('ls', 'pwd')}", None, "Let me look.\n"),
        (OPEN + "</function>\n</tool_call>", [("run", {"cmd": "ls"})], ""),
        (
            (
                'hello<‖DSML‖tool_calls><‖DSML‖invoke name="run"><‖DSML‖parameter name="cmd" '
                'string="true">ls</‖DSML‖parameter><‖DSML‖parameter name="times" string="false">2'
                "</‖DSML‖parameter></‖DSML‖invoke></‖DSML‖tool_calls>"
            ),
            [("run", {"cmd": "ls", "times": 2})],
            "hello",
        ),
    ],
    ids=["hermes", "parallel", "unwrapped", "dsml"],
)
def test_a_written_call_is_a_call_for_every_client_x_08(source, target, text, calls, rest):
    """X-08, case-45, case-46, case-47: in every protocol, whole and streamed, and the answer
    stopped for it.
    """
    calls = calls or [("run", {"cmd": "ls"}), ("run", {"cmd": "pwd"})]
    whole, stream, receipt = as_client_sees_it(text, source, target)
    for seen in (whole, stream):
        found = parts_of(seen, ir.ToolCall)
        assert [(each.name, json.loads(each.arguments)) for each in found] == calls
        assert len({each.id for each in found}) == len(calls)
        assert words(seen) == rest
        assert seen.choices[0].stop.kind == "tool_calls"
    assert loose(stream, source, target)[0] == loose(whole, source, target)[0]
    assert receipt.codes()["call-promoted"] == len(calls)


@every_pair
def test_without_a_dialect_text_is_text(source, target):
    wire, receipt = shown(answer(RUN), source, target, request=said(ASK, target))
    assert words(decode_response(wire.body, source=target)) == RUN
    assert "call-promoted" not in codes(receipt)


@pytest.mark.parametrize("name", NAMES)
def test_text_without_marks_passes_as_it_came_where_the_protocol_stays(name):
    body = {**shown(answer("a <b> {c}"), name, name)[0].body, "unknown": 1}
    wire, receipt = translate_response(body, source=name, target=name, dialect="auto")
    assert wire.body == body
    assert not receipt


@pytest.mark.parametrize("name", NAMES)
def test_any_cut_gives_the_client_the_same_bytes(name):
    data = stream_of(name, answer(f"Hm <think>a</think> b {RUN} c", usage=ir.Usage(input=1)))
    results = set()
    for places in ([], range(0, len(data), 7), range(len(data))):
        translator = StreamTranslator(
            name, "anthropic", request=said(ASK, "anthropic"), dialect="auto"
        )
        pieces = cut_at(data, places)
        results.add(b"".join([*map(translator.feed, pieces), translator.close()]))
    assert len(results) == 1


def test_aliased_names_are_found_under_the_name_that_the_provider_knows():
    long = "a" * 50 + "." + "b" * 50
    ask = said(asking(user("hi"), tools=(ir.FunctionTool(name=long),)), "gemini")
    path = "/v1beta/models/m:generateContent"
    sent, _ = translate_request(ask, source="gemini", target="openai-chat", path=path)
    alias = sent.body["tools"][0]["function"]["name"]
    assert alias != long
    text = f'<tool_call>{{"name": "{alias}", "arguments": {{}}}}</tool_call>'
    wire, _ = shown(answer(text), "openai-chat", "gemini", request=ask, dialect="auto")
    (found,) = parts_of(decode_response(wire.body, source="gemini"), ir.ToolCall)
    assert found.name == long


def test_a_freeform_tool_is_called_with_its_text():
    ask = said(asking(user("hi"), tools=(ir.CustomTool(name="patch"),)), "openai-responses")
    text = '<tool_call>{"name": "patch", "arguments": {"input": "*** Begin"}}</tool_call>'
    for source in ("openai-chat", "openai-responses", "ollama"):
        wire, _ = shown(answer(text), source, "openai-responses", request=ask, dialect="auto")
        (found,) = parts_of(decode_response(wire.body, source="openai-responses"), ir.ToolCall)
        assert (found.kind, found.arguments) == ("custom", "*** Begin")


def test_a_member_of_a_namespace_is_called_with_its_namespace():
    space = ir.NamespaceTool(name="files", tools=(ir.FunctionTool(name="run"),))
    choice, _ = promoted(RUN, ctx=context(asking(user("hi"), tools=(space,))))
    (found,) = parts_of(choice, ir.ToolCall)
    assert (found.namespace, found.name) == ("files", "run")


# --- what is promoted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["plain", "", "  \n", RUN.replace("run", "walk"), f"```\n{RUN}\n```", "<tool_call> is a tag"],
)
def test_what_is_no_call_stays_the_same_value_d_20(text):
    """D-20, case-47: undeclared names, fences, prose."""
    response = answer(text)
    ctx = context()
    assert adapt_response(response, ctx) is response
    assert not ctx.receipt()


def test_nothing_is_promoted_if_the_client_wants_no_calls():
    for ask in (asking(user("hi")), asking(tools=TOOLS, tool_choice=ir.ToolChoice(mode="none"))):
        assert told(promoted(RUN, ctx=context(ask))[0]) == [RUN]


def test_any_name_counts_if_the_request_is_not_known():
    choice, _ = promoted(RUN.replace("run", "walk"), ctx=context(None))
    assert told(choice) == [("walk", '{"cmd": "ls"}')]


def test_an_unknown_dialect_is_an_error():
    with pytest.raises(ValueError, match="dialect: 'klingon'"):
        promoted(RUN, ctx=context(dialect="klingon"))


def test_a_named_dialect_is_the_only_one():
    assert told(promoted(RUN, ctx=context(dialect="mistral"))[0]) == [RUN]
    text = 'Yes. [TOOL_CALLS]run{"cmd": "ls"}'
    choice, _ = promoted(text, ctx=context(dialect="mistral"))
    assert told(choice) == ["Yes. ", ("run", '{"cmd": "ls"}')]


def test_words_keep_their_bytes_and_blank_between_calls_goes_s3_26():
    """S3-26: words around calls are text parts of their own, with their white space."""
    choice, _ = promoted(f" a \n{RUN}\n\n{RUN}\n\tb\n{RUN}\n")
    run = ("run", '{"cmd": "ls"}')
    assert told(choice) == [" a \n", run, run, "\n\tb\n", run]


def test_reasoning_in_the_text_becomes_reasoning():
    choice, ctx = promoted(f"<think>Hm,\nwell.</think>\n\nYes.{RUN}")
    thought, text, _ = choice.parts
    assert (thought, text) == (ir.Reasoning(text="Hm,\nwell."), ir.Text(text="\n\nYes."))
    assert ctx.receipt().codes() == {"reasoning-promoted": 1, "call-promoted": 1}


def test_a_call_that_leaked_into_reasoning_is_promoted_case_48():
    """case-48: the rest stays reasoning, stray closers go, and marks of reasoning are words."""
    text = '<xai:function_call name="run"><parameter name="cmd">ls</parameter></xai:function_call>'
    choice, _ = promoted(ir.Reasoning(text=f"I </think> must{text} now"), "Done.")
    before, found, after, rest = choice.parts
    assert (before, after) == (ir.Reasoning(text="I </think> must"), ir.Reasoning(text=" now"))
    assert json.loads(found.arguments) == {"cmd": "ls"}
    assert rest == ir.Text(text="Done.")
    assert choice.stop.kind == "tool_calls"
    bare = ir.Reasoning(text='{"name": "run", "arguments": {"cmd": "ls"}}')
    assert promoted(bare)[0].parts == (bare,)


def test_a_call_that_the_answer_repeats_after_its_reasoning_counts_once():
    choice, ctx = promoted(ir.Reasoning(text=f"So {RUN} it is."), f"Now: {RUN}")
    assert len([each for each in choice.parts if isinstance(each, ir.ToolCall)]) == 1
    assert ctx.receipt().codes()["call-duplicate"] == 1
    twice, _ = promoted(ir.Reasoning(text=f"So {RUN}"), f"{RUN}{RUN}")
    assert len([each for each in twice.parts if isinstance(each, ir.ToolCall)]) == 2


def test_state_of_reasoning_with_a_call_in_it_is_given_up_with_a_note():
    choice, ctx = promoted(ir.Reasoning(text=f"a{RUN}", signature="s", id="i"))
    assert choice.parts[0] == ir.Reasoning(text="a", id="i")
    assert "reasoning-dropped" in ctx.receipt().codes()
    kept = ir.Reasoning(text="a", summary=("b",), signature="s")
    assert promoted(kept)[0].parts == (kept,)


def test_citations_stay_with_the_text():
    cited = ir.Citation(url="https://a.example", start=0, end=2)
    choice, ctx = promoted(ir.Text(text=f"So {RUN}", citations=(cited,), signature="s"))
    first, _, last = choice.parts
    assert first == ir.Text(text="So ")
    assert last == ir.Text(
        text="", citations=(ir.Citation(url="https://a.example"),), signature="s"
    )
    assert "citation-mapped" in ctx.receipt().codes()


def test_marks_that_mean_nothing_go_with_a_note():
    choice, ctx = promoted("</think>Yes.")
    assert told(choice) == ["Yes."]
    assert ctx.receipt().codes() == {"marks-dropped": 1}


# --- ids ------------------------------------------------------------------------------------------

KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>"
    '{"cmd": "ls"}<|tool_call_end|><|tool_calls_section_end|>'
)


def test_an_id_of_the_models_own_is_kept_unless_it_is_taken():
    (found,) = promoted(KIMI)[0].parts
    assert (found.id, found.id_made) == ("functions.run:0", False)
    past = ir.Message(role="assistant", parts=(call("run", id="functions.run:0"),))
    (again,) = promoted(KIMI, ctx=context(asking(past, tools=TOOLS)))[0].parts
    assert again.id != "functions.run:0"
    assert again.id_made


@pytest.mark.parametrize(("name", "prefix"), [("anthropic", "toolu_"), ("openai-chat", "call_")])
def test_made_ids_look_like_the_clients_own(name, prefix):
    whole, stream, _ = as_client_sees_it(RUN, name, name)
    for seen in (whole, stream):
        assert parts_of(seen, ir.ToolCall)[0].id.startswith(prefix)


# --- told twice -----------------------------------------------------------------------------------

NATIVE = call("run", '{"cmd":"ls"}', "call_n")


@pytest.mark.parametrize("parts", [(RUN, NATIVE), (NATIVE, RUN)], ids=["text-first", "call-first"])
def test_a_call_that_came_twice_is_delivered_once_case_49(parts):
    """case-49: markup that was shown and parsed upstream is one call."""
    choice, ctx = promoted(*parts, stop="tool_calls")
    assert len(parts_of(choice, ir.ToolCall)) == len(choice.parts) == 1
    assert ctx.receipt().codes()["call-duplicate"] == 1


def test_other_calls_beside_native_ones_are_all_delivered():
    other = call("run", '{"cmd": "pwd"}', "call_n")
    assert len(parts_of(promoted(RUN, other)[0], ir.ToolCall)) == 2
    assert len(parts_of(promoted(other, RUN)[0], ir.ToolCall)) == 2
    assert len(parts_of(promoted(RUN, RUN)[0], ir.ToolCall)) == 2
    assert len(parts_of(promoted(RUN, NATIVE, NATIVE)[0], ir.ToolCall)) == 2


# --- cut ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [OPEN, '[TOOL_CALLS]run{"cmd": "ls"'])
def test_a_call_that_was_cut_is_never_shown_as_whole_x_07(text):
    """X-07, case-45: what would do as a call if the model had stopped by itself is text if not."""
    for stop in ("length", "content_filter"):
        choice, ctx = promoted(text, stop=stop)
        assert told(choice) == [text]
        assert choice.stop.kind == stop
        assert "call-cut" in ctx.receipt().codes()
    choice, _ = promoted(text)
    assert [json.loads(each.arguments) for each in choice.parts] == [{"cmd": "ls"}]
    assert choice.stop.kind == "tool_calls"


def test_a_whole_call_before_the_cut_is_one_but_the_answer_was_cut():
    choice, _ = promoted(f"{RUN} and then", stop="length")
    assert told(choice) == [("run", '{"cmd": "ls"}'), " and then"]
    assert choice.stop.kind == "length"


def test_a_stream_that_breaks_off_has_no_call():
    begun = [Started(id="r", model="m"), PartStarted(0, ir.Text(text="")), PartDelta(0, OPEN)]
    error = Failed(ir.ApiError(kind="server", message="gone"))
    for ends in ([PartEnded(0, incomplete=True)], [PartEnded(0)]):
        events = streamed([*begun, *ends, error])
        assert not [each for each in events if _starts_call(each)]
        assert "".join(each.text for each in events if isinstance(each, PartDelta)) == OPEN


def test_what_goes_on_after_a_call_was_not_cut():
    events = streamed(
        [
            *list(unfold(answer(OPEN)))[:-1],
            PartStarted(1, ir.Refusal(text="no")),
            PartEnded(1),
            Finished((ir.StopReason(kind="length"),)),
        ]
    )
    assert [_starts_call(each) for each in events if isinstance(each, PartStarted)] == [True, False]


def _starts_call(event):
    return isinstance(event, PartStarted) and isinstance(event.part, ir.ToolCall)


# --- live -----------------------------------------------------------------------------------------


def test_words_leave_as_soon_as_they_are_certain():
    promoting = FindTextCalls(context())
    promoting.feed(PartStarted(0, ir.Text(text="")))
    assert promoting.feed(PartDelta(0, "I will look <to")) == [
        PartStarted(0, ir.Text(text="")),
        PartDelta(0, "I will look "),
    ]
    assert promoting.feed(PartDelta(0, "day>.")) == [PartDelta(0, "<today>.")]


def test_a_part_that_has_said_nothing_keeps_its_place():
    promoting = FindTextCalls(context())
    assert promoting.feed(PartStarted(0, ir.Text(text=""))) == []
    started = promoting.feed(PartStarted(1, NATIVE))
    assert [each.part for each in started] == [ir.Text(text=""), NATIVE]
    assert promoting.feed(PartEnded(0)) == [PartEnded(0)]
    assert promoting.feed(PartEnded(1)) == [PartEnded(1)]


def test_choices_are_looked_at_one_by_one():
    first = list(unfold(answer(RUN)))
    events = [
        replace(first[0], choices=None),
        PartStarted(0, ir.Text(text="")),
        PartStarted(1, ir.Text(text=""), choice=1),
        PartDelta(0, RUN),
        PartDelta(1, "No."),
        PartEnded(0),
        PartEnded(1),
        Finished((ir.StopReason(kind="end"), ir.StopReason(kind="end"))),
    ]
    response = fold(streamed(events))
    assert [choice.stop.kind for choice in response.choices] == ["tool_calls", "end"]
    assert [len(choice.parts) for choice in response.choices] == [1, 1]


# --- long arguments -------------------------------------------------------------------------------

LONG = 'line "one"\n\ttwo ☀ \\d' * 40
HERMES = f'<tool_call>{{"name": "run", "arguments": {json.dumps({"cmd": LONG})}}}</tool_call>'
QWEN = f"<function=run>\n<parameter=cmd>\n{LONG}\n</parameter>\n</function>"
GLM = f"<tool_call>run\n<arg_key>cmd</arg_key>\n<arg_value>{LONG}</arg_value>\n</tool_call>"
KIMI_LONG = KIMI.replace('"ls"', json.dumps(LONG))
every_long = pytest.mark.parametrize(
    "text", [HERMES, QWEN, GLM, KIMI_LONG], ids=["hermes", "qwen", "glm", "kimi"]
)


def by_character(text, ctx=None, stop="end"):
    promoting = FindTextCalls(ctx or context())
    events = [
        Started(id="r", model="m"),
        PartStarted(0, ir.Text(text="")),
        *(PartDelta(0, char) for char in text),
        PartEnded(0),
        Finished((ir.StopReason(kind=stop),)),
    ]
    return [promoting.feed(event) for event in events]


@every_long
def test_long_arguments_leave_while_they_come_s3_27(text):
    """S3-27: the client sees the call long before it is whole."""
    steps = by_character(f"So.\n{text}")
    flat = [each for step in steps for each in step]
    assert_legal(flat)
    (start,) = [number for number, step in enumerate(steps) if any(map(_starts_call, step))]
    assert start < 300
    pieces = [step for step in steps[start + 1 :] if any(isinstance(e, PartDelta) for e in step)]
    assert len(pieces) > len(LONG) / 4
    (choice,) = fold(flat).choices
    found = choice.parts[1]
    assert json.loads(found.arguments) == {"cmd": LONG}
    assert told(choice) == told(promoted(f"So.\n{text}")[0])
    assert choice.stop.kind == "tool_calls"


@every_long
@pytest.mark.parametrize("target", NAMES)
def test_long_arguments_reach_every_client_whole(text, target):
    whole, stream, _ = as_client_sees_it(text, "ollama", target)
    for seen in (whole, stream):
        (found,) = parts_of(seen, ir.ToolCall)
        assert json.loads(found.arguments) == {"cmd": LONG}


@every_long
def test_long_arguments_that_were_cut_are_an_incomplete_call_x_07(text):
    """X-07: whole and by the character."""
    cut = text[: len(text) * 2 // 3]
    events = [each for step in by_character(cut, stop="length") for each in step]
    assert_legal(events)
    assert [each.incomplete for each in events if isinstance(each, PartEnded)] == [True]
    assert fold(events).choices[0].stop.kind == "length"
    choice, ctx = promoted(cut, stop="length")
    assert told(choice) == told(fold(events).choices[0])
    assert "call-cut" in ctx.receipt().codes()


def test_a_long_call_that_closes_only_at_the_end_of_a_cut_answer_is_incomplete():
    text = QWEN.removesuffix("</function>")
    for stop, incomplete in (("length", True), ("end", False)):
        events = [each for step in by_character(text, stop=stop) for each in step]
        assert [each.incomplete for each in events if isinstance(each, PartEnded)] == [incomplete]


def test_long_arguments_wait_if_the_call_may_have_come_before():
    native = call("run", json.dumps({"cmd": LONG}), "call_n")
    assert len(parts_of(promoted(native, HERMES)[0], ir.ToolCall)) == 1
    assert len(parts_of(promoted(HERMES, native)[0], ir.ToolCall)) == 1


def test_a_freeform_call_waits_until_it_is_whole():
    ctx = context(asking(user("hi"), tools=(ir.CustomTool(name="run"),)))
    text = HERMES.replace('"cmd"', '"input"')
    (found,) = fold(e for step in by_character(text, ctx) for e in step).choices[0].parts
    assert (found.kind, found.arguments) == ("custom", LONG)


def test_a_long_call_that_turns_out_to_be_none_is_no_reason_to_call():
    bad = HERMES.removesuffix('"}}</tool_call>') + '" "x"}}</tool_call> So.'
    events = [each for step in by_character(bad) for each in step]
    assert_legal(events)
    assert [each.incomplete for each in events if isinstance(each, PartEnded)] == [True, False]
    assert events[-1].stops[0].kind == "malformed_call"
    choice, ctx = promoted(bad)
    assert told(choice) == told(fold(events).choices[0])
    assert choice.stop.kind == "malformed_call"
    assert ctx.receipt().codes() == {"call-cut": 1}


# --- whose calls, and which came twice -----------------------------------------------------------


def tools_of(*tools, **more):
    ctx = Context(request=asking(user("hi"), tools=tools, **more))
    ctx.declared = tools
    return DeclaredTools(ctx)


def test_tools_are_flat_and_calls_are_of_their_kind():
    space = ir.NamespaceTool(name="files", tools=(ir.FunctionTool(name="read"),))
    hosted = ir.ProviderTool(protocol="anthropic", type="web_search", value={})
    found = tools_of(space, ir.CustomTool(name="patch"), hosted)
    assert [tool.name for tool in found.tools] == ["read", "patch"]
    assert found.call("read", "{}").namespace == "files"
    assert found.call("patch", '{"input": "x"}') == ir.ToolCall(
        id="", name="patch", arguments="x", type="custom"
    )


def test_nobody_is_called_if_the_client_wants_no_calls():
    assert tools_of(ir.FunctionTool(name="f"), tool_choice=ir.ToolChoice(mode="none")).tools == []
    assert DeclaredTools(Context()).tools is None


def test_each_call_is_repeated_once_at_most():
    calls = ChoiceCalls()
    one, spaced, odd = call("f", '{"a":1}'), call("f", '{ "a": 1 }'), call("f", "{")
    assert not calls.repeats(one, calls.texts)
    assert calls.may_repeat("f", native=True)
    assert not calls.may_repeat("g", native=True)
    assert calls.repeats(spaced, calls.native) == "as text"
    assert not calls.repeats(spaced, calls.native)
    assert calls.may_repeat("f", native=False)
    assert not calls.repeats(odd, calls.texts)
    assert calls.repeats(odd, calls.native) == "as text"
    assert not calls.repeats(odd, calls.thoughts)
    assert calls.repeats(odd, calls.texts) == "in reasoning"
