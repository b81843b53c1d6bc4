// A person's picture: initials on a colour of their own. Nothing is fetched for it.
import { h } from "./dom.js";

const TONES = 8; // classes tone-0 … tone-7 in people.css

export function avatar(user, { small = false } = {}) {
  const name = user?.global_name || user?.username || "?";
  const words = name.trim().split(/[\s_-]+/u).filter(Boolean);
  const initials = (words.length > 1 ? [...words[0]][0] + [...words[1]][0] : [...(words[0] ?? "?")].slice(0, 2).join("")).toUpperCase();
  const shape = user?.bot ? "avatar avatar-bot" : "avatar";
  return h("span", { class: `${shape} tone-${hash(user?.id ?? name) % TONES}${small ? " small" : ""}`, "aria-hidden": "true", text: initials });
}

function hash(value) {
  let sum = 7;
  for (const character of String(value)) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum;
}
