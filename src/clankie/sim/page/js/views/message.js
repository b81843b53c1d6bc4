// One message as an element. Owns how its parts are drawn; what is done with it is handed in as `acts`.
import { avatar } from "../avatar.js";
import { h, icon, iconButton } from "../dom.js";
import { renderMarkdown } from "../text/render.js";
import { plainText } from "../text/markdown.js";
import { fromMarks } from "../text/mentions.js";
import { can, channel, guildOf, mentionsMe, names, state, userName } from "../store.js";
import { attachments, embeds, poll, stickers } from "./parts.js";
import { components } from "./components.js";

const EPHEMERAL = 1 << 6;
const LOADING = 1 << 7;
const SYSTEM = {
  6: (name) => `${name} pinned a message here.`,
  7: (name) => `${name} joined the server.`,
  18: (name, message) => `${name} started the thread “${message.content}”.`,
  21: () => "The message this thread was started from.",
};
const GROUP_MS = 7 * 60_000; // messages of one author within it share one head

export const timeOf = (message) => new Date(message.timestamp);

/** Whether a message goes without a head of its own, after this one. */
export function continues(message, before) {
  return before && before.author.id === message.author.id && before.webhook_id === message.webhook_id
    && !message.message_reference && !message.interaction_metadata && !(message.type in SYSTEM) && !(before.type in SYSTEM)
    && timeOf(message) - timeOf(before) < GROUP_MS && sameDay(timeOf(message), timeOf(before));
}

export const sameDay = (a, b) => a.toDateString() === b.toDateString();

/** What a screen reader is told of a message as it comes in. */
export function spoken(message) {
  const guild = guildOf(state.channels.get(message.channel_id));
  const parts = [plainText(message.content ?? "", names(guild))];
  const files = message.attachments?.length ?? 0;
  if (files) parts.push(files === 1 ? "one file" : `${files} files`);
  if (message.embeds?.length) parts.push("with a card");
  if (message.poll) parts.push(`a poll: ${message.poll.question?.text ?? ""}`);
  for (const sticker of message.sticker_items ?? []) parts.push(`sticker ${sticker.name}`);
  return `${authorName(message, guild)}: ${parts.filter(Boolean).join(", ") || "an empty message"}`;
}

/** Whether a webhook wrote it; a bot's answers come through one, too, and are the bot's. */
const byWebhook = (message) => Boolean(message.webhook_id) && message.webhook_id !== message.application_id;

export function authorName(message, guild) {
  return byWebhook(message) ? message.author.global_name || message.author.username : userName(message.author.id, guild);
}

/**
 * @param {object} message as Discord tells it
 * @param {object} options `before`: the one above it, `acts`: what can be done, `editing`: whether it is being edited
 */
export function messageElement(message, { before, acts, editing, highlighted }) {
  const place = state.channels.get(message.channel_id);
  const guild = guildOf(place);
  const short = continues(message, before);
  const ephemeral = (message.flags & EPHEMERAL) !== 0;
  const classes = ["message"];
  if (short) classes.push("message-short");
  if (mentionsMe(message) && place?.guild_id) classes.push("message-mentions-me");
  if (ephemeral) classes.push("message-ephemeral");
  if (highlighted) classes.push("message-found");
  const nameId = `m-${message.id}-name`;
  const textId = `m-${message.id}-text`;
  if (message.type in SYSTEM) return systemElement(message, guild, classes, acts);
  const body = editing ? editor(message, acts) : content(message, guild, acts);
  body.id = textId;
  return h("article", { class: classes.join(" "), id: `m-${message.id}`, tabindex: "-1", "aria-labelledby": `${nameId} ${textId}`, data: { key: message.id } },
    message.message_reference && message.message_reference.type !== 1 && replied(message, guild, acts),
    message.interaction_metadata && invoked(message, guild),
    h("div", { class: "message-row" },
      short ? h("time", { class: "message-side-time", datetime: message.timestamp, text: shortClock(timeOf(message)) }) : avatar(message.author),
      h("div", { class: "message-main" },
        h("header", { class: short ? "message-head visually-hidden" : "message-head" },
          h("span", { class: "message-author", id: nameId, text: authorName(message, guild) }),
          badge(message),
          h("time", { datetime: message.timestamp, title: timeOf(message).toLocaleString(), text: stamp(timeOf(message)) })),
        body,
        parts(message, guild, acts),
        reactions(message, acts),
        message.thread && threadLink(message.thread, acts),
        ephemeral && h("p", { class: "message-note" }, "Only you can see this."))));
}

function systemElement(message, guild, classes, acts) {
  const words = SYSTEM[message.type](authorName(message, guild), message);
  return h("article", { class: [...classes, "message-system"].join(" "), id: `m-${message.id}`, tabindex: "-1", "aria-label": words, data: { key: message.id } },
    h("div", { class: "message-row" }, icon("chevron"), h("p", { text: words }),
      h("time", { datetime: message.timestamp, text: stamp(timeOf(message)) })),
    message.thread && threadLink(message.thread, acts));
}

function badge(message) {
  if (byWebhook(message)) return h("span", { class: "badge", text: "Webhook" });
  return message.author.bot ? h("span", { class: "badge", text: "Bot" }) : null;
}

function content(message, guild, acts) {
  const box = h("div", { class: "message-content" });
  if (message.flags & LOADING) box.append(h("p", { class: "message-loading" }, "Thinking", h("span", { class: "dots", "aria-hidden": "true" })));
  else if (message.content) box.append(...renderMarkdown(message.content, names(guild, acts.openChannel)));
  if (message.edited_timestamp && message.content) {
    box.append(h("span", { class: "edited", title: new Date(message.edited_timestamp).toLocaleString(), text: "edited" }));
  }
  return box;
}

