"""Strands Agents: four protocols; it always streams."""

from common import add, get_weather, lookup, serve
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.ollama import OllamaModel
from strands.models.openai import OpenAIModel

TOOLS = [tool(each) for each in (get_weather, add, lookup)]


def model(cell):
    url, name = cell["base_url"], cell["model"]
    if cell["protocol"] == "anthropic":
        return AnthropicModel(
            client_args={"api_key": "k", "base_url": url}, model_id=name, max_tokens=2000
        )
    if cell["protocol"] == "gemini":
        options = {"api_key": "k", "http_options": {"base_url": url}}
        return GeminiModel(client_args=options, model_id=name)
    if cell["protocol"] == "ollama":
        return OllamaModel(url, model_id=name)
    return OpenAIModel(client_args={"api_key": "k", "base_url": url + "/v1"}, model_id=name)


def run(cell):
    agent = Agent(model=model(cell), tools=TOOLS, callback_handler=None)
    return {"text": str(agent(cell["prompt"]))}


serve(run)
