// Who is in the place: people and bots, with their roles. Owns the members tab.
import { avatar } from "../avatar.js";
import { fill, h, iconButton } from "../dom.js";
import { keepingFocus } from "../focus.js";
import { channel, guildOf, on, state, userName } from "../store.js";

const MOST = 200; // drawn; a server of thousands would be a page of its own

export class Members {
  /** @param {object} acts `memberMenu(user, guild, anchor)` */
  constructor(acts) {
    this.acts = acts;
    this.element = h("div", { class: "members" });
    for (const topic of ["world", "place"]) on(topic, () => this.draw());
  }

  shown() { this.draw(); }

  draw() {
    const guild = guildOf();
    const place = channel();
    const ids = guild ? guild.members.map((member) => member.user_id) : place?.recipients ?? [];
    const users = ids.map((id) => state.users.get(id)).filter(Boolean).sort((a, b) => userName(a.id, guild).localeCompare(userName(b.id, guild)));
    const groups = [["People", users.filter((user) => !user.bot)], ["Bots", users.filter((user) => user.bot)]];
    keepingFocus(this.element, () => fill(this.element, groups.filter(([, members]) => members.length).map(([name, members]) => h("section", {},
      h("h3", { text: `${name} (${members.length})` }),
      h("ul", { class: "member-list" }, members.slice(0, MOST).map((user) => this.#row(user, guild))),
      members.length > MOST && h("p", { class: "muted", text: `and ${members.length - MOST} more` }))),
    !users.length && h("p", { class: "muted", text: "Open a channel to see who is there." })));
  }

  #row(user, guild) {
    const member = guild?.members.find((item) => item.user_id === user.id);
    const roles = (member?.roles ?? []).map((id) => state.roles.get(id)?.name).filter(Boolean);
    const owner = guild?.owner_id === user.id;
    return h("li", {}, avatar(user), h("div", {}, h("span", { class: "member-name", text: userName(user.id, guild) }), user.bot && h("span", { class: "badge", text: "Bot" }),
      h("span", { class: "muted", text: [owner ? "owner" : "", ...roles].filter(Boolean).join(", ") || `@${user.username}` })),
    iconButton("more", `More about ${userName(user.id, guild)}`, (event) => this.acts.memberMenu(user, guild, event.currentTarget), { class: "tiny", "aria-haspopup": "menu", "aria-expanded": "false", data: { key: user.id } }));
  }
}
