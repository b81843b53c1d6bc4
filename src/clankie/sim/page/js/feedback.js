// What the page says beside its content: toasts for the eye, live regions for the ear.
import { h, iconButton } from "./dom.js";
import { Problem } from "./api.js";

const TOAST_MS = 9_000; // long enough to read two sentences twice
const MOST_TOASTS = 4;

const polite = document.getElementById("live");
const toasts = document.getElementById("toasts");

/** Say something to a screen reader. The same words twice are said twice. */
export function announce(words) {
  const line = h("p", { text: words });
  polite.append(line);
  while (polite.children.length > 5) polite.firstChild.remove();
}

/** Tell of something that went wrong, and what to do. */
export function toast(message, next, { kind = "error" } = {}) {
  const remove = () => {
    clearTimeout(timer);
    box.remove();
  };
  const box = h("div", { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status" },
    h("div", { class: "toast-text" }, h("strong", { text: message }), next && h("span", { text: next })),
    iconButton("close", "Dismiss this message", remove));
  const timer = setTimeout(remove, TOAST_MS);
  box.addEventListener("mouseenter", () => clearTimeout(timer));
  box.addEventListener("focusin", () => clearTimeout(timer));
  toasts.append(box);
  while (toasts.children.length > MOST_TOASTS) toasts.firstChild.remove();
}

/** Do something that may be refused; undefined when it was, and the reader was told. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message, error.next);
    return undefined;
  }
}
