// Memory: search, the timeline, and checkpoints.

import { ask, call } from "./calls.js";
import { bar, chip, el, empty, plural, prose, rows, trustChip, when } from "./dom.js";
import { choose, field, filters, tick, word } from "./forms.js";
import { about, here, route } from "./place.js";

const SIGNALS = { lexical: "words", semantic: "meaning", neighbour: "neighbours", session: "session" };
const WEAK = 0.2; // of a signal: below, it is no reason

function reasons(one) {
  const signals = one.signals || {};
  const found = [
    one.matched?.length > 0 && el("span", {}, "matches ", one.matched.join(", ")),
    ...Object.entries(SIGNALS).filter(([name]) => signals[name] >= WEAK).map(([name, label]) => el("span", {}, label, bar(signals[name], `${label} ${signals[name]}`))),
    one.via?.length > 0 && el("span", {}, "through ", one.via.join(" → ")),
  ].filter(Boolean);
  return found.length > 0 && el("div", { class: "why" }, found);
}

// A row for a memory or a passage of a file, which opens it.
export function memoryRow(one, words = []) {
  const item = one.kind === "passage" ? `file:${one.ref}` : one.ref || one.id;
  return el("a", { class: `row${one.archived ? " gone" : ""}${one.focus ? " focus" : ""}${route.given.item === item ? " open" : ""}`, href: here({ item }), "data-id": item },
    el("div", { class: "meta" }, chip(one.type || "file"), when(one.created_at || one.at), one.author && el("span", {}, one.author),
      one.kind === "passage" && el("code", {}, one.ref), one.store && el("span", {}, one.store.replace("_", "-")), trustChip(one.trust), chip(one.archived, "warn"),
      one.superseded_by && one.archived !== "superseded" && chip("superseded", "warn"),
      one.importance !== undefined && el("span", {}, "importance", bar(one.importance, `importance ${one.importance}`))),
    prose(one.content, { words, cut: true }), reasons(one));
}

export const search = {
  title: "Search",
  form: () => [
    field("q", "Search memories and notes"),
    filters(
      choose("Type", "type", [["", "any"], ...about.types.map((type) => [type, type])]),
      choose("Store", "store", [["", "all"], ["working", "working"], ["short_term", "short-term"], ["long_term", "long-term"]]),
      choose("Trust", "min_trust", [["", "any"], ["agent", "agent or better"], ["trusted", "trusted"]]),
      choose("Since", "since", [["", "any time"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["365d", "a year"]]),
      word("Tag", "tag", "any"),
      tick("also follow the best hits", "depth"),
      tick("include forgotten and replaced", "archived")),
  ],
  async load({ q, type, tag, archived, depth, store, min_trust, since }, signal) {
    const given = { query: q, type: type && [type], tag: tag && [tag], archived: Boolean(archived), depth: depth && "1", store, min_trust, since, limit: 30 };
    const { data, warnings } = await call("recall", given, signal);
    const words = [...new Set(data.results.flatMap((one) => one.matched || []))];
    const head = q ? `${plural(data.count, "result")} of ${plural(data.candidates, "candidate")}` : "The most important and recent";
    return [el("p", { class: "soft", role: "status" }, head), warnings.map((text) => el("p", { class: "warnings" }, text)),
      rows(data.results, (one) => memoryRow(one, words), q ? "Nothing found. Fewer words or fewer filters may help." : "No memories yet.")];
  },
};

export const timeline = {
  title: "Timeline",
  form: () => [field("q", "Around a date, an id or words; empty: the latest", { wait: 300 }),
    filters(choose("Entries", "span", [["", "30"], ["100", "100"], ["300", "300"]]), tick("include forgotten and replaced", "archived"))],
  async load({ q, archived, span = "30" }, signal) {
    const half = q ? Number(span) >> 1 : Number(span);
    const { entries } = await ask("timeline", { query: q, before: half, after: half, archived: Boolean(archived) }, signal);
    if (!entries.length) return [empty("Nothing happened yet.")];
    const days = new Map();
    for (const one of [...entries].reverse()) days.set(one.at.slice(0, 10), [...(days.get(one.at.slice(0, 10)) || []), one]);
    const step = (label, one) => el("a", { href: here({ q: one.id }) }, label);
    return [
      [...days].map(([day, found]) => [el("h2", { class: "day" }, day), rows(found, (one) => memoryRow(one), "")]),
      el("p", { class: "acts" }, step("Earlier", entries[0]), q && step("Later", entries.at(-1)), q && el("a", { href: here({ q: "" }) }, "The latest")),
    ];
  },
};

export const checkpoints = {
  title: "Checkpoints",
  async load(given, signal) {
    const found = (await ask("checkpoints", {}, signal)).checkpoints;
    const row = (one) => {
      const item = `file:${one.path}`;
      return el("a", { class: `row${given.item === item ? " open" : ""}`, href: here({ item }), "data-id": item },
        el("div", { class: "meta" }, el("b", {}, one.title.replace(/^Session Checkpoint — /, "")), trustChip(one.trust)), prose(one.context, { cut: true }));
    };
    return [rows(found, row, "No checkpoints yet: mabos checkpoint -c \"…\" writes one.")];
  },
};
