// The risk–utility map: its picture, other axes, the same as a table, and what became of each scenario.
import { html, useState } from "../vendor/preact.js";
import { change, complain, counted, look, number, store } from "../store.js";
import { Ceiling } from "./ceiling.js";
import { Chart } from "./chart.js";
import { Estimates } from "./estimates.js";

const WORDS = { releasable: "can be released", "not releasable": "must not be released", open: "is not cleared for release" };
const SHOWN = { all: "all scenarios", front: "those that no other beats in both", accepted: "those under the accepted risk", releasable: "those that can be released" };

// Steps of a point become a scenario under its name.
const make = (point) => change("add_scenario", { name: point.name, steps: point.steps }).then(() => look({ scenario: point.name, screen: "protect" })).catch(complain);
const pick = (datum) => { const name = datum.scenario || datum.name; if (name in store.state.document.scenarios) look({ scenario: name, screen: "protect" }); };

export function Mapped({ map, stale, state }) {
  const [risk, seeRisk] = useState(Object.keys(map.axes.risk)[0]);
  const [utility, seeLoss] = useState("");
  const [view, see] = useState("map");
  const [drawn, draw] = useState(null); // the picture, for the line that is dragged on it
  const own = view === "map" && risk === Object.keys(map.axes.risk)[0] && map.risk_is_share && !stale;
  const spec = view === "small" && map.multiples ? map.multiples : (utility && map.charts[`${risk} ${utility}`]) || map.chart;
  const several = Object.keys(map.axes.utility).length > 1;
  const others = stale || map.verdict?.status === "releasable" ? [] : map.scenarios.filter((p) => p.name !== map.best && state.results[p.name]?.verdict?.status === "releasable").map((p) => p.name);
  return html`<p class="recommendation ${stale ? "pending" : map.verdict?.status.replace(" ", "-") || "open"}"><strong>${!map.best ? "None is acceptable. " : map.verdict?.status === "releasable" ? `Recommended: ${map.best}. ` : `Best on this map: ${map.best}, but it ${WORDS[map.verdict?.status] || WORDS.open}. `}</strong>${map.reason}${others.length > 0 && html` <strong>Of the others, ${others.join(", ")} can be released: see the table.</strong>`}</p>
    ${several && html`<div class="tools"><div role="group" aria-label="Picture">${[["map", "one map"], ["small", "small maps"]].map(([name, words]) => html`<button class=${view === name ? "chip on" : "chip"} aria-pressed=${view === name} onClick=${() => see(name)}>${words}</button>`)}</div>
      ${view === "map" && html`<label>Loss <select value=${utility} onChange=${(e) => seeLoss(e.target.value)}><option value="">that of the map</option>${Object.entries(map.axes.utility).map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>
        ${Object.keys(map.axes.risk).length > 1 && html`<label>Risk <select value=${risk} disabled=${!utility} onChange=${(e) => seeRisk(e.target.value)}>${Object.entries(map.axes.risk).map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>`}`}</div>`}
    <div class="mapbox"><${Chart} key=${`${view} ${risk} ${utility}`} spec=${spec} label="Risk–utility map; the table below says the same" onPick=${pick} onView=${draw} />${own && drawn && html`<${Ceiling} view=${drawn} state=${state} />`}</div>
    ${map.warnings.length > 0 && html`<details><summary>To look at before ${map.best || "a file"} is released (${map.warnings.length})</summary><ul class="warnings">${map.warnings.map((text) => html`<li>${text}</li>`)}</ul></details>`}
    <${Table} found=${map} best=${map.best} verdicts=${stale ? {} : state.results} />
    <${Estimates} map=${map} />`;
}

// Points of a search that still runs, or that was stopped: nothing is recommended, no file is judged.
export function Points({ found }) {
  const good = found.scenarios.filter((p) => p.risk !== null && p.loss !== null);
  const top = Math.max(found.original.risk ?? 0, found.max_risk ?? 0, ...good.map((p) => p.risk), 1e-12), right = Math.max(...good.map((p) => p.loss), 1e-12);
  const x = (loss) => 380 * loss / right, y = (risk) => 180 - 180 * risk / top;
  return html`<figure class="chart points"><svg viewBox="-34 -8 430 224" role="img" aria-label="Trials so far: risk upwards, loss to the right; the table below says the same">
      <path class="axis" d="M 0 0 V 180 H 384" /><text x="0" y="196">0</text><text x="380" y="196" text-anchor="end">${number(right, found.loss_is_share)}</text><text x="190" y="208" text-anchor="middle">loss</text><text x="-4" y="6" text-anchor="end">${number(top, found.risk_is_share)}</text><text x="-4" y="182" text-anchor="end">0</text><text x="-4" y="94" text-anchor="end">risk</text>
      ${found.max_risk !== null && html`<path class="ceiling" d=${`M 0 ${y(found.max_risk)} H 384`} />`}
      ${good.map((p) => html`<circle class=${p.objection ? "objected" : p.on_front ? "front" : ""} cx=${x(p.loss)} cy=${y(p.risk)} r=${p.on_front ? 5 : 3.5}><title>${`${p.name}: risk ${number(p.risk, found.risk_is_share)}, loss ${number(p.loss, found.loss_is_share)}`}</title></circle>`)}</svg>
      <figcaption>${counted(found.scenarios.length, "scenario")} tried; full circles: no other is better in both.${found.scenarios.some((p) => p.objection) ? " Rings in the colour of the line cannot be released: see the table." : ""}${found.max_risk !== null ? " The line is the accepted risk." : ""}</figcaption></figure>
    <${Table} found=${found} best=${null} verdicts=${{}} />`;
}

function Table({ found, best, verdicts }) {
  const [shown, filter] = useState("all");
  const status = (p) => verdicts[p.name]?.verdict?.status;
  const passes = { all: () => true, front: (p) => p.on_front, accepted: (p) => found.max_risk === null || (p.risk !== null && p.risk <= found.max_risk), releasable: (p) => status(p) === "releasable" };
  const list = found.scenarios.filter(passes[shown]);
  const extra = Object.keys(found.scenarios[0]?.extra || {});
  const title = (name) => found.axes?.risk[name] || found.axes?.utility[name] || name;
  return html`<div class="tools"><label>Show <select value=${shown} onChange=${(e) => filter(e.target.value)}>${Object.entries(SHOWN).map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></label><span class="hint" role="status">${list.length} of ${found.scenarios.length}</span></div>
    <p class="hint">The risk on the map is the one of its axis. The verdict asks every intruder and every other criterion.</p>
    <div class="wide"><table class="variables"><thead><tr><th scope="col">Scenario</th><th scope="col" class="number">Risk on the map</th><th scope="col" class="number">Loss</th>${extra.map((name) => html`<th scope="col" class="number">${title(name)}</th>`)}<th scope="col">Verdict</th><th scope="col"><span class="hidden">remarks</span></th></tr></thead><tbody>
      <tr><th scope="row">the original file</th><td class="number">${number(found.original.risk, found.risk_is_share)}</td><td class="number">0</td>${extra.map((name) => html`<td class="number">${number(found.original.extra?.[name])}</td>`)}<td></td><td></td></tr>
      ${list.map((p) => html`<tr key=${p.name}><th scope="row">${p.name in store.state.document.scenarios ? html`<button class="quiet" onClick=${() => pick(p)}>${p.name}</button>` : p.name}</th><td class="number">${number(p.risk, found.risk_is_share)}</td><td class="number">${number(p.loss, found.loss_is_share)}</td>
        ${extra.map((name) => html`<td class="number">${number(p.extra?.[name])}</td>`)}<td class=${status(p) === "releasable" ? "" : status(p) === "not releasable" ? "bad" : ""}>${WORDS[status(p)] || "not judged"}</td>
        <td>${!(p.name in store.state.document.scenarios) && !p.error && html`<button onClick=${() => make(p)}>Make it a scenario</button> `}${p.error || [p.name === best ? "best on this map" : "", p.on_front ? "no other is better in both" : "", p.objection].filter(Boolean).join(", ")}</td></tr>`)}</tbody></table></div>`;
}
