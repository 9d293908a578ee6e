// Limits on a histogram that are moved with the mouse or the keyboard.
import { html, useRef } from "../vendor/preact.js";

const WIDTH = 400, HEIGHT = 100, BIG = 10;

// Steps of a handle: round numbers, some two hundred over the whole width.
export const stepOf = (low, high) => 10 ** Math.ceil(Math.log10((high - low || 1) / 200));
const rounded = (value, step) => Number((Math.round(value / step) * step).toPrecision(12));

function Handle({ value, low, high, name, move, remove, x }) {
  const held = useRef(false);
  const step = stepOf(low, high);
  const keep = (to) => { const next = rounded(Math.min(Math.max(to, low), high), step); if (next !== value) move(next); };
  const place = (event) => { const box = event.currentTarget.ownerSVGElement.getBoundingClientRect(); return low + (high - low) * (event.clientX - box.left) / box.width; };
  const pressed = (event) => {
    const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -BIG * step, PageUp: BIG * step }[event.key];
    if (by) keep(value + (event.shiftKey ? BIG : 1) * by);
    else if (event.key === "Home") keep(low);
    else if (event.key === "End") keep(high);
    else if ((event.key === "Delete" || event.key === "Backspace") && remove) remove();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<g class="handle" role="slider" tabindex="0" aria-label=${name} aria-valuemin=${low} aria-valuemax=${high} aria-valuenow=${value} aria-valuetext=${String(value)} onKeyDown=${pressed}
      onPointerDown=${(e) => { held.current = true; e.currentTarget.setPointerCapture(e.pointerId); e.currentTarget.focus(); }}
      onPointerMove=${(e) => held.current && keep(place(e))} onPointerUp=${() => { held.current = false; }} onPointerCancel=${() => { held.current = false; }}>
    <line class="break" x1=${x(value)} x2=${x(value)} y1="0" y2="104" /><rect class="grip" x=${x(value) - 5} y="-8" width="10" height="112" /><path class="knob" d=${`M ${x(value) - 5} -8 h 10 v 6 l -5 6 l -5 -6 z`} /></g>`;
}

// `single`: one limit, as of top coding; else a list of breaks.
export function Breaks({ original, breaks, single, label, put }) {
  const [low, high] = [original.edges[0], original.edges.at(-1)];
  const top = Math.max(...original.counts, 1);
  const x = (value) => WIDTH * (value - low) / (high - low || 1);
  const inside = breaks.map((value, at) => ({ value, at })).filter((b) => b.value >= low && b.value <= high);
  const sorted = (list) => [...new Set(list)].sort((a, b) => a - b);
  const move = (at, to) => put(breaks.map((b, i) => i === at ? to : b)); // sorted when the handle is left: it keeps its place under the finger
  const add = () => {
    const all = sorted([low, ...breaks.filter((b) => b > low && b < high), high]);
    const gap = all.slice(1).map((b, i) => [b - all[i], i]).sort((a, b) => b[0] - a[0])[0][1];
    put(single ? [rounded((low + high) / 2, stepOf(low, high))] : sorted([...breaks, rounded((all[gap] + all[gap + 1]) / 2, stepOf(low, high))]));
  };
  return html`<figure class="bars"><svg viewBox="-6 -10 412 130" role="group" aria-label=${label} onFocusOut=${() => !single && breaks.some((b, i) => i && b < breaks[i - 1]) && put(sorted(breaks))}>
    <g aria-hidden="true">${original.counts.map((count, i) => html`<rect class="before" x=${x(original.edges[i])} y=${HEIGHT - HEIGHT * count / top} width=${Math.max(x(original.edges[i + 1]) - x(original.edges[i]) - 0.5, 0.5)} height=${HEIGHT * count / top} />`)}
      <text x="0" y="116">${Number(low.toPrecision(4))}</text><text x=${WIDTH} y="116" text-anchor="end">${Number(high.toPrecision(4))}</text></g>
    ${inside.map(({ value, at }) => html`<${Handle} key=${at} value=${value} low=${low} high=${high} x=${x} name=${single ? "Limit" : `Break ${at + 1} of ${breaks.length}`} move=${(to) => move(at, to)} remove=${single ? null : () => put(breaks.filter((_, i) => i !== at))} />`)}</svg>
    <figcaption>Drag a limit, or move it with the arrow keys (Shift: ten steps${single ? "" : "; Delete takes it out"}). The outermost 0.5 % of the records stand at the ends.${inside.length < breaks.length ? ` ${breaks.length - inside.length} of the limits lie outside the picture.` : ""}</figcaption>
    ${(!single || !breaks.length) && html`<button type="button" onClick=${add}>${single ? "Set the limit here" : "Add a break"}</button>`}</figure>`;
}
