// Where one can go: servers with their channels and threads, and direct messages. Owns the navigation on the left.
import { avatar } from "../avatar.js";
import { fill, h, icon, iconButton } from "../dom.js";
import { keepingFocus, oneTabStop, roving } from "../focus.js";
import { can, channelName, isThread, on, state, TYPE } from "../store.js";

const ICONS = { 0: "hash", 1: "at", 2: "voice", 5: "announce", 10: "thread", 11: "thread", 12: "thread", 15: "forum" };
const SHUT = "clankie-sim:shut";

export class Sidebar {
  /** @param {object} acts `openChannel(id)`, `newGuild()`, `guildMenu(guild, anchor)`, `newDm()` */
  constructor(acts) {
    this.acts = acts;
    this.nav = document.getElementById("places");
    this.shut = new Set(JSON.parse(localStorage.getItem(SHUT) ?? "[]"));
    roving(this.nav, ".place, .group-name", { onKey: (event, item) => this.#key(event, item) });
    for (const topic of ["world", "place", "unread"]) on(topic, () => this.draw());
  }

  draw() {
    if (!state.world) return;
    keepingFocus(this.nav, () => fill(this.nav,
      [...state.guilds.values()].map((guild) => this.#guild(guild)),
      this.#section("Direct messages", "dms", [...state.world.dms].sort(byNewest).map((place) => this.#place(place)),
        iconButton("plus", "New conversation", () => this.acts.newDm(), { class: "tiny", data: { key: "new-dm" } }), "No conversations yet."),
      h("button", { type: "button", class: "add-server", data: { key: "new-server" }, on: { click: () => this.acts.newGuild() } }, icon("plus"), "New server")));
    oneTabStop(this.nav, ".place, .group-name", this.nav.querySelector("[aria-current]"));
  }

  #guild(guild) {
    const top = guild.channels.filter((place) => !isThread(place) && place.type !== TYPE.category);
    const categories = guild.channels.filter((place) => place.type === TYPE.category).sort(byPosition);
    const rows = [];
    for (const place of top.filter((item) => !item.parent_id).sort(byPosition)) rows.push(...this.#withThreads(place, guild));
    for (const category of categories) {
      const inside = top.filter((item) => item.parent_id === category.id).sort(byPosition);
      if (!inside.length) continue;
      rows.push(h("li", { class: "category" }, h("span", { text: category.name })));
      for (const place of inside) rows.push(...this.#withThreads(place, guild));
    }
    const more = iconButton("more", `More about ${guild.name}`, (event) => this.acts.guildMenu(guild, event.currentTarget), { class: "tiny", "aria-haspopup": "menu", "aria-expanded": "false", data: { key: `more-${guild.id}` } });
    const note = guild.unavailable ? "This server has an outage (a fault is switched on)." : "No channel here that you may see.";
    return this.#section(guild.name, guild.id, rows, more, note);
  }

  #withThreads(place, guild) {
    const threads = guild.channels.filter((item) => isThread(item) && item.parent_id === place.id && !item.thread_metadata?.archived);
    const shown = place.type === TYPE.forum ? [] : threads;
    return [this.#place(place), ...shown.map((thread) => this.#place(thread, true))];
  }

  #section(name, key, rows, button, note) {
    const shut = this.shut.has(key);
    const listId = `places-${key}`;
    const unread = shut && rows.some((row) => row.querySelector?.(".place-unread"));
    return h("section", { class: "group" },
      h("div", { class: "group-head" },
        h("button", {
          type: "button", class: unread ? "group-name place-unread" : "group-name", "aria-expanded": String(!shut), "aria-controls": listId, data: { key: `group-${key}`, group: key },
          on: { click: () => this.#toggle(key) },
        }, icon("chevron"), h("span", { text: name })), button),
      shut ? h("ul", { id: listId, hidden: true }) : h("ul", { id: listId }, rows.length ? rows : h("li", { class: "muted note", text: note })));
  }

  #place(place, nested = false) {
    const current = place.id === state.place.channelId;
    const unread = state.unread.get(place.id);
    const name = channelName(place);
    const words = [name, place.type === TYPE.dm ? "direct message" : KINDS[place.type], place.private ? "private" : "", unread ? (unread.count ? `${unread.count} unread` : "unread") : "", unread?.mentioned ? "you are mentioned" : ""].filter(Boolean).join(", ");
    const other = place.type === TYPE.dm ? state.users.get(place.recipients.find((id) => id !== state.meId)) : null;
    return h("li", {}, h("button", {
      type: "button", class: ["place", nested && "nested", unread && "place-unread", place.can && !can("view", place) && "place-faint"].filter(Boolean).join(" "),
      "aria-current": current ? "page" : null, "aria-label": words, data: { key: place.id },
      on: { click: () => this.acts.openChannel(place.id) },
    }, other ? avatar(other, { small: true }) : icon(place.private ? "lock" : ICONS[place.type] ?? "hash"),
    h("span", { class: "place-name", text: name }),
    unread && h("span", { class: unread.mentioned ? "count mentioned" : "count", "aria-hidden": "true", text: unread.count ? String(Math.min(unread.count, 99)) : "•" })));
  }

  #toggle(key) {
    if (!this.shut.delete(key)) this.shut.add(key);
    localStorage.setItem(SHUT, JSON.stringify([...this.shut]));
    this.draw();
  }

  #key(event, item) {
    if (!item.dataset.group) return false;
    const shut = this.shut.has(item.dataset.group);
    if ((event.key === "ArrowRight" && shut) || (event.key === "ArrowLeft" && !shut)) {
      event.preventDefault();
      this.#toggle(item.dataset.group);
      return true;
    }
    return false;
  }
}

export const KINDS = { 0: "channel", 1: "direct message", 2: "voice channel", 5: "announcements", 10: "thread", 11: "thread", 12: "private thread", 15: "forum" };
export const kindIcon = (place) => (place.private ? "lock" : ICONS[place.type] ?? "hash");

const byPosition = (a, b) => (a.position ?? 0) - (b.position ?? 0) || (BigInt(a.id) < BigInt(b.id) ? -1 : 1);
const byNewest = (a, b) => Number(BigInt(b.last_message_id ?? b.id) - BigInt(a.last_message_id ?? a.id) > 0n ? 1 : -1);
