// Where messages are written: text with suggestions, a reply, files, and the way into slash commands.
import { fill, h, icon, iconButton } from "../dom.js";
import { toast } from "../feedback.js";
import { can, channel, channelName, guildOf, holdsMessages, isThread, names, on, state, TYPE } from "../store.js";
import { plainText } from "../text/markdown.js";
import { suggestionsFor, toMarks, wordAt } from "../text/mentions.js";
import { Suggestions } from "./combobox.js";
import { authorName } from "./message.js";
import { size } from "./parts.js";
import { CommandForm, commandsFor } from "./slash.js";

const MOST_FILES = 10; // Discord's, a message
const MOST_BYTES = 25 * 1_048_576; // the simulator's, a message
const TYPING_EVERY_MS = 8_000; // it is shown for ten seconds

export class Composer {
  /** @param {object} acts `send(draft)`, `typing()`, `editLast()`, `useCommand(command, options)`, `complete(…)` */
  constructor(acts) {
    this.acts = acts;
    this.form = document.getElementById("composer");
    this.replyTo = null;
    this.ping = true;
    this.files = [];
    this.drafts = new Map(); // by person and channel
    this.lastTyping = 0;
    this.command = null;
    this.#build();
    on("world", () => this.#placed());
  }

  #build() {
    this.area = h("textarea", { rows: "1", maxlength: "4000", "aria-label": "Message", placeholder: "Message" });
    this.picker = h("input", { type: "file", multiple: true, class: "visually-hidden", tabindex: "-1", "aria-hidden": "true" });
    this.top = h("div", { class: "composer-top" });
    this.sendButton = h("button", { type: "submit", class: "send-button", "aria-label": "Send", title: "Send (Enter)" }, icon("send"));
    this.attach = iconButton("clip", "Attach files", () => this.picker.click());
    this.slashButton = iconButton("slash", "Use a command", () => { this.area.value = "/"; this.area.focus(); this.#suggest(); });
    this.row = h("div", { class: "composer-row" }, this.attach, this.area, this.slashButton, this.sendButton);
    this.note = h("p", { class: "composer-note", hidden: true });
    fill(this.form, this.top, this.row, this.note, this.picker);
    this.suggestions = new Suggestions(this.area, this.form, "Suggestions");
    this.area.addEventListener("input", () => { this.#grow(); this.#suggest(); this.#typing(); });
    this.area.addEventListener("click", () => this.#suggest());
    this.area.addEventListener("keydown", (event) => this.#key(event));
    this.area.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length) { event.preventDefault(); this.addFiles(files); }
    });
    this.picker.addEventListener("change", () => { this.addFiles([...this.picker.files]); this.picker.value = ""; this.area.focus(); });
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.#send(); });
    const main = document.getElementById("main");
    main.addEventListener("dragover", (event) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      main.classList.add("dropping");
    });
    main.addEventListener("dragleave", (event) => { if (!main.contains(event.relatedTarget)) main.classList.remove("dropping"); });
    main.addEventListener("drop", (event) => {
      main.classList.remove("dropping");
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length) { event.preventDefault(); this.addFiles(files); }
    });
  }

  /** The place changed: keep what was being written there, bring back what was being written here. */
  enter(key) {
    if (this.key !== undefined) this.drafts.set(this.key, this.area.value);
    this.key = key;
    this.area.value = this.drafts.get(key) ?? "";
    this.replyTo = null;
    this.#dropFiles();
    this.leaveCommand();
    this.#drawTop();
    this.#grow();
    this.#placed();
  }

  focus() { (this.command?.first ?? this.area).focus(); }

  reply(message) {
    this.leaveCommand();
    this.replyTo = message;
    this.ping = message.author.id !== state.meId;
    this.#drawTop();
    this.area.focus();
  }

  addFiles(files) {
    if (!can("attach")) {
      toast("You may not attach files here.", "Ask who manages the server for the permission, or speak as someone who has it.");
      return;
    }
    for (const file of files) {
      if (this.files.length >= MOST_FILES) {
        toast(`A message holds at most ${MOST_FILES} files.`, "Send the others with another message.");
        break;
      }
      const total = this.files.reduce((sum, each) => sum + each.file.size, file.size);
      if (total > MOST_BYTES) {
        toast(`${file.name} is too large.`, `All files of a message together may have ${size(MOST_BYTES)}.`);
        continue;
      }
      this.files.push({ file, preview: file.type.startsWith("image/") ? URL.createObjectURL(file) : null });
    }
    this.#drawTop();
  }

  leaveCommand() {
    if (!this.command) return;
    this.command.remove();
    this.command = null;
    this.row.hidden = false;
  }

  #placed() {
    const place = channel();
    const holds = holdsMessages(place);
    this.form.hidden = !place || place.type === TYPE.forum;
    const may = holds && can("send") && !place.thread_metadata?.locked;
    const label = place ? `Message ${place.type === TYPE.dm || isThread(place) ? "" : "#"}${channelName(place)}` : "Message";
    this.area.placeholder = label;
    this.area.setAttribute("aria-label", label);
    this.row.hidden = !may || this.command !== null;
    this.note.hidden = may;
    this.note.textContent = place?.thread_metadata?.locked ? "This thread is locked." : `${state.users.get(state.meId)?.global_name ?? "You"} may read here, and not write.`;
    this.attach.hidden = !can("attach");
    this.slashButton.hidden = !can("commands");
  }

