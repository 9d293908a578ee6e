// A file without weights is taken for the whole population. If it is a sample, somebody says of how many people.
import { html, useState } from "../vendor/preact.js";
import { number, refresh, said, start, store } from "../store.js";

export function Sample({ state }) {
  const [people, type] = useState("");
  const [trouble, say] = useState(null);
  const taken = state.facts.columns.map((c) => c.name);
  const free = ["weight", "sample_weight", "weight_of_sample"].find((n) => !taken.includes(n)) || `weight_${taken.length}`;
  const save = async (event) => {
    event.preventDefault();
    const population = Number(people.replace(/[\s ]/g, ""));
    if (!(population >= 1)) { say({ what: "This is not a number of people." }); return; }
    const step = { equal_weights: { population, ...(free === "weight" ? {} : { name: free }) } };
    try { await start("/api/open", { again: true, version: store.state.version, prepare: [...(state.document.source.prepare || []), step], roles: { [free]: ["weight"] } }); say(null); type(""); }
    catch (error) { if (error.status === 409) await refresh(); if (!error.stopped) say(error); }
  };
  return html`<details class="sample"><summary>No variable is the weight: the file is taken for the whole population</summary>
    <p class="hint">If it is a sample, give its weights their role; else the risks of those who do not know who is in the file look higher than they are. If the sample came without weights, say how many people it was drawn from:</p>
    <form class="line" onSubmit=${save}><label class="field">People in the population <input inputmode="numeric" value=${people} aria-invalid=${trouble ? "true" : null} aria-describedby="sample-help" onInput=${(e) => type(e.target.value)} /></label><button>Use it</button></form>
    ${trouble ? html`<p id="sample-help" class="bad" role="alert">${said(trouble)}</p>` : html`<p id="sample-help" class="hint">At least the ${number(state.facts.records)} in the file. Not more than could have been drawn: a number too large makes these risks look too small. Whoever knows that a person took part is judged without it.</p>`}</details>`;
}
