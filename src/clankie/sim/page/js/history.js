// The messages of the open channel: a window of them, moved by paging both ways.
//
// At most WINDOW messages are held, however many there are, so that a channel of ten thousand costs what one of two
// hundred does. Owns the window. Must not know elements.
import { api } from "./api.js";

export const PAGE = 50;
export const WINDOW = 200;

const newer = (a, b) => BigInt(a) > BigInt(b);

export class History {
  constructor() {
    this.channelId = null;
    this.messages = []; // oldest first
    this.hasOlder = false;
    this.hasNewer = false;
    this.generation = 0; // an answer to a question of an earlier channel is dropped
  }

  get newestId() { return this.messages.at(-1)?.id ?? null; }
  find(id) { return this.messages.find((message) => message.id === id) ?? null; }

  /** Show the newest of a channel, or what lies around one message. Whether it is still wanted when it came. */
  async open(channelId, as, around = null) {
    const generation = (this.generation += 1);
    const query = around ? { as, around, limit: PAGE } : { as, limit: PAGE };
    const answer = await api.get(`/channels/${channelId}/messages`, query);
    if (generation !== this.generation) return false;
    this.channelId = channelId;
    this.messages = answer.messages;
    this.hasOlder = answer.hasOlder;
    this.hasNewer = answer.hasNewer;
    return true;
  }

  clear() {
    this.generation += 1;
    this.channelId = null;
    this.messages = [];
    this.hasOlder = this.hasNewer = false;
  }

  /** @returns {Promise<{added: object[], dropped: object[]} | null>} null when nothing is to be shown */
  async older(as) {
    if (!this.hasOlder || !this.messages.length) return null;
    const generation = this.generation;
    const answer = await api.get(`/channels/${this.channelId}/messages`, { as, before: this.messages[0].id, limit: PAGE });
    if (generation !== this.generation) return null;
    this.hasOlder = answer.hasOlder;
    this.messages.unshift(...answer.messages);
    const dropped = this.messages.splice(WINDOW);
    if (dropped.length) this.hasNewer = true;
    return { added: answer.messages, dropped };
  }

  async newer(as) {
    if (!this.hasNewer || !this.messages.length) return null;
    const generation = this.generation;
    const answer = await api.get(`/channels/${this.channelId}/messages`, { as, after: this.newestId, limit: PAGE });
    if (generation !== this.generation) return null;
    this.hasNewer = answer.hasNewer;
    const added = answer.messages.filter((message) => newer(message.id, this.newestId ?? "0"));
    this.messages.push(...added);
    const dropped = this.messages.splice(0, Math.max(0, this.messages.length - WINDOW));
    if (dropped.length) this.hasOlder = true;
    return { added, dropped };
  }

  /** A message that was just posted. {added, dropped}, or null when it lies beyond what is shown or is there. */
  add(message) {
    if (message.channel_id !== this.channelId || this.hasNewer || this.find(message.id)) return null;
    if (this.newestId && !newer(message.id, this.newestId)) return null;
    this.messages.push(message);
    const dropped = this.messages.splice(0, Math.max(0, this.messages.length - WINDOW));
    if (dropped.length) this.hasOlder = true;
    return { added: [message], dropped };
  }

  /** Merge what an update says; what it does not say stays. */
  update(change) {
    const at = this.messages.findIndex((message) => message.id === change.id);
    if (at < 0) return null;
    const { reactions: mine } = this.messages[at];
    this.messages[at] = { ...this.messages[at], ...change };
    if (mine && !change.reactions) this.messages[at].reactions = mine;
    return this.messages[at];
  }

  remove(id) {
    const at = this.messages.findIndex((message) => message.id === id);
    return at < 0 ? null : this.messages.splice(at, 1)[0];
  }

  /** One reaction more or less. The message, when it is shown. */
  react(messageId, emoji, userId, meId, step) {
    const message = this.find(messageId);
    if (!message) return null;
    const reactions = [...(message.reactions ?? [])];
    const at = reactions.findIndex((item) => sameEmoji(item.emoji, emoji));
    const known = at < 0 ? { emoji, count: 0, me: false } : { ...reactions[at] };
    known.count += step;
    if (userId === meId) known.me = step > 0;
    if (known.count <= 0) reactions.splice(at, at < 0 ? 0 : 1);
    else if (at < 0) reactions.push(known);
    else reactions[at] = known;
    message.reactions = reactions;
    return message;
  }
}

export const sameEmoji = (a, b) => (a.id || b.id ? a.id === b.id : a.name === b.name);
