// A table of any length: only the rows in sight are asked for.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { counted, format } from "../store.js";
import { get } from "../api.js";
import { Typed } from "./typed.js";

const HEIGHT = 26, PAGE = 60, TALLEST = 8_000_000; // browsers end at some 33 million pixels

// `compared`: a second file with the same records in the same rows; `pairs` shows both values of every cell.
// `labels`: {column: {code: text}}, shown instead of codes.
export function Table({ file, compared, pairs = false, roles = {}, labels = {} }) {
  const [part, keep] = useState(null);
  const [sort, setSort] = useState({ column: "", descending: false });
  const [filter, setFilter] = useState({ column: "", value: "" });
  const [together, group] = useState(false); // records with the same keys
  const [top, scroll] = useState(0);
  const box = useRef(null);
  const count = part?.count ?? 0;
  const keys = (part?.columns || []).filter((c) => roles[c]?.includes("keys"));
  const tall = Math.min(count * HEIGHT, TALLEST);
  const scale = tall ? (count * HEIGHT) / tall : 1;
  const first = Math.max(0, Math.min(Math.floor((top * scale) / HEIGHT) - 10, Math.max(count - PAGE, 0)));
  useEffect(() => {
    let gone = false;
    const classes = together ? { classes: JSON.stringify(keys) } : {};
    const asked = { ...classes, at: first, n: PAGE, sort: sort.column, descending: sort.descending ? 1 : 0, column: filter.column, value: filter.value };
    const timer = setTimeout(async () => {
      const found = await get("/api/rows", { ...asked, file, ...(compared ? { beside: compared } : {}) });
      if (!gone) keep(found);
    }, 30);
    return () => { gone = true; clearTimeout(timer); };
  }, [file, compared, first, sort, filter, together]);
  if (!part) return html`<p class="hint">Reading the records …</p>`;
  const other = part.beside;
  const places = Object.fromEntries((other?.columns || []).map((name, i) => [name, i]));
  const shown = (column, value) => value === null || value === undefined ? html`<span class="missing">·</span>` : labels[column]?.[value] ?? value;
  const jump = (event) => { if (event.key === "Enter") box.current.scrollTop = ((Number(event.target.value) - 1) * HEIGHT) / scale; };
  const head = (c, more = "") => html`<th scope="col" class=${(roles[c] || [])[0] || ""}>
    <button class="quiet" aria-label=${`sort by ${c}`} onClick=${() => setSort({ column: c, descending: sort.column === c && !sort.descending })}>${c}${more}${sort.column === c ? (sort.descending ? " ▾" : " ▴") : ""}</button></th>`;
  const cells = (row, i) => part.columns.map((c, j) => {
    const place = places[c], value = row[j], now = other?.rows[i]?.[place];
    const changed = other && place !== undefined && now !== value;
    if (pairs && other) return html`<td>${shown(c, value)}</td><td class=${changed ? "after changed" : "after"}>${place === undefined ? "" : shown(c, now)}</td>`;
    return changed ? html`<td class="changed"><s>${shown(c, value)}</s> ${shown(c, now)}</td>` : html`<td>${shown(c, value)}</td>`;
  });
  return html`<div class="tools"><label>Go to record <input class="short" inputmode="numeric" onKeyDown=${jump} /></label>
      <label>Only where <select value=${filter.column} onChange=${(e) => setFilter({ ...filter, column: e.target.value })}>
        <option value="">…</option>${part.columns.map((c) => html`<option>${c}</option>`)}</select></label>
      <label>has <${Typed} value=${filter.value} put=${(value) => setFilter({ ...filter, value })} /></label>
      ${keys.length > 0 && html`<label><input type="checkbox" checked=${together} onChange=${() => group(!together)} /> same keys together</label>`}
      <span class="hint">${counted(count, "record")}</span></div>
    <div class="records" ref=${box} onScroll=${(e) => scroll(e.target.scrollTop)} tabindex="0" aria-label="Records">
      <div class="rows" style=${{ height: `${tall + HEIGHT}px` }}>
        <table style=${{ transform: `translateY(${Math.max(0, (part.at * HEIGHT) / scale)}px)` }}>
        <thead><tr><th scope="col">#</th>${part.alike && html`<th scope="col">alike</th>`}${part.columns.map((c) => pairs && other ? html`${head(c)}<th scope="col" class="after">protected</th>` : head(c))}</tr></thead>
        <tbody>${part.rows.map((row, i) => html`<tr key=${part.at + i} class=${part.begins?.[i] ? "begins" : ""}><th scope="row">${part.places[i] + 1}</th>${part.alike && html`<td class="number">${part.alike[i].toLocaleString(format())}</td>`}${cells(row, i)}</tr>`)}</tbody></table>
      </div></div>`;
}
