"""LlamaIndex: four protocols, each with its integration package."""

import base64

from common import add, get_weather, lookup, serve
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.google_genai import GoogleGenAI
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai import OpenAI, OpenAIResponses


def model(cell):
    url, name = cell["base_url"], cell["model"]
    if cell["protocol"] == "gemini":
        return GoogleGenAI(
            model=name,
            api_key="k",
            http_options={"base_url": url},
            max_retries=1,
            context_window=100_000,
        )
    if cell["protocol"] == "ollama":
        return Ollama(model=name, base_url=url, request_timeout=30, context_window=8000)
    kind = OpenAI if cell["protocol"] == "openai-chat" else OpenAIResponses
    return kind(model=name, api_base=url + "/v1", api_key="k", max_retries=0)


async def run(cell):
    blocks = [TextBlock(text=cell["prompt"])]
    if cell["image"]:
        picture = base64.b64decode(cell["image"])
        blocks.append(ImageBlock(image=picture, image_mimetype="image/png"))
        message = ChatMessage(role="user", blocks=blocks)
        if cell["stream"]:
            text = ""
            async for piece in await model(cell).astream_chat([message]):
                text += piece.delta or ""
            return {"text": text}
        return {"text": (await model(cell).achat([message])).message.content}
    tools = [FunctionTool.from_defaults(each) for each in (get_weather, add, lookup)]
    agent = FunctionAgent(tools=tools, llm=model(cell), streaming=cell["stream"])
    handler = agent.run(user_msg=ChatMessage(role="user", blocks=blocks))
    async for _ in handler.stream_events():
        pass
    return {"text": str(await handler)}


serve(run)
