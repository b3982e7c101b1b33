"""LangChain and LangGraph: five protocols, each with its integration package."""

from common import add, get_weather, lookup_text, serve
from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain.tools import tool
from pydantic import BaseModel


class Place(BaseModel):
    """A place and its temperature."""

    city: str
    degrees: int


lookup_text.__name__ = "lookup"
TOOLS = [tool(each) for each in (get_weather, add, lookup_text)]


def model(cell):
    url, name = cell["base_url"], cell["model"]
    more = {"max_retries": 0}
    if cell["protocol"] == "anthropic":
        return init_chat_model(name, model_provider="anthropic", base_url=url, api_key="k", **more)
    if cell["protocol"] == "gemini":
        return init_chat_model(
            name, model_provider="google_genai", base_url=url, api_key="k", max_retries=1
        )
    if cell["protocol"] == "ollama":
        return init_chat_model(name, model_provider="ollama", base_url=url)
    return init_chat_model(
        name,
        model_provider="openai",
        base_url=url + "/v1",
        api_key="k",
        use_responses_api=cell["protocol"] == "openai-responses",
        **more,
    )


async def run(cell):
    chat = model(cell)
    content = [{"type": "text", "text": cell["prompt"]}]
    if cell["image"]:
        content.append({"type": "image", "base64": cell["image"], "mime_type": "image/png"})
    messages = [{"role": "user", "content": content}]
    if cell["scenario"] == "schema":
        made = await chat.with_structured_output(Place).ainvoke(messages)
        return {"object": made.model_dump()}
    agent = create_agent(chat, [] if cell["image"] else TOOLS)
    if cell["stream"]:
        state = None
        async for mode, state_ in agent.astream(
            {"messages": messages}, stream_mode=["messages", "values"]
        ):
            if mode == "values":
                state = state_
    else:
        state = await agent.ainvoke({"messages": messages})
    return {"text": state["messages"][-1].text}


serve(run)
