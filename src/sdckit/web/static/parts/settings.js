// What holds for the whole page: the seed of the plan, how numbers are written, and where the rest is decided.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { change, format, look, number, store, write } from "../store.js";
import { lead } from "./places.js";
import { Typed } from "./typed.js";

const FORMATS = { en: "1,234.5", de: "1.234,5", fr: "1 234,5", "de-CH": "1’234.5" };

export function Settings() {
  const box = useRef(null);
  const [trouble, say] = useState("");
  useEffect(() => { box.current.showModal(); }, []);
  const { seed, max_risk: ceiling, intruders } = store.state.document;
  const draw = async (text) => {
    try { await change("seed", { seed: /^\d+$/.test(text.trim()) ? Number(text) : text }); say(""); } catch (error) { say(`${error.message} ${error.allowed ? `Allowed: ${error.allowed}.` : ""}`); }
  };
  const to = (kind, name) => { look({ help: null }); lead({ kind, name, columns: [] }); };
  return html`<dialog ref=${box} class="help settings" onClose=${() => look({ help: null })} aria-label="Settings">
    <form method="dialog"><button>Close</button></form><h2>Settings</h2>
    <label class="field">Seed of what is drawn at random <${Typed} id="setting-seed" inputmode="numeric" value=${seed} put=${draw} aria-describedby="seed-help" aria-invalid=${trouble ? "true" : null} /></label>
    ${trouble ? html`<p id="seed-help" class="bad" role="alert">${trouble}</p>` : html`<p id="seed-help" class="hint">The same seed makes the same file again; it stands in the plan and can be undone. Keep it to yourself: who knows it can take noise away.</p>`}
    <label class="field">Numbers on this page are written <select id="setting-numbers" value=${format()} onChange=${(e) => write(e.target.value)}>${Object.entries(FORMATS).map(([name, text]) => html`<option value=${name}>${text}</option>`)}</select></label>
    <p class="hint">How the protected file is written is chosen on the screen Release.</p>
    <table class="lines"><tbody>
      <tr><th scope="row">Accepted risk</th><td>${ceiling === null ? "none yet" : number(ceiling, true)} <button onClick=${() => to("accept", "max_risk")}>Change</button></td></tr>
      <tr><th scope="row">Who might attack</th><td>${Object.keys(intruders || {}).length ? `${Object.keys(intruders).length} of your own` : "the usual ones"} <button onClick=${() => to("intruders", "")}>Change</button></td></tr>
    </tbody></table></dialog>`;
}
