"""pydantic-ai: four protocols, each with the model class of its vendor."""

import base64

from common import add, get_weather, serve
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider


class Place(BaseModel):
    city: str
    degrees: int


def lookup(key: str) -> str:
    """The value of a key."""
    raise ModelRetry(f"no such key: {key}")


def model(cell):
    url, name = cell["base_url"], cell["model"]
    protocol = cell["protocol"]
    if protocol == "anthropic":
        return AnthropicModel(name, provider=AnthropicProvider(api_key="k", base_url=url))
    if protocol == "gemini":
        return GoogleModel(name, provider=GoogleProvider(api_key="k", base_url=url))
    provider = OpenAIProvider(base_url=url + "/v1", api_key="k")
    kind = OpenAIChatModel if protocol == "openai-chat" else OpenAIResponsesModel
    return kind(name, provider=provider)


async def run(cell):
    shaped = cell["scenario"] == "schema"
    agent = Agent(
        model(cell),
        tools=[] if shaped else [get_weather, add, lookup],
        output_type=Place if shaped else str,
        retries=2,
    )
    asked = cell["prompt"]
    if cell["image"]:
        asked = [asked, BinaryContent(base64.b64decode(cell["image"]), media_type="image/png")]
    if cell["stream"]:
        async with agent.iter(asked) as steps:
            async for node in steps:
                if Agent.is_model_request_node(node):
                    async with node.stream(steps.ctx) as events:
                        async for _ in events:
                            pass
        output = steps.result.output
    else:
        output = (await agent.run(asked)).output
    return {"object": output.model_dump()} if shaped else {"text": output}


serve(run)
