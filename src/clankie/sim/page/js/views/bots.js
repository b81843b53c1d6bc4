// The applications there are, their tokens, and the sessions they hold. Owns the bots tab.
import { api } from "../api.js";
import { avatar } from "../avatar.js";
import { fill, h, icon } from "../dom.js";
import { announce, toast, trying } from "../feedback.js";
import { keepingFocus } from "../focus.js";
import { on, state } from "../store.js";

const EVERY_MS = 2_000;
const USUAL_PORT = "8792";
const RUN = `clankie sim run${location.port === USUAL_PORT ? "" : ` --port ${location.port}`} your_bot.py`;

export class Bots {
  /** @param {object} acts `newApplication()`, `invite(bot)`, `talk(userId)` */
  constructor(acts) {
    this.acts = acts;
    this.element = h("div", { class: "bots" });
    this.visible = false;
    on("world", () => this.load());
    setInterval(() => { if (this.visible && !document.hidden && state.connected) this.load(); }, EVERY_MS);
  }

  shown() { this.visible = true; this.drawn = null; this.load(); }
  hidden() { this.visible = false; }

  async load() {
    if (!this.visible) return;
    let found;
    try {
      found = await api.get("/bots");
    } catch {
      return; // the banner tells of a simulator that is away
    }
    const key = JSON.stringify(found.bots);
    if (key === this.drawn) return;
    this.drawn = key;
    keepingFocus(this.element, () => fill(this.element,
      found.bots.map((bot) => this.#bot(bot)),
      h("button", { type: "button", class: "button quiet", data: { key: "new-application" }, on: { click: () => this.acts.newApplication() } }, icon("plus"), "New bot")));
  }

  #bot(bot) {
    const user = state.users.get(bot.userId) ?? { id: bot.userId, username: bot.name, bot: true };
    return h("section", { class: "bot" },
      h("header", {}, avatar(user), h("div", {}, h("h3", { text: bot.name }), h("p", { class: bot.sessions.length ? "online" : "muted", text: bot.sessions.length ? (bot.sessions.length === 1 ? "Connected" : `${bot.sessions.length} sessions`) : "Not connected" }))),
      bot.sessions.map((session) => h("dl", { class: "facts" },
        fact("Intents", session.intents.length ? session.intents.join(", ").toLowerCase().replaceAll("_", " ") : "none"),
        session.shard && fact("Shard", `${session.shard[0] + 1} of ${session.shard[1]}`),
        fact("Last heartbeat", session.lastHeartbeatMs === null ? "none yet" : `${Math.max(0, Math.round((Date.now() - session.lastHeartbeatMs) / 1000))} s ago`),
        fact("Events sent", String(session.sequence)))),
      !bot.sessions.length && h("p", { class: "hint" }, "Connect one: ", h("code", { text: RUN })),
      h("div", { class: "bot-actions" },
        h("button", { type: "button", class: "button small quiet", data: { key: `token-${bot.id}` }, on: { click: () => this.#copy(bot) } }, icon("copy"), "Copy token"),
        h("button", { type: "button", class: "button small quiet", data: { key: `talk-${bot.id}` }, on: { click: () => this.acts.talk(bot.userId) } }, icon("at"), "Write to it"),
        h("button", { type: "button", class: "button small quiet", data: { key: `invite-${bot.id}` }, on: { click: () => this.acts.invite(bot) } }, icon("plus"), "Add to a server")));
  }

  async #copy(bot) {
    const found = await trying(() => api.post(`/applications/${bot.id}/token`, {}));
    if (!found) return;
    try {
      await navigator.clipboard.writeText(found.token);
      announce("The token is in the clipboard");
      toast("The token is in the clipboard.", "Give it to the bot as DISCORD_TOKEN.", { kind: "info" });
    } catch {
      toast("The browser gave no access to the clipboard.", `The token is ${found.token}`, { kind: "info" });
    }
  }
}

function fact(name, value) {
  return h("div", {}, h("dt", { text: name }), h("dd", { text: value }));
}
