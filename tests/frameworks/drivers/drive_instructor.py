"""instructor: structured output, in the way that it chooses for each vendor."""

import anthropic
import instructor
import openai
from common import serve
from google import genai
from google.genai import types
from pydantic import BaseModel


class Place(BaseModel):
    city: str
    degrees: int


def client(cell):
    url = cell["base_url"]
    if cell["protocol"] == "anthropic":
        return instructor.from_anthropic(
            anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
        )
    if cell["protocol"] == "gemini":
        options = types.HttpOptions(base_url=url)
        return instructor.from_genai(genai.Client(api_key="k", http_options=options))
    return instructor.from_openai(openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0))


def run(cell):
    more = {"max_tokens": 500} if cell["protocol"] == "anthropic" else {}
    made = client(cell).chat.completions.create(
        model=cell["model"],
        messages=[{"role": "user", "content": cell["prompt"]}],
        response_model=Place,
        max_retries=0,
        **more,
    )
    return {"object": made.model_dump()}


serve(run)
