"""Calls written as Python."""

from typing import Final

from toolglot.dialects.dialect import Dialect, ResultTemplate
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.pythonic import PythonForm
from toolglot.dialects.rows.shared import BARE_OBJECT, NAME_CALLED, PYTHON_LIST
from toolglot.dialects.writers import PythonWriter

CALL: Final = "get_weather(city='Oslo')"

ROWS: Final = (
    Dialect(
        name="lfm2",
        models="LFM2, LFM2.5",
        example=f"<|tool_call_start|>[{CALL}]<|tool_call_end|>",
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
    ),
    Dialect(
        name="minicpm3",
        models="MiniCPM3",
        example=f"<|tool_call_start|>\n```python\n{CALL}\n```\n<|tool_call_end|>",
        forms=(
            PythonForm(
                openers=("<|tool_call_start|>",),
                special=True,
                closers=("<|tool_call_end|>",),
                fenced=True,
            ),
        ),
        write=PythonWriter(
            open="<|tool_call_start|>\n```python\n",
            between="\n",
            close="\n```\n<|tool_call_end|>",
        ),
        reasoning=(("<|thought_start|>", "<|thought_end|>"),),
        auto=False,
    ),
    Dialect(
        name="olmo3",
        models="OLMo 3",
        example=f"<function_calls>{CALL}</function_calls>",
        forms=(PythonForm(openers=("<function_calls>",), closers=("</function_calls>",)),),
        write=PythonWriter(open="<function_calls>", between="\n", close="</function_calls>"),
        strays=("</function_calls>",),
    ),
    Dialect(
        name="llama4_pythonic",
        models="Llama 4",
        example=f"<|python_start|>[{CALL}]<|python_end|>",
        forms=(
            PythonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            JsonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            PYTHON_LIST,
            BARE_OBJECT,
        ),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("<|python_end|>",),
    ),
    Dialect(
        name="tool_code",
        models="Gemma 2 and 3, Gemini",
        example=f"```tool_code\n{CALL}\n```",
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
        write=PythonWriter(open="```tool_code\n", between="\n", close="\n```"),
        result=ResultTemplate(open="```tool_output\n", close="\n```"),
    ),
    Dialect(
        name="nexus_raven",
        models="NexusRaven v2",
        example=f"Call: {CALL}<bot_end>",
        forms=(
            PythonForm(openers=("Call:",), at="line", follows=NAME_CALLED, closers=("<bot_end>",)),
        ),
        write=PythonWriter(open="Call: ", between="; ", close="<bot_end>"),
        needs_tools=True,
    ),
    Dialect(
        name="gorilla_openfunctions",
        models="Gorilla OpenFunctions",
        example=f"<<function>>{CALL}",
        forms=(
            PythonForm(
                openers=("<<function>>",), follows=NAME_CALLED, closers=("<<function>>", "\n\n")
            ),
        ),
        write=PythonWriter(begin="<<function>>", between="\n\n"),
        needs_tools=True,
    ),
)
