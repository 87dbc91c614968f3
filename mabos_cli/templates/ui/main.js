// The page of `mabos ui`: its views, what happens when the address or the files change, and the keys.

import { ask, orElse, setState, takeBack } from "./calls.js";
import { changes } from "./changes.js";
import { countDecisions, decide } from "./decide.js";
import { $, el, trouble, visible } from "./dom.js";
import { followAddress } from "./forms.js";
import { graph } from "./graph.js";
import { details } from "./item.js";
import { checkpoints, search, timeline } from "./memory.js";
import { mind } from "./mind.js";
import { packs } from "./packs.js";
import { periods } from "./periods.js";
import { about, address, go, here, readRoute, route, setAbout } from "./place.js";

// A view has a title, the fields above (form) and what is found below (load), which follows the files.
const VIEWS = { search, timeline, decide, mind, graph, periods, checkpoints, changes, packs };
const NARROW = 1100; // pixels; below, the panel takes the place of the view

// ---- showing ----

let loading = null; // ends what is asked for a view that nobody looks at any more
let shown = ""; // the view and agent whose fields are there

function show() {
  readRoute(VIEWS);
  const view = VIEWS[route.view];
  $("agent").value = route.agent;
  document.title = `${view.title} · ${route.agent} · mabos`;
  for (const link of $("views").children) {
    link.href = address(link.dataset.view);
    if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (shown === `${route.view} ${route.agent}`) followAddress($("main"));
  else {
    shown = `${route.view} ${route.agent}`;
    $("main").replaceChildren(el("h1", {}, view.title), ...(view.form ? view.form() : []), el("div", { id: "found" }));
    scrollTo(0, 0);
    const link = $("views").querySelector("[aria-current]");
    if (link && innerWidth <= 720) link.scrollIntoView({ block: "nearest", inline: "center" });
  }
  refresh();
}

// Asks again for the view and the panel, and puts what comes in place of what is there; what looks the same stays unless it must go.
async function refresh(must = false) {
  loading?.abort();
  const mine = (loading = new AbortController());
  const fill = async (place, load) => {
    place.setAttribute("aria-busy", "true");
    const nodes = await load().catch((error) => (error.name === "AbortError" ? null : [trouble(error)]));
    if (mine !== loading || !nodes) return;
    swap(place, nodes, must);
    place.removeAttribute("aria-busy");
  };
  const id = route.given.item;
  const isNew = $("panel").hidden || $("panel").dataset.item !== id;
  document.body.classList.toggle("split", Boolean(id));
  $("panel").hidden = !id;
  $("panel").dataset.item = id || "";
  $("panel").removeAttribute("aria-busy");
  const close = el("a", { class: "shut", href: here({ item: "" }), "data-id": "close" }, "Close ", el("kbd", {}, "Esc"));
  const panel = async () => {
    const found = () => details(id, mine.signal).catch((error) => { if (error.name === "AbortError") throw error; return [trouble(error)]; });
    await fill($("panel"), async () => [close, ...(await found())]);
    if (!isNew || mine !== loading) return;
    $("panel").scrollTop = 0;
    if (innerWidth <= NARROW) scrollTo(0, 0);
  };
  await Promise.all([fill($("found"), () => VIEWS[route.view].load(route.given, mine.signal)), id && panel()]);
}

// Replaces what is shown, and keeps the focus and the place where somebody reads.
function swap(place, given, must) {
  const nodes = given.flat(Infinity).filter((node) => node instanceof Node);
  if (!must && nodes.length === place.childNodes.length && nodes.every((node, n) => node.isEqualNode(place.childNodes[n]))) return;
  const focusable = () => [...place.querySelectorAll("a, button, input, [tabindex]")];
  const active = document.activeElement;
  const inside = place.contains(active) && active !== place;
  const at = inside ? focusable().indexOf(active) : -1;
  const id = inside && active.closest("[data-id]")?.dataset.id;
  const label = inside && active.textContent;
  const { scrollTop } = place;
  place.replaceChildren(...nodes);
  place.scrollTop = scrollTop;
  if (!inside) return;
  const same = id && [...place.querySelectorAll("[data-id]")].find((node) => node.dataset.id === id);
  const within = same && active.matches("button") && [...same.querySelectorAll("button")].find((node) => node.textContent === label);
  const now = focusable();
  (within || same || now[Math.min(at, now.length - 1)] || $("main")).focus({ preventScroll: true });
}

// ---- following the files ----

let counting = null;
function refreshCount(wait = 0) {
  clearTimeout(counting);
  counting = setTimeout(async () => {
    const count = await orElse(countDecisions(), null).catch(() => null);
    const link = $("views").querySelector("[data-view=decide]");
    link.querySelector(".count")?.remove();
    if (typeof count === "number" && count > 0) link.insertBefore(el("span", { class: "count", title: "decisions waiting" }, count), link.querySelector("kbd"));
  }, wait);
}

let isBehind = false; // files changed while nobody looked
function follow() {
  isBehind = document.hidden;
  if (isBehind) return;
  refresh();
  refreshCount(1500);
}

function listen() {
  const stream = new EventSource("api/changes");
  let isFirst = true;
  stream.onmessage = () => {
    setState(true);
    if (!isFirst) follow();
    isFirst = false;
  };
  stream.onerror = () => {
    setState(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

// ---- keys ----

const HELP = [["/", "go to the search field, or the field of the view"], ["1 … 9", "go to a view"], ["j k ↓ ↑", "next and previous"], ["Enter", "open"], ["Esc", "close, leave a field"], ["f t d r", "forget, trust, distrust, bring back"], ["y n", "take or leave a proposal"], ["h l b", "keep the first, the second, or both"], ["u", "undo"], ["g", "go to the graph; then arrows, Enter, Backspace"], ["a", "choose an agent"], ["?", "show these keys"]];

function help() {
  const close = el("button", { type: "button", class: "main", onclick: () => $("dialog").close() }, "Close");
  $("dialog").onclose = null;
  $("dialog").replaceChildren(el("h2", { id: "dialog-title" }, "Keys"), el("dl", {}, HELP.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])), el("div", { class: "acts" }, close));
  $("dialog").showModal();
}

function step(by) {
  const all = [...$("main").querySelectorAll(".row")].map((row) => (row.matches("a, [tabindex]") ? row : row.querySelector("a, button"))).filter(Boolean);
  const at = all.findIndex((one) => one.closest(".row").contains(document.activeElement));
  const from = at < 0 ? all.findIndex((one) => one.classList.contains("open")) : at;
  all[Math.max(0, Math.min(all.length - 1, from + by))]?.focus();
}

function toField() {
  const input = $("main").querySelector(".find, .filters input");
  if (!input) return go(address("search"));
  input.focus();
  input.select();
}

// Presses the button with this key in the row that has the focus, else in the panel.
function press(key) {
  const row = document.activeElement.closest(".row");
  const found = [row, $("panel")].map((place) => place?.querySelector(`button[data-key="${CSS.escape(key)}"]`)).find(Boolean);
  found?.click();
  return Boolean(found);
}

const KEYS = {
  "/": toField, "?": help, j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), u: takeBack,
  a: () => $("agent").focus(), g: () => (document.querySelector(".graph .here") || document.querySelector(".graph a"))?.focus(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || $("dialog").open) return;
  const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else if (route.given.item) go(here({ item: "" }));
  } else if (typing) {
    if (event.key !== "ArrowDown" || !event.target.matches("input")) return;
    step(1);
  } else if (/^[1-9]$/.test(event.key)) go($("views").children[event.key - 1].getAttribute("href"));
  else if (press(event.key)) ;
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});

// ---- start ----

async function start() {
  setAbout(await (await fetch("api/about")).json());
  $("workspace").textContent = visible(about.workspace);
  const { agents } = await ask("agents");
  $("agent").append(...agents.map((one) => el("option", { value: one.id, title: one.role }, one.id)));
  setAbout({ ...about, agent: about.agent || agents[0]?.id || "" });
  $("agent").addEventListener("change", () => go(address(route.view, {}, $("agent").value)));
  $("keys").addEventListener("click", help);
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  $("views").append(...Object.entries(VIEWS).map(([name, view], n) => el("a", { "data-view": name, href: "#" }, view.title, el("kbd", {}, n + 1))));
  addEventListener("hashchange", () => { const { agent } = route; show(); if (agent !== route.agent) refreshCount(); });
  addEventListener("asked", () => { readRoute(VIEWS); refresh(); });
  addEventListener("written", () => { refresh(true); refreshCount(300); });
  document.addEventListener("visibilitychange", () => isBehind && follow());
  setState(true);
  show();
  refreshCount();
  listen();
  if (innerWidth > 720) $("main").querySelector(".find")?.focus();
}
start().catch((error) => $("main").replaceChildren(trouble(error)));
