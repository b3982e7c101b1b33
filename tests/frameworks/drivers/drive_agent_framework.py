"""Microsoft Agent Framework: Chat Completions and Responses."""

import agent_framework.openai as clients
from common import add, get_weather, lookup, serve


def client(cell):
    more = {"api_key": "k", "base_url": cell["base_url"] + "/v1"}
    chat = cell["protocol"] == "openai-chat"
    # The names changed between versions.
    for name in (
        ("OpenAIChatCompletionClient",) if chat else ("OpenAIResponsesClient", "OpenAIChatClient")
    ):
        if hasattr(clients, name):
            return getattr(clients, name)(model=cell["model"], **more)
    return clients.OpenAIChatClient(model=cell["model"], **more)


async def run(cell):
    agent = client(cell).as_agent(name="a", instructions="Help.", tools=[get_weather, add, lookup])
    if not cell["stream"]:
        return {"text": (await agent.run(cell["prompt"])).text}
    text = ""
    async for piece in agent.run(cell["prompt"], stream=True):
        text += piece.text or ""
    return {"text": text}


serve(run)
