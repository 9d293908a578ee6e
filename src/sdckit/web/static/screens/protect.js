// The steps of a scenario in order, the methods to choose from, and a look at what they do.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { change, columnsOf, complain, look, number, said, store, waitFor } from "../store.js";
import { linkedOptions } from "../parts/followers.js";
import { Form } from "../parts/form.js";
import { Look } from "../parts/look.js";
import { focus, taken } from "../parts/places.js";
import { Preview, Tried } from "../parts/preview.js";
import { ROLES } from "./variables.js";

export function Protect({ state }) {
  const name = store.view.scenario;
  if (!state.facts.records) return html`<h1>Protect</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const cards = state.document.scenarios[name] || [];
  const found = state.results[name];
  return html`<h1>Protect <small>scenario ${name}</small></h1>
    <div class=${store.view.form ? "columns editing" : "columns"}><section><h2>Steps</h2>
      ${cards.length === 0 && html`<p class="hint">No step yet: the file is released as it is. Choose a method on the right.</p>`}
      <ol class="steps">${cards.map((card, at) => html`<${Card} key=${at} card=${card} at=${at} of=${cards.length} state=${state} did=${did(found, cards, at)} failed=${failed(found, cards, at)} />`)}</ol><${Reset} cards=${cards} /></section>
    <section><h2>${store.view.form && store.view.form.at === undefined ? "The step" : "Methods"}</h2>
      ${store.view.form && store.view.form.at === undefined ? html`<${Step} key=${`${store.view.form.method} ${JSON.stringify(store.view.form.options)}`} state=${state} form=${store.view.form} />` : html`<${Gallery} state=${state} />`}</section></div>
    <${Look} state=${state} />`;
}

// The place of a step among those that are on: the others are not in the log, nor in what went wrong.
const placeOf = (cards, at) => cards.slice(0, at).filter((card) => card.on).length;

const failed = (found, cards, at) => cards[at].on && found?.error?.step === placeOf(cards, at) ? found.error : null;

// What a step did, from the log of the file.
function did(found, cards, at) {
  if (!found?.log || !cards[at].on) return null;
  const place = placeOf(cards, at);
  return found.log[place] && { ...found.log[place], seconds: found.took[place] };
}

const titles = () => Object.fromEntries(store.methods.protection.map((m) => [m.name, m]));
const text = (value) => Array.isArray(value) ? value.map(text).join(", ") : value && typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${text(v)}`).join("; ") : String(value);

const took = (seconds) => seconds < 0.05 ? "took less than 0.1 s" : `took ${number(Number(seconds.toFixed(seconds < 10 ? 1 : 0)))} s`;

