// What is done to the file before it is the original: steps of the plan, like any other.
import { html, useEffect, useState } from "../vendor/preact.js";
import { number, refresh, said, start, store } from "../store.js";
import { Form } from "./form.js";
import { focus, taken } from "./places.js";

const words = (value) => Array.isArray(value) ? value.map(words).join(", ") : value && typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${words(v)}`).join(", ") : String(value);

export function Prepare({ state }) {
  const steps = (state.document.source.prepare || []).map((step) => Object.entries(step)[0]);
  const [adding, add] = useState("");
  const [begun, begin] = useState({}); // the options that a place asks for
  const [editing, edit] = useState(null);
  const [trouble, say] = useState(null);
  useEffect(() => { const place = taken(["preparation"]); if (place) { if (place.name) { begin(place.options || {}); add(place.name); } focus("prepare"); } }, [store.view.place]);
  const methods = Object.fromEntries(store.methods.preparation.map((m) => [m.name, m]));
  const columns = state.facts.columns.map((c) => c.name);
  const save = async (next) => {
    try { await start("/api/open", { again: true, version: store.state.version, prepare: next.map(([name, options]) => ({ [name]: options })) }); }
    catch (error) { if (error.status === 409) await refresh(); throw error; }
    add(""); edit(null); say(null);
  };
  const attempt = async (next) => { try { await save(next); } catch (error) { if (!error.stopped) say(error); } };
  const moved = (from, to) => { const next = steps.slice(); next.splice(to, 0, ...next.splice(from, 1)); return next; };
  return html`<section class="prepare"><h2 id="prepare" tabindex="-1">Prepare <small>before anything is measured</small></h2>
    <p class="lead">These steps are part of the plan. The file after them is the original: risks and the verdict are about it, and the report says so.</p>
    <ol class="steps">${steps.map(([name, options], i) => html`<li class="card step" key=${i}><div class="head"><strong>${methods[name]?.title || name}</strong>
        <span class="buttons"><button aria-label=${`edit preparation ${i + 1}`} onClick=${() => { edit(editing === i ? null : i); add(""); }}>Edit</button>
          <button aria-label=${`move preparation ${i + 1} up`} disabled=${i === 0} onClick=${() => attempt(moved(i, i - 1))}>↑</button>
          <button aria-label=${`move preparation ${i + 1} down`} disabled=${i === steps.length - 1} onClick=${() => attempt(moved(i, i + 1))}>↓</button>
          <button aria-label=${`take preparation ${i + 1} out`} onClick=${() => attempt(steps.filter((s, j) => j !== i))}>Take out</button></span></div>
      <p class="hint">${Object.entries(options || {}).map(([option, value]) => `${methods[name]?.form.find((f) => f.name === option)?.label || option}: ${words(value)}`).join(" · ")}</p>
      <${Did} entry=${state.facts.prepared?.[i]} />
      ${editing === i && html`<${Form} key=${`edit-${i}`} method=${methods[name]} options=${options || {}} columns=${columns} prefix="prepare" save="Change the preparation" onCancel=${() => edit(null)}
        onSave=${(given) => save(steps.map((s, j) => (j === i ? [name, given] : s)))} />`}</li>`)}</ol>
    ${trouble && html`<p class="bad" role="alert">${said(trouble)}</p>`}
    <label class="tools">Add <select value=${adding} aria-label="a preparation to add" onChange=${(e) => { begin({}); add(e.target.value); edit(null); }}><option value="">a preparation …</option>
      ${store.methods.preparation.map((m) => html`<option value=${m.name}>${m.title}</option>`)}</select></label>
    ${adding && html`<${Form} key=${`${adding} ${JSON.stringify(begun)}`} method=${methods[adding]} options=${begun} columns=${columns} prefix="prepare" save="Prepare" onCancel=${() => add("")} onSave=${(given) => save([...steps, [adding, given]])} />`}</section>`;
}

// What a preparation did, in numbers.
function Did({ entry }) {
  if (!entry) return null;
  const { note, made_from, ...figures } = entry.figures;
  const told = Object.entries(figures).filter(([, v]) => !(Array.isArray(v) && !v.length)).map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "number" ? number(value) : words(value)}`);
  return html`${told.length > 0 && html`<p>${told.join(" · ")}</p>`}${note && html`<p class="hint">${note}</p>`}`;
}
