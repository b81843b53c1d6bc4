// Building elements. Owns the one way text gets into the page: as text nodes. Nothing here, or anywhere in the page,
// parses a string as HTML; the page's policy (trusted types) would refuse it.

/**
 * Make an element.
 * @param {string} tag
 * @param {object} [attributes] `class`, `text`, `on: {event: listener}`, `data: {name: value}`, any attribute; a value
 *   of false, null or undefined leaves the attribute out, true sets it empty.
 * @param {...(Node|string|null|false|undefined|Array)} children
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "data") for (const [key, item] of Object.entries(value)) element.dataset[key] = item;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child);
  }
}

/** Put these children in place of those there. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

// Each is one path in a 20 × 20 box, drawn with the text's own colour.
const PATHS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  close: "M5 5l10 10M15 5L5 15",
  hash: "M7.5 3L6 17M14 3l-1.5 14M3.5 7.5h14M2.5 12.5h14",
  lock: "M5.5 9h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1zM7 9V6.5a3 3 0 0 1 6 0V9",
  thread: "M4 4v7a3 3 0 0 0 3 3h9M12.5 10.5L16 14l-3.5 3.5M8 7h8",
  forum: "M3.5 4.5h13v8h-7l-3.5 3v-3h-2.5zM6.5 7.5h7M6.5 9.8h4.5",
  voice: "M4 8v4h3l4 3.5v-11L7 8zM13.5 7.5a3.5 3.5 0 0 1 0 5",
  announce: "M3 8.5v3h2.5l7 4v-11l-7 4zM15 8a3 3 0 0 1 0 4",
  at: "M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0v1a2 2 0 0 0 4 0v-1a7 7 0 1 0-2.5 5.4",
  plus: "M10 4v12M4 10h12",
  send: "M3.5 10L16.5 4l-4 12.5-3-5.5z",
  reply: "M8 5L3.5 9.5 8 14M3.5 9.5H12a4.5 4.5 0 0 1 4.5 4.5v1",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.5 6l2.6 2.6",
  trash: "M4 6h12M8 6V4h4v2M5.5 6l.8 10.5h7.4L14.5 6M8.5 9v5M11.5 9v5",
  smile: "M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM7 11.5a3.4 3.4 0 0 0 6 0M7.5 7.8v.4M12.5 7.8v.4",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  clip: "M15.5 9.5l-5.6 5.6a3.3 3.3 0 0 1-4.7-4.7l6-6a2.2 2.2 0 0 1 3.1 3.1l-5.9 5.9a1 1 0 0 1-1.5-1.5l5.2-5.2",
  down: "M10 4v12M5 11l5 5 5-5",
  chevron: "M7 4.5l5.5 5.5L7 15.5",
  people: "M8 9.5a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM2.8 16.5c.3-3 2.4-4.6 5.2-4.6s4.9 1.6 5.2 4.6M13 4.300a2.6 2.6 0 0 1 0 5M14.6 12.300c1.6.6 2.5 2 2.7 4.2",
  way: "M4.5 4.500h.01M4.5 10h.01M4.5 15.500h.01M8 4.500h8.500M8 10h8.500M8 15.500h8.500M4.5 6.500v1.500M4.5 12v1.5",
  bolt: "M11 2.500L4.5 11.500H9l-.5 6L15.5 8.500H11z",
  bot: "M5 7.500h10a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1zM10 7.500V4.500M10 4.500h.01M7.5 11v1M12.5 11v1",
  sun: "M10 13.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.500M10 16.500V18M2 10h1.500M16.5 10H18M4.3 4.300l1.1 1.100M14.6 14.600l1.1 1.100M4.3 15.700l1.1-1.100M14.6 5.400l1.1-1.1",
  moon: "M16 11.800A6.5 6.5 0 0 1 8.2 4a6.5 6.5 0 1 0 7.8 7.800z",
  keys: "M3 6h14v8.500H3zM6 9h.01M9 9h.01M12 9h.01M14.5 9h.01M7 12h6",
  file: "M5.5 3h6l3.5 3.500V17h-9.500zM11.5 3v3.500H15",
  pin: "M8 3.500h5l-.6 5 2.6 2.500H6l2.6-2.500zM10.5 11v6",
  forward: "M12 5l4.5 4.500L12 14M16.5 9.500H8A4.5 4.5 0 0 0 3.5 14v1",
  slash: "M12.5 3.500l-5 13",
  check: "M4.5 10.500l3.5 3.5 7.5-8",
  copy: "M7 7h9v9H7zM4 12.500V4h8.5",
};

/** A drawing that says nothing to a screen reader: its button has the name. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** A button that shows a drawing and has its name for those who hear it, and as a tip. */
export function iconButton(name, label, onClick, attributes = {}) {
  const { class: extra, ...rest } = attributes;
  return h("button", {
    type: "button", class: `icon-button ${extra ?? ""}`.trim(), "aria-label": label, title: label, ...rest,
    on: { click: onClick },
  }, icon(name));
}

let counter = 0;

/** An id no other element has. */
export function uniqueId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}
