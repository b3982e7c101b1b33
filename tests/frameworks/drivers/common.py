"""What the Python drivers share: the tools, and the loop that reads cells and writes answers."""

import asyncio
import inspect
import json
import sys
import traceback
from hashlib import sha256

ASK = "Use the tools until you know the answer."


def get_weather(city: str) -> str:
    """The weather in a city."""
    return "weather-" + sha256(city.encode()).hexdigest()[:8]


def add(a: int, b: int) -> str:
    """The sum of two numbers."""
    return str(int(a) + int(b))


def lookup(key: str) -> str:
    """The value of a key."""
    raise ValueError(f"no such key: {key}")


def lookup_text(key: str) -> str:
    """The value of a key."""
    return f"Error: no such key: {key}"


TOOLS = {"get_weather": get_weather, "add": add, "lookup": lookup}
PARAMETERS = {
    "get_weather": {"city": "string"},
    "add": {"a": "integer", "b": "integer"},
    "lookup": {"key": "string"},
}


def schema_of(name):
    properties = {key: {"type": kind} for key, kind in PARAMETERS[name].items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


OBJECT_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}


def call(name, arguments):
    """The result of a tool as text, for frameworks without a loop of their own."""
    try:
        return TOOLS[name](**arguments)
    except ValueError as error:
        return f"Error: {error}"


def _say(answer):
    line = json.dumps({"toolglot": answer}, separators=(",", ":"))
    sys.stdout.write(f"\n{line}\n")
    sys.stdout.flush()


def serve(run):
    """Answer cells, one line each, until there are no more."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    _say({"ready": True})
    for line in sys.stdin:
        cell = json.loads(line)
        try:
            answer = run(cell)
            if inspect.isawaitable(answer):
                answer = loop.run_until_complete(answer)
        except BaseException as error:  # noqa: BLE001 - whatever a framework raises is the answer
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {str(error)[:400]}"}
        _say(answer)
