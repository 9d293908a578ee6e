// Estimates with their intervals, of the original and of every scenario, beside the risk that is left.
import { html, useState } from "../vendor/preact.js";
import { number } from "../store.js";
import { Chart } from "./chart.js";

export function Estimates({ map }) {
  const [at, choose] = useState(0);
  if (!map.estimates?.length) return null;
  const one = map.estimates[Math.min(at, map.estimates.length - 1)];
  const interval = (e) => e.low === null || e.low === undefined ? "–" : `${number(e.low)} to ${number(e.high)}`;
  return html`<section class="estimates"><h2>Estimates against risk</h2>
    <p class="hint">What an analyst would publish from each file, with its confidence interval, beside the risk that is left. An estimate outside the original's interval tells another story.</p>
    <div class="tools"><label>Estimate <select value=${at} onChange=${(e) => choose(Number(e.target.value))}>${map.estimates.map((e, i) => html`<option value=${i}>${e.name}</option>`)}</select></label></div>
    <${Chart} key=${one.name} spec=${one.chart} label=${`${one.name} in every scenario against the risk; the table below says the same`} />
    <div class="wide"><table class="variables"><thead><tr><th scope="col">File</th><th scope="col" class="number">${one.name}</th><th scope="col" class="number">Confidence interval</th><th scope="col" class="number">Intervals in common</th><th scope="col" class="number">Risk on the map</th><th scope="col"><span class="hidden">remarks</span></th></tr></thead><tbody>
      <tr><th scope="row">the original file</th><td class="number">${number(one.original.estimate)}</td><td class="number">${interval(one.original)}</td><td class="number"></td><td class="number">${number(map.original.risk, map.risk_is_share)}</td><td></td></tr>
      ${one.scenarios.map((e) => html`<tr key=${e.scenario}><th scope="row">${e.scenario}</th><td class="number">${number(e.estimate)}</td><td class="number">${interval(e)}</td><td class="number">${number(e.overlap, true)}</td><td class="number">${number(e.risk, map.risk_is_share)}</td><td>${e.contained === false ? "outside the original's interval" : ""}</td></tr>`)}</tbody></table></div></section>`;
}
