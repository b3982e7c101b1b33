"""The Responses API: what OpenAI and those who speak its protocol refuse in a request."""

import json
import re
from collections.abc import Iterator
from typing import Any

from openai.types.responses.response_create_params import ResponseCreateParams
from tests.upstreams.strict import json_schemas
from tests.upstreams.strict.chat_rules import answer_schema, openai_misfit, sampling
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule
from tests.upstreams.strict.sdk_shapes import Misfit, misfits

_NAME = re.compile(r"^[a-zA-Z0-9_-]+$")


def _items(ask: Ask) -> list[Json]:
    given = ask.body.get("input")
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _tools(ask: Ask) -> Iterator[tuple[str, Json]]:
    """All tools with their paths, those of namespaces and of items too."""
    given = list(enumerate(ask.body.get("tools") or ()))
    places = [(f"tools[{index}]", tool) for index, tool in given]
    for number, item in enumerate(_items(ask)):
        if item.get("type") == "additional_tools":
            places += [
                (f"input[{number}].tools[{index}]", tool)
                for index, tool in enumerate(item.get("tools") or ())
            ]
    for at, tool in places:
        if not isinstance(tool, dict):
            continue
        yield at, tool
        if tool.get("type") == "namespace":
            yield from (
                (f"{at}.tools[{index}]", each)
                for index, each in enumerate(tool.get("tools") or ())
                if isinstance(each, dict)
            )


_SAID_OF_CHAT = {
    "messages": "input", "functions": "tools", "response_format": "text.format",
    "reasoning_effort": "reasoning.effort", "verbosity": "text.verbosity",
    "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
}  # fmt: skip


def form(ask: Ask) -> Iterator[Refusal]:
    """Members, types and values, as openai-python declares them."""
    for key, other in _SAID_OF_CHAT.items():
        if key in ask.body:
            words = (
                f"Unsupported parameter: '{key}'. In the Responses API, this parameter has moved "
                f"to '{other}'. Try again with the new parameter. See the API documentation for "
                "more information: https://platform.openai.com/docs/api-reference/responses/create."
            )
            yield Refusal("OAI-006", words, param=key, code="unsupported_parameter")
    for found in misfits(ask.body, ResponseCreateParams):
        if len(found.path) == 1 and found.path[0] in _SAID_OF_CHAT:
            continue
        if not _is_taken(ask, found):
            yield openai_misfit(found)


_MAY_BE_LEFT_OUT = {
    "strict", "id", "detail", "result", "status", "annotations", "logprobs", "name", "fingerprint",
}  # fmt: skip
"""What its SDK says is required, and recordings show to be taken without (OAI-135)."""


def _is_taken(ask: Ask, found: Misfit) -> bool:
    last = found.path[-1] if found.path else ""
    if found.kind == "missing":
        top = ask.body["tools"][found.path[1]] if found.path[0] == "tools" else {}
        return last in _MAY_BE_LEFT_OUT and not (last == "name" and top.get("type") == "function")
    if found.kind == "type" and found.got is None:
        return len(found.path) == 1 or found.path[0] == "input"
    if found.kind == "unknown" and last == "id" and len(found.path) == 3:
        return "role" in ask.body["input"][found.path[1]]  # Codex names every message
    if found.kind == "value" and found.path[0] == "input" and found.path[2:3] == ("content",):
        # Messages of an assistant: their parts are looked at below.
        return ask.body["input"][found.path[1]].get("role") == "assistant"
    return False


def answers(ask: Ask) -> Iterator[Refusal]:
    """What an assistant said is not what was said to it."""
    for index, item in enumerate(_items(ask)):
        if item.get("role") != "assistant":
            continue
        for number, part in enumerate(_blocks(item.get("content"))):
            if part.get("type") not in ("output_text", "refusal"):
                at = f"input[{index}].content[{number}]"
                words = (
                    f"Invalid value: '{part.get('type')}'. Supported values are: 'output_text' and "
                    "'refusal'."
                )
                yield Refusal("OAI-141", words, param=at, code="invalid_value")


_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}


