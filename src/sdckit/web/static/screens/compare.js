// Every scenario on one map: risk against what is lost.
import { html, useState } from "../vendor/preact.js";
import { change, look, number, start, store } from "../store.js";
import { Chart } from "../parts/chart.js";

let last = null; // the last map, with the version of the document it is of

export function Compare({ state }) {
  const names = Object.keys(state.document.scenarios);
  const [left, leave] = useState([]);
  const [trouble, say] = useState(null);
  const [found, show] = useState(last);
  if (!state.facts.records) return html`<h1>Compare</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const stale = found && found.version !== state.version;
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
    <${Search} state=${state} onFound=${(map) => { last = { map, version: state.version }; show(last); }} />
    ${stale && html`<p class="bad" role="status">Something was changed since: this map is of what was there before. Compare again.</p>`}
    ${found && html`<div class=${stale ? "waiting" : ""}><${Mapped} map=${found.map} stale=${stale} /></div>`}`;
}

// Search around a scenario: numbers of its steps may lie in a range, and steps may be left out.
function Search({ state, onFound }) {
  const cards = (state.document.scenarios[store.view.scenario] || []).filter((card) => card.on);
  const forms = Object.fromEntries(store.methods.protection.map((m) => [m.name, m.form]));
  const [ranges, set] = useState({});
  const [optional, flip] = useState({});
  const [trials, count] = useState(30);
  const [trouble, say] = useState(null);
  const numbers = (card) => (forms[card.method] || []).filter((f) => (f.kind === "integer" || f.kind === "number") && !f.secret && (card.options[f.name] !== undefined || f.basic));
  const key = (at, name) => `${state.version} ${at} ${name}`;
  const space = () => cards.map((card, at) => {
    const open = Object.fromEntries(numbers(card).filter((f) => ranges[key(at, f.name)]?.low && ranges[key(at, f.name)]?.high)
      .map((f) => [f.name, { range: [Number(ranges[key(at, f.name)].low), Number(ranges[key(at, f.name)].high)] }]));
    const step = { [card.method]: { ...card.options, ...open } };
    return optional[key(at, "")] ? { optional: step } : step;
  });
  const run = async () => { say(null); try { onFound(await start("/api/jobs", { kind: "search", space: space(), trials: Number(trials) })); } catch (error) { if (!error.stopped) say(error); } };
  const put = (at, name, side, text) => set({ ...ranges, [key(at, name)]: { ...ranges[key(at, name)], [side]: text } });
  return html`<details class="card"><summary>Search around scenario ${store.view.scenario}</summary>
    ${cards.length === 0 ? html`<p class="hint">Give the scenario steps first; their numbers can then be searched.</p>` : html`<p class="hint">Give a range where a number may vary; tick what may be left out.</p>
    <table class="lines"><tbody>${cards.map((card, at) => html`<tr key=${at}><th scope="row"><label><input type="checkbox" checked=${!!optional[key(at, "")]} onChange=${() => flip({ ...optional, [key(at, "")]: !optional[key(at, "")] })} /> ${store.methods.protection.find((m) => m.name === card.method)?.title} <small>may be left out</small></label></th><td class="ranges">
      ${numbers(card).map((f) => html`<span>${f.label} <input class="short" aria-label=${`${f.label} from`} placeholder=${card.options[f.name] ?? "from"} value=${ranges[key(at, f.name)]?.low || ""} onInput=${(e) => put(at, f.name, "low", e.target.value)} /> to <input class="short" aria-label=${`${f.label} to`} value=${ranges[key(at, f.name)]?.high || ""} onInput=${(e) => put(at, f.name, "high", e.target.value)} /></span>`)}</td></tr>`)}</tbody></table>
    <label>Scenarios to try <input class="short" inputmode="numeric" value=${trials} onInput=${(e) => count(e.target.value)} /></label> <button class="main" onClick=${run}>Search</button>`}
    ${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.hint || ""}</p>`}</details>`;
}

function Mapped({ map, stale }) {
  const make = async (p) => { await change("add_scenario", { name: p.name, steps: p.steps }); look({ scenario: p.name, screen: "protect" }); };
  const pick = (datum) => { const name = datum.scenario || datum.name; if (name in store.state.document.scenarios) look({ scenario: name, screen: "protect" }); };
  return html`<p class="recommendation ${stale ? "pending" : map.verdict?.status.replace(" ", "-") || "open"}"><strong>${!map.best ? "None is acceptable. " : map.verdict?.status === "releasable" ? `Recommended: ${map.best}. ` : `Best on this map: ${map.best}, but it ${map.verdict?.status === "not releasable" ? "must not be released" : "is not cleared for release"}. `}</strong>${map.reason}</p>
    <${Chart} spec=${map.chart} label="Risk–utility map; the table below says the same" onPick=${pick} />
    <table class="variables"><thead><tr><th scope="col">Scenario</th><th scope="col">Risk</th><th scope="col">Loss</th><th scope="col"></th></tr></thead><tbody>
      <tr><th scope="row">the original file</th><td class="number">${number(map.original.risk)}</td><td class="number">0</td><td></td></tr>
      ${map.scenarios.map((p) => html`<tr key=${p.name}><th scope="row"><button class="quiet" onClick=${() => pick(p)}>${p.name}</button></th><td class="number">${number(p.risk)}</td><td class="number">${number(p.loss)}</td>
        <td>${!(p.name in store.state.document.scenarios) && !p.error && html`<button onClick=${() => make(p)}>Make it a scenario</button> `}${p.error || [p.name === map.best ? "best on this map" : "", p.on_front ? "no other is better in both" : ""].filter(Boolean).join(", ")}</td></tr>`)}</tbody></table>`;
}
