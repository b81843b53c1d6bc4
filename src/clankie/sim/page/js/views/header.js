// The line above the messages: where one is, and what can be opened there. Owns the forum's list of posts, too.
import { fill, h, icon, iconButton } from "../dom.js";
import { keepingFocus } from "../focus.js";
import { can, channel, channelName, guildOf, isThread, on, state, TYPE, userName, whoTypes } from "../store.js";
import { kindIcon } from "./sidebar.js";

const LOOK_MS = 1_000; // typing ends by itself; this is how often that is looked at

export class Header {
  /** @param {object} acts `newThread()`, `placeMenu(anchor)`, `openChannel(id)`, `newPost()` */
  constructor(acts) {
    this.acts = acts;
    this.title = document.getElementById("place-title");
    this.tools = document.getElementById("place-tools");
    this.typing = document.getElementById("typing");
    for (const topic of ["world", "place"]) on(topic, () => this.draw());
    on("unread", () => this.#name());
    on("typing", () => this.#typing());
    on("place", () => this.#typing());
    setInterval(() => this.#typing(), LOOK_MS);
  }

  draw() {
    const place = channel();
    const guild = guildOf();
    const parent = isThread(place) ? state.channels.get(place.parent_id) : null;
    keepingFocus(this.title.parentElement, () => this.#fill(place, guild, parent));
    this.#name();
  }

  #fill(place, guild, parent) {
    fill(this.title, place ? [
      icon(place.type === TYPE.dm ? "at" : kindIcon(place)),
      h("h1", { text: channelName(place) }),
      parent && h("button", { type: "button", class: "crumb", data: { key: "crumb" }, on: { click: () => this.acts.openChannel(parent.id) } }, `in ${channelName(parent)}`),
      !parent && place.topic && h("p", { class: "topic", text: place.topic, title: place.topic }),
    ] : h("h1", { text: "Clankie’s Discord, simulated" }));
    fill(this.tools,
      place && can("thread") && !isThread(place) && place.type !== TYPE.forum && place.type !== TYPE.dm && iconButton("thread", "New thread", () => this.acts.newThread(), { data: { key: "new-thread" } }),
      place && guild && iconButton("more", "More about this place", (event) => this.acts.placeMenu(event.currentTarget), { "aria-haspopup": "menu", "aria-expanded": "false", data: { key: "place-more" } }));
  }

  /** The window's name: how many places hold a mention, and where one is. */
  #name() {
    const place = channel();
    const mentions = [...state.unread.values()].filter((item) => item.mentioned).length;
    document.title = (mentions ? `(${mentions}) ` : "") + (place ? `${channelName(place)} · Clankie sim` : "Clankie sim");
  }

  #typing() {
    const who = whoTypes(state.place.channelId).map((id) => userName(id));
    const words = who.length === 0 ? "" : who.length === 1 ? `${who[0]} is typing` : who.length === 2 ? `${who[0]} and ${who[1]} are typing` : "Several people are typing";
    if (this.typing.dataset.words === words) return;
    this.typing.dataset.words = words;
    fill(this.typing, words && h("span", { class: "dots", "aria-hidden": "true" }), words);
  }

  /** A forum as a list of its posts. */
  forum(place, guild) {
    const posts = guild.channels.filter((item) => isThread(item) && item.parent_id === place.id)
      .sort((a, b) => (BigInt(b.last_message_id ?? b.id) > BigInt(a.last_message_id ?? a.id) ? 1 : -1));
    const tags = new Map((place.available_tags ?? []).map((tag) => [tag.id, tag.name]));
    return h("section", { class: "forum", "aria-label": `Posts of ${place.name}` },
      h("div", { class: "forum-head" }, h("p", { class: "muted", text: "Each post is a conversation of its own." }),
        can("send", place) && h("button", { type: "button", class: "button primary", on: { click: () => this.acts.newPost() } }, icon("plus"), "New post")),
      posts.length ? h("ul", { class: "forum-posts" }, posts.map((post) => h("li", {}, h("button", { type: "button", class: state.unread.has(post.id) ? "post place-unread" : "post", data: { key: post.id }, on: { click: () => this.acts.openChannel(post.id) } },
        h("strong", { text: post.name }),
        h("span", { class: "muted", text: `${userName(post.owner_id, guild)} · ${answers(post)}${post.thread_metadata?.archived ? " · archived" : ""}` }),
        post.applied_tags?.length > 0 && h("span", { class: "tags" }, post.applied_tags.map((id) => h("span", { class: "tag", text: tags.get(id) ?? "a tag" })))))))
        : h("p", { class: "empty-note", text: "No posts yet." }));
  }
}

const answers = (post) => {
  const count = post.message_count ?? 0;
  return count === 0 ? "no answers yet" : count === 1 ? "1 answer" : `${count} answers`;
};
