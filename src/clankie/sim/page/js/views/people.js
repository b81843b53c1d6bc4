// Who one speaks as. Owns the card at the foot of the navigation.
import { avatar } from "../avatar.js";
import { fill, h, icon } from "../dom.js";
import { on, me, state } from "../store.js";
import { showMenu } from "./overlay.js";

export class People {
  /** @param {object} acts `speakAs(id)`, `openWindow(id)`, `newPerson()` */
  constructor(acts) {
    this.acts = acts;
    this.box = document.getElementById("speaker");
    on("world", () => this.draw());
  }

  draw() {
    const user = me();
    if (!user) return;
    const held = this.box.contains(document.activeElement);
    const button = h("button", { type: "button", class: "speaker", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `You speak as ${user.global_name || user.username}. Change`, on: { click: () => this.open() } },
      avatar(user), h("span", { class: "speaker-text" }, h("span", { class: "speaker-hint", text: "Speaking as" }), h("strong", { text: user.global_name || user.username })), icon("chevron"));
    fill(this.box, button);
    if (held) button.focus();
  }

  open() {
    const anchor = this.box.querySelector("button");
    const people = state.world.people;
    showMenu(anchor, "Speak as", [
      ...people.map((user) => ({ label: user.global_name || user.username, checked: user.id === state.meId, run: () => this.acts.speakAs(user.id) })),
      null,
      ...people.filter((user) => user.id !== state.meId).slice(0, 4).map((user) => ({ label: `Window as ${user.global_name || user.username}`, icon: "forward", run: () => this.acts.openWindow(user.id) })),
      { label: "New person", icon: "plus", run: () => this.acts.newPerson() },
    ]);
  }
}
