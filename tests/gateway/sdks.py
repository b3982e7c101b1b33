"""The official SDKs as clients of a gateway, each behind the same few words.

A conversation keeps its history the way the users of its SDK do: what the SDK gave is appended as
it is, results are written in the SDK's own form.
"""

import base64
import io
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

import anthropic
import httpx
import ollama
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types
from google.genai._gaos.lib import compat_errors as interaction_errors

try:
    import boto3
    import botocore.config
    import urllib3
    from botocore.awsrequest import AWSResponse, HeadersDict
    from botocore.exceptions import ClientError
except ImportError:  # an SDK of which not every environment of tests has a copy
    boto3 = None
    ClientError = Exception

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}
READ_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}
TOOLS = (("bash", "Runs a command.", SCHEMA), ("read", "Reads a file.", READ_SCHEMA))
PROMPT = "Look at what is there."


class Heard(NamedTuple):
    """What a client heard."""

    text: str
    calls: list[tuple[str | None, str, Any]]
    prompt: int
    output: int
    model: str | None


class Failed(NamedTuple):
    """What a client was told went wrong."""

    type: type[Exception] | str
    status: int | None
    message: str
    headers: dict[str, str]


class Anthropic:
    """`anthropic.Anthropic`."""

    protocol = "anthropic"
    error = anthropic.APIError
    too_many = anthropic.RateLimitError
    bad_request = anthropic.BadRequestError

    def __init__(self, url: str, http: Any = None) -> None:
        self.client = anthropic.Anthropic(
            base_url=url, api_key="none", max_retries=0, http_client=http and http()
        )
        self.close = self.client.close

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        asked: Any = {
            "model": model,
            "max_tokens": 4000,
            "messages": history,
            "tools": [
                {"name": name, "description": words, "input_schema": schema}
                for name, words, schema in TOOLS
            ],
            "thinking": {"type": "enabled", "budget_tokens": 2000},
        }
        if stream:
            with self.client.messages.stream(**asked) as events:
                message = events.get_final_message()
        else:
            message = self.client.messages.create(**asked)
        history.append({"role": "assistant", "content": message.content})
        return Heard(
            text="".join(block.text for block in message.content if block.type == "text"),
            calls=[(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"],
            prompt=message.usage.input_tokens,
            output=message.usage.output_tokens,
            model=message.model,
        )

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call_id, "content": [self._block(result)]}
            for (call_id, _, _), result in zip(heard.calls, results, strict=True)
        ]
        return [{"role": "user", "content": blocks}]

    def _block(self, result: str | bytes) -> Any:
        if isinstance(result, str):
            return {"type": "text", "text": result}
        data = base64.b64encode(result).decode()
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        }

    def failed(self, error: Any) -> Failed:
        return Failed(type(error), error.status_code, error.message, dict(error.response.headers))


