"""The older path `/api/generate`: one prompt in, and `response` where `/api/chat` has a message.

Reference: https://github.com/ollama/ollama/blob/main/docs/api.md, read on 2026-11-15.
"""

from toolglot.errors import DecodeError
from toolglot.ir import Json


def chat_request(body: Json) -> Json:
    """A request for `/api/generate` as one for `/api/chat`."""
    prompt = body.get("prompt", "")
    if not isinstance(prompt, str):
        raise DecodeError("prompt", "expected string")
    message: Json = {"role": "user", "content": prompt}
    if body.get("images"):
        message["images"] = body["images"]
    system = body.get("system")
    first = [{"role": "system", "content": system}] if system else []
    rest = {key: body[key] for key in body if key not in ("prompt", "images", "system")}
    return {**rest, "messages": [*first, message]}


def generate_response(body: Json) -> Json:
    """A response, or a line of a stream, of `/api/chat` as one of `/api/generate`."""
    message = body.get("message")
    if not isinstance(message, dict):
        return body
    rest = {key: value for key, value in body.items() if key != "message"}
    generated: Json = {**rest, "response": message.get("content", "")}
    if message.get("thinking"):
        generated["thinking"] = message["thinking"]
    return generated
