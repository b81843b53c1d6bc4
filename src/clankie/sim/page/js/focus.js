// The keyboard's place. Owns moving it within a list with one tab stop, and bringing it back after a list was drawn
// anew. What can be moved to has `data-key`, a name that outlives the element.

/** Arrow keys move among the items of a container; Tab enters and leaves it as one. */
export function roving(container, selector, { horizontal = false, onKey } = {}) {
  const [back, forth] = horizontal ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  container.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const item = event.target.closest?.(selector);
    if (!item || !container.contains(item)) return;
    if (onKey?.(event, item)) return;
    if (event.target !== item) return;
    const items = [...container.querySelectorAll(selector)].filter((each) => each.offsetParent !== null);
    const at = items.indexOf(item);
    const to = { [back]: at - 1, [forth]: at + 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const target = items[Math.max(0, Math.min(to, items.length - 1))];
    give(container, selector, target);
    target.focus();
  });
  container.addEventListener("focusin", (event) => {
    const item = event.target.closest?.(selector);
    if (item && container.contains(item)) give(container, selector, item);
  });
}

function give(container, selector, chosen) {
  for (const each of container.querySelectorAll(selector)) each.tabIndex = each === chosen ? 0 : -1;
}

/** See that exactly one item can be tabbed to. */
export function oneTabStop(container, selector, preferred = null) {
  const items = [...container.querySelectorAll(selector)];
  if (!items.length) return;
  const chosen = preferred ?? items.find((item) => item.tabIndex === 0) ?? items[0];
  for (const item of items) item.tabIndex = item === chosen ? 0 : -1;
}

/** Draw something anew; who had the focus inside gets it back, or its nearest neighbour does. */
export function keepingFocus(container, draw) {
  const held = container.contains(document.activeElement) ? document.activeElement : null;
  const key = held?.closest("[data-key]")?.dataset.key;
  const order = key ? [...container.querySelectorAll("[data-key]")].map((item) => item.dataset.key) : [];
  draw();
  if (!held) return;
  const now = new Map([...container.querySelectorAll("[data-key]")].map((item) => [item.dataset.key, item]));
  const at = order.indexOf(key);
  const nearest = [key, ...order.slice(at + 1), ...order.slice(0, Math.max(at, 0)).reverse()].find((each) => now.has(each));
  (now.get(nearest) ?? container).focus();
}
