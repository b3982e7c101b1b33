// The smaller views: doctor, what if, numbers, help, and the question for a key.
import { html, useEffect, useState } from "./vendor/htm-preact-standalone.js";
import { bytes, cut, seconds } from "./format.js";
import { IS_FILE, getDoctor, getNumbers, postWhatIf, send, storeKey } from "./store.js";
import { Tree } from "./tree.js";
import { NoteLine } from "./ledger.js";

const NONE = new Set();
const NO_MARKS = {};
const KEYS = [
  ["j k", "next and previous row"], ["J K", "next and previous session"], ["[ ]", "previous and next turn"],
  ["1 – 6", "tool calls, translation, stream, doctor, what if, numbers"], ["enter", "from a call to its translation"],
  ["/", "filter sessions: tool:Bash verdict:repaired model:gpt note:field-dropped client:codex, or any words"],
  ["r", "raw bytes"], ["t", "light or dark"], ["?", "this help"], ["esc", "close, or leave the filter"],
];

function useLoaded(load, key) {
  const [state, setState] = useState({});
  useEffect(() => {
    let on = true;
    setState({});
    load().then((value) => on && setState({ value }), (problem) => on && setState({ problem: problem.message }));
    return () => { on = false; };
  }, [key]);
  return state;
}

export function Doctor({ exchange }) {
  const [sent, setSent] = useState(null);
  const { value, problem } = useLoaded(() => IS_FILE ? Promise.reject(new Error("The doctor needs a running gateway: toolglot doctor-history does the same for a file.")) : getDoctor(exchange.exchange), exchange.exchange);
  if (problem) return html`<p class="none">${problem}</p>`;
  if (!value) return html`<p class="none">Reading the history …</p>`;
  const sendIt = async () => setSent(await send(value.path, value.repaired));
  return html`<div class="panel">
    <h3>The history that the client sent</h3>
    ${value.findings.length ? value.findings.map((each) => html`<div class="note"><span class="chip warn">${each.kind}</span><p>${cut(each.message, 600)}<br /><span class="path">${cut(each.path, 200)}</span></p></div>`)
      : html`<p><span class="chip ok">nothing is wrong</span> Every call has its result, ids are unique, and arguments are JSON.</p>`}
    ${value.repaired ? html`<h3 class="gap">What a repair changes</h3><pre class="diff" tabindex="0">${value.diff.map((line) => html`<span class=${line[0] === "+" ? "plus" : line[0] === "-" ? "minus" : ""}>${cut(line, 400)}${"\n"}</span>`)}</pre>
      <div class="btns"><button class="btn" onClick=${sendIt}>send the repaired one</button>${sent ? html`<span role="status" class=${`chip ${sent.status < 400 ? "ok" : "bad"}`}>${sent.status}: it is a session of its own now</span>` : null}</div>` : null}
  </div>`;
}

