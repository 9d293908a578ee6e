// The accepted risk as a line on the map that can be dragged, or moved with the arrow keys.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { change, complain, number } from "../store.js";

const PAUSE = 700; // milliseconds after the last key, so that ten presses are one decision
const round = (share) => Number(Math.min(Math.max(share, 0), 1).toPrecision(3));
const step = (share) => 10 ** Math.floor(Math.log10(Math.max(share, 1e-4))) / 10;

export function Ceiling({ view, state }) {
  const place = useRef(null), waiting = useRef(null);
  const [draft, set] = useState(null); // while it is moved
  const [, resized] = useState(0);
  const { max_risk: accepted, accept } = state.document;
  useEffect(() => { set(null); }, [accepted]);
  useEffect(() => {
    const watch = new ResizeObserver(() => resized((n) => n + 1));
    const box = place.current?.parentElement;
    if (box) watch.observe(box);
    return () => { watch.disconnect(); clearTimeout(waiting.current); };
  }, [view]);
  const commit = (share) => { if (share !== accepted) change("criteria", { max_risk: share, accept }).catch((error) => { set(null); complain(error); }); else set(null); };
  const where = laid(view);
  if (!where) return null;
  const [low, high] = where.scale.domain();
  const now = draft ?? accepted ?? round(high);
  const drag = (event) => {
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus();
    const to = (e) => round(Math.min(where.scale.invert((e.clientY - laid(view).top) / where.stretch), high));
    const handle = event.currentTarget;
    let last = now;
    const moved = (e) => { last = to(e); set(last); };
    const ended = () => { handle.removeEventListener("pointermove", moved); handle.removeEventListener("pointerup", ended); handle.removeEventListener("pointercancel", ended); commit(last); };
    handle.addEventListener("pointermove", moved); handle.addEventListener("pointerup", ended); handle.addEventListener("pointercancel", ended);
  };
  const pressed = (event) => {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    const to = by ? round(now + by * (event.shiftKey ? 10 : 1) * step(now)) : event.key === "Home" ? 0 : event.key === "End" ? round(high) : null;
    if (to === null) return;
    event.preventDefault();
    set(to);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => commit(to), PAUSE);
  };
  const shown = Math.min(Math.max(now, low), high);
  const box = place.current?.parentElement?.getBoundingClientRect();
  const at = box ? { top: `${where.top - box.top + where.stretch * where.scale(shown)}px`, left: `${where.left - box.left}px`, width: `${where.width}px` } : {};
  return html`<div ref=${place} class=${draft !== null ? "ceiling-handle moving" : accepted === null ? "ceiling-handle unset" : "ceiling-handle"} role="slider" tabindex="0" aria-orientation="vertical" aria-label="Accepted risk" aria-valuemin="0" aria-valuemax=${round(100 * high)} aria-valuenow=${Number((100 * now).toPrecision(4))}
    aria-valuetext=${accepted === null && draft === null ? "none is accepted yet" : number(now, true)} title="Drag the accepted risk, or move it with the arrow keys" style=${at} onPointerDown=${drag} onKeyDown=${pressed}><span class="tag">${accepted === null && draft === null ? "drag to accept a risk" : `accepted: ${number(now, true)}`}</span></div>`;
}

// Where the plot stands on the screen, and the scale of its risks; nothing where the picture is gone.
function laid(view) {
  const frame = view?.container()?.querySelector("svg .root") || view?.container()?.querySelector("svg g");
  const matrix = frame?.getScreenCTM();
  if (!matrix) return null;
  return { top: matrix.f, left: matrix.e, stretch: matrix.d, width: matrix.a * view.width(), scale: view.scale("y") };
}
