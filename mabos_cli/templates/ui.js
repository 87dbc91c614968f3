"use strict";
// The page of `mabos ui`. Whatever comes from a workspace becomes text nodes, never markup; the server's policy forbids anything else.

const $ = (id) => document.getElementById(id);
const ID = /\b[MFO]-\d{10,}-[0-9a-f]{4,}\b/g;
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const LONG = 4000; // characters of a text that are shown at once

// ---- elements ----

const shown = (value) => String(value).replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

function el(tag, given = {}, ...children) {
  const svg = ["svg", "g", "line", "rect", "text", "title"].includes(tag) || given.svg;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false || name === "svg") continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false && c !== "").map((c) => (c instanceof Node ? c : shown(c))));
  return node;
}
const chip = (text, kind = "") => el("span", { class: `chip ${kind}` }, text);
const soft = (...parts) => el("small", {}, ...parts);
const trust = (level) => level && level !== "agent" && chip(level, level === "trusted" ? "good" : "bad");
function bar(share, label, kind = "") {
  const inner = el("i");
  inner.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return el("span", { class: `bar ${kind}`, role: "img", "aria-label": label }, inner);
}
const when = (at) => at && el("time", { datetime: at, title: at }, at.slice(0, 10) + (at.length > 10 ? ` ${at.slice(11, 16)}` : ""));
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

function highlighted(text, words) {
  const sought = words.filter(Boolean).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!sought.length) return [text];
  return text.split(new RegExp(`(${sought.join("|")})`, "iu")).map((part, n) => (n % 2 ? el("mark", {}, part) : part));
}
function prose(text, { words = [], cut = false } = {}) {
  const whole = String(text ?? "");
  const node = el("p", { class: cut ? "text cut" : "text" }, highlighted(whole.slice(0, LONG), words));
  if (whole.length > LONG && !cut) {
    node.append(el("button", { type: "button", onclick: () => node.replaceChildren(shown(whole)) }, `… ${plural(whole.length - LONG, "character")} more`));
  }
  return node;
}
const linked = (text) => {
  const found = [];
  let last = 0;
  for (const match of text.matchAll(ID)) {
    found.push(text.slice(last, match.index), idLink(match[0]));
    last = match.index + match[0].length;
  }
  return [...found, text.slice(last)];
};
const idLink = (id) => el("a", { href: here({ item: id }) }, el("code", {}, id));
const lines = (text) =>
  el("div", { class: "lines" }, text.slice(0, 200000).split("\n").map((line) => [/^#{1,6} /.test(line) ? el("b", {}, linked(line.replace(/^#+ /, ""))) : linked(line), "\n"]));
const rows = (found, make, empty) => (found.length ? el("ul", { class: "rows" }, found.map((one) => el("li", {}, make(one)))) : el("p", { class: "empty" }, empty));
const button = (label, act, kind = "", key = "") => el("button", { type: "button", class: kind, "data-key": key || null, "data-writes": true, disabled: about.read_only, onclick: act }, label, key && el("kbd", {}, key));
const section = (title, count, ...content) => [el("h2", {}, title, count === null ? null : el("span", { class: "count" }, count)), ...content];

// ---- where we are: #/agent/view?name=value ----

let about = {};
let route = { agent: "", view: "search", given: {} };
let undo = null; // what the last note offers to take back

function parseRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [agent = "", view = ""] = path.split("/").map(decodeURIComponent);
  return { agent: agent || $("agent").value || about.agent, view: VIEWS[view] ? view : "search", given: Object.fromEntries(new URLSearchParams(query)) };
}
function address(view, given = {}, agent = route.agent) {
  const kept = Object.entries(given).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  const query = new URLSearchParams(kept).toString();
  return `#/${encodeURIComponent(agent)}/${view}${query ? `?${query}` : ""}`;
}
const here = (changes) => address(route.view, { ...route.given, ...changes });
const go = (where) => { location.hash = where; };
// A change of what is typed is no step of the history.
function setGiven(changes) {
  history.replaceState(null, "", here(changes));
  route = parseRoute();
  refresh();
}

// ---- calls ----

async function call(name, given = {}, signal) {
  const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "" && value !== undefined && value !== null));
  const body = JSON.stringify(route.agent ? { agent_id: route.agent, ...kept } : kept);
  let answer;
  try {
    answer = await fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setState(false);
    throw new Error("mabos ui does not answer: was it ended?");
  }
  const found = await answer.json();
  if (found.error) throw Object.assign(new Error(found.error.message), { code: found.error.code, hint: found.error.hint });
  return found;
}
const ask = async (name, given, signal) => (await call(name, given, signal)).data;
const orNone = (promise, none) => promise.catch((error) => { if (error.name === "AbortError") throw error; return { ...none, trouble: error }; });
const trouble = (error) => error && el("div", { class: "trouble", role: "alert" }, el("b", {}, error.message), error.hint && el("div", {}, error.hint));

