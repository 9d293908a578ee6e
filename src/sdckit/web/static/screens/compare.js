// Every scenario on one map: risk against what is lost.
import { html, useState } from "../vendor/preact.js";
import { look, number, start, store } from "../store.js";
import { Chart } from "../parts/chart.js";

let last = null; // the last map, with the version of the document it is of

export function Compare({ state }) {
  const names = Object.keys(state.document.scenarios);
  const [left, leave] = useState([]);
  const [trouble, say] = useState(null);
  const [found, show] = useState(last);
  if (!state.facts.records) return html`<h1>Compare</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const chosen = names.filter((n) => !left.includes(n));
  const run = async () => {
    say(null);
    try { const map = await start("/api/jobs", { kind: "compare", scenarios: chosen }); last = { map, version: state.version }; show(last); } catch (error) { if (!error.stopped) say(error); }
  };
  return html`<h1>Compare</h1><p class="lead">Scenarios side by side: the lower, the less risk; the further left, the less is lost.</p>
    <div class="tools"><div class="chips" role="group" aria-label="Scenarios to compare">${names.map((n) => html`<button class=${left.includes(n) ? "chip" : "chip on"} aria-pressed=${!left.includes(n)} onClick=${() => leave(left.includes(n) ? left.filter((x) => x !== n) : [...left, n])}>${n}</button>`)}</div>
      <button class="main" disabled=${!chosen.length} onClick=${run}>Compare</button></div>
    ${names.length < 2 && html`<p class="hint">There is one scenario so far. “+” in the top bar makes another, as a copy to change.</p>`}
    ${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.hint || ""}</p>`}
    ${found && found.version !== state.version && html`<p class="hint" role="status">Something was changed since; compare again to see it.</p>`}
    ${found && html`<${Mapped} map=${found.map} />`}`;
}

function Mapped({ map }) {
  const pick = (datum) => { const name = datum.scenario || datum.name; if (name in store.state.document.scenarios) look({ scenario: name, screen: "protect" }); };
  return html`<p class="recommendation ${map.verdict?.status.replace(" ", "-") || "open"}"><strong>${map.best ? `Recommended: ${map.best}. ` : "None is acceptable. "}</strong>${map.reason}</p>
    <${Chart} spec=${map.chart} label="Risk–utility map; the table below says the same" onPick=${pick} />
    <table class="variables"><thead><tr><th scope="col">Scenario</th><th scope="col">Risk</th><th scope="col">Loss</th><th scope="col"></th></tr></thead><tbody>
      <tr><th scope="row">as it is</th><td class="number">${number(map.original.risk)}</td><td class="number">0</td><td></td></tr>
      ${map.scenarios.map((p) => html`<tr key=${p.name}><th scope="row"><button class="quiet" onClick=${() => pick(p)}>${p.name}</button></th><td class="number">${number(p.risk)}</td><td class="number">${number(p.loss)}</td>
        <td>${p.error || [p.name === map.best ? "recommended" : "", p.on_front ? "no other is better in both" : ""].filter(Boolean).join(", ")}</td></tr>`)}</tbody></table>`;
}
