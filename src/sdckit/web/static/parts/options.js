// The options with which a risk is measured for the verdict: part of the plan, as every other decision.
import { html } from "../vendor/preact.js";
import { change, store } from "../store.js";
import { Form } from "./form.js";

export function Options({ measure, state, close }) {
  const spec = store.methods.risk.find((m) => m.name === measure);
  if (!spec) return null;
  const had = state.document.assess[measure] || {};
  const form = spec.form.filter((f) => f.name !== "intruders"); // they have a place of their own
  const hidden = Object.fromEntries(Object.entries(had).filter(([name]) => !form.some((f) => f.name === name)));
  const save = async (given) => { await change("measure_options", { measure, options: { ...hidden, ...given } }); close(); };
  const usual = async () => { await change("measure_options", { measure, options: {} }); close(); };
  return html`<div class="options" id="measure-options" tabindex="-1"><${Form} key=${measure} method=${{ ...spec, form }} options=${had} columns=${state.facts.columns.map((c) => c.name)} prefix="judge" save="Judge with these" onSave=${save} onCancel=${close} />
    ${Object.keys(had).length > 0 && html`<button onClick=${usual}>All at their defaults</button>`}</div>`;
}
