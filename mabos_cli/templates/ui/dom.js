// Elements. Whatever comes from a workspace becomes a text node, never markup; the server's policy forbids anything else.

import { here } from "./place.js";

const SVG = new Set(["svg", "g", "path", "rect", "text", "title", "tspan"]);
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const ID = /[MFO]-(?:\d{10,}-[0-9a-f]{4,}|inf-[0-9a-f]{6,})\b/;
const LINKS = new RegExp(`\\[([^\\]\\n]*)\\]\\(([^)\\s]*)\\)|\\b${ID.source}`, "g"); // [text](target) of Markdown, and ids
const LONG = 4000; // characters of a text that are shown at once
const WHOLE = 200_000; // characters of a file that are shown

export const $ = (id) => document.getElementById(id);

// Shows control characters and changes of writing direction as their code, so that a text cannot disguise itself.
export const visible = (value) => String(value).replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

const isShown = (child) => child !== null && child !== undefined && child !== false && child !== "";

// Makes an element: on... are listeners, null and false leave an attribute out, children are elements, texts or lists of them.
export function el(tag, given = {}, ...children) {
  const { svg = SVG.has(tag), ...rest } = given;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(rest)) {
    if (!isShown(value) && name !== "value") continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value ?? "";
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(isShown).map((child) => (child instanceof Node ? child : visible(child))));
  return node;
}

// ---- small things ----

export const plural = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
export const chip = (text, kind = "") => isShown(text) && el("span", { class: `chip ${kind}` }, text);
export const soft = (...parts) => el("small", {}, ...parts);
export const empty = (text) => el("p", { class: "empty" }, text);
export const trustChip = (level) => level && level !== "agent" && chip(level, level === "trusted" ? "good" : "bad");
export const when = (at) => at && el("time", { datetime: at, title: at }, at.slice(0, 10) + (at.length > 10 ? ` ${at.slice(11, 16)}` : ""));
export const trouble = (error) => error && el("div", { class: "trouble", role: "alert" }, el("b", {}, error.message), error.hint && el("div", {}, error.hint));

export function bar(share, label, kind = "") {
  const inner = el("i");
  inner.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return el("span", { class: `bar ${kind}`, role: "img", "aria-label": label }, inner);
}

export const section = (title, count, ...content) => el("section", {}, el("h2", {}, title, count !== null && el("span", { class: "count" }, count)), ...content);
export const rows = (found, make, none) => (found.length ? el("ul", { class: "rows" }, found.map((one) => el("li", {}, make(one)))) : empty(none));
export const table = (label, heads, lines) =>
  el("div", { class: "wide", role: "region", "aria-label": label, tabindex: "0" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, lines)));

// ---- texts ----

function highlighted(text, words) {
  const sought = words.filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!sought.length) return [text];
  return text.split(new RegExp(`(${sought.join("|")})`, "iu")).map((part, n) => (n % 2 ? el("mark", {}, part) : part));
}

// Shows a text; a long one ends with a button that shows the rest.
export function prose(text, { words = [], cut = false } = {}) {
  const whole = String(text ?? "");
  const node = el("p", { class: cut ? "text cut" : "text" }, highlighted(whole.slice(0, LONG), words));
  if (whole.length > LONG && !cut) {
    node.append(el("button", { type: "button", onclick: () => node.replaceChildren(visible(whole)) }, `… ${plural(whole.length - LONG, "character")} more`));
  }
  return node;
}

// Links to an item by the end of its id, which tells it from its neighbours; the whole id stands in its panel.
export const itemLink = (id) => el("a", { href: here({ item: id }), "data-id": id, title: id }, el("code", {}, id.replace(/^([MFO])-\d{10,}-/, "$1-…")));
// Links to a line of a file: Beliefs.md:24.
export const placeLink = (place) => place && el("a", { href: here({ item: `file:${place}` }) }, el("code", {}, place));

// Turns ids into links, and links of Markdown into links to the item or file that they name, as seen from the file they stand in.
export function linked(text, path = "") {
  const found = [];
  let last = 0;
  for (const match of text.matchAll(LINKS)) {
    found.push(text.slice(last, match.index), match[2] === undefined ? itemLink(match[0]) : followed(match[1], match[2], path));
    last = match.index + match[0].length;
  }
  return [...found, text.slice(last)];
}
function followed(label, target, path) {
  const id = ID.exec(target)?.[0];
  if (!id && !/^[^:]*\.(md|jsonl)(#|$)/.test(target)) return label;
  const file = decodeURI(new URL(target, `http://file/${path}`).pathname.slice(1));
  return el("a", { href: here({ item: id || `file:${file}` }) }, label);
}

// Shows lines of a file, from a number on; headings are bold, and one line may be marked.
export function lines(text, { first = 1, marked = 0, path = "" } = {}) {
  const shown = text.slice(0, WHOLE).replace(/\n$/, "").split("\n");
  const one = (line, n) => el("span", { class: first + n === marked ? "line marked" : "line" }, /^#{1,6} /.test(line) ? el("b", {}, linked(line.replace(/^#+ /, ""), path)) : linked(line, path), "\n");
  return el("div", { class: "lines" }, shown.map(one), text.length > WHOLE && soft(`${plural(text.length - WHOLE, "character")} more`));
}

// Shows a value of any shape by its names.
export function described(values) {
  const known = Object.entries(values).filter(([, value]) => isShown(value) && !(Array.isArray(value) && !value.length));
  return el("dl", {}, known.map(([name, value]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, describedValue(name, value))]));
}
function describedValue(name, value) {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.map((one, n) => [n ? ", " : "", linked(String(one))]);
  if (typeof value === "object") return described(value);
  return /_at$|^at$/.test(name) ? when(String(value)) : linked(String(value));
}