def ids(ask: Ask) -> Iterator[Refusal]:
    """Ids of items and of calls: their prefixes and lengths."""
    for index, item in enumerate(_items(ask)):
        given, kind = item.get("id"), item.get("type", "message")
        prefix = _PREFIXES.get(kind)
        if isinstance(given, str) and kind in _PREFIXES and not given.startswith(str(prefix)):
            words = (
                f"Invalid 'input[{index}].id': '{given}'. Expected an ID that begins with "
                f"'{prefix}'."
            )
            yield Refusal("OAI-138", words, param=f"input[{index}].id", code="invalid_value")
        for key, rule in (("id", "OAI-139"), ("call_id", "OAI-140")):
            value = item.get(key)
            if isinstance(value, str) and not 1 <= len(value) <= 64 and kind != "compaction":
                words = (
                    f"Invalid 'input[{index}].{key}': string too long. Expected a string with "
                    f"maximum length 64, but got a string with length {len(value)} instead."
                )
                at = f"input[{index}].{key}"
                yield Refusal(rule, words, param=at, code="string_above_max_length")


_CALLS = {"function_call": "function", "custom_tool_call": "custom tool"}
_OUTPUTS = {"function_call_output": "function", "custom_tool_call_output": "custom tool"}


def pairing(ask: Ask) -> Iterator[Refusal]:
    """Each call has its output, and each output its call; earlier answers are not known here."""
    stored = ask.body.get("previous_response_id") or ask.body.get("conversation")
    items = _items(ask)
    calls = {item.get("call_id"): item for item in items if item.get("type") in _CALLS}
    others = {item.get("call_id") for item in items if item.get("type") == "tool_search_call"}
    outputs = {item.get("call_id") for item in items if item.get("type") in _OUTPUTS}
    for call_id, item in calls.items():
        if call_id not in outputs:
            words = f"No tool output found for {_CALLS[item['type']]} call {call_id}."
            yield Refusal("OAI-130", words, param="input")
    if stored or any(item.get("type") in ("item_reference", "compaction") for item in items):
        return
    for item in items:
        if item.get("type") in _OUTPUTS and item.get("call_id") not in {*calls, *others}:
            kind = _OUTPUTS[item["type"]]
            words = f"No tool call found for {kind} call output with call_id {item.get('call_id')}."
            yield Refusal("OAI-131", words, param="input")


_REASONED = {
    "message", "function_call", "custom_tool_call", "reasoning", "web_search_call", "mcp_call",
    "code_interpreter_call", "file_search_call", "image_generation_call", "computer_call",
    "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call", "mcp_list_tools",
    "mcp_approval_request", "program", "item_reference",
}  # fmt: skip


def reasoning(ask: Ask) -> Iterator[Refusal]:
    """Reasoning is followed by what came of it."""
    items = _items(ask)
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        after = items[index + 1] if index + 1 < len(items) else {"type": None}
        kind = after.get("type", "message")
        is_user = kind == "message" and after.get("role") != "assistant"
        if (kind not in _REASONED or is_user) and item.get("id"):
            words = (
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required "
                "following item."
            )
            yield Refusal("OAI-132", words, param="input")


def issued_state(ask: Ask) -> Iterator[Refusal]:
    """Sealed reasoning is what this provider issued; tests issue base64 that means nothing."""
    for item in _items(ask):
        sealed = item.get("encrypted_content") if item.get("type") == "reasoning" else None
        if isinstance(sealed, str) and not _is_sealed(sealed):
            words = (
                f"The encrypted content for item {item.get('id')} could not be verified. Reason: "
                "Encrypted content could not be decrypted or parsed."
            )
            yield Refusal("OAI-136", words, param="input", code="invalid_encrypted_content")


def _is_sealed(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9+/_-]{40,}={0,2}", text)) or "_REDACTED_" in text


def names(ask: Ask) -> Iterator[Refusal]:
    """Names of tools, declared and called."""
    places = [(f"{at}.name", tool.get("name")) for at, tool in _tools(ask)]
    places += [
        (f"input[{index}].name", item.get("name"))
        for index, item in enumerate(_items(ask))
        if item.get("type") in _CALLS
    ]
    for at, name in places:
        if isinstance(name, str) and (not _NAME.match(name) or len(name) > 128):
            words = (
                f"Invalid '{at}': string does not match pattern. Expected a string that matches "
                "the pattern '^[a-zA-Z0-9_-]+$'."
            )
            yield Refusal("OAI-083", words, param=at, code="invalid_value")


