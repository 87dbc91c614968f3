// Decisions that wait for a person: untrusted memories, conflicts, proposals for the mind and for ontologies, captured observations.

import { ask, button, orElse, question, REASON, seen, write } from "./calls.js";
import { bar, chip, el, itemLink, linked, placeLink, prose, rows, section, soft, trouble, when } from "./dom.js";
import { here, route } from "./place.js";
import { forget, setTrust } from "./item.js";

const FEW = 10; // decisions of a kind, where all kinds are shown

// A row that can have the focus, so that its keys work.
const decision = (id, head, body, ...acts) => el("div", { class: "row", tabindex: "0", "data-id": id }, el("div", { class: "meta" }, head), body, el("div", { class: "acts" }, acts));

async function withReason(title, action, send, fields = [REASON]) {
  const given = await question(title, fields, action);
  if (given) await send(given);
}

function untrusted(item) {
  return decision(`trust:${item.id}`, [chip(item.source, "bad"), when(item.created_at), itemLink(item.id)], prose(item.content, { cut: true }),
    button("Trust", () => setTrust(item, "trusted", "untrusted"), "t", "main"), button("Forget", () => forget(item), "f", "bad"));
}

function conflict(found) {
  const side = (belief, label) => el("div", { class: "side" }, el("p", { class: "text" }, belief.statement),
    el("div", { class: "meta" }, label, el("span", {}, "certainty", bar(belief.certainty, `certainty ${belief.certainty}`), belief.certainty), when(belief.updated), placeLink(belief.place), belief.trust !== "agent" && chip(belief.trust)));
  const keep = (side, title) => withReason(title, "Resolve", (given) => write("resolve", { id: found.key, keep: side, ...given, seen: seen("conflicts", { key: found.key, a: found.a, b: found.b }) }, "Resolved"));
  const beliefs = [found.a, found.b].every((one) => one.from === "belief");
  return decision(`conflict:${found.key}`, [chip(found.kind, "warn"), el("b", {}, found.subject), el("span", {}, "severity", bar(found.severity, `severity ${found.severity}`))],
    [el("p", { class: "soft" }, found.reason, found.goals.length > 0 && `; affects ${found.goals.join(", ")}`),
      el("div", { class: "sides" }, side(found.a, found.newer === "a" && chip("newer")), side(found.b, found.newer === "b" && chip("newer")))],
    beliefs ? [button("Keep the first", () => keep("a", "Keep the first, supersede the second?"), "h"), button("Keep the second", () => keep("b", "Keep the second, supersede the first?"), "l"), button("Keep both", () => keep("both", "Keep both?"), "b")] : soft(found.action));
}

function concept(found) {
  const { id, label, parent_class, sbvr_definition } = found;
  const given = { seen: seen("concepts", { id, label, parent_class, sbvr_definition, status: "pending" }, { status: "pending" }) };
  const merge = async () => {
    const done = await question(`Merge ${label} into ${found.domain}?`, [], "Merge");
    if (done) await write("merge", { ids: [id], ...given }, `Merged: ${label}`);
  };
  return decision(`concept:${id}`, [chip(found.node_type?.replaceAll("_", " ") || "class"), el("b", {}, label), el("code", {}, found.node_id), soft("proposed by ", found.proposed_by), when(found.proposed_at)],
    [el("p", { class: "text" }, found.sbvr_definition || "No definition."), el("p", { class: "soft" }, `${found.domain}${parent_class ? `, below ${parent_class}` : ""}`, found.rationale && `: ${found.rationale}`)],
    button("Merge", merge, "y", "main"),
    button("Reject", () => withReason(`Reject ${label}?`, "Reject", (more) => write("reject", { id, ...more, ...given }, `Rejected: ${label}`)), "n", "bad"));
}

