"""Agno: five protocols, each with its model class."""

import base64

from agno.agent import Agent
from agno.media import Image
from agno.models.anthropic import Claude
from agno.models.google import Gemini
from agno.models.ollama import Ollama
from agno.models.openai import OpenAIChat, OpenAIResponses
from common import add, get_weather, lookup, serve
from pydantic import BaseModel


class Place(BaseModel):
    city: str
    degrees: int


def model(cell):
    url, name = cell["base_url"], cell["model"]
    if cell["protocol"] == "anthropic":
        return Claude(id=name, api_key="k", client_params={"base_url": url})
    if cell["protocol"] == "gemini":
        return Gemini(id=name, api_key="k", client_params={"http_options": {"base_url": url}})
    if cell["protocol"] == "ollama":
        return Ollama(id=name, host=url)
    kind = OpenAIChat if cell["protocol"] == "openai-chat" else OpenAIResponses
    return kind(id=name, base_url=url + "/v1", api_key="k")


def run(cell):
    shaped = cell["scenario"] == "schema"
    agent = Agent(
        model=model(cell),
        tools=None if shaped or cell["image"] else [get_weather, add, lookup],
        output_schema=Place if shaped else None,
        telemetry=False,
    )
    images = [Image(content=base64.b64decode(cell["image"]))] if cell["image"] else None
    if cell["stream"]:
        content, done = "", None
        for event in agent.run(cell["prompt"], images=images, stream=True):
            if event.event == "RunContent" and event.content:
                content = (
                    content + event.content if isinstance(event.content, str) else event.content
                )
            done = event if event.event == "RunCompleted" else done
        content = done.content if done is not None and done.content else content
    else:
        content = agent.run(cell["prompt"], images=images).content
    if shaped:
        made = Place.model_validate_json(content) if isinstance(content, str) else content
        return {"object": made.model_dump()}
    return {"text": str(content)}


serve(run)
