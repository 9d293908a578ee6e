// Open a file, see what it holds, look at its records.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, post, remove, upload } from "../api.js";
import { look, number, said, store, waitFor } from "../store.js";
import { Explore } from "../parts/explore.js";
import { focus, taken } from "../parts/places.js";
import { Prepare } from "../parts/prepare.js";
import { hasOptions, Reading } from "../parts/reading.js";
import { Table } from "../parts/table.js";

export function Data({ state }) {
  const open = state.facts.records > 0;
  return html`<h1>Data</h1>${!open && html`<p class="lead">Open the file that is to be released. Nothing leaves this machine.</p>`}
    ${!open && state.earlier && html`<section class="card"><h3>Go on where you stopped</h3><p class="hint">${[state.earlier.file, ...state.earlier.done.slice(-3)].filter(Boolean).join(" · ")}</p><${Again} /></section>`}
    <${Open} small=${open} held=${state.held} />${open && html`<${Facts} state=${state} /><${Prepare} state=${state} /><${Records} state=${state} /><${Explorer} state=${state} />`}`;
}

function Again() {
  const [trouble, say] = useState(null);
  const go = async () => { try { await waitFor((await post("/api/open", { earlier: true })).job); look({ screen: "protect" }); } catch (error) { say(error); } };
  return html`<button class="main" onClick=${go}>Go on</button>${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}`;
}

function Open({ small, held }) {
  const [trouble, say] = useState(null);
  const [folder, browse] = useState(null);
  const [path, type] = useState("");
  const [keep, hold] = useState(false); // a new wave: the decisions stay
  const [looked, lookAt] = useState(null); // a file that is looked at before it is opened
  const another = useRef(null);
  useEffect(() => { hold(Boolean(held)); if (held && another.current) another.current.open = true; }, [held?.file, held?.of]);
  useEffect(() => { if (small && !hasOptions(store.state.document.source.file) && taken(["file"])) { another.current.open = true; focus("another"); } }, [store.view.place]);
  // `file`: where the file can be asked for again, so that another way of reading it can be tried where this one failed.
  const opened = async (asking, file = null) => {
    say(null);
    lookAt(null);
    let job;
    try { ({ job } = await asking); } catch (error) { say(error); return; }
    try { await waitFor(job); look({ screen: "variables" }); } catch (error) { if (!error.stopped) { say(error); if (file && hasOptions(file.name)) lookAt(file); } }
  };
  const openPath = (p) => opened(post("/api/open", { path: p, keep }), { path: p, name: p });
  const send = (file) => opened(upload(file, false, keep), { upload: true, name: file.name });
  const read = async (options) => { const { name, ...asked } = looked; await waitFor((await post("/api/open", { ...asked, options, keep })).job); say(null); lookAt(null); look({ screen: "variables" }); };
  const list = async (at) => { try { browse(await get("/api/files", { at })); } catch (error) { say(error); } };
  const drop = (event) => { event.preventDefault(); const [file] = event.dataTransfer.files; if (file) send(file); };
  const inside = html`<div class="sources" onDragOver=${(e) => e.preventDefault()} onDrop=${drop}>
      <section class="card"><h3>A file of this machine</h3>
        <form class="line" onSubmit=${(e) => { e.preventDefault(); openPath(path); }}>
          <input aria-label="Path of a data file or a plan" placeholder="path of a data file or a plan" value=${path} onInput=${(e) => type(e.target.value)} /><button>Open</button>${hasOptions(path) && html`<button type="button" onClick=${() => { say(null); lookAt({ path, name: path }); }}>Look first</button>`}</form>
        <button onClick=${() => list("")}>Browse folders</button>
        <label class="button">Upload <input type="file" class="hidden" accept=".csv,.gz,.parquet,.sav,.zsav,.dta,.sas7bdat,.xpt,.xlsx" onChange=${(e) => e.target.files[0] && send(e.target.files[0])} /></label>
        <p class="hint">.csv .parquet .sav .dta .sas7bdat .xpt .xlsx, or drop a file here. A plan (.yaml) opens its file with all roles and steps.</p><${Recent} open=${openPath} /></section>
      <section class="card"><h3>Try it first</h3><p class="hint">Artificial persons and enterprises: nobody can be harmed.</p>
        <div class="buttons"><button class="main" onClick=${() => opened(post("/api/open", { demo: "survey" }))}>Demo survey</button>
        <button onClick=${() => opened(post("/api/open", { demo: "business" }))}>Demo business</button></div></section>
    </div>
    ${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}
    ${looked && html`<section class="card"><h3>How ${looked.name.split(/[\\/]/).pop()} is read</h3><${Reading} key=${looked.path || "upload"} file=${looked.upload ? { upload: true } : { path: looked.path }} name=${looked.name} known=${trouble} onRead=${read} save="Open it like this" /></section>`}
    ${folder && html`<${Folder} folder=${folder} list=${list} open=${openPath} />`}`;
  const wave = html`<p><label><input type="checkbox" checked=${keep} onChange=${() => hold(!keep)} /> ${held ? `under the decisions of ${held.of}, whose file is not there (${held.file})` : "a new wave of the same survey"}: preparation, roles, steps and the accepted risk stay</label></p>
    ${keep && html`<p class="hint">What was accepted with open eyes was accepted of the old file, and is asked again.</p>`}`;
  if (small) return html`<details class="again" ref=${another}><summary id="another">Open another file</summary>${wave}${inside}</details>`;
  return html`${held && wave}${inside}`;
}

