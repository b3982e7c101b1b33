"""`CONTRIBUTING.md`, "Adding things", followed to the letter in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
PROVIDER = """
[providers.reef]
title = "Reef"
endpoints = [
  { protocol = "another", base_url = "https://reef.example/v1", source = "x", date = "2026-11-16" },
]
[providers.reef.auth]
header = "Authorization"
prefix = "Bearer "
env = ["REEF_API_KEY"]
source = "reef"
date = "2026-11-16"
[providers.reef.tools]
format = "json"
dialects = ["reef"]
source = "reef"
date = "2026-11-16"
"""
ROW = """    Dialect(
        name="reef",
        models="Reef 1",
        forms=(JsonForm(openers=("<reef>",), closers=("</reef>",)),),
    ),
"""

pytestmark = pytest.mark.slow


def add_provider(package: Path) -> None:
    """One entry in `profiles.toml`."""
    profiles = package / "profiles.toml"
    profiles.write_text(profiles.read_text() + PROVIDER)


def add_dialect(package: Path) -> None:
    """One row in the file of its family."""
    rows = package / "dialects" / "rows" / "tagged.py"
    text = rows.read_text()
    assert text.endswith("    ),\n)\n")
    rows.write_text(text.removesuffix(")\n") + ROW + ")\n")


def add_protocol(package: Path) -> None:
    """One package and one line in the registry."""
    folder = package / "protocols" / "another"
    shutil.copytree(package / "protocols" / "ollama", folder)
    for module in folder.rglob("*.py"):
        text = module.read_text()
        text = text.replace("toolglot.protocols.ollama", "toolglot.protocols.another")
        module.write_text(re.sub(r'(NAME(?:: Final)? = )"ollama"', r'\1"another"', text))
    registry = package / "registry.py"
    # Before the original, so that what looks like both is taken for the copy.
    registry.write_text(re.sub(r"\bollama\b(?=[,)\n])", "another, ollama", registry.read_text()))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package with one provider, one dialect and one protocol more."""
    home = tmp_path_factory.mktemp("copy")
    package = home / "toolglot"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "toolglot", package, ignore=skip)
    for add in (add_provider, add_dialect, add_protocol):
        add(package)
    return home


