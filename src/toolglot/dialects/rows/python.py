"""Calls written as Python."""

from collections.abc import Iterator

from toolglot.dialects.json_calls import JsonForm
from toolglot.dialects.pythonic import PythonForm
from toolglot.dialects.reader import Dialect
from toolglot.dialects.rows.shared import BARE_OBJECT, PYTHON_LIST


def python() -> Iterator[Dialect]:
    """The rows of this family."""
    call = "get_weather(city='Oslo')"
    yield Dialect(
        name="lfm2",
        models="LFM2, LFM2.5",
        example=f"<|tool_call_start|>[{call}]<|tool_call_end|>",
        forms=(
            PythonForm(
                openers=("<|tool_call_start|>",),
                special=True,
                closers=("<|tool_call_end|>",),
                fenced=True,
            ),
            JsonForm(
                openers=("<|tool_call_start|>",), special=True, closers=("<|tool_call_end|>",)
            ),
            PythonForm(openers=("[",), at="start", bare=True),
        ),
        drops=("<|im_end|>",),
        strays=("<|tool_call_end|>",),
    )
    yield Dialect(
        name="minicpm3",
        models="MiniCPM3",
        example=f"<|tool_call_start|>\n```python\n{call}\n```\n<|tool_call_end|>",
        forms=(
            PythonForm(
                openers=("<|tool_call_start|>",),
                special=True,
                closers=("<|tool_call_end|>",),
                fenced=True,
            ),
        ),
        reasoning=(("<|thought_start|>", "<|thought_end|>"),),
        auto=False,
    )
    yield Dialect(
        name="olmo3",
        models="OLMo 3",
        example=f"<function_calls>{call}</function_calls>",
        forms=(PythonForm(openers=("<function_calls>",), closers=("</function_calls>",)),),
        strays=("</function_calls>",),
    )
    yield Dialect(
        name="llama4_pythonic",
        models="Llama 4",
        example=f"<|python_start|>[{call}]<|python_end|>",
        forms=(
            PythonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            JsonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            PYTHON_LIST,
            BARE_OBJECT,
        ),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("<|python_end|>",),
    )
    yield Dialect(
        name="tool_code",
        models="Gemma 2 and 3, Gemini",
        example=f"```tool_code\n{call}\n```",
        forms=(
            PythonForm(
                openers=("```tool_code",),
                at="line",
                special=True,
                bare=True,
                closers=("```",),
                prints=True,
            ),
        ),
    )
    yield Dialect(
        name="nexus_raven",
        models="NexusRaven v2",
        example=f"Call: {call}<bot_end>",
        forms=(PythonForm(openers=("Call:",), at="line", closers=("<bot_end>",)),),
        auto=False,
    )
    yield Dialect(
        name="gorilla_openfunctions",
        models="Gorilla OpenFunctions",
        example=f"<<function>>{call}",
        forms=(PythonForm(openers=("<<function>>",), closers=("<<function>>", "\n\n")),),
        auto=False,
    )