function candidate(found) {
  const { id, content } = found;
  const given = { seen: seen("candidates", { id, content }) };
  return decision(`candidate:${id}`, [chip(found.type), when(found.observed_at), found.author && el("span", {}, found.author), chip(found.trust, found.trust === "untrusted" ? "bad" : ""), placeLink(found.citation), found.action !== "new" && [chip(found.action, "warn"), found.of.map((one) => itemLink(one))]],
    prose(content, { cut: true }),
    button("Keep", () => write("harvest", { apply: id, ...given }, "Kept as a memory"), "y", "main"), button("Leave", () => write("leave", { leave: id, ...given }, "Dropped: it is not offered again"), "n", "bad"));
}

function proposal(found) {
  const { id, title } = found;
  const given = { seen: seen("proposals", { id, title, action: found.action }) };
  const until = { name: "deadline", label: "Deadline (a date; optional)" };
  return decision(`proposal:${id}`, [chip(found.action), el("b", {}, `${found.name || found.kind} ${title}`)],
    [el("ul", { class: "tree" }, found.reasons.map((reason) => el("li", {}, linked(reason)))), el("div", { class: "meta" }, found.cites.map(placeLink), found.becomes && soft("becomes ", found.becomes))],
    button("Take", () => withReason(`${found.action}: ${title}?`, "Take", (more) => write("adopt", { adopt: id, ...more, ...given }, `Taken: ${title}`), found.action === "adopt" ? [until, REASON] : [REASON]), "y", "main"),
    button("Decline", () => withReason(`Decline: ${title}?`, "Decline", (more) => write("decline", { decline: id, ...more, ...given }, `Declined: ${title}`)), "n", "bad"));
}

// Each part: the call, the decisions in its answer, and how one is shown.
const PARTS = [
  { name: "Untrusted", ask: ["quarantine", { limit: 100 }], pick: (data) => data.items, row: untrusted, none: "There are no untrusted memories." },
  { name: "Conflicts", ask: ["conflicts", {}], pick: (data) => data.conflicts, row: conflict, none: "No beliefs contradict each other." },
  { name: "Proposals", ask: ["proposals", {}], pick: (data) => data.proposals, row: proposal, none: "Nothing to adopt, reconsider or drop." },
  { name: "Ontology proposals", ask: ["concepts", { status: "pending" }], pick: (data) => data.proposals, row: concept, none: "No additions to ontologies are proposed." },
  { name: "Captured", ask: ["candidates", { limit: 100 }], pick: (data) => data.candidates, row: candidate, none: "No captured observations wait to become memories." },
];

async function gather(signal) {
  return Promise.all(PARTS.map(async (part) => {
    const data = await orElse(ask(...part.ask, signal), {});
    const found = data.trouble ? [] : part.pick(data);
    return { ...part, found, total: Math.max(found.length, data.count || 0), trouble: data.trouble };
  }));
}

export const countDecisions = async (signal) => (await gather(signal)).reduce((sum, part) => sum + part.total, 0);

function listed(part, most) {
  const beyond = part.total - Math.min(most, part.found.length);
  const more = beyond > 0 && el("p", { class: "soft" }, most === FEW ? el("a", { href: here({ part: part.name }) }, `${beyond} more`) : `${beyond} more appear when these are decided.`);
  return section(part.name, part.total, trouble(part.trouble), rows(part.found.slice(0, most), part.row, part.none), more);
}

export const decide = {
  title: "Decide",
  async load(given, signal) {
    const parts = await gather(signal);
    const only = given.part || "";
    const tab = (name, label, count) => el("a", { class: `tab${only === name ? " on" : ""}`, href: here({ part: name, item: "" }), "aria-current": only === name ? "true" : null }, label, el("span", { class: "count" }, count));
    const all = parts.reduce((sum, part) => sum + part.total, 0);
    return [
      el("nav", { class: "tabs", "aria-label": "Kinds of decisions" }, tab("", "All", all), parts.map((part) => tab(part.name, part.name, part.total))),
      all === 0 && !only && el("p", { class: "empty" }, `No decisions are waiting for ${route.agent}.`),
      parts.filter((part) => (only ? part.name === only : part.found.length || part.trouble)).map((part) => listed(part, only ? part.found.length : FEW)),
    ];
  },
};
