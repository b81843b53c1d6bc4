// The list of messages: drawing it, paging as it is scrolled, keeping what is read in its place, jumping.
//
// Owns the scroll box and its elements. What is shown is the window that `History` holds.
import { keepingFocus, oneTabStop, roving } from "../focus.js";
import { fill, h } from "../dom.js";
import { trying } from "../feedback.js";
import { channelName, isThread, markSeen, state, TYPE } from "../store.js";
import { addTools, dayName, messageElement, sameDay, timeOf } from "./message.js";

const NEAR = 700; // pixels from an end at which the next page is asked for
const AT_END = 60; // pixels from the end that still count as reading along

export class MessageList {
  /**
   * @param {History} history
   * @param {object} acts what can be done with a message; see actions.js
   */
  constructor(history, acts) {
    this.history = history;
    this.acts = acts;
    this.box = document.getElementById("messages");
    this.latest = document.getElementById("to-latest");
    this.editingId = null;
    this.newSince = null; // the first unread message when the place was opened
    this.foundId = null;
    this.loading = false;
    this.stuck = true; // reading along at the end
    this.feed = h("div", { class: "feed", role: "feed", "aria-label": "Messages", "aria-busy": "false" });
    this.box.append(this.feed);
    this.box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.latest.addEventListener("click", () => this.toLatest());
    roving(this.feed, ".message", { onKey: (event, item) => this.#key(event, item) });
    // Made when they are wanted: for all messages they would be most of the document.
    for (const event of ["pointerover", "focusin"]) this.feed.addEventListener(event, ({ target }) => this.#tools(target));
    new ResizeObserver(() => { if (this.stuck) this.#toEnd(); }).observe(this.box);
    this.feed.addEventListener("load", () => { if (this.stuck) this.#toEnd(); }, true);
  }

  /** Draw all of it, at the end or at one message. */
  show({ at = null, unreadAfter = null } = {}) {
    const { messages } = this.history;
    this.editingId = null;
    this.foundId = at;
    this.newSince = unreadAfter && messages.find((message) => BigInt(message.id) > BigInt(unreadAfter) && message.author.id !== state.meId)?.id;
    if (this.newSince === messages[0]?.id && !this.history.hasOlder) this.newSince = null;
    fill(this.feed, this.#intro(), ...this.#rows(messages, null));
    oneTabStop(this.feed, ".message", this.feed.querySelector(".message:last-of-type"));
    if (at) this.#reveal(at);
    else this.#toEnd();
    this.#seen();
    this.#latestButton();
  }

  showEmpty(title, text, ...more) {
    fill(this.feed, h("div", { class: "empty" }, h("h2", { text: title }), h("p", { text }), more));
    this.#latestButton();
  }

  /** A message came in. */
  append(message) {
    const change = this.history.add(message);
    if (!change) { this.#latestButton(); return; }
    const mine = message.author.id === state.meId;
    const follow = this.stuck || mine;
    this.feed.querySelector(".empty")?.remove();
    this.#drop(change.dropped);
    const before = this.history.messages.at(-2) ?? null;
    this.feed.append(...this.#rows([message], before));
    oneTabStop(this.feed, ".message");
    if (follow) this.#toEnd();
    if (follow && document.hasFocus()) this.#seen();
    this.#latestButton();
  }

  /** A message changed. */
  redraw(id) {
    const message = this.history.find(id);
    const old = document.getElementById(`m-${id}`);
    if (!message || !old) return;
    const at = this.history.messages.indexOf(message);
    keepingFocus(this.feed, () => {
      const fresh = this.#element(message, this.history.messages[at - 1] ?? null);
      fresh.tabIndex = old.tabIndex;
      old.replaceWith(fresh);
    });
    if (this.stuck) this.#toEnd();
  }

  /** A message went. */
  remove(id) {
    const at = this.history.messages.findIndex((message) => message.id === id);
    if (at < 0) return;
    keepingFocus(this.feed, () => {
      this.history.remove(id);
      document.getElementById(`m-${id}`)?.remove();
    });
    const next = this.history.messages[at];
    if (next) this.redraw(next.id); // it may need a head now
    this.#tidyDays();
    oneTabStop(this.feed, ".message");
    if (!this.history.messages.length) this.show();
  }

  edit(id) {
    const before = this.editingId;
    this.editingId = id;
    if (before) this.redraw(before);
    if (id) {
      this.redraw(id);
      const area = document.querySelector(`#m-${id} textarea`);
      area?.focus();
      area?.setSelectionRange(area.value.length, area.value.length);
      document.getElementById(`m-${id}`)?.scrollIntoView({ block: "nearest" });
    } else document.querySelector(".composer textarea")?.focus();
  }

  /** Go to a message, wherever in the channel it is. */
  async jump(id) {
    if (!this.history.find(id)) {
      const came = await trying(() => this.history.open(this.history.channelId, state.meId, id));
      if (!came) return;
      this.show({ at: id });
    } else this.#reveal(id);
  }

  async toLatest() {
    if (this.history.hasNewer) {
      const came = await trying(() => this.history.open(this.history.channelId, state.meId));
      if (!came) return;
      this.show();
    } else this.#toEnd();
    this.stuck = true;
    this.#seen();
    this.#latestButton();
  }

  /** Move up or down in the list from elsewhere, as the composer's keys do. */
  focusLast() {
    const last = [...this.feed.querySelectorAll(".message")].at(-1);
    last?.focus();
  }

  #tools(target) {
    const element = target.closest(".message");
    const message = element && this.history.find(element.dataset.key);
    if (message) addTools(element, message, this.acts);
  }

  #element(message, before) {
    return messageElement(message, { before, acts: this.acts, editing: message.id === this.editingId, highlighted: message.id === this.foundId });
  }

  #rows(messages, before) {
    const rows = [];
    let last = before;
    for (const message of messages) {
      if (!last || !sameDay(timeOf(last), timeOf(message))) {
        rows.push(h("div", { class: "day", role: "separator", data: { day: timeOf(message).toDateString() } }, h("span", { text: dayName(timeOf(message)) })));
      }
      const isFirstNew = message.id === this.newSince;
      if (isFirstNew) rows.push(h("div", { class: "new-mark", role: "separator" }, h("span", { text: "New" })));
      rows.push(this.#element(message, isFirstNew ? null : last));
      last = message;
    }
    return rows;
  }

  #intro() {
    if (this.history.hasOlder) return null;
    const place = state.channels.get(this.history.channelId);
    if (!place) return null;
    const words = {
      [TYPE.dm]: `This is the start of your conversation with ${channelName(place)}.`,
      [TYPE.forum]: "",
    }[place.type] ?? (isThread(place) ? `This is the start of the thread “${place.name}”.` : `This is the start of #${place.name}.`);
    return h("div", { class: this.history.messages.length ? "intro" : "intro empty" },
      h("h2", { text: channelName(place) }), h("p", { text: words }),
      !this.history.messages.length && h("p", { class: "muted", text: "Nothing has been said here yet. Write the first message below." }));
  }

  async #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    const left = scrollHeight - scrollTop - clientHeight;
    this.stuck = left < AT_END && !this.history.hasNewer;
    if (this.stuck) this.#seen();
    this.#latestButton();
    if (this.loading || !this.history.channelId) return;
    if (scrollTop < NEAR && this.history.hasOlder) await this.#page("older");
    else if (left < NEAR && this.history.hasNewer) await this.#page("newer");
  }

  async #page(way) {
    this.loading = true;
    this.feed.setAttribute("aria-busy", "true");
    const change = await trying(() => this.history[way](state.meId));
    if (change) this.#splice(way, change);
    this.feed.setAttribute("aria-busy", "false");
    this.loading = false;
    if (change?.added.length) requestAnimationFrame(() => this.#scrolled());
  }

  /** Put a page in and take one out at the other end, with what is being read staying where it is. */
  #splice(way, { added, dropped }) {
    const held = this.#anchor();
    const { messages } = this.history;
    if (way === "older") {
      const first = this.feed.querySelector(".message");
      this.feed.querySelector(".day")?.remove();
      this.feed.querySelector(".intro")?.remove();
      this.feed.prepend(...[this.#intro(), ...this.#rows(added, null)].filter(Boolean));
      const seam = messages[added.length];
      if (first && seam) {
        const before = messages[added.length - 1] ?? null;
        const rows = this.#rows([seam], before);
        document.getElementById(`m-${seam.id}`)?.replaceWith(...rows);
      }
    } else {
      const before = messages[messages.length - added.length - 1] ?? null;
      this.feed.append(...this.#rows(added, before));
    }
    this.#drop(dropped);
    this.#tidyDays();
    oneTabStop(this.feed, ".message");
    if (held) {
      const element = document.getElementById(held.id);
      if (element) this.box.scrollTop += element.getBoundingClientRect().top - held.top;
    }
    this.#latestButton();
  }

  #anchor() {
    const top = this.box.getBoundingClientRect().top;
    for (const element of this.feed.querySelectorAll(".message")) {
      const at = element.getBoundingClientRect();
      if (at.bottom > top) return { id: element.id, top: at.top };
    }
    return null;
  }

  #drop(dropped) {
    for (const message of dropped) {
      const element = document.getElementById(`m-${message.id}`);
      if (element?.contains(document.activeElement)) this.box.focus();
      element?.remove();
    }
    if (dropped.length && this.history.hasOlder) this.feed.querySelector(".intro")?.remove();
    this.#tidyDays();
  }

  /** A day's name goes with the last of its messages; what remains starts with one. */
  #tidyDays() {
    for (const day of [...this.feed.querySelectorAll(".day, .new-mark")]) {
      let next = day.nextElementSibling;
      while (next?.matches(".new-mark")) next = next.nextElementSibling;
      if (!next || !next.matches(".message")) day.remove();
    }
    const first = this.history.messages[0];
    const element = first && document.getElementById(`m-${first.id}`);
    if (element && !element.previousElementSibling?.matches(".day, .new-mark")) element.replaceWith(...this.#rows([first], null));
  }

  #reveal(id) {
    const element = document.getElementById(`m-${id}`);
    if (!element) return;
    this.stuck = false;
    this.feed.querySelector(".message-found")?.classList.remove("message-found");
    element.classList.add("message-found");
    element.scrollIntoView({ block: "center" });
    oneTabStop(this.feed, ".message", element);
    element.focus({ preventScroll: true });
    this.#latestButton();
  }

  #toEnd() {
    this.stuck = true;
    this.box.scrollTop = this.box.scrollHeight;
  }

  #seen() {
    if (!this.history.channelId || this.history.hasNewer) return;
    markSeen(this.history.channelId, this.history.newestId);
  }

  #latestButton() {
    const away = !this.stuck && this.history.channelId !== null;
    this.latest.hidden = !away;
    const unread = state.unread.get(this.history.channelId)?.count ?? 0;
    this.latest.querySelector("span").textContent = unread ? `${unread} new` : "Newest";
  }

  #key(event, item) {
    const message = this.history.find(item.dataset.key);
    if (!message || event.target !== item) return false;
    const does = {
      Enter: () => this.acts.menu(message, item),
      ContextMenu: () => this.acts.menu(message, item),
      r: () => this.acts.reply(message),
      e: () => message.author.id === state.meId && this.acts.edit(message),
      "+": () => this.acts.pickReaction(message, item),
      Delete: () => this.acts.remove(message),
    }[event.key];
    if (!does) return false;
    event.preventDefault();
    does();
    return true;
  }
}

