// Switches that make the simulated Discord fail, each with what it does. Owns the faults tab.
import { api } from "../api.js";
import { fill, h, uniqueId } from "../dom.js";
import { announce, trying } from "../feedback.js";
import { keepingFocus } from "../focus.js";

export class Faults {
  constructor() {
    this.element = h("div", { class: "faults" });
    this.visible = false;
    this.settings = new Map(); // what was typed into a switch's fields, by fault and field
  }

  shown() { this.visible = true; this.load(); }
  hidden() { this.visible = false; }

  async load() {
    if (!this.visible) return;
    const found = await trying(() => api.get("/faults"));
    if (found) this.#draw(found.faults);
  }

  #draw(faults) {
    const active = faults.filter((fault) => fault.on).length;
    const groups = Map.groupBy ? Map.groupBy(faults, (fault) => fault.group) : faults.reduce((map, fault) => map.set(fault.group, [...(map.get(fault.group) ?? []), fault]), new Map());
    keepingFocus(this.element, () => fill(this.element,
      h("div", { class: "faults-head" }, h("p", { class: "muted", text: active ? `${active} switched on.` : "Everything works. Each switch makes Discord fail in one way, so that you can see what a bot does about it." }),
        active > 0 && h("button", { type: "button", class: "button small quiet", text: "All off", data: { key: "all-off" }, on: { click: () => this.#allOff() } })),
      [...groups].map(([name, members]) => h("section", {}, h("h3", { text: name }), members.map((fault) => this.#row(fault))))));
  }

  #row(fault) {
    const about = uniqueId("about");
    const state = fault.on ? (fault.left === null ? "on until cleared" : `on, ${fault.left} left`) : null;
    return h("div", { class: fault.on ? "fault on" : "fault" },
      h("div", { class: "fault-head" }, h("strong", { text: fault.title }), state && h("span", { class: "fault-state", text: state })),
      h("p", { class: "muted", id: about, text: fault.about }),
      h("div", { class: "fault-controls" }, fault.fields.map((field) => this.#field(fault, field)),
        fault.on
          ? h("button", { type: "button", class: "button small quiet", text: "Off", "aria-label": `Switch off: ${fault.title}`, data: { key: fault.name }, on: { click: () => this.#off(fault) } })
          : h("button", { type: "button", class: "button small", text: "On", "aria-label": `Switch on: ${fault.title}`, "aria-describedby": about, data: { key: fault.name }, on: { click: () => this.#on(fault) } })));
  }

  #field(fault, field) {
    const key = `${fault.name}.${field.name}`;
    const id = uniqueId("fault");
    const input = field.options
      ? h("select", { id }, field.options.map(([value, label]) => h("option", { value, text: label, selected: value === this.settings.get(key) })))
      : h("input", { id, type: "number", min: field.min, max: field.max, step: field.step ?? 1, value: this.settings.get(key) ?? field.value, placeholder: field.placeholder });
    input.addEventListener("input", () => this.settings.set(key, input.value));
    return h("div", { class: "fault-field" }, h("label", { for: id, text: field.label }), input);
  }

  async #on(fault) {
    const values = Object.fromEntries(fault.fields.map((field) => {
      const value = this.settings.get(`${fault.name}.${field.name}`) ?? field.value ?? field.options?.[0]?.[0] ?? "";
      return [field.name, field.options ? value : value === "" ? null : Number(value)];
    }));
    const done = await trying(() => api.post(`/faults/${fault.name}`, values));
    if (done) {
      announce(`${fault.title}: on`);
      this.#draw(done.faults);
    }
  }

  async #off(fault) {
    const done = await trying(() => api.delete(`/faults/${fault.name}`));
    if (done) { announce(`${fault.title}: off`); this.#draw(done.faults); }
  }

  async #allOff() {
    const done = await trying(() => api.delete("/faults"));
    if (done) { announce("All faults are off"); this.#draw(done.faults); this.element.querySelector("button")?.focus(); }
  }
}
