// Keys that work everywhere, and the list of all keys. Owns both, so that the list is true.
import { h } from "./dom.js";
import { showDialog } from "./views/overlay.js";

const KEYS = [
  ["Anywhere", [["Ctrl K", "Go to a channel, thread or person"], ["Alt ↑ / Alt ↓", "Channel above, channel below"], ["Alt Shift ↓", "Next unread channel"], ["Ctrl I", "Speak as somebody else"], ["Ctrl J", "To the newest message"], ["Ctrl /", "This list"], ["Escape", "Close what is open; back to writing"]]],
  ["Writing", [["Enter", "Send"], ["Shift Enter", "New line"], ["↑ in an empty field", "Edit your last message"], ["@ # /", "Suggest people, channels, commands"], ["Tab or Enter", "Take the suggestion"], ["Shift Tab", "To the messages"]]],
  ["In the messages", [["↑ ↓ Home End", "Message above, below, first, last"], ["Enter", "What can be done with it"], ["r", "Reply"], ["e", "Edit, if it is yours"], ["+", "React"], ["Delete", "Delete"]]],
  ["In the navigation", [["↑ ↓", "Place above, below"], ["← →", "Fold a server, unfold it"]]],
];

export function showKeys() {
  showDialog("Keys", () => h("div", { class: "keys" }, KEYS.map(([title, rows]) => h("section", {}, h("h3", { text: title }),
    h("dl", {}, rows.map(([key, does]) => h("div", {}, h("dt", {}, h("kbd", { text: key })), h("dd", { text: does }))))))), { wide: true });
}

/** @param {object} acts what the keys do, by name */
export function listen(acts) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const control = event.ctrlKey || event.metaKey;
    const does = control && !event.altKey && !event.shiftKey ? { k: acts.find, i: acts.people, j: acts.latest, "/": acts.keys }[event.key.toLowerCase()]
      : event.altKey && !control ? { ArrowUp: () => acts.step(-1), ArrowDown: () => (event.shiftKey ? acts.nextUnread() : acts.step(1)) }[event.key]
        : event.key === "Escape" && !event.defaultPrevented ? acts.escape : undefined;
    if (!does) return;
    event.preventDefault();
    does();
  });
}
