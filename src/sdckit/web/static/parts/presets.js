// Ceilings that offices and agencies use, each with where it comes from and what it does not say.
import { html, useState } from "../vendor/preact.js";

export const PRESETS = [
  { name: "Open to everybody, strict", risk: 0.05, k: 20, text: "One person in twenty, as cells of 20 give. For files that anybody may take, with sensitive content or a small population." },
  { name: "Open to everybody", risk: 0.09, k: 11, text: "The threshold 0.09 (one in eleven) of the European Medicines Agency and of Health Canada for published clinical data; Medicare in the United States asks for cells of 11." },
  { name: "For research, under contract", risk: 0.2, k: 5, text: "One in five, as cells of 5 give. Usual where the users are known, have signed, and the data stay with them." },
  { name: "In a safe room", risk: 0.33, k: 3, text: "One in three, as cells of 3 give. Only where nothing is taken out unseen; the room protects, not the file." },
];

export function Presets({ use }) {
  const [at, choose] = useState("");
  const one = PRESETS[at];
  return html`<label class="field">Usual ceilings <select value=${at} onChange=${(e) => choose(e.target.value)}><option value="">choose …</option>${PRESETS.map((p, i) => html`<option value=${i}>${p.name}: ${100 * p.risk} %</option>`)}</select></label>
    ${one && html`<div class="ask"><p>${one.text}</p><p class="hint">In these rules it is the highest risk of a record; here it is the share of persons that each intruder may find, so that it is the milder reading. It says nothing of what can be inferred of sensitive values. Steps with k = ${one.k} lead there for intruders who know the keys.</p>
      <div class="buttons"><button class="main" onClick=${() => { use(one.risk); choose(""); }}>Accept ${100 * one.risk} %</button><button onClick=${() => choose("")}>Leave it</button></div></div>`}`;
}
