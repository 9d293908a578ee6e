// Open a file, see what it holds, look at its records.
import { html, useEffect, useState } from "../vendor/preact.js";
import { get, post, upload } from "../api.js";
import { look, number, store, waitFor } from "../store.js";
import { Table } from "../parts/table.js";

export function Data({ state }) {
  const open = state.facts.records > 0;
  return html`<h1>Data</h1>${!open && html`<p class="lead">Open the file that is to be released. Nothing leaves this machine.</p>`}
    ${!open && state.earlier && html`<section class="card"><h3>Go on where you stopped</h3><p class="hint">${state.earlier.slice(-3).join(" · ")}</p><${Again} /></section>`}
    <${Open} small=${open} />${open && html`<${Facts} state=${state} /><${Records} state=${state} />`}`;
}

function Again() {
  const [trouble, say] = useState(null);
  const go = async () => { try { await waitFor((await post("/api/open", { earlier: true })).job); look({ screen: "protect" }); } catch (error) { say(error); } };
  return html`<button class="main" onClick=${go}>Go on</button>${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.hint || ""}</p>`}`;
}

function Open({ small }) {
  const [trouble, say] = useState(null);
  const [folder, browse] = useState(null);
  const [path, type] = useState("");
  const opened = async (asking) => {
    say(null);
    try { await waitFor((await asking).job); look({ screen: "variables" }); } catch (error) { if (!error.stopped) say(error); }
  };
  const list = async (at) => { try { browse(await get("/api/files", { at })); } catch (error) { say(error); } };
  const drop = (event) => { event.preventDefault(); const [file] = event.dataTransfer.files; if (file) opened(upload(file)); };
  const inside = html`<div class="sources" onDragOver=${(e) => e.preventDefault()} onDrop=${drop}>
      <section class="card"><h3>A file of this machine</h3>
        <form class="line" onSubmit=${(e) => { e.preventDefault(); opened(post("/api/open", { path })); }}>
          <input aria-label="Path of a data file or a plan" placeholder="path of a data file or a plan" value=${path} onInput=${(e) => type(e.target.value)} /><button>Open</button></form>
        <button onClick=${() => list("")}>Browse folders</button>
        <label class="button">Upload <input type="file" class="hidden" accept=".csv,.gz,.parquet,.sav,.zsav,.dta,.sas7bdat,.xpt,.xlsx" onChange=${(e) => e.target.files[0] && opened(upload(e.target.files[0]))} /></label>
        <p class="hint">.csv .parquet .sav .dta .sas7bdat .xpt .xlsx, or drop a file here. A plan (.yaml) opens its file with all roles and steps.</p></section>
      <section class="card"><h3>Try it first</h3><p class="hint">Artificial persons and enterprises: nobody can be harmed.</p>
        <button class="main" onClick=${() => opened(post("/api/open", { demo: "survey" }))}>Demo survey</button>
        <button onClick=${() => opened(post("/api/open", { demo: "business" }))}>Demo business</button></section>
    </div>
    ${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.given ? `Given: ${trouble.given}.` : ""} ${trouble.hint || ""}</p>`}
    ${folder && html`<${Folder} folder=${folder} list=${list} open=${(p) => opened(post("/api/open", { path: p }))} />`}`;
  return small ? html`<details class="again"><summary>Open another file</summary>${inside}</details>` : inside;
}

function Folder({ folder, list, open }) {
  const inside = (name) => `${folder.at}/${name}`;
  return html`<section class="card folder"><h3>${folder.at}</h3><ul>
    ${folder.above && html`<li><button class="quiet" onClick=${() => list(folder.above)}>↑ one folder up</button></li>`}
    ${folder.folders.map((name) => html`<li><button class="quiet" onClick=${() => list(inside(name))}>▸ ${name}</button></li>`)}
    ${[...folder.files, ...folder.plans.map((name) => ({ name, plan: true }))].map((f) => html`<li><button class="quiet file" onClick=${() => open(inside(f.name))}>${f.name}</button>
      <span class="hint">${f.plan ? "plan" : `${number(Math.ceil(f.bytes / 1024))} kB`}</span></li>`)}</ul></section>`;
}

function Facts({ state }) {
  const { facts } = state;
  const empty = facts.columns.filter((c) => c.missing === facts.records);
  const direct = facts.columns.filter((c) => c.role === "direct");
  return html`<dl class="facts"><div><dt>records</dt><dd>${number(facts.records)}</dd></div><div><dt>variables</dt><dd>${facts.columns.length}</dd></div>
    <div><dt>with labels</dt><dd>${facts.columns.filter((c) => c.label).length}</dd></div>
    <div><dt>only missing</dt><dd>${empty.length || "none"}</dd></div>
    <div><dt>probably direct identifiers</dt><dd>${direct.map((c) => c.name).join(", ") || "none"}</dd></div></dl>
    ${facts.told?.length > 0 && html`<ul class="warnings">${facts.told.map((text) => html`<li>${text}</li>`)}</ul>`}
    ${/\.csv(\.gz)?$/i.test(state.document.source.file || "") && html`<${Encoding} state=${state} />`}`;
}

const ENCODINGS = { "": "found by itself (UTF-8, else Windows-1252)", "utf-8": "UTF-8", "cp1252": "Western (Windows-1252)", "cp1250": "Central European (Windows-1250)", "cp1251": "Cyrillic (Windows-1251)", "cp1253": "Greek (Windows-1253)", "cp1254": "Turkish (Windows-1254)", "cp1256": "Arabic (Windows-1256)", "cp1257": "Baltic (Windows-1257)", "iso8859-2": "Central European (ISO 8859-2)", "iso8859-15": "Western (ISO 8859-15)", "gb18030": "Chinese (GB 18030)", "shift_jis": "Japanese (Shift JIS)", "utf-16": "UTF-16" };

// A text file whose letters look wrong is read again; roles and steps stay.
function Encoding({ state }) {
  const [trouble, say] = useState(null);
  const again = async (encoding) => {
    say(null);
    try { await waitFor((await post("/api/open", { again: true, encoding })).job); } catch (error) { if (!error.stopped) say(error); }
  };
  return html`<p class="tools"><label>Do letters look wrong? Read the text as <select value=${state.document.source.encoding || ""} onChange=${(e) => again(e.target.value)}>
    ${Object.entries(ENCODINGS).map(([code, words]) => html`<option value=${code}>${words}</option>`)}</select></label></p>
    ${trouble && html`<p class="bad" role="alert">${trouble.what} ${trouble.hint || ""}</p>`}`;
}

function Records({ state }) {
  const [which, choose] = useState("original");
  const found = state.results[store.view.scenario];
  const steps = state.document.scenarios[store.view.scenario]?.some((card) => card.on);
  const linked = found && found.protected_records === state.facts.records;
  useEffect(() => { if (!found?.rows) choose("original"); }, [found?.rows]);
  const file = which === "protected" ? found?.rows : state.facts.rows;
  return html`<h2>Records</h2><div class="tools" role="group" aria-label="Which file">
    ${["original", "protected", "both"].map((name) => html`<button class=${which === name ? "chip on" : "chip"} aria-pressed=${which === name}
      disabled=${name !== "original" && (!found?.rows || !steps || (name === "both" && !linked))} onClick=${() => choose(name)}>${name === "both" ? "changed cells marked" : name}</button>`)}</div>
    <${Table} key=${`${file}${which}`} file=${file} compared=${which === "both" ? found?.rows : null} roles=${state.document.roles} />`;
}
