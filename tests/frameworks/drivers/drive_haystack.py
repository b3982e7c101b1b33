"""Haystack: five protocols, each with its chat generator."""

from common import add, get_weather, lookup, serve
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator
from haystack_integrations.components.generators.ollama import OllamaChatGenerator

KEY = Secret.from_token("k")
TOOLS = [create_tool_from_function(each) for each in (get_weather, add, lookup)]


def generator(cell):
    url, name = cell["base_url"], cell["model"]
    if cell["protocol"] == "anthropic":
        made = AnthropicChatGenerator(model=name, api_key=KEY, max_retries=0)
        made.warm_up()
        made.client.base_url = url
        return made
    if cell["protocol"] == "gemini":
        made = GoogleGenAIChatGenerator(model=name, api_key=KEY)
        made.warm_up()
        made._client._api_client._http_options.base_url = url
        return made
    if cell["protocol"] == "ollama":
        return OllamaChatGenerator(model=name, url=url)
    kind = (
        OpenAIChatGenerator if cell["protocol"] == "openai-chat" else OpenAIResponsesChatGenerator
    )
    return kind(model=name, api_base_url=url + "/v1", api_key=KEY, max_retries=0)


def run(cell):
    agent = Agent(
        chat_generator=generator(cell),
        tools=TOOLS,
        raise_on_tool_invocation_failure=False,
        streaming_callback=(lambda _piece: None) if cell["stream"] else None,
    )
    agent.warm_up()
    made = agent.run(messages=[ChatMessage.from_user(cell["prompt"])])
    return {"text": made["last_message"].text}


serve(run)
