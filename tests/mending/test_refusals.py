"""The table of refusals: each row understands its own words, and no other's."""

import re
import time
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

import pytest

from toolglot.context import Options
from toolglot.mending import ErrorWords, Mending, read_rows, rows, understand, with_learned
from toolglot.mending.refusals import RefusalTableError
from toolglot.providers import surface_for
from toolglot.registry import PROTOCOLS, get_protocol

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "content": "b", "reasoning_content": "r", "reasoning": "r"}
TOOL = {"type": "function", "function": {"name": "f"}, "eager_input_streaming": True}
BODIES = {
    "openai-chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}, {**SAID, "name": "x y"}, SAID],
        "max_tokens": 9,
        "temperature": 1,
        "top_p": 1,
        "top_k": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "reasoning_effort": "low",
        "stream_options": {"include_usage": True},
        "tools": [TOOL] * 4,
        "store": True,
        "metadata": {"a": "b"},
        "client_metadata": {},
        "context_management": {},
        "parallel_tool_calls": False,
        "prompt_cache_retention": "24h",
        "web_search_options": {},
        "include_reasoning": True,
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "a"}],
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "low"},
        "temperature": 1,
        "top_p": 1,
        "stop_sequences": ["x"],
        "tools": [{"name": "f", "input_schema": {}, "input_examples": []}] * 4,
    },
    "bedrock-converse": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
    "gemini": {
        "contents": [],
        "generationConfig": {
            "thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"},
            "reasoningEffort": "low",
        },
        "stream": True,
    },
    "openai-responses": {
        "model": "m",
        "input": [{"id": "x", "status": "completed"}] * 4,
        "include": ["y"],
        "max_output_tokens": 9,
        "top_p": 1,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"verbosity": "low"},
    },
    "gemini-interactions": {"model": "m", "input": []},
    "ollama": {"model": "m", "messages": []},
}
"""A request in each protocol, with members that providers refuse."""

PARAMS = {"member-verbosity": "text.verbosity"}
NAME_RULE = {"chars": "a-zA-Z0-9_-", "first": "a-zA-Z", "least": 1, "most": 64}
FUNCTIONS = {"tools.kinds": ["function"], "tools.own": []}
ENFORCED = {"schema.enforced": True}


def id_rule(chars="a-zA-Z0-9_-", least=1, most=64):
    return {"calls.id_rule": {"chars": chars, "first": None, "least": least, "most": most}}


