// Packs: what a model would get for a question, and why each line is in or out.

import { call } from "./calls.js";
import { bar, chip, el, empty, itemLink, placeLink, plural, section, soft, table, trustChip } from "./dom.js";
import { choose, field, filters } from "./forms.js";

const isFile = (ref) => /\.(md|jsonl?)(:|$)/.test(ref);

function traced(one, texts) {
  const held = texts.get(one.ref);
  return el("tr", { class: one.included ? null : "out" },
    el("td", {}, one.included ? chip(held?.mark || "in", "good") : chip("out")), el("td", {}, one.reason),
    el("td", {}, held?.text && el("p", { class: "text cut" }, held.text), isFile(one.ref) ? placeLink(one.ref) : itemLink(one.ref)),
    el("td", {}, held?.type, " ", trustChip(one.trust)), el("td", {}, one.lane), el("td", {}, one.layer), el("td", {}, one.score?.toFixed(2)), el("td", {}, one.tokens));
}

export const packs = {
  title: "Packs",
  form: () => [field("q", "Question for a model", { tag: "textarea", wait: 400 }),
    filters(choose("Budget", "budget", [["", "1,200 tokens"], ["300", "300"], ["600", "600"], ["2400", "2,400"], ["6000", "6,000"]]), choose("Trust", "min_trust", [["", "any"], ["agent", "agent or better"], ["trusted", "trusted"]]))],
  async load({ q, budget, min_trust }, signal) {
    if (!q?.trim()) return [empty("Type a question to see what a model would get for it, and why.")];
    const { data, warnings } = await call("pack", { query: q, budget: budget && Number(budget), min_trust }, signal);
    const texts = new Map(data.items.map((one) => [one.ref, one]));
    const { contradiction, trace } = data;
    return [
      el("p", {}, bar(data.tokens / data.budget, `${data.tokens} of ${data.budget} tokens`, "long"), ` ${data.tokens.toLocaleString("en")} of ${data.budget.toLocaleString("en")} tokens `, soft(`(${data.counted_by})`)),
      warnings.map((text) => el("p", { class: "warnings" }, text)),
      contradiction && el("p", {}, chip("contradiction", "warn"), " ", typeof contradiction === "string" ? contradiction : contradiction.text || JSON.stringify(contradiction)),
      section("What the model gets", null, el("pre", { class: "lines" }, data.bundle_text)),
      section("Why", `${plural(trace.filter((one) => one.included).length, "line")} in, ${trace.filter((one) => !one.included).length} out`, table("Candidates", ["", "why", "what", "type", "lane", "layer", "score", "tokens"], trace.map((one) => traced(one, texts)))),
    ];
  },
};
