// A Vega-Lite picture under our strict policy: expressions are interpreted, never compiled.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { format } from "../store.js";

let ready = null;
function script(address) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement("script"), { src: address, onload: resolve, onerror: reject });
    document.head.append(element);
  });
}
function loaded() {
  ready ??= script("/static/vendor/vega.js").then(() => script("/static/vendor/vega-lite.js")).then(() => import("../vendor/vega-interpreter.js"));
  return ready;
}

export function Chart({ spec, label, onPick, onView }) {
  const place = useRef(null);
  const [trouble, say] = useState("");
  useEffect(() => {
    let view = null, gone = false;
    loaded().then(({ expressionInterpreter }) => {
      if (gone) return;
      const { vega, vegaLite } = globalThis;
      const compiled = vegaLite.compile(spec, { logger: vega.logger(vega.Error) }).spec;
      view = new vega.View(vega.parse(compiled, null, { ast: true }), { expr: expressionInterpreter, renderer: "svg", container: place.current, hover: true,
        loader: vega.loader({ http: false, file: false }) });
      if (onPick) view.addEventListener("click", (event, item) => item?.datum && onPick(item.datum));
      return view.runAsync().then(() => { place.current?.querySelector("svg")?.setAttribute("aria-hidden", "true"); if (!gone) onView?.(view); }); // the label says it; groups that Vega makes have no names
    }).catch((error) => say(String(error)));
    return () => { gone = true; view?.finalize(); };
  }, [spec]);
  return html`<figure class="chart">${trouble ? html`<p class="bad">The picture could not be drawn. ${trouble}</p>` : ""}
    <div ref=${place} role="img" aria-label=${label}></div></figure>`;
}

// Bars of a distribution, before and after, drawn as plain SVG.
export function Bars({ original, changed, breaks = [], labels = {}, label }) {
  if (!original) return null;
  return original.edges ? html`<${Histogram} original=${original} changed=${changed} breaks=${breaks} label=${label} />`
    : html`<${Categories} original=${original} changed=${changed} labels=${labels} label=${label} />`;
}

function Histogram({ original, changed, breaks, label }) {
  const [low, high] = [original.edges[0], original.edges.at(-1)];
  const top = Math.max(...original.counts, 1);
  const x = (value) => 400 * (value - low) / (high - low || 1);
  const bars = (given, kind) => given?.counts?.map((count, i) => html`<rect class=${kind} x=${x(given.edges[i])} y=${100 - 100 * count / top}
      width=${Math.max(x(given.edges[i + 1]) - x(given.edges[i]) - 0.5, 0.5)} height=${100 * count / top} />`);
  const inside = breaks.filter((b) => b > low && b < high);
  return html`<figure class="bars"><svg viewBox="0 0 400 118" role="img" aria-label=${label}>
    <g>${bars(original, "before")}</g>${changed?.edges && html`<g>${bars(changed, "after")}</g>`}
    ${inside.map((b) => html`<line class="break" x1=${x(b)} x2=${x(b)} y1="0" y2="104" />`)}
    <text x="0" y="116">${Number(low.toPrecision(4))}</text><text x="400" y="116" text-anchor="end">${Number(high.toPrecision(4))}</text></svg>
    <figcaption>${original.different.toLocaleString(format())} different values, ${original.missing.toLocaleString(format())} missing; the outermost 0.5 % stand at the ends.</figcaption></figure>`;
}

function Categories({ original, changed, labels, label }) {
  const after = Object.fromEntries((changed?.categories || []).map((c) => [c.value, c.count]));
  const known = new Set((original.categories || []).map((c) => c.value));
  const all = [...(original.categories || []), ...(changed?.categories || []).filter((c) => !known.has(c.value)).map((c) => ({ value: c.value, count: 0 }))];
  const top = Math.max(1, ...all.map((c) => Math.max(c.count, after[c.value] || 0)));
  if (!all.length) return html`<p class="hint">No values are shown: they are of single records, or name them.</p>`;
  return html`<table class="bars" aria-label=${label}><tbody>${all.map((c) => html`<tr key=${c.value}>
    <th scope="row">${c.value}${labels[c.value] ? html` <small>${labels[c.value]}</small>` : ""}</th>
    <td class="counts"><meter class="before" max=${top} value=${c.count}>${c.count}</meter>
      ${changed && html`<meter class="after" max=${top} value=${after[c.value] || 0}>${after[c.value] || 0}</meter>`}</td>
    <td class="number">${c.count.toLocaleString(format())}${changed ? ` → ${(after[c.value] || 0).toLocaleString(format())}` : ""}</td></tr>`)}</tbody></table>
    <p class="hint">${original.different.toLocaleString(format())} different values, ${original.missing.toLocaleString(format())} missing${changed ? ` (${changed.missing.toLocaleString(format())} afterwards)` : ""}. Values of fewer than five records are not listed.</p>`;
}
