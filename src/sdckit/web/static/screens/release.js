// The checklist, and the files of the release.
import { html, useState } from "../vendor/preact.js";
import { beside, change, complain, counted, gravestFirst, look, number, said, start, store } from "../store.js";
import { Places } from "../parts/places.js";

const ENDINGS = { csv: "Text (.csv)", parquet: "Parquet", sav: "SPSS (.sav)", zsav: "SPSS, compressed (.zsav)", dta: "Stata (.dta)", xpt: "SAS transport (.xpt)", xlsx: "Excel (.xlsx)" };
const MARKS = { met: "✓", "not met": "✕", "not judged": "?" };

const SEPARATORS = { "": "the usual one", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

// The files made last, whether some are being made, and what went wrong, with the version of the document and the
// scenario that each is of: they outlive a look at another screen.
let last = null, making = false, trouble = null;

export function Release({ state }) {
  const [ending, choose] = useState("csv");
  const [internal, wantInternal] = useState(true);
  const [open, wantPublic] = useState(true);
  const [how, write] = useState({});
  const name = store.view.scenario;
  const found = state.results[name];
  if (!state.facts.records) return html`<h1>Release</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const run = async () => {
    const reports = [internal && "internal", open && "public"].filter(Boolean);
    const of = { version: state.version, name };
    last = trouble = null;
    making = true;
    look({});
    try { last = { ...of, ...(await start("/api/jobs", { kind: "release", scenario: name, wanted: { data: `protected.${ending}`, reports, how: fitting(how, ending) } })) }; } catch (error) { if (!error.stopped) trouble = { ...of, what: said(error) }; }
    making = false;
    look({});
  };
  const now = (one) => one && one.version === state.version && one.name === name;
  const made = last;
  const stale = made && !now(made);
  return html`<h1>Release <small>scenario ${name}</small></h1>
    ${found?.verdict ? html`<p class="recommendation ${found.verdict.status.replace(" ", "-")}"><strong>${found.verdict.headline}</strong></p>
      <${Checklist} criteria=${gravestFirst(found.verdict.criteria.filter((c) => c.status !== "met"))} />
      <details open=${found.verdict.status === "releasable"}><summary>${counted(found.verdict.criteria.filter((c) => c.status === "met").length, "criterion is", "criteria are")} judged and met</summary><${Checklist} criteria=${found.verdict.criteria.filter((c) => c.status === "met")} /></details>`
      : found?.error ? html`<p class="bad" role="alert">It could not be judged. ${said(found.error)}</p>`
      : html`<p class="hint">There is no verdict on scenario ${name} yet: see the panel.</p>`}
    <${Order} state=${state} name=${name} found=${found} />
    <h2>Files</h2><div class="tools"><label>Protected file <select value=${ending} onChange=${(e) => choose(e.target.value)}>${Object.entries(ENDINGS).map(([k, t]) => html`<option value=${k}>${t}</option>`)}</select></label>
      <label><input type="checkbox" checked=${internal} onChange=${() => wantInternal(!internal)} /> internal report</label>
      <label><input type="checkbox" checked=${open} onChange=${() => wantPublic(!open)} /> public report</label>
      <button class="main" disabled=${making} onClick=${run}>${making ? "Being made …" : "Make the files"}</button></div>
    <details class="card"><summary>How the file is written${Object.keys(fitting(how, ending)).length ? ` (${Object.keys(fitting(how, ending)).length} chosen)` : ""}</summary><${How} ending=${ending} how=${how} write=${write} /></details>
    ${now(trouble) && html`<p class="bad" role="alert">${said(trouble)}</p>`}
    ${stale && html`<p class="bad" role="status">Something was changed since these files were made: make them again.</p>`}
    ${made && !stale && html`<section class="card"><p class=${made.verdict.status === "releasable" ? "" : "bad"}><strong>${made.verdict.headline}</strong></p>
      ${made.told.length > 0 && html`<ul class="warnings">${made.told.map((text) => html`<li>${text}</li>`)}</ul>`}<ul class="files">${made.files.map((f) => html`<li key=${f.name}><a href=${`/download/${made.folder}/${f.name}`} download=${f.name}>${f.name}</a> <span class=${f.for.startsWith("must not") ? "bad" : "hint"}>${number(Math.ceil(f.bytes / 1024))} kB · ${f.for}</span></li>`)}</ul>
      <p class="hint">Plan, script and internal report tell how the file was made and stay inside. release.zip, for others, is made only where every criterion is met.</p>
      ${made.drawn_in_secret && html`<p class="bad">A step draws its noise in secret: plan and script make another file of this kind. Each file that is given away costs its ε.</p>`}
      <p class="hint">The same without this page:</p><pre>${made.command}</pre></section>`}
    <p class="hint">The plan holds every decision: keep it. Next year, open it here, and then the new file as “a new wave” on the screen Data. <button class="quiet" onClick=${() => look({ screen: "data" })}>Back to the records</button></p>`;
}

// What can be told to a file of this kind; nothing else is sent.
const fitting = (how, ending) => Object.fromEntries(Object.entries(how).filter(([name]) => ending === "csv" || !["decimal", "separator", "escape_formulas", "header"].includes(name)));

function How({ ending, how, write }) {
  const put = (name, value) => { const { [name]: had, ...rest } = how; write(value ? { ...rest, [name]: value } : rest); };
  return html`<div class="tools"><label>Written as <select value=${how.values || ""} onChange=${(e) => put("values", e.target.value)}><option value="">codes</option><option value="labels">texts of their labels</option></select></label>
      ${ending === "csv" && html`<label>Decimal mark <select value=${how.decimal || ""} onChange=${(e) => write({ ...Object.fromEntries(Object.entries(how).filter(([n, v]) => n !== "decimal" && !(n === "separator" && v === e.target.value))), ...(e.target.value ? { decimal: e.target.value } : {}) })}><option value="">point</option><option value=",">comma</option></select></label>
      <label>Between the values <select value=${how.separator || ""} onChange=${(e) => put("separator", e.target.value)}>${Object.entries(SEPARATORS).filter(([mark]) => !(mark === "," && how.decimal === ",")).map(([mark, words]) => html`<option value=${mark}>${mark === "" ? `usual (${how.decimal === "," ? "semicolon" : "comma"})` : words}</option>`)}</select></label>
      <label><input type="checkbox" checked=${!!how.escape_formulas} onChange=${(e) => put("escape_formulas", e.target.checked)} /> an apostrophe before texts that a spreadsheet would run</label>`}
      <label><input type="checkbox" checked=${!!how.codebook} onChange=${(e) => put("codebook", e.target.checked)} /> codebook (page and DDI)</label></div>
    ${ending === "csv" && html`<div class="tools"><label><input type="checkbox" checked=${how.header !== false} onChange=${(e) => { const { header, ...rest } = how; write(e.target.checked ? rest : { ...rest, header: false }); }} /> the first line has the names of the variables</label></div>`}
    <p class="hint">${how.header === false && ending === "csv" ? "Without names in the file, add the codebook: it has them in their order. " : ""}${ending === "csv" ? "A .csv has no labels: add the codebook, or write the texts." : ""}</p>`;
}

// The order of the records is a step of the plan, so that plan and script do the same.
function Order({ state, name, found }) {
  const cards = (state.document.scenarios[name] || []).filter((card) => card.on);
  const last = cards.findLastIndex((card) => card.method === "shuffle_order");
  const shuffled = last >= 0;
  const home = Object.keys(state.document.roles).find((column) => state.document.roles[column].includes("household"));
  const homes = home && !cards.slice(0, last).some((card) => card.method === "drop" && card.options.variables?.includes(home)); // without it, nothing says who belongs together
  const add = () => change("add_step", { scenario: name, method: "shuffle_order", options: {} }).catch(complain);
  if (found?.new_records) return null;
  return html`<p>Order of the records: <strong>${shuffled ? `random${homes ? ", members of a household together" : ""}` : "as in the original"}</strong>. ${!shuffled && html`<button onClick=${add}>Put them in a random order</button>`}</p>`;
}

function Checklist({ criteria }) {
  if (!criteria.length) return null;
  return html`<div class="wide"><table class="variables checklist"><thead><tr><th scope="col"><span class="hidden">met or not</span></th><th scope="col">Criterion</th><th scope="col" class="number">Found</th><th scope="col" class="number">Accepted</th><th scope="col">Why, and what would mend it</th></tr></thead><tbody>
    ${criteria.map((c) => html`<tr key=${`${c.name} ${c.status}`} class=${c.status.replace(" ", "-")}><td><span class="mark" aria-hidden="true">${MARKS[c.status]}</span><span class="hidden">${c.status}</span></td><th scope="row">${c.name}</th>
      <td class="number">${c.value === null ? "" : beside(c.value, c.limit, c.share)}</td><td class="number">${c.limit === null ? "" : number(c.limit, c.share)}</td><td>${c.why}${c.mends ? html`<small>${c.mends}</small>` : ""}<${Places} places=${c.places} of=${c.name} /></td></tr>`)}</tbody></table></div>`;
}
