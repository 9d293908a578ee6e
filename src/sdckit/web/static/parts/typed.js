// A field whose text counts when it is left. What is half typed stays when the page is drawn again meanwhile, as it is
// whenever work in the background goes on.
import { html, useState } from "../vendor/preact.js";

export function Typed({ value, put, ...rest }) {
  const [draft, keep] = useState(null);
  return html`<input ...${rest} value=${draft ?? value} onInput=${(e) => keep(e.target.value)} onChange=${(e) => { keep(null); put(e.target.value); }} onBlur=${() => keep(null)} />`;
}
