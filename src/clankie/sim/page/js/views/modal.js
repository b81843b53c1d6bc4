// A form that a bot answered an interaction with. Owns drawing it; what is entered goes to `send`.
import { h } from "../dom.js";
import { inputFor, labelled, showDialog } from "./overlay.js";

const TEXT = 4;
const SELECT = 3;
const LABEL = 18;

/** @param {object} modal as Discord's object. @param {Function} send takes what was entered as Discord's components */
export function showModal(modal, send) {
  showDialog(modal.title ?? "A question", (close) => {
    const inputs = [];
    const fields = (modal.components ?? []).flatMap((row) => parts(row)).map(({ item, label, hint }) => {
      const input = item.type === SELECT
        ? inputFor({ name: item.custom_id, type: "choice", required: item.required, options: (item.options ?? []).map((option) => [option.value, option.label]) })
        : inputFor({ name: item.custom_id, type: item.style === 2 ? "text" : undefined, required: item.required ?? true, value: item.value, maxlength: item.max_length ?? 4000, placeholder: item.placeholder });
      if (item.min_length) input.minLength = item.min_length;
      inputs.push({ item, input });
      return labelled({ label: label || item.custom_id, hint }, input);
    });
    const form = h("form", { class: "form" }, fields,
      h("div", { class: "form-actions" }, h("button", { type: "button", class: "button quiet", text: "Cancel", on: { click: close } }), h("button", { type: "submit", class: "button primary", text: "Send" })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const entered = new Map(inputs.map(({ item, input }) => [item.custom_id, input.value]));
      if (await send((modal.components ?? []).map((row) => answered(row, entered)))) close();
    });
    return form;
  });
}

function parts(row) {
  if (row.type === LABEL) return [{ item: row.component, label: row.label, hint: row.description }];
  return (row.components ?? []).map((item) => ({ item, label: item.label }));
}

function answered(row, entered) {
  const one = (item) => ({ type: item.type, custom_id: item.custom_id, ...(item.type === TEXT ? { value: entered.get(item.custom_id) ?? "" } : { values: [entered.get(item.custom_id)].filter(Boolean) }) });
  return row.type === LABEL ? { type: LABEL, component: one(row.component) } : { type: 1, components: (row.components ?? []).map(one) };
}
