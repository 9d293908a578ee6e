// A form from the registry: basic options first, the others folded, help under each field.
import { html, useState } from "../vendor/preact.js";
import { store } from "../store.js";
import { Followers } from "./followers.js";
import { Levels, Matrix, Merged } from "./editors.js";
import { ColumnLists, Expressions, List, Lists, Mapping, NamedFile, Rules, Single } from "./inputs.js";

export function Form({ method, options = {}, columns, onSave, onTry, onCancel, onDraft, below, save = "Add the step", prefix = "field" }) {
  const [values, set] = useState(() => Object.fromEntries(method.form.map((f) => [f.name, options[f.name]])));
  const [trouble, say] = useState(null);
  const [busy, wait] = useState(false);
  const patch = (change) => { const next = { ...values, ...change }; set(next); onDraft?.(given(next)); };
  const put = (name, value) => patch({ [name]: value });
  const given = (all) => Object.fromEntries(Object.entries(all).filter(([name, v]) => v !== undefined && v !== "" && !(Array.isArray(v) && !v.length) && fits(method, name, all)));
  const submit = async (event) => {
    event.preventDefault();
    wait(true);
    try { await onSave(given(values)); say(null); } catch (error) { say(error); }
    wait(false);
  };
  const attempt = async () => { say(null); wait(true); try { await onTry(given(values)); } catch (error) { say(error); } wait(false); };
  const asked = method.form.filter((f) => fits(method, f.name, values));
  const basic = asked.filter((f) => f.basic || f.required), rest = asked.filter((f) => !(f.basic || f.required));
  const first = basic.length ? basic : rest, folded = basic.length ? rest : [];
  const about = trouble && method.form.find((f) => `${trouble.what} ${trouble.message}`.includes(`'${f.name}'`)) || trouble && method.form.find((f) => new RegExp(`\\b${f.name}\\b`).test(`${trouble.what} ${trouble.message}`));
  const show = (f) => html`<${Field} key=${f.name} field=${f} prefix=${prefix} value=${values[f.name]} put=${(v) => put(f.name, v)} columns=${columns} about=${about_column(method, values)}
      trouble=${about?.name === f.name ? trouble : null} blocked=${method.form.find((other) => f.excludes.includes(other.name) && values[other.name] !== undefined && values[other.name] !== "")?.label} />`;
  return html`<form class="form" onSubmit=${submit}>
    <h3>${method.title}</h3><p class="hint">${method.help}</p>
    ${first.map(show)}
    ${folded.length > 0 && html`<details open=${folded.some((f) => !f.secret && options[f.name] !== undefined)}><summary>More options (${folded.length})</summary>${folded.map(show)}</details>`}
    ${below?.(given(values), patch)}
    ${trouble && html`<p class="bad" role="alert">${inLabels(trouble.what || trouble.message, method)} ${trouble.allowed ? `Allowed: ${trouble.allowed}.` : ""} ${trouble.hint || ""}</p>`}
    <div class="buttons"><button class="main" type="submit" disabled=${busy}>${save}</button>${onTry && html`<button type="button" disabled=${busy} title="See what it would do, without adding it" onClick=${attempt}>Try</button>`}${onCancel && html`<button type="button" onClick=${onCancel}>Cancel</button>`}</div></form>`;
}

// A message of the library with the names of options and of the method as the form calls them.
const inLabels = (text, method) => method.form.reduce((said, f) => said.replaceAll(`'${f.name}'`, `“${f.label}”`), text).replace(new RegExp(`\\b${method.name}\\b`, "g"), `“${method.title}”`);

// Whether an option means something beside the others as they are now: one that does not is neither shown nor given.
function fits(method, name, values) {
  const field = method.form.find((f) => f.name === name);
  if (!field?.requires) return true;
  const other = method.form.find((f) => f.name === field.requires), now = values[field.requires];
  if (!fits(method, field.requires, values)) return false;
  return field.requires_values.length ? field.requires_values.includes(now ?? other?.default) : now !== undefined && now !== "" && now !== other?.default;
}

// The variable that the form is about, where it is one.
function about_column(method, values) {
  const field = method.form.find((f) => (f.kind === "column" || f.kind === "columns") && values[f.name] !== undefined);
  const value = field && values[field.name];
  return Array.isArray(value) ? (value.length === 1 ? value[0] : null) : value || null;
}

function Field({ field, value, put, columns, about, trouble, blocked, prefix = "field" }) {
  const id = `${prefix}-${field.name}`;
  const absent = field.role ? `the ${field.role === "keys" ? "keys" : `${field.role} columns`}` : field.absent || (field.default === null || field.default === undefined ? "" : field.kind === "flag" ? (field.default ? "yes" : "no") : String(field.default));
  const help = [field.help, absent && value === undefined ? `Default: ${absent}.` : "", blocked ? `Not together with “${blocked}”.` : ""].filter(Boolean).join(" ");
  return html`<div class=${trouble ? "field wrong" : "field"}>
    <label for=${id} id=${`${id}-label`}>${field.label}${field.required ? " *" : ""}${field.unit ? html` <small>${field.unit}</small>` : ""}</label>
    <${Input} id=${id} field=${field} value=${value} put=${put} columns=${columns} about=${about} invalid=${!!trouble} />
    <p class="hint" id=${`${id}-help`}>${help}</p></div>`;
}

