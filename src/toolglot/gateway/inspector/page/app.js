// The page: sessions on the left, and of the chosen one its turns, calls, bodies, stream and numbers.
import { html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact-standalone.js";
import { ago, bytes, count, cut, seconds, visible } from "./format.js";
import { IS_FILE, NeedsKey, download, follow, getExchange, getSession, getSessions } from "./store.js";
import { VirtualList } from "./list.js";
import { Chip, Ledger } from "./ledger.js";
import { Panes } from "./panes.js";
import { Scrubber } from "./scrubber.js";
import { AskForKey, Doctor, Help, Numbers, WhatIf } from "./panels.js";

const SESSION_HEIGHT = 67;
const TABS = ["calls", "translation", "stream", "doctor", "what-if", "numbers"];
const TAB_WORDS = { calls: "Tool calls", translation: "Translation", stream: "Stream", doctor: "Doctor", "what-if": "What if", numbers: "Numbers" };
const FILTERS = {
  client: (row, word) => row.client.name.toLowerCase().includes(word),
  model: (row, word) => `${row.model} ${row.asked_model} ${row.provider}`.toLowerCase().includes(word),
  tool: (row, word) => row.tools.some((each) => each.toLowerCase().includes(word)),
  note: (row, word) => row.codes.some((each) => each.includes(word)),
  verdict: (row, word) => Object.keys(row.verdicts).some((each) => each.includes(word)),
  state: (row, word) => row.state.includes(word),
};

function readHash() {
  const [session, tab, exchange] = location.hash.replace(/^#\/?/, "").split("/");
  return { session: Number(session) || 0, tab: TABS.includes(tab) ? tab : "calls", exchange: Number(exchange) || 0 };
}

function splitFilter(text) {
  const rules = [], words = [];
  for (const each of text.trim().split(/\s+/).filter(Boolean)) {
    const [name, ...rest] = each.split(":");
    if (FILTERS[name] && rest.length) rules.push([FILTERS[name], rest.join(":").toLowerCase()]);
    else words.push(each);
  }
  return { rules, words: words.join(" ") };
}

function App() {
  const [data, setData] = useState(null);
  const [failed, setFailed] = useState(null);
  const [live, setLive] = useState(false);
  const [version, setVersion] = useState(0);
  const [filter, setFilter] = useState("");
  const [place, setPlace] = useState(readHash);
  const [session, setSession] = useState(null);
  const [exchange, setExchange] = useState(null);
  const [row, setRow] = useState(0);
  const [raw, setRaw] = useState(false);
  const [help, setHelp] = useState(false);
  const [open, setOpen] = useState(false);
  const search = useRef(null);
  const { rules, words } = useMemo(() => splitFilter(filter), [filter]);

  const go = useCallback((change) => {
    setPlace((old) => {
      const next = { ...old, ...change };
      history.replaceState(null, "", `#/${next.session}/${next.tab}/${next.exchange || ""}`);
      return next;
    });
  }, []);
  useEffect(() => {
    const read = () => setPlace(readHash());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);

  // What there is: asked anew whenever something changes, at most a few times a second.
  useEffect(() => {
    let on = true;
    const wait = setTimeout(() => getSessions(words).then((got) => {
      if (!on) return;
      setData(got);
      setFailed(null);
      setPlace((old) => (old.session || !got.sessions.length ? old : { ...old, session: got.sessions[0].id }));
    }, (problem) => on && setFailed(problem)), words ? 200 : 0);
    return () => { on = false; clearTimeout(wait); };
  }, [version, words]);
  useEffect(() => {
    let waiting = 0;
    const stop = follow(() => { waiting ||= setTimeout(() => { waiting = 0; setVersion((old) => old + 1); }, 250); }, setLive);
    return () => { stop(); clearTimeout(waiting); };
  }, [failed instanceof NeedsKey]);
  useEffect(() => {
    if (!place.session) return;
    let on = true;
    getSession(place.session).then((got) => on && setSession(got), () => on && setSession(null));
    return () => { on = false; };
  }, [place.session, version]);
  const number = place.exchange || session?.turn_list.at(-1)?.exchange || 0;
  const current = session?.turn_list.find((turn) => turn.exchange === number);
  const detailed = place.tab !== "calls" && place.tab !== "numbers";
  useEffect(() => {
    if (!number || !detailed || !current) return;
    let on = true;
    getExchange(number).then((got) => on && setExchange(got), () => on && setExchange(null));
    return () => { on = false; };
  }, [number, detailed, current?.state]);

  const sessions = useMemo(() => (data ? data.sessions.filter((each) => rules.every(([test, word]) => test(each, word))) : []), [data, rules]);
  const calls = session?.call_list || [];
  const chosen = sessions.findIndex((each) => each.id === place.session);
  const choose = (at) => { if (sessions[at]) { setRow(0); setExchange(null); go({ session: sessions[at].id, exchange: 0 }); setOpen(false); } };
  const chooseCall = (at) => { if (calls[at]) { setRow(at); go({ exchange: calls[at].exchange }); } };
  const chooseTurn = (turn) => {
    if (!turn) return;
    go({ exchange: turn.exchange });
    const first = calls.findIndex((each) => each.exchange === turn.exchange);
    if (first >= 0) setRow(first);
  };
  const onTab = (tab, at) => go({ tab, ...(at ? { exchange: at } : {}) });

  useLayoutEffect(() => {
    const onKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") { setHelp(false); document.activeElement?.blur(); setOpen(false); return; }
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "range") return;
      const turns = session?.turn_list || [], at = turns.findIndex((turn) => turn.exchange === number);
      const stepList = (by) => {
        const list = place.tab === "stream" ? document.activeElement?.closest?.(".list") || document.getElementById("events-upstream") : null;
        if (list) { list.focus(); list.dispatchEvent(new KeyboardEvent("keydown", { key: by > 0 ? "ArrowDown" : "ArrowUp" })); }
        else if (place.tab === "calls") chooseCall(Math.max(0, Math.min(calls.length - 1, row + by)));
        else chooseTurn(turns[at + by]);
      };
      const acts = {
        j: () => stepList(1), k: () => stepList(-1), J: () => choose(chosen + 1), K: () => choose(Math.max(0, chosen - 1)),
        "]": () => chooseTurn(turns[at + 1]), "[": () => chooseTurn(turns[at - 1]),
        "/": () => { setOpen(true); search.current.focus(); search.current.select(); }, "?": () => setHelp((old) => !old),
        r: () => setRaw((old) => !old), t: toggleTheme,
        Enter: () => { if (place.tab === "calls" && calls[row] && !event.target.closest("button,a")) onTab("translation", calls[row].exchange); else return false; },
      };
      TABS.forEach((tab, index) => { acts[index + 1] = () => onTab(tab); });
      if (acts[event.key] && acts[event.key]() !== false) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });

  if (failed instanceof NeedsKey) return html`<${AskForKey} words=${failed.message} onKey=${() => { setFailed(null); setVersion(version + 1); }} />`;
  const now = data ? data.now : 0;
  return html`
    <header>
      <button class="btn menu" aria-expanded=${open ? "true" : "false"} aria-controls="sessions-pane" onClick=${() => setOpen(!open)}>sessions</button>
      <b class="brand">tool<i>glot</i> <span class="wide-only">inspector</span></b>
      <span class=${live ? "live" : "live off"}>${IS_FILE ? "a file" : live ? "live" : "not connected"}</span>
      <label class="search"><span class="hidden">Filter sessions</span><input ref=${search} type="search" value=${filter} placeholder="Filter: tool:Bash verdict:repaired model:gpt …" onInput=${(event) => setFilter(event.target.value)} /><kbd>/</kbd></label>
      <span class="spacer"></span>
      ${data ? html`<span class="right"><span>${count(data.exchanges, "exchange")} in memory · ${bytes(data.bytes)}</span><span>${data.record ? "record on" : "record off"}</span></span>` : null}
      ${IS_FILE ? null : html`<button class="btn wide-only" onClick=${() => download("/export", "toolglot-inspector.html")}>export</button>`}
      <button class="btn" aria-label="Keys" onClick=${() => setHelp(true)}><kbd>?</kbd></button>
    </header>
    <nav id="sessions-pane" class=${open ? "open" : ""} aria-label="Sessions"><h2>Sessions ${data && sessions.length !== data.sessions.length ? html`<span>${sessions.length} of ${data.sessions.length}</span>` : null}</h2>
      <${VirtualList} rows=${sessions} height=${SESSION_HEIGHT} id="sessions" label="Sessions" selected=${chosen} onSelect=${choose}
        empty=${failed ? failed.message : data ? (filter ? "No session fits the filter." : "Nothing yet. Send a request through the gateway and it appears here.") : "Reading …"}
        render=${(each) => html`<${SessionRow} row=${each} now=${now} />`} /></nav>
    <main>${session ? html`<${Conversation} key=${session.id} ...${{ session, place, number, current, exchange, calls, row, raw, data, version, onTab, chooseCall, chooseTurn, onRaw: () => setRaw(!raw) }} />`
      : html`<p class="none">${data && data.sessions.length ? "Choose a session." : "The inspector shows what happens to tool calls on their way through the gateway."}</p>`}</main>
    ${help ? html`<${Help} onClose=${() => setHelp(false)} />` : null}`;
}

function SessionRow({ row, now }) {
  const client = [row.client.name, row.client.version.split(".").slice(0, 2).join(".")].filter(Boolean).join(" ");
  const route = row.provider_protocol && row.provider_protocol !== row.protocol ? `${row.protocol} → ${row.provider_protocol}` : row.protocol;
  return html`<div class=${`s ${row.state}`}><div class="t"><b>${visible(row.title)}</b><span class=${row.state === "dead" ? "err" : ""}>${row.state === "dead" ? "dead" : row.state === "live" ? "…" : ago(row.updated, now)}</span></div>
    <div class="r">${row.state === "dead" ? html`<span class="err">${cut(row.reason, 120)}</span>` : [client || "a client", row.model, route].filter(Boolean).map(visible).join(" · ")}</div>
    <div class="mini" aria-hidden="true">${row.strip.slice(-40).map((turn) => html`<i class=${turn.mended ? "mended" : turn.end}></i>`)}</div></div>`;
}

function Conversation({ session, place, number, current, exchange, calls, row, raw, data, version, onTab, chooseCall, chooseTurn, onRaw }) {
  const client = [session.client.name, session.client.version].filter(Boolean).join(" ") || "a client";
  const good = (session.verdicts.valid || 0) + (session.verdicts.open || 0);
  const mended = session.strip.filter((turn) => turn.mended).length;
  const ready = exchange && exchange.exchange === number;
  const name = session.client.name || "the client";
  const view = {
    calls: () => html`<${Ledger} session=${session} calls=${calls} selected=${row} onSelect=${chooseCall} onTab=${onTab} />`,
    translation: () => html`<${Panes} key=${number} exchange=${exchange} client=${name} raw=${raw} onRaw=${onRaw} />`,
    stream: () => html`<${Scrubber} key=${number} exchange=${exchange} client=${name} />`,
    doctor: () => html`<${Doctor} key=${number} exchange=${exchange} />`,
    "what-if": () => html`<${WhatIf} key=${number} exchange=${exchange} info=${data} />`,
    numbers: () => html`<${Numbers} version=${version} />`,
  };
  const counts = { calls: session.calls };
  return html`<div class="head"><h1>${visible(session.title)}</h1><span class="route">${visible(client)} · <code>${session.protocol}</code>${session.provider_protocol && session.provider_protocol !== session.protocol ? html` → <code>${session.provider_protocol}</code>` : null} · ${session.provider}${session.provider ? "/" : ""}<code>${visible(session.model)}</code></span>
      ${session.state === "dead" ? html`<${Chip} look="bad" title=${session.reason}>dead: ${cut(session.reason, 90)}<//>` : null}
      ${mended ? html`<${Chip} look="warn">${mended} mended<//>` : null}
      ${session.calls ? html`<${Chip} look=${good === session.calls ? "ok" : "warn"}>${good} of ${session.calls} calls valid<//>` : null}</div>
    <${Strip} turns=${session.turn_list} number=${number} onTurn=${chooseTurn} />
    <div class="tabs" role="tablist" aria-label="Views">${TABS.map((tab) => html`<button role="tab" id=${`tab-${tab}`} aria-selected=${tab === place.tab ? "true" : "false"} aria-controls="view" class=${tab === place.tab ? "on" : ""} onClick=${() => onTab(tab)}>${TAB_WORDS[tab]}${counts[tab] ? html` <em>${counts[tab]}</em>` : null}</button>`)}
      <span class="spacer"></span>${current ? html`<span class="which">turn ${session.turn_list.indexOf(current) + 1} · ${turnWords(current)} · ${seconds(current.duration)}</span>` : null}</div>
    <div class="view" role="tabpanel" id="view" aria-labelledby=${`tab-${place.tab}`}>${place.tab === "calls" || place.tab === "numbers" || ready ? view[place.tab]() : html`<p class="none">Reading …</p>`}</div>`;
}

function turnWords(turn) {
  if (turn.end === "calls") return count(turn.calls, "call");
  return { waiting: "waiting", answering: "answering", end: "end", length: "cut by the limit", other: turn.stops.join(", "), error: turn.status ? `error ${turn.status}` : "error" }[turn.end];
}

function Strip({ turns, number, onTurn }) {
  const total = turns.reduce((sum, turn) => sum + Math.sqrt(turn.duration + 0.05), 0);
  return html`<div class="strip" role="group" aria-label="Turns">${turns.map((turn, at) => {
    const used = turn.usage, prompt = used ? used.input + used.cache_read + used.cache_write : 0;
    const share = prompt ? used.cache_read / prompt : 0;
    const mended = turn.attempts.some((each) => each.reason === "mended"), fell = turn.attempts.some((each) => each.reason === "fallback");
    const tries = turn.attempts.reduce((sum, each) => sum + each.tries.length, 0);
    const words = [turnWords(turn), mended ? "mended" : "", fell ? "fallback" : "", tries && !mended ? `${count(tries, "retry").replace("retrys", "retries")}` : ""].filter(Boolean).join(", ");
    return html`<button key=${turn.exchange} class=${`turn ${mended ? "mended" : turn.end} ${turn.exchange === number ? "on" : ""}`} aria-pressed=${turn.exchange === number ? "true" : "false"}
      style=${{ flexGrow: Math.max(1, Math.round((100 * Math.sqrt(turn.duration + 0.05)) / total)) }} onClick=${() => onTurn(turn)}
      title=${`turn ${at + 1}: ${words}, ${seconds(turn.duration)}${prompt ? `, ${Math.round(share * 100)} % of the prompt from cache` : ""}`}>
      <u style=${{ width: `${share * 100}%` }}></u><span>${at + 1} · ${words}</span></button>`;
  })}</div>`;
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  if (!IS_FILE) localStorage.setItem("toolglot-theme", root.dataset.theme);
}

function start() {
  const theme = new URLSearchParams(location.search).get("theme") || (IS_FILE ? "" : localStorage.getItem("toolglot-theme"));
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  render(html`<${App} />`, document.getElementById("app"));
}

start();