const inWords = (name) => (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ");

// The columns that the options of a step name.
const named = (card) => new Set((titles()[card.method]?.form || []).filter((f) => f.kind === "column" || f.kind === "columns").flatMap((f) => card.options[f.name] || []));

function Card({ card, at, of, state, did, failed }) {
  const method = titles()[card.method];
  const scenario = store.view.scenario;
  const editing = store.view.form?.at === at;
  const label = (name) => method?.form.find((f) => f.name === name)?.label || name;
  const there = new Set([...columnsOf(state), ...(state.results[scenario]?.columns || [])]);
  const lacking = [...named(card)].filter((column) => !there.has(column));
  const move = (to, way) => change("move_step", { scenario, at, to }).then(() => focus(`step-${to}-${to === 0 ? "down" : to + 1 === of ? "up" : way}`, 3)); // the focus goes with the step
  const figures = Object.entries(did?.figures || {}).filter(([, v]) => typeof v === "number" && v !== 0);
  return html`<li class=${card.on ? "card step" : "card step off"}><div class="head"><strong>${method?.title || card.method}</strong>
      <span class="buttons" role="group" aria-label=${`Step ${at + 1}: ${method?.title || card.method}`}><button id=${`step-${at}-up`} disabled=${at === 0} aria-label="Move up" title="Move up" onClick=${() => move(at - 1, "up")}>↑</button>
        <button id=${`step-${at}-down`} disabled=${at + 1 === of} aria-label="Move down" title="Move down" onClick=${() => move(at + 1, "down")}>↓</button>
        <button onClick=${() => look({ form: editing ? null : { method: card.method, at } })}>Change</button>
        <button aria-pressed=${!card.on} onClick=${() => change("switch_step", { scenario, at, on: !card.on })}>${card.on ? "Switch off" : "Switch on"}</button>
        <button onClick=${() => { look({ form: null }); change("remove_step", { scenario, at }); }}>Take out</button></span></div>
    <p>${Object.entries(card.options).filter(([k]) => !method?.form.find((f) => f.name === k)?.secret).map(([k, v]) => `${label(k)}: ${text(v)}`).join(" · ") || "Every option at its default."}</p>
    ${did && html`<p class="hint">${[...figures.slice(0, 5).map(([k, v]) => `${method?.did[k] || inWords(k)}: ${number(v)}`), took(did.seconds)].join(" · ")}</p>`}
    ${failed && html`<p class="bad" role="alert">It could not be done. ${said(failed)}</p>`}
    ${lacking.map((column) => html`<p class="bad" role="alert" key=${column}>${state.document.roles[column]?.includes("direct") ? `${column} is a direct identifier, and left out before any step.` : `The file has no column ${column}.`} <button onClick=${() => change("reset_variable", { scenario, column }).catch(complain)}>Take ${column} out of the steps</button></p>`)}
    <${Note} card=${card} at=${at} />
    ${editing && html`<${Step} state=${state} form=${{ ...store.view.form, options: card.options }} />`}</li>`;
}

// Why the step is there: in the plan, the history and the internal report, never in the public one.
function Note({ card, at }) {
  const [text, write] = useState(null);
  const [trouble, say] = useState("");
  const scenario = store.view.scenario;
  const save = async (event) => {
    event.preventDefault();
    try { await change("note_step", { scenario, at, note: text }); write(null); say(""); } catch (error) { say(error.message); }
  };
  if (text === null) return html`<p class="note">${card.note}${card.note ? " " : ""}<button class="quiet" aria-label=${`${card.note ? "Change the note on" : "Add a note to"} step ${at + 1}`} onClick=${() => write(card.note || "")}>${card.note ? "Change the note" : "Add a note"}</button></p>`;
  return html`<form class="note" onSubmit=${save}><label class="field">Why this step is there <textarea rows="2" maxlength="2000" autofocus value=${text} onInput=${(e) => write(e.target.value)} onKeyDown=${(e) => e.key === "Escape" && write(null)}></textarea></label>
    <p class="hint">For the office: it goes into the plan, the history and the internal report.</p>${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    <div class="buttons"><button class="main">Save the note</button><button type="button" onClick=${() => write(null)}>Cancel</button></div></form>`;
}

// Takes a variable out of the steps that name it. What treats it by its role says so, and stays.
function Reset({ cards }) {
  const [trouble, say] = useState("");
  const scenario = store.view.scenario;
  const columns = new Set(cards.flatMap((card) => [...named(card)]));
  const reset = async (column) => { try { await change("reset_variable", { scenario, column }); say(""); look({ form: null }); } catch (error) { say(`${error.message} ${error.hint || ""}`); } };
  if (!columns.size) return null;
  return html`<div class="tools"><label>Reset a variable <select value="" onChange=${(e) => { if (e.target.value) reset(e.target.value); e.target.value = ""; }}><option value="">choose …</option>${[...columns].sort().map((c) => html`<option>${c}</option>`)}</select></label>
    <button onClick=${() => change("reset_scenario", { scenario })}>Take all steps out</button></div>${trouble && html`<p class="bad" role="alert">${trouble}</p>`}`;
}

function Gallery({ state }) {
  const [find, search] = useState("");
  const have = new Set(Object.values(state.document.roles).flat());
  const shown = store.methods.protection.filter((m) => `${m.name} ${m.title} ${m.help}`.toLowerCase().includes(find.toLowerCase()));
  const groups = [...new Set(store.methods.protection.map((m) => m.family))].sort().map((g) => [g, shown.filter((m) => m.family === g)]).filter(([, list]) => list.length);
  return html`<label class="field">Find <input value=${find} onInput=${(e) => search(e.target.value)} placeholder="noise, suppress, top …" /></label>
    <div class="gallery">${groups.map(([group, list]) => html`<h3>${group}</h3><ul>${list.map((m) => { const lacks = m.needs.filter((role) => !have.has(role));
      return html`<li key=${m.name}><button class="method" disabled=${lacks.length > 0} onClick=${() => look({ form: { method: m.name } })}><strong>${m.title}</strong>
        <span>${lacks.length ? `Needs a variable with the role ${lacks.map((role) => ROLES[role] || role).join(" and ")}.` : m.summary}</span></button></li>`; })}</ul>`)}
      ${!groups.length && html`<p class="hint">No method is called so.</p>`}</div>`;
}

function Step({ state, form }) {
  const method = titles()[form.method];
  const [options] = useState(() => form.at === undefined ? { ...linkedOptions(method), ...form.options } : form.options);
  const [draft, keep] = useState(options || {});
  const [tried, show] = useState(null);
  const there = useRef(null);
  useEffect(() => { if (taken(["step"])) { there.current?.scrollIntoView({ block: "start" }); there.current?.focus(); } }, [store.view.place]);
  const scenario = store.view.scenario;
  const columns = state.results[scenario]?.columns || columnsOf(state);
  const same = (options) => tried?.given === JSON.stringify(options) && tried.version === store.state.version;
  const save = async (given) => {
    const options = same(given) ? tried.options : given; // what was drawn in secret for the trial is kept
    if (form.at === undefined) await change("add_step", { scenario, method: form.method, options });
    else await change("change_step", { scenario, at: form.at, method: form.method, options });
    look({ form: null });
  };
  const test = async (given) => {
    const { version } = store.state;
    show({ waiting: true });
    keep(given);
    try {
      const { job, options } = await post("/api/try", { scenario, method: form.method, options: given, at: form.at });
      const result = await waitFor(job);
      show({ result, options, given: JSON.stringify(given), version });
    } catch (error) { show(null); if (!error.stopped) throw error; }
  };
  return html`<div class="stepform" ref=${there} tabindex="-1"><${Form} method=${method} options=${options} columns=${columns} onSave=${save} onTry=${test} onDraft=${keep} below=${(given, patch) => html`<${Preview} draft=${given} method=${method} patch=${patch} />`}
      onCancel=${() => look({ form: null })} save=${form.at === undefined ? "Add the step" : "Save the step"} />
    ${tried && html`<${Tried} tried=${tried} now=${state.results[scenario]} stale=${tried.result && !same(draft)} at=${form.at} />`}</div>`;
}
