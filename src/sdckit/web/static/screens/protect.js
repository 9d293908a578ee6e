// The steps of a scenario in order, the methods to choose from, and a look at what they do.
import { html, useEffect, useState } from "../vendor/preact.js";
import { change, look, number, start, store } from "../store.js";
import { Form } from "../parts/form.js";
import { Bars, Chart } from "../parts/chart.js";

export function Protect({ state }) {
  const name = store.view.scenario;
  if (!state.facts.records) return html`<h1>Protect</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const cards = state.document.scenarios[name] || [];
  const found = state.results[name];
  return html`<h1>Protect <small>scenario ${name}</small></h1>
    <div class="columns"><section><h2>Steps</h2>
      ${cards.length === 0 && html`<p class="hint">No step yet: the file is released as it is. Choose a method on the right.</p>`}
      <ol class="steps">${cards.map((card, at) => html`<${Card} key=${at} card=${card} at=${at} of=${cards.length} state=${state} did=${did(found, cards, at)} />`)}</ol></section>
    <section><h2>${store.view.form && store.view.form.at === undefined ? "The step" : "Methods"}</h2>
      ${store.view.form && store.view.form.at === undefined ? html`<${Step} state=${state} form=${store.view.form} />` : html`<${Gallery} state=${state} />`}</section></div>
    <${Look} state=${state} />`;
}

// What a step did, from the log of the file: steps that are switched off have no entry there.
function did(found, cards, at) {
  if (!found?.log || !cards[at].on) return null;
  return found.log[cards.slice(0, at).filter((card) => card.on).length];
}

const titles = () => Object.fromEntries(store.methods.protection.map((m) => [m.name, m]));
const text = (value) => Array.isArray(value) ? value.map(text).join(", ") : value && typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${text(v)}`).join("; ") : String(value);

function Card({ card, at, of, state, did }) {
  const method = titles()[card.method];
  const scenario = store.view.scenario;
  const editing = store.view.form?.at === at;
  const label = (name) => method.form.find((f) => f.name === name)?.label || name;
  const figures = Object.entries(did?.figures || {}).filter(([, v]) => typeof v === "number" && v !== 0);
  return html`<li class=${card.on ? "card step" : "card step off"}><div class="head"><strong>${method?.title || card.method}</strong>
      <span class="buttons"><button disabled=${at === 0} aria-label="Move up" title="Move up" onClick=${() => change("move_step", { scenario, at, to: at - 1 })}>↑</button>
        <button disabled=${at + 1 === of} aria-label="Move down" title="Move down" onClick=${() => change("move_step", { scenario, at, to: at + 1 })}>↓</button>
        <button onClick=${() => look({ form: editing ? null : { method: card.method, at } })}>Change</button>
        <button aria-pressed=${!card.on} onClick=${() => change("switch_step", { scenario, at, on: !card.on })}>${card.on ? "Switch off" : "Switch on"}</button>
        <button onClick=${() => { look({ form: null }); change("remove_step", { scenario, at }); }}>Take out</button></span></div>
    <p>${Object.entries(card.options).map(([k, v]) => `${label(k)}: ${text(v)}`).join(" · ") || "all defaults"}</p>
    ${figures.length > 0 && html`<p class="hint">${figures.slice(0, 5).map(([k, v]) => `${k.replaceAll("_", " ")} ${number(v)}`).join(" · ")}</p>`}
    ${editing && html`<${Step} state=${state} form=${{ ...store.view.form, options: card.options }} />`}</li>`;
}

function Gallery({ state }) {
  const [find, search] = useState("");
  const have = new Set(Object.values(state.document.roles).flat());
  const shown = store.methods.protection.filter((m) => `${m.name} ${m.title} ${m.help}`.toLowerCase().includes(find.toLowerCase()));
  return html`<label class="field">Find <input value=${find} onInput=${(e) => search(e.target.value)} placeholder="noise, suppress, top …" /></label>
    <ul class="gallery">${shown.map((m) => { const lacks = m.needs.filter((role) => !have.has(role));
      return html`<li key=${m.name}><button class="method" disabled=${lacks.length > 0} onClick=${() => look({ form: { method: m.name } })}><strong>${m.title}</strong>
        <span>${lacks.length ? `needs a variable with the role ${lacks.join(" and ")}` : m.help.split(". ")[0]}</span></button></li>`; })}</ul>`;
}

