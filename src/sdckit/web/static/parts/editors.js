// Editors for options that are more than a value: categories to merge, a level for each key, a matrix.
import { html, useEffect, useState } from "../vendor/preact.js";
import { counted, format, start, store } from "../store.js";
import { Typed } from "./typed.js";

function useColumn(column) {
  const [found, show] = useState(null);
  useEffect(() => {
    let gone = false;
    show(null);
    if (column) start("/api/jobs", { kind: "column", column }).then((f) => gone || show(f)).catch(() => gone || show({ original: {} }));
    return () => { gone = true; };
  }, [column]);
  return found;
}

// {new: [old, …]}: categories with the same new name become one. Rare categories are not listed, but a file with
// a map may name them.
export function Merged({ column, value, put, shared }) {
  const found = useColumn(column);
  const [told, say] = useState("");
  if (!column) return html`<p class="hint" id=${shared.id}>Choose the variable first.</p>`;
  if (!found) return html`<p class="hint" id=${shared.id}>Reading the categories …</p>`;
  const list = found.original.categories || [];
  const names = {};
  for (const [name, members] of Object.entries(value || {})) for (const member of members) names[String(member)] = name;
  const take = (next) => {
    const map = {};
    for (const [old, name] of Object.entries(next)) if (name) (map[name] ||= []).push(code(old));
    put(Object.keys(map).length ? map : undefined);
  };
  const load = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    if (file.size > LARGEST) { say(`${file.name} is too large for a map of codes.`); return; }
    const read = mapOf(await file.text(), new Set(list.map((c) => c.value)));
    const listed = list.filter((c) => c.value in read).length;
    say(`${file.name}: ${counted(Object.keys(read).length, "code")}, ${listed} of the ${counted(list.length, "category", "categories")} listed here${Object.keys(read).length > listed ? "; the others are rare, or not in the data" : ""}.`);
    take(read);
  };
  return html`<div id=${shared.id} role="group" aria-labelledby=${`${shared.id}-label`} aria-describedby=${shared["aria-describedby"]}>${list.length > 0 ? html`<table class="lines merge"><thead><tr><th scope="col">category</th><th scope="col">records</th><th scope="col">becomes</th></tr></thead><tbody>
    ${list.map((c) => html`<tr key=${c.value}><th scope="row">${c.value} ${found.labels[c.value] ? html`<small>${found.labels[c.value]}</small>` : ""}</th><td class="number">${c.count.toLocaleString(format())}</td>
      <td><${Typed} aria-label=${`new name of ${c.value}`} list="new-names" value=${names[c.value] || ""} placeholder="stays" put=${(text) => take({ ...names, [c.value]: text.trim() })} /></td></tr>`)}</tbody></table>`
      : html`<p class="hint">Its categories are too rare to be listed: give digits to keep, or a file.</p>`}
    <datalist id="new-names">${[...new Set(Object.values(names))].map((n) => html`<option value=${n} />`)}</datalist>
    <label class="button">From a file … <input type="file" class="hidden" accept=".csv,.txt,.tsv" onChange=${load} /></label> <span class="hint" role="status">${told || "Two columns: code, new name."}</span>
    ${Object.keys(names).length > 0 && html` <button type="button" onClick=${() => { say(""); put(undefined); }}>Empty it</button>`}</div>`;
}

const LARGEST = 5_000_000; // bytes
const code = (text) => String(Number(text)) === text ? Number(text) : text; // "01" stays a text

// {code: group} from the text of a file: two columns, separated by a comma, a semicolon or a tab. A first line whose
// code is no category while others are is taken for the names of the columns.
export function mapOf(text, known) {
  const rows = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim()).map((line) => {
    const mark = ["\t", ";", ","].find((m) => line.includes(m)) || ",";
    const cut = line.startsWith('"') ? line.indexOf(`"${mark}`) + 1 : line.indexOf(mark);
    return [line.slice(0, cut), line.slice(cut + 1)].map((part) => part.trim().replace(/^"(.*)"$/s, "$1").replaceAll('""', '"'));
  }).filter(([old, name]) => old && name);
  const headed = rows.length > 1 && !known.has(rows[0][0]) && rows.slice(1).some(([old]) => known.has(old)) && Number.isNaN(Number(rows[0][0]));
  return Object.fromEntries(headed ? rows.slice(1) : rows);
}

