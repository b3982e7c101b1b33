// A list of which only the rows in view are in the document, so that ten thousand scroll smoothly.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact-standalone.js";

const SPARE_ROWS = 8;

export function VirtualList({ rows, height, label, selected, reveal, onSelect, onOpen, render, id, empty }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, room: 600 });
  useEffect(() => {
    const element = box.current;
    const measure = () => setView({ top: element.scrollTop, room: element.clientHeight });
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    return () => { element.removeEventListener("scroll", measure); watcher.disconnect(); };
  }, []);
  useEffect(() => {
    const element = box.current, wanted = reveal ?? selected, top = wanted * height;
    if (wanted < 0) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }, [selected, reveal, rows.length]);
  const first = Math.max(0, Math.floor(view.top / height) - SPARE_ROWS);
  const last = Math.min(rows.length, Math.ceil((view.top + view.room) / height) + SPARE_ROWS);
  const shown = rows.slice(first, last);
  return html`<div class="list" role="listbox" aria-label=${label} tabindex="0" ref=${box} id=${id}
      aria-activedescendant=${selected >= first && selected < last ? `${id}-${selected}` : undefined}
      onKeyDown=${(event) => {
        if (event.key === "ArrowDown") { event.preventDefault(); onSelect(Math.min(rows.length - 1, selected + 1)); }
        else if (event.key === "ArrowUp") { event.preventDefault(); onSelect(Math.max(0, selected - 1)); }
        else if (event.key === "Enter" && onOpen) { event.preventDefault(); event.stopPropagation(); onOpen(selected); }
      }}>
    ${!rows.length && empty ? html`<div role="option" aria-disabled="true" aria-selected="false" class="none">${empty}</div>` : null}
    <div role="presentation" style=${{ height: `${first * height}px` }}></div>
    ${shown.map((row, at) => html`<div role="option" key=${first + at} id=${`${id}-${first + at}`}
      aria-selected=${first + at === selected ? "true" : "false"} style=${{ height: `${height}px` }}
      class=${first + at === selected ? "row on" : "row"} onClick=${() => onSelect(first + at)}
      onDblClick=${() => onOpen && onOpen(first + at)}>${render(row, first + at)}</div>`)}
    <div role="presentation" style=${{ height: `${(rows.length - last) * height}px` }}></div>
  </div>`;
}