async function write(name, given, done, back = null) {
  try {
    const answer = await call(name, given);
    say(done, back);
    for (const warning of answer.warnings) say(warning);
    refresh();
    refreshCount();
    return answer;
  } catch (error) {
    say(`${error.message}${error.hint ? ` (${error.hint})` : ""}`);
    return null;
  }
}
function say(text, back = null) {
  const act = () => { note.remove(); undo = null; back(); };
  const note = el("div", { class: "note" }, text, back && el("button", { type: "button", onclick: act }, "Undo ", el("kbd", {}, "u")));
  if (back) undo = act;
  $("notes").append(note);
  while ($("notes").children.length > 4) $("notes").firstChild.remove();
  setTimeout(() => { note.remove(); if (undo === act) undo = null; }, back ? 20000 : 7000);
}
// Asks for a few texts; null when nobody wants to go on.
function question(title, fields, action) {
  const dialog = $("dialog");
  return new Promise((resolve) => {
    const inputs = fields.map((field) => el("input", { name: field.name, value: field.value || "", required: field.required, autocomplete: "off" }));
    const end = (value) => { dialog.close(); resolve(value); };
    const submit = (event) => {
      event.preventDefault();
      const missing = inputs.find((input) => input.required && !input.value.trim());
      if (missing) return missing.focus();
      end(Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()])));
    };
    const form = el("form", { onsubmit: submit }, el("h2", { id: "dialog-title" }, title),
      fields.map((field, n) => el("label", {}, el("span", {}, field.label), inputs[n])),
      el("div", { class: "acts" }, el("button", { class: "main", type: "submit" }, action), el("button", { type: "button", onclick: () => end(null) }, "Cancel")));
    dialog.replaceChildren(form);
    dialog.oncancel = () => resolve(null);
    dialog.showModal();
    (inputs[0] || form.querySelector("button")).focus();
  });
}
const REASON = { name: "reason", label: "Why (kept with the decision)" };

// ---- what can be done ----

async function forget(id) {
  const given = await question("Forget this memory?", [REASON], "Forget");
  if (given) await write("forget", { id, ...given }, `Forgotten: ${id}`, () => revive(id));
}
const revive = (id) => write("revive", { id }, `Brought back: ${id}`);
async function setTrust(id, level) {
  const who = { name: "by", label: "Who decides", required: true, value: sessionStorage.getItem("by") };
  const given = await question(level === "trusted" ? "Vouch for this text?" : "Mark it as untrusted?", [who, REASON], level === "trusted" ? "Trust" : "Distrust");
  if (!given) return;
  sessionStorage.setItem("by", given.by);
  await write("set_trust", { id, set: level, ...given }, `${id} is ${level}`);
}
async function resolveConflict(key, keep) {
  const title = { a: "Keep the first, supersede the second?", b: "Keep the second, supersede the first?", both: "Keep both?" }[keep];
  const given = await question(title, [REASON], "Resolve");
  if (given) await write("resolve", { id: key, keep, ...given }, "Resolved");
}

// ---- views: what is asked above, and what is found below; the lower part follows the files ----

function choose(label, name, options) {
  const select = el("select", { name, onchange: () => setGiven({ [name]: select.value }) }, options.map(([value, text]) => el("option", { value, selected: (route.given[name] || "") === value }, text)));
  return el("label", {}, label, select);
}
function tick(label, name) {
  const box = el("input", { type: "checkbox", name, checked: Boolean(route.given[name]), onchange: () => setGiven({ [name]: box.checked ? "1" : "" }) });
  return el("label", {}, box, label);
}
function field(tag, name, label, wait = 160) {
  let timer;
  const input = el(tag, { class: "find", name, id: `find-${name}`, type: tag === "input" ? "search" : null, placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: "false", value: route.given[name] || "" });
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => setGiven({ [name]: input.value, item: "" }), wait); });
  return input;
}

