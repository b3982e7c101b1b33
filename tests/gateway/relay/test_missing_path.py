"""What servers say of paths and of models that they do not have."""

import json

import pytest

from toolglot.gateway.config import Config, Provider
from toolglot.gateway.relay.missing_path import is_missing_path, wrong_base_url
from toolglot.gateway.relay.providers import make_upstreams

PATHS = [
    "",
    "<!DOCTYPE html><html>Not here</html>",
    "\n<html>",
    "404 page not found",
    "Not Found",
    "Cannot POST /chat/completions",
    {"detail": "Not Found"},
    {"error": "not found"},
    {"error": {"message": "Not Found"}},
    {"error": {"code": "404", "message": "Resource not found"}},
    {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}},
    {"type": "error", "error": {"type": "not_found_error", "message": "Not Found"}},
    {"error": {"message": "Invalid URL (POST /v1/v1/messages)", "type": "invalid_request_error"}},
    {"error": {"message": "Unknown request URL: POST /x. Check it.", "code": "unknown_url"}},
    {"error": {"message": "POST /x: there is nothing here", "code": "unknown_path"}},
    {"timestamp": 1, "status": 404, "error": "Not Found", "path": "/x"},
]
MODELS = [
    {},
    {"error": {"message": "The model `x` does not exist or you do not have access to it."}},
    {"error": {"message": "model 'x' not found", "code": "model_not_found"}},
    {"error": "model 'x' not found, try pulling it first"},
    {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}},
    {"error": {"code": 404, "message": "models/x is not found", "status": "NOT_FOUND"}},
    {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}},
    {"detail": "model x not found"},
    "model x not found",
    ["not found"],
]


def data(body):
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


@pytest.mark.parametrize("body", PATHS, ids=str)
def test_paths(body):
    assert is_missing_path(404, data(body))
    assert not is_missing_path(400, data(body))


@pytest.mark.parametrize("body", MODELS, ids=str)
def test_models(body):
    assert not is_missing_path(404, data(body))


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("http://u:pw@h/p", "/p answered 404 at /p/chat/completions; did you mean http://"),
        ("http://h/v1", "http://h/v1 answered 404 at /v1/chat/completions; `toolglot doctor`"),
    ],
)
def test_what_is_said(base_url, words):
    provider = Provider(protocol="openai-chat", base_url=base_url)
    upstream = make_upstreams(Config(providers={"them": provider}), {})["them"]
    url = upstream.url("openai-chat", "/v1/chat/completions", "m")
    error = wrong_base_url(upstream, "openai-chat", url)
    assert words in error.message
    assert "pw" not in error.message
