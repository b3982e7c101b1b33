"""Where something stands in a file."""

from pathlib import Path

import pytest

from toolglot.gateway.toml_lines import located

TEXT = """\
[server]
port = 1

[providers."a b"]
"base_url" = "x"
timeouts = { connect = 1 }

[[routes]]
match = "a"
[[routes]]
match = "b"
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("server.port", 2),
        ("server.prot", 1),
        ("providers.a b.base_url", 5),
        ("providers.a b.timeouts.connect", 6),
        ("routes[1].match", 11),
        ("routes[1].to[0]", 10),
    ],
)
def test_the_line_of_a_key_or_of_what_is_around_it(key, line):
    assert located(Path("it.toml"), TEXT, key, "bad") == f"it.toml:{line}: {key}: bad"


def test_what_stands_nowhere_has_no_line():
    assert located(Path("it.toml"), TEXT, "nowhere", "bad") == "it.toml: nowhere: bad"
