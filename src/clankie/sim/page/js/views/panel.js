// The strip on the right: the way of a message, bots, faults, members. Owns its tabs and whether it is shown.
import { fill, h, icon, iconButton } from "../dom.js";
import { roving } from "../focus.js";

const KEPT = "clankie-sim:panel";

export class Panel {
  /** @param {Array<{key, label, icon, view}>} tabs a view has `element`, `shown()`, `hidden()` */
  constructor(tabs) {
    this.tabs = tabs;
    this.root = document.getElementById("panel");
    this.buttons = document.getElementById("panel-buttons");
    this.current = null;
    this.opened = null;
    this.list = h("div", { class: "panel-tabs", role: "tablist", "aria-label": "Beside the conversation" }, tabs.map((tab) => h("button", {
      type: "button", role: "tab", id: `tab-${tab.key}`, "aria-controls": `panel-${tab.key}`, "aria-selected": "false", tabindex: "-1", title: tab.label, "aria-label": tab.label,
      on: { click: () => this.show(tab.key) },
    }, icon(tab.icon))));
    this.title = h("h2", { class: "panel-title" });
    this.body = h("div", { class: "panel-body" });
    fill(this.root, h("header", { class: "panel-head" }, this.list, iconButton("close", "Close the strip", () => this.close())), this.title, this.body);
    roving(this.list, "[role=tab]", { horizontal: true, onKey: (event, item) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return false;
      const at = this.tabs.findIndex((tab) => `tab-${tab.key}` === item.id);
      const to = this.tabs.at((at + (event.key === "ArrowRight" ? 1 : -1)) % this.tabs.length);
      event.preventDefault();
      this.show(to.key);
      document.getElementById(`tab-${to.key}`).focus();
      return true;
    } });
    fill(this.buttons, tabs.map((tab) => iconButton(tab.icon, tab.label, (event) => this.toggle(tab.key, event.currentTarget), { "aria-pressed": "false", data: { tab: tab.key } })));
    const kept = localStorage.getItem(KEPT);
    if (kept !== "" && innerWidth > 1100) this.show(tabs.some((tab) => tab.key === kept) ? kept : tabs[0].key);
  }

  toggle(key, button) {
    if (this.current?.key === key) this.close();
    else {
      this.opened = button;
      this.show(key);
      if (innerWidth <= 1100) document.getElementById(`tab-${key}`).focus();
    }
  }

  show(key) {
    const tab = this.tabs.find((item) => item.key === key);
    if (this.current !== tab) this.current?.view.hidden?.();
    this.current = tab;
    localStorage.setItem(KEPT, key);
    document.body.classList.add("panel-open");
    this.root.hidden = false;
    this.title.textContent = tab.label;
    tab.view.element.id = `panel-${key}`;
    tab.view.element.setAttribute("role", "tabpanel");
    tab.view.element.setAttribute("aria-labelledby", `tab-${key}`);
    fill(this.body, tab.view.element);
    for (const button of this.list.children) {
      const chosen = button.id === `tab-${key}`;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    for (const button of this.buttons.children) button.setAttribute("aria-pressed", String(button.dataset.tab === key));
    tab.view.shown?.();
  }

  close() {
    if (!this.current) return false;
    const key = this.current.key;
    this.current.view.hidden?.();
    this.current = null;
    localStorage.setItem(KEPT, "");
    const inside = this.root.contains(document.activeElement);
    this.root.hidden = true;
    document.body.classList.remove("panel-open");
    for (const button of this.buttons.children) button.setAttribute("aria-pressed", "false");
    if (inside) [...this.buttons.children].find((button) => button.dataset.tab === key)?.focus();
    return true;
  }
}
