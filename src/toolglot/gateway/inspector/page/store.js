// Where data comes from: the API, or what is embedded in an exported file.
const API_ROOT = "/toolglot/api/v1";
const EMBEDDED = readEmbedded();
export const IS_FILE = EMBEDDED !== null;

function readEmbedded() {
  const element = document.getElementById("data");
  return element ? JSON.parse(element.textContent) : null;
}

export class NeedsKey extends Error {}

export function storedKey() {
  return IS_FILE ? "" : sessionStorage.getItem("toolglot-key") || "";
}

export function storeKey(key) {
  sessionStorage.setItem("toolglot-key", key);
}

function withKey(headers = {}) {
  const key = storedKey();
  return key ? { ...headers, Authorization: `Bearer ${key}` } : headers;
}

export async function ask(path, options = {}) {
  const reply = await fetch(API_ROOT + path, { ...options, headers: withKey(options.headers) });
  if (reply.status === 401 || reply.status === 403) throw new NeedsKey(await words(reply));
  if (!reply.ok) throw new Error(await words(reply));
  return reply;
}

async function words(reply) {
  const text = await reply.text();
  try {
    const body = JSON.parse(text);
    return body.error?.message || body.error || text;
  } catch {
    return text || `status ${reply.status}`;
  }
}

const json = async (path, options) => (await ask(path, options)).json();

export async function getSessions(text) {
  if (IS_FILE) return { ...EMBEDDED.info, sessions: EMBEDDED.sessions };
  return json(`/sessions${text ? `?text=${encodeURIComponent(text)}` : ""}`);
}

export async function getSession(id) {
  return IS_FILE ? EMBEDDED.session[id] : json(`/sessions/${id}`);
}

export async function getExchange(number) {
  return IS_FILE ? EMBEDDED.exchange[number] : json(`/exchanges/${number}`);
}

export async function getStream(number) {
  return IS_FILE ? EMBEDDED.stream[number] : json(`/exchanges/${number}/stream`);
}

export async function getNumbers() {
  return IS_FILE ? EMBEDDED.numbers : json("/numbers");
}

export async function getText(path) {
  return (await ask(path)).text();
}

export const getDoctor = (number) => json(`/exchanges/${number}/doctor`);

export const postWhatIf = (number, question) =>
  json(`/exchanges/${number}/what-if`, { method: "POST", body: JSON.stringify(question) });

// A request as a client would send it; the gateway answers it like any other.
export async function send(path, body) {
  const headers = withKey({ "Content-Type": "application/json" });
  const reply = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await reply.text();
  return { status: reply.status, text };
}

export async function download(path, name) {
  const blob = await (await ask(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The event stream is read with fetch, since an EventSource cannot send a key.
export function follow(onChange, onState) {
  if (IS_FILE) return () => {};
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        const reply = await ask("/events", { signal: stop.signal });
        onState(true);
        const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          if (value.includes("event: exchange")) onChange();
        }
      } catch (problem) {
        if (problem instanceof NeedsKey) return;
      }
      onState(false);
      await new Promise((wake) => setTimeout(wake, 2000));
      if (!stop.signal.aborted) onChange();
    }
  };
  run();
  return () => stop.abort();
}
