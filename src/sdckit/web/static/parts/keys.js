// The keys in numbers, before and after: categories, their mean and smallest size, missing values. All of it is in the
// counts by code of k-anonymity for single keys; nothing else is measured.
import { html, useEffect, useState } from "../vendor/preact.js";
import { number, said, start, store } from "../store.js";

const FILES = ["original", "protected"];
const COLUMNS = { categories: "Categories", mean: "Mean size", smallest: "Smallest size", missing: "Missing" };

export function summary(rows, key) {
  const own = rows.filter((row) => row.variable === key);
  if (!own.length) return null; // dropped
  const sizes = own.filter((row) => row.code !== null).map((row) => row.records);
  const sum = sizes.reduce((all, one) => all + one, 0);
  const missing = own.filter((row) => row.code === null).reduce((all, row) => all + row.records, 0);
  return { categories: sizes.length, mean: sizes.length ? Math.round(10 * sum / sizes.length) / 10 : null, smallest: sizes.length ? Math.min(...sizes) : null, missing };
}

export function Keys({ state }) {
  const { scenario } = store.view;
  const [found, show] = useState(null);
  useEffect(() => {
    let gone = false;
    show(null);
    start("/api/jobs", { kind: "codes", scenario, k: 2, most: 1 }).then((result) => gone || show(result), (error) => gone || error.stopped || show({ trouble: error }));
    return () => { gone = true; };
  }, [scenario, state.version]);
  if (found?.trouble) return html`<p class="bad" role="alert">${said(found.trouble)}</p>`;
  if (!found) return html`<p class="hint" role="status">Being counted …</p>`;
  const names = [...new Set(found.original.map((row) => row.variable))];
  return html`<div class="wide" tabindex="0" role="region" aria-label="Summary of the keys"><table class="variables keys"><caption class="hint">Keys before and after scenario ${scenario}: how many records a category has. For the office alone.</caption>
    <thead><tr><th scope="col" rowspan="2">Key</th>${Object.values(COLUMNS).map((title) => html`<th scope="colgroup" colspan="2" class="number">${title}</th>`)}</tr>
      <tr>${Object.keys(COLUMNS).map(() => html`<th scope="col" class="number"><small>before</small></th><th scope="col" class="number"><small>after</small></th>`)}</tr></thead>
    <tbody>${names.map((key) => { const files = FILES.map((file) => summary(found[file], key)); return html`<tr key=${key}><th scope="row">${key}</th>${Object.keys(COLUMNS).map((what) => files.map((one) => html`<td class="number">${one && one[what] !== null ? number(one[what]) : "–"}</td>`))}</tr>`; })}</tbody></table></div>`;
}
