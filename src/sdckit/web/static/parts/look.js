// Any measure of the registry, before and after, with its picture; and the riskiest combinations of keys.
import { html, useEffect, useState } from "../vendor/preact.js";
import { columnsOf, look, number, said, start, store } from "../store.js";
import { Chart } from "./chart.js";
import { Codes } from "./codes.js";
import { Form } from "./form.js";
import { Keys } from "./keys.js";

export function Look({ state }) {
  const [kind, choose] = useState("risk");
  const [name, pick] = useState("");
  const [found, show] = useState(null);
  const [counting, see] = useState(false);
  const [summing, sum] = useState(false);
  const keyed = Object.values(state.document.roles).some((roles) => roles.includes("keys"));
  const ask = async (content) => {
    const scenario = store.view.scenario, version = store.state.version;
    const still = () => scenario === store.view.scenario && version === store.state.version; // else it is of another file
    show({ waiting: true });
    try { const result = await start("/api/jobs", { ...content, scenario }); if (still()) show(result); }
    catch (error) { if (still()) show(error.stopped ? null : { trouble: error }); }
  };
  const needs = (name) => store.methods[kind].find((m) => m.name === name)?.form.some((f) => f.required);
  const measure = (measure) => { pick(measure); if (needs(measure)) show(null); else ask({ kind: "measure", measure }); };
  useEffect(() => { show(null); }, [store.view.scenario, state.version]);
  const method = store.methods[kind].find((m) => m.name === name);
  return html`<section class="look"><h2>Look</h2><div class="tools"><div role="group" aria-label="What to look at">${["risk", "utility"].map((k) => html`<button class=${k === kind ? "chip on" : "chip"} aria-pressed=${k === kind} onClick=${() => { choose(k); pick(""); show(null); }}>${k}</button>`)}</div>
    <label>Measure <select value=${name} onChange=${(e) => e.target.value && measure(e.target.value)}><option value="">choose …</option>${store.methods[kind].slice().sort((a, b) => a.title.localeCompare(b.title)).map((m) => html`<option value=${m.name}>${m.title}</option>`)}</select></label>
    ${kind === "risk" && html`<button onClick=${() => { pick(""); ask({ kind: "riskiest" }); }}>Riskiest combinations</button><button aria-pressed=${counting} onClick=${() => { pick(""); show(null); see(!counting); }}>Records below k, by code</button>${keyed && html`<button aria-pressed=${summing} onClick=${() => { pick(""); show(null); sum(!summing); }}>Summary of keys</button>`}`}
    ${method && html`<button class="quiet" onClick=${() => look({ help: { kind, name } })}>What does this mean?</button>`}</div>
    ${method?.form.length > 0 && html`<details key=${name} class="card" open=${needs(name)}><summary>Options of this measure</summary>
      <${Form} key=${name} method=${method} columns=${columnsOf(state)} save="Measure" prefix="look" onSave=${(options) => ask({ kind: "measure", measure: name, options })} /></details>`}
    ${counting && kind === "risk" && html`<section class="card"><${Codes} state=${state} /></section>`}
    ${summing && keyed && kind === "risk" && html`<section class="card"><${Keys} state=${state} /></section>`}
    ${found?.waiting && html`<p class="hint">Being measured …</p>`}
    ${found?.trouble && html`<p class="bad" role="alert">${said(found.trouble)}</p>`}
    ${found?.after && method && html`<div class="pair">${found.before && html`<${Found} title="before" result=${found.before} method=${method} />`}<${Found} title=${found.before ? "after" : method.title} result=${found.after} method=${method} /></div>`}
    ${found && "riskiest" in found && html`<${Riskiest} found=${found.riskiest} />`}</section>`;
}

// For the office alone: these combinations may be persons.
function Riskiest({ found }) {
  if (!found) return html`<p class="hint">There are no keys, or the records are synthetic: nobody stands behind a combination.</p>`;
  return html`<div class="wide"><table class="variables"><caption class="hint">The combinations of keys with the highest risk in scenario ${store.view.scenario}. For the office alone.</caption>
    <thead><tr>${found.keys.map((k) => html`<th scope="col">${k}</th>`)}<th scope="col" class="number">Records</th><th scope="col" class="number">In the population, estimated</th><th scope="col" class="number">Risk</th></tr></thead>
    <tbody>${found.rows.map((row) => html`<tr>${row.values.map((v) => html`<td>${v}</td>`)}<td class="number">${row.records}</td><td class="number">${row.population}</td><td class="number">${row.risk}</td></tr>`)}</tbody></table></div>`;
}

function Found({ title, result, method }) {
  return html`<section class="card"><h3>${title}: ${number(result.value, method.share)}</h3>
    ${result.chart && html`<${Chart} spec=${result.chart} label=${`${method.title}, ${title}`} />`}
    <table class="lines"><tbody>${Object.entries(result.figures).slice(0, 12).map(([k, f]) => html`<tr key=${k}><th scope="row">${f.label}</th><td>${typeof f.value === "number" ? number(f.value) : String(f.value ?? "–")}</td></tr>`)}</tbody></table>
    ${result.notes.map((note) => html`<p class="hint">${note}</p>`)}</section>`;
}