// {key: level}: a row of buttons for each key.
export function Levels({ field, value, put, shared }) {
  const keys = Object.entries(store.state.document.roles).filter(([, roles]) => roles.includes("keys")).map(([c]) => c);
  const given = value && !Array.isArray(value) ? value : {};
  const set = (key, level) => { const { [key]: had, ...rest } = given; const next = level === "normal" ? rest : { ...rest, [key]: level }; put(Object.keys(next).length ? next : undefined); };
  return html`<table class="lines levels" id=${shared.id}><tbody>${keys.map((key) => html`<tr key=${key}><th scope="row">${key}</th><td><div class="chips" role="group" aria-label=${`importance of ${key}`}>
    ${Object.entries(field.choices).map(([level, meaning]) => html`<button type="button" title=${meaning} class=${(given[key] ?? "normal") === level ? "chip on" : "chip"} aria-pressed=${(given[key] ?? "normal") === level} onClick=${() => set(key, level)}>${level}</button>`)}</div></td></tr>`)}</tbody></table>`;
}

// {old: {new: probability}}: rows add up to one. The arrow keys go from cell to cell.
export function Matrix({ column, value, put, shared }) {
  const found = useColumn(column);
  if (!column) return html`<p class="hint" id=${shared.id}>Choose one variable first.</p>`;
  const list = (found?.original.categories || []).map((c) => c.value);
  if (!found || !list.length || list.length > 12) return html`<p class="hint" id=${shared.id}>${found ? "For up to 12 categories; others are given by the probability to stay." : "Reading the categories …"}</p>`;
  const make = () => put(Object.fromEntries(list.map((old) => [old, Object.fromEntries(list.map((now) => [now, old === now ? 0.8 : Number((0.2 / (list.length - 1 || 1)).toFixed(6))]))])));
  if (!value) return html`<div id=${shared.id}><button type="button" onClick=${make}>Write down the matrix</button></div>`;
  const cell = (i, j) => document.getElementById(`${shared.id}-${i}-${j}`);
  const go = (event, i, j) => {
    const { selectionStart: start, selectionEnd: end, value: text } = event.target;
    const to = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: start === 0 ? [i, j - 1] : null, ArrowRight: end === text.length ? [i, j + 1] : null }[event.key];
    const next = to && cell(...to);
    if (next) { event.preventDefault(); next.focus(); next.select(); }
  };
  const set = (old, now, text) => { const given = Number(text.replace(",", ".")); if (text.trim() !== "" && !Number.isNaN(given)) put({ ...value, [old]: { ...value[old], [now]: given } }); };
  const sum = (old, without) => list.reduce((all, now) => all + (now === without ? 0 : value[old]?.[now] ?? 0), 0);
  const settle = () => put(Object.fromEntries(list.map((old) => [old, { ...value[old], [old]: Number(Math.max(0, 1 - sum(old, old)).toFixed(6)) }])));
  return html`<div class="wide"><table class="matrix" id=${shared.id}><thead><tr><th scope="col">from ↓ to →</th>${list.map((c) => html`<th scope="col">${found.labels[c] || c}</th>`)}<th scope="col">sum</th></tr></thead><tbody>
    ${list.map((old, i) => html`<tr key=${old}><th scope="row">${found.labels[old] || old}</th>${list.map((now, j) => html`<td><${Typed} class="cell" id=${`${shared.id}-${i}-${j}`} inputmode="decimal" aria-label=${`from ${old} to ${now}`} value=${value[old]?.[now] ?? 0} onKeyDown=${(e) => go(e, i, j)} put=${(text) => set(old, now, text)} /></td>`)}
      <td class=${Math.abs(sum(old) - 1) > 1e-6 ? "bad" : ""}>${Number(sum(old).toPrecision(6))}</td></tr>`)}</tbody></table></div>
    <div class="buttons"><button type="button" onClick=${settle}>The rest stays (diagonal)</button><button type="button" onClick=${() => put(undefined)}>Without a matrix</button></div>`;
}