function memoryRow(one, words = []) {
  const signals = one.signals || {};
  const why = [
    one.matched?.length > 0 && el("span", {}, "matches ", one.matched.join(", ")),
    ...["lexical", "semantic", "neighbour", "session"].filter((name) => signals[name] >= 0.2).map((name) => el("span", {}, { lexical: "words", semantic: "meaning" }[name] || name, bar(signals[name], `${name} ${signals[name]}`))),
    one.via?.length > 0 && el("span", {}, "by way of ", one.via.join(" → ")),
  ];
  const where = one.kind === "passage" ? { item: `file:${one.ref}` } : { item: one.ref || one.id };
  return el("a", { class: `row${one.archived ? " gone" : ""}${route.given.item === where.item ? " open" : ""}`, href: here(where), "data-id": one.kind === "passage" ? null : where.item },
    el("div", { class: "meta" }, one.type ? chip(one.type) : chip("file"), when(one.created_at || one.at), one.author && el("span", {}, one.author),
      one.kind === "passage" && el("code", {}, one.ref), one.store && el("span", {}, one.store.replace("_", "-")), trust(one.trust), one.archived && chip(one.archived, "warn"),
      one.importance !== undefined && el("span", {}, "importance", bar(one.importance, `importance ${one.importance}`))),
    prose(one.content, { words, cut: true }),
    one.superseded_by && el("p", { class: "why" }, chip("superseded", "warn"), `by ${one.superseded_by}`),
    why.some(Boolean) && el("div", { class: "why" }, why));
}

const VIEWS = {
  search: {
    title: "Search",
    form: () => [
      field("input", "q", "Search memories and notes"),
      el("div", { class: "filters" },
        choose("Type", "type", [["", "any"], ...about.types.map((t) => [t, t])]),
        choose("Store", "store", [["", "all"], ["working", "working"], ["short_term", "short-term"], ["long_term", "long-term"]]),
        choose("Trust", "min_trust", [["", "any"], ["agent", "agent or better"], ["trusted", "trusted"]]),
        choose("Since", "since", [["", "ever"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["365d", "a year"]]),
        tick("also forgotten", "archived")),
    ],
    async load(given, signal) {
      const { q = "", type, archived, store, min_trust, since } = given;
      const { data, warnings } = await call("recall", { query: q, type: type && [type], archived: Boolean(archived), store, min_trust, since, limit: 30 }, signal);
      const words = [...new Set(data.results.flatMap((one) => one.matched || []))];
      const head = q ? `${plural(data.count, "result")} of ${plural(data.candidates, "candidate")}` : "The most important and recent";
      return [el("p", { class: "soft" }, head), warnings.map((w) => el("p", { class: "warnings" }, w)), rows(data.results, (one) => memoryRow(one, words), q ? "Nothing found. Fewer words or fewer filters may help." : "No memories yet.")];
    },
  },
  timeline: {
    title: "Timeline",
    form: () => [field("input", "q", "Around a date, an id or words; empty: the latest", 300), el("div", { class: "filters" }, tick("also forgotten", "archived"), choose("Entries", "span", [["", "30"], ["100", "100"], ["300", "300"]]))],
    async load({ q, archived, span = "30" }, signal) {
      const half = q ? Number(span) >> 1 : Number(span);
      const { entries } = await ask("timeline", { query: q, before: half, after: half, archived: Boolean(archived) }, signal);
      const days = Map.groupBy ? Map.groupBy(entries, (one) => one.at.slice(0, 10)) : entries.reduce((m, one) => m.set(one.at.slice(0, 10), [...(m.get(one.at.slice(0, 10)) || []), one]), new Map());
      if (!entries.length) return [el("p", { class: "empty" }, "Nothing happened yet.")];
      return [...days].reverse().map(([day, found]) => [el("h2", { class: "day" }, day), rows([...found].reverse(), (one) => memoryRow(one))]);
    },
  },
};

// ---- details: an item, a fact, an observation, a file ----

async function details(id, signal) {
  if (id.startsWith("file:")) {
    const found = await ask("read", { path: id.slice(5) }, signal);
    return [el("h1", {}, found.path), soft(`lines ${found.lines[0]} to ${found.lines[1]} of ${found.total}`), lines(found.content)];
  }
  const data = await ask("get", { id }, signal);
  if (!data.item) return [el("h1", {}, id), described(data.fact || data.observation || data)];
  const judged = await orNone(ask("trust", { id }, signal), {});
  const { item } = data;
  const live = data.state === "live";
  const hidden = ["id", "content", "type", "importance", "trust", "tags"];
  const rest = Object.fromEntries(Object.entries(item).filter(([name]) => !hidden.includes(name)));
  return [
    el("div", { class: "meta" }, chip(item.type), !live && chip("archived", "warn"), trust(data.effective_trust) || chip(data.effective_trust || ""), item.tags?.map((tag) => chip(`#${tag}`)), el("span", {}, "importance", bar(item.importance, `importance ${item.importance}`), item.importance)),
    prose(item.content),
    el("div", { class: "acts" },
      live ? button("Forget", () => forget(id), "bad", "f") : button("Bring back", () => revive(id), "main", "r"),
      data.effective_trust !== "trusted" && button("Trust", () => setTrust(id, "trusted"), "", "t"),
      data.effective_trust !== "untrusted" && button("Distrust", () => setTrust(id, "untrusted")),
      el("a", { href: address("timeline", { q: id, item: id }) }, "On the timeline")),
    data.chain && section("Versions, old to new", null, rows(data.chain, (one) => el("a", { class: `row${one.id === id ? " open" : ""}`, href: here({ item: one.id }) }, el("div", { class: "meta" }, when(one.at)), prose(one.content, { cut: true })))),
    section("Details", null, described({ id, store: data.store, ...rest })),
    section("Trust", null, el("p", {}, `${judged.effective || data.effective_trust}: ${judged.why || ""}`),
      judged.lineage?.length > 1 && el("ul", { class: "tree" }, judged.lineage.map((one) => el("li", {}, trust(one.trust) || chip(one.trust), " ", idLink(one.id), " ", soft(one.source || "")))),
      judged.decisions?.length > 0 && el("ul", { class: "tree" }, judged.decisions.map((one) => el("li", {}, described(one))))),
    data.tree?.sources?.length > 0 && section("Derived from", null, tree(data.tree.sources)),
    data.history?.length > 0 && section("History", null, el("ul", { class: "tree" }, data.history.map((one) => el("li", {}, when(one.at), " ", one.reason, one.into && [" into ", idLink(one.into)])))),
  ];
}
const tree = (sources) => el("ul", { class: "tree" }, sources.map((one) => el("li", {}, idLink(one.id), " ", one.state && one.state !== "live" && chip(one.state, "warn"), prose(one.content, { cut: true }), one.sources?.length > 0 && tree(one.sources))));
function described(values) {
  const known = Object.entries(values).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  return el("dl", {}, known.map(([name, value]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, Array.isArray(value) && value.every((v) => typeof v !== "object") ? value.map((v, n) => [n ? ", " : "", ...linked(String(v))]) : typeof value === "object" ? described(value) : /_at$|^at$/.test(name) ? when(String(value)) : linked(String(value)))]));
}

