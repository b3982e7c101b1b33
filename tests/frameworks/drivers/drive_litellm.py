"""LiteLLM: five protocols, with a loop of our own."""

import gc
import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
from common import OBJECT_SCHEMA, TOOLS, call, schema_of, serve

# It leaves streams open; where the collector closes them inside httpcore, that waits for ever.
gc.disable()
litellm.num_retries = 0
litellm.suppress_debug_info = True
PREFIX = {
    "openai-chat": ("openai/", "/v1"),
    "openai-responses": ("openai/", "/v1"),
    "anthropic": ("anthropic/", ""),
    "gemini": ("gemini/", "/v1beta"),
    "ollama": ("ollama_chat/", ""),
}
DECLARED = [
    {
        "type": "function",
        "function": {"name": name, "description": tool.__doc__, "parameters": schema_of(name)},
    }
    for name, tool in TOOLS.items()
]


def run(cell):
    gc.collect()
    return (responses if cell["protocol"] == "openai-responses" else completions)(cell)


def settings(cell):
    prefix, path = PREFIX[cell["protocol"]]
    return {
        "model": prefix + cell["model"],
        "api_base": cell["base_url"] + path,
        "api_key": "k",
        "stream": cell["stream"],
        "num_retries": 0,
    }


def completions(cell):
    content = cell["prompt"]
    if cell["image"]:
        url = "data:image/png;base64," + cell["image"]
        content = [
            {"type": "text", "text": content},
            {"type": "image_url", "image_url": {"url": url}},
        ]
    messages = [{"role": "user", "content": content}]
    more = settings(cell)
    if cell["scenario"] == "schema":
        form = {"name": "place", "schema": OBJECT_SCHEMA, "strict": True}
        more["response_format"] = {"type": "json_schema", "json_schema": form}
    elif cell["scenario"] != "image":
        more["tools"] = DECLARED
    for _ in range(10):
        answer = litellm.completion(messages=messages, **more)
        if cell["stream"]:
            answer = litellm.stream_chunk_builder(list(answer), messages=messages)
        message = answer.choices[0].message
        if not message.tool_calls:
            if cell["scenario"] == "schema":
                return {"object": json.loads(message.content)}
            return {"text": message.content}
        messages.append(message.model_dump(exclude_none=True))
        for each in message.tool_calls:
            result = call(each.function.name, json.loads(each.function.arguments))
            messages.append({"role": "tool", "tool_call_id": each.id, "content": result})
    return {"error": "too many rounds"}


def responses(cell):
    content = [{"type": "input_text", "text": cell["prompt"]}]
    if cell["image"]:
        url = "data:image/png;base64," + cell["image"]
        content.append({"type": "input_image", "image_url": url})
    items = [{"role": "user", "content": content}]
    more = settings(cell)
    if cell["scenario"] == "schema":
        form = {"type": "json_schema", "name": "place", "schema": OBJECT_SCHEMA, "strict": True}
        more["text"] = {"format": form}
    elif cell["scenario"] != "image":
        more["tools"] = [{"type": "function", **each["function"]} for each in DECLARED]
    for _ in range(10):
        answer = litellm.responses(input=items, **more)
        if cell["stream"]:
            final = [each for each in answer if each.type == "response.completed"]
            answer = final[0].response
        made = [
            each if isinstance(each, dict) else each.model_dump(exclude_none=True)
            for each in answer.output
        ]
        items += made
        calls = [each for each in made if each["type"] == "function_call"]
        if not calls:
            texts = [
                part["text"]
                for each in made
                if each["type"] == "message"
                for part in each["content"]
            ]
            if cell["scenario"] == "schema":
                return {"object": json.loads("".join(texts))}
            return {"text": "".join(texts)}
        for each in calls:
            result = call(each["name"], json.loads(each["arguments"]))
            items.append(
                {"type": "function_call_output", "call_id": each["call_id"], "output": result}
            )
    return {"error": "too many rounds"}


serve(run)