function Recent({ open }) {
  const [files, show] = useState([]);
  useEffect(() => { let gone = false; get("/api/recent").then((found) => gone || show(found.files), () => null); return () => { gone = true; }; }, []);
  return files.length > 0 && html`<h3>Opened last <button class="quiet hint" onClick=${() => remove("/api/recent").then(() => show([]), () => null)}>forget these</button></h3><ul class="recent">${files.map((f) => html`<li key=${f}><button class="quiet" title=${f} onClick=${() => open(f)}>${f.split(/[\\/]/).pop()}</button></li>`)}</ul>`;
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
    ${(facts.told?.length > 0 || facts.notes?.length > 0) && html`<ul class="warnings">${[...(facts.told || []), ...(facts.notes || [])].map((text) => html`<li>${text}</li>`)}</ul>`}
    ${hasOptions(state.document.source.file) && html`<${ReadAgain} state=${state} />`}`;
}

// How the open file was read, to be read again another way; roles and steps stay.
function ReadAgain({ state }) {
  useEffect(() => { if (taken(["file"])) { open(true); focus("reading"); } }, [store.view.place]);
  const { source } = state.document;
  const name = source.file.split(/[\\/]/).pop();
  const read = async (options) => { await waitFor((await post("/api/open", { again: true, version: store.state.version, options })).job); };
  const [opened, open] = useState(false);
  return html`<details class="card" open=${opened} onToggle=${(e) => open(e.target.open)}><summary id="reading">How the file was read${reading(state.facts.reading)}</summary>
    ${opened && html`<${Reading} key=${state.facts.key} file=${{}} name=${name} source=${source} onRead=${read} save="Read it again like this" />`}</details>`;
}

const MARKS = { "\t": "tab", ";": "semicolon", ",": "comma", " ": "space" };
const reading = (found) => found && Object.keys(found).length ? `: ${Object.entries(found).map(([name, value]) => `${name} ${MARKS[value] || value}`).join(", ")}` : "";

const VIEWS = { original: "original", protected: "protected", both: "changed cells marked", pairs: "side by side" };

function Records({ state }) {
  const [which, choose] = useState("original");
  const [words, say] = useState(false);
  const found = state.results[store.view.scenario];
  const steps = state.document.scenarios[store.view.scenario]?.some((card) => card.on);
  useEffect(() => { if (!found?.rows) choose("original"); }, [found?.rows]);
  const file = which === "protected" ? found?.rows : state.facts.rows;
  const beside = ["both", "pairs"].includes(which) ? found?.aligned : null;
  const labels = Object.fromEntries(state.facts.columns.map((c) => [c.name, c.value_labels]));
  const labelled = state.facts.columns.some((c) => Object.keys(c.value_labels).length);
  return html`<h2>Records</h2><div class="tools"><div class="chips" role="group" aria-label="Which file">
    ${Object.entries(VIEWS).map(([name, title]) => html`<button class=${which === name ? "chip on" : "chip"} aria-pressed=${which === name}
      disabled=${name !== "original" && (!found?.rows || !steps || (name !== "protected" && !found.aligned))} onClick=${() => choose(name)}>${title}</button>`)}</div>
    ${labelled && html`<div class="chips" role="group" aria-label="Codes or labels">${[["codes", false], ["labels", true]].map(([title, value]) => html`<button class=${words === value ? "chip on" : "chip"} aria-pressed=${words === value} onClick=${() => say(value)}>${title}</button>`)}</div>`}</div>
    <${Table} key=${`${file}${which}`} file=${file} compared=${beside} pairs=${which === "pairs"} roles=${state.document.roles} labels=${words ? labels : {}} />`;
}

function Explorer({ state }) {
  const [opened, open] = useState(false);
  return html`<details class="card explorer" open=${opened} onToggle=${(e) => open(e.target.open)}><summary>Explore one or two variables</summary>${opened && html`<${Explore} state=${state} />`}</details>`;
}
