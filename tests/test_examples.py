"""Every example runs by itself and prints what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

PROMISED = {
    "chat_with_functions": [
        "`tide_table` answered:",
        "4 messages, 2 rounds",
    ],
    "check_requests": [
        "openai-chat: 2 findings",
        "the tool tide_table has no description",
        "the call call_1 of tide_table has no result",
        "openai-responses: 0 findings",
    ],
    "sdk_on_another_provider": [
        "tide_table({'harbour': ",
    ],
    "tool_loop": [
        'tide_table({"harbour": "Lindis"})',
        "low water 11:40; low water 13:05.",
    ],
    "translate_request": [
        "POST /v1/responses",
        '"instructions": "You know the tides."',
        "unsupported: field-dropped at top_k",
        "Refused: top_k",
    ],
    "translate_stream": [
        "event: message_start",
        "when the flood comes ☾",
        '"partial_json":"\\"Lindis\\"}"',
        "event: message_stop",
        "Rules broken: none",
    ],
}


def test_every_example_is_run():
    assert sorted(PROMISED) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_runs_anywhere_and_prints_what_it_promises(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    places = [said.find(words) for words in PROMISED[name]]
    assert -1 not in places, said
    assert places == sorted(places), "in this order"
