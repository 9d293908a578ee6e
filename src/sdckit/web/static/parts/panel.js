// "Risk now": the verdict with every criterion, what was lost, what is accepted, and the history.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { beside, change, complain, counted, go, gravestFirst, look, number, refresh, said, store } from "../store.js";
import { Columns } from "./form.js";
import { Options } from "./options.js";
import { lossLines } from "./losses.js";
import { Places, focus, taken } from "./places.js";
import { Presets } from "./presets.js";
import { Sample } from "./sample.js";
import { Typed } from "./typed.js";

const MARKS = { met: "✓", "not met": "✕", "not judged": "?" };
const WORDS = { releasable: "Can be released", "not releasable": "Must not be released", open: "Not cleared for release" };

export function Panel({ state }) {
  const name = store.view.scenario;
  const now = state.results[name];
  const [open, show] = useState(false);
  const [opened, wish] = useState(null); // the place of the panel that is asked for
  useEffect(() => {
    const place = taken(["accept", "options"]);
    if (!place) return;
    show(true);
    wish(place);
    focus(place.kind === "options" ? "measure-options" : place.columns.length ? `accept-${place.name}-${place.columns[0]}` : `accept-${place.name}`);
  }, [store.view.place]);
  const inside = useRef(null);
  useEffect(() => { inside.current?.parentElement.scrollTo(0, 0); }, [state.facts.key, name]); // of another file, the verdict is in sight
  const short = now?.verdict ? WORDS[now.verdict.status] : now?.error ? "Could not be judged" : judging(state, name) ? "Being judged …" : "Not judged";
  return html`<aside id="verdict" tabindex="-1" class=${open ? "panel open" : "panel"} aria-label="Risk now">
    <button class=${`drawer ${now?.verdict?.status.replace(" ", "-") || ""}`} aria-expanded=${open} onClick=${() => show(!open)}>Risk now: ${short} ${open ? "▾" : "▴"}</button>
    <div class="inside" ref=${inside}><h2>Risk now <small>scenario ${name}</small></h2>
      <${Now} state=${state} name=${name} now=${now} />
      ${opened?.kind === "options" && html`<${Options} measure=${opened.name} state=${state} close=${() => wish(null)} />`}
      ${state.facts.records > 0 && html`<${Accepted} state=${state} found=${now} asked=${opened?.kind === "accept" && opened.name !== "max_risk" ? opened : null} />`}
      ${state.history.length > 1 && html`<${Past} state=${state} />`}
    </div></aside>`;
}

// The job about exactly what is shown: one that an earlier document asked for may still run under the same name.
const judge = (state, name) => [...store.jobs.values()].find((job) => job.kind === "judge" && job.about === state.about[name]);
const judging = (state, name) => Boolean(judge(state, name));

// The verdict on exactly what is shown, or that there is none yet. What was found before a change is kept in
// sight, in grey and without its headline: it is of another file.
function Now({ state, name, now }) {
  const running = judging(state, name);
  const again = () => post("/api/jobs", { kind: "judge", scenario: name }).then(refresh).catch(complain);
  if (!state.facts.records) return html`<p class="hint">Open a file to see its risks.</p>`;
  if (!Object.keys(state.document.roles).length) return html`<p class="hint">Give the variables roles, and the risks are measured.</p>`;
  if (now?.error) return html`<div class="verdict open" role="alert"><strong>Could not be judged</strong><p>${said(now.error)}</p></div><button onClick=${again}>Try again</button>`;
  if (now?.verdict) return html`<${Verdict} verdict=${now.verdict} seconds=${now.seconds} /><${NotAsked} found=${now} /><${Losses} found=${now} /><${Warnings} list=${now.warnings} />`;
  const known = store.known[name];
  const first = judge(state, name)?.so_far;
  return html`<div class="verdict pending" role="status"><strong>${running ? "Being judged …" : "Not judged"}</strong>
      <p>${running ? "The verdict on what you see now is being found." : "The verdict was stopped. Nothing is known of what you see now."}</p></div>
    ${!running && html`<button class="main" onClick=${again}>Judge now</button>`}
    ${first && html`<p class="hint">Still measuring: what ${first.waiting.join(", ")} can find, and all other criteria. Known so far:</p><${Criteria} verdict=${first} />`}
    ${known && html`<div class="waiting" aria-hidden="true"><p class="hint">Before the last change:</p><${Criteria} verdict=${known.verdict} /><${Losses} found=${known} /></div>`}`;
}

