"""AutoGen: two protocols, each with its model client."""

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.ollama import OllamaChatCompletionClient
from autogen_ext.models.openai import OpenAIChatCompletionClient
from common import add, get_weather, lookup, serve

INFO = ModelInfo(
    vision=True,
    function_calling=True,
    json_output=True,
    family="unknown",
    structured_output=True,
    multiple_system_messages=True,
)


def model(cell):
    url, name = cell["base_url"], cell["model"]
    if cell["protocol"] == "ollama":
        return OllamaChatCompletionClient(model=name, host=url, model_info=INFO)
    return OpenAIChatCompletionClient(
        model=name, base_url=url + "/v1", api_key="k", model_info=INFO, max_retries=0
    )


async def run(cell):
    client = model(cell)
    agent = AssistantAgent(
        "a",
        model_client=client,
        tools=[get_weather, add, lookup],
        max_tool_iterations=9,
        reflect_on_tool_use=False,
        model_client_stream=cell["stream"],
    )
    done = await agent.run(task=cell["prompt"])
    await client.close()
    return {"text": done.messages[-1].to_text()}


serve(run)