// ---- showing ----

let loading = null; // ends what is asked for a view that nobody looks at any more
const heads = { view: "", agent: "" };

function show() {
  route = parseRoute();
  $("agent").value = route.agent;
  const view = VIEWS[route.view];
  document.title = `${view.title} · ${route.agent} · mabos`;
  for (const link of $("views").children) {
    link.href = address(link.dataset.view);
    link.dataset.view === route.view ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  if (heads.view !== route.view || heads.agent !== route.agent) {
    Object.assign(heads, { view: route.view, agent: route.agent });
    $("main").replaceChildren(el("h1", {}, view.title), ...(view.form ? view.form() : []).flat(), el("div", { id: "found", "aria-busy": "true" }));
    scrollTo(0, 0);
  } else {
    for (const input of $("main").querySelectorAll("input[name], textarea[name], select[name]")) {
      if (input === document.activeElement) continue;
      if (input.type === "checkbox") input.checked = Boolean(route.given[input.name]);
      else input.value = route.given[input.name] || "";
    }
  }
  refresh();
}

async function refresh() {
  loading?.abort();
  const mine = (loading = new AbortController());
  const fill = async (place, load) => {
    let nodes;
    try {
      nodes = await load();
    } catch (error) {
      if (error.name === "AbortError" || mine !== loading) return;
      nodes = [trouble(error)];
    }
    if (mine === loading) swap(place, nodes);
  };
  const id = route.given.item;
  const wasOpen = !$("panel").hidden && $("panel").dataset.item === id;
  document.body.classList.toggle("split", Boolean(id));
  $("panel").hidden = !id;
  $("panel").dataset.item = id || "";
  const back = el("a", { class: "shut", href: here({ item: "" }), "aria-label": "Close details" }, "Close ", el("kbd", {}, "Esc"));
  const found = $("found");
  found.setAttribute("aria-busy", "true");
  await Promise.all([
    fill(found, () => VIEWS[route.view].load(route.given, mine.signal)).then(() => found.removeAttribute("aria-busy")),
    id && fill($("panel"), async () => [back, ...(await details(id, mine.signal))]).then(() => { if (!wasOpen && mine === loading) { $("panel").scrollTop = 0; if (innerWidth <= 1100) scrollTo(0, 0); } }),
  ]);
}
// Replaces what is shown and keeps the focus and the place where somebody reads.
function swap(place, nodes) {
  const active = document.activeElement;
  const inside = place.contains(active) && active !== place;
  const links = inside ? [...place.querySelectorAll("a, button, input")] : [];
  const at = links.indexOf(active);
  const name = inside && (active.getAttribute("data-id") || active.getAttribute("href"));
  const top = place.scrollTop;
  place.replaceChildren(...nodes.flat(4).filter((n) => n instanceof Node));
  place.scrollTop = top;
  if (!inside) return;
  const now = [...place.querySelectorAll("a, button, input")];
  (now.find((n) => name && (n.getAttribute("data-id") || n.getAttribute("href")) === name) || now[Math.min(at, now.length - 1)] || $("main")).focus({ preventScroll: true });
}
function setState(on) {
  $("state").textContent = on ? (about.read_only ? "live, read-only" : "live") : "not connected";
  $("state").classList.toggle("off", !on);
}
async function refreshCount() {
  const status = await orNone(ask("status"), {});
  for (const link of $("views").children) link.querySelector(".count")?.remove();
  if (status.untrusted && VIEWS.decide) document.querySelector("[data-view=decide]").insertBefore(el("span", { class: "count", title: "untrusted" }, status.untrusted), document.querySelector("[data-view=decide] kbd"));
}
function listen() {
  const stream = new EventSource("api/changes");
  let first = true;
  stream.onmessage = () => {
    setState(true);
    if (!first) { refresh(); refreshCount(); }
    first = false;
  };
  stream.onerror = () => {
    setState(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

// ---- keys ----

const HELP = [["/", "search"], ["1 … 8", "views"], ["j k ↓ ↑", "next and previous"], ["Enter", "open"], ["Esc", "close, leave a field"], ["f", "forget what is open"], ["t", "trust what is open"], ["r", "bring back what is open"], ["u", "undo"], ["a", "choose an agent"], ["?", "these keys"]];
function help() {
  $("dialog").oncancel = null;
  $("dialog").replaceChildren(el("h2", { id: "dialog-title" }, "Keys"), el("dl", {}, HELP.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])), el("div", { class: "acts" }, el("button", { type: "button", class: "main", onclick: () => $("dialog").close() }, "Close")));
  $("dialog").showModal();
}
function step(by) {
  const all = [...$("main").querySelectorAll(".row")].filter((row) => row.matches("a") || row.querySelector("a, button")).map((row) => (row.matches("a") ? row : row.querySelector("a, button")));
  if (!all.length) return;
  const open = all.findIndex((row) => row === document.activeElement || row.closest(".row").contains(document.activeElement));
  const from = open < 0 ? all.findIndex((row) => row.classList.contains("open")) : open;
  all[Math.max(0, Math.min(all.length - 1, from + by))].focus();
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open) return;
  const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else if (route.given.item) go(here({ item: "" }));
  } else if (typing) {
    if (event.key !== "ArrowDown" || event.target.tagName !== "INPUT") return;
    step(1);
  } else if (event.key === "/") {
    const input = $("main").querySelector(".find");
    if (input) { input.focus(); input.select(); } else go(address("search"));
  } else if (event.key === "j" || event.key === "ArrowDown") step(1);
  else if (event.key === "k" || event.key === "ArrowUp") step(-1);
  else if (event.key === "u" && undo) undo();
  else if (event.key === "a") $("agent").focus();
  else if (event.key === "?") help();
  else if (/^[1-9]$/.test(event.key) && $("views").children[event.key - 1]) go($("views").children[event.key - 1].getAttribute("href"));
  else {
    const act = document.querySelector(`#panel button[data-key="${CSS.escape(event.key)}"]`);
    if (!act) return;
    act.click();
  }
  event.preventDefault();
});

async function start() {
  about = await (await fetch("api/about")).json();
  $("workspace").textContent = shown(about.workspace);
  const { agents } = await ask("agents");
  $("agent").append(...agents.map((one) => el("option", { value: one.id, title: one.role }, one.id)));
  if (about.agent) $("agent").value = about.agent;
  $("agent").addEventListener("change", () => go(address(route.view, {}, $("agent").value)));
  $("keys").addEventListener("click", help);
  $("views").append(...Object.entries(VIEWS).map(([name, view], n) => el("a", { "data-view": name, href: "#" }, view.title, el("kbd", {}, n + 1))));
  addEventListener("hashchange", show);
  setState(true);
  show();
  refreshCount();
  listen();
  if (innerWidth > 720) $("main").querySelector(".find")?.focus();
}
start().catch((error) => $("main").replaceChildren(trouble(error)));
