// Light or dark: the system's wish, until the switch says otherwise. Owns that choice.
import { fill, icon } from "./dom.js";

const KEPT = "clankie-sim:theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");

const current = () => localStorage.getItem(KEPT) ?? (system.matches ? "dark" : "light");

function show() {
  const theme = current();
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  fill(button, icon(theme === "dark" ? "sun" : "moon"));
  button.setAttribute("aria-label", `Switch to ${other} colours`);
  button.title = `Switch to ${other} colours`;
}

export function toggleTheme() {
  const other = current() === "dark" ? "light" : "dark";
  if ((system.matches ? "dark" : "light") === other) localStorage.removeItem(KEPT); // the system's wish again
  else localStorage.setItem(KEPT, other);
  show();
}

button.addEventListener("click", toggleTheme);
system.addEventListener("change", show);
addEventListener("storage", show);
show();
