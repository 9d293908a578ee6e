// Where small cells come from: for each key and code, the records below k by the number of keys looked at together.
import { html, useEffect, useState } from "../vendor/preact.js";
import { number, said, start, store } from "../store.js";

export function Codes({ state }) {
  const keys = Object.values(state.document.roles).filter((roles) => roles.includes("keys")).length;
  const [k, setK] = useState("3");
  const [most, setMost] = useState(String(Math.min(3, keys || 1)));
  const [found, show] = useState(null);
  const [file, choose] = useState("protected");
  const [what, count] = useState("records");
  const [key, pick] = useState("");
  useEffect(() => { show(null); }, [store.view.scenario, state.version]);
  const ask = async (event) => {
    event.preventDefault();
    const { scenario } = store.view, { version } = store.state;
    const still = () => scenario === store.view.scenario && version === store.state.version;
    show({ waiting: true });
    try { const result = await start("/api/jobs", { kind: "codes", scenario, k: Number(k), most: Number(most) }); if (still()) show({ ...result, k }); }
    catch (error) { if (still()) show(error.stopped ? null : { trouble: error }); }
  };
  if (!keys) return html`<p class="hint">There are no keys: give some variables this role first.</p>`;
  const rows = found?.[file] || [];
  const names = [...new Set(rows.map((row) => row.variable))];
  const sizes = [...new Set(rows.flatMap((row) => Object.keys(row.sizes)))];
  const sum = (name, size) => rows.filter((row) => row.variable === name).reduce((all, row) => all + (row.sizes[size]?.[what] ?? 0), 0);
  const at = names.includes(key) ? key : names[0];
  return html`<form class="tools" onSubmit=${ask}><label>k <input class="short" inputmode="numeric" value=${k} onInput=${(e) => setK(e.target.value)} /></label>
      <label>Keys looked at together, at most <input class="short" inputmode="numeric" value=${most} onInput=${(e) => setMost(e.target.value)} /></label><button class="main">Count</button></form>
    ${found?.waiting && html`<p class="hint" role="status">Being counted …</p>`}
    ${found?.trouble && html`<p class="bad" role="alert">${said(found.trouble)}</p>`}
    ${rows.length > 0 && html`<div class="tools"><div class="chips" role="group" aria-label="Which file">${[["protected", `scenario ${store.view.scenario}`], ["original", "original"]].map(([name, words]) => html`<button class=${file === name ? "chip on" : "chip"} aria-pressed=${file === name} onClick=${() => choose(name)}>${words}</button>`)}</div>
        <div class="chips" role="group" aria-label="What is counted">${["records", "combinations"].map((name) => html`<button class=${what === name ? "chip on" : "chip"} aria-pressed=${what === name} onClick=${() => count(name)}>${name}</button>`)}</div></div>
      <p class="hint">${what === "records" ? `Records that fewer than ${found.k} share with the same values of 1, 2, … keys, one of them this key.` : `Combinations of 1, 2, … keys, one of them this key, that occur in fewer than ${found.k} records.`} For the office alone.</p>
      <div class="pair"><${Sorted} caption="By key" first="Key" sizes=${sizes} rows=${names.map((name) => ({ name, counts: sizes.map((size) => sum(name, size)) }))} at=${at} pick=${pick} />
        <${Sorted} key=${at} caption=${`Codes of ${at}`} first="Code" sizes=${sizes} all=${true} rows=${rows.filter((row) => row.variable === at).map((row) => ({ name: row.code ?? "missing", label: row.label, all: row.records, counts: sizes.map((size) => row.sizes[size]?.[what] ?? null) }))} /></div>`}`;
}

// A table whose columns sort it; the first click on a number puts the largest first.
function Sorted({ caption, first, sizes, rows, all = false, at, pick }) {
  const [by, sort] = useState({ column: null, down: false });
  const heads = [[first, (row) => row.name], ...(all ? [["Records", (row) => row.all]] : []), ...sizes.map((size, i) => [`${size} ${size === "1" ? "key" : "keys"}`, (row) => row.counts[i]])];
  const value = by.column === null ? null : heads[by.column][1];
  const compare = (a, b) => typeof a === "number" || typeof b === "number" ? (a ?? -1) - (b ?? -1) : String(a).localeCompare(String(b), undefined, { numeric: true });
  const list = value ? rows.slice().sort((a, b) => (by.down ? -1 : 1) * compare(value(a), value(b))) : rows;
  const flip = (column) => sort({ column, down: by.column === column ? !by.down : column > 0 });
  return html`<div class="wide codes" tabindex="0" role="region" aria-label=${caption}><table class="variables"><caption class="hint">${caption}</caption>
    <thead><tr>${heads.map(([title], i) => html`<th scope="col" class=${i ? "number" : ""} aria-sort=${by.column === i ? (by.down ? "descending" : "ascending") : null}><button class="quiet" onClick=${() => flip(i)}>${title}${by.column === i ? (by.down ? " ▾" : " ▴") : ""}</button></th>`)}</tr></thead>
    <tbody>${list.map((row) => html`<tr key=${row.name}><th scope="row">${pick ? html`<button class="quiet" aria-pressed=${row.name === at} onClick=${() => pick(row.name)}>${row.name}</button>` : row.name}${row.label && html`<small>${row.label}</small>`}</th>
      ${all && html`<td class="number">${number(row.all)}</td>`}${row.counts.map((n) => html`<td class="number">${number(n)}</td>`)}</tr>`)}</tbody></table></div>`;
}
