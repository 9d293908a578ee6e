// What each variable is for, and who might attack.
import { html, useEffect, useState } from "../vendor/preact.js";
import { change, look, number, said, start, store } from "../store.js";
import { Bars } from "../parts/chart.js";
import { Explore } from "../parts/explore.js";
import { Follow } from "../parts/followers.js";
import { Intruders } from "../parts/intruders.js";
import { focus, taken } from "../parts/places.js";

export const ROLES = { "": "no role", keys: "key", sensitive: "sensitive", numeric: "number", "numeric+sensitive": "number, sensitive", weight: "weight", strata: "stratum", "keys+strata": "key, stratum",
  cluster: "cluster (PSU)", household: "household", "household+cluster": "household, cluster", id: "record id", direct: "direct identifier" };
const joined = (roles) => { const key = (roles || []).join("+"); return key in ROLES ? key : (roles || []).slice().reverse().join("+"); };

export function Variables({ state }) {
  const { facts, document: doc } = state;
  const [find, search] = useState("");
  const [only, filter] = useState("");
  const [picked, pick] = useState([]);
  const [trouble, say] = useState({});
  const [asked, ask] = useState(null); // the role that a criterion asks for
  useEffect(() => {
    const place = facts.records ? taken(["role", "intruders"]) : null;
    if (!place) return;
    if (place.kind === "intruders") { focus("intruders"); return; }
    search(""); filter(""); ask(place);
    const first = place.columns[0] || (facts.columns.find((c) => c.role === place.name && !(doc.roles[c.name] || []).includes(place.name)) || facts.columns.find((c) => !doc.roles[c.name]) || facts.columns[0]).name;
    focus(`role-${first}`);
  }, [store.view.place]);
  if (!facts.records) return html`<h1>Variables</h1><p class="lead">Open a file first: <a href="#data">Data</a>.</p>`;
  const give = async (names, role) => {
    try { await change("roles", { roles: Object.fromEntries(names.map((n) => [n, role ? role.split("+") : null])) }); say({}); pick([]); }
    catch (error) { say({ [names[0]]: error.message }); }
  };
  const held = (role) => ["weight", "cluster", "household", "id"].includes(role) && Object.values(doc.roles).some((roles) => roles.includes(role)); // a role of one column
  const suggested = Object.fromEntries(facts.columns.filter((c) => c.role && !doc.roles[c.name] && !held(c.role)).map((c) => [c.name, [c.role]])); // what was decided stays
  const use = async () => { try { await change("roles", { roles: suggested }); say({}); } catch (error) { say({ "": error.message }); } };
  const shown = facts.columns.filter((c) => `${c.name} ${c.label}`.toLowerCase().includes(find.toLowerCase()) && (!only || (only === "none" ? !doc.roles[c.name] : (doc.roles[c.name] || []).includes(only))));
  const failed = state.results[store.view.scenario]?.error;
  return html`<h1>Variables</h1><p class="lead">Say what each variable is for. Every change measures the risk again.</p>${facts.notes?.length > 0 && html`<ul class="warnings" aria-label="Notes on the file">${facts.notes.map((text) => html`<li>${text}</li>`)}</ul>`}
    <div class="tools"><button class=${Object.keys(doc.roles).length ? "" : "main"} disabled=${!Object.keys(suggested).length} onClick=${use}>Use the suggestions</button>
      <label>Find <input value=${find} onInput=${(e) => search(e.target.value)} /></label>
      <label>Show <select value=${only} onChange=${(e) => filter(e.target.value)}><option value="">all</option><option value="none">without a role</option>
        ${Object.entries(ROLES).filter(([k]) => k && !k.includes("+")).map(([k, t]) => html`<option value=${k}>${t}</option>`)}</select></label>
      ${picked.length > 0 && html`<label>${picked.length} chosen: <select value="" onChange=${(e) => give(picked, e.target.value === "none" ? "" : e.target.value)}><option value="">give a role …</option>
        ${Object.entries(ROLES).map(([k, t]) => html`<option value=${k || "none"}>${t}</option>`)}</select></label>`}</div>
    ${asked && html`<p class="ask" role="status">${asked.columns.length ? `Which role has ${asked.columns.join(", ")}?` : `Which variable has the role “${ROLES[asked.name] || asked.name}”?`} <button onClick=${() => ask(null)}>Close</button></p>`}
    ${trouble[""] && html`<p class="bad" role="alert">${trouble[""]}</p>`}
    ${failed && html`<p class="bad" role="alert">${said(failed)}</p>`}
    <div class="wide"><table class="variables"><thead><tr><th scope="col"><span class="hidden">chosen</span></th><th scope="col">Variable</th><th scope="col">Role, and what is suggested</th><th scope="col">Type</th><th scope="col" class="number">Different</th>
      <th scope="col" class="number">Missing</th><th scope="col" class="common">Common values</th></tr></thead>
      <tbody>${shown.map((c) => html`<${Row} key=${c.name} column=${c} asked=${asked?.columns.length <= 3 && asked.columns.includes(c.name) ? asked : null} roles=${doc.roles[c.name]} trouble=${trouble[c.name]} give=${(role) => give([c.name], role)}
        picked=${picked.includes(c.name)} pick=${() => pick(picked.includes(c.name) ? picked.filter((n) => n !== c.name) : [...picked, c.name])} />`)}</tbody></table></div>
    <${Intruders} state=${state} />`;
}

