// Preact, its hooks and htm under one name, as the screens use them.
import { h, render } from "./preact-core.js";
import htm from "./htm.js";

export { render };
export { useEffect, useRef, useState } from "./hooks.js";
export const html = htm.bind(h);
