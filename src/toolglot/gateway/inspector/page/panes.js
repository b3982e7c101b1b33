// Four bodies, linked: what came and what was sent, and a bridge for each note of the receipt.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact-standalone.js";
import { SEVERITY_LOOK, bytes, cut } from "./format.js";
import { IS_FILE, getText } from "./store.js";
import { Tree, above, pathsWith } from "./tree.js";
import { Copies, NoteLine } from "./ledger.js";

const PAIRS = [
  { side: "request", from: "client-request", to: "upstream-request" },
  { side: "answer", from: "upstream-response", to: "client-response" },
];
const NO_HITS = new Set();
const LONGEST_RAW = 300000;

export function Panes({ exchange, client, raw, onRaw }) {
  const [hot, setHot] = useState(-1);
  const [words, setWords] = useState("");
  const titles = {
    "client-request": `${client} sent`, "upstream-request": `${exchange.provider || "nobody"} got`,
    "upstream-response": `${exchange.provider || "nobody"} answered`, "client-response": `${client} got`,
  };
  const problem = exchange.error;
  return html`<div class="panes-view">
    <div class="tools"><label>Search inside <input type="search" value=${words} onInput=${(event) => setWords(event.target.value)} /></label>
      <button class="btn" aria-pressed=${raw ? "true" : "false"} onClick=${onRaw}>raw bytes <kbd>r</kbd></button>
      <${Copies} number=${exchange.exchange} />
      ${exchange.left_out ? html`<span class="chip warn">${bytes(exchange.left_out)} were too long to be kept</span>` : null}</div>
    ${problem ? html`<p class="chip bad wide">${cut(problem, 600)}</p>` : null}
    ${exchange.attempts.length > 1 || exchange.attempts.some((each) => each.tries.length) ? html`<${Attempts} attempts=${exchange.attempts} />` : null}
    ${PAIRS.map((pair) => html`<${Pair} key=${pair.side} pair=${pair} exchange=${exchange} titles=${titles} raw=${raw} words=${words} hot=${hot} onHot=${setHot} />`)}
  </div>`;
}

function Attempts({ attempts }) {
  return html`<ol class="attempts" aria-label="Attempts">${attempts.flatMap((each) => [
    html`<li><span class="chip info">${each.reason}</span> ${each.provider} <span class="mono">${each.model}</span>${each.status ? html` · ${each.status}` : null}</li>`,
    ...each.tries.map((again) => html`<li class="try"><span class=${`chip ${again.body ? "warn" : "bad"}`}>${again.status || "no answer"}</span> ${cut(again.words || again.body || "asked again", 300)}</li>`),
  ])}</ol>`;
}