def schemas(ask: Ask) -> Iterator[Refusal]:
    """The parameters of functions, and the schema of the answer."""
    for at, tool in _tools(ask):
        schema = tool.get("parameters")
        if tool.get("type") != "function" or schema is None:
            continue
        name = str(tool.get("name"))
        faults = list(json_schemas.openai_function(schema, name))
        if tool.get("strict") is True and not faults:
            says = f"Invalid schema for function '{name}': "
            faults = list(json_schemas.openai_strict(schema, says))
        for rule, words in faults:
            param = f"{at}.parameters"
            yield Refusal(rule, words, param=param, code="invalid_function_parameters")
    wanted = ask.body.get("text")
    wanted = wanted.get("format") if isinstance(wanted, dict) else None
    if isinstance(wanted, dict) and wanted.get("type") == "json_schema":
        yield from answer_schema(wanted, "response_format", "text.format.schema")


def settings(ask: Ask) -> Iterator[Refusal]:
    """Limits, efforts, and what is asked of models that do not have it."""
    body, model = ask.body, ask.model
    limit = body.get("max_output_tokens")
    if isinstance(limit, int) and limit < 16:
        words = (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but "
            f"got {limit} instead."
        )
        yield Refusal("OAI-012", words, param="max_output_tokens", code="integer_below_min_value")
    said = body.get("reasoning")
    if isinstance(said, dict) and said.get("effort") is not None and not _REASONING.match(model):
        words = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
        yield Refusal("OAI-033", words, param="reasoning.effort", code="unsupported_parameter")
    if _ALWAYS_REASONS.match(model):
        for key in ("temperature", "top_p"):
            if body.get(key) is not None and (key == "temperature" or body[key] != 1):
                words = f"Unsupported parameter: '{key}' is not supported with this model."
                yield Refusal("OAI-051", words, param=key, code="unsupported_parameter")
    if isinstance(said, dict) and said.get("effort") == "minimal":
        hosted = [tool["type"] for _, tool in _tools(ask) if tool.get("type") in _NOT_AT_MINIMAL]
        if hosted:
            words = (
                "The following tools cannot be used with reasoning.effort 'minimal': "
                f"{', '.join(hosted)}."
            )
            yield Refusal("OAI-045", words, param="tools")
    wanted = body.get("text")
    wanted = wanted.get("format") if isinstance(wanted, dict) else None
    said = json.dumps(body.get("input"), ensure_ascii=False).lower()
    if isinstance(wanted, dict) and wanted.get("type") == "json_object" and "json" not in said:
        words = (
            "Response input messages must contain the word 'json' in some form to use "
            "'text.format' of type 'json_object'."
        )
        yield Refusal("OAI-127", words, param="input")
    yield from (found for found in sampling(ask) if found.param in ("temperature", "top_p"))


_REASONING = re.compile(r"(?i)^(o[134](-|$)|gpt-[5-9]|codex|computer-use|.*deep-research)")
_ALWAYS_REASONS = re.compile(r"(?i)^(o[134](-|$)|gpt-5(-2|-mini|-nano|-pro|$)|gpt-6-astra)")
_NOT_AT_MINIMAL = {"web_search", "file_search", "image_generation", "code_interpreter"}


def files(ask: Ask) -> Iterator[Refusal]:
    """Kinds of files and of pictures."""
    for index, item in enumerate(_items(ask)):
        for key in ("content", "output"):
            for number, part in enumerate(_blocks(item.get(key))):
                data = part.get("file_data") if part.get("type") == "input_file" else None
                kind = data.partition(";")[0] if isinstance(data, str) else ""
                if kind.startswith(("data:audio/", "data:video/")):
                    words = (
                        f"Invalid file data: 'input[{index}].{key}[{number}].file_data'. Expected "
                        "a base64-encoded data URL with a valid file MIME type, but got "
                        f"unsupported MIME type '{kind.removeprefix('data:')}'."
                    )
                    yield Refusal("OAI-125", words, param="input", code="invalid_value")
                if str(part.get("filename", "")).endswith((".mp3", ".wav")):
                    words = (
                        "The file type you uploaded is not supported. Please try again with a pdf"
                    )
                    yield Refusal("OAI-125", words, param="input", code="unsupported_file")


OPENAI: tuple[Rule, ...] = (
    form, answers, files, ids, pairing, reasoning, issued_state, names, schemas, settings,
)  # fmt: skip


# --- others who speak it --------------------------------------------------------------------------


