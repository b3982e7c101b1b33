"""What is said of a tool call."""

import pytest

from toolglot import verdicts
from toolglot.ir import CustomTool, FunctionTool, NamespaceTool, ProviderTool, ToolCall
from toolglot.receipt import Note
from toolglot.verdicts import Verdict, check_call, gravest, repeated, still_open, unanswered

READ = FunctionTool(
    name="Read",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)


def call(name="Read", arguments='{"path":"a"}', **more):
    return ToolCall(id="c1", name=name, arguments=arguments, **more)


def kinds(*args, **more):
    return [each.kind for each in check_call(*args, **more)]


def test_a_call_that_fits_is_valid():
    (verdict,) = check_call(call(), written=call(), tools=[READ])
    assert verdict == Verdict("valid", "the arguments fit the schema, as the model wrote them")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{}", '"path" is a required property'),
        ('{"path":"a","limit":"many"}', "limit: "),
        ('{"path":', "not JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_a_mismatch(arguments, words):
    verdict = check_call(call(arguments=arguments), tools=[READ])[0]
    assert verdict.kind == "mismatch"
    assert words in verdict.sentence


def test_an_unknown_name_is_told_with_those_that_are_known():
    tools = [FunctionTool(name=f"tool_{number}") for number in range(9)]
    verdict = check_call(call("todo_write"), tools=tools)[0]
    assert verdict.kind == "unknown"
    assert verdict.sentence.startswith("no tool is called todo_write; declared are tool_0, tool_1")
    assert verdict.sentence.endswith("tool_5 and 3 more")
    assert "declares no tools" in check_call(call())[0].sentence


def test_tools_of_all_kinds_are_known_by_their_names():
    tools = [
        CustomTool(name="patch"),
        NamespaceTool(name="git", tools=(FunctionTool(name="push"),)),
        ProviderTool(protocol="p", type="bash_20250124", value={"name": "bash"}),
    ]
    assert kinds(call("patch", "free text", type="custom"), tools=tools) == ["valid"]
    assert kinds(call("push", "{}", namespace="git"), tools=tools) == ["valid"]
    assert kinds(call("bash", "{}"), tools=tools) == ["valid"]
    assert kinds(call("bash_20250124", "{}"), tools=tools) == ["valid"]
    assert kinds(call("push", "{}"), tools=tools) == ["unknown"]


def test_a_repair_is_told_by_its_note():
    notes = [Note("arguments-repaired", "info", "part 0", "limit as integer")]
    (verdict,) = check_call(call(), tools=[READ], notes=notes)
    words = "the arguments were repaired to match the schema of their tool: limit as integer"
    assert verdict == Verdict("repaired", words)


def test_the_gravest_verdict_is_first_and_counts():
    notes = [
        Note("arguments-repaired", "info", "", "limit as integer"),
        Note("call-invalid", "lossy", "", "it should be asked for again"),
    ]
    assert kinds(call(), tools=[READ], notes=notes) == ["mismatch", "repaired"]
    found = [repeated(3), still_open(call()), unanswered(call())]
    assert gravest(found).kind == "unanswered"


def test_a_call_that_the_client_did_not_get_is_withheld():
    notes = [Note("calls-over-limit", "lossy", "", "held back for a later turn")]
    (verdict,) = check_call(None, written=call(), notes=notes)
    assert verdict.kind == "withheld"
    assert verdict.sentence.endswith(
        "more calls than the client accepts: held back for a later turn"
    )
    assert "the client got none" in check_call(None, written=call())[0].sentence


def test_without_the_extra_arguments_are_at_least_json(monkeypatch):
    def missing(tool, arguments):
        if tool is not None:
            raise verdicts.MissingExtraError("validate", "jsonschema-rs")
        return real(tool, arguments)

    real = verdicts.validate_arguments
    monkeypatch.setattr(verdicts, "validate_arguments", missing)
    assert kinds(call(arguments="{}"), tools=[READ]) == ["valid"]
    assert kinds(call(arguments="{"), tools=[READ]) == ["mismatch"]
