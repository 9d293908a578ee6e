// Where what had the focus is gone after a redraw, the focus goes to what took its place: whoever uses the keyboard, or
// hears the page, is not thrown back to its top.
const TAKES_FOCUS = "a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), summary";

export function keepFocus(page) {
  let last = null, around = [];
  page.addEventListener("focusin", ({ target }) => {
    last = target;
    around = [];
    for (let one = target.parentElement; one && one !== page; one = one.parentElement) around.push(one);
  });
  new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    const main = document.getElementById("main"), place = around.find((one) => one.isConnected);
    (place && place !== main && place.querySelector(TAKES_FOCUS) || main)?.focus({ preventScroll: true });
  }).observe(page, { childList: true, subtree: true });
}
