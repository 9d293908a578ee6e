// What every part of the page sees: the server's state, and which part of it is looked at.
import { get, post } from "./api.js";

export const store = {
  state: null, methods: null, jobs: new Map(), ended: new Map(), known: {},
  view: { screen: location.hash.slice(1).split("/")[0] || "data", scenario: null, form: null, help: null },
};
const listeners = new Set();
export const subscribe = (listener) => { listeners.add(listener); return () => listeners.delete(listener); };
const tell = () => listeners.forEach((listener) => listener());

export function look(change) {
  store.view = { ...store.view, ...change };
  if (change.screen && location.hash !== `#${change.screen}`) location.hash = change.screen;
  if (change.screen) document.getElementById("main")?.scrollTo(0, 0);
  tell();
}

function take(state) {
  if (store.state && state.version < store.state.version) return;
  store.state = state;
  for (const [name, found] of Object.entries(state.results)) if (found) store.known[name] = found;
  store.jobs = new Map(state.jobs.map((job) => [job.id, job]));
  const names = Object.keys(state.document.scenarios);
  if (!names.includes(store.view.scenario)) store.view = { ...store.view, scenario: names[0] };
  tell();
}

export async function refresh() { take(await get("/api/state")); }

// A change of the document; throws the server's message, so that the field it is about can show it.
export async function change(action, content = {}) {
  try {
    take(await post("/api/change", { version: store.state.version, action, ...content }));
  } catch (error) {
    if (error.status === 409) await refresh();
    throw error;
  }
}

export const go = async (to) => take(await post("/api/history", { to }));

// Work in the background: resolves with its result, throws what went wrong.
export async function start(address, content) {
  const { job } = await post(address, content);
  return waitFor(job);
}

export function waitFor(id) {
  return new Promise((resolve, reject) => {
    const look_again = () => {
      const job = store.ended.get(id);
      if (!job) return;
      leave();
      if (job.state === "done") resolve(job.result);
      else if (job.state === "stopped") reject({ what: "Stopped.", stopped: true });
      else reject(job.result || { what: "The work failed." });
    };
    const leave = subscribe(look_again);
    look_again();
  });
}

export function follow() {
  const events = new EventSource("/api/events");
  events.addEventListener("state", () => refresh());
  events.addEventListener("job", async (event) => {
    const job = JSON.parse(event.data);
    if (["done", "failed", "stopped"].includes(job.state)) {
      store.jobs.delete(job.id);
      store.ended.set(job.id, job);
      if (["open", "judge"].includes(job.kind)) await refresh();
    } else store.jobs.set(job.id, job);
    tell();
  });
  events.addEventListener("error", () => { store.lost = true; tell(); });
  events.addEventListener("open", () => { if (store.lost) { store.lost = false; refresh(); } });
  addEventListener("hashchange", () => look({ screen: location.hash.slice(1).split("/")[0] || "data" }));
}

export async function begin() {
  [store.methods] = await Promise.all([get("/api/methods"), refresh()]);
  follow();
  tell();
}

// Shares in percent, counts with thousands, other numbers with four figures.
export function number(value, share = false) {
  if (value === null || value === undefined) return "–";
  if (share) return `${(100 * value).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;
  return value.toLocaleString("en", Number.isInteger(value) ? {} : { maximumSignificantDigits: 4 });
}
