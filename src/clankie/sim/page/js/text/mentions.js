// What is being typed at the caret, who could be meant, and how what was typed becomes Discord's own marks.
//
// A person types and sees names (`@guest`); what is sent are ids (`<@1>`). Pure functions.
import { avatar } from "../avatar.js";
import { icon } from "../dom.js";
import { channelName, isThread, state, TYPE } from "../store.js";

const MOST = 10;

/** The word being typed: `{kind: "@" | "#" | ":" , query, start}`, or null. */
export function wordAt(value, caret) {
  const match = /(?:^|[\s(])([@#])([^\s@#]{0,32})$/u.exec(value.slice(0, caret));
  if (!match) return null;
  return { kind: match[1], query: match[2].toLowerCase(), start: caret - match[2].length - 1 };
}

/** Suggestions for a word, as `Suggestions.show` takes them. The value is what stands in the field: `@name`. */
export function suggestionsFor(word, place, guild) {
  return word.kind === "@" ? people(word.query, place, guild) : channels(word.query, guild);
}

function people(query, place, guild) {
  const found = mentionable(place, guild).filter((item) => item.search.some((text) => text.toLowerCase().includes(query)));
  found.sort((a, b) => rank(a, query) - rank(b, query));
  return found.slice(0, MOST).map(({ label, detail, node, shown }) => ({ label, detail, node: node(), value: shown }));
}

const rank = (item, query) => (item.search.some((text) => text.toLowerCase().startsWith(query)) ? 0 : 1);

function channels(query, guild) {
  return (guild?.channels ?? []).filter((item) => item.type !== TYPE.category && item.name.toLowerCase().includes(query)).slice(0, MOST)
    .map((item) => ({ label: item.name, detail: isThread(item) ? "thread" : "", node: icon(isThread(item) ? "thread" : "hash"), value: `#${item.name}` }));
}

/** Everybody and everything that `@` can name in a place, with the words in the field and the mark that is sent. */
function mentionable(place, guild) {
  const ids = guild ? guild.members.map((member) => member.user_id) : place?.recipients ?? [];
  const items = ids.map((id) => {
    const user = state.users.get(id);
    const nick = guild?.members.find((member) => member.user_id === id)?.nick;
    const name = nick || user?.global_name || user?.username || id;
    return { label: name, detail: user?.bot ? `${user.username}, bot` : user?.username, search: [name, user?.username ?? ""], node: () => avatar(user, { small: true }), shown: `@${user?.username ?? id}`, mark: `<@${id}>` };
  });
  if (!guild) return items;
  for (const role of guild.roles) {
    if (role.id === guild.id) continue;
    items.push({ label: role.name, detail: "role", search: [role.name], node: () => icon("people"), shown: `@${role.name}`, mark: `<@&${role.id}>` });
  }
  for (const [name, detail] of [["everyone", "all members here"], ["here", "all who are online"]]) {
    items.push({ label: name, detail, search: [name], node: () => icon("people"), shown: `@${name}`, mark: `@${name}` });
  }
  return items;
}

/** The text as it is sent: each name that is one becomes its mark; code is left alone. */
export function toMarks(value, place, guild) {
  const marks = [
    ...mentionable(place, guild).map((item) => [item.shown, item.mark]),
    ...(guild?.channels ?? []).filter((item) => item.type !== TYPE.category).map((item) => [`#${item.name}`, `<#${item.id}>`]),
  ].sort((a, b) => b[0].length - a[0].length); // the longest name first: @guest-two before @guest
  return value.split(/(```[\s\S]*?```|`[^`\n]*`)/).map((part, index) => (index % 2 ? part : marked(part, marks))).join("");
}

function marked(text, marks) {
  let out = "";
  let at = 0;
  while (at < text.length) {
    const starts = (text[at] === "@" || text[at] === "#") && !/[\p{L}\p{N}<\\]/u.test(text[at - 1] ?? " ");
    const hit = starts && marks.find(([shown]) => text.startsWith(shown, at) && !/[\p{L}\p{N}_-]/u.test(text[at + shown.length] ?? " "));
    if (hit) {
      out += hit[1];
      at += hit[0].length;
    } else {
      out += text[at];
      at += 1;
    }
  }
  return out;
}

/** The other way, for editing what was sent; left as it is when it would not come back the same. */
export function fromMarks(content, place, guild) {
  const shown = content
    .replace(/<@!?(\d+)>/g, (whole, id) => (state.users.has(id) ? `@${state.users.get(id).username}` : whole))
    .replace(/<@&(\d+)>/g, (whole, id) => (state.roles.has(id) ? `@${state.roles.get(id).name}` : whole))
    .replace(/<#(\d+)>/g, (whole, id) => (guild?.channels.some((item) => item.id === id) ? `#${channelName(state.channels.get(id))}` : whole));
  return toMarks(shown, place, guild) === content ? shown : content;
}
