// What runs: how far it is, how long it will take, and Stop.
import { html } from "../vendor/preact.js";
import { remove } from "../api.js";
import { store } from "../store.js";

// A method or measure by its title, where the progress names it.
const words = (what) => {
  const [name, ...rest] = what.split(": ");
  const method = Object.values(store.methods).flat().find((m) => m.name === name);
  return [method ? method.title : name, ...rest].join(": ");
};
const left = (seconds) => seconds === null || seconds === undefined || seconds < 2 ? "" : seconds > 90 ? `, about ${Math.round(seconds / 60)} minutes left` : `, about ${seconds} s left`;

export function Jobs() {
  const jobs = [...store.jobs.values()].filter((job) => job.state === "running" && (job.seconds > 0.4 || job.done));
  return html`<div class="jobs" aria-live="polite">${jobs.map((job) => html`
    <div class="job" key=${job.id}>
      <span><strong>${job.title}</strong>${job.what ? `: ${words(job.what)}` : ""}${left(job.left)}</span>
      <progress max=${job.of || 1} value=${job.done ?? null} aria-label=${job.title}></progress>
      <button onClick=${() => remove(`/api/jobs/${job.id}`)}>Stop</button>
    </div>`)}</div>`;
}
