// "Way of the message": what each role saw of one message, in order. Owns the first tab of the strip.
//
// The roles themselves tell; the simulator only asks them. While an answer is awaited it asks again, ever more slowly.
import { api } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { channel, names, guildOf, on, state } from "../store.js";
import { plainText } from "../text/markdown.js";
import { authorName, clock } from "./message.js";

const FIRST_MS = 400;
const SLOWEST_MS = 4_000;
const PATIENCE = 24; // questions after which it waits for the next message instead

const SEES = {
  discord: ["Discord", "has the message"],
  edge: ["Edge", "sees the text, seals it"],
  fleet: ["Fleet", "signs a permit, sees no text"],
  gateway: ["Gateway", "sees bytes only"],
  body: ["Body", "opens it, keeps its state"],
};

export class Way {
  constructor() {
    this.message = null;
    this.visible = false;
    this.timer = null;
    this.asked = 0;
    this.element = h("div", { class: "way" });
    on("place", () => { if (this.message && this.message.channel_id !== state.place.channelId) this.follow(null); });
    this.#draw({ hops: [], notes: [] });
  }

  shown() { this.visible = true; this.#ask(true); }
  hidden() { this.visible = false; clearTimeout(this.timer); }

  /** Show this message's way. */
  follow(message) {
    this.message = message;
    this.#ask(true);
  }

  /** Something happened in the channel: an answer may have come. */
  stir() {
    if (this.message) this.#ask(true);
  }

  async #ask(anew = false) {
    clearTimeout(this.timer);
    if (anew) this.asked = 0;
    if (!this.visible) return;
    if (!this.message) { this.#draw({ hops: [], notes: [] }); return; }
    const { id, channel_id: channelId } = this.message;
    let found;
    try {
      found = await api.get(`/channels/${channelId}/messages/${id}/hops`, { as: state.meId });
    } catch {
      return; // the banner tells of a simulator that is away; a message that is gone has no way
    }
    if (this.message?.id !== id) return;
    this.#draw(found);
    this.asked += 1;
    if (this.asked < PATIENCE && !document.hidden) this.timer = setTimeout(() => this.#ask(), Math.min(FIRST_MS * 1.25 ** this.asked, SLOWEST_MS));
  }

  #draw({ hops, notes }) {
    if (!this.message) {
      fill(this.element, h("p", { class: "muted", text: "Write a message that a bot answers, or choose “Show its way” in a message’s menu. What each role saw of it appears here." }), legend());
      return;
    }
    const guild = guildOf(channel(this.message.channel_id));
    const first = hops[0]?.atMs;
    const key = JSON.stringify([hops, notes]);
    if (this.drawn === key + this.message.id) return;
    this.drawn = key + this.message.id;
    fill(this.element,
      h("blockquote", { class: "way-message" }, h("strong", { text: authorName(this.message, guild) }), h("span", { text: plainText(this.message.content ?? "", names(guild)) || "a message without text" })),
      h("ol", { class: "hops", "aria-label": "Hops, in order" }, hops.map((hop, index) => h("li", { class: `hop hop-${hop.role in SEES ? hop.role : "other"}` },
        h("div", { class: "hop-head" },
          h("strong", { text: SEES[hop.role]?.[0] ?? hop.role }),
          hops[index - 1]?.role !== hop.role && SEES[hop.role] && h("span", { class: "hop-sees", text: SEES[hop.role][1] }),
          h("time", { datetime: new Date(hop.atMs).toISOString(), title: new Date(hop.atMs).toLocaleString(), text: index ? `+${since(hop.atMs - first)}` : clock(new Date(hop.atMs)) })),
        h("p", { class: "hop-what", text: hop.what }),
        hop.detail && h("p", { class: "hop-detail", text: hop.detail })))),
      notes.map((note) => h("div", { class: "way-note" }, icon("way"), h("div", {}, h("p", { text: note.text }), note.next && h("p", { class: "muted" }, "Next: ", note.command ? h("code", { text: note.next }) : note.next)))));
  }
}

function legend() {
  return h("dl", { class: "legend" }, ["edge", "gateway", "body"].map((role) => h("div", { class: `hop-${role}` }, h("dt", { text: SEES[role][0] }), h("dd", { text: SEES[role][1] }))));
}

function since(ms) {
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms / 60_000)} min`;
}