function Pair({ pair, exchange, titles, raw, words, hot, onHot }) {
  const box = useRef(null);
  const [paths, setPaths] = useState([]);
  const notes = exchange.receipt.map((note, number) => ({ ...note, number })).filter((note) => note.side === pair.side);
  const links = exchange.bridges.filter((each) => exchange.receipt[each.note].side === pair.side);
  const marks = useMemo(() => ({
    from: marksOf(links, exchange.receipt, "source"), to: marksOf(links, exchange.receipt, "target"),
  }), [exchange]);
  const draw = () => {
    if (box.current) setPaths(curves(box.current, links, exchange.receipt));
  };
  useLayoutEffect(draw, [exchange, raw, words]);
  useEffect(() => {
    const watcher = new ResizeObserver(draw);
    box.current.querySelectorAll(".tree").forEach((each) => watcher.observe(each));
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [exchange, raw]);
  const body = (name, mark, side) => html`<${Body} body=${exchange.bodies[name]} name=${name} number=${exchange.exchange}
    title=${titles[name]} raw=${raw} words=${words} marks=${mark} side=${side} hot=${hot} onHot=${onHot} />`;
  return html`<section class="pair" ref=${box} aria-label=${pair.side === "request" ? "The request" : "The answer"}>
    <div class="sides">
      ${body(pair.from, marks.from, "from")}
      <svg class="bridge" aria-hidden="true">${paths.map((each) => html`<path key=${each.note} d=${each.d} class=${`${each.look} ${hot === each.note ? "hot" : ""}`}
        data-note=${each.note} data-code=${each.code} data-source=${each.source || ""} data-target=${each.target || ""} />`)}</svg>
      ${body(pair.to, marks.to, "to")}
    </div>
    <aside><h3>Receipt of the ${pair.side}</h3>
      ${notes.length ? notes.map((note) => html`<${NoteLine} note=${note} hot=${hot === note.number} onHot=${(on) => onHot(on ? note.number : -1)}
          onClick=${() => reveal(box.current, links.find((each) => each.note === note.number))} />`)
        : html`<p class="faint">Nothing was changed.</p>`}</aside>
  </section>`;
}

function marksOf(links, receipt, end) {
  const found = {};
  for (const each of links) {
    if (each[end] === null) continue;
    const note = receipt[each.note];
    const grave = found[each[end]];
    if (!grave || note.severity !== "info")
      found[each[end]] = { number: each.note, code: note.code, message: note.message, look: SEVERITY_LOOK[note.severity] };
  }
  return found;
}

function lineAt(box, side, path) {
  if (path === null) return null;
  const tree = box.querySelector(`.tree[data-side=${side}]`);
  if (!tree) return null;
  for (const each of [path, ...above(path).reverse()]) {
    const line = tree.querySelector(`[data-path="${CSS.escape(each)}"]`);
    if (line) return line;
  }
  return null;
}

function curves(box, links, receipt) {
  const frame = box.querySelector("svg.bridge").getBoundingClientRect();
  const middle = (line) => { const at = line.getBoundingClientRect(); return at.top + at.height / 2 - frame.top; };
  return links.flatMap((each) => {
    const from = lineAt(box, "from", each.source), to = lineAt(box, "to", each.target);
    if (!from && !to) return [];
    const note = receipt[each.note], width = frame.width || 46, half = width / 2;
    const start = from ? middle(from) : 0, end = to ? middle(to) : 0;
    const d = from && to ? `M0 ${start}C${half} ${start} ${half} ${end} ${width} ${end}`
      : from ? `M0 ${start}H${half}m0 -4v8` : `M${width} ${end}H${half}m0 -4v8`;
    return [{ note: each.note, code: note.code, source: each.source, target: each.target, d, look: `${SEVERITY_LOOK[note.severity]} ${from && to ? "" : "loose"}` }];
  });
}

function reveal(box, link) {
  const line = link && (lineAt(box, "from", link.source) || lineAt(box, "to", link.target));
  if (line) line.scrollIntoView({ block: "center" });
}

function Body({ body, name, number, title, raw, words, marks, side, hot, onHot }) {
  const [text, setText] = useState(null);
  useEffect(() => {
    if (!raw || IS_FILE) return;
    let on = true;
    getText(`/exchanges/${number}/bodies/${name}`).then((got) => on && setText(got), (problem) => on && setText(problem.message));
    return () => { on = false; };
  }, [raw, number, name]);
  const hits = useMemo(() => (words && body.tree ? new Set(pathsWith(body.tree, words)) : NO_HITS), [words, body]);
  const shown = raw ? text ?? body.text ?? "" : body.text;
  const what = [body.protocol, body.size ? bytes(body.size) : "", body.kind !== "json" ? `${body.kind} stream` : ""].filter(Boolean).join(" · ");
  return html`<div class="pane"><h3>${title}${what ? ` · ${what}` : ""}</h3>
    ${!body.size ? html`<div class="tree faint" data-side=${side}>Nothing: ${name.startsWith("upstream") ? "no provider was asked, or it said nothing." : "it ended before."}</div>`
      : raw || body.tree === null ? html`<pre class="raw" tabindex="0">${cut(shown, LONGEST_RAW)}${shown.length > LONGEST_RAW || body.cut ? "\n… cut here; the API has all of it" : ""}</pre>`
      : html`<${Tree} tree=${body.tree} marks=${marks} hits=${hits} side=${side} label=${title} hot=${hot} onHot=${onHot} />`}</div>`;
}
