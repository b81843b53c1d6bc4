// What lies over the page: menus and dialogs. Owns opening, Escape, clicks outside, and giving the focus back.
import { fill, h, iconButton, icon, uniqueId } from "../dom.js";
import { roving } from "../focus.js";

let openMenu = null;

/**
 * A menu at a button.
 * @param {HTMLElement} anchor
 * @param {string} label
 * @param {Array<{label: string, icon?: string, run: Function, danger?: boolean, checked?: boolean} | null>} items null draws a line
 */
export function showMenu(anchor, label, items) {
  closeMenu();
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label, tabindex: "-1" });
  for (const item of items) {
    if (!item) {
      menu.append(h("div", { class: "menu-line", role: "separator" }));
      continue;
    }
    const role = item.checked === undefined ? "menuitem" : "menuitemradio";
    menu.append(h("button", {
      type: "button", role, class: item.danger ? "menu-item danger" : "menu-item", tabindex: "-1",
      "aria-checked": item.checked === undefined ? null : String(item.checked),
      on: { click: () => { closeMenu(); item.run(); } },
    }, item.icon ? icon(item.icon) : h("span", { class: "icon" }), h("span", { text: item.label }), item.checked && h("span", { class: "menu-check" }, icon("check"))));
  }
  roving(menu, "[role^=menuitem]");
  place(menu, anchor);
  openMenu = { menu, anchor };
  anchor.setAttribute("aria-expanded", "true");
  menu.querySelector("[aria-checked=true], [role^=menuitem]")?.focus();
}

/** Put a floating box beside its anchor, inside the window. */
export function place(box, anchor) {
  document.body.append(box);
  const at = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.right - size.width, innerWidth - size.width - 8));
  const below = at.bottom + 6;
  const top = below + size.height > innerHeight - 8 ? Math.max(8, at.top - size.height - 6) : below;
  box.style.setProperty("left", `${Math.max(8, Math.min(Math.max(left, 8), at.left < 240 && at.left + size.width < innerWidth ? at.left : left))}px`);
  box.style.setProperty("top", `${top}px`);
}

export function closeMenu({ focus = true } = {}) {
  if (!openMenu) return false;
  const { menu, anchor } = openMenu;
  openMenu = null;
  menu.remove();
  anchor.setAttribute("aria-expanded", "false");
  if (focus) (anchor.isConnected ? anchor : document.querySelector(".composer textarea"))?.focus();
  return true;
}

document.addEventListener("pointerdown", (event) => {
  if (openMenu && !openMenu.menu.contains(event.target)) closeMenu({ focus: false });
});
document.addEventListener("keydown", (event) => {
  if (openMenu && (event.key === "Escape" || event.key === "Tab")) {
    event.preventDefault();
    event.stopPropagation();
    closeMenu();
  }
}, true);
addEventListener("resize", () => closeMenu({ focus: false }));

/** A modal dialog. The browser keeps the focus inside, and gives it back. */
export function showDialog(title, build, { wide = false } = {}) {
  const titleId = uniqueId("dialog");
  const before = document.activeElement;
  const dialog = h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-labelledby": titleId });
  const close = () => dialog.close();
  const body = h("div", { class: "dialog-body" });
  dialog.append(h("header", { class: "dialog-head" }, h("h2", { id: titleId, text: title }), iconButton("close", "Close", close)), body);
  fill(body, build(close));
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
    else document.querySelector(".composer textarea, #main")?.focus();
  });
  dialog.addEventListener("pointerdown", (event) => { if (event.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("[autofocus], input, select, textarea")?.focus();
  return close;
}

/**
 * A dialog with a form.
 * @param {object} options `title`, `about`, `fields: [{name, label, type, value, required, options, hint}]`, `submit`
 *   (the button's word), `run(values)`: resolves to false to keep the dialog open.
 */
export function askForm({ title, about, fields, submit, run, danger = false }) {
  showDialog(title, (close) => {
    const inputs = new Map();
    const rows = fields.map((field) => {
      const input = inputFor(field);
      inputs.set(field.name, [field, input]);
      return labelled(field, input);
    });
    const form = h("form", { class: "form" }, about && h("p", { class: "muted", text: about }), rows,
      h("div", { class: "form-actions" },
        h("button", { type: "button", class: "button quiet", text: "Cancel", on: { click: close } }),
        h("button", { type: "submit", class: danger ? "button danger" : "button primary", text: submit })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const values = Object.fromEntries([...inputs].map(([name, [field, input]]) => [name, valueOf(field, input)]));
      const button = form.querySelector("[type=submit]");
      button.disabled = true;
      if ((await run(values)) !== false) close();
      button.disabled = false;
    });
    return form;
  });
}

export function inputFor(field) {
  const shared = { name: field.name, required: field.required ?? false };
  if (field.type === "choice") {
    return h("select", shared, field.options.map(([value, label]) => h("option", { value, text: label, selected: value === field.value })));
  }
  if (field.type === "text") return h("textarea", { ...shared, rows: field.rows ?? 3, maxlength: field.maxlength ?? 2000 }, field.value ?? "");
  if (field.type === "flag") return h("input", { ...shared, required: false, type: "checkbox", checked: field.value });
  return h("input", {
    ...shared, type: field.type ?? "text", value: field.value ?? "", maxlength: field.maxlength, min: field.min, max: field.max, step: field.step,
    autocomplete: "off", placeholder: field.placeholder,
  });
}

export function valueOf(field, input) {
  if (field.type === "flag") return input.checked;
  if (field.type === "number") return input.value === "" ? null : Number(input.value);
  return input.value;
}

export function labelled(field, input) {
  const id = uniqueId("field");
  input.id = id;
  const hint = field.hint ? h("span", { class: "hint", id: `${id}-hint`, text: field.hint }) : null;
  if (hint) input.setAttribute("aria-describedby", hint.id);
  const label = h("label", { for: id, text: field.label });
  return field.type === "flag"
    ? h("div", { class: "field field-flag" }, input, label, hint)
    : h("div", { class: "field" }, label, input, hint);
}