class Chat:
    """`openai.OpenAI().chat`."""

    protocol = "openai-chat"
    error = openai.APIError
    too_many = openai.RateLimitError
    bad_request = openai.BadRequestError

    def __init__(self, url: str, http: Any = None) -> None:
        self.client = openai.OpenAI(
            base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=http and http()
        )
        self.close = self.client.close

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        asked: Any = {
            "model": model,
            "messages": history,
            "reasoning_effort": "high",
            "tools": [
                {
                    "type": "function",
                    "function": {"name": name, "description": words, "parameters": schema},
                }
                for name, words, schema in TOOLS
            ],
        }
        if stream:
            asked["stream_options"] = {"include_usage": True}
            with self.client.chat.completions.stream(**asked) as events:
                for _ in events:
                    pass
                completion: Any = events.current_completion_snapshot
        else:
            completion = self.client.chat.completions.create(**asked)
        message = completion.choices[0].message
        history.append(_sent(message.to_dict()))
        return Heard(
            text=message.content or "",
            calls=[
                (call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            ],
            prompt=completion.usage.prompt_tokens,
            output=completion.usage.completion_tokens,
            model=completion.model,
        )

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        told: list[Any] = []
        shown: list[Any] = []
        for (call_id, _, _), result in zip(heard.calls, results, strict=True):
            text = result if isinstance(result, str) else "The picture follows."
            told.append({"role": "tool", "tool_call_id": call_id, "content": text})
            if isinstance(result, bytes):
                shown.append({"type": "image_url", "image_url": {"url": _data_url(result)}})
        return told + ([{"role": "user", "content": shown}] if shown else [])

    def failed(self, error: Any) -> Failed:
        return Failed(type(error), error.status_code, error.message, dict(error.response.headers))


class Responses:
    """`openai.OpenAI().responses`, without state at the server."""

    protocol = "openai-responses"
    error = openai.APIError
    too_many = openai.RateLimitError
    bad_request = openai.BadRequestError

    def __init__(self, url: str, http: Any = None) -> None:
        self.client = openai.OpenAI(
            base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=http and http()
        )
        self.close = self.client.close

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        asked: Any = {
            "model": model,
            "input": history,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high"},
            "tools": [
                {
                    "type": "function",
                    "name": name,
                    "description": words,
                    "parameters": schema,
                    "strict": False,
                }
                for name, words, schema in TOOLS
            ],
        }
        response: Any
        if stream:
            with self.client.responses.stream(**asked) as events:
                response = list(events)[-1].response
            if response.status == "failed":
                raise StreamFailed(response.error.code, response.error.message)
        else:
            response = self.client.responses.create(**asked)
        history += [_sent(item.to_dict()) for item in response.output]
        texts = [p.text for i in response.output if i.type == "message" for p in i.content]
        return Heard(
            text="".join(texts),
            calls=[
                (item.call_id, item.name, item.arguments)
                for item in response.output
                if item.type == "function_call"
            ],
            prompt=response.usage.input_tokens,
            output=response.usage.output_tokens,
            model=response.model,
        )

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": call_id, "output": self._output(result)}
            for (call_id, _, _), result in zip(heard.calls, results, strict=True)
        ]

    def _output(self, result: str | bytes) -> Any:
        if isinstance(result, str):
            return result
        return [{"type": "input_image", "image_url": _data_url(result), "detail": "auto"}]

    failed = Chat.failed


