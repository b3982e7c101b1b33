// The ledger: a row for each tool call, and below it the call as it was written and as it arrived.
import { html, useState } from "./vendor/htm-preact-standalone.js";
import { SEVERITY_LOOK, VERDICT_LOOK, VERDICT_WORDS, changedLines, cut, pretty, seconds, visible } from "./format.js";
import { IS_FILE, download, getText } from "./store.js";
import { VirtualList } from "./list.js";

const ROW_HEIGHT = 33;
const LONGEST_SHOWN = 60000;

export function Chip({ look, children, title }) {
  return html`<span class=${`chip ${look}`} title=${title}>${children}</span>`;
}

export function Ledger({ session, calls, selected, onSelect, onTab }) {
  const number = new Map(session.turn_list.map((turn, at) => [turn.exchange, at + 1]));
  const call = calls[selected];
  return html`<div class="ledger">
    <div class="head-row" aria-hidden="true"><span>turn</span><span>tool</span><span>id</span><span>arguments</span>
      <span>result</span><span class="num">back after</span><span>verdict</span></div>
    <${VirtualList} rows=${calls} height=${ROW_HEIGHT} label="Tool calls" id="calls" selected=${selected}
      onSelect=${onSelect} onOpen=${() => onTab("translation")} empty="No tool was called in this conversation."
      render=${(row) => html`<${CallLine} row=${row} turn=${number.get(row.exchange)} />`} />
    ${call ? html`<${CallDetail} key=${`${call.exchange}-${call.place}`} call=${call} client=${session.client.name || "the client"} onTab=${onTab} />` : null}
  </div>`;
}

function CallLine({ row, turn }) {
  const { given, written, result, verdict } = row, shown = given || written;
  const renamed = written && given && written.name !== given.name;
  const another = written && given && written.id !== given.id;
  return html`<span class="num-left">${turn}</span>
    <span class="tool">${visible(shown.name)}${renamed ? html` <span class="faint">written as</span> ${visible(written.name)}` : null}</span>
    <span class="mono faint clip">${another ? html`${visible(written.id)} → ` : null}${visible(shown.id)}</span>
    <span class="mono clip">${cut(shown.arguments, 200)}</span>
    <span class=${`mono clip ${result && result.is_error ? "err" : ""}`}>${result ? html`${result.media.length ? html`<${Chip} look="info">${result.media.join(", ")}<//> ` : null}${cut(result.text, 160)}` : html`<span class="faint">none</span>`}</span>
    <span class="num">${seconds(row.back_after)}</span>
    <span><${Chip} look=${VERDICT_LOOK[verdict.kind]} title=${verdict.sentence}>${VERDICT_WORDS[verdict.kind]}<//></span>`;
}

function CallDetail({ call, client, onTab }) {
  const [raw, setRaw] = useState(false);
  const form = (side) => (side ? (raw ? side.arguments : pretty(side.arguments)).slice(0, LONGEST_SHOWN) : "");
  const [left, right, gone, added] = changedLines(form(call.written), form(call.given));
  const both = call.written && call.given;
  return html`<section class="detail" aria-label="The selected call">
    <div><h3>Arguments as the model wrote them</h3>${call.written ? lines(left, both ? gone : new Set()) : html`<p class="faint">The model made no such call; it was read out of its text.</p>`}
      ${call.result ? html`<h3 class="gap">Result ${call.result.is_error ? html`<${Chip} look="bad">error<//>` : null}</h3>
        ${call.result.picture ? html`<img class="picture" src=${call.result.picture} alt="Picture that the tool gave" />` : null}
        <pre class="short" tabindex="0">${cut(call.result.text, 4000)}${call.result.size > call.result.text.length ? `\n… ${call.result.size} characters in all` : ""}</pre>` : null}</div>
    <div><h3>Arguments as ${client} got them</h3>${call.given ? lines(right, both ? added : new Set()) : html`<p class="faint">It got no such call.</p>`}
      <div class="btns">
        <button class="btn" aria-pressed=${raw ? "true" : "false"} onClick=${() => setRaw(!raw)}>raw</button>
        <button class="btn" onClick=${() => onTab("translation", call.exchange)}>bytes and translation</button>
        <button class="btn" onClick=${() => onTab("stream", call.exchange)}>as it streamed</button>
        <${Copies} number=${call.exchange} />
      </div></div>
    <div><h3>Verdict</h3>
      ${call.verdicts.map((each) => html`<div class="note"><${Chip} look=${VERDICT_LOOK[each.kind]}>${VERDICT_WORDS[each.kind]}<//><p>${visible(each.sentence)}</p></div>`)}
      ${call.notes.length ? html`<h3 class="gap">Receipt of this call</h3>` : null}
      ${call.notes.map((note) => html`<${NoteLine} note=${note} />`)}</div>
  </section>`;
}

function lines(all, marked) {
  return html`<pre tabindex="0">${all.map((line, at) => html`<span class=${marked.has(at) ? "changed" : ""}>${visible(line)}${"\n"}</span>`)}</pre>`;
}

export function NoteLine({ note, hot, onHot, onClick, id }) {
  return html`<div class=${`note stacked ${hot ? "hot" : ""}`} id=${id} onMouseEnter=${onHot && (() => onHot(true))} onMouseLeave=${onHot && (() => onHot(false))}>
    <div class="which-note"><${Chip} look=${SEVERITY_LOOK[note.severity]}>${note.code}<//>${note.path ? html`<span class="path">${visible(note.path)}</span>` : null}</div>
    <p>${onClick ? html`<button class="plain" onClick=${onClick}>${visible(note.meaning || note.message)}</button>` : visible(note.meaning || note.message)}${note.meaning && note.message && note.message !== note.meaning ? html`<span class="words">${visible(note.message)}</span>` : null}</p></div>`;
}

export function Copies({ number }) {
  const [said, setSaid] = useState("");
  if (IS_FILE) return null;
  const copy = async (form) => {
    try {
      await navigator.clipboard.writeText(await getText(`/exchanges/${number}/copy/${form}`));
      setSaid(`copied as ${form}`);
    } catch (problem) {
      setSaid(`not copied: ${problem.message}`);
    }
  };
  return html`<button class="btn" onClick=${() => copy("curl")}>copy as curl</button>
    <button class="btn" onClick=${() => copy("python")}>copy as Python</button>
    <button class="btn" onClick=${() => download(`/exchanges/${number}/copy/case`, `exchange-${number}.zip`)}>test case</button>
    <span class="faint" role="status">${said}</span>`;
}
