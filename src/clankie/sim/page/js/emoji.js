// The few emoji that the picker offers, by name. Any other one is typed with the keyboard's own picker.
import { h, uniqueId } from "./dom.js";
import { roving, oneTabStop } from "./focus.js";
import { place } from "./views/overlay.js";

const EMOJI = [
  ["👍", "thumbs up"], ["👎", "thumbs down"], ["❤️", "heart"], ["😂", "tears of joy"], ["🎉", "party"], ["😮", "surprised"],
  ["😢", "sad"], ["🙏", "thanks"], ["👀", "eyes"], ["✅", "done"], ["❌", "cross"], ["🔥", "fire"], ["🤔", "thinking"], ["😄", "smile"],
  ["😅", "sweat"], ["😍", "love"], ["🙌", "hooray"], ["👏", "applause"], ["💯", "hundred"], ["🚀", "rocket"], ["⭐", "star"], ["💡", "idea"],
  ["❓", "question"], ["❗", "attention"], ["🐛", "bug"], ["🔁", "again"], ["⏳", "waiting"], ["☕", "coffee"], ["🌱", "seedling"], ["👋", "wave"],
];

let shut = null;

/** Ask for an emoji at a button; `take` gets its character. */
export function pickEmoji(anchor, take) {
  shut?.();
  const search = h("input", { type: "search", placeholder: "Name, or any emoji", "aria-label": "Find an emoji by name, or type one", autocomplete: "off", maxlength: "32" });
  const grid = h("div", { class: "emoji-grid", role: "group", "aria-label": "Emoji" });
  const box = h("div", { class: "emoji-picker", role: "dialog", "aria-label": "Pick an emoji", id: uniqueId("emoji") }, search, grid);
  const close = () => {
    shut = null;
    box.remove();
    document.removeEventListener("pointerdown", outside, true);
    if (anchor.isConnected) anchor.focus();
    else document.querySelector(".composer textarea")?.focus();
  };
  const outside = (event) => { if (!box.contains(event.target)) close(); };
  const choose = (character) => { close(); take(character); };
  const draw = () => {
    const query = search.value.trim().toLowerCase();
    const found = EMOJI.filter(([character, name]) => !query || name.includes(query) || character === query);
    const own = query && /\p{Extended_Pictographic}/u.test(query) && !found.length ? [[search.value.trim(), "as typed"]] : found;
    grid.replaceChildren(...own.map(([character, name]) => h("button", { type: "button", class: "emoji-choice", "aria-label": name, title: name, tabindex: "-1", on: { click: () => choose(character) } }, h("span", { class: "emoji", text: character }))));
    if (!own.length) grid.append(h("p", { class: "muted", text: "None of that name here. Type or paste the emoji itself." }));
    oneTabStop(grid, ".emoji-choice");
  };
  search.addEventListener("input", draw);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
    if (event.key === "Enter" && event.target === search) { event.preventDefault(); grid.querySelector(".emoji-choice")?.click(); }
    if (event.key === "ArrowDown" && event.target === search) { event.preventDefault(); grid.querySelector(".emoji-choice")?.focus(); }
  });
  roving(grid, ".emoji-choice", { horizontal: true });
  draw();
  place(box, anchor);
  document.addEventListener("pointerdown", outside, true);
  shut = close;
  search.focus();
}