function Verdict({ verdict, seconds }) {
  const took = Object.values(seconds || {}).reduce((sum, one) => sum + one, 0);
  const many = (status) => verdict.criteria.filter((c) => c.status === status).length;
  const failed = many("not met"), open = many("not judged");
  return html`<div class="verdict ${verdict.status.replace(" ", "-")}" aria-live="polite">
      <strong>${WORDS[verdict.status]}</strong>
      <p>${many("met")} of ${counted(verdict.criteria.length, "criterion is", "criteria are")} judged and met${failed ? `, ${failed} not met` : ""}${open ? `, ${open} not judged` : ""}${took ? `, in ${number(Math.max(0.1, Math.round(10 * took) / 10))} s` : ""}.</p></div><${Criteria} verdict=${verdict} />`;
}

function Criteria({ verdict }) {
  return html`<ul class="criteria">${gravestFirst(verdict.criteria).map((c) => html`<li key=${`${c.name} ${c.status}`} class=${c.status.replace(" ", "-")}>
      <details><summary><span class="mark" aria-hidden="true">${MARKS[c.status]}</span><span>${c.name}</span>
        <span class="value">${c.value === null ? "" : shown(c)}</span><span class="hidden">${c.status}</span></summary>
        <p>${c.why}</p>${c.mends && html`<p class="mends">What would mend it: ${c.mends}</p>`}<${Places} places=${c.places} of=${c.name} /></details></li>`)}</ul>`;
}

const shown = (c) => `${beside(c.value, c.limit, c.share)}${c.limit !== null ? ` / ${number(c.limit, c.share)}` : ""}`;

// Questions that mean nothing for this file: said, so that nobody takes silence for an answer.
function NotAsked({ found }) {
  const risks = Object.fromEntries(store.methods.risk.filter((m) => m.judges).map((m) => [m.name, m]));
  const lacking = (measure) => measure.needs.filter((role) => !Object.values(store.state.document.roles).flat().includes(role)).map((role) => ({ kind: "role", name: role, columns: [] }));
  const left = found.omitted.filter((o) => o.measure in risks);
  return left.length > 0 && html`<details class="notasked"><summary>${found.new_records ? "Synthetic records: " : ""}${left.length === 1 ? "one risk is" : `${left.length} risks are`} not measured</summary>
    <ul>${left.map((o) => html`<li key=${o.measure}>${risks[o.measure].title}: ${o.reason}. <${Places} of=${risks[o.measure].title} places=${lacking(risks[o.measure])} /></li>`)}</ul></details>`;
}

function Losses({ found }) {
  const titles = Object.fromEntries(store.methods.utility.map((m) => [m.name, m]));
  const left = found.omitted.filter((o) => o.measure in titles);
  if (!Object.keys(found.utility).length) return html`<h3>Information lost</h3><p class="hint">Not measured${left.length ? `: ${left[0].measure in titles ? titles[left[0].measure].title : left[0].measure} ${left[0].reason}` : ""}.</p>`;
  return html`<h3>Information lost</h3>${found.new_records && html`<p class="hint">Of new records: how far tables and distributions are from the original.</p>`}<table class="lines"><tbody>
    ${Object.entries(found.utility).flatMap(([name, r]) => lossLines(name, r, titles[name])).map(([name, words, value]) => html`<tr key=${words}><th scope="row">
      <button class="quiet" onClick=${() => look({ help: { kind: "utility", name } })}>${words}</button></th><td>${value}</td></tr>`)}</tbody></table>`;
}

function Warnings({ list }) {
  return list.length > 0 && html`<h3>To look at before the release</h3><ul class="warnings">${list.map((text) => html`<li>${text}</li>`)}</ul>`;
}

const FLAGS = { order: "the rows may stay in the order of the original", missing_keys: "keys missing from the start are understood" };
const LISTS = { columns: "columns looked at and found harmless", numbers: "numbers that may be released unchanged", prepared: "columns whose values preparation changed" };

