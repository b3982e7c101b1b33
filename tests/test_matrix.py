"""What each pair of protocols loses."""

import pytest
from msgspec.structs import replace
from tests.wires import NAMES

from toolglot import get_protocol
from toolglot.matrix import losses, pairs
from toolglot.surface import Surface


def surface(name: str) -> Surface:
    return get_protocol(name).SURFACE


def test_every_ordered_pair_is_there_once():
    assert [(source, target) for source, target, _ in pairs()] == [
        (source, target) for source in NAMES for target in NAMES
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_loses_nothing_to_itself(name):
    assert losses(surface(name), surface(name)) == []


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("openai-chat", "anthropic", "`seed`"),
        ("openai-chat", "anthropic", "several choices"),
        ("openai-chat", "gemini", "system text between messages"),
        ("anthropic", "openai-chat", "order of text and calls"),
        ("anthropic", "openai-responses", "cache marks"),
        ("anthropic", "openai-responses", "`top_k`"),
        ("openai-responses", "anthropic", "tool choice `allowed`"),
        ("openai-chat", "gemini", "`strict`"),
        ("openai-chat", "anthropic", "audio.inline"),
        ("gemini", "ollama", "document.inline"),
    ],
)
def test_what_is_lost(source, target, lost):
    assert lost in losses(surface(source), surface(target))


@pytest.mark.parametrize(
    ("source", "target", "kept"),
    [
        ("openai-chat", "anthropic", "`temperature`"),
        ("anthropic", "openai-chat", "`system`"),
        ("anthropic", "openai-chat", "`strict`"),
        ("openai-chat", "ollama", "tool choice `auto`"),
    ],
)
def test_what_is_not(source, target, kept):
    assert kept not in losses(surface(source), surface(target))


def test_it_follows_from_the_surfaces_alone():
    chat = surface("openai-chat")
    poorer = replace(
        chat, settings={key: path for key, path in chat.settings.items() if key != "seed"}
    )
    assert losses(chat, poorer) == ["`seed`"]
    assert losses(poorer, chat) == []
