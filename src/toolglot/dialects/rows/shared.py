# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""Forms that several dialects share."""

from dataclasses import replace
from typing import Final

from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.key_value import PairForm
from toolglot.dialects.engines.named_json import NamedForm
from toolglot.dialects.engines.parameters import ParameterForm
from toolglot.dialects.engines.pythonic import PythonForm
from toolglot.dialects.reader import cut_pattern
from toolglot.dialects.writers import JsonWriter, TaggedWriter

CITY: Final = '{"city": "Oslo"}'
WEATHER: Final = f'{{"name": "get_weather", "arguments": {CITY}}}'

TOOL_CALL: Final = ("</tool_call>",)

HERMES: Final = JsonForm(openers=("<tool_call>",), closers=TOOL_CALL, between=",\n ")
QWEN: Final = ParameterForm(
    openers=("<tool_call>", "<function=", "<function name="),
    call=("<function",),
    call_end=("</function>",),
    parameter=("<parameter",),
    parameter_end=("</parameter>",),
    closers=TOOL_CALL,
    before=("<tool_call>",),
)
GLM: Final = PairForm(openers=("<tool_call>",))
FUNCTION_JSON: Final = NamedForm(
    openers=("<function=",), separators=(">",), end=("</function>", "<|eom_id|>", "<|eot_id|>")
)
ARRAY_TAG: Final = JsonForm(openers=("<tool_calls>",), closers=("</tool_calls>",), between="\n,")
_KEYS: Final = cut_pattern(
    f"{quote}{key}{quote}"
    for quote in "\"'"
    for key in ("name", "type", "id", "function", "tool", "tool_name", "function_name", "action",
                "arguments", "parameters", "tool_call", "function_call", "tool_call_id",
                "tool_calls")
)  # fmt: skip
OBJECT_FOLLOWS: Final = rf"\s{{0,64}}(?:{_KEYS}|\Z)"
"""What an object begins with if it may be a call."""
ARRAY_FOLLOWS: Final = rf"\s{{0,64}}(?:\{{{OBJECT_FOLLOWS}|\Z)"
PYTHON_FOLLOWS: Final = r"\s{0,64}(?:[^\W\d][\w.-]{0,255}(?:\(|\Z)|\Z)"
_NAME: Final = r"[^\W\d][\w.:/-]{0,255}"
NAME_LINE: Final = rf"[ \t]{{0,8}}(?:{_NAME}[ \t]{{0,8}}(?:\n|\Z)|\Z)"
"""A name that is a line of its own."""
NAME_CALLED: Final = rf"[ \t]{{0,8}}(?:{_NAME}(?:\(|\Z)|\Z)"
"""A name with a parenthesis, as in Python."""
PYTHON_LIST: Final = PythonForm(
    openers=("[",), at="loose", bare=True, tail="any", follows=PYTHON_FOLLOWS
)
BARE_OBJECT: Final = JsonForm(
    openers=("{",),
    at="start",
    bare=True,
    tail="line",
    follows=OBJECT_FOLLOWS,
    keeps_opener=True,
    needs_arguments=True,
    between=";,\n",
)
BARE_ANYWHERE: Final = JsonForm(
    openers=("{",), at="loose", bare=True, keeps_opener=True, needs_arguments=True, between=";,\n"
)
BARE_ARRAY: Final = JsonForm(
    openers=("[",),
    at="start",
    bare=True,
    tail="line",
    follows=ARRAY_FOLLOWS,
    keeps_opener=True,
    needs_arguments=True,
)
FENCE: Final = JsonForm(
    openers=("```json", "```tool_call", "```tool_calls", "```"),
    at="line",
    bare=True,
    special=True,
    closers=("```",),
    needs_arguments=True,
    must_close=True,
)


def invoke(prefix: str, *wrappers: str, plain: bool = True) -> ParameterForm:
    """Elements `invoke` with a prefix, in any of these wrappers or none."""
    return ParameterForm(
        openers=(*(f"<{each}>" for each in wrappers), f"<{prefix}invoke name="),
        call=(f"<{prefix}invoke",),
        call_end=(f"</{prefix}invoke>",),
        parameter=(f"<{prefix}parameter",),
        parameter_end=(f"</{prefix}parameter>",),
        closers=tuple(f"</{each}>" for each in wrappers),
        before=tuple(f"<{each}>" for each in wrappers),
        plain=plain,
        special="｜" in prefix,
    )


ATEM: Final = replace(invoke("atem:", "atem:function_calls", plain=False), noise=("<|message|>",))
BARS: Final = ("｜DSML｜", "|DSML|", "‖DSML‖", "｜｜DSML｜｜")
DSML: Final = tuple(invoke(bars, f"{bars}function_calls", f"{bars}tool_calls") for bars in BARS)
DSML_STRAYS: Final = tuple(
    f"</{bars}{word}>" for bars in BARS for word in ("invoke", "function_calls", "tool_calls")
)
END_OF_SENTENCE: Final = ("<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>")


def _deepseek(begin: str, call: str, sep: str, call_end: str, end: str) -> NamedForm:
    return NamedForm(
        openers=(begin, call),
        special=True,
        begin=(call,),
        separators=(sep,),
        end=(call_end,),
        close=(end,),
        headed=True,
        must_end=True,
    )


DEEPSEEK: Final = tuple(
    _deepseek(
        *(
            f"<{bar}tool{gap}{word}{bar}>"
            for word in (
                f"calls{gap}begin",
                f"call{gap}begin",
                "sep",
                f"call{gap}end",
                f"calls{gap}end",
            )
        )
    )
    for bar in "｜|"
    for gap in "▁_ "
)
DEEPSEEK_STRAYS: Final = ("<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>")
MISTRAL_NAMED: Final = NamedForm(
    openers=("[TOOL_CALLS]",),
    separators=("[ARGS]",),
    ids=("[CALL_ID]",),
    object_ends_name=True,
    special=True,
    empty=True,
)
MISTRAL_ARRAY: Final = JsonForm(
    openers=("[TOOL_CALLS]",), closers=("[/TOOL_CALLS]",), special=True, between="\n,"
)
ACTION: Final = JsonForm(
    openers=("Action:",), at="line", before=("```json", "```"), closers=("```",), must_close=True
)

# --- how they are written ---------------------------------------------------------------------

HERMES_WRITER: Final = JsonWriter(begin="<tool_call>\n", end="\n</tool_call>")
QWEN_WRITER: Final = TaggedWriter(
    begin="<tool_call>\n",
    head="<function={name}>\n",
    parameter="<parameter={key}>\n{value}\n</parameter>\n",
    tail="</function>",
    end="\n</tool_call>",
)
GLM47_WRITER: Final = TaggedWriter(
    begin="<tool_call>",
    head="{name}",
    parameter="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    end="</tool_call>",
    plain=False,
    trimmed=False,
)


def dsml_writer(wrapper: str) -> TaggedWriter:
    """DSML, where each parameter says whether it is a string."""
    return TaggedWriter(
        open=f"<｜DSML｜{wrapper}>\n",
        head='<｜DSML｜invoke name="{name}">\n',
        parameter='<｜DSML｜parameter name="{key}" string="{string}">{value}</｜DSML｜parameter>\n',
        tail="</｜DSML｜invoke>",
        close=f"\n</｜DSML｜{wrapper}>",
    )
