// From a criterion to where it is mended. The server says where, as data: no word of a message is looked at.
import { html } from "../vendor/preact.js";
import { look, store } from "../store.js";
import { ROLES } from "../screens/variables.js";
import { hasOptions } from "./reading.js";

const ENTRIES = { max_risk: "the accepted risk", claims: "right claims", inference: "inference", columns: "columns found harmless", numbers: "numbers unchanged", order: "the order",
  missing_keys: "missing keys", population: "the population", prepared: "prepared columns" };
const FEW = 4; // names of columns on a button; where there are more, all of them are in what the mouse shows

// Text files and workbooks alone: any other kind says itself how it is read.
const canBeReadOtherwise = () => hasOptions(store.state.document.source.file);
const method = (name) => store.methods.protection.find((m) => m.name === name);
const listed = (columns) => !columns.length ? "" : columns.length <= FEW ? `: ${columns.join(", ")}` : `: ${columns.slice(0, FEW - 1).join(", ")} and ${columns.length - FEW + 1} more`;

// A step of this kind that the scenario has already is changed, unless it is about certain columns, or about one:
// there the next column needs a step of its own.
function card({ name, columns }) {
  if (method(name)?.form.some((f) => f.kind === "column")) return -1;
  const cards = store.state.document.scenarios[store.view.scenario] || [];
  return columns.length ? -1 : cards.findIndex((one) => one.on && one.method === name);
}

function words(place) {
  const { kind, name, columns } = place;
  if (kind === "step") return card(place) >= 0 ? `Step ${card(place) + 1}: ${method(name)?.title}` : `${method(name)?.title || name}${listed(columns)}`;
  if (kind === "role") return `Role ${ROLES[name] || name}${listed(columns)}`;
  if (kind === "accept") return name === "max_risk" ? "Say what risk is accepted" : `Accept ${ENTRIES[name] || name}${listed(columns)}`;
  if (kind === "intruders") return "Who might attack";
  if (kind === "preparation") return "Preparation";
  if (kind === "options") return `Options of ${store.methods.risk.find((m) => m.name === name)?.title || name}`;
  return canBeReadOtherwise() ? "How the file is read" : "Open another file";
}

// The options of a step that is to be about these columns.
function about(name, columns) {
  const there = columns.filter((c) => store.state.facts.columns.some((one) => one.name === c));
  const field = method(name)?.form.find((f) => f.kind === "columns" || f.kind === "column");
  if (!field || !there.length || (field.kind === "column" && there.length > 1)) return {};
  return { [field.name]: field.kind === "columns" ? there : there[0] };
}

export function lead(place) {
  const { kind, name, columns } = place;
  if (kind === "step") {
    const at = card(place);
    look({ screen: "protect", form: at >= 0 ? { method: name, at } : { method: name, options: about(name, columns) }, place: { ...place } });
  } else look({ ...(kind === "role" || kind === "intruders" ? { screen: "variables" } : kind === "preparation" || kind === "file" ? { screen: "data" } : {}), place: { ...place } });
}

export function Places({ places, of }) {
  if (!places?.length) return null;
  return html`<span class="places" role="group" aria-label=${`Where “${of}” is mended`}>${places.map((place) => html`<button class="chip" key=${words(place)} title=${place.columns.length > FEW ? place.columns.join(", ") : null} onClick=${() => lead(place)}>${words(place)}</button>`)}</span>`;
}

// Where a place was asked for: it is gone to once, and not again when the screen is drawn the next time.
export function taken(kinds) {
  const { place } = store.view;
  if (!place || !kinds.includes(place.kind)) return null;
  store.view = { ...store.view, place: null };
  return place;
}

// What is to be focused may be drawn, or unfolded, only some frames later.
export const focus = (id, frames = 60) => requestAnimationFrame(() => {
  const there = document.getElementById(id);
  there?.scrollIntoView({ block: "center" });
  there?.focus();
  if (frames && (!there || document.activeElement !== there)) focus(id, frames - 1);
});