def _kinds(
    ask: Ask, taken: set[str], rule: str, words: str, status: int = 400
) -> Iterator[Refusal]:
    for index, item in enumerate(_items(ask)):
        kind = item.get("type", "message" if "role" in item else None)
        if kind not in taken:
            yield Refusal(rule, words.format(index=index, kind=kind), status=status)


_PLAIN_ITEMS = {"message", "function_call", "function_call_output", "reasoning"}


def ollama(ask: Ask) -> Iterator[Refusal]:
    """OL-33 to OL-36."""
    words = 'input[{index}]: unknown input item type: "{kind}"'
    yield from _kinds(ask, {*_PLAIN_ITEMS, "web_search_call"}, "OL-33", words)
    for index, item in enumerate(_items(ask)):
        for number, part in enumerate(_blocks(item.get("content"))):
            if part.get("type") not in ("input_text", "input_image", "output_text", "input_file"):
                said = (
                    f"input[{index}]: content[{number}]: unknown content type: {part.get('type')}"
                )
                yield Refusal("OL-34", said)
            if part.get("type") == "input_file":
                yield Refusal("OL-35", "file inputs are not currently supported")


def _blocks(found: Any) -> list[Json]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def vllm(ask: Ask) -> Iterator[Refusal]:
    """VL-37, VL-40, VL-42."""
    yield from _kinds(ask, _PLAIN_ITEMS, "VL-37", "Unknown input type: {kind}")
    for item in _items(ask):
        if item.get("type") == "reasoning" and item.get("encrypted_content"):
            yield Refusal("VL-40", "Encrypted content is not supported.")
    if ask.body.get("tool_choice") == "required" and not ask.body.get("tools"):
        words = "Tool choice 'required' must be specified with 'tools' parameter."
        yield Refusal("VL-42", words)


def deepseek(ask: Ask) -> Iterator[Refusal]:
    """DS-31: a call is followed by its output before the assistant says anything else."""
    waiting: list[Any] = []
    for item in _items(ask):
        kind = item.get("type", "message")
        if kind == "function_call":
            waiting.append(item.get("call_id"))
        elif kind == "function_call_output" and item.get("call_id") in waiting:
            waiting.remove(item["call_id"])
        elif kind in ("message", "reasoning") and waiting:
            break
    if waiting:
        words = f"No tool output found for tool call {waiting[0]}."
        yield Refusal("DS-31", words, code="invalid_request_error")


def xai(ask: Ask) -> Iterator[Refusal]:
    """XAI-013, XAI-027, XAI-030."""
    words = (
        "Failed to deserialize the JSON body into the target type: data did not match any variant "
        "of untagged enum ModelInput"
    )
    own = {
        "web_search_call", "x_search_call", "code_interpreter_call", "file_search_call", "mcp_call",
        "mcp_list_tools", "item_reference",
    }  # fmt: skip
    yield from _kinds(ask, _PLAIN_ITEMS | own, "XAI-027", words, status=422)
    for _, tool in _tools(ask):
        if tool.get("type") in ("namespace", "custom"):
            yield Refusal("XAI-013", "Client specified an invalid argument")


def openrouter(ask: Ask) -> Iterator[Refusal]:
    """OR-013, OR-028."""
    words = "Invalid Responses API request"
    if ask.body.get("store") is True or ask.body.get("previous_response_id"):
        yield Refusal("OR-013", words, code="invalid_prompt")
    for _, tool in _tools(ask):
        kind = str(tool.get("type"))
        if kind != "function" and not kind.startswith("openrouter:"):
            yield Refusal("OR-028", words, code="invalid_prompt")


def llama_cpp(ask: Ask) -> Iterator[Refusal]:
    """LC-45: it knows messages, calls, outputs and reasoning."""
    words = "Cannot determine type of 'item'"
    yield from _kinds(ask, _PLAIN_ITEMS, "LC-45", words)


def groq(ask: Ask) -> Iterator[Refusal]:
    """GQ-033: without state."""
    if ask.body.get("previous_response_id") or ask.body.get("store") is True:
        yield Refusal("GQ-033", "`previous_response_id` is not supported")


BY_PROVIDER: dict[str, tuple[Rule, ...]] = {
    "openai": OPENAI,
    "azure": OPENAI,
    "ollama": (ollama,),
    "vllm": (vllm, pairing),
    "deepseek": (deepseek, pairing),
    "xai": (xai,),
    "openrouter": (openrouter, pairing),
    "llama.cpp": (llama_cpp,),
    "groq": (groq, pairing),
}
