// What every part of the page sees: the server's state, and which part of it is looked at.
import { get, post } from "./api.js";

export const store = {
  state: null, methods: null, jobs: new Map(), ended: new Map(), known: {}, trouble: null,
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
  if (store.state && state.answer < store.state.answer) return; // overtaken on its way by a newer answer
  if (store.state?.facts.key !== state.facts.key) store.known = {}; // another file: nothing known is about it
  store.state = state;
  for (const [name, found] of Object.entries(state.results)) if (found?.verdict) store.known[name] = found;
  store.jobs = new Map(state.jobs.map((job) => [job.id, job]));
  const names = Object.keys(state.document.scenarios);
  if (!names.includes(store.view.scenario)) store.view = { ...store.view, scenario: names[0] };
  tell();
}

// The columns that steps, intruders and measures find: direct identifiers are left out on reading.
export const columnsOf = (state) => state.facts.columns.map((c) => c.name).filter((c) => !state.document.roles[c]?.includes("direct"));

export async function refresh() { take(await get("/api/state")); }

// Changes take turns: the next is sent when the one before is answered, with the version that it then is of.
let last = Promise.resolve();
function inTurn(address, content) {
  const sent = last.then(async () => {
    try {
      take(await post(address, { version: store.state.version, ...content }));
    } catch (error) {
      if (error.status === 409) await refresh();
      throw error;
    }
  });
  last = sent.catch(() => null);
  return sent;
}

// A change of the document; throws the server's message, so that the field it is about can show it.
export const change = (action, content = {}) => inTurn("/api/change", { action, ...content });

export const go = (to) => inTurn("/api/history", { to });

// What went wrong where nobody was listening: said at the top of the page, until it is read.
export const complain = (error) => { store.trouble = error; tell(); };

export async function quit() {
  await post("/api/quit", {});
  store.over = "asked";
  events?.close();
  tell();
}

// Work in the background: resolves with its result, throws what went wrong.
export async function start(address, content) {
  const { job } = await post(address, content);
  return waitFor(job);
}

const awaited = new Set();

export function waitFor(id) {
  awaited.add(id);
  return new Promise((resolve, reject) => {
    const look_again = () => {
      const job = store.ended.get(id);
      if (!job) return;
      leave();
      awaited.delete(id);
      if (job.state === "done") resolve(job.result);
      else if (job.state === "stopped") reject({ what: "Stopped.", stopped: true });
      else reject(job.result || { what: "The work failed." });
    };
    const leave = subscribe(look_again);
    if (!store.ended.has(id)) get(`/api/jobs/${id}`).then(({ ended }) => { if (ended) { heard(ended); tell(); } }, () => null);
    look_again();
  });
}

const ENDED = ["done", "failed", "stopped"];

function heard(job) {
  if (!ENDED.includes(job.state)) { store.jobs.set(job.id, job); return; }
  store.jobs.delete(job.id);
  store.ended.set(job.id, job);
  while (store.ended.size > 100) store.ended.delete(store.ended.keys().next().value);
}

// After a gap in the connection: what ended meanwhile is asked for.
async function catchUp() {
  await refresh();
  for (const id of awaited) {
    const { ended } = await get(`/api/jobs/${id}`);
    if (ended) heard(ended);
  }
  tell();
}

let events = null;

export function follow() {
  events = new EventSource("/api/events");
  events.addEventListener("state", () => refresh());
  events.addEventListener("job", async (event) => {
    const job = JSON.parse(event.data);
    if (ENDED.includes(job.state) && ["open", "judge"].includes(job.kind)) await refresh();
    heard(job);
    tell();
  });
  events.addEventListener("ending", (event) => { store.ending = JSON.parse(event.data); tell(); });
  events.addEventListener("ended", () => { store.over = "unused"; events.close(); tell(); });
  events.addEventListener("error", () => { store.lost = !store.over; tell(); });
  events.addEventListener("open", () => { store.lost = false; catchUp(); });
  addEventListener("hashchange", () => look({ screen: location.hash.slice(1).split("/")[0] || "data" }));
  addEventListener("unhandledrejection", (event) => { if (event.reason?.what) { event.preventDefault(); complain(event.reason); } });
}

export async function begin() {
  follow();
  [store.methods] = await Promise.all([get("/api/methods"), refresh()]);
  tell();
}

// Shares in percent, counts with thousands, other numbers with four figures.
export function number(value, share = false) {
  if (value === null || value === undefined) return "–";
  if (share) return `${(100 * value).toLocaleString(format(), { maximumSignificantDigits: 3 })} %`;
  return value.toLocaleString(format(), Number.isInteger(value) ? {} : { maximumSignificantDigits: 4 });
}

// What went wrong, in one line: what it was, what was given, what is allowed, and the way out.
export const said = (error) => [error.what || error.message, error.given ? `Given: ${error.given}.` : "", error.allowed ? `Allowed: ${error.allowed}.` : "", error.hint || ""].filter(Boolean).join(" ");

// Criteria as they are read: first what is not met, then what was not judged.
const ORDER = ["not met", "not judged", "met"];
export const gravestFirst = (criteria) => [...criteria].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));

// The share that is typed in percent, with or without its sign; null for nothing, NaN for what is no number.
export const shareOf = (text) => { const plain = text.replace(/[\s%]/g, ""); return plain === "" ? null : Number(plain.replace(",", ".")) / 100; };

// A number with what it counts, in the singular or the plural.
export const counted = (n, one, several = `${one}s`) => `${number(n)} ${n === 1 ? one : several}`;

// Of two shares the first, with as many figures as tell it from the second: 10.02 % beside 10 %.
export function beside(value, other, share) {
  const text = number(value, share);
  if (!share || value === other || other === null || text !== number(other, share)) return text;
  const digits = [4, 5, 6, 7, 8].find((n) => Number(value.toPrecision(n)) !== Number(other.toPrecision(n))) || 9;
  return `${(100 * value).toLocaleString(format(), { maximumSignificantDigits: digits })} %`;
}

// How numbers are written: a habit of who looks, kept in the browser and no part of the plan.
export const format = () => localStorage.getItem("sdckit numbers") || "en";
export function write(name) { localStorage.setItem("sdckit numbers", name); tell(); }
