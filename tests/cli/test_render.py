"""`toolglot render`: tools, calls and results as text."""

import json

import pytest

from toolglot.dialects.rendering import render_calls, render_tools
from toolglot.dialects.table import DIALECTS

TOOLS = [{"name": "tide", "input_schema": {"properties": {"port": {"type": "string"}}}}]
CALLS = [{"name": "tide", "arguments": {"port": "Brest"}}]


@pytest.fixture
def file(tmp_path):
    """A file of JSON, or of what is given as text."""

    def write(name, value):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("dialect", DIALECTS)
def test_samples_are_shown_without_files(cli, dialect):
    done = cli("render", "--dialect", dialect)
    assert (done.code, done.err) == (0, "")
    shown = done.out.decode()
    assert shown.index("<tools>") < shown.index("Bergen") < shown.rindex("Rain, 7 °C")


def test_files_are_shown(cli, file):
    tools, calls = file("tools.json", {"tools": TOOLS}), file("calls.json", {"tool_calls": CALLS})
    told = render_tools(TOOLS, "glm45")
    written = render_calls(CALLS, "glm45", TOOLS)
    command = ("render", "--dialect", "glm45")
    assert cli(*command, "--tools", tools).out.decode() == f"{told}\n"
    assert cli(*command, "--calls", calls).out.decode() == f"{written}\n"
    both = cli(*command, "--tools", tools, "--calls", calls)
    assert both.out.decode() == f"{told}\n\n{written}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "calls.json: "),
        ("7", "calls.json: no list of calls"),
        ("[7]", "calls: a call has no name"),
        ("{}", "no"),
    ],
)
def test_bad_files_are_named(cli, file, text, message):
    done = cli("render", "--dialect", "hermes", "--calls", file("calls.json", text))
    assert (done.code, done.out) == (1, b"")
    assert message in done.err


def test_what_cannot_be_said_is_an_error(cli, file):
    calls = file("calls.json", [{"name": "f", "arguments": {"x": {"y": 1}}}])
    done = cli("render", "--dialect", "cline_xml", "--calls", calls)
    assert done.code == 1
    assert "cline_xml cannot express the call of 'f'" in done.err


def test_wrong_use(cli):
    assert cli("render").code == 2
    assert cli("render", "--dialect", "volapuek").code == 2
    assert "toolglot render --dialect hermes" in cli("render", "--help").out.decode()
