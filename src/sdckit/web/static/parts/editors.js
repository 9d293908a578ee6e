// Editors for options that are more than a value: categories to merge, a level for each key, a matrix.
import { html, useEffect, useState } from "../vendor/preact.js";
import { start, store } from "../store.js";

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

// {new: [old, …]}: categories with the same new name become one.
export function Merged({ column, value, put, shared }) {
  const found = useColumn(column);
  if (!column) return html`<p class="hint" id=${shared.id}>Choose the variable first.</p>`;
  if (!found) return html`<p class="hint" id=${shared.id}>Reading the categories …</p>`;
  const list = found.original.categories || [];
  const names = {};
  for (const [name, members] of Object.entries(value || {})) for (const member of members) names[String(member)] = name;
  const set = (old, name) => {
    const next = { ...names, [old]: name.trim() };
    const map = {};
    for (const c of list) if (next[c.value]) (map[next[c.value]] ||= []).push(number(c.value));
    put(Object.keys(map).length ? map : undefined);
  };
  if (!list.length) return html`<p class="hint" id=${shared.id}>Its categories are too rare to be listed; give digits to keep instead.</p>`;
  return html`<table class="lines merge" id=${shared.id}><thead><tr><th scope="col">category</th><th scope="col">records</th><th scope="col">becomes</th></tr></thead><tbody>
    ${list.map((c) => html`<tr key=${c.value}><th scope="row">${c.value} ${found.labels[c.value] ? html`<small>${found.labels[c.value]}</small>` : ""}</th><td class="number">${c.count.toLocaleString("en")}</td>
      <td><input aria-label=${`new name of ${c.value}`} list="new-names" value=${names[c.value] || ""} placeholder="stays" onChange=${(e) => set(c.value, e.target.value)} /></td></tr>`)}</tbody></table>
    <datalist id="new-names">${[...new Set(Object.values(names))].map((n) => html`<option value=${n} />`)}</datalist>`;
}

const number = (text) => /^-?\d+$/.test(text) ? Number(text) : text;

// {key: level}: a row of buttons for each key.
export function Levels({ field, value, put, shared }) {
  const keys = Object.entries(store.state.document.roles).filter(([, roles]) => roles.includes("keys")).map(([c]) => c);
  const given = value && !Array.isArray(value) ? value : {};
  const set = (key, level) => { const { [key]: had, ...rest } = given; const next = level === "normal" ? rest : { ...rest, [key]: level }; put(Object.keys(next).length ? next : undefined); };
  return html`<table class="lines levels" id=${shared.id}><tbody>${keys.map((key) => html`<tr key=${key}><th scope="row">${key}</th><td><div class="chips" role="group" aria-label=${`importance of ${key}`}>
    ${Object.entries(field.choices).map(([level, meaning]) => html`<button type="button" title=${meaning} class=${(given[key] ?? "normal") === level ? "chip on" : "chip"} aria-pressed=${(given[key] ?? "normal") === level} onClick=${() => set(key, level)}>${level}</button>`)}</div></td></tr>`)}</tbody></table>`;
}

// {old: {new: probability}}: rows add up to one.
export function Matrix({ column, value, put, shared }) {
  const found = useColumn(column);
  if (!column) return html`<p class="hint" id=${shared.id}>Choose one variable first.</p>`;
  const list = (found?.original.categories || []).map((c) => c.value);
  if (!found || !list.length || list.length > 12) return html`<p class="hint" id=${shared.id}>${found ? "For up to 12 categories; others are given by the probability to stay." : "Reading the categories …"}</p>`;
  const make = () => put(Object.fromEntries(list.map((old) => [old, Object.fromEntries(list.map((now) => [now, old === now ? 0.8 : Number((0.2 / (list.length - 1 || 1)).toFixed(6))]))])));
  if (!value) return html`<button type="button" id=${shared.id} onClick=${make}>Write down the matrix</button>`;
  const set = (old, now, text) => put({ ...value, [old]: { ...value[old], [now]: Number(text) } });
  const sum = (old) => Object.values(value[old] || {}).reduce((a, b) => a + b, 0);
  return html`<div class="wide"><table class="matrix" id=${shared.id}><thead><tr><th scope="col">from ↓ to →</th>${list.map((c) => html`<th scope="col">${found.labels[c] || c}</th>`)}<th scope="col">sum</th></tr></thead><tbody>
    ${list.map((old) => html`<tr key=${old}><th scope="row">${found.labels[old] || old}</th>${list.map((now) => html`<td><input class="cell" inputmode="decimal" aria-label=${`from ${old} to ${now}`} value=${value[old]?.[now] ?? 0} onChange=${(e) => set(old, now, e.target.value)} /></td>`)}
      <td class=${Math.abs(sum(old) - 1) > 1e-6 ? "bad" : ""}>${Number(sum(old).toPrecision(6))}</td></tr>`)}</tbody></table></div><button type="button" onClick=${() => put(undefined)}>Without a matrix</button>`;
}