function parts(message, guild, acts) {
  const found = [
    ...(message.message_snapshots ?? []).map((snapshot) => forwarded(snapshot.message, guild, acts)),
    ...attachments(message.attachments ?? []),
    ...(message.flags & 4 ? [] : embeds(message.embeds ?? [], names(guild, acts.openChannel))),
    ...stickers(message.sticker_items ?? []),
    message.poll && poll(message.poll),
    components(message, acts),
  ].filter(Boolean);
  return found.length ? h("div", { class: "message-parts" }, found) : null;
}

function forwarded(message, guild, acts) {
  return h("blockquote", { class: "forwarded" },
    h("p", { class: "forwarded-mark" }, icon("forward"), "Forwarded"),
    message.content && renderMarkdown(message.content, names(guild, acts.openChannel)),
    attachments(message.attachments ?? []), embeds(message.embeds ?? [], names(guild, acts.openChannel)), stickers(message.sticker_items ?? []));
}

function replied(message, guild, acts) {
  const target = message.referenced_message;
  if (!target) {
    const words = target === null ? "The message this replies to was deleted." : "A reply to a message that is not loaded.";
    return h("div", { class: "reply-line" }, icon("reply"), h("span", { class: "muted", text: words }));
  }
  const text = plainText(target.content ?? "", names(guild)) || "a message without text";
  return h("button", {
    type: "button", class: "reply-line", "aria-label": `Reply to ${authorName(target, guild)}: ${text}. Go to that message.`,
    on: { click: () => acts.jump(target.id) },
  }, icon("reply"), h("strong", { text: authorName(target, guild) }), h("span", { class: "reply-text", text }));
}

function invoked(message, guild) {
  const { user, name } = message.interaction_metadata;
  const command = name ?? message.interaction?.name;
  return h("div", { class: "reply-line" }, icon("slash"),
    h("strong", { text: user ? userName(user.id, guild) : "Someone" }), h("span", { text: command ? `used /${command}` : "used a command" }));
}

function reactions(message, acts) {
  if (!message.reactions?.length) return null;
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, message.reactions.map((reaction) => {
    const name = reaction.emoji.id ? `:${reaction.emoji.name}:` : reaction.emoji.name;
    return h("li", {}, h("button", {
      type: "button", class: reaction.me ? "reaction mine" : "reaction", "aria-pressed": String(Boolean(reaction.me)),
      "aria-label": `${name}, ${reaction.count} ${reaction.count === 1 ? "person" : "people"}${reaction.me ? ", you too" : ""}`,
      data: { key: `${message.id}/${name}` },
      on: { click: () => acts.react(message, reaction.emoji, !reaction.me) },
    }, h("span", { class: "emoji", text: name }), h("span", { text: String(reaction.count) })));
  }));
}

function threadLink(thread, acts) {
  const count = thread.message_count ?? 0;
  return h("button", { type: "button", class: "thread-link", on: { click: () => acts.openChannel(thread.id) } },
    icon("thread"), h("strong", { text: thread.name }), h("span", { class: "muted", text: count === 1 ? "1 message" : `${count} messages` }));
}

/** The buttons that appear beside a message that is pointed at; the same acts are in its menu. */
export function addTools(element, message, acts) {
  if (element.querySelector(":scope > .message-tools")) return;
  const mine = message.author.id === state.meId;
  const ephemeral = (message.flags & EPHEMERAL) !== 0;
  if (ephemeral || message.type in SYSTEM) return;
  const buttons = [];
  const tool = (name, label, run) => buttons.push(iconButton(name, label, run, { tabindex: "-1" }));
  if (can("react")) tool("smile", "Add a reaction", (event) => acts.pickReaction(message, event.currentTarget));
  if (can("send")) tool("reply", "Reply", () => acts.reply(message));
  if (mine) tool("edit", "Edit", () => acts.edit(message));
  const more = iconButton("more", "More", (event) => acts.menu(message, event.currentTarget), { tabindex: "-1", "aria-haspopup": "menu", "aria-expanded": "false" });
  buttons.push(more);
  element.append(h("div", { class: "message-tools", role: "toolbar", "aria-label": "Act on this message" }, buttons));
}

function editor(message, acts) {
  const area = h("textarea", { class: "edit-area", rows: String(Math.min(8, message.content.split("\n").length + 1)), "aria-label": "Edit your message", maxlength: "2000" });
  area.value = fromMarks(message.content, channel(), guildOf());
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); acts.endEdit(message); }
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); acts.saveEdit(message, area.value); }
  });
  return h("div", { class: "edit-box" }, area,
    h("div", { class: "edit-actions" },
      h("button", { type: "button", class: "button quiet small", text: "Cancel", on: { click: () => acts.endEdit(message) } }),
      h("button", { type: "button", class: "button primary small", text: "Save", on: { click: () => acts.saveEdit(message, area.value) } }),
      h("span", { class: "hint", text: "Enter saves, Escape leaves it as it was." })));
}

export function clock(moment) {
  return moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** In five characters, for the narrow column. */
const shortClock = (moment) => moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function stamp(moment) {
  const today = new Date();
  if (sameDay(moment, today)) return clock(moment);
  const yesterday = new Date(today.getTime() - 86_400_000);
  if (sameDay(moment, yesterday)) return `Yesterday ${clock(moment)}`;
  return `${moment.toLocaleDateString()} ${clock(moment)}`;
}

export function dayName(moment) {
  const today = new Date();
  if (sameDay(moment, today)) return "Today";
  if (sameDay(moment, new Date(today.getTime() - 86_400_000))) return "Yesterday";
  return moment.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", year: moment.getFullYear() === today.getFullYear() ? undefined : "numeric" });
}

