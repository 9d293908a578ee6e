// Every scenario on one map: risk against what is lost.
import { html, useEffect, useState } from "../vendor/preact.js";
import { said, start, store } from "../store.js";
import { Mapped, Points } from "../parts/map.js";

let last = null; // the last map, with what it is of: the file and every decision but the accepted risk
let trials = null; // what the last search has found so far, or had found when it was stopped

const about = (state) => JSON.stringify([state.facts.key, { ...state.document, max_risk: null }]);

export function Compare({ state }) {
  const names = Object.keys(state.document.scenarios);
  const [left, leave] = useState([]);
  const [trouble, say] = useState(null);
  const [found, show] = useState(last);
  const [extra, measure] = useState([]);
  const [lost, lose] = useState(null); // the ceiling under which the map could not be placed again
  const stale = found && found.about !== about(state);
  const ceiling = state.document.max_risk;
  const moved = found && !stale && found.map.max_risk !== ceiling;
  useEffect(() => { // the accepted risk was moved, here, in the panel, or by undo: the points stay, the recommendation is found again
    if (!moved || lost === ceiling) return undefined;
    let gone = false;
    start("/api/jobs", { kind: "ceiling", map: found.map.key }).then((map) => { if (!gone && map.max_risk === ceiling) { last = { ...found, map }; show(last); } })
      .catch((error) => { if (!gone) { lose(ceiling); if (!error.stopped) say(error); } });
    return () => { gone = true; };
  }, [moved, ceiling, found]);
  if (!state.facts.records) return html`<h1>Compare</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const chosen = names.filter((n) => !left.includes(n));
  const keep = (map) => { last = { map, about: about(state), made: Date.now() }; trials = null; lose(null); show(last); };
  const run = async () => {
    say(null);
    try { keep(await start("/api/jobs", { kind: "compare", scenarios: chosen, extra })); } catch (error) { if (!error.stopped) say(error); }
  };
  const searching = [...store.jobs.values()].find((job) => job.kind === "search");
  if (searching?.so_far) trials = { found: searching.so_far, version: searching.version };
  return html`<h1>Compare</h1><p class="lead">Scenarios side by side: the lower, the less risk; the further left, the less is lost.</p>
    <div class="tools"><div class="chips" role="group" aria-label="Scenarios to compare">${names.map((n) => html`<button class=${left.includes(n) ? "chip" : "chip on"} aria-pressed=${!left.includes(n)} onClick=${() => leave(left.includes(n) ? left.filter((x) => x !== n) : [...left, n])}>${n}</button>`)}</div>
      <button class="main" disabled=${!chosen.length} onClick=${run}>Compare</button></div>
    <${Extra} chosen=${extra} choose=${measure} />
    ${names.length < 2 && html`<p class="hint">There is one scenario so far. “+” in the top bar makes another, as a copy to change.</p>`}
    ${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}
    <${Search} state=${state} onFound=${keep} onBegin=${() => { trials = null; }} />
    ${trials && html`<section class=${trials.version === state.version ? "" : "waiting"}><h2>${searching ? "Found so far" : "Found before the search was stopped"}</h2><${Points} found=${trials.found} /></section>`}
    ${stale && html`<p class="bad" role="status">Something was changed since: this map is of what was there before. Compare again.</p>`}
    ${moved && !stale && html`<p class="hint" role="status">${lost === ceiling ? "The accepted risk was changed since: compare again." : "Looking what is best under the new accepted risk …"}</p>`}
    ${found && !searching && html`<div class=${stale || moved ? "waiting" : ""}><${Mapped} key=${found.made} map=${found.map} stale=${stale || lost === ceiling && moved} state=${state} /></div>`}`;
}

// What else is measured of every scenario: for small maps, and for other axes. It changes no recommendation.
function Extra({ chosen, choose }) {
  const all = [...store.methods.utility, ...store.methods.risk].filter((m) => !m.form.some((f) => f.required));
  const title = (name) => all.find((m) => m.name === name)?.title || name;
  return html`<div class="tools"><label>Also measure <select value="" onChange=${(e) => { if (e.target.value && !chosen.includes(e.target.value)) choose([...chosen, e.target.value]); e.target.value = ""; }}><option value="">nothing else …</option>
      ${["utility", "risk"].map((kind) => html`<optgroup label=${kind === "risk" ? "risks" : "losses"}>${all.filter((m) => m.kind === kind).sort((a, b) => a.title.localeCompare(b.title)).map((m) => html`<option value=${m.name}>${m.title}</option>`)}</optgroup>`)}</select></label>
    ${chosen.map((name) => html`<button class="chip on" key=${name} aria-label=${`Do not measure ${title(name)}`} onClick=${() => choose(chosen.filter((n) => n !== name))}>${title(name)} ✕</button>`)}</div>`;
}

const ends = ({ low, high }) => [low, high].map((text) => text?.trim() ? Number(text.replace(",", ".")) : NaN);

// Search around a scenario: numbers of its steps may lie in a range, and steps may be left out.
function Search({ state, onFound, onBegin }) {
  const cards = (state.document.scenarios[store.view.scenario] || []).filter((card) => card.on);
  const forms = Object.fromEntries(store.methods.protection.map((m) => [m.name, m.form]));
  const [ranges, set] = useState({});
  const [optional, flip] = useState({});
  const [wanted, count] = useState(30);
  const [trouble, say] = useState(null);
  const numbers = (card) => (forms[card.method] || []).filter((f) => (f.kind === "integer" || f.kind === "number") && !f.secret && (card.options[f.name] !== undefined || f.basic));
  const key = (at, name) => `${state.version} ${at} ${name}`;
  const space = () => cards.map((card, at) => {
    const open = Object.fromEntries(numbers(card).filter((f) => ranges[key(at, f.name)]?.low && ranges[key(at, f.name)]?.high)
      .map((f) => [f.name, { range: ends(ranges[key(at, f.name)]) }]));
    const step = { [card.method]: { ...card.options, ...open } };
    return optional[key(at, "")] ? { optional: step } : step;
  });
  // What is typed and is no range, in words: half a range would be left out without a word.
  const fault = () => {
    const odd = cards.flatMap((card, at) => numbers(card).filter((f) => { const given = ranges[key(at, f.name)]; return (given?.low || given?.high) && !(ends(given)[0] < ends(given)[1]); }));
    if (odd.length) return `“${odd[0].label}”: a range is two numbers, the smaller first.`;
    return /^\s*[1-9]\d*\s*$/.test(String(wanted)) ? "" : `“${wanted}” is not a number of scenarios.`;
  };
  const run = async () => { const wrong = fault(); say(wrong ? { what: wrong } : null); if (wrong) return; onBegin(); try { onFound(await start("/api/jobs", { kind: "search", space: space(), trials: Number(wanted) })); } catch (error) { if (!error.stopped) say(error); } };
  const put = (at, name, side, text) => set({ ...ranges, [key(at, name)]: { ...ranges[key(at, name)], [side]: text } });
  return html`<details class="card"><summary>Search around scenario ${store.view.scenario}</summary>
    ${cards.length === 0 ? html`<p class="hint">Give the scenario steps first; their numbers can then be searched.</p>` : html`<p class="hint">Give a range where a number may vary; tick what may be left out.</p>
    <table class="lines"><tbody>${cards.map((card, at) => html`<tr key=${at}><th scope="row"><label><input type="checkbox" checked=${!!optional[key(at, "")]} onChange=${() => flip({ ...optional, [key(at, "")]: !optional[key(at, "")] })} /> ${store.methods.protection.find((m) => m.name === card.method)?.title} <small>may be left out</small></label></th><td class="ranges">
      ${numbers(card).map((f) => html`<span>${f.label} <input class="short" aria-label=${`${f.label} from`} placeholder=${card.options[f.name] ?? "from"} value=${ranges[key(at, f.name)]?.low || ""} onInput=${(e) => put(at, f.name, "low", e.target.value)} /> to <input class="short" aria-label=${`${f.label} to`} value=${ranges[key(at, f.name)]?.high || ""} onInput=${(e) => put(at, f.name, "high", e.target.value)} /></span>`)}</td></tr>`)}</tbody></table>
    <label>Scenarios to try <input class="short" inputmode="numeric" value=${wanted} onInput=${(e) => count(e.target.value)} /></label> <button class="main" onClick=${run}>Search</button>`}
    ${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}</details>`;
}
