// The hierarchy: from a quarter to its months, weeks and days, down to the line; or straight down by a question.

import { ask, button, orElse, write } from "./calls.js";
import { chip, el, itemLink, lines, plural, rows, section, soft, table, trouble, trustChip } from "./dom.js";
import { field } from "./forms.js";
import { here } from "./place.js";

const FRONT_MATTER = /^---\n[^]*?\n---\n+/;
const trail = (up) => (up || "").split(",").filter(Boolean);
const open = (p, up) => here({ p, up: up.join(","), q: "", item: "" });

function tile(one, up) {
  const what = one.level === "daily" ? "a day" : `${one.days} of ${plural(one.length, "day")}`;
  return el("a", { class: "row", href: open(one.period, up), "data-id": `period:${one.period}` }, el("b", {}, one.period), soft(what), !["current", "log"].includes(one.state) && chip(one.state, "warn"));
}

function crumbs(up, at) {
  const links = up.map((one, n) => el("a", { href: open(one, up.slice(0, n)) }, one));
  return el("nav", { class: "crumbs", "aria-label": "Position" }, el("a", { href: open("", []) }, "All"), links, el("b", {}, at));
}

async function overview(signal) {
  const { periods, due } = await ask("periods", {}, signal);
  const quarters = periods.filter((one) => one.level === "quarterly").reverse();
  const monthsOf = (quarter) => {
    const from = periods.indexOf(quarter) + 1;
    const end = periods.findIndex((one, n) => n >= from && one.level !== "monthly");
    return periods.slice(from, end < 0 ? undefined : end);
  };
  return [
    due > 0 && el("p", {}, `${plural(due, "summary")} out of date. `, button("Update", () => write("build", {}, "Summaries are up to date"))),
    quarters.length ? quarters.map((quarter) => section(el("a", { href: open(quarter.period, []) }, quarter.period), null, el("div", { class: "tiles" }, monthsOf(quarter).map((one) => tile(one, [quarter.period]))))) : el("p", { class: "empty" }, "No days are logged yet."),
  ];
}

async function period(p, up, signal) {
  const { periods } = await ask("periods", { period: p }, signal);
  const [top, ...below] = periods;
  const text = top.path ? await orElse(ask("read", { path: top.path }, signal), {}) : {};
  return [
    crumbs(up, p),
    below.length > 0 && el("div", { class: "tiles" }, below.map((one) => tile(one, [...up, p]))),
    trouble(text.trouble), text.content !== undefined && lines(text.content.replace(FRONT_MATTER, ""), { path: top.path }),
  ];
}

async function drill(query, signal) {
  const found = await ask("drill", { query }, signal);
  const hit = (one) => el("div", { class: "row" },
    el("div", { class: "meta" }, chip(one.kind), el("a", { href: open(one.day, []) }, one.day), one.id && itemLink(one.id), trustChip(one.untrusted ? "untrusted" : ""), one.cause && chip("cause"), el("span", {}, "matches ", one.matched.join(", "))),
    el("a", { class: "text", href: here({ item: `file:${one.path}:${one.line}` }) }, one.text));
  const step = (level, node, n) => el("tr", { class: node.followed ? null : "out" }, el("td", {}, n ? "" : level), el("td", {}, el("a", { href: open(node.period, node.parent ? [node.parent] : []) }, node.period)), el("td", {}, node.followed ? "followed" : "not followed"),
    el("td", {}, Object.entries(node.signals).filter(([, share]) => share > 0).map(([name, share]) => `${name} ${share.toFixed(2)}`).join(", ")), el("td", {}, node.line && el("p", { class: "text" }, node.line)));
  const way = found.steps.flatMap((one) => one.nodes.map((node, n) => step(one.level, node, n)));
  return [
    section("Lines", found.finds.length, rows(found.finds, hit, "No line found.")),
    section("Path to the lines", null, table("Path from quarters to lines", ["level", "period", "", "why", "text"], way), soft(`${plural(found.read.files, "file")} read of ${found.whole.files}`)),
  ];
}

export const periods = {
  title: "Periods",
  form: () => [field("q", "Ask a question to follow it from quarters down to a line", { wait: 350 })],
  async load({ q, p, up }, signal) {
    if (q?.trim()) return drill(q, signal);
    return p ? period(p, trail(up), signal) : overview(signal);
  },
};
