// Calls of commands: what is read, what is written, and what is said about it.

import { $, el } from "./dom.js";
import { about, route } from "./place.js";

const named = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== false));

// Calls a command and returns data, warnings and lines; throws what the command says is wrong.
export async function call(name, given = {}, signal) {
  const kept = named(given);
  const body = JSON.stringify(route.agent ? { agent_id: route.agent, ...kept } : kept);
  let answer;
  try {
    answer = await fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setState(false);
    throw new Error("mabos ui does not answer. Is it still running?");
  }
  const found = await answer.json();
  if (found.error) throw Object.assign(new Error(found.error.message), { code: found.error.code, hint: found.error.hint });
  return found;
}
export const ask = async (name, given, signal) => (await call(name, given, signal)).data;

// Gives something else, with the trouble, where a part of a view cannot be had.
export const orElse = (promise, otherwise) =>
  promise.catch((error) => {
    if (error.name === "AbortError") throw error;
    return { ...otherwise, trouble: error };
  });

export function setState(connected) {
  $("state").textContent = connected ? (about.read_only ? "live, read-only" : "live") : "not connected";
  $("state").classList.toggle("off", !connected);
}

// ---- writing ----

let undo = null; // what the last note offers to take back
export const takeBack = () => undo && undo();

// What a page has shown goes along with a change: {call, arguments, has}. The server refuses it if that is no longer so.
export const seen = (name, has, given = {}) => ({ call: name, arguments: route.agent ? { agent_id: route.agent, ...named(given) } : given, has });

export async function write(name, given, done, back = null) {
  try {
    const answer = await call(name, given);
    say(done, back);
    answer.warnings.forEach((warning) => say(warning));
    return answer;
  } catch (error) {
    say(`${error.message}${error.hint ? ` (${error.hint})` : ""}`);
    return null;
  } finally {
    dispatchEvent(new Event("written"));
  }
}

export function say(text, back = null) {
  const close = () => {
    note.remove();
    if (undo === act) undo = null;
  };
  const act = () => { close(); back(); };
  const note = el("div", { class: "note" }, text, back && el("button", { type: "button", onclick: act }, "Undo ", el("kbd", {}, "u")));
  if (back) undo = act;
  $("notes").append(note);
  while ($("notes").children.length > 4) $("notes").firstChild.remove();
  setTimeout(close, back ? 20_000 : 8_000);
}

// Asks for a few texts in a dialog, about something; null when nobody wants to go on.
export function question(title, fields, action, what = "") {
  const dialog = $("dialog");
  return new Promise((resolve) => {
    const inputs = fields.map((field) => el("input", { name: field.name, value: field.value || "", required: field.required, autocomplete: "off" }));
    const end = (value) => { resolve(value); dialog.close(); };
    const submit = (event) => {
      event.preventDefault();
      const missing = inputs.find((input) => input.required && !input.value.trim());
      if (missing) missing.focus();
      else end(Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()])));
    };
    const form = el("form", { onsubmit: submit }, el("h2", { id: "dialog-title" }, title), what && el("blockquote", { class: "text cut" }, what.slice(0, 600)),
      fields.map((field, n) => el("label", {}, el("span", {}, field.label), inputs[n])),
      el("div", { class: "acts" }, el("button", { class: "main", type: "submit" }, action), el("button", { type: "button", onclick: () => end(null) }, "Cancel")));
    dialog.replaceChildren(form);
    dialog.onclose = () => resolve(null);
    dialog.showModal();
    (inputs[0] || form.querySelector("button")).focus();
  });
}
export const REASON = { name: "reason", label: "Why (kept with the decision)" };

// A button that writes; its key works while its row or its panel has the focus.
export const button = (label, act, key = "", kind = "") =>
  el("button", { type: "button", class: kind, "data-key": key, disabled: about.read_only, onclick: (event) => { event.preventDefault(); act(); } }, label, key && el("kbd", {}, key));
