// A stream in time: the events of both sides on one axis, to be scrubbed and played.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact-standalone.js";
import { bytes, count, cut, seconds } from "./format.js";
import { IS_FILE, getStream, getText } from "./store.js";
import { VirtualList } from "./list.js";

const EVENT_HEIGHT = 24;
const SIDES = ["upstream", "client"];
const SILENCE = 1;
const STEPS = 1000;

export function Scrubber({ exchange, client }) {
  const [stream, setStream] = useState(null);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    let on = true;
    setStream(null);
    getStream(exchange.exchange).then((got) => on && setStream(got), (problem) => on && setFailed(problem.message));
    return () => { on = false; };
  }, [exchange.exchange, exchange.state]);
  if (failed) return html`<p class="none">${failed}</p>`;
  return stream ? html`<${Player} stream=${stream} exchange=${exchange} client=${client} />` : html`<p class="none">Reading the stream …</p>`;
}

function Player({ stream, exchange, client }) {
  const end = Math.max(exchange.duration, ...SIDES.map((side) => stream[side].events.at(-1)?.[0] ?? 0), 0.001);
  const [at, setAt] = useState(end);
  const [speed, setSpeed] = useState(0);
  const [chosen, setChosen] = useState({ side: "upstream", event: -1 });
  useEffect(() => {
    if (!speed) return;
    let frame, before = performance.now();
    const step = (now) => {
      setAt((old) => {
        const next = old + ((now - before) / 1000) * speed;
        before = now;
        if (next >= end) setSpeed(0);
        return Math.min(end, next);
      });
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [speed]);
  const silences = useMemo(() => silencesOf(stream.upstream.events), [stream]);
  const play = (times) => { if (at >= end) setAt(0); setSpeed(speed === times ? 0 : times); };
  const titles = { upstream: `${exchange.provider || "the provider"} · ${exchange.provider_protocol}`, client: `${client} · ${exchange.protocol}` };
  return html`<div class="stream-view">
    <div class="tools">
      <button class="btn" aria-pressed=${speed === 1 ? "true" : "false"} onClick=${() => play(1)}>play 1×</button>
      <button class="btn" aria-pressed=${speed === 10 ? "true" : "false"} onClick=${() => play(10)}>10×</button>
      <span class="num">${seconds(at)} of ${seconds(end)}</span>
      ${silences.slice(0, 4).map(([from, long]) => html`<button class="chip warn plain" onClick=${() => setAt(from)}>silent for ${seconds(long)} at ${seconds(from)}</button>`)}
      ${SIDES.map((side) => stream[side].lint.length ? html`<span class="chip bad">${count(stream[side].lint.length, "broken rule")}, ${side}</span>` : null)}
      ${SIDES.map((side) => stream[side].left_out ? html`<span class="chip info">${count(stream[side].left_out, "more event")}, ${side}</span>` : null)}
    </div>
    <${Axis} stream=${stream} end=${end} at=${at} silences=${silences} />
    <input type="range" class="scrub" aria-label="Time" min="0" max=${STEPS} value=${Math.round((at / end) * STEPS)}
      onInput=${(event) => { setSpeed(0); setAt((event.target.value / STEPS) * end); }} />
    <div class="columns">${SIDES.map((side) => html`<${Side} key=${side} side=${side} title=${titles[side]} data=${stream[side]} at=${at}
      selected=${chosen.side === side ? chosen.event : -1} onSelect=${(event) => setChosen({ side, event })} />`)}</div>
    <${Event} exchange=${exchange} stream=${stream} chosen=${chosen} />
  </div>`;
}

function silencesOf(events) {
  const found = [];
  for (let n = 1; n < events.length; n++) {
    const long = events[n][0] - events[n - 1][0];
    if (long > SILENCE) found.push([events[n - 1][0], long]);
  }
  return found.sort((one, other) => other[1] - one[1]);
}

// Ten thousand ticks are drawn, not made of elements.
function Axis({ stream, end, at, silences }) {
  const canvas = useRef(null);
  useEffect(() => {
    const element = canvas.current, width = element.clientWidth, height = 44, scale = devicePixelRatio || 1;
    element.width = width * scale;
    element.height = height * scale;
    const pen = element.getContext("2d"), look = getComputedStyle(element);
    const colour = (name) => look.getPropertyValue(name);
    pen.scale(scale, scale);
    pen.fillStyle = colour("--warnbg");
    for (const [from, long] of silences) pen.fillRect((from / end) * width, 0, (long / end) * width, height);
    SIDES.forEach((side, row) => {
      const bad = new Set(stream[side].lint.map((each) => each.event - 1));
      stream[side].events.forEach(([when, size], number) => {
        pen.fillStyle = bad.has(number) ? colour("--bad") : row ? colour("--ok") : colour("--accent");
        const tall = Math.min(18, 4 + Math.log2(size + 1));
        pen.fillRect((when / end) * (width - 2), row ? 23 : 21 - tall, 1.5, tall);
      });
    });
  }, [stream, end]);
  return html`<div class="axis"><canvas ref=${canvas} role="img" aria-label="Events of the provider above, of the client below"></canvas>
    <i style=${{ left: `${(at / end) * 100}%` }}></i></div>`;
}

function Side({ side, title, data, at, selected, onSelect }) {
  const shown = useMemo(() => data.events.slice(0, upTo(data.events, at)), [data, at]);
  const broken = useMemo(() => new Map(data.lint.map((each) => [each.event - 1, each])), [data]);
  return html`<div><h3>${title} · ${shown.length} of ${data.events.length} events</h3>
    <${VirtualList} rows=${shown} height=${EVENT_HEIGHT} id=${`events-${side}`} label=${`Events, ${side}`} selected=${selected} reveal=${shown.length < data.events.length ? shown.length - 1 : undefined} onSelect=${onSelect} empty="Nothing yet."
      render=${([when, size, type, text], number) => html`<span class="num">${when < 10 ? `${Math.round(when * 1000)} ms` : `${when.toFixed(2)} s`}</span><span class="num">${bytes(size)}</span>
        <span class="mono">${broken.has(number) ? html`<span class="chip bad" title=${broken.get(number).message}>${broken.get(number).rule}</span> ` : null}${cut(type, 40)}</span><span class="mono faint clip">${cut(text, 160)}</span>`} /></div>`;
}

function upTo(events, at) {
  let low = 0, high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle][0] <= at + 1e-9) low = middle + 1; else high = middle;
  }
  return low;
}

function Event({ exchange, stream, chosen }) {
  const [text, setText] = useState("");
  const event = stream[chosen.side].events[chosen.event];
  useEffect(() => {
    if (!event) return;
    setText(event[3]);
    if (IS_FILE) return;
    let on = true;
    getText(`/exchanges/${exchange.exchange}/stream/${chosen.side}/${chosen.event}`).then((got) => on && setText(got), () => {});
    return () => { on = false; };
  }, [chosen, exchange.exchange]);
  const broken = event ? stream[chosen.side].lint.filter((each) => each.event - 1 === chosen.event) : [];
  return event ? html`<div class="one-event">${broken.map((each) => html`<p class="chip bad wide">${each.rule}: ${each.message}</p>`)}<pre tabindex="0">${cut(text, 100000)}</pre></div>`
    : html`<p class="none">Choose an event to see all of it.</p>`;
}
