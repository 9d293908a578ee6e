// One or two variables: a picture and numbers, of the original and of the scenario's file.
import { html, useEffect, useState } from "../vendor/preact.js";
import { said, start, store } from "../store.js";
import { Chart } from "./chart.js";

export function Explore({ state, first, second = "", choose = true }) {
  const [pair, set] = useState([first || "", second]);
  const [found, show] = useState(null);
  const { scenario } = store.view;
  const names = state.facts.columns.map((c) => c.name).filter((c) => !(state.document.roles[c] || []).some((r) => ["id", "direct"].includes(r)));
  const columns = pair.filter((c, i) => c && pair.indexOf(c) === i);
  useEffect(() => { // again after every change: what is shown is of the document that is shown
    if (!columns.length) return undefined;
    let gone = false;
    show({ waiting: true });
    start("/api/jobs", { kind: "explore", columns, scenario }).then((f) => gone || show(f)).catch((error) => gone || show(error.stopped ? null : { trouble: error }));
    return () => { gone = true; };
  }, [columns.join("\n"), state.version, scenario]);
  const menu = (i, label) => html`<label>${label} <select value=${pair[i]} onChange=${(e) => set(pair.map((c, j) => (j === i ? e.target.value : c)))}><option value="">${i ? "nothing else" : "…"}</option>${names.map((c) => html`<option>${c}</option>`)}</select></label>`;
  const files = found?.summary?.length ? Object.keys(found.summary[0]).filter((k) => k !== "name") : [];
  return html`<div class="explore"><div class="tools">${choose && menu(0, "Variable")} ${menu(1, choose ? "beside" : "Beside")}</div>
    ${found?.waiting && html`<p class="hint" role="status">Being drawn …</p>`}
    ${found?.trouble && html`<p class="bad" role="alert">${said(found.trouble)}</p>`}
    ${found?.chart && html`<${Chart} spec=${found.chart} label=${`${found.columns.join(" and ")}, original and protected`} />
      ${found.gone.length > 0 && html`<p class="hint">${found.gone.join(", ")} is not in the protected file: only the original is shown.</p>`}
      <table class="lines summary"><thead><tr><th scope="col"><span class="hidden">number</span></th>${files.map((f) => html`<th scope="col">${f}</th>`)}</tr></thead>
        <tbody>${found.summary.map((row) => html`<tr key=${row.name}><th scope="row">${row.name}</th>${files.map((f) => html`<td>${row[f]}</td>`)}</tr>`)}</tbody></table>
      <p class="hint">Shares are of the records; categories of fewer than five records are put together, and extremes are not shown.</p>`}</div>`;
}
