// Inputs for what is typed: the text stays as it is typed, and what it means is handed on.
import { html, useEffect, useState } from "../vendor/preact.js";
import { upload } from "../api.js";
import { said } from "../store.js";

/** @param {string} text */
export const parsed = (text) => { const t = text.trim(); return t === "" ? undefined : Number.isNaN(Number(t)) ? t : Number(t); };
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const items = (text) => text.split(",").map(parsed).filter((v) => v !== undefined);
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);
const some = (list) => list.length ? list : undefined;

// A value shown as text. “0.” on the way to 0.05 is not taken from under the fingers; a value that changes
// elsewhere (a handle that is dragged) is shown.
export function Typed({ value, read, write, put, rows, ...shared }) {
  const [text, type] = useState(() => write(value));
  useEffect(() => { let now; try { now = read(text); } catch { return; } if (!same(now, value)) type(write(value)); }, [JSON.stringify(value)]);
  const take = (event) => {
    type(event.target.value);
    try { put(read(event.target.value)); event.target.setCustomValidity(""); } catch (error) { event.target.setCustomValidity(error.message); }
  };
  return rows ? html`<textarea ...${shared} rows=${rows} onInput=${take} value=${text}></textarea>` : html`<input ...${shared} onInput=${take} value=${text} />`;
}

const one = { read: parsed, write: (value) => value === undefined || value === null ? "" : String(value) };
const list = { read: (text) => some(items(text)), write: (value) => Array.isArray(value) ? value.join(", ") : value ?? "" };

export const Single = ({ field, value, put, shared }) => html`<${Typed} ...${shared} ...${one} value=${value} put=${put}
  inputmode=${field.kind === "text" || field.kind === "file" ? "text" : "decimal"} placeholder=${field.default ?? ""} />`;
export const List = ({ value, put, shared }) => html`<${Typed} ...${shared} ...${list} value=${value} put=${put} placeholder="separated by commas" />`;

// Pairs of a name and what it becomes, one a line: "name: value", as a plan writes them.
function pairs(text, meaning) {
  const found = lines(text).map((line) => {
    const [name, rest] = line.split(/:(.*)/s);
    if (rest === undefined) throw new Error(`“${line}” has no colon: name: value.`);
    return [name.trim(), meaning(rest.trim())];
  });
  return found.length ? Object.fromEntries(found) : undefined;
}
function json(text) {
  try { return JSON.parse(text); } catch { throw new Error(`“${text}” cannot be read.`); }
}
const mapping = {
  read: (text) => pairs(text, (v) => v.startsWith("{") || v.startsWith("[") ? json(v) : parsed(v) ?? null),
  write: (value) => Object.entries(value || {}).map(([k, v]) => `${k}: ${v !== null && typeof v === "object" ? JSON.stringify(v) : v}`).join("\n"),
};
export const Mapping = ({ value, put, shared }) => html`<${Typed} ...${shared} ...${mapping} rows="4" value=${value} put=${put} placeholder="name: value, one a line" />`;

// {column: [value, …]}: "age: 15, 99", one column a line.
const lists = {
  read: (text) => pairs(text, (v) => items(v.replace(/^\[(.*)\]$/, "$1"))),
  write: (value) => Object.entries(value || {}).map(([k, v]) => `${k}: ${[].concat(v).join(", ")}`).join("\n"),
};
export const Lists = ({ value, put, shared }) => html`<${Typed} ...${shared} ...${lists} rows="3" value=${value} put=${put} placeholder="column: value, value; one column a line" />`;

// Expressions, one a line: commas may stand in them.
const expressions = { read: (text) => some(lines(text)), write: (value) => [].concat(value ?? []).join("\n") };
export const Expressions = ({ value, put, shared }) => html`<${Typed} ...${shared} ...${expressions} rows="3" value=${value} put=${put} placeholder="one a line" />`;

// [[column, …], …]: one list a line. A single list may stand without the outer one.
const columnLists = {
  read: (text) => some(lines(text).map((line) => line.split(",").map((c) => c.trim()).filter(Boolean))),
  write: (value) => (Array.isArray(value) && value.length && !Array.isArray(value[0]) ? [value] : value || []).map((l) => l.join(", ")).join("\n"),
};
export const ColumnLists = ({ value, put, shared }) => html`<${Typed} ...${shared} ...${columnLists} rows="3" value=${value} put=${put} placeholder="column, column; one list a line" />`;

// [{when: …, then: {column: value}}]: a line for each rule, its condition beside what follows.
const follows = {
  read: (text) => text.split(",").filter((p) => p.trim()).map((p) => p.split(/=(.*)/s)).reduce((all, [name, v]) => {
    if (v === undefined) throw new Error("What follows is column = value, separated by commas.");
    const to = v.trim();
    return { ...all, [name.trim()]: ["", "null", "missing"].includes(to.toLowerCase()) ? null : parsed(to) };
  }, {}),
  write: (value) => Object.entries(value || {}).map(([k, v]) => `${k} = ${v === null ? "missing" : v}`).join(", "),
};
export function Rules({ value, put, shared }) {
  const all = value || [];
  const set = (at, part) => put(all.map((rule, i) => i === at ? { ...rule, ...part } : rule));
  return html`<div id=${shared.id} role="group" aria-label="Rules" aria-describedby=${shared["aria-describedby"]}>${all.map((rule, at) => html`<div class="rule" key=${at}>
      <label>where <${Typed} read=${(t) => t} write=${(v) => v ?? ""} value=${rule.when} put=${(when) => set(at, { when })} placeholder="age < 15" /></label>
      <label>it follows that <${Typed} ...${follows} value=${rule.then} put=${(then) => set(at, { then })} placeholder="works = missing, hours = 0" /></label>
      <button type="button" aria-label=${`Take rule ${at + 1} out`} onClick=${() => put(some(all.filter((_, i) => i !== at)))}>Take out</button></div>`)}
    <button type="button" onClick=${() => put([...all, { when: "", then: {} }])}>One more rule</button></div>`;
}

// A file that an option names: by its path, or uploaded; it stays in the session's folder, and the plan names it.
const TABLES = ".csv,.gz,.parquet,.sav,.zsav,.dta,.sas7bdat,.xpt,.xlsx";
export function NamedFile({ field, value, put, shared, accept = TABLES }) {
  const [busy, wait] = useState(false);
  const [trouble, say] = useState(null);
  const send = async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    wait(true); say(null);
    try { put((await upload(file, true)).file); } catch (error) { say(error); }
    wait(false);
    event.target.value = "";
  };
  return html`<div class="namedfile"><${Single} field=${field} value=${value} put=${put} shared=${shared} />
    <label class="button">${busy ? "Uploading …" : "Upload …"} <input type="file" class="hidden" disabled=${busy} aria-label=${`Upload: ${field.label}`} accept=${accept} onChange=${send} /></label>
    ${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}</div>`;
}
