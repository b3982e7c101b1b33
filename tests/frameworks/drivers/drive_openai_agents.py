"""OpenAI Agents SDK: Chat Completions and Responses."""

import json

from agents import (
    Agent,
    AgentOutputSchema,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from common import add, get_weather, lookup, serve
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)


class Place(BaseModel):
    city: str
    degrees: int


MODELS = {
    "openai-chat": OpenAIChatCompletionsModel,
    "openai-responses": OpenAIResponsesModel,
}


def question(cell):
    if not cell["image"]:
        return cell["prompt"]
    url = "data:image/png;base64," + cell["image"]
    return [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": cell["prompt"]},
                {"type": "input_image", "image_url": url, "detail": "auto"},
            ],
        }
    ]


async def run(cell):
    async with AsyncOpenAI(base_url=cell["base_url"] + "/v1", api_key="k", max_retries=0) as client:
        shaped = cell["scenario"] == "schema"
        agent = Agent(
            name="a",
            instructions="Help.",
            model=MODELS[cell["protocol"]](cell["model"], client),
            tools=[] if shaped else [function_tool(each) for each in (get_weather, add, lookup)],
            output_type=AgentOutputSchema(Place) if shaped else None,
        )
        if cell["stream"]:
            done = Runner.run_streamed(agent, question(cell))
            async for _ in done.stream_events():
                pass
        else:
            done = await Runner.run(agent, question(cell))
        if shaped:
            return {"object": json.loads(done.final_output.model_dump_json())}
        return {"text": done.final_output}


serve(run)
