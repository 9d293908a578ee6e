// Who might attack: what they know, how exactly, and whether they know that the person is in the file.
import { html, useState } from "../vendor/preact.js";
import { change, columnsOf, number, shareOf, store } from "../store.js";

export function Intruders({ state }) {
  const own = state.document.intruders;
  const usual = state.results[store.view.scenario]?.intruders || state.usual;
  const list = Object.keys(own).length ? own : usual;
  const [trouble, say] = useState("");
  const [editing, edit] = useState(null);
  const strip = ({ words, ...rest }) => rest;
  const save = async (next) => {
    try { await change("intruders", { intruders: next }); say(""); edit(null); } catch (error) { say(`${error.message}`); }
  };
  const all = Object.fromEntries(Object.entries(list).map(([n, i]) => [n, strip(i)]));
  return html`<h2 id="intruders" tabindex="-1">Who might attack</h2>
    <p class="hint">${Object.keys(own).length ? "Your own intruders; the verdict asks each of them." : "These follow from the roles. Change one, and the list is yours."}</p>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    <ul class="intruders">${Object.entries(list).map(([name, one]) => html`<li key=${name} class="card"><strong>${name}</strong> ${one.words || state.intruders[name]}
      ${one.max_risk !== undefined && one.max_risk !== null ? html` · accepted: ${number(one.max_risk, true)}` : ""}
${" "}<span class="buttons"><button onClick=${() => edit(name)}>Change</button><button onClick=${() => { const { [name]: gone, ...rest } = all; save(rest); }}>Take out</button></span>
      ${editing === name && html`<${Editor} name=${name} one=${all[name]} columns=${columnsOf(state)} save=${(n, i) => save(Object.fromEntries(Object.entries(all).map(([had, was]) => had === name ? [n, i] : [had, was])))} cancel=${() => edit(null)} />`}</li>`)}</ul>
    <button onClick=${() => edit("")}>One more intruder</button>
    ${Object.keys(own).length > 0 && html` <button onClick=${() => save({})}>Back to the usual ones</button>`}
    ${editing === "" && html`<${Editor} name="" one=${{ knows: ["keys"], in_file: true }} columns=${columnsOf(state)} save=${(n, i) => save({ ...all, [n]: i })} cancel=${() => edit(null)} />`}`;
}

const inPercent = (share) => String(Number((100 * share).toPrecision(6)));

const called = (known) => ({ keys: "all keys", numeric: "all numbers" })[known] || known;

function Editor({ name, one, columns, save, cancel }) {
  const [title, rename] = useState(name);
  const [known, know] = useState(() => Object.fromEntries(one.knows.flatMap((k) => typeof k === "string" ? [[k, ""]] : Object.entries(k).map(([c, e]) => [c, typeof e === "number" ? inPercent(e) : e]))));
  const [inside, set] = useState(one.in_file !== false);
  const [unit, choose] = useState(one.unit || "person");
  const [ceiling, accept] = useState(one.max_risk === undefined || one.max_risk === null ? "" : inPercent(one.max_risk));
  const [trouble, say] = useState("");
  const flip = (c) => { const { [c]: had, ...rest } = known; know(c in known ? rest : { ...known, [c]: "" }); };
  const submit = (event) => {
    event.preventDefault();
    const odd = [ceiling, ...Object.values(known)].find((text) => Number.isNaN(shareOf(text)));
    say(odd ? `“${odd}” is not a number.` : "");
    if (odd) return;
    const knows = Object.entries(known).map(([c, error]) => shareOf(error) === null ? c : { [c]: shareOf(error) });
    save(title, { knows, in_file: inside, ...(unit === "household" ? { unit } : {}), ...(shareOf(ceiling) === null ? {} : { max_risk: shareOf(ceiling) }), ...(one.on_axis === false ? { on_axis: false } : {}) });
  };
  return html`<form class="form card" onSubmit=${submit}><label class="field">Name <input required value=${title} onInput=${(e) => rename(e.target.value)} /></label>
    <fieldset><legend>Knows</legend><div class="chips">${["keys", "numeric", ...columns].map((c) => html`<button type="button" class=${c in known ? "chip on" : "chip"} aria-pressed=${c in known} onClick=${() => flip(c)}>${called(c)}</button>`)}</div></fieldset>
    ${Object.keys(known).map((c) => html`<label class="field">How exactly: ${called(c)} <small>within %; empty: as it stands; 0: exactly</small><input class="short" inputmode="decimal" value=${known[c]} onInput=${(e) => know({ ...known, [c]: e.target.value })} /></label>`)}
    <label><input type="checkbox" checked=${inside} onChange=${() => set(!inside)} /> knows that the person is in the file</label>
    <label class="field">Looks for <select value=${unit} onChange=${(e) => choose(e.target.value)}><option value="person">a person</option><option value="household">a household, with the keys of all members</option></select></label>
    <label class="field">Accepted risk of its own, in % <input class="short" inputmode="decimal" value=${ceiling} onInput=${(e) => accept(e.target.value)} /></label>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}<div class="buttons"><button class="main">Save</button><button type="button" onClick=${cancel}>Cancel</button></div></form>`;
}
