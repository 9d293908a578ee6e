// Before a step is added: what it would do, the variable it is about, and the records above a threshold.
import { html, useEffect, useState } from "../vendor/preact.js";
import { counted, number, said, start, store } from "../store.js";
import { Breaks } from "./breaks.js";
import { Bars } from "./chart.js";
import { lossLines } from "./losses.js";

const WORDS = { releasable: "can be released", "not releasable": "must not be released", open: "is not cleared for release" };
const met = (found) => found?.verdict ? `${found.verdict.criteria.filter((c) => c.status === "met").length} of ${found.verdict.criteria.length}` : "–";

// A step that was tried and not added: the verdict, the criteria and the losses, as they are and as they would be.
export function Tried({ tried, now, stale, at }) {
  if (tried.waiting) return html`<p class="hint" role="status">Being tried; nothing is added …</p>`;
  const { result } = tried;
  const titles = Object.fromEntries(store.methods.utility.map((m) => [m.name, m]));
  const was = Object.fromEntries((now?.verdict?.criteria || []).map((c) => [c.name, c]));
  const moved = result.verdict.criteria.filter((c) => c.value !== was[c.name]?.value || c.status !== was[c.name]?.status);
  return html`<section class=${stale ? "card tried waiting" : "card tried"} aria-live="polite"><h3>Tried, not added</h3>
    ${stale && html`<p class="bad">Something was changed since: try again.</p>`}
    <p>With this step the file <strong>${WORDS[result.verdict.status]}</strong>; criteria met: ${met(now)} → ${met(result)}.</p>
    <table class="lines"><thead><tr><th scope="col"></th><th scope="col">now</th><th scope="col">with it</th></tr></thead><tbody>
      ${moved.map((c) => html`<tr key=${c.name}><th scope="row">${c.name}</th><td>${was[c.name]?.value == null ? was[c.name]?.status || "–" : number(was[c.name].value, c.share)}</td><td class=${c.status.replace(" ", "-")}>${c.value === null ? c.status : number(c.value, c.share)}</td></tr>`)}
      ${Object.entries(result.utility).flatMap(([name, r]) => { const before = Object.fromEntries((now?.utility?.[name] ? lossLines(name, now.utility[name], titles[name]) : []).map((line) => line.slice(1)));
        return lossLines(name, r, titles[name]).map(([, words, value]) => html`<tr key=${words}><th scope="row">${words}</th><td>${before[words] ?? "–"}</td><td>${value}</td></tr>`); })}</tbody></table></section>`;
}

export function Preview({ draft, method, patch }) {
  const single = method.form.find((f) => f.kind === "column")?.name;
  const several = method.form.find((f) => f.kind === "columns"); // what the step is about comes first
  const usual = several?.role && Object.entries(store.state.document.roles).find(([, roles]) => roles.includes(several.role))?.[0];
  const column = single ? draft[single] : several && (draft[several.name]?.[0] || usual);
  const has = (name) => method.form.some((f) => f.name === name);
  const limit = has("value") && typeof draft.value === "number" ? draft.value : undefined;
  const [shown, show] = useState(null);
  useEffect(() => {
    let gone = false;
    const ask = () => start("/api/jobs", { kind: "column", column, ...(limit === undefined ? {} : { value: limit }) }).then((found) => gone || show({ of: column, ...found })).catch(() => null);
    if (shown?.of !== column) show(null);
    const timer = column ? setTimeout(ask, shown?.of === column ? 250 : 0) : null;
    return () => { gone = true; clearTimeout(timer); };
  }, [column, limit]);
  const threshold = method.form.find((f) => f.name === "threshold");
  if (threshold) return html`<${Above} threshold=${draft.threshold ?? threshold.default} keys=${draft.keys} patch=${patch} />`;
  if (!column || !shown?.original) return null;
  const head = html`<h3>${column} in the original file</h3>`;
  const drawn = shown.original.edges;
  if (drawn && has("breaks") && !draft.width && !draft.groups) return html`${head}<${Breaks} original=${shown.original} breaks=${(draft.breaks || []).filter((b) => typeof b === "number")} label=${`Breaks of ${column}`} put=${(breaks) => patch({ breaks: breaks.length ? breaks : undefined })} />`;
  if (drawn && has("value") && !draft.share) return html`${head}<${Breaks} single=${true} original=${shown.original} breaks=${limit === undefined ? [] : [limit]} label=${`Limit of ${column}`} put=${([value]) => patch({ value })} />
    ${shown.beyond && html`<p aria-live="polite">${counted(shown.beyond.below, "record is", "records are")} below ${shown.beyond.value}, ${number(shown.beyond.above)} above.</p>`}`;
  const limits = draft.breaks || (draft.width && drawn ? steps(drawn, draft.width) : []);
  return html`${head}<${Bars} original=${shown.original} labels=${shown.labels} breaks=${Array.isArray(limits) ? limits : []} label=${`Distribution of ${column}`} />
    ${drawn && has("breaks") && draft.width && limits.length <= 40 ? html`<button type="button" onClick=${() => patch({ breaks: limits.map((v) => Number(v.toPrecision(12))), width: undefined })}>Move single limits</button>` : ""}`;
}