LEARNED = {
    "limit-renamed": [{"limits.name": "max_completion_tokens"}],
    "limit-least": [{"limits.least": 16}],
    "limit-most-tokens": [{"limits.most": 16384}, {"limits.most": 8192}],
    "limit-most-allowed": [{"limits.most": 64000}],
    "limit-most-equal": [{"limits.most": 8000}],
    "limit-most-range": [{"limits.most": 65536}],
    "limit-without-stream": [{"limits.most_whole": 4096}],
    "limit-room-vllm": [{"limits.most": 7492}],
    "limit-room": [{"limits.most": 7192}],
    "effort-beside-tools-none": [{"tools.effort": "none"}],
    "effort-beside-tools": [{"tools.effort": "drop"}],
    "efforts-listed": [
        {"reasoning.efforts": ["low", "medium", "high"]},
        {"reasoning.efforts": ["medium"]},
    ],
    "efforts-levels": [{"reasoning.efforts": ["low", "medium", "high", "max"]}],
    "efforts-one-of": [
        {"reasoning.efforts": ["none"]},
        {"reasoning.efforts": ["low", "high", "max"]},
        {"reasoning.efforts": ["low", "medium", "high"]},
    ],
    "efforts-mistral": [{"reasoning.efforts": ["none", "high"]}],
    "effort-not-a-parameter": [{"body.dropped": ["output_config.effort"]}],
    "thinking-adaptive-only": [
        {"reasoning.controls": ["adaptive", "effort", "effort_needs_switch", "show", "switch"]}
    ],
    "thinking-always-on": [{"body.dropped": ["thinking"]}],
    "thinking-not-supported": [{"sampling.dropped": ["reasoning"]}],
    "thinking-budget-range": [{"body.dropped": ["generationConfig.thinkingConfig.thinkingBudget"]}]
    * 2,
    "thinking-level-unknown": [{"reasoning.controls": ["budget", "show", "switch"]}],
    "thinking-level-one": [{"body.dropped": ["generationConfig.thinkingConfig.thinkingLevel"]}],
    "forced-tool-while-thinking": [{"tools.choices": ["auto", "none"]}] * 5,
    "reasoning-given-twice": [{"body.dropped": ["reasoning_effort"]}] * 2,
    "thinking-expected": [{"body.dropped": ["thinking"]}],
    "reasoning-item-refused": [{"body.dropped": ["input[].id"]}] * 3,
    "reasoning-item-missing": [{"body.dropped": ["input[].id"]}] * 3,
    "encrypted-content": [{"body.dropped": ["include"]}],
    "role-developer": [{"system.developer_role": False}] * 5,
    "system-later": [{"system.later": False}] * 3,
    "tools-too-many": [{"tools.most": 128}],
    "tools-too-many-items": [{"tools.most": 128}],
    "tools-too-many-plain": [{"tools.most": 128}, {"tools.most": 200}],
    "tool-types-listed": [{"tools.own": ["custom", "function"]}],
    "tool-types-functions": [FUNCTIONS] * 4,
    "tool-types-discriminator": [FUNCTIONS] * 2,
    "hosted-tool": [{"tools.own": []}],
    "input-items": [{"messages.items": []}] * 4,
    "reasoning-format-twice": [{"body.dropped": ["include_reasoning"]}],
    "limit-given-twice": [{"limits.name": "max_completion_tokens"}],
    "hosted-tool-alone": [{"tools.hosted_alone": "always"}] * 4,
    "schema-output-root": [{**ENFORCED, "schema.output_object": True}],
    "schema-spelled-out": [ENFORCED] * 2,
    "schema-member-names": [
        {
            **ENFORCED,
            "schema.member_rule": {"chars": "a-zA-Z0-9_.-", "first": None, "least": 1, "most": 64},
        }
    ],
    "schema-sealed": [ENFORCED] * 3,
    "choice-any": [{"tools.choices": ["auto", "none", "required", "tool"]}] * 3,
    "feature-unknown": [
        {
            "form.refused_features": [
                "prompt-caching-scope-2026-01-05",
                "structured-outputs-2025-12-15",
            ]
        }
    ],
    "feature-invalid": [{"form.refused_features": ["*"]}],
    "schema-root": [ENFORCED] * 6,
    "schema-keywords-gemini": [{"schema.tools": "openapi", **ENFORCED}] * 2,
    "schema-subset": [{"schema.tools": "subset", **ENFORCED}] * 2,
    "schema-strict": [ENFORCED] * 3,
    "tool-name": [{"tools.name_rule": NAME_RULE}] * 4,
    "call-id-nine": [id_rule("a-zA-Z0-9", 9, 9)],
    "call-id-length": [id_rule(most=40), id_rule(most=64)],
    "call-id-pattern": [id_rule()],
    "choice-strings": [{"tools.choices": ["auto", "none", "required"]}] * 2,
    "choice-auto-only": [{"tools.choices": ["auto", "none"]}] * 3,
    "choice-without-tools": [{"body.dropped": ["parallel_tool_calls", "tool_choice", "tools"]}] * 4,
    "output-schema": [{"outputs": ["json", "text"]}] * 2,
    "output-json": [{"outputs": ["schema", "text"]}],
    "output-beside-tools": [{"tools.outputs": ["text"]}] * 3,
    "cache-not-allowed": [{"cache.marks": False}],
    "temperature-only": [{"sampling.temperature": [1.0, 1.0]}],
    "temperature-range": [
        {"sampling.temperature": [0.0, 1.0]},
        {"sampling.temperature": [0.0, 2.0]},
    ],
    "temperature-most": [{"sampling.temperature": [0.0, 2.0]}] * 2,
    "temperature-or-top-p": [{"sampling.exclusive": True}],
    "penalties": [{"sampling.dropped": ["frequency_penalty", "presence_penalty"]}],
    "several-answers": [{"sampling.dropped": ["n"]}],
    "logprobs": [{"sampling.dropped": ["logprobs", "top_logprobs"]}] * 3,
    "stream-options": [{"body.dropped": ["stream_options"]}] * 2,
    "member-name-of-message": [{"body.dropped": ["messages[].name"]}],
    "member-of-message": [{"body.dropped": ["messages[].reasoning_content"]}],
    "member-property": [
        {"sampling.dropped": ["store"]},
        {"sampling.dropped": ["metadata"]},
        {"body.dropped": ["messages[].reasoning_content"]},
    ],
    "member-extra-field": [
        {"body.dropped": ["messages[].reasoning"]},
        {"body.dropped": ["tools[].eager_input_streaming"]},
    ],
    "member-extra": [
        {"sampling.dropped": ["temperature"]},
        {"body.dropped": ["context_management"]},
        {"body.dropped": ["tools[].input_examples"]},
        {"body.dropped": ["stream_options"]},
        {"body.dropped": ["messages[].reasoning_content"]},
    ],
    "member-unsupported": [
        {"sampling.dropped": ["top_p"]},
        {"body.dropped": ["client_metadata"]},
        {"body.dropped": ["input[].status"]},
        {"body.dropped": ["max_output_tokens"]},
        {"body.dropped": ["reasoning.effort"]},
    ],
    "member-unrecognized": [
        {"sampling.dropped": ["reasoning"]},
        {"sampling.dropped": ["frequency_penalty", "presence_penalty"]},
    ],
    "member-of-model": [{"sampling.dropped": ["presence_penalty"]}] * 2,
    "member-deprecated": [{"sampling.dropped": ["temperature"]}],
    "member-unsupported-value": [{"sampling.dropped": ["temperature"]}],
    "member-verbosity": [{"body.dropped": ["text.verbosity"]}],
    "member-message-reasoning": [{"body.dropped": ["messages[].reasoning"]}],
    "member-not-supported": [
        {"sampling.dropped": ["reasoning"]},
        {"sampling.dropped": ["parallel_tool_calls"]},
        {"body.dropped": ["prompt_cache_retention"]},
        {"sampling.dropped": ["reasoning"]},
    ],
    "member-web-search": [{"body.dropped": ["web_search_options"]}],
    "member-unknown-name-at": [{"body.dropped": ["generationConfig.reasoningEffort"]}],
    "member-unknown-name": [{"sampling.dropped": ["stream"]}],
    "member-field": [{"body.dropped": ["stop_sequences"]}, {"sampling.dropped": ["top_k"]}],
}
"""The facts that the words of each row teach, in their order; rows that are not here teach none."""