class StreamFailed(openai.APIError):
    """A stream of Responses that ended in `response.failed`: the SDK hands it over as an event."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, httpx.Request("POST", "http://gateway"), body=None)
        self.failed_code = code


class Gemini:
    """`genai.Client`."""

    protocol = "gemini"
    error = genai_errors.APIError
    too_many = genai_errors.ClientError
    bad_request = genai_errors.ClientError

    def __init__(self, url: str, http: Any = None) -> None:
        options = genai_types.HttpOptions(
            base_url=url,
            retry_options=genai_types.HttpRetryOptions(attempts=1),
            httpx_client=http and http(),
        )
        self.client = genai.Client(api_key="none", http_options=options)
        self.close = self.client.close

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        declared = [
            {"name": name, "description": words, "parameters_json_schema": schema}
            for name, words, schema in TOOLS
        ]
        config: Any = {
            "tools": [{"function_declarations": declared}],
            "thinking_config": {"include_thoughts": True},
            "automatic_function_calling": {"disable": True},
        }
        asked: Any = {"model": model, "contents": history, "config": config}
        models = self.client.models
        chunks = list(models.generate_content_stream(**asked)) if stream else []
        chunks = chunks or [models.generate_content(**asked)]
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or ()]
        history.append(genai_types.Content(role="model", parts=parts))
        usage = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata][-1]
        called = [part.function_call for part in parts if part.function_call]
        return Heard(
            text="".join(part.text for part in parts if part.text and not part.thought),
            calls=[(call.id, call.name, call.args) for call in called],
            prompt=usage.prompt_token_count,
            output=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            model=chunks[-1].model_version,
        )

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        parts = []
        for (call_id, name, _), result in zip(heard.calls, results, strict=True):
            text = result if isinstance(result, str) else "The picture follows."
            answer = genai_types.FunctionResponse(id=call_id, name=name, response={"output": text})
            parts.append(genai_types.Part(function_response=answer))
            if isinstance(result, bytes):
                parts.append(genai_types.Part.from_bytes(data=result, mime_type="image/png"))
        return [genai_types.Content(role="user", parts=parts)]

    def failed(self, error: Any) -> Failed:
        headers = dict(error.response.headers) if hasattr(error.response, "headers") else {}
        return Failed(type(error), error.code, error.message, headers)


class Interactions:
    """`genai.Client().interactions`, without state at the server."""

    protocol = "gemini-interactions"
    error = interaction_errors.APIError
    too_many = interaction_errors.RateLimitError
    bad_request = interaction_errors.BadRequestError

    __init__ = Gemini.__init__

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        tools = [
            {"type": "function", "name": name, "description": words, "parameters": schema}
            for name, words, schema in TOOLS
        ]
        asked: Any = {
            "model": model,
            "input": history,
            "store": False,
            "tools": tools,
            "generation_config": {"thinking_level": "high", "thinking_summaries": "auto"},
        }
        if stream:
            steps, last = self.read(self.client.interactions.create(**asked, stream=True))
        else:
            last = self.client.interactions.create(**asked)
            steps = [step.model_dump(exclude_none=True) for step in last.steps]
        history += steps
        contents = [s.get("content", ()) for s in steps if s["type"] == "model_output"]
        usage = last.usage
        return Heard(
            text="".join(each["text"] for content in contents for each in content),
            calls=[
                (s["id"], s["name"], s["arguments"]) for s in steps if s["type"] == "function_call"
            ],
            prompt=usage.total_input_tokens,
            output=(usage.total_output_tokens or 0) + (usage.total_thought_tokens or 0),
            model=last.model,
        )

    def read(self, stream: Any) -> tuple[list[Any], Any]:
        """The steps that a stream makes up, and the interaction that it ends with."""
        steps: dict[int, Any] = {}
        last = None
        for event in stream:
            if event.event_type == "error":
                raise InteractionFailedError(event.error.code, event.error.message)
            if event.event_type == "step.start":
                steps[event.index] = event.step.model_dump(exclude_none=True)
            elif event.event_type == "step.delta":
                self._add(steps[event.index], event.delta.model_dump(exclude_none=True))
            elif event.event_type == "step.stop":
                step = steps[event.index]
                if isinstance(step.get("arguments"), str):
                    step["arguments"] = json.loads(step["arguments"])
            elif event.event_type == "interaction.completed":
                last = event.interaction
        assert last is not None
        return list(steps.values()), last

    def _add(self, step: Any, delta: Any) -> None:
        kind = delta["type"]
        if kind == "text":
            content = step.setdefault("content", [{"type": "text", "text": ""}])
            content[-1]["text"] += delta["text"]
        elif kind == "arguments_delta":
            step["arguments"] = (step["arguments"] or "") + delta["arguments"]
        elif kind == "thought_signature":
            step["signature"] = delta["signature"]
        elif kind == "thought_summary":
            step.setdefault("summary", []).append(delta["content"])

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        return [
            {
                "type": "function_result",
                "call_id": call_id,
                "name": name,
                "result": self._result(result),
            }
            for (call_id, name, _), result in zip(heard.calls, results, strict=True)
        ]

    def _result(self, result: str | bytes) -> Any:
        if isinstance(result, str):
            return result
        data = base64.b64encode(result).decode()
        return [{"type": "image", "data": data, "mime_type": "image/png"}]

    def failed(self, error: Any) -> Failed:
        if isinstance(error, InteractionFailedError):
            return Failed(type(error), None, error.message, {})
        words = error.body["error"]["message"]
        return Failed(type(error), error.status_code, words, dict(error.response.headers))


class InteractionFailedError(interaction_errors.APIError):
    """An error inside a stream, which the SDK hands over as an event."""

    def __init__(self, code: str | None, message: str | None) -> None:
        Exception.__init__(self, message)
        self.code, self.message = code, message or ""


class Ollama:
    """`ollama.Client`."""

    protocol = "ollama"
    error = ollama.ResponseError
    too_many = ollama.ResponseError
    bad_request = ollama.ResponseError

    def __init__(self, url: str, http: Any = None) -> None:
        transport = {"transport": http()._transport} if http else {}
        self.client = ollama.Client(host=url, **transport)
        self.close = self.client._client.close

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        tools = [
            {
                "type": "function",
                "function": {"name": name, "description": words, "parameters": schema},
            }
            for name, words, schema in TOOLS
        ]
        asked: Any = {"model": model, "messages": history, "tools": tools, "think": True}
        chunks = list(self.client.chat(**asked, stream=True)) if stream else []
        chunks = chunks or [self.client.chat(**asked)]
        messages = [chunk.message for chunk in chunks]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(each.content or "" for each in messages),
            "thinking": "".join(each.thinking or "" for each in messages),
            "tool_calls": [call for each in messages for call in each.tool_calls or ()],
        }
        history.append(message)
        return Heard(
            text=message["content"],
            calls=[
                (None, call.function.name, dict(call.function.arguments))
                for call in message["tool_calls"]
            ],
            prompt=chunks[-1].prompt_eval_count or 0,
            output=chunks[-1].eval_count or 0,
            model=chunks[-1].model,
        )

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        told: list[Any] = []
        for (_, name, _), result in zip(heard.calls, results, strict=True):
            if isinstance(result, str):
                told.append({"role": "tool", "tool_name": name, "content": result})
            else:
                told.append({"role": "tool", "tool_name": name, "content": "", "images": [result]})
        return told

    def failed(self, error: Any) -> Failed:
        return Failed(type(error), error.status_code, error.error, {})


def _sent_by(http: Any, request: Any, **_event: Any) -> Any:
    """What botocore gets for a prepared request that an HTTP client sends."""
    headers = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    reply = http.request(request.method, request.url, content=request.body, headers=headers)
    raw = urllib3.HTTPResponse(
        io.BytesIO(reply.content), headers=reply.headers, preload_content=False
    )
    return AWSResponse(request.url, reply.status_code, HeadersDict(reply.headers), raw)


class Bedrock:
    """`boto3.client("bedrock-runtime")`, whose requests are signed with a key that nobody has."""

    protocol = "bedrock-converse"
    error = ClientError
    too_many = "ThrottlingException"  # a class that each client makes for itself
    bad_request = "ValidationException"

    def __init__(self, url: str, http: Any = None) -> None:
        retries = {"total_max_attempts": 1}
        self.client = boto3.client(
            "bedrock-runtime",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="AKIDEXAMPLE",
            aws_secret_access_key="none",
            config=botocore.config.Config(retries=retries, proxies={}),
        )
        self.close = self.client.close
        if http:  # it takes no HTTP client, but a function that answers in place of its own
            made = http()
            answer = partial(_sent_by, made)
            self.client.meta.events.register("before-send.bedrock-runtime", answer)

    def ask(self, model: str, history: list[Any], *, stream: bool) -> Heard:
        specs = (
            {"name": name, "description": words, "inputSchema": {"json": schema}}
            for name, words, schema in TOOLS
        )
        asked: Any = {
            "modelId": model,
            "messages": history,
            "toolConfig": {"tools": [{"toolSpec": spec} for spec in specs]},
            "inferenceConfig": {"maxTokens": 4000},
            "additionalModelRequestFields": {"thinking": {"type": "adaptive"}},
        }
        if stream:
            message, usage = self._gathered(self.client.converse_stream(**asked)["stream"])
        else:
            answer = self.client.converse(**asked)
            message, usage = answer["output"]["message"], answer["usage"]
        history.append(message)
        calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        return Heard(
            text="".join(block.get("text", "") for block in message["content"]),
            calls=[(call["toolUseId"], call["name"], call["input"]) for call in calls],
            prompt=usage["inputTokens"],
            output=usage["outputTokens"],
            model=model,  # no answer names it
        )

    def _gathered(self, stream: Any) -> tuple[Any, Any]:
        """The message and the usage of a stream, as users put them together."""
        blocks: dict[int, Any] = {}
        usage: Any = None
        for event in stream:
            ((kind, value),) = event.items()
            index = value.get("contentBlockIndex")
            if kind == "contentBlockStart":
                blocks[index] = {"toolUse": {**value["start"]["toolUse"], "input": ""}}
            elif kind == "contentBlockDelta":
                self._grow(blocks.setdefault(index, {}), value["delta"])
            elif kind == "contentBlockStop" and "toolUse" in blocks[index]:
                call = blocks[index]["toolUse"]
                call["input"] = json.loads(call["input"] or "{}")
            elif kind == "metadata":
                usage = value["usage"]
        return {"role": "assistant", "content": [blocks[each] for each in sorted(blocks)]}, usage

    def _grow(self, block: Any, delta: Any) -> None:
        if "text" in delta:
            block["text"] = block.get("text", "") + delta["text"]
        elif "toolUse" in delta:
            block["toolUse"]["input"] += delta["toolUse"]["input"]
        elif "redactedContent" in delta["reasoningContent"]:
            block["reasoningContent"] = delta["reasoningContent"]
        else:
            outer = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})
            ((key, text),) = delta["reasoningContent"].items()
            outer["reasoningText"][key] = outer["reasoningText"].get(key, "") + text

    def results(self, heard: Heard, results: Sequence[str | bytes]) -> list[Any]:
        blocks = []
        for (call_id, _, _), result in zip(heard.calls, results, strict=True):
            picture = {"image": {"format": "png", "source": {"bytes": result}}}
            content = [{"text": result} if isinstance(result, str) else picture]
            blocks.append({"toolResult": {"toolUseId": call_id, "content": content}})
        return [{"role": "user", "content": blocks}]

    def failed(self, error: Any) -> Failed:
        told = error.response["ResponseMetadata"]
        words = error.response["Error"]["Message"]
        name = sys.intern(type(error).__name__)
        return Failed(name, told["HTTPStatusCode"], words, told["HTTPHeaders"])


def _sent(value: Any) -> Any:
    """What was heard, without what the SDK adds to it for its users and no provider takes back."""
    if isinstance(value, dict):
        own = ("parsed", "parsed_arguments")
        return {k: _sent(v) for k, v in value.items() if k not in own and v is not None}
    return [_sent(each) for each in value] if isinstance(value, list) else value


def _data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


SDKS: dict[str, Any] = {
    each.protocol: each
    for each in (
        Anthropic,
        Chat,
        Responses,
        Interactions,
        Gemini,
        Ollama,
        *((Bedrock,) if boto3 else ()),
    )
}


def opening(protocol: str) -> list[Any]:
    """A history with nothing but a question."""
    if protocol == "gemini":
        return [genai_types.Content(role="user", parts=[genai_types.Part(text=PROMPT)])]
    if protocol == "gemini-interactions":
        return [{"type": "user_input", "content": [{"type": "text", "text": PROMPT}]}]
    content: Any = [{"text": PROMPT}] if protocol == "bedrock-converse" else PROMPT
    return [{"role": "user", "content": content}]


@contextmanager
def all_sdks(url: str, http: Any = None) -> Any:
    """One client of each kind for a gateway, as making one takes long.

    `http` makes the HTTP clients that the SDKs use in place of their own.
    """
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(make(url, http))) for name, make in SDKS.items()}