const steps = (edges, width) => { const found = []; if (!(width > 0)) return found; for (let v = Math.ceil(edges[0] / width) * width; v < edges.at(-1) && found.length < 200; v += width) found.push(v); return found; };

// The individual risks of the records as they are now. Threshold, number of records above it and rate of
// re-identification below it are one choice: each can be given, and the others follow.
function Above({ threshold, keys, patch }) {
  const [found, show] = useState(null);
  const scenario = store.view.scenario;
  useEffect(() => {
    let gone = false;
    const ask = () => start("/api/jobs", { kind: "threshold", scenario, threshold, ...(keys?.length ? { keys } : {}) }).then((f) => gone || show(f)).catch((e) => gone || show({ trouble: e }));
    const timer = threshold > 0 && threshold < 1 ? setTimeout(ask, 250) : null;
    return () => { gone = true; clearTimeout(timer); };
  }, [threshold, scenario, String(keys)]);
  if (!found) return null;
  if (found.trouble) return html`<p class="bad" role="alert">${said(found.trouble)}</p>`;
  const top = Math.max(...found.counts, 1);
  const share = (v) => `${Number((100 * v).toPrecision(3))} %`;
  const places = found.curve.filter((c) => c.threshold > 0 && c.threshold < 1); // rising thresholds
  const use = (place) => place && patch({ threshold: place.threshold });
  const at = Math.max(0, places.findLastIndex((c) => c.threshold <= threshold));
  const few = (text) => text !== "" && use(places.find((c) => c.above <= Number(text)) || places.at(-1));
  const low = (text) => text !== "" && use(places.findLast((c) => c.rate <= Number(text.replace(",", ".")) / 100) || places[0]);
  return html`<h3>Individual risk of the records now</h3><p aria-live="polite"><strong>${number(found.above)}</strong> of ${counted(found.records, "record")} (${number(found.above / found.records, true)}) are above ${share(threshold)}.
      They stand for ${number(found.expected)} of the ${number(found.expected_all)} re-identifications to be expected; without them the rate is ${number(found.rate, true)}.</p>
    ${places.length > 1 && html`<div class="linked"><label class="field">Threshold <input type="range" min="0" max=${places.length - 1} value=${at} aria-valuetext=${`${share(threshold)}, ${counted(found.above, "record")} above`} onInput=${(e) => use(places[Number(e.target.value)])} /></label>
      <label class="field">Records above, at most <input class="short" inputmode="numeric" placeholder=${found.above} onChange=${(e) => few(e.target.value)} /></label>
      <label class="field">Rate of re-identification of the others, at most, in % <input class="short" inputmode="decimal" placeholder=${Number((100 * found.rate).toPrecision(3))} onChange=${(e) => low(e.target.value)} /></label></div>`}
    <table class="bars" aria-label="Records by their individual risk"><tbody>${found.counts.map((count, i) => html`<tr key=${i}><th scope="row">${i ? share(found.edges[i]) : "0 %"} to ${share(found.edges[i + 1])}</th>
      <td class="counts"><meter class=${found.edges[i] >= threshold ? "after" : "before"} max=${top} value=${count}>${count}</meter></td><td class="number">${number(count)}</td></tr>`)}</tbody></table>`;
}