EXAMPLES = [
    pytest.param(row, place, id=f"{row.id}-{place}")
    for row in rows()
    for place in range(len(row.words))
]


def understood(words, protocol, param="", status=400):
    error = ErrorWords(status=status, words=words, param=param)
    return understand(error, get_protocol(protocol).SURFACE, BODIES[protocol])


@pytest.mark.parametrize(("row", "place"), EXAMPLES)
def test_the_words_of_a_row_teach_what_it_says(row, place):
    words, param = row.words[place], PARAMS.get(row.id, "")
    protocols = row.protocols or ("openai-chat", "openai-responses", "anthropic")
    found = (understood(words, protocol, param) for protocol in protocols)
    mending = next(each for each in found if each is not None)
    assert mending.row == row.id, "no other row takes these words"
    expected = LEARNED.get(row.id)
    assert mending.facts == ({} if expected is None else expected[place])
    assert mending.options == row.options
    assert mending.repairs == row.repairs
    assert mending.remember == (row.remember and not row.repairs)
    assert mending.words == words[:300]
    assert str(mending)


def test_every_row_is_expected_somewhere():
    for row in rows():
        assert len(LEARNED.get(row.id, row.words)) == len(row.words), row.id
        assert row.id in LEARNED or row.options or row.repairs, row.id
    assert set(LEARNED) <= {row.id for row in rows()}


def test_many_providers_are_understood():
    seen = {name for row in rows() for name in row.seen}
    assert seen >= {
        *("openai", "azure", "anthropic", "google", "groq", "deepseek", "mistral", "openrouter"),
        *("vllm", "llama.cpp", "ollama", "xai", "moonshot", "cerebras", "together", "fireworks"),
        "bedrock",
    }
    assert len(rows()) >= 40


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "words",
    [
        "",
        "Internal server error",
        "The model `x` does not exist or you do not have access to it.",
        "Incorrect API key provided: sk-1. You can find your API key at https://example.org.",
        "Rate limit reached for tokens per minute. Limit 8000, Requested 8590.",
        "Your input exceeds the context window of this model. Please adjust your input.",
        "prompt is too long: 3333404 tokens > 200000 maximum",
        "This model's maximum context length is 1048565 tokens. However, you requested 12",
        "Request contains an invalid argument.",
        "You uploaded an unsupported image.",
        "The request is invalid. Please check the request and try again.",
        "Invalid value for 'voice': expected a string, got null.",
        "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved.",
        "Unknown parameter: 'model'.",
        "messages: Extra inputs are not permitted",
        "Unsupported parameter: 'nowhere' is not supported with this model.",
        "does not support 'previous_response_id'.",
        "This is not supported with this model.",
    ],
)
def test_other_words_are_not_understood(words, protocol):
    assert understood(words, protocol) is None


