// Buttons and selects that a bot put under its message. What is chosen goes to the bot through `acts.component`.
import { h, uniqueId } from "../dom.js";
import { link, renderMarkdown } from "../text/render.js";
import { names, state, guildOf } from "../store.js";

const KIND = { row: 1, button: 2, select: 3, user: 5, role: 6, mentionable: 7, channel: 8, section: 9, text: 10, thumbnail: 11, gallery: 12, file: 13, separator: 14, container: 17 };
const STYLES = { 1: "primary", 2: "quiet", 3: "good", 4: "danger" };

export function components(message, acts) {
  if (!message.components?.length) return null;
  return h("div", { class: "components", role: "group", "aria-label": "Choices of this message" }, message.components.map((item) => component(item, message, acts)));
}

function component(item, message, acts) {
  switch (item.type) {
    case KIND.row: return h("div", { class: "component-row" }, item.components.map((each) => component(each, message, acts)));
    case KIND.section: return h("div", { class: "component-row" }, item.components.map((each) => component(each, message, acts)), item.accessory && component(item.accessory, message, acts));
    case KIND.container: return h("div", { class: "embed" }, item.components.map((each) => component(each, message, acts)));
    case KIND.text: return h("div", {}, renderMarkdown(item.content ?? "", names(guildOf(state.channels.get(message.channel_id)), acts.openChannel)));
    case KIND.separator: return h("hr");
    case KIND.button: return button(item, message, acts);
    case KIND.select: case KIND.user: case KIND.role: case KIND.mentionable: case KIND.channel: return select(item, message, acts);
    default: return h("p", { class: "hint", text: "A part that this page does not draw." });
  }
}

function button(item, message, acts) {
  const label = [item.emoji?.name, item.label].filter(Boolean).join(" ") || "Button";
  if (item.url) return link(item.url, [label]);
  return h("button", {
    type: "button", class: `button small ${STYLES[item.style] ?? "quiet"}`, disabled: item.disabled, text: label,
    data: { key: `${message.id}/${item.custom_id}` },
    on: { click: (event) => acts.component(message, item, [], event.currentTarget) },
  });
}

function select(item, message, acts) {
  const id = uniqueId("select");
  const several = (item.max_values ?? 1) > 1;
  const label = item.placeholder || (several ? "Choose some" : "Choose one");
  const box = h("select", { id, multiple: several, disabled: item.disabled, data: { key: `${message.id}/${item.custom_id}` } },
    several ? null : h("option", { value: "", text: label }),
    optionsOf(item, message).map(([value, text, chosen]) => h("option", { value, text, selected: chosen })));
  const send = () => acts.component(message, item, [...box.selectedOptions].map((option) => option.value).filter(Boolean), box);
  if (!several) box.addEventListener("change", send);
  return h("div", { class: "component-select" }, h("label", { for: id, text: label }), box,
    several && h("button", { type: "button", class: "button small quiet", text: "Send choice", on: { click: send } }));
}

function optionsOf(item, message) {
  const guild = guildOf(state.channels.get(message.channel_id));
  const users = () => [...state.users.values()].filter((user) => !guild || guild.members.some((member) => member.user_id === user.id))
    .map((user) => [user.id, user.global_name || user.username, false]);
  const roles = () => (guild?.roles ?? []).map((role) => [role.id, `@${role.name.replace(/^@/, "")}`, false]);
  switch (item.type) {
    case KIND.user: return users();
    case KIND.role: return roles();
    case KIND.mentionable: return [...users(), ...roles()];
    case KIND.channel: return (guild?.channels ?? []).map((channel) => [channel.id, `#${channel.name}`, false]);
    default: return (item.options ?? []).map((option) => [option.value, option.label, option.default ?? false]);
  }
}