function Accepted({ state, asked, found }) {
  const [opened, open] = useState(false);
  useEffect(() => { if (asked) open(true); }, [asked]);
  const { max_risk: ceiling, accept } = state.document;
  const [trouble, say] = useState("");
  const put = async (max_risk, next) => {
    try { await change("criteria", { max_risk, accept: next }); say(""); } catch (error) { say(`${error.message} ${error.allowed ? `Allowed: ${error.allowed}.` : ""}`); }
  };
  const read = (text, use, whole = false) => {
    const plain = text.replace(/[\s%]/g, ""), value = plain === "" ? null : Number(whole ? plain.replace(/[.,'’](?=\d{3}(\D|$))/g, "") : plain.replace(",", "."));
    if (Number.isNaN(value)) say(`“${text}” is not a number.`); else if (!whole && !(value >= 0 && value <= 100)) say("This is a share of the persons: 0 to 100 %."); else use(value === null || whole ? value : value / 100);
  };
  const other = (name, value) => { const { [name]: had, ...rest } = accept; put(ceiling, value === null || value === false || value === "" || (Array.isArray(value) && !value.length) ? rest : { ...rest, [name]: value }); };
  const names = state.facts.columns?.map((c) => c.name) || [];
  const known = found?.verdict || store.known[store.view.scenario]?.verdict; // while the next one is being found, the columns stay in sight
  const wanted = (name) => (known?.criteria || []).flatMap((c) => c.places || []).filter((place) => place.kind === "accept" && place.name === name).flatMap((place) => place.columns);
  return html`<h3>What is accepted</h3>
    <label class="field">Persons an intruder may find, in %
      <${Typed} id="accept-max_risk" inputmode="decimal" value=${ceiling === null ? "" : Number((100 * ceiling).toPrecision(6))} put=${(text) => read(text, (value) => put(value, accept))} aria-describedby="ceiling-help" aria-invalid=${trouble ? "true" : null} /></label>
    ${trouble ? html`<p id="ceiling-help" class="bad" role="alert">${trouble}</p>` : html`<p id="ceiling-help" class="hint">Without it no file can be cleared: you decide what is acceptable.</p>`}
    ${!Object.values(state.document.roles).some((roles) => roles.includes("weight")) && html`<${Sample} state=${state} />`}
    <${Presets} use=${(risk) => put(risk, accept)} />
    <details open=${opened} onToggle=${(e) => open(e.target.open)}><summary>Accepted with open eyes${Object.keys(accept).length ? ` (${Object.keys(accept).length})` : ""}</summary>
      <label class="field">Right claims of a sure intruder <${Typed} id="accept-claims" inputmode="numeric" value=${accept.claims ?? ""} put=${(text) => read(text, (value) => other("claims", value), true)} /></label>
      <label class="field">Persons whose sensitive value may be inferred, in % <${Typed} id="accept-inference" inputmode="decimal" value=${accept.inference === undefined ? "" : Number((100 * accept.inference).toPrecision(6))} put=${(text) => read(text, (value) => other("inference", value))} /></label>
      <label class="field">People the weights stand for <${Typed} id="accept-population" inputmode="numeric" value=${accept.population ?? ""} put=${(text) => read(text, (value) => other("population", value), true)} /></label>
      ${Object.entries(FLAGS).map(([name, words]) => html`<label class="field"><input id=${`accept-${name}`} type="checkbox" checked=${!!accept[name]} onChange=${(e) => other(name, e.target.checked)} /> ${words}</label>`)}
      ${Object.entries(LISTS).map(([name, words]) => html`<fieldset><legend id=${`accept-${name}-label`}>${words}</legend><${Columns} id=${`accept-${name}`} value=${accept[name] || []} columns=${names} put=${(chosen) => other(name, chosen)} likely=${(c) => wanted(name).includes(c)} /></fieldset>`)}</details>`;
}

// Any earlier point can be gone to. One that takes the steps back of more than one change asks first.
function Past({ state }) {
  const [asked, ask] = useState(null);
  const to = (place) => { if (Math.abs(place - state.position) > 3 && asked !== place) ask(place); else { ask(null); go(place); } };
  return html`<h3>History</h3><ol class="history">${state.history.map((done, place) => place > 0 && html`
    <li key=${place}><button class=${place === state.position ? "quiet here" : place > state.position ? "quiet undone" : "quiet"}
      aria-current=${place === state.position ? "step" : null} onClick=${() => place !== state.position && to(place)}>${done}</button>
      ${asked === place && html`<div class="ask" role="alert">${Math.abs(place - state.position)} changes are ${place < state.position ? "undone" : "done again"}; redo brings them back until you change something.
        <div class="buttons"><button class="main" onClick=${() => to(place)}>Go there</button><button onClick=${() => ask(null)}>Stay</button></div></div>`}</li>`)}</ol>`;
}