def test_several_members_in_one_error_are_all_left_out():
    words = (
        "2 request validation errors: Extra inputs are not permitted, field: 'store', value: True;"
        " Extra inputs are not permitted, field: 'messages[1].name', value: 'x y'"
    )
    mending = understood(words, "openai-chat")
    assert mending.facts == {"sampling.dropped": ["store"], "body.dropped": ["messages[].name"]}


def test_a_limit_that_is_not_accepted_gets_its_other_name():
    words = "body.max_tokens: Extra inputs are not permitted"
    assert understood(words, "openai-chat").facts == {"limits.name": "max_completion_tokens"}


def test_what_is_known_already_teaches_nothing():
    words = "Unsupported parameter: 'top_p' is not supported with this model."
    mending = understood(words, "openai-chat")
    options = mending.options_for(Options(overrides={"tools": {"most": 3}}))
    assert options.overrides == {"tools.most": 3, "sampling.dropped": ["top_p"]}
    surface = surface_for(None, "openai-chat", "m", options.overrides)
    error = ErrorWords(status=400, words=words)
    assert understand(error, surface, BODIES["openai-chat"]) is None
    other = ErrorWords(status=400, words=words.replace("top_p", "store"))
    again = understand(other, surface, BODIES["openai-chat"])
    assert again.facts == {"sampling.dropped": ["store", "top_p"]}, "with what was known"


def test_facts_are_such_as_a_user_could_write():
    for row in rows():
        for facts in LEARNED.get(row.id, ()):
            options = with_learned(Options(), facts, {})
            assert surface_for(None, "anthropic", "m", options.overrides) is not None


def test_learned_options():
    mending = Mending(row="r", words="no", options={"tools": "emulated"})
    assert mending.options_for(Options()).tools == "emulated"
    assert str(mending) == "tools = 'emulated'"


# --- patterns -------------------------------------------------------------------------------------


def unbounded(tree):
    for kind, value in tree:
        if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            least, most, inner = value
            yield from unbounded(inner)
            if most == ops.MAXREPEAT:
                yield least
        elif kind is ops.BRANCH:
            for each in value[1]:
                yield from unbounded(each)
        elif kind is ops.SUBPATTERN:
            yield from unbounded(value[-1])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_patterns_repeat_nothing_without_a_bound(row):
    assert list(unbounded(_parser.parse(row.pattern))) == []
    assert list(unbounded(_parser.parse(row.param))) == []


@pytest.mark.parametrize("piece", ["a", "a.", "messages[1].", "unsupported parameter: '", "x: "])
def test_long_errors_are_read_quickly(piece):
    started = time.process_time()
    understood((piece * 6000)[:6000], "openai-chat")
    assert time.process_time() - started < 2.0


# --- the table as a file --------------------------------------------------------------------------

ROW = {
    "id": '"r"',
    "pattern": '"no (?P<what>x)"',
    "set": '{ "limits.least" = 3 }',
    "words": '["no x"]',
    "seen": '["them"]',
    "source": '"here"',
    "date": '"2026"',
}


def table(*changes):
    lines = []
    for change in changes:
        members = {**ROW, **change}.items()
        lines += ["[[refusals]]", *(f"{key} = {value}" for key, value in members if value)]
    return "\n".join(lines)


def test_a_table_is_read():
    (row,) = read_rows(table({}))
    assert (row.id, row.set) == ("r", {"limits.least": 3})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([{}, {}], "refusal r: id: another row has it already"),
        ([{"set": ""}], "refusal r: set: nothing is learned"),
        ([{"set": '{ "limits.lest" = 3 }'}], "refusal r: limits.lest: there is no such fact"),
        ([{"set": '{ "limits.least" = "x" }'}], "refusal r: limits.least: Expected"),
        ([{"set": '{ "limits.least" = "{other:int}" }'}], "refusal r: pattern: it has no group"),
        ([{"add": '{ "limits.lest" = ["x"] }'}], "there is no such fact"),
        ([{"pattern": '"("'}], "refusal r: pattern: "),
        ([{"options": '{ model = "x" }'}], "refusal r: options: 'model' is none of tools"),
        ([{"repairs": '["all"]'}], "refusal r: repairs: 'all' is none of"),
        ([{"protocols": '["smtp"]'}], "refusal r: protocols: 'smtp' is none of"),
        ([{"statuses": '["x"]'}], "refusal r: Expected `int`"),
        ([{"other": "1"}], "refusal r: Object contains unknown field `other`"),
    ],
)
def test_mistakes_in_a_table_are_named(changes, words):
    with pytest.raises(RefusalTableError, match=re.escape(words)):
        read_rows(table(*changes))
