// A list of suggestions under (here: over) a text field, worked by keyboard alone: arrows choose, Enter or Tab take,
// Escape leaves. Follows the combobox pattern of the ARIA Authoring Practices.
import { fill, h, uniqueId } from "../dom.js";

export class Suggestions {
  /**
   * @param {HTMLElement} input the field
   * @param {HTMLElement} box where the list lies
   * @param {string} label
   */
  constructor(input, box, label) {
    this.input = input;
    this.list = h("ul", { class: "suggestions", role: "listbox", id: uniqueId("suggestions"), "aria-label": label });
    this.list.hidden = true;
    box.append(this.list);
    this.options = [];
    this.at = 0;
    this.take = null;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", this.list.id);
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-haspopup", "listbox");
    input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  get open() { return !this.list.hidden; }

  /** @param {Array<{label: string, detail?: string, node?: Node, value: any}>} options none closes the list */
  show(options, take) {
    if (!options.length) { this.close(); return; }
    this.options = options;
    this.take = take;
    this.at = 0;
    fill(this.list, options.map((option, index) => h("li", {
      role: "option", id: `${this.list.id}-${index}`, "aria-selected": String(index === 0),
      on: { mousedown: (event) => { event.preventDefault(); this.choose(index); } },
    }, option.node, h("span", { class: "suggestion-name", text: option.label }), option.detail && h("span", { class: "muted", text: option.detail }))));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.#mark();
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  choose(index = this.at) {
    const option = this.options[index];
    const take = this.take;
    this.close();
    if (option) take(option.value);
  }

  /** Whether the key was the list's. */
  key(event) {
    if (!this.open || event.isComposing) return false;
    const last = this.options.length - 1;
    const to = { ArrowDown: this.at === last ? 0 : this.at + 1, ArrowUp: this.at === 0 ? last : this.at - 1 }[event.key];
    if (to !== undefined) {
      this.at = to;
      this.#mark();
    } else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) this.choose();
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  #mark() {
    [...this.list.children].forEach((item, index) => {
      item.setAttribute("aria-selected", String(index === this.at));
      if (index === this.at) item.scrollIntoView({ block: "nearest" });
    });
    this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.at}`);
  }
}
