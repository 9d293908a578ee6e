// How a text file or a workbook is read: options, and the first records as they would be read with them.
import { html, useEffect, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { counted, said } from "../store.js";
import { NamedFile } from "./inputs.js";

const ENCODINGS = { "": "found by itself (UTF-8, else Windows-1252)", "utf-8": "UTF-8", "cp1252": "Western (Windows-1252)", "cp1250": "Central European (Windows-1250)", "cp1251": "Cyrillic (Windows-1251)", "cp1253": "Greek (Windows-1253)", "cp1254": "Turkish (Windows-1254)", "cp1256": "Arabic (Windows-1256)", "cp1257": "Baltic (Windows-1257)", "iso8859-2": "Central European (ISO 8859-2)", "iso8859-15": "Western (ISO 8859-15)", "gb18030": "Chinese (GB 18030)", "shift_jis": "Japanese (Shift JIS)", "utf-16": "UTF-16" };
const SEPARATORS = { "": "found by itself", ",": "comma", ";": "semicolon", tab: "tab", space: "space", "|": "bar |", other: "another mark" };
const DECIMALS = { "": "found by itself", ".": "point, 1.5", ",": "comma, 1,5" };
export const isText = (name) => /\.csv(\.gz)?$/i.test(name || "");
export const hasOptions = (name) => isText(name) || /\.xlsx$/i.test(name || "");
const NAMES = ["encoding", "separator", "decimal", "header", "sheet", "codebook"];
const BOOK = { name: "codebook", label: "Codebook with labels", kind: "file" };

// `file`: what is asked for, {path} or {upload: true}, or {} for the open file. `onRead` opens it with the options.
// `known`: the trouble that is said above already, and not twice.
export function Reading({ file, name, source = {}, onRead, save = "Read it like this", known = null }) {
  const [options, set] = useState(() => Object.fromEntries(NAMES.filter((n) => source[n] !== undefined).map((n) => [n, source[n]])));
  const [shown, show] = useState(null);
  const [trouble, say] = useState(null);
  const [other, write] = useState(false);
  const put = (option, value) => { const { [option]: had, ...rest } = options; set(value === "" || value === undefined ? rest : { ...rest, [option]: value }); };
  useEffect(() => {
    let gone = false;
    const ask = () => post("/api/preview", { ...file, options }).then((found) => { if (!gone) { show(found); say(null); } }, (error) => { if (!gone) { show(null); say(error); } });
    const timer = setTimeout(ask, 200);
    return () => { gone = true; clearTimeout(timer); };
  }, [JSON.stringify(options), JSON.stringify(file)]);
  const read = async () => { try { await onRead(options); say(null); } catch (error) { if (!error.stopped) say(error); } };
  const about = trouble && NAMES.find((option) => `${trouble.what}`.toLowerCase().includes(option));
  const field = (option, label, input) => html`<div class=${about === option ? "field wrong" : "field"}><label for=${`read-${option}`}>${label}</label>${input}
    ${about === option && html`<p class="bad" id=${`read-${option}-help`} role="alert">${said(trouble)}</p>`}</div>`;
  const shared = (option) => ({ id: `read-${option}`, "aria-invalid": about === option ? "true" : null, "aria-describedby": about === option ? `read-${option}-help` : null });
  const choose = (option, choices) => html`<select ...${shared(option)} value=${options[option] ?? ""} onChange=${(e) => put(option, e.target.value)}>${Object.entries(choices).map(([v, t]) => html`<option value=${v}>${t}${v === "" && shown?.found?.[option] ? `: ${mark(shown.found[option])}` : ""}</option>`)}</select>`;
  const own = other || (options.separator !== undefined && !(options.separator in SEPARATORS));
  return html`<div class="reading"><div class="options">
    ${isText(name) && field("separator", "Between values", html`<select ...${shared("separator")} value=${own ? "other" : options.separator ?? ""} onChange=${(e) => { write(e.target.value === "other"); put("separator", e.target.value === "other" ? "" : e.target.value); }}>
        ${Object.entries(SEPARATORS).map(([v, t]) => html`<option value=${v}>${t}${v === "" && shown?.found?.separator ? `: ${mark(shown.found.separator)}` : ""}</option>`)}</select>
        ${own && html`<input class="short" aria-label="the mark between values" value=${options.separator ?? ""} onInput=${(e) => put("separator", e.target.value)} />`}`)}
    ${isText(name) && field("decimal", "Decimal mark", choose("decimal", DECIMALS))}
    ${field("header", "First line", html`<select ...${shared("header")} value=${options.header === false ? "no" : "yes"} onChange=${(e) => put("header", e.target.value === "no" ? false : undefined)}><option value="yes">names of the variables</option><option value="no">already a record</option></select>`)}
    ${isText(name) && field("encoding", "Letters (encoding)", choose("encoding", ENCODINGS))}
    ${!isText(name) && field("sheet", "Sheet", html`<select ...${shared("sheet")} value=${options.sheet ?? ""} onChange=${(e) => put("sheet", e.target.value)}><option value="">the first</option>${(shown?.sheets || [options.sheet].filter(Boolean)).map((s) => html`<option value=${s}>${s}</option>`)}</select>`)}
    ${field("codebook", "Codebook with labels", html`<${NamedFile} field=${BOOK} value=${options.codebook} put=${(value) => put("codebook", value)} shared=${shared("codebook")} accept=".xml,.csv" />`)}</div>
    ${trouble && !about && trouble.what !== known?.what && html`<p class="bad" role="alert">${said(trouble)}</p>`}
    ${shown && html`<div class="wide preview" tabindex="0" role="region" aria-label="The first records"><table><thead><tr>${shown.columns.map((c) => html`<th scope="col">${c.name}${c.label && html`<small class="label">${c.label}</small>`}<small>${c.kind}</small></th>`)}</tr></thead>
      <tbody>${shown.rows.map((row) => html`<tr>${row.map((value, i) => html`<td>${value ?? html`<span class="missing">·</span>`}${value !== null && shown.columns[i].values[value] ? html` <small>${shown.columns[i].values[value]}</small>` : ""}</td>`)}</tr>`)}</tbody></table></div>
      ${shown.notes.map((note) => html`<p class="hint">${note}</p>`)}<p class="hint" role="status">${counted(shown.columns.length, "variable")}; the first ${counted(shown.rows.length, "record")}.</p>`}
    <button class="main" disabled=${!shown} onClick=${read}>${save}</button></div>`;
}

const mark = (text) => ({ "\t": "tab", " ": "space", ",": "comma", ";": "semicolon" })[text] || text;
