// What is asked for above a view. Each field is a parameter of the address; changing one asks again.

import { el } from "./dom.js";
import { route, setGiven } from "./place.js";

export function field(name, label, { tag = "input", wait = 160 } = {}) {
  let timer;
  const input = el(tag, { class: "find", name, type: tag === "input" ? "search" : null, placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: "false", value: route.given[name] });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => setGiven({ [name]: input.value, item: "" }), wait);
  });
  return input;
}

// A choice of values: [value, text] each; the first stands for what is usual.
export function choose(label, name, options) {
  const select = el("select", { name, onchange: () => setGiven({ [name]: select.value }) }, options.map(([value, text]) => el("option", { value, selected: (route.given[name] || "") === value }, text)));
  return el("label", {}, label, select);
}

export function tick(label, name) {
  const box = el("input", { type: "checkbox", name, checked: Boolean(route.given[name]), onchange: () => setGiven({ [name]: box.checked ? "1" : "" }) });
  return el("label", {}, box, label);
}

// A short text that narrows down: a tag, a commit.
export function word(label, name, hint) {
  const input = el("input", { name, size: 12, placeholder: hint, autocomplete: "off", spellcheck: "false", value: route.given[name], onchange: () => setGiven({ [name]: input.value.trim() }) });
  return el("label", {}, label, input);
}

export const filters = (...fields) => el("div", { class: "filters" }, fields);

// Fields that nobody is typing into follow the address.
export function followAddress(place) {
  for (const input of place.querySelectorAll("input[name], textarea[name], select[name]")) {
    if (input === document.activeElement) continue;
    if (input.type === "checkbox") input.checked = Boolean(route.given[input.name]);
    else input.value = route.given[input.name] || "";
  }
}
