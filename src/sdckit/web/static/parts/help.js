// What a number or a method means: all of it from the registry.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { look, store } from "../store.js";

const KEYS = [["1 … 5", "the five screens"], ["?", "this help"], ["Tab, Shift+Tab", "from field to field"], ["Enter, Space", "press a button, open a line"], ["Esc", "close"],
  ["← →", "move a limit on a histogram; with Shift ten steps; Delete takes it out"], ["↑ ↓ ← →", "from cell to cell of a matrix"]];
const WORDS = [["key", "a variable by which somebody might recognise a person: age, sex, region"],
  ["sensitive", "what nobody should learn about a person: health, income"],
  ["direct identifier", "names the person: never released, dropped on reading"],
  ["intruder", "somebody with certain knowledge who looks for a person in the file"],
  ["scenario", "a list of protections, in order"],
  ["verdict", "every question before a release: met, not met, or not judged"],
  ["accepted risk", "the share of persons that an intruder may find; you decide it, and without it no file is cleared"],
  ["k", "how many records at least share a combination of keys"],
  ["weight", "how many people of the population a record stands for"],
  ["map", "scenarios by risk (upwards) and loss (to the right); on its front no other scenario is better in both"],
  ["synthetic", "records drawn anew: none is that of a person, but they may still repeat one"],
  ["ε", "what differential privacy costs at most: 1 is strong protection, 10 is weak"],
  ["plan", "every decision as a text file: page, command line and script make the same file from it"]];
const SCREENS = [["Data", "open a file and look at its records"], ["Variables", "say what each variable is for, and who might attack"],
  ["Protect", "steps in order; Try shows what one would do before it is added"], ["Compare", "scenarios side by side, or a search for better ones"],
  ["Release", "what is open, the files, and the same as a command"]];

export function Help({ about }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  const method = about.name && store.methods[about.kind].find((m) => m.name === about.name);
  return html`<dialog ref=${box} class="help" onClose=${() => look({ help: null })} aria-label="Help">
    <form method="dialog"><button>Close</button></form>
    ${method ? html`<h2>${method.title}</h2><p>${method.help}</p><p>${method.interpretation}</p>${method.reference && html`<p class="hint">${method.reference}</p>`}`
      : html`<h2>The five screens</h2><table class="lines"><tbody>${SCREENS.map(([name, what]) => html`<tr><th scope="row">${name}</th><td>${what}</td></tr>`)}</tbody></table>
        <p class="hint">On the right stands the verdict on the scenario that is shown. Each line opens and says why, and what would mend it.</p><h2>Keys</h2><table class="lines"><tbody>${KEYS.map(([key, what]) => html`<tr><th scope="row">${key}</th><td>${what}</td></tr>`)}</tbody></table>
        <h2>Words</h2><table class="lines"><tbody>${WORDS.map(([word, what]) => html`<tr><th scope="row">${word}</th><td>${what}</td></tr>`)}</tbody></table>
        <h2>About</h2><p>sdckit ${store.state.software}, statistical disclosure control for microdata. Free software under the licence Apache-2.0; the page also uses <a href="/static/vendor/LICENSES" target="_blank" rel="noreferrer">Preact, htm and Vega</a>.</p>
        <p>It runs on this machine and asks nothing of any other. Its copy of the data is removed when it ends: by Quit, or after hours without use. Your decisions are kept.</p>`}
  </dialog>`;
}
