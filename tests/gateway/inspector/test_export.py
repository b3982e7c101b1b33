"""The files of the page, one HTML file of all, and recordings without a gateway."""

import asyncio
import gzip
import hashlib
import json
import re
from pathlib import Path

import aiohttp
import pytest
from tests.gateway.handling import handling
from tests.gateway.inspector.scenes import dies, inspected, work

from toolglot.cli.replay import recordings
from toolglot.gateway.inspector.export import export_page
from toolglot.gateway.inspector.folder_app import FolderApp
from toolglot.gateway.inspector.from_recordings import captures_from
from toolglot.gateway.inspector.grouping import conversations
from toolglot.gateway.inspector.page_files import SCRIPTS, STYLE, page_file, page_response

PAGE = Path(__file__).parents[3] / "src/toolglot/gateway/inspector/page"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123"
NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recordings of an agent, which said a key and something nasty, and of one that died."""
    where = tmp_path_factory.mktemp("recordings")

    async def run():
        async with inspected(record=str(where)) as session:
            await work(session, turns=3, title=f"tide {KEY} {NASTY}")
            await dies(session)

    asyncio.run(run())
    return where


@pytest.fixture(scope="module")
def captures(folder):
    return captures_from(recordings(folder))


def embedded(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode())
    return json.loads(found[1])


def test_recordings_are_exchanges_with_their_receipts_and_bridges(captures):
    agent, dead = conversations(captures.of(""))
    assert len(agent.turns) == 3
    third = agent.turns[2].exchange
    assert [each.reason for each in third.attempts] == ["first", "fallback"]
    assert third.attempt.model == "gpt-5.4"
    assert third.stops == ("tool_calls",)
    assert third.attempt.notes < len(third.notes)
    kinds = [each.verdicts[0].kind for each in agent.turns[2].facts.answer.calls]
    assert kinds == ["repaired", "valid", "unknown"]
    assert dead.last.failed


def test_one_file_has_everything_and_asks_for_nothing(captures):
    page = export_page(conversations(captures.of("")), {"protocols": [], "models": []})
    data = embedded(page)
    assert [row["state"] for row in data["sessions"]] == ["dead", "calls"]
    assert len(data["exchange"]) == 4
    assert data["session"]["1"]["call_list"][3]["verdict"]["kind"] == "repaired"
    assert not re.search(rb'(?:src|href)="', page), "nothing is loaded"
    assert KEY.encode() not in page
    assert b"tide sk-\\u2026" in page or "tide sk-…".encode() in page
    assert NASTY.encode() not in page
    assert page.count(b"</script>") == 2
    assert b"default-src 'none'; script-src 'sha256-" in page


def test_what_was_said_can_be_left_out(captures):
    page = export_page(conversations(captures.of("")), {"protocols": []}, redact=True)
    text = page.decode()
    for said in ("tide", "You are an agent", "AssertionError", "pytest", "todos"):
        assert said not in text.partition('id="data">')[2].partition("</script>")[0]
    data = embedded(page)
    row = data["session"]["1"]["call_list"][3]
    assert (row["name"], row["verdict"]["kind"]) == ("Edit", "repaired")
    assert row["given"]["arguments"] == f"[{row['given']['size']} characters]"


def test_a_folder_is_served_like_a_gateway(captures):
    async def run():
        app = FolderApp(captures, "recordings")
        async with handling(app.handle) as url, aiohttp.ClientSession(url) as session:
            async with session.get("/toolglot/api/v1/sessions") as reply:
                rows = (await reply.json())["sessions"]
            async with session.get("/toolglot/") as reply:
                page, policy = await reply.text(), reply.headers["Content-Security-Policy"]
            async with session.get("/v1/models") as reply:
                other = reply.status
            async with session.get("/toolglot/api/v1/exchanges/1/stream") as reply:
                stream = await reply.json()
        return rows, page, policy, other, stream

    rows, page, policy, other, stream = asyncio.run(run())
    assert [row["turns"] for row in rows] == [1, 3]
    assert "app.js" in page
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert other == 404
    assert stream["client"]["events"]


# --- the files ------------------------------------------------------------------------------------


def test_the_vendored_library_is_what_it_says():
    file = PAGE / "vendor/htm-preact-standalone.js"
    told = re.search(r"sha256 (\w{64})", (PAGE / "vendor/README.md").read_text())[1]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == told
    licences = (PAGE / "vendor/LICENCES.txt").read_text()
    assert "Apache License" in licences
    assert "The MIT License (MIT)" in licences


def test_the_page_is_small():
    packed = sum(len(gzip.compress(page_file(name))) for name in ("index.html", STYLE, *SCRIPTS))
    assert packed < 40_000, "80 KB is what it may ever have"


def test_modules_are_listed_in_the_order_of_their_imports():
    for at, name in enumerate(SCRIPTS):
        text = page_file(name).decode()
        for needed in re.findall(r'from "\./([^"]+)"', text):
            assert needed in SCRIPTS[:at], f"{name} needs {needed} before it"
    assert {path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*.js")} == set(SCRIPTS)


def test_names_at_the_top_of_modules_are_unique():
    """In one file they are one module."""
    found = [
        name
        for module in SCRIPTS[1:]
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)",
            page_file(module).decode(),
            re.MULTILINE,
        )
    ]
    assert len(found) == len(set(found))


def test_no_module_writes_html_or_evaluates_text():
    for name in SCRIPTS[1:]:
        text = page_file(name).decode()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|dangerously|\beval\b|https?:", text
        )


def test_files_are_asked_for_once():
    first = page_response("app.js")
    again = page_response("app.js", first.headers["ETag"])
    assert (first.status, again.status) == (200, 304)
    assert page_response("../inspector_api.py") is None
    assert page_response("vendor/README.md") is None