const EDITORS = { "merged categories": Merged, "level of each key": Levels, "transition matrix": Matrix, "values of each column": Lists, rules: Rules, expressions: Expressions, "lists of columns": ColumnLists, "columns that follow each key": Followers };
const INPUTS = { list: List, mapping: Mapping, file: NamedFile };

function Input({ id, field, value, put, columns, about, invalid }) {
  const shared = { id, "aria-describedby": `${id}-help`, "aria-invalid": invalid ? "true" : null, required: field.required };
  const Editor = EDITORS[field.shape];
  if (Editor) return html`<${Editor} field=${field} column=${about} value=${value} put=${put} shared=${shared} columns=${columns} />`;
  if (field.kind === "choice") return html`<select ...${shared} value=${value ?? ""} onChange=${(e) => put(e.target.value || undefined)}>
    <option value="">${field.required ? "choose …" : field.default ? `${field.default} (default)` : field.absent ? `${field.absent} (default)` : "default"}</option>
    ${Object.entries(field.choices).map(([name, meaning]) => html`<option value=${name}>${name}${meaning ? `: ${meaning}` : ""}</option>`)}</select>`;
  if (field.kind === "flag") return html`<select ...${shared} value=${value === undefined ? "" : String(value)} onChange=${(e) => put(e.target.value === "" ? undefined : e.target.value === "true")}>
    <option value="">${field.default === null ? "default" : `${field.default ? "yes" : "no"} (default)`}</option><option value="true">yes</option><option value="false">no</option></select>`;
  if (field.kind === "column") return html`<select ...${shared} value=${value ?? ""} onChange=${(e) => put(e.target.value || undefined)}><option value="">…</option>${withChosen(columns, [].concat(value ?? [])).map((c) => html`<option>${c}</option>`)}</select>`;
  if (field.kind === "columns") return html`<${Columns} ...${shared} value=${value || []} put=${put} columns=${columns} role=${field.role} />`;
  if (field.kind === "measure") return html`<${Flagged} shared=${shared} value=${value} put=${put} columns=${columns} />`;
  const Simple = INPUTS[field.kind] || Single;
  return html`<${Simple} field=${field} value=${value} put=${put} shared=${shared} />`;
}

// Records that a measure flags: its name, or its name with options, as a plan writes them.
function Flagged({ shared, value, put, columns }) {
  const name = typeof value === "string" ? value : value ? Object.keys(value)[0] : "";
  const options = value && typeof value === "object" ? value[name] || {} : {};
  const measure = store.methods.risk.find((m) => m.name === name);
  const set = (field, to) => {
    const { [field]: had, ...rest } = options;
    const next = to === undefined || (Array.isArray(to) && !to.length) ? rest : { ...rest, [field]: to };
    put(Object.keys(next).length ? { [name]: next } : name);
  };
  return html`<select ...${shared} value=${name} onChange=${(e) => put(e.target.value || undefined)}><option value="">all records</option>
    ${store.methods.risk.filter((m) => m.flags).map((m) => html`<option value=${m.name}>${m.title}</option>`)}</select>
    ${measure && html`<fieldset class="nested"><legend>${measure.title}</legend>${measure.form.filter((f) => (f.basic || f.required) && f.kind !== "measure").map((f) => html`<${Field} key=${f.name} field=${f} prefix=${`${shared.id}-of`} value=${options[f.name]} put=${(v) => set(f.name, v)} columns=${columns} />`)}</fieldset>`}`;
}

// Variables to choose: those that the option is probably about as buttons, all others in a menu.
const MANY = 12;

// A column that the step takes out, or that the file lacks, is not among those that are there: it can be unchosen still.
const withChosen = (columns, chosen) => [...columns, ...chosen.filter((name) => !columns.includes(name))];

const meant = (role) => (name) => (store.state.document.roles[name] || []).some((r) => role ? r === role : ["keys", "numeric", "sensitive"].includes(r));

export function Columns({ value, put, columns: there, role, likely = meant(role), ...shared }) {
  const columns = withChosen(there, value);
  const near = columns.filter((name) => columns.length <= MANY || value.includes(name) || likely(name));
  const shown = near.slice(0, MANY).concat(near.slice(MANY).filter((name) => value.includes(name)));
  const rest = columns.filter((name) => !shown.includes(name));
  const flip = (name) => put(value.includes(name) ? value.filter((v) => v !== name) : [...value, name]);
  return html`<div class="chips" role="group" tabindex="-1" id=${shared.id} aria-labelledby=${shared.id && `${shared.id}-label`} aria-describedby=${shared["aria-describedby"]}>${shown.map((name) => html`
    <button type="button" key=${name} id=${shared.id && `${shared.id}-${name}`} class=${value.includes(name) ? "chip on" : "chip"} aria-pressed=${value.includes(name)} onClick=${() => flip(name)}>${name}</button>`)}
    ${rest.length > 0 && html`<select class="chip" value="" aria-label="another variable" onChange=${(e) => { flip(e.target.value); e.target.value = ""; }}><option value="">another …</option>${rest.map((name) => html`<option>${name}</option>`)}</select>`}</div>`;
}
