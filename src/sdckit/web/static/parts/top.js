// File, scenario tabs, undo and redo.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { change, complain, counted, go, look, quit, store } from "../store.js";

export function Top({ state }) {
  const { history, position, document: doc, facts } = state;
  const name = doc.source.file ? doc.source.file.split(/[\\/]/).pop() : doc.source.demo ? `demo ${Object.keys(doc.source.demo)[0]}` : "no file";
  return html`<header class="top">
    <strong class="brand">sdckit</strong>
    <span class="file" title=${doc.source.file || ""}>${name}${facts.records ? ` · ${counted(facts.records, "record")} · ${counted(facts.columns.length, "variable")}` : ""}</span>
    <${Tabs} names=${Object.keys(doc.scenarios)} />
    <button disabled=${position < 2} onClick=${() => go(position - 1)} title=${position > 1 ? `Undo: ${history[position]}` : "Nothing to undo"}>↶ Undo</button>
    <button disabled=${position + 1 >= history.length} onClick=${() => go(position + 1)}
      title=${position + 1 < history.length ? `Redo: ${history[position + 1]}` : "Nothing to redo"}>↷ Redo</button>
    <button class="quiet" title="End sdckit; your decisions are kept" onClick=${() => quit().catch(complain)}>Quit</button>
    ${state.unsaved && html`<span class="bad" role="status" title="The folder for decisions cannot be written. Save the plan on the screen Release before you quit.">not saved</span>`}
    ${store.lost && html`<span class="bad" role="alert">The server does not answer.</span>`}
  </header>`;
}

const free = (names) => { let i = 0; while (names.includes(String.fromCharCode(65 + i))) i += 1; return String.fromCharCode(65 + i); };

function Tabs({ names }) {
  const [renaming, rename] = useState(null);
  const [trouble, say] = useState("");
  const now = store.view.scenario;
  const row = useRef(null);
  useEffect(() => { row.current?.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); }, [now]); // of many, the one that is looked at is in sight
  const save = async (event) => {
    event.preventDefault();
    try { await change("rename_scenario", { name: now, new: renaming }); look({ scenario: renaming }); rename(null); say(""); }
    catch (error) { say(error.message); }
  };
  const show = (name) => {
    look({ scenario: name, form: null });
    const { results, facts, document: doc } = store.state;
    if (!results[name] && facts.records && Object.keys(doc.roles).length) post("/api/jobs", { kind: "judge", scenario: name }).catch(() => null); // what is looked at comes first
  };
  const copy = async () => { const name = free(names); await change("add_scenario", { name, like: now }); look({ scenario: name }); };
  return html`<div ref=${row} class="tabs" role="group" aria-label="Scenarios">
    ${names.map((name) => name === now && renaming !== null
      ? html`<form onSubmit=${save}><input aria-label="Name of the scenario" value=${renaming} autofocus
          onInput=${(e) => rename(e.target.value)} onKeyDown=${(e) => e.key === "Escape" && rename(null)} />${trouble && html`<span role="alert" class="bad">${trouble}</span>`}</form>`
      : html`<button class=${name === now ? "tab here" : "tab"} aria-pressed=${name === now}
          onClick=${() => show(name)} onDblClick=${() => rename(name)}>${name}</button>`)}
    <button class="tab" title="A new scenario, a copy of this one" aria-label="New scenario" onClick=${copy}>+</button>
    ${now && renaming === null && html`<button class="quiet" title="Rename the scenario" onClick=${() => rename(now)}>Rename</button>`}
    ${names.length > 1 && html`<button class="quiet" title="Take this scenario out" onClick=${() => change("drop_scenario", { name: now })}>Drop</button>`}
  </div>`;
}
