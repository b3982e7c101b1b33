"""Virtual keys: their tokens, their validity and the models that they allow."""

import pytest

from toolglot.gateway.access.virtual_keys import VirtualKey, hash_token, new_token


def test_tokens_are_random_and_not_stored():
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == len(set(map(hash_token, tokens))) == 50
    assert all(token.startswith("tg-") for token in tokens)
    assert hash_token("\ud800") != hash_token("")


@pytest.mark.parametrize(
    ("terms", "valid"),
    [
        ({}, True),
        ({"expires": 10.5}, True),
        ({"expires": 10.0}, False),
        ({"revoked": 11.0}, False),
    ],
)
def test_a_key_is_valid_until_it_expires_or_is_revoked(terms, valid):
    assert VirtualKey(id="", name="", created=0.0, **terms).is_valid(10.0) is valid


@pytest.mark.parametrize(
    ("globs", "model", "allowed"),
    [
        ((), "anything", True),
        (("gpt-*",), "gpt-9", True),
        (("gpt-*",), "my-gpt-9", False),
        (("gpt-*",), "GPT-9", False),
        (("claude-*", "o?"), "o3", True),
        (("openrouter/*",), "openrouter/meta/llama", True),
    ],
)
def test_globs_say_which_models_a_key_may_ask_for(globs, model, allowed):
    assert VirtualKey(id="", name="", created=0.0, models=globs).allows(model) is allowed
