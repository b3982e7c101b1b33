"""The page of the inspector in a real browser, over a gateway in which agents have worked."""

import http.client
import json
import re
import shutil
from contextlib import asynccontextmanager

import pytest
from tests.gateway.inspector.scenes import (
    STEPS,
    answer,
    call,
    chats,
    dies,
    inspected,
    picture,
    work,
)
from tests.gateway.running import in_thread

from toolglot import ir
from toolglot.gateway.config import Inspector
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
    pytest.mark.slow,
]
FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-gpu")
NASTY = (
    "\u202eevil\u202c \u0000 \u2028",
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>",
    "<svg/onload=window.pwned=1>",
    "javascript:window.pwned=1",
    '"><b onmouseover=window.pwned=1>x</b>',
    "&lt;img src=x onerror=window.pwned=1&gt;",
)
WIDE = "w" * 1_000_000


@asynccontextmanager
async def played():
    """The address of a gateway in which several conversations took place."""
    spoiled = json.dumps({"command": "".join(NASTY)})
    nasty = (
        answer(ir.Text(text="".join(NASTY)), call("Bash", spoiled, "n1")),
        answer(ir.Text(text=WIDE)),
    )
    drawn = (answer(call("Bash", '{"command":"draw"}', "p1")), answer(ir.Text(text="Drawn.")))
    async with inspected(steps=(*STEPS, *nasty, *drawn)) as session:
        await work(session)
        other = {"User-Agent": "<b>cli</b>/1.0"}
        await work(session, title=f"Say {''.join(NASTY)}", headers=other)
        await picture(session)
        await dies(session)
        await chats(session, "hello", 2)
        yield str(session._base_url).rstrip("/")


@pytest.fixture(scope="module")
def url():
    with in_thread(played) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(10_000)
    problems = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    made.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    yield made
    made.close()
    assert problems == []


def asked(url, path):
    """What the API says."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    connection.request("GET", "/toolglot/api/v1" + path)
    data = connection.getresponse().read()
    connection.close()
    return json.loads(data)


def opened(page, url, place):
    page.goto(f"{url}/toolglot/#/{place}")
    page.wait_for_selector(".view > *")
    return page


def session_called(url, words):
    rows = asked(url, "/sessions")["sessions"]
    return next(row for row in rows if words in row["title"])


def test_the_ledger_has_a_row_for_each_call_of_the_receipts(page, url):
    opened(page, url, "1/calls")
    page.wait_for_selector("#calls .row")
    rows = asked(url, "/sessions/1")["call_list"]
    shown = page.locator("#calls .row")
    assert shown.count() == len(rows) == 8
    for at, row in enumerate(rows):
        text = shown.nth(at).inner_text()
        assert row["given"]["name"] in text
        assert row["given"]["id"] in text
        assert row["verdict"]["kind"] in text
        assert row["result"]["text"].splitlines()[0][:20] in text
    shown.nth(3).click()
    detail = page.locator(".detail")
    assert '"replace_all": "false"' in detail.locator(".changed").first.inner_text()
    assert '"replace_all": false' in detail.locator(".changed").last.inner_text()
    assert "arguments-repaired" in detail.inner_text()


def test_sessions_turns_and_death_are_seen_at_once(page, url):
    opened(page, url, "1/calls")
    page.wait_for_selector("#sessions .row")
    text = page.locator("#sessions").inner_text()
    assert "dead" in text
    assert "broke off" in text
    assert page.locator(".strip .turn").count() == 6
    assert "mended" in page.locator(".strip .turn").nth(2).inner_text()


def test_bridges_are_those_of_the_receipt(page, url):
    opened(page, url, "1/translation/3")
    page.wait_for_selector(".bridge path")
    exchange = asked(url, "/exchanges/3")
    drawn = page.eval_on_selector_all(
        ".bridge path", "all => all.map(e => [+e.dataset.note, e.dataset.source, e.dataset.target])"
    )
    placed = [each for each in exchange["bridges"] if each["source"] or each["target"]]
    assert sorted(drawn) == sorted(
        [each["note"], each["source"] or "", each["target"] or ""] for each in placed
    )
    assert len(placed) > 4
    for each in placed:
        for side, end in (("from", "source"), ("to", "target")):
            if each[end]:
                line = page.locator(f'.tree[data-side={side}] [data-path="{each[end]}"]').first
                assert line.is_visible()
    notes = page.locator("aside .note")
    assert notes.count() == len(exchange["receipt"])
    assert "Use 'max_completion_tokens' instead" in page.locator(".attempts").inner_text()
    page.keyboard.press("r")
    page.wait_for_selector("pre.raw >> text=event: message_start")


def test_what_models_and_tools_wrote_is_never_html(page, url):
    session = session_called(url, "<img src=x")
    opened(page, url, f"{session['id']}/calls")
    page.wait_for_selector("#calls .row")
    for key in "12345":
        page.keyboard.press(key)
        page.wait_for_selector(".view > *")
        page.wait_for_timeout(30)  # For what an attack would need to run.
        assert page.evaluate("window.pwned") is None
        assert page.locator("#app img, #app script, #app b:not(.brand, .s b)").count() == 0
    title = page.locator("main h1").inner_text()
    assert "<img src=x onerror=window.pwned=1>" in title
    assert "⟨U+202E⟩evil⟨U+202C⟩" in title
    page.keyboard.press("2")
    page.wait_for_selector(".tree")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_line_of_a_megabyte_is_cut(page, url):
    session = session_called(url, "<img src=x")
    last = session["strip"][-1]["exchange"]
    opened(page, url, f"{session['id']}/translation/{last}")
    page.wait_for_selector(".tree")
    page.fill(".tools input[type=search]", "wwwww")
    page.wait_for_selector("text=1000000 characters")
    assert len(page.content()) < 300_000


def test_everything_can_be_done_with_keys(page, url):
    opened(page, url, "1/calls")
    page.wait_for_selector("#calls .row.on")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("#calls .row").nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    page.wait_for_selector(".tree")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Translation"
    page.keyboard.press("]")
    page.wait_for_selector(".turn.on >> text=2 ·")
    page.keyboard.press("3")
    page.wait_for_selector("#events-upstream .row")
    page.keyboard.press("/")
    page.keyboard.type("tool:Edit verdict:repaired")
    page.wait_for_function("document.querySelectorAll('#sessions .row').length === 1")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("[role=dialog]")
    page.keyboard.press("Escape")
    assert page.locator("[role=dialog]").count() == 0
    page.keyboard.press("1")
    page.wait_for_selector("#calls")


def test_a_new_exchange_appears_by_itself(page, url):
    opened(page, url, "1/calls")
    page.wait_for_selector(".live:not(.off)")
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    body = {"model": "demo", "messages": [{"role": "user", "content": "just now"}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    connection.getresponse().read()
    connection.close()
    page.wait_for_selector("#sessions >> text=just now")


def test_pictures_streams_doctor_and_what_if_are_shown(page, url):
    session = session_called(url, "draw the harbour")
    opened(page, url, f"{session['id']}/calls")
    page.wait_for_selector("img.picture")
    opened(page, url, "1/stream/3")
    page.wait_for_selector("#events-client .row")
    page.locator("#events-client .row").first.click()
    page.wait_for_selector(".one-event >> text=message_start")
    page.keyboard.press("4")
    page.wait_for_selector("text=nothing is wrong")
    page.keyboard.press("5")
    page.select_option("select", "gemini")
    page.click("text=show what would be sent")
    page.wait_for_selector(".tree >> text=contents")
    page.keyboard.press("Escape")
    page.keyboard.press("6")
    page.wait_for_selector("td >> text=gpt-5.4")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_people_out(browser, url, theme):
    """The rules of WCAG 2.1 A and AA that a program can check."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    # The page's own policy allows no script that axe would add.
    page = browser.new_page(
        viewport={"width": 1280, "height": 800}, color_scheme=theme, bypass_csp=True
    )
    views = [("calls", "#calls .row"), ("translation/3", ".bridge path")]
    if theme == "light":
        views += [("stream/3", "#events-client .row"), ("numbers", "td")]
    for view, wait in views:
        opened(page, url, f"1/{view}")
        page.wait_for_selector(wait)
        found = axe.Axe().run(page, options=rules).response["violations"]
        told = [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]
        assert told == [], view
    page.close()


