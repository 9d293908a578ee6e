// The frame of the page: top bar, the five screens, and the panel that is always in sight.
import { html, render, useEffect, useState } from "./vendor/preact.js";
import { begin, complain, look, refresh, said, store, subscribe } from "./store.js";
import { Top } from "./parts/top.js";
import { Jobs } from "./parts/jobs.js";
import { Panel } from "./parts/panel.js";
import { Help } from "./parts/help.js";
import { keepFocus } from "./parts/kept_focus.js";
import { Settings } from "./parts/settings.js";
import { Data } from "./screens/data.js";
import { Variables } from "./screens/variables.js";
import { Protect } from "./screens/protect.js";
import { Compare } from "./screens/compare.js";
import { Release } from "./screens/release.js";

const SCREENS = { data: ["Data", Data], variables: ["Variables", Variables], protect: ["Protect", Protect],
  compare: ["Compare", Compare], release: ["Release", Release] };

function ticked(name, state) {
  const some = (cards) => cards.length > 0;
  const done = {
    data: state.facts.records > 0,
    variables: Object.values(state.document.roles).some((roles) => roles.includes("keys")),
    protect: Object.values(state.document.scenarios).some(some),
    compare: Object.keys(state.document.scenarios).length > 1,
    release: Object.values(state.results).some((found) => found?.verdict?.status === "releasable"),
  };
  return done[name];
}

function Rail({ state }) {
  return html`<nav class="rail" aria-label="Steps">
    ${Object.entries(SCREENS).map(([name, [title]], place) => html`
      <a href="#${name}" class=${store.view.screen === name ? "here" : ""}
         aria-current=${store.view.screen === name ? "page" : null}>
        <span class="place ${ticked(name, state) ? "ticked" : ""}" aria-hidden="true">${ticked(name, state) ? "✓" : place + 1}</span>${title}
      </a>`)}
    <button class="quiet" onClick=${() => look({ help: { kind: "settings" } })}>Settings</button>
    <button class="quiet" onClick=${() => look({ help: { kind: "keys" } })}>Help and about</button>
  </nav>`;
}

// The address says which screen is shown, so that these links must not change it.
const Skip = ({ to, children }) => html`<a class="skip" href=${`#${to}`} onClick=${(e) => { e.preventDefault(); document.getElementById(to).focus(); }}>${children}</a>`;

function Page() {
  const [, redraw] = useState(0);
  useEffect(() => subscribe(() => redraw((n) => n + 1)), []);
  useEffect(() => {
    const pressed = (event) => {
      if (event.target.matches("input, textarea, select") || event.ctrlKey || event.altKey || event.metaKey) return;
      const names = Object.keys(SCREENS);
      if (event.key >= "1" && event.key <= "5") look({ screen: names[event.key - 1] });
      if (event.key === "?") look({ help: { kind: "keys" } });
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (store.over) return html`<div class="loading" role="alert"><p>sdckit has ended${store.over === "unused" ? " because nobody used it for long" : ""}, and its copy of the data is removed. Your decisions are kept: start it again with <code>sdckit web</code>.</p></div>`;
  if (!store.state || !store.methods) return html`<p class="loading">One moment …</p>`;
  const Screen = (SCREENS[store.view.screen] || SCREENS.data)[1];
  return html`<${Skip} to="main">To the content<//><${Skip} to="verdict">To the verdict<//>
    <${Top} state=${store.state} /><${Rail} state=${store.state} />
    <main id="main" tabindex="-1"><${Jobs} />${store.ending && html`<p class="trouble" role="alert">Nobody has used this page for long: sdckit ends in about ${Math.max(1, Math.round(store.ending.seconds / 60))} minutes, and its copy of the data is removed. <button onClick=${() => refresh()}>Stay</button></p>`}${store.trouble && html`<p class="trouble" role="alert">${said(store.trouble)} <button onClick=${() => complain(null)}>Close</button></p>`}<${Screen} state=${store.state} /></main>
    <${Panel} state=${store.state} />
    ${store.view.help?.kind === "settings" ? html`<${Settings} />` : store.view.help && html`<${Help} about=${store.view.help} />`}`;
}

const page = document.getElementById("page");
page.textContent = "";
render(html`<${Page} />`, page);
keepFocus(page);
begin();
