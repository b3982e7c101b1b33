// A JSON value as lines that fold. Lines that a note is about are open and coloured.
import { html, useMemo, useState } from "./vendor/htm-preact-standalone.js";
import { count, cut, visible } from "./format.js";

const MOST_LINES = 3000;
const LONGEST_VALUE = 140;
const LONGEST_OPEN = 100000;

const isHolder = (value) => value !== null && typeof value === "object";
const child = (path, key) => typeof key === "number" ? `${path}[${key}]` : path ? `${path}.${key}` : key;

function entriesOf(value) {
  return Array.isArray(value) ? value.map((each, at) => [at, each]) : Object.entries(value);
}

// The path of everything above a path: a.b[0].c gives a, a.b and a.b[0].
export function above(path) {
  const found = [];
  for (const step of path.matchAll(/\.|\[/g)) found.push(path.slice(0, step.index));
  return found.filter(Boolean);
}

// Members of a list that no note is about stand in one line, until it is opened.
export function linesOf(tree, isOpen, isTouched, folds) {
  const lines = [];
  const inside = (value, path, depth) => {
    const all = entriesOf(value);
    for (let at = 0; at < all.length; at++) {
      let end = at;
      if (Array.isArray(value) && !folds[path])
        while (end < all.length && !isTouched(child(path, end))) end++;
      const run = `${path}[${at}…${end - 1}]`;
      if (end - at > 1 && end - at < all.length && !folds[run]) {
        lines.push({ path: run, key: `[${at} … ${end - 1}]`, depth, value: value.slice(at, end), holds: true, open: false });
        at = end - 1;
      } else walk(all[at][1], child(path, all[at][0]), all[at][0], depth);
    }
  };
  const walk = (value, path, key, depth) => {
    if (lines.length >= MOST_LINES) return;
    const holds = isHolder(value), open = holds && isOpen(path, value, depth);
    lines.push({ path, key, depth, value, holds, open });
    if (open) inside(value, path, depth + 1);
  };
  if (!isHolder(tree)) return [{ path: "", key: null, depth: 0, value: tree, holds: false }];
  inside(tree, "", 0);
  return lines;
}

export function pathsWith(tree, words) {
  const found = [], wanted = words.toLowerCase();
  const walk = (value, path, key) => {
    if (found.length >= 200) return;
    const text = isHolder(value) ? "" : String(value);
    if (path && (String(key).toLowerCase().includes(wanted) || text.toLowerCase().includes(wanted))) found.push(path);
    if (isHolder(value)) for (const [name, each] of entriesOf(value)) walk(each, child(path, name), name);
  };
  walk(tree, "", "");
  return found;
}

function summary(value, key, touched) {
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const unit = Array.isArray(value) ? (/s$/.test(String(key)) ? String(key).replace(/s$/, "") : "item") : "member";
  return `${count(size, unit)}${touched ? "" : ", unchanged"}`;
}

export function Tree({ tree, marks, hits, side, label, hot, onHot, quiet }) {
  const [folds, setFolds] = useState({});
  const [wide, setWide] = useState({});
  const marked = useMemo(() => {
    const inner = new Set();
    for (const path of [...Object.keys(marks), ...hits]) above(path).forEach((each) => inner.add(each));
    return inner;
  }, [marks, hits]);
  const isOpen = (path, value, depth) => {
    if (path in folds) return folds[path];
    if (marked.has(path)) return true;
    return depth < 2 && !/\]$/.test(path) && entriesOf(value).length <= 4 && JSON.stringify(value).length < 300;
  };
  const isTouched = (path) => path in marks || marked.has(path) || hits.has(path) || path in folds;
  const lines = linesOf(tree, isOpen, isTouched, folds);
  return html`<div class="tree" role="group" aria-label=${label} data-side=${side}>
    ${lines.map((line) => {
      const note = marks[line.path], touched = quiet || note || marked.has(line.path) || above(line.path).some((each) => marks[each]);
      const look = ["l", note ? note.look : "", hits.has(line.path) ? "hit" : "",
        note && hot === note.number ? "hot" : ""].join(" ");
      return html`<div class=${look} key=${line.path} data-path=${line.path} style=${{ paddingLeft: `${line.depth * 14 + 4}px` }}
          onMouseEnter=${note ? () => onHot(note.number) : undefined} onMouseLeave=${note ? () => onHot(-1) : undefined}
          title=${note ? `${note.code}: ${note.message}` : undefined}>
        ${line.holds ? html`<button class="fold" aria-expanded=${line.open ? "true" : "false"}
            onClick=${() => setFolds({ ...folds, [line.path]: !line.open })}>
            <span class="arrow">${line.open ? "▾" : "▸"}</span><span class="k">${keyText(line.key)}</span>
            ${line.open ? null : html` <span class="faint">${summary(line.value, line.key, touched)}</span>`}</button>`
          : html`<span class="k">${keyText(line.key)}</span> ${leaf(line, wide, setWide)}`}
      </div>`;
    })}
    ${lines.length >= MOST_LINES ? html`<div class="l faint">The rest is left out here; the bytes have it.</div>` : null}
  </div>`;
}

function keyText(key) {
  return key === null ? "" : typeof key === "number" ? `[${key}]` : visible(key);
}

function leaf(line, wide, setWide) {
  const { value, path } = line;
  if (typeof value !== "string") return html`<span class="n">${String(value)}</span>`;
  if (value.length <= LONGEST_VALUE) return html`<span class="v">${visible(JSON.stringify(value))}</span>`;
  const open = wide[path];
  return html`<span class=${open ? "v long" : "v"}>${open ? cut(value, LONGEST_OPEN) : cut(JSON.stringify(value), LONGEST_VALUE)}</span>
    <button class="more" onClick=${() => setWide({ ...wide, [path]: !open })}>${open ? "less" : `${value.length} characters`}</button>`;
}
