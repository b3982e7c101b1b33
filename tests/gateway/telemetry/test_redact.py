"""Secrets never show, whatever they stand in."""

import pytest

from toolglot.gateway.telemetry.redact import mask, redact_headers, redact_url, scrub

SECRETS = (
    "sk-ant-api03-Zm9vYmFyYmF6cXV4-0123456789abcd",
    "sk-proj-0123456789abcdefABCD",
    "AIzaSyA0123456789abcdefghijklmnopqrstu",
    "gsk_0123456789abcdefghijABCD",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXRleHQ",
)
HEADERS = (
    "authorization",
    "Authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "cookie",
    "set-cookie",
    "proxy-authorization",
    "x-amz-security-token",
)


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("sk-0123456789abcdef", "sk-…cdef"),
        ("0123456789abcdefghij", "…ghij"),
        ("short", "…"),
        ("", "…"),
        ("Bearer sk-0123456789abcdef", "Bearer sk-…cdef"),
    ],
)
def test_mask(secret, shown):
    assert mask(secret) == shown


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("secret", SECRETS)
def test_secret_headers_are_masked(header, secret):
    for value in (secret, f"Bearer {secret}", f"session={secret}; theme=dark"):
        assert secret not in str(redact_headers({header: value, "accept": "*/*"}))


def test_other_headers_stay():
    headers = {
        "content-type": "application/json",
        "anthropic-ratelimit-tokens-remaining": "4000",
        "x-request-id": "req_1",
    }
    assert redact_headers(headers) == headers


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "url",
    [
        "https://host/v1beta/models/m:generateContent?key={}",
        "https://host/x?alt=sse&key={}&a=b",
        "https://host/x?api_key={}",
        "https://host/x?api-key={}#top",
        "https://host/x?access_token={}",
        "https://user:{}@host/x",
    ],
)
def test_secrets_in_urls_are_masked(url, secret):
    shown = redact_url(url.format(secret))
    assert secret not in shown
    assert "host" in shown


def test_the_rest_of_a_url_stays():
    assert redact_url("https://host/x?alt=sse&monkey=1") == "https://host/x?alt=sse&monkey=1"


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "cannot reach https://host/x?key={} (timeout)",
        "Incorrect API key provided: {}.",
        "headers: {{'Authorization': 'Bearer {}'}}",
        "x-api-key: {}",
        '{{"api-key":"{}"}}',
        "Bearer {}, Bearer {}",
    ],
)
def test_nothing_slips_through_free_text(text, secret):
    assert secret not in scrub(text.format(secret, secret))


def test_unprefixed_secrets_are_known_by_their_place():
    for text in ("Authorization: {}", "Bearer {}", "?key={}", "x-api-key={}"):
        assert "0123456789abcdef01" not in scrub(text.format("0123456789abcdef01"))


@pytest.mark.parametrize("text", ["req_0123", "claude-sonnet-5", "gpt-6.1 said no", "task-list ok"])
def test_ordinary_words_stay(text):
    assert scrub(text) == text


def test_secrets_in_headers_of_other_names_are_masked_by_their_looks():
    shown = redact_headers({"x-note": "use Bearer abcdefghijklmnopqrstuv"})
    assert "abcdefghij" not in shown["x-note"]
    assert shown["x-note"].startswith("use Bearer ")
