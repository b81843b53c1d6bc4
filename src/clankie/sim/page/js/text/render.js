// A markdown tree as elements. Owns how each construct looks in the document; text arrives in text nodes only.
import { h } from "../dom.js";
import { parse } from "./markdown.js";

/**
 * @param {string} source what somebody wrote
 * @param {object} names `user(id)`, `role(id)`, `channel(id)` give a name; `roleColor(id)` a colour or null; `me` is
 *   the reader's id; `openChannel(id)` goes there.
 */
export function renderMarkdown(source, names) {
  return parse(source).map((block) => renderBlock(block, names));
}

function renderBlock(block, names) {
  switch (block.type) {
    case "heading": return h("p", { class: `md-heading md-heading-${block.level}` }, renderAll(block.children, names));
    case "small": return h("p", { class: "md-small" }, renderAll(block.children, names));
    case "quote": return h("blockquote", {}, block.children.map((child) => renderBlock(child, names)));
    case "list": return renderList(block, names);
    case "code-block": return codeBlock(block);
    default: return h("p", {}, renderAll(block.children, names));
  }
}

function renderList(block, names) {
  const list = h(block.ordered ? "ol" : "ul", block.ordered && block.start !== 1 ? { start: block.start } : {});
  for (const item of block.items) {
    list.append(h("li", { class: item.indent ? `md-indent-${Math.min(item.indent, 3)}` : null }, renderAll(item.children, names)));
  }
  return list;
}

function codeBlock(block) {
  return h("figure", { class: "code-block" },
    h("figcaption", { text: block.language || "text" }),
    h("pre", { tabindex: "0", role: "region", "aria-label": `Code, ${block.language || "text"}` }, h("code", { text: block.value })));
}

function renderAll(nodes, names) {
  return nodes.map((node) => renderInline(node, names));
}

function renderInline(node, names) {
  switch (node.type) {
    case "text": return lines(node.value);
    case "strong": return h("strong", {}, renderAll(node.children, names));
    case "em": return h("em", {}, renderAll(node.children, names));
    case "underline": return h("u", {}, renderAll(node.children, names));
    case "strike": return h("s", {}, renderAll(node.children, names));
    case "code": return h("code", { text: node.value });
    case "spoiler": return spoiler(node, names);
    case "link": return link(node.url, renderAll(node.children, names));
    case "user": return h("span", { class: node.id === names.me ? "mention mention-me" : "mention", text: `@${names.user(node.id)}` });
    case "role": return h("span", { class: names.hasRole(node.id) ? "mention mention-me" : "mention", text: `@${names.role(node.id)}` });
    case "everyone": return h("span", { class: "mention", text: node.value });
    case "channel": return channelLink(node.id, names);
    case "command": return h("span", { class: "mention", text: `/${node.name}` });
    case "emoji": return h("span", { class: "custom-emoji", text: `:${node.name}:`, title: "A custom emoji" });
    case "time": return time(node);
    default: return "";
  }
}

function lines(value) {
  const parts = value.split("\n");
  return parts.flatMap((part, index) => (index ? [h("br"), part] : [part]));
}

function spoiler(node, names) {
  const hidden = h("span", { class: "spoiler-text" }, renderAll(node.children, names));
  hidden.hidden = true;
  const button = h("button", { type: "button", class: "spoiler", "aria-expanded": "false", text: "Spoiler" });
  const box = h("span", { class: "spoiler-box" }, button, hidden);
  button.addEventListener("click", () => {
    hidden.hidden = !hidden.hidden;
    button.textContent = hidden.hidden ? "Spoiler" : "Hide";
    button.setAttribute("aria-expanded", String(!hidden.hidden));
  });
  return box;
}

/** Only http(s) addresses become links, and the page they lead to learns nothing of this one. */
export function link(url, children) {
  let address;
  try {
    address = new URL(url);
  } catch {
    return h("span", {}, children);
  }
  if (address.protocol !== "http:" && address.protocol !== "https:") return h("span", {}, children);
  return h("a", { href: address.href, target: "_blank", rel: "noopener noreferrer nofollow", title: address.href }, children);
}

function channelLink(id, names) {
  const button = h("button", { type: "button", class: "mention mention-link", text: `#${names.channel(id)}` });
  button.addEventListener("click", () => names.openChannel(id));
  return button;
}

const STYLES = {
  t: { timeStyle: "short" }, T: { timeStyle: "medium" }, d: { dateStyle: "short" }, D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" }, F: { dateStyle: "full", timeStyle: "short" },
};

function time(node) {
  const moment = new Date(node.seconds * 1000);
  if (Number.isNaN(moment.getTime())) return "an impossible time";
  const shown = node.style === "R" ? relative(moment) : moment.toLocaleString(undefined, STYLES[node.style]);
  return h("time", { datetime: moment.toISOString(), class: "stamp", title: moment.toLocaleString(), text: shown });
}

const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];

function relative(moment) {
  const seconds = Math.round((moment.getTime() - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}
