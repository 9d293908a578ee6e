// Where what had the focus is gone after a redraw, the focus goes to what stands in its place: whoever uses the
// keyboard, or hears the page, is not thrown back to its top.
const TAKES_FOCUS = "a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), summary";
const within = (one) => one && (one.matches(TAKES_FOCUS) ? one : one.querySelector(TAKES_FOCUS));

export function keepFocus(page) {
  let last = null, around = []; // what had the focus, and what it stood in, at which place
  page.addEventListener("focusin", ({ target }) => {
    last = target;
    around = [];
    for (let one = target; one !== page && one.parentElement; one = one.parentElement) around.push([one.parentElement, [...one.parentElement.children].indexOf(one)]);
  });
  new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    const main = document.getElementById("main"), [holder, place] = around.find(([one]) => one.isConnected) || [];
    const there = holder && holder !== main && holder !== page && (within(holder.children[place] || holder.lastElementChild) || within(holder));
    (there || main)?.focus({ preventScroll: true });
  }).observe(page, { childList: true, subtree: true });
}
