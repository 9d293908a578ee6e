// The checklist, and the files of the release.
import { html, useState } from "../vendor/preact.js";
import { look, number, start, store } from "../store.js";

const ENDINGS = { csv: "Text (.csv)", parquet: "Parquet", sav: "SPSS (.sav)", zsav: "SPSS, compressed (.zsav)", dta: "Stata (.dta)", xpt: "SAS transport (.xpt)", xlsx: "Excel (.xlsx)" };
const MARKS = { met: "✓", "not met": "✕", "not judged": "?" };

let last = null; // the files made last, with the version of the document and the scenario they are of

export function Release({ state }) {
  const [ending, choose] = useState("csv");
  const [internal, wantInternal] = useState(true);
  const [open, wantPublic] = useState(true);
  const [made, show] = useState(last);
  const [trouble, say] = useState(null);
  const name = store.view.scenario;
  const found = state.results[name];
  if (!state.facts.records) return html`<h1>Release</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const run = async () => {
    say(null); show(null); last = null;
    const reports = [internal && "internal", open && "public"].filter(Boolean);
    try { last = { version: state.version, name, ...(await start("/api/jobs", { kind: "release", scenario: name, wanted: { data: `protected.${ending}`, reports } })) }; show(last); } catch (error) { if (!error.stopped) say(error); }
  };
  const stale = made && (made.version !== state.version || made.name !== name);
  return html`<h1>Release <small>scenario ${name}</small></h1>
    ${found?.verdict ? html`<p class="recommendation ${found.verdict.status.replace(" ", "-")}"><strong>${found.verdict.headline}</strong></p>
      <${Checklist} criteria=${found.verdict.criteria.filter((c) => c.status !== "met")} />
      <details open=${found.verdict.status === "releasable"}><summary>${found.verdict.criteria.filter((c) => c.status === "met").length} criteria are judged and met</summary><${Checklist} criteria=${found.verdict.criteria.filter((c) => c.status === "met")} /></details>`
      : found?.error ? html`<p class="bad" role="alert">It could not be judged. ${found.error.what} ${found.error.hint || ""}</p>`
      : html`<p class="hint">There is no verdict on scenario ${name} yet: see the panel.</p>`}
    <h2>Files</h2><div class="tools"><label>Protected file <select value=${ending} onChange=${(e) => choose(e.target.value)}>${Object.entries(ENDINGS).map(([k, t]) => html`<option value=${k}>${t}</option>`)}</select></label>
      <label><input type="checkbox" checked=${internal} onChange=${() => wantInternal(!internal)} /> internal report</label>
      <label><input type="checkbox" checked=${open} onChange=${() => wantPublic(!open)} /> public report</label>
      <button class="main" onClick=${run}>Make the files</button></div>
    ${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.hint || ""}</p>`}
    ${stale && html`<p class="bad" role="status">Something was changed since these files were made: make them again.</p>`}
    ${made && !stale && html`<section class="card"><p class=${made.verdict.status === "releasable" ? "" : "bad"}><strong>${made.verdict.headline}</strong></p>
      ${made.told.length > 0 && html`<ul class="warnings">${made.told.map((text) => html`<li>${text}</li>`)}</ul>`}<ul class="files">${made.files.map((f) => html`<li key=${f.name}><a href=${`/download/${made.folder}/${f.name}`} download=${f.name}>${f.name}</a> <span class=${f.for.startsWith("must not") ? "bad" : "hint"}>${number(Math.ceil(f.bytes / 1024))} kB · ${f.for}</span></li>`)}</ul>
      <p class="hint">Plan, script and internal report tell how the file was made and stay inside. release.zip, for others, is made only where every criterion is met.</p>
      <p class="hint">The same without this page:</p><pre>sdckit protect plan.yaml --scenario "${name}" --out protected.${ending}</pre></section>`}
    <p class="hint">The plan holds every decision: keep it, open it here next year with the new file. <button class="quiet" onClick=${() => look({ screen: "data" })}>Back to the records</button></p>`;
}

function Checklist({ criteria }) {
  if (!criteria.length) return null;
  return html`<div class="wide"><table class="variables checklist"><thead><tr><th scope="col"><span class="hidden">met or not</span></th><th scope="col">Criterion</th><th scope="col" class="number">Found</th><th scope="col" class="number">Accepted</th><th scope="col">Why, and what would mend it</th></tr></thead><tbody>
    ${criteria.map((c) => html`<tr key=${`${c.name} ${c.status}`} class=${c.status.replace(" ", "-")}><td><span class="mark" aria-hidden="true">${MARKS[c.status]}</span><span class="hidden">${c.status}</span></td><th scope="row">${c.name}</th>
      <td class="number">${c.value === null ? "" : number(c.value, c.share)}</td><td class="number">${c.limit === null ? "" : number(c.limit, c.share)}</td><td>${c.why}${c.mends ? html`<small>${c.mends}</small>` : ""}</td></tr>`)}</tbody></table></div>`;
}
