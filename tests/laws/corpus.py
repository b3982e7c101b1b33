"""What the laws are tried on: the fixtures of every protocol, and generated requests and
responses.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from toolglot import ir
from toolglot.registry import PROTOCOLS

FIXTURES = Path(__file__).parent.parent / "fixtures"
NAMES = tuple(PROTOCOLS)
PAIRS = tuple((a, b) for a in NAMES for b in NAMES if a != b)


def load(path: Path) -> Any:
    """A JSON fixture."""
    return json.loads(path.read_text())


def fixtures(kind: str) -> list[tuple[str, Path]]:
    """All fixtures of a kind (`request`, `response`, `error`) as (protocol, file)."""
    return [
        (folder.name, file)
        for folder in sorted(FIXTURES.iterdir())
        if folder.name in PROTOCOLS
        for file in sorted(folder.glob(f"*.{kind}.json"))
    ]


def fixture_id(value: Any) -> str:
    """A short name of a fixture for test ids."""
    return value.name.split(".")[0] if isinstance(value, Path) else str(value)


def path_to(name: str) -> str:
    """The path that requests come on, for the protocols that keep the model there."""
    model = "gemini-3-pro" if name == "gemini" else "some-model"
    return PROTOCOLS[name].SURFACE.path.replace("{model}", model)


RESEND: dict[str, Callable[[Any], list[Any]]] = {
    "anthropic": lambda body: [{"role": "assistant", "content": body["content"]}],
    "openai-chat": lambda body: [body["choices"][0]["message"]],
    "openai-responses": lambda body: body["output"],
    "gemini-interactions": lambda body: body["steps"],
    "gemini": lambda body: [body["candidates"][0]["content"]],
    "bedrock-converse": lambda body: [body["output"]["message"]],
    "ollama": lambda body: [body["message"]],
}
"""How a client puts an answer back into its history."""

# --- generated values
# --------------------------------------------------------------------------------

words = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
some_words = st.text(
    alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() != "" and not text.startswith("[tool error]"))
names = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
ids = st.from_regex(r"[a-z]{2,5}_[A-Za-z0-9]{4,12}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(names, values, max_size=4)


def texts() -> st.SearchStrategy[ir.Part]:
    """Plain text."""
    return st.builds(ir.Text, text=some_words)


def images() -> st.SearchStrategy[ir.Part]:
    """Images in the forms that several protocols share."""
    inline = st.builds(ir.Inline, media_type=st.just("image/png"), data=st.just("iVBORw0KGgo="))
    remote = st.builds(ir.Remote, url=st.just("https://pictures.example/heron.png"))
    return st.builds(ir.Image, source=inline | remote)


@st.composite
def turns(draw: st.DrawFn) -> list[ir.Message]:
    """One exchange: a question, perhaps calls and their results, an answer."""
    messages = [
        ir.Message(
            role="user", parts=tuple(draw(st.lists(texts() | images(), min_size=1, max_size=3)))
        )
    ]
    if draw(st.booleans()):
        called = draw(
            st.lists(
                st.tuples(ids, names, objects), min_size=1, max_size=3, unique_by=lambda c: c[0]
            )
        )
        lead = draw(st.lists(texts(), max_size=1))
        calls = [
            ir.ToolCall(
                id=i, name=n, arguments=json.dumps(a, separators=(",", ":"), ensure_ascii=False)
            )
            for i, n, a in called
        ]
        messages.append(ir.Message(role="assistant", parts=(*lead, *calls)))
        results = [
            ir.ToolResult(
                id=i,
                name=n,
                parts=tuple(
                    draw(
                        st.lists(texts(), min_size=1, max_size=1)
                        | st.lists(images(), min_size=1, max_size=1)
                    )
                ),
                is_error=draw(st.none() | st.just(True)),
            )
            for i, n, _ in called
        ]
        messages.append(ir.Message(role="user", parts=tuple(results)))
    messages.append(ir.Message(role="assistant", parts=(draw(texts()),)))
    return messages


def _unique_ids(messages: list[ir.Message]) -> bool:
    found = [
        part.id for message in messages for part in message.parts if isinstance(part, ir.ToolCall)
    ]
    return len(found) == len(set(found))


@st.composite
def requests(draw: st.DrawFn) -> ir.Request:
    """A request that uses a bit of everything."""
    body = [message for turn in draw(st.lists(turns(), max_size=2)) for message in turn]
    if not _unique_ids(body):
        body = []
    body.append(ir.Message(role="user", parts=(draw(texts()),)))
    tools = draw(st.lists(names, max_size=3, unique=True))
    return ir.Request(
        model="some-model",
        system=draw(
            st.none() | st.builds(ir.Message, role=st.just("system"), parts=st.tuples(texts()))
        ),
        messages=tuple(body),
        tools=tuple(
            ir.FunctionTool(
                name=name,
                description=draw(st.none() | some_words),
                parameters={
                    "type": "object",
                    "properties": draw(st.dictionaries(names, st.just({"type": "string"}))),
                },
                strict=draw(st.none() | st.booleans()),
            )
            for name in tools
        ),
        tool_choice=_choice(draw, tools),
        parallel_tool_calls=draw(st.none() | st.booleans()) if tools else None,
        stream=draw(st.none() | st.booleans()),
        max_tokens=draw(st.none() | st.integers(1, 9999)),
        temperature=draw(st.none() | st.sampled_from([0, 0.5, 1.0])),
        top_p=draw(st.none() | st.just(0.9)),
        top_k=draw(st.none() | st.just(40)),
        seed=draw(st.none() | st.just(7)),
        frequency_penalty=draw(st.none() | st.just(0.25)),
        stop=draw(st.none() | st.just(("END",))),
        user=draw(st.none() | st.just("user-12")),
        metadata=draw(st.none() | st.just({"team": "north"})),
        store=draw(st.none() | st.booleans()),
        reasoning=draw(st.none() | _reasoning()),
        output=draw(st.none() | _output()),
    )


def _choice(draw: st.DrawFn, tools: list[str]) -> ir.ToolChoice | None:
    if not tools:
        return None
    mode = draw(st.sampled_from([None, "auto", "required", "none", "tool"]))
    return (
        None
        if mode is None
        else ir.ToolChoice(mode=mode, names=(tools[0],) if mode == "tool" else ())
    )


def _reasoning() -> st.SearchStrategy[ir.ReasoningSettings]:
    efforts = st.sampled_from(["low", "medium", "high", "xhigh", "max"])
    return st.builds(
        ir.ReasoningSettings, enabled=st.just(True), budget=st.sampled_from([1024, 9000])
    ) | st.builds(ir.ReasoningSettings, effort=efforts)


def _output() -> st.SearchStrategy[ir.OutputFormat]:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    return st.just(ir.OutputFormat(kind="schema", schema=schema, name="report")) | st.just(
        ir.OutputFormat(kind="json")
    )
