// Slash commands: which there are, and the form of one with its options. What is run goes to the bot by `acts.run`.
import { h, icon, iconButton } from "../dom.js";
import { channelName, guildOf, channel, state, TYPE } from "../store.js";
import { inputFor, labelled } from "./overlay.js";
import { Suggestions } from "./combobox.js";

const OPTION = { sub: 1, group: 2, text: 3, integer: 4, flag: 5, user: 6, channel: 7, role: 8, mentionable: 9, number: 10, file: 11 };
const COMPLETE_AFTER_MS = 250;

/** The commands one can use in a place; each subcommand is an entry of its own. */
export function commandsFor(place) {
  return (state.commands.get(place?.id) ?? []).filter((command) => (command.type ?? 1) === 1).flatMap((command) => leaves(command));
}

function leaves(command) {
  const bot = state.world.applications.find((item) => item.id === command.application_id);
  const shared = { id: command.id, applicationId: command.application_id, botName: bot?.name ?? "a bot" };
  const walk = (options, path, description) => {
    const nested = (options ?? []).filter((option) => option.type <= OPTION.group);
    if (!nested.length) return [{ ...shared, title: [command.name, ...path.map((step) => step.name)].join(" "), description, path, options: options ?? [] }];
    return nested.flatMap((option) => walk(option.options, [...path, { name: option.name, type: option.type }], option.description));
  };
  return walk(command.options, [], command.description);
}

export class CommandForm {
  /** @param {object} acts `run(options)`, `cancel()`, `complete(options)`: resolves to [{name, value}] */
  constructor(command, acts) {
    this.command = command;
    this.acts = acts;
    this.inputs = [];
    const usable = command.options.filter((option) => option.type !== OPTION.file);
    this.element = h("div", { class: "command-form", role: "group", "aria-label": `Command /${command.title}` },
      h("div", { class: "command-head" }, icon("slash"), h("strong", { text: command.title }), h("span", { class: "muted", text: command.description }),
        iconButton("close", "Use no command", () => acts.cancel(), { class: "tiny" })),
      h("div", { class: "command-options" }, usable.map((option) => this.#field(option))),
      usable.length < command.options.length && h("p", { class: "hint", text: "An option that takes a file is left out: this page does not send files with commands." }));
    this.button = h("button", { type: "button", class: "button primary small", text: "Run", on: { click: () => this.#run() } });
    this.element.append(h("div", { class: "form-actions" }, this.button));
    this.element.addEventListener("keydown", (event) => {
      if (event.defaultPrevented) return;
      if (event.key === "Enter" && event.target.matches("input, select") && !event.isComposing) { event.preventDefault(); this.#run(); }
      if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); acts.cancel(); }
    });
  }

  get first() { return this.inputs[0]?.input ?? this.button; }

  remove() { this.element.remove(); }

  #field(option) {
    const hint = option.description;
    const shared = { name: option.name, label: option.required ? option.name : `${option.name} (optional)`, required: option.required, hint };
    const choices = this.#choices(option);
    let input;
    if (choices) input = inputFor({ ...shared, type: "choice", options: option.required ? choices : [["", "not given"], ...choices] });
    else if (option.type === OPTION.integer || option.type === OPTION.number) input = inputFor({ ...shared, type: "number", min: option.min_value, max: option.max_value, step: option.type === OPTION.integer ? 1 : "any" });
    else input = inputFor({ ...shared, maxlength: option.max_length ?? 6000 });
    this.inputs.push({ option, input });
    const field = labelled(shared, input);
    if (option.autocomplete) this.#completing(option, input, field);
    return field;
  }

  #choices(option) {
    const guild = guildOf();
    const members = guild ? guild.members.map((member) => member.user_id) : channel()?.recipients ?? [];
    const people = members.map((id) => [id, state.users.get(id)?.global_name || state.users.get(id)?.username || id]);
    const roles = (guild?.roles ?? []).map((role) => [role.id, role.name]);
    if (option.choices?.length) return option.choices.map((choice) => [String(choice.value), choice.name]);
    switch (option.type) {
      case OPTION.flag: return [["true", "yes"], ["false", "no"]];
      case OPTION.user: return people;
      case OPTION.role: return roles;
      case OPTION.mentionable: return [...people, ...roles];
      case OPTION.channel: return (guild?.channels ?? []).filter((item) => item.type !== TYPE.category).map((item) => [item.id, channelName(item)]);
      default: return null;
    }
  }

  #completing(option, input, field) {
    field.classList.add("field-completing");
    const list = new Suggestions(input, field, `Suggestions for ${option.name}`);
    let timer = null;
    let asked = 0;
    input.addEventListener("keydown", (event) => list.key(event));
    const ask = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const turn = (asked += 1);
        const choices = await this.acts.complete(this.#nested(this.#values(option.name)));
        if (turn !== asked || document.activeElement !== input) return;
        list.show((choices ?? []).map((choice) => ({ label: choice.name, value: choice })), (choice) => {
          input.value = choice.name;
          input.dataset.value = String(choice.value);
        });
      }, COMPLETE_AFTER_MS);
    };
    input.addEventListener("input", () => { delete input.dataset.value; ask(); });
    input.addEventListener("focus", ask);
  }

  #values(focused = null) {
    return this.inputs.filter(({ input, option }) => input.value !== "" || option.name === focused).map(({ option, input }) => {
      const value = typed(option, input.dataset.value ?? input.value);
      return option.name === focused ? { name: option.name, type: option.type, value: input.value, focused: true } : { name: option.name, type: option.type, value };
    });
  }

  #nested(values) {
    return this.command.path.reduceRight((inner, step) => [{ name: step.name, type: step.type, options: inner }], values);
  }

  #run() {
    for (const { input } of this.inputs) if (!input.reportValidity()) return;
    this.acts.run(this.#nested(this.#values()));
  }
}

function typed(option, value) {
  if (option.type === OPTION.integer || option.type === OPTION.number) return Number(value);
  if (option.type === OPTION.flag) return value === "true";
  return value;
}
