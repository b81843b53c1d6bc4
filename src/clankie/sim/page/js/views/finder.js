// Go somewhere by typing a part of its name. Owns that dialog.
import { h, icon } from "../dom.js";
import { channelName, guildOf, state, TYPE } from "../store.js";
import { Suggestions } from "./combobox.js";
import { showDialog } from "./overlay.js";
import { kindIcon } from "./sidebar.js";

export function showFinder(openChannel) {
  showDialog("Go to", (close) => {
    const input = h("input", { type: "text", "aria-label": "Name of a channel, thread or person", placeholder: "Name of a channel, thread or person", autocomplete: "off", autofocus: true });
    const box = h("div", { class: "finder" }, input);
    const list = new Suggestions(input, box, "Places");
    const draw = () => {
      const query = input.value.trim().toLowerCase();
      const found = [...state.channels.values()].filter((place) => place.type !== TYPE.category && channelName(place).toLowerCase().includes(query)).slice(0, 12);
      list.show(found.map((place) => ({ label: channelName(place), detail: guildOf(place)?.name ?? "direct message", node: icon(place.type === TYPE.dm ? "at" : kindIcon(place)), value: place.id })), (id) => { close(); openChannel(id); });
    };
    input.addEventListener("input", draw);
    input.addEventListener("keydown", (event) => { if (event.key !== "Escape") list.key(event); }); // Escape leaves the dialog
    setTimeout(draw);
    return box;
  });
}