def run(copy: Path, code: str) -> None:
    """Run some code with the copy in place of the package."""
    prelude = f"""
import json, pathlib, toolglot
assert pathlib.Path(toolglot.__file__).is_relative_to({str(copy)!r}), toolglot.__file__
fixtures = pathlib.Path({str(FIXTURES)!r})
others = [name for name in toolglot.PROTOCOLS if name != "another"]
def body(name, protocol="ollama"):
    return (fixtures / protocol / name).read_bytes()
"""
    done = subprocess.run(
        [sys.executable, "-c", prelude + code],
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr[-3000:]


# --- a provider -----------------------------------------------------------------------------------


def test_a_provider_is_one_entry(copy):
    run(copy, """
profile = toolglot.get_profile("reef")
assert profile.endpoints[0].base_url == "https://reef.example/v1"
from toolglot import profiles
assert "reef" in [each.name for each in profiles.profiles()]
""")  # fmt: skip


# --- a dialect ------------------------------------------------------------------------------------


def test_a_dialect_is_one_row(copy):
    run(copy, """
calls = [{"name": "bell", "arguments": {"times": 2}}, {"name": "tide", "arguments": {}}]
tools = ["bell", "tide"]
text = toolglot.render_calls(calls, "reef", tools)
for dialect in ("reef", "auto"):
    parsed = toolglot.parse_text(text, tools, dialect)
    assert parsed.dialect == "reef"
    assert [call.name for call in parsed.calls] == tools
    assert json.loads(parsed.calls[0].arguments) == {"times": 2}
decoder = toolglot.TextDecoder("auto", tools)
segments = [each for char in text for each in decoder.feed(char)] + decoder.close()
assert decoder.dialect == "reef"
assert toolglot.detect(text) == "reef"
assert "<reef>" in toolglot.render_tools(tools, "reef")
assert "done" in toolglot.render_result({"name": "bell", "content": "done"}, "reef")
request, _ = toolglot.translate_request(
    body("tools.request.json"), source="ollama", target="openai-chat", tools="emulated:reef"
)
assert "<reef>" in json.dumps(request.body)
""")  # fmt: skip


def test_a_dialect_is_listed(copy):
    run(copy, """
import contextlib, io
from toolglot.cli import main
out = io.StringIO()
with contextlib.redirect_stdout(out):
    assert not main(["dialects"])
assert "reef" in out.getvalue()
assert "Reef 1" in out.getvalue()
""")  # fmt: skip


def test_the_tests_of_dialects_take_a_new_row_without_another_entry(copy):
    """Samples and expectations are derived from the row where nobody wrote them by hand."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "reef or has_a_text", "-p", "no:cacheprovider",
         "tests/dialects/test_table.py", "tests/dialects/test_rendering.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(copy), "HYPOTHESIS_PROFILE": "quick"},
        capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


# --- a protocol -----------------------------------------------------------------------------------


def test_a_protocol_is_one_package_and_one_line(copy):
    run(copy, """
assert "another" in toolglot.PROTOCOLS
assert toolglot.get_protocol("another").NAME == "another"
""")  # fmt: skip


def test_a_protocol_translates_requests_with_all_others(copy):
    run(copy, """
given = body("tool_loop.request.json")
for other in others:
    there, _ = toolglot.translate_request(given, source="another", target=other)
    same, _ = toolglot.translate_request(given, source="ollama", target=other)
    if other != "ollama":
        assert there.body == same.body, other
    path = there.path
    back, _ = toolglot.translate_request(there.body, source=other, target="another", path=path)
    assert back.body["messages"], other
    assert back.body["tools"], other
""")  # fmt: skip


def test_a_protocol_translates_responses_with_all_others(copy):
    run(copy, """
given = body("calls.response.json")
wanted = [call["function"]["name"] for call in json.loads(given)["message"]["tool_calls"]]
for other in others:
    there, _ = toolglot.translate_response(given, source="another", target=other)
    back, _ = toolglot.translate_response(there.body, source=other, target="another")
    calls = back.body["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == wanted, other
""")  # fmt: skip


def test_a_protocol_translates_streams_with_all_others(copy):
    run(copy, """
given = body("calls.stream.txt")
def translated(data, source, target):
    translator = toolglot.StreamTranslator(source, target)
    pieces = [data[at:at + 7] for at in range(0, len(data), 7)]
    return b"".join(map(translator.feed, pieces)) + translator.close()
for other in others:
    there = translated(given, "another", other)
    back = translated(there, other, "another")
    assert b'"tool_calls"' in back, other
    assert b'"done":true' in back.replace(b" ", b""), other
""")  # fmt: skip


def test_streams_of_a_protocol_are_linted(copy):
    run(copy, """
assert toolglot.lint_stream(body("calls.stream.txt"), "another") == toolglot.lint_stream(
    body("calls.stream.txt"), "ollama")
""")  # fmt: skip


def test_calls_of_a_protocol_are_parsed(copy):
    run(copy, """
given = json.loads(body("calls.response.json"))
names = [call["function"]["name"] for call in given["message"]["tool_calls"]]
assert [call.name for call in toolglot.parse_tool_calls(given, "another")] == names
""")  # fmt: skip


def test_a_parser_of_a_provider_reads_its_protocol_and_its_dialect(copy):
    run(copy, """
given = json.loads(body("calls.response.json"))
names = [call["function"]["name"] for call in given["message"]["tool_calls"]]
parser = toolglot.get_parser("reef")
assert [call.name for call in parser.parse(given)] == names
assert [call.name for call in parser.parse(given["message"]["tool_calls"][0])] == names[:1]
words = '<reef>{"name": "bell", "arguments": {}}</reef>'
assert [call.name for call in parser.parse(words)] == ["bell"]
""")  # fmt: skip


def test_discovery_recognises_a_protocol(copy):
    run(copy, """
from toolglot.discovery import read_sample
for name in ("calls.response.json", "calls.stream.txt"):
    assert read_sample(body(name)).protocol == "another"
""")  # fmt: skip


def test_a_gateway_takes_a_provider_of_a_protocol(copy):
    run(copy, """
import tempfile
from toolglot.gateway.config import load_config
from toolglot.gateway.relay.providers import make_upstreams
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "toolglot.toml"
    path.write_text('[providers.reef]\\nprofile = "reef"\\napi_key = "env:REEF_API_KEY"\\n'
        '[providers.other]\\nprotocol = "another"\\nbase_url = "http://127.0.0.1:1/v1"\\n')
    config = load_config(path, {"REEF_API_KEY": "k"})
upstreams = make_upstreams(config, {"REEF_API_KEY": "k"})
assert {"reef", "other"} <= set(upstreams)
""")  # fmt: skip


def test_protocols_of_the_copy_stay_independent():
    """No contract has to name a new protocol, or a new engine."""
    text = (ROOT / "pyproject.toml").read_text()
    assert 'modules = ["toolglot.protocols.*"]' in text
    assert 'modules = ["toolglot.dialects.engines.*"]' in text
