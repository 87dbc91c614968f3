// The panel: a memory with its lineage, a fact with its proof, an observation, or lines of a file; and what can be decided about them.

import { ask, button, orElse, question, REASON, seen, write } from "./calls.js";
import { bar, chip, described, el, itemLink, lines, placeLink, prose, rows, section, soft, trustChip, when } from "./dom.js";
import { address, here } from "./place.js";

export function details(id, signal) {
  if (id.startsWith("file:")) return file(id.slice(5), signal);
  return id.startsWith("F-") ? fact(id, signal) : memory(id, signal);
}

// ---- what can be done ----

const LONGEST = 50_000; // letters of a text that go back to the server as what was shown; of a longer one, when it was made does

function shownItem(item) {
  const { id, content, created_at } = item;
  return seen("get", content.length > LONGEST ? { id, created_at } : { id, content }, { id });
}

export async function forget(item) {
  const given = await question("Forget this memory?", [REASON], "Forget", item.content);
  if (given) await write("forget", { id: item.id, ...given, seen: shownItem(item) }, `Forgotten: ${item.id}`, () => revive(item));
}
export const revive = (item) => write("revive", { id: item.id, seen: shownItem(item) }, `Brought back: ${item.id}`);

export async function setTrust(item, level, before) {
  const who = { name: "by", label: "Your name", required: true, value: sessionStorage.getItem("by") };
  const given = await question(level === "trusted" ? "Vouch for this text?" : "Mark it as untrusted?", [who, REASON], level === "trusted" ? "Trust" : "Distrust", item.content);
  if (!given) return;
  sessionStorage.setItem("by", given.by);
  const back = () => write("set_trust", { id: item.id, set: before, by: given.by, reason: "undone" }, `${item.id} is ${before} again`);
  await write("set_trust", { id: item.id, set: level, ...given, seen: shownItem(item) }, `${item.id} is ${level}`, before && back);
}

// ---- a memory ----

const sources = (found) =>
  el("ul", { class: "tree" }, found.map((one) => el("li", {}, itemLink(one.id), " ", one.state && one.state !== "live" && chip(one.state, "warn"), one.content && prose(one.content, { cut: true }), one.sources?.length > 0 && sources(one.sources))));

async function memory(id, signal) {
  const data = await ask("get", { id }, signal);
  if (!data.item) return [el("h1", {}, id), prose(data.observation?.text), data.place && placeLink(data.place), described({ state: data.state, ...data.observation, text: null, items: data.items })];
  const judged = await orElse(ask("trust", { id }, signal), {});
  const { item } = data;
  const level = data.effective_trust;
  const hidden = ["id", "content", "type", "importance", "trust", "tags"];
  const rest = Object.fromEntries(Object.entries(item).filter(([name]) => !hidden.includes(name)));
  return [
    el("div", { class: "meta" }, chip(item.type), data.state !== "live" && chip("archived", "warn"), trustChip(level), item.tags?.map((tag) => el("a", { class: "chip", href: address("search", { tag }) }, `#${tag}`)),
      el("span", {}, "importance", bar(item.importance, `importance ${item.importance}`), item.importance)),
    prose(item.content),
    item.superseded_by && el("p", {}, chip("superseded", "warn"), " by ", itemLink(item.superseded_by)),
    el("div", { class: "acts" },
      data.state === "live" ? button("Forget", () => forget(item), "f", "bad") : button("Bring back", () => revive(item), "r", "main"),
      level !== "trusted" && button("Trust", () => setTrust(item, "trusted", level), "t"),
      level !== "untrusted" && button("Distrust", () => setTrust(item, "untrusted", level), "d"),
      el("a", { href: address("timeline", { q: id, item: id }) }, "Show on the timeline")),
    data.chain && section("Versions, oldest first", null, rows(data.chain, (one) => el("a", { class: `row${one.id === id ? " open" : ""}`, href: here({ item: one.id }) }, el("div", { class: "meta" }, when(one.at), one.id === id && soft("this one")), prose(one.content, { cut: true })), "")),
    section("Details", null, el("p", {}, el("code", {}, item.id)), described({ store: data.store, ...rest })),
    section("Trust", null, el("p", {}, chip(judged.effective || level), " ", judged.why || ""),
      judged.lineage?.length > 1 && el("ul", { class: "tree" }, judged.lineage.map((one) => el("li", {}, chip(one.trust), " ", itemLink(one.id), " ", soft(one.source || "")))),
      judged.decisions?.length > 0 && el("ul", { class: "tree" }, judged.decisions.map((one) => el("li", {}, described(one))))),
    data.tree?.sources?.length > 0 && section("Derived from", data.tree.sources.length, sources(data.tree.sources)),
    data.history?.length > 0 && section("History", null, el("ul", { class: "tree" }, data.history.map((one) => el("li", {}, when(one.at), " ", one.reason, one.into && [" → ", itemLink(one.into)])))),
  ];
}

// ---- a fact ----

export const triple = (fact) => [el("b", {}, fact.subject), " ", fact.predicate, " ", el("b", {}, fact.object)];
const proof = (node) => el("li", {}, node.fact ? el("p", {}, triple(node.fact), " ", node.fact.id && itemLink(node.fact.id)) : itemLink(node.id), node.rule && soft("by rule ", node.rule), node.note && soft(node.note), node.sources?.length > 0 && el("ul", { class: "tree" }, node.sources.map(proof)));

async function fact(id, signal) {
  const [data, why] = await Promise.all([ask("get", { id }, signal), orElse(ask("explain", { id }, signal), {})]);
  const { subject, predicate, object, trust, id: whole, ...rest } = data.fact;
  return [
    el("p", { class: "text" }, triple(data.fact)),
    el("div", { class: "meta" }, data.state !== "live" && chip(data.state, "warn"), chip(trust, { trusted: "good", untrusted: "bad" }[trust])),
    el("div", { class: "acts" }, [subject, object].map((name) => el("a", { href: address("graph", { at: name, item: id }) }, `Show ${name} in the graph`))),
    section("Details", null, el("p", {}, el("code", {}, whole)), described(rest)),
    why.tree?.sources?.length > 0 && section("Supports", null, el("ul", { class: "tree" }, proof(why.tree))),
    data.history?.length > 0 && section("History", null, el("ul", { class: "tree" }, data.history.map((one) => el("li", {}, described(one))))),
  ];
}

// ---- lines of a file ----

const AROUND = 8; // lines before and behind the one that is meant

async function file(place, signal) {
  const [, path, line] = /^(.*?)(?::(\d+))?$/.exec(place);
  const from = Math.max(1, Number(line) - AROUND);
  const found = await ask("read", { path: line ? `${path}:${from}-${Number(line) + AROUND}` : place }, signal);
  const [first, last] = found.lines;
  return [
    el("h1", {}, found.path),
    el("p", { class: "soft" }, `lines ${first} to ${last} of ${found.total} `, last - first + 1 < found.total && el("a", { href: here({ item: `file:${found.path}` }) }, "The whole file")),
    lines(found.content, { first, marked: Number(line || 0), path: found.path }),
  ];
}