export function WhatIf({ exchange, info }) {
  const [choice, setChoice] = useState(info.protocols.find((each) => each !== exchange.provider_protocol && each !== exchange.protocol) || "");
  const [model, setModel] = useState("");
  const [result, setResult] = useState(null);
  const [said, setSaid] = useState("");
  if (IS_FILE) return html`<p class="none">This needs a running gateway: toolglot translate does the same for a file.</p>`;
  const run = async (event) => {
    event.preventDefault();
    setSaid("");
    try {
      setResult(await postWhatIf(exchange.exchange, model ? { model } : { protocol: choice }));
    } catch (problem) {
      setResult(null);
      setSaid(problem.message);
    }
  };
  const asked = exchange.bodies["client-request"].tree;
  const reallySend = async () => {
    const got = await send(exchange.path, { ...asked, model });
    setSaid(`${got.status}: it is a session of its own now`);
  };
  return html`<div class="panel">
    <form class="tools" onSubmit=${run}>
      <label>In the protocol <select value=${choice} onChange=${(event) => { setChoice(event.target.value); setModel(""); }}>${info.protocols.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
      <label>or to the model <input value=${model} placeholder="provider/model" list="models" onInput=${(event) => setModel(event.target.value)} /></label>
      <datalist id="models">${info.models.map((each) => html`<option value=${each}></option>`)}</datalist>
      <button class="btn" type="submit">show what would be sent</button>
      ${model && asked && "model" in asked ? html`<button class="btn" type="button" onClick=${reallySend}>really send it</button>` : null}
      <span role="status">${said}</span>
    </form>
    ${result ? result.targets.map((target) => html`<div class="pair"><div class="pane"><h3>${[target.provider, target.model, target.protocol].filter(Boolean).join(" · ") || "the built-in model"}${target.body ? ` · ${bytes(JSON.stringify(target.body).length)}` : ""}</h3>
        ${target.body ? html`<${Tree} tree=${target.body} marks=${NO_MARKS} hits=${NONE} side="to" label="What would be sent" hot=${-1} onHot=${() => {}} quiet />` : html`<p class="none">It would answer itself.</p>`}</div>
      <aside><h3>Receipt</h3>${(target.receipt || []).length ? target.receipt.map((note) => html`<${NoteLine} note=${note} />`) : html`<p class="faint">Nothing would be changed.</p>`}</aside></div>`)
      : html`<p class="none">The same request for another provider or protocol. Nothing is sent until you say so.</p>`}
  </div>`;
}

export function Numbers({ version }) {
  const { value, problem } = useLoaded(getNumbers, version);
  if (!value) return html`<p class="none">${problem || "Adding up …"}</p>`;
  const share = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "");
  return html`<div class="panel scroll" tabindex="0" role="region" aria-label="Numbers"><table>
    <thead><tr><th>provider</th><th>model</th><th class="num">exchanges</th><th class="num">errors</th><th class="num">input</th><th class="num">from cache</th><th class="num">to cache</th><th class="num">output</th><th class="num">reasoning</th><th class="num">cache hits</th><th class="num">first byte</th><th class="num">our share</th><th class="num">calls</th><th class="num">bad calls</th><th class="num">repaired</th></tr></thead>
    <tbody>${value.models.map((row) => {
      const used = row.tokens, prompt = used.input + used.cache_read + used.cache_write;
      return html`<tr><td>${row.provider}</td><td class="mono">${row.model}</td><td class="num">${row.exchanges}</td><td class="num">${row.errors}</td>
        ${["input", "cache_read", "cache_write", "output", "reasoning"].map((kind) => html`<td class="num">${used[kind].toLocaleString("en")}</td>`)}
        <td class="num">${share(used.cache_read, prompt)}</td><td class="num">${seconds(row.first_byte)}</td><td class="num">${seconds(row.own)}</td>
        <td class="num">${row.calls}</td><td class="num">${row.bad_calls} ${share(row.bad_calls, row.calls) && html`<span class="faint">${share(row.bad_calls, row.calls)}</span>`}</td><td class="num">${row.repaired_calls}</td></tr>`;
    })}</tbody></table><p class="faint">First byte and our share are medians. Bad calls have an unknown name, arguments that do not fit, or no result.</p></div>`;
}

export function Help({ onClose }) {
  return html`<div class="veil" onClick=${onClose}><div class="help" role="dialog" aria-modal="true" aria-label="Keys" onClick=${(event) => event.stopPropagation()}>
    <h2>Keys</h2><dl>${KEYS.map(([key, what]) => html`<dt>${key.split(" ").map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd>`)}</dl>
    <button class="btn" onClick=${onClose}>close</button></div></div>`;
}

export function AskForKey({ words, onKey }) {
  const [key, setKey] = useState("");
  return html`<main class="gate"><form onSubmit=${(event) => { event.preventDefault(); storeKey(key.trim()); onKey(); }}>
    <h1>toolglot inspector</h1><p>${words}</p>
    <label>A key with the right to inspect <input type="password" autocomplete="off" value=${key} onInput=${(event) => setKey(event.target.value)} /></label>
    <button class="btn" type="submit">look</button><p class="faint">It is kept in this tab only.</p></form></main>`;
}
