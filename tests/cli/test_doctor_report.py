"""The report of the doctor: verdicts, and nothing that is anybody's secret."""

from datetime import UTC, datetime

from toolglot.cli.doctor_report import report_lines
from toolglot.gateway.checks.provider_check import ProviderReport
from toolglot.gateway.checks.tool_loop import ToolLoopResult
from toolglot.gateway.config import Config, Provider

SECRETS = ("sk-0123456789abcdefgh", "secret-project", "10.1.2.3", "org-acme", "me@acme.example")
CONFIG = Config(
    providers={
        "secret-project": Provider(
            protocol="gemini", base_url="http://10.1.2.3/v1beta", api_key="sk-0123456789abcdefgh"
        ),
        "work": Provider(profile="openai", api_key="env:KEY"),
        "gone": Provider(profile="groq"),
    }
)
FAILED = ToolLoopResult(
    protocol="gemini",
    stream=True,
    works=False,
    kind="authentication",
    reason="key sk-0123456789abcdefgh of org-acme (me@acme.example) is wrong at http://10.1.2.3",
)
FOUND = (
    ProviderReport(
        name="secret-project",
        url="http://10.1.2.3/v1beta",
        reached=True,
        model="m",
        outcomes=(ToolLoopResult(protocol="gemini", stream=False, works=True), FAILED),
    ),
    ProviderReport(name="gone", url="https://api.groq.com", reason="org-acme is not known"),
)


def text():
    clients = {"claude": "2.1.197", "codex": None}
    now = datetime(2026, 11, 16, tzinfo=UTC)
    return "\n".join(report_lines(CONFIG, FOUND, {"toolglot": "0.1"}, clients, now=now))


def test_verdicts():
    said = text()
    assert said.startswith("toolglot 0.1, ")
    assert "2026-11-16\nclients: claude 2.1.197\n" in said
    assert "| a server of gemini | m | gemini | whole | works |" in said
    assert "| a server of gemini | m | gemini | stream | fails (authentication) |" in said
    assert "| groq | | | | not reached |" in said


def test_no_secret_and_no_words_of_others():
    said = text()
    assert [secret for secret in SECRETS if secret in said] == []


def test_as_a_command(cli, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = cli("doctor", "--provider", "demo", "--report")
    assert done.code == 0
    assert b"| demo | toolglot-demo | ollama | stream | works |" in done.out
    assert str(tmp_path).encode() not in done.out
