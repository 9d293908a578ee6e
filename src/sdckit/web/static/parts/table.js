// A table of any length: only the rows in sight are asked for.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get } from "../api.js";

const HEIGHT = 26, PAGE = 60, TALLEST = 8_000_000; // browsers end at some 33 million pixels

export function Table({ file, compared, roles = {} }) {
  const [part, keep] = useState(null);
  const [other, keepOther] = useState(null);
  const [sort, setSort] = useState({ column: "", descending: false });
  const [filter, setFilter] = useState({ column: "", value: "" });
  const [top, scroll] = useState(0);
  const box = useRef(null);
  const count = part?.count ?? 0;
  const tall = Math.min(count * HEIGHT, TALLEST);
  const scale = tall ? (count * HEIGHT) / tall : 1;
  const first = Math.max(0, Math.min(Math.floor((top * scale) / HEIGHT) - 10, Math.max(count - PAGE, 0)));
  useEffect(() => {
    let gone = false;
    const asked = { at: first, n: PAGE, sort: sort.column, descending: sort.descending ? 1 : 0, column: filter.column, value: filter.value };
    const timer = setTimeout(async () => {
      const [found, changed] = await Promise.all([get("/api/rows", { ...asked, file }), compared ? get("/api/rows", { ...asked, file: compared }) : null]);
      if (!gone) { keep(found); keepOther(changed); }
    }, 30);
    return () => { gone = true; clearTimeout(timer); };
  }, [file, compared, first, sort, filter]);
  if (!part) return html`<p class="hint">Reading the records …</p>`;
  const places = Object.fromEntries((other?.columns || []).map((name, i) => [name, i]));
  const jump = (event) => { if (event.key === "Enter") box.current.scrollTop = ((Number(event.target.value) - 1) * HEIGHT) / scale; };
  return html`<div class="tools"><label>Go to record <input class="short" inputmode="numeric" onKeyDown=${jump} /></label>
      <label>Only where <select value=${filter.column} onChange=${(e) => setFilter({ ...filter, column: e.target.value })}>
        <option value="">…</option>${part.columns.map((c) => html`<option>${c}</option>`)}</select></label>
      <label>has <input value=${filter.value} onChange=${(e) => setFilter({ ...filter, value: e.target.value })} /></label>
      <span class="hint">${count.toLocaleString("en")} records</span></div>
    <div class="records" ref=${box} onScroll=${(e) => scroll(e.target.scrollTop)} tabindex="0" aria-label="Records">
      <div class="rows" style=${{ height: `${tall + HEIGHT}px` }}>
        <table style=${{ transform: `translateY(${Math.max(0, (part.at * HEIGHT) / scale)}px)` }}>
        <thead><tr><th scope="col">#</th>${part.columns.map((c) => html`<th scope="col" class=${(roles[c] || [])[0] || ""}>
          <button class="quiet" onClick=${() => setSort({ column: c, descending: sort.column === c && !sort.descending })}>${c}${sort.column === c ? (sort.descending ? " ▾" : " ▴") : ""}</button></th>`)}</tr></thead>
        <tbody>${part.rows.map((row, i) => html`<tr key=${part.at + i}><th scope="row">${part.at + i + 1}</th>
          ${row.map((value, j) => { const place = places[part.columns[j]]; const now = other?.rows[i]?.[place];
            return other && place !== undefined && now !== value
              ? html`<td class="changed"><s>${value ?? "·"}</s> ${now ?? "·"}</td>` : html`<td>${value ?? html`<span class="missing">·</span>`}</td>`; })}</tr>`)}</tbody></table>
      </div></div>`;
}
