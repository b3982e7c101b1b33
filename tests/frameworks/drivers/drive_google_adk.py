"""Google's Agent Development Kit: Gemini itself, and three protocols through LiteLLM."""

from functools import cached_property

from common import add, get_weather, lookup_text, serve
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import Client, types

lookup_text.__name__ = "lookup"
LITELLM = {
    "openai-chat": ("openai/", "/v1"),
    "anthropic": ("anthropic/", ""),
    "ollama": ("ollama_chat/", ""),
}


class Local(Gemini):
    """Gemini at another address."""

    url: str = ""

    @cached_property
    def api_client(self):
        return Client(api_key="k", http_options=types.HttpOptions(base_url=self.url))


def model(cell):
    if cell["protocol"] == "gemini":
        return Local(model=cell["model"], url=cell["base_url"])
    prefix, path = LITELLM[cell["protocol"]]
    return LiteLlm(model=prefix + cell["model"], api_base=cell["base_url"] + path, api_key="k")


async def run(cell):
    agent = LlmAgent(name="a", model=model(cell), tools=[get_weather, add, lookup_text])
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    mode = StreamingMode.SSE if cell["stream"] else StreamingMode.NONE
    message = types.Content(role="user", parts=[types.Part(text=cell["prompt"])])
    text = ""
    async for event in runner.run_async(
        user_id="u",
        session_id=session.id,
        new_message=message,
        run_config=RunConfig(streaming_mode=mode),
    ):
        if event.error_code:
            return {"error": f"{event.error_code}: {event.error_message}"}
        if event.is_final_response() and event.content and event.content.parts:
            text = "".join(part.text or "" for part in event.content.parts if not part.thought)
    return {"text": text}


serve(run)
