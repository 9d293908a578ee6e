// {key: [column, …]}: columns that are missing wherever the key is, so that they do not tell what was suppressed.
import { html } from "../vendor/preact.js";
import { store } from "../store.js";

const OUT = ["keys", "direct", "id", "weight"]; // what cannot follow, or must not go missing
const free = (columns) => columns.filter((c) => !(store.state.document.roles[c] || []).some((role) => OUT.includes(role)));
const without = (value, key) => { const { [key]: had, ...rest } = value || {}; return rest; };

// Those that follow one key as buttons, and a menu for one more.
export function Follow({ name, value, put, columns }) {
  const have = value || [];
  const rest = free(columns).filter((c) => !have.includes(c));
  return html`<div class="chips" role="group" aria-label=${`follow ${name}`}>${have.map((c) => html`<button type="button" key=${c} class="chip on" aria-label=${`${c} does not follow ${name}`} title="take it out" onClick=${() => put(have.filter((one) => one !== c))}>${c} ✕</button>`)}
    ${rest.length > 0 && html`<select class="chip" value="" aria-label=${`one more that follows ${name}`} onChange=${(e) => { if (e.target.value) put([...have, e.target.value]); e.target.value = ""; }}><option value="">${have.length ? "one more …" : "none; choose …"}</option>${rest.map((c) => html`<option>${c}</option>`)}</select>`}</div>`;
}

export function Followers({ value, put, columns, shared }) {
  const keys = Object.entries(store.state.document.roles).filter(([, roles]) => roles.includes("keys")).map(([c]) => c);
  const all = [...new Set([...keys, ...Object.keys(value || {})])];
  const set = (key, names) => { const next = names.length ? { ...without(value, key), [key]: names } : without(value, key); put(Object.keys(next).length ? next : undefined); };
  return html`<table class="lines levels" id=${shared.id}><tbody>${all.map((key) => html`<tr key=${key}><th scope="row">${key}</th><td><${Follow} name=${key} value=${value?.[key]} columns=${columns} put=${(names) => set(key, names)} /></td></tr>`)}</tbody></table>`;
}

// What a new step begins with: the links that stand beside the roles.
export function linkedOptions(method) {
  const field = method?.form.find((f) => f.shape === "columns that follow each key");
  const { linked } = store.state.document;
  return field && Object.keys(linked).length ? { [field.name]: linked } : {};
}