def test_a_phone_shows_one_thing_at_a_time(browser, url):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    opened(page, url, "1/calls")
    page.wait_for_selector("#calls .row")
    assert not page.locator("nav").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("text=sessions")
    page.locator("#sessions .row").last.click()
    page.wait_for_selector("nav", state="hidden")
    page.close()


def test_one_file_works_without_a_gateway_or_a_network(page, url, tmp_path):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.request("GET", "/toolglot/api/v1/export")
    data = connection.getresponse().read()
    connection.close()
    file = tmp_path / "report.html"
    file.write_bytes(data)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{file.as_uri()}#/1/calls")
    page.wait_for_selector("#calls .row")
    assert page.locator("#calls .row").count() == 8
    page.keyboard.press("2")
    page.wait_for_selector(".bridge path")
    page.keyboard.press("3")
    page.wait_for_selector("#events-client .row")
    assert [each for each in requests if not each.startswith(("file:", "data:"))] == []
    assert page.evaluate("window.pwned") is None


def test_a_tenant_sees_its_own_and_a_stranger_is_asked_for_a_key(browser, tmp_path):
    file = tmp_path / "keys.db"
    with database(file) as db:
        tokens = {name: create_key(db, name, 0.0, inspect=True)[0] for name in ("one", "two")}

    @asynccontextmanager
    async def two_tenants():
        options = {"keys": True, "database": str(file), "inspector": Inspector(enabled=True)}
        async with inspected(**options) as session:
            for name, token in tokens.items():
                body = {"model": "demo", "messages": [{"role": "user", "content": f"of {name}"}]}
                headers = {"Authorization": f"Bearer {token}"}
                async with session.post("/v1/chat/completions", json=body, headers=headers) as got:
                    await got.read()
            yield str(session._base_url).rstrip("/")

    with in_thread(two_tenants) as url:
        for name, other in (("one", "two"), ("two", "one")):
            page = browser.new_page()
            page.goto(f"{url}/toolglot/")
            page.wait_for_selector("input[type=password]")
            assert not re.search("of one|of two", page.content())
            page.fill("input[type=password]", tokens[name])
            page.click("button[type=submit]")
            page.wait_for_selector(f"#sessions >> text=of {name}")
            assert f"of {other}" not in page.content()
            page.close()