function Step({ state, form }) {
  const method = titles()[form.method];
  const [draft, keep] = useState(form.options || {});
  const scenario = store.view.scenario;
  const columns = state.results[scenario]?.columns || state.facts.columns.map((c) => c.name);
  const save = async (options) => {
    if (form.at === undefined) await change("add_step", { scenario, method: form.method, options });
    else await change("change_step", { scenario, at: form.at, method: form.method, options });
    look({ form: null });
  };
  return html`<div class="stepform"><${Form} method=${method} options=${form.options} columns=${columns} onSave=${save} onDraft=${keep}
      onCancel=${() => look({ form: null })} save=${form.at === undefined ? "Add the step" : "Save the step"} />
    <${Preview} draft=${draft} method=${method} /></div>`;
}

// Before a step is added: the variable it is about, with the class limits of the form drawn into it.
function Preview({ draft, method }) {
  const single = method.form.find((f) => f.kind === "column")?.name;
  const several = method.form.find((f) => f.kind === "columns" && f.required)?.name;
  const column = (single && draft[single]) || (several && draft[several]?.[0]);
  const [shown, show] = useState(null);
  useEffect(() => {
    let gone = false;
    show(null);
    if (column) start("/api/jobs", { kind: "column", column }).then((found) => gone || show(found)).catch(() => null);
    return () => { gone = true; };
  }, [column]);
  if (!column || !shown) return null;
  const limits = draft.breaks || (draft.width && shown.original?.edges ? steps(shown.original.edges, draft.width) : typeof draft.value === "number" ? [draft.value] : []);
  return html`<h3>${column} now</h3><${Bars} original=${shown.original} labels=${shown.labels} breaks=${limits} label=${`Distribution of ${column}`} />`;
}

const steps = (edges, width) => { const found = []; if (!(width > 0)) return found; for (let v = Math.ceil(edges[0] / width) * width; v < edges.at(-1) && found.length < 200; v += width) found.push(v); return found; };

// Any measure of the registry, before and after, with its picture.
function Look({ state }) {
  const [kind, choose] = useState("risk");
  const [name, pick] = useState("");
  const [found, show] = useState(null);
  const measure = async (measure) => {
    pick(measure); show({ waiting: true });
    try { show(await start("/api/jobs", { kind: "measure", measure, scenario: store.view.scenario })); } catch (error) { show({ trouble: error }); }
  };
  useEffect(() => { show(null); }, [store.view.scenario, state.version]);
  const method = store.methods[kind].find((m) => m.name === name);
  return html`<section class="look"><h2>Look</h2><div class="tools"><div role="group" aria-label="What to look at">${["risk", "utility"].map((k) => html`<button class=${k === kind ? "chip on" : "chip"} aria-pressed=${k === kind} onClick=${() => { choose(k); pick(""); show(null); }}>${k}</button>`)}</div>
    <label>Measure <select value=${name} onChange=${(e) => e.target.value && measure(e.target.value)}><option value="">choose …</option>${store.methods[kind].map((m) => html`<option value=${m.name}>${m.title}</option>`)}</select></label>
    ${method && html`<button class="quiet" onClick=${() => look({ help: { kind, name } })}>What does this mean?</button>`}</div>
    ${found?.waiting && html`<p class="hint">Being measured …</p>`}
    ${found?.trouble && html`<p class="bad" role="alert">${found.trouble.what} ${found.trouble.hint || ""}</p>`}
    ${found?.after && method && html`<div class="pair">${found.before && html`<${Found} title="before" result=${found.before} method=${method} />`}<${Found} title=${found.before ? "after" : method.title} result=${found.after} method=${method} /></div>`}</section>`;
}

function Found({ title, result, method }) {
  return html`<section class="card"><h3>${title}: ${number(result.value, method.share)}</h3>
    ${result.chart && html`<${Chart} spec=${result.chart} label=${`${method.title}, ${title}`} />`}
    <table class="lines"><tbody>${Object.entries(result.figures).slice(0, 12).map(([k, f]) => html`<tr key=${k}><th scope="row">${f.label}</th><td>${typeof f.value === "number" ? number(f.value) : String(f.value ?? "–")}</td></tr>`)}</tbody></table>
    ${result.notes.map((note) => html`<p class="hint">${note}</p>`)}</section>`;
}
