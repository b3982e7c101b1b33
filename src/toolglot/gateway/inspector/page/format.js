// Texts for people. What models and tools wrote is never HTML: it is shown as text, and marks that
// would change the order or look of other text are spelled out.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text) {
  return String(text).replace(HIDDEN, (mark) =>
    mark === "\r" ? "" : `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function cut(text, most = 160) {
  const shown = String(text);
  return visible(shown.length > most ? `${shown.slice(0, most)}…` : shown);
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1048576) return `${(count / 1024).toFixed(count < 10240 ? 1 : 0)} KB`;
  return `${(count / 1048576).toFixed(1)} MB`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value < 0.0995) return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  return value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
}

export function ago(then, now) {
  const past = Math.max(0, now - then);
  if (past < 5) return "now";
  if (past < 60) return `${Math.round(past)} s`;
  if (past < 3600) return `${Math.round(past / 60)} min`;
  if (past < 86400) return `${Math.round(past / 3600)} h`;
  return new Date(then * 1000).toISOString().slice(0, 10);
}

export function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Which lines of two texts are on one side only: the longest common subsequence, for short texts.
export function changedLines(before, after) {
  const left = before.split("\n"), right = after.split("\n");
  if (left.length * right.length > 250000) return [left, right, new Set(), new Set()];
  const table = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  const same = (a, b) => a.replace(/,$/, "") === b.replace(/,$/, "");
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      table[i][j] = same(left[i], right[j]) ? table[i + 1][j + 1] + 1
        : Math.max(table[i + 1][j], table[i][j + 1]);
  const gone = new Set(), added = new Set();
  let i = 0, j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && same(left[i], right[j])) { i++; j++; }
    else if (j >= right.length || (i < left.length && table[i + 1][j] >= table[i][j + 1])) gone.add(i++);
    else added.add(j++);
  }
  return [left, right, gone, added];
}

export const VERDICT_LOOK = {
  valid: "ok", repaired: "warn", repeated: "warn", open: "info", unanswered: "bad", withheld: "bad",
  mismatch: "bad", unknown: "bad",
};
export const VERDICT_WORDS = {
  valid: "valid", repaired: "repaired", repeated: "repeated", open: "open", unanswered: "unanswered",
  withheld: "withheld", mismatch: "mismatch", unknown: "unknown name",
};
export const SEVERITY_LOOK = { info: "info", lossy: "warn", unsupported: "bad" };
