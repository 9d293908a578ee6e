// What a number or a method means: all of it from the registry.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { look, store } from "../store.js";

const KEYS = [["1 … 5", "the five screens"], ["?", "this help"], ["Tab, Shift+Tab", "from field to field"], ["Enter, Space", "press a button, open a line"], ["Esc", "close"]];
const WORDS = [["key", "a variable by which somebody might recognise a person: age, sex, region"],
  ["sensitive", "what nobody should learn about a person: health, income"],
  ["direct identifier", "names the person: never released, dropped on reading"],
  ["intruder", "somebody with certain knowledge who looks for a person in the file"],
  ["scenario", "a list of protections, in order"],
  ["verdict", "every question before a release: met, not met, or not judged"]];

export function Help({ about }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  const method = about.name && store.methods[about.kind].find((m) => m.name === about.name);
  return html`<dialog ref=${box} class="help" onClose=${() => look({ help: null })} aria-label="Help">
    <form method="dialog"><button>Close</button></form>
    ${method ? html`<h2>${method.title}</h2><p>${method.help}</p><p>${method.interpretation}</p>${method.reference && html`<p class="hint">${method.reference}</p>`}`
      : html`<h2>Keys</h2><table class="lines"><tbody>${KEYS.map(([key, what]) => html`<tr><th scope="row">${key}</th><td>${what}</td></tr>`)}</tbody></table>
        <h2>Words</h2><table class="lines"><tbody>${WORDS.map(([word, what]) => html`<tr><th scope="row">${word}</th><td>${what}</td></tr>`)}</tbody></table>`}
  </dialog>`;
}