// To the preparation that makes these codes missing, in all variables that seem to have just them.
const declare = ({ missing_codes: codes }) => {
  const alike = store.state.facts.columns.filter((c) => c.missing_codes.join() === codes.join()).map((c) => c.name);
  look({ screen: "data", place: { kind: "preparation", name: "declare_missing", columns: [], options: { codes, variables: alike } } });
};

// The same variable in numbers and beside another one.
function More({ column }) {
  const [opened, open] = useState(false);
  return html`<details open=${opened} onToggle=${(e) => open(e.target.open)}><summary>Explore ${column.name}</summary>${opened && html`<${Explore} state=${store.state} first=${column.name} choose=${false} />`}</details>`;
}

function Row({ column, asked, roles, trouble, give, picked, pick }) {
  const [opened, open] = useState(false);
  const [detail, show] = useState({});
  useEffect(() => { if (asked) open(true); }, [asked]);
  const { version } = store.state, { scenario } = store.view;
  useEffect(() => { // again after every change: what is shown is of the document that is shown
    if (!opened) return undefined;
    let gone = false;
    show({});
    start("/api/jobs", { kind: "column", column: column.name, scenario }).then((found) => gone || show(found)).catch((error) => gone || show({ trouble: error.what }));
    return () => { gone = true; };
  }, [opened, version, scenario]);
  const role = joined(roles);
  const { linked } = store.state.document;
  const followed = linked[column.name] || [], follows = Object.keys(linked).filter((key) => linked[key].includes(column.name));
  const [refused, refuse] = useState("");
  const link = async (names) => { try { await change("linked", { linked: { ...linked, [column.name]: names } }); refuse(""); } catch (error) { refuse(error.message); } };
  return html`<tr class=${(roles || [])[0] || ""}><td><input type="checkbox" checked=${picked} onChange=${pick} aria-label=${`choose ${column.name}`} /></td>
    <th scope="row"><button class="quiet" aria-expanded=${opened} onClick=${() => open(!opened)}>${opened ? "▾" : "▸"} ${column.name}</button>${column.label && html`<small>${column.label}</small>`}</th>
    <td class="choose"><select class=${`role ${(roles || [])[0] || "none"}`} value=${role} onChange=${(e) => give(e.target.value)} aria-label=${`role of ${column.name}`} id=${`role-${column.name}`}>
      ${Object.entries(ROLES).map(([k, t]) => html`<option value=${k}>${t}</option>`)}</select>${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
      ${column.role && !(roles || []).includes(column.role) && html`<small>suggested: ${ROLES[column.role]} (${column.reason})</small>`}${!column.role && !roles?.length && column.reason && html`<small>${column.reason}</small>`}
      ${followed.length > 0 && html`<small>followed by ${followed.join(", ")}</small>`}${follows.length > 0 && html`<small>follows ${follows.join(", ")}</small>`}</td>
    <td>${column.kind}</td><td class="number">${number(column.different)}</td><td class="number">${number(column.missing)}${column.missing_codes.length > 0 && html`<small><button class="quiet hint" title="To the preparation that declares them missing" onClick=${() => declare(column)}>codes for missing? ${column.missing_codes.join(", ")}</button></small>`}</td>
    <td class="common" title=${column.common.join(", ")}>${column.common.join(", ")}</td></tr>
    ${opened && html`<tr class="detail"><td></td><td colspan="6">${(roles || []).includes("keys") && html`<div class="tools"><span>Linked variables:</span> <${Follow} name=${column.name} value=${followed} put=${link} columns=${store.state.facts.columns.map((c) => c.name)} /></div>
      <p class="hint">Every local suppression, now and new, blanks these where it blanks ${column.name}, so that they do not tell it; a step can be told otherwise on its card.</p>${refused && html`<p class="bad" role="alert">${refused}</p>`}`}${detail.trouble ? html`<p class="bad">${detail.trouble}</p>` : detail.original
      ? html`<${Bars} original=${detail.original} changed=${detail.protected} labels=${detail.labels} label=${`Distribution of ${column.name}`} />
        ${!(roles || []).some((r) => ["id", "direct"].includes(r)) && html`<${More} column=${column} />`}` : "…"}</td></tr>`}`;
}
