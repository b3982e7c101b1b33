"""Formats without marks of their own: JSON, fences, lines."""

from dataclasses import replace
from typing import Final

from toolglot.dialects.dialect import Dialect, ResultTemplate
from toolglot.dialects.engines.elements import NameTagForm
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.named_json import NamedForm
from toolglot.dialects.engines.pythonic import PythonForm
from toolglot.dialects.engines.react import ReactForm
from toolglot.dialects.rows.shared import (
    ACTION,
    BARE_ANYWHERE,
    BARE_ARRAY,
    BARE_OBJECT,
    FENCE,
    HERMES,
    MISTRAL_ARRAY,
    NAME_LINE,
    PYTHON_LIST,
)
from toolglot.dialects.writers import JsonWriter, NamedWriter, json_array

ROWS: Final = (
    Dialect(
        name="openai_json",
        models="models that copy API payloads",
        example='{"tool_calls": [{"id": "a1", "type": "function", "function": '
        '{"name": "get_weather", "arguments": "{}"}}]}',
        forms=(JsonForm(openers=("{",), at="start", keeps_opener=True, envelope=True),),
        write=replace(json_array('{"tool_calls": ', "}"), nested=True, id="id"),
    ),
    Dialect(
        name="llama3_json",
        models="Llama 3.1 to 3.3",
        example='<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}',
        forms=(
            JsonForm(openers=("<|python_tag|>",), special=True, starts="{", between=";,\n"),
            JsonForm(
                openers=("<|python_start|>",),
                special=True,
                starts="{",
                between=";,\n",
                closers=("<|python_end|>",),
            ),
            PythonForm(
                openers=("<|python_tag|>",),
                special=True,
                closers=("<|eom_id|>", "<|eot_id|>"),
                suffix=".call",
            ),
            BARE_ANYWHERE,
        ),
        write=JsonWriter(open="<|python_tag|>", between="; ", arguments="parameters"),
        drops=("<|eom_id|>", "<|eot_id|>"),
    ),
    Dialect(
        name="functionary_v32",
        models="Functionary v3.2",
        example='get_weather\n{"city": "Oslo"}',
        forms=tuple(
            NamedForm(
                openers=(opener,),
                at=at,
                follows=NAME_LINE,
                separators=("\n",),
                end=("<|eot_id|>",),
                nobody="all",
                code="python",
            )
            for opener, at in ((">>>", "any"), ("", "begin"))
        ),
        write=NamedWriter(template="{name}\n{arguments}", between=">>>"),
        drops=(">>>all\n", "<|eot_id|>"),
        needs_tools=True,
    ),
    Dialect(
        name="glm4_legacy",
        models="GLM-4 of 2024",
        example='get_weather\n{"city": "Oslo"}',
        forms=tuple(
            NamedForm(openers=(opener,), at=at, follows=NAME_LINE, separators=("\n",), special=True)
            for opener, at in (("<|assistant|>", "any"), ("", "begin"))
        ),
        write=NamedWriter(template="{name}\n{arguments}", between="<|assistant|>"),
        needs_tools=True,
    ),
    Dialect(
        name="json_bare",
        models="small models",
        example='{"name": "get_weather", "arguments": {"city": "Oslo"}}',
        forms=(BARE_OBJECT,),
    ),
    Dialect(
        name="json_array_bare",
        models="small models",
        example='[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
        forms=(BARE_ARRAY,),
    ),
    Dialect(
        name="xlam",
        models="xLAM",
        example='[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
        forms=(BARE_ARRAY, FENCE, MISTRAL_ARRAY, HERMES),
        auto=False,
    ),
    Dialect(
        name="pythonic",
        models="Llama 3.2, ToolACE",
        example="[get_weather(city='Oslo')]",
        forms=(PYTHON_LIST,),
        drops=("<|eom_id|>", "<|eot_id|>"),
    ),
    Dialect(
        name="json_fence",
        models="any model when prompted so",
        example='```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
        forms=(FENCE,),
        write=JsonWriter(begin="```json\n", end="\n```"),
        auto=False,
    ),
    Dialect(
        name="cline_xml",
        models="any model in Cline, Roo and Kilo",
        example="<get_weather>\n<city>Oslo</city>\n</get_weather>",
        forms=(NameTagForm(),),
        reasoning=(("<thinking>", "</thinking>"),),
        needs_tools=True,
    ),
    Dialect(
        name="react",
        models="any model in ReAct agents",
        example='Thought: look\nAction: get_weather\nAction Input: {"city": "Oslo"}\nObservation:',
        forms=(
            ReactForm(
                openers=("Action",), at="line", follows=r"[ \t]{0,4}\d{0,4}[ \t]{0,4}(?::|\Z)"
            ),
            ACTION,
        ),
        result=ResultTemplate(open="Observation: "),
        reasoning=(("Thought:", "\n"),),
        drops=("Final Answer:",),
        needs_tools=True,
    ),
)