  #key(event) {
    if (this.suggestions.key(event) || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "ArrowUp" && this.area.value === "") {
      event.preventDefault();
      this.acts.editLast();
    } else if (event.key === "Escape" && (this.replyTo || this.files.length)) {
      event.preventDefault();
      event.stopPropagation();
      this.replyTo = null;
      this.#dropFiles();
      this.#drawTop();
    }
  }

  #suggest() {
    const { value, selectionStart: caret } = this.area;
    if (value.startsWith("/") && !value.includes("\n")) {
      if (value === "/") this.acts.readCommands().then(() => { if (this.area.value === "/") this.#suggestCommands(""); });
      this.#suggestCommands(value.slice(1).toLowerCase());
      return;
    }
    const word = wordAt(value, caret);
    if (!word) { this.suggestions.close(); return; }
    this.suggestions.show(suggestionsFor(word, channel(), guildOf()), (shown) => {
      const before = value.slice(0, word.start);
      const after = value.slice(caret);
      this.area.value = `${before}${shown} ${after.replace(/^ /, "")}`;
      const at = before.length + shown.length + 1;
      this.area.setSelectionRange(at, at);
      this.area.focus();
      this.#grow();
    });
  }

  #suggestCommands(query) {
    const found = commandsFor(channel()).filter((command) => command.title.toLowerCase().includes(query));
    found.sort((a, b) => Number(b.title.startsWith(query)) - Number(a.title.startsWith(query)));
    this.suggestions.show(found.slice(0, 12).map((command) => ({
      label: `/${command.title}`, detail: `${command.description} · ${command.botName}`, node: icon("slash"), value: command,
    })), (command) => this.#enterCommand(command));
  }

  #enterCommand(command) {
    this.area.value = "";
    this.#grow();
    this.leaveCommand();
    this.command = new CommandForm(command, {
      run: async (options) => {
        if (await this.acts.useCommand(command, options)) { this.leaveCommand(); this.#placed(); this.area.focus(); }
      },
      cancel: () => { this.leaveCommand(); this.#placed(); this.area.focus(); },
      complete: (options) => this.acts.complete(command, options),
    });
    this.row.hidden = true;
    this.row.before(this.command.element);
    this.command.first.focus();
  }

  #typing() {
    const now = Date.now();
    if (!this.area.value || this.area.value.startsWith("/") || now - this.lastTyping < TYPING_EVERY_MS) return;
    this.lastTyping = now;
    this.acts.typing();
  }

  async #send() {
    const written = this.area.value.trim();
    if (!written && !this.files.length) return;
    const draft = { content: toMarks(written, channel(), guildOf()), files: this.files.map((each) => each.file), replyTo: this.replyTo?.id ?? null, ping: this.ping };
    const { value } = this.area;
    const { files, replyTo } = this;
    this.area.value = "";
    this.files = [];
    this.replyTo = null;
    this.lastTyping = 0;
    this.suggestions.close();
    this.#drawTop();
    this.#grow();
    if (await this.acts.send(draft)) {
      for (const each of files) if (each.preview) URL.revokeObjectURL(each.preview);
      return;
    }
    // It was refused, and the reader told why: what was written comes back.
    if (!this.area.value) this.area.value = value;
    this.files = files;
    this.replyTo = replyTo;
    this.#drawTop();
    this.#grow();
  }

  #dropFiles() {
    for (const each of this.files) if (each.preview) URL.revokeObjectURL(each.preview);
    this.files = [];
  }

  #drawTop() {
    fill(this.top, this.replyTo && this.#replyBar(), this.files.length > 0 && h("ul", { class: "upload-list", "aria-label": "Files to send" }, this.files.map((each, index) => this.#fileCard(each, index))));
  }

  #replyBar() {
    const guild = guildOf();
    const name = authorName(this.replyTo, guild);
    const ping = h("button", {
      type: "button", class: "ping", "aria-pressed": String(this.ping), text: this.ping ? "@ on" : "@ off", title: "Whether the reply mentions its author", "aria-label": "Mention the author of the message",
      on: { click: () => { this.ping = !this.ping; this.#drawTop(); this.top.querySelector(".ping")?.focus(); } },
    });
    return h("div", { class: "reply-bar" }, icon("reply"), h("span", { class: "reply-bar-text" }, "Replying to ", h("strong", { text: name }), h("span", { class: "muted", text: ` ${plainText(this.replyTo.content ?? "", names(guild))}` })),
      ping, iconButton("close", "Reply to nobody", () => { this.replyTo = null; this.#drawTop(); this.area.focus(); }, { class: "tiny" }));
  }

  #fileCard({ file, preview }, index) {
    return h("li", { class: "upload" }, preview ? h("img", { src: preview, alt: "" }) : icon("file"),
      h("span", { class: "upload-name", text: file.name }), h("span", { class: "muted", text: size(file.size) }),
      iconButton("close", `Leave out ${file.name}`, () => {
        if (preview) URL.revokeObjectURL(preview);
        this.files.splice(index, 1);
        this.#drawTop();
        this.area.focus();
      }, { class: "tiny" }));
  }

  #grow() {
    this.area.style.setProperty("height", "auto");
    this.area.style.setProperty("height", `${Math.min(this.area.scrollHeight, 220)}px`);
    this.form.classList.toggle("has-text", this.area.value.trim() !== "" || this.files.length > 0);
  }
}
