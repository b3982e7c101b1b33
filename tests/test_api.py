"""What protocols declare beside their codecs."""

import json
from pathlib import Path

import pytest
from tests.laws.corpus import FIXTURES, NAMES, fixture_id

from toolglot.api import CountEndpoint, ModelInfo, listed_models
from toolglot.errors import DecodeError
from toolglot.profiles import get_profile
from toolglot.registry import PROTOCOLS, default_auth, get_protocol, guess_caller

VENDORS = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini-interactions": "google",
    "gemini": "google",
    "ollama": "ollama",
    "bedrock-converse": "bedrock",
}
RESPONSES = [
    (name, file) for name in NAMES for file in sorted((FIXTURES / name).glob("*.response.json"))
]


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_sent_as_the_vendor_wants_them(name):
    declared, vendor = default_auth(name), get_profile(VENDORS[name]).auth
    assert (declared.header, declared.prefix, dict(declared.headers)) == (
        vendor.header,
        vendor.prefix,
        dict(vendor.headers),
    )


@pytest.mark.parametrize(
    ("path", "headers", "query", "name"),
    [
        ("/v1/models", (), (), "openai-chat"),
        ("/v1/models", ("anthropic-version",), (), "anthropic"),
        ("/messages/nothing", (), (), "anthropic"),
        ("/v1/models", ("x-goog-api-client",), (), "gemini"),
        ("/v1beta/models", (), (), "gemini"),
        ("/v1beta/interactions/v1_1", ("x-goog-api-client",), (), "gemini-interactions"),
        ("/api/tags", (), (), "ollama"),
        ("/v1/models/api/7b", (), (), "openai-chat"),
        ("/v1/responses/resp_1", (), (), "openai-responses"),
        ("/v1/models", (), ("client_version",), "openai-responses"),
        ("/", (), (), "openai-chat"),
    ],
)
def test_clients_are_recognised_by_what_only_they_send(path, headers, query, name):
    assert guess_caller(path, headers, query) == name


@pytest.mark.parametrize(("name", "file"), RESPONSES, ids=fixture_id)
def test_responses_and_errors_are_recognised(name: str, file: Path) -> None:
    """An answer is recognised by its own protocol and no other, or it is an error."""
    value = json.loads(file.read_bytes())
    value = value.get("body", value)
    if get_protocol(name).API.is_response(value):
        others = [each for each in NAMES if PROTOCOLS[each].API.is_response(value)]
        assert others == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_models_can_be_read_back(name):
    api, models = get_protocol(name).API, [ModelInfo(name="a/b"), ModelInfo(name="c")]
    value = api.model_list(models)
    assert (
        api.model(models[1])
        == value[next(key for key in ("data", "models", "modelSummaries") if key in value)][1]
    )
    if name != "openai-responses":  # Codex has a key of its own for names.
        assert list(listed_models(value)) == ["a/b", "c"]
        shown = [
            n
            for n in NAMES
            if PROTOCOLS[n].API.is_listed_model(next(iter(listed_models(value).values())))
        ]
        # One list of models serves both of Google's protocols.
        assert shown in ([], ["gemini" if name == "gemini-interactions" else name])


def test_lists_of_models_of_any_shape_are_read():
    assert list(listed_models({"data": [{"id": "a"}, {"id": 7}, {"id": "a"}, {"id": "b\n"}]})) == [
        "a"
    ]
    assert list(listed_models({"models": [{"name": "models/a"}]})) == ["a"]
    assert [listed_models(value) for value in (None, [], {}, {"data": {}}, {"data": [None]})] == [
        {}
    ] * 5


def test_where_and_how_tokens_are_counted():
    plain = CountEndpoint(path="/v1/count", answer="tokens", keys=frozenset({"a"}))
    assert plain.path_for("/v1/messages") == "/v1/count"
    assert plain.body({"a": 1, "b": 2}, "m") == {"a": 1}
    assert plain.unwrap({"b": 2}) == {"b": 2}
    count = get_protocol("gemini").API.count
    assert count is not None
    assert count.path_for("/v1beta/models/m:generateContent") == "/v1beta/models/m:countTokens"
    wrapped = count.body({"contents": []}, "m")
    assert wrapped == {"generateContentRequest": {"model": "models/m", "contents": []}}
    assert count.unwrap(wrapped) == wrapped["generateContentRequest"]
    with pytest.raises(DecodeError, match="generateContentRequest: expected object"):
        count.unwrap({"generateContentRequest": 7})


@pytest.mark.parametrize("name", NAMES)
def test_the_least_facts_of_an_api(name):
    api = get_protocol(name).API
    assert all(header == header.lower() for header in api.client_headers)
    assert api.sdk
    assert api.calls_at
    assert api.answer_keys


def test_one_protocol_is_assumed_and_each_has_its_rank():
    apis = [codec.API for codec in PROTOCOLS.values()]
    assert sum(api.assumed for api in apis) == 1
    assert len({api.imitated for api in apis}) == len(apis)
