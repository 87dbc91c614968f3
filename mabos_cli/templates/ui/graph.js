// Facts as a graph that one can walk: by a click, a tap, or with arrows and Enter.

import { ask } from "./calls.js";
import { $, chip, el, empty, plural, rows, section, soft, trustChip } from "./dom.js";
import { choose, field, filters } from "./forms.js";
import { triple } from "./item.js";
import { layOut } from "./layout.js";
import { here, route } from "./place.js";

const BOXES = 40; // that are drawn
const FACTS = 2000; // that are looked at for an overview
const LISTED = 200; // facts in the list below
const LABEL = 22; // letters of a label
const LETTER = 7.6;
const steps = []; // the entities walked through, the latest last

const short = (text) => (text.length > LABEL ? `${text.slice(0, LABEL - 1)}…` : text);
const wide = (text) => [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e80 ? 1.8 : 1), 0) * LETTER;
const walk = (name) => here({ at: name, q: "", item: "" });

// Makes a graph of facts: an entity is a box, whatever joins two of them one line.
function graphOf(facts, middle) {
  const near = new Map();
  for (const { subject, object } of facts) {
    for (const [one, other] of [[subject, object], [object, subject]]) near.set(one, (near.get(one) || new Set()).add(other));
  }
  const names = (middle ? outwards(near, middle) : bestJoined(near)).slice(0, BOXES);
  const numbers = new Map(names.map((name, n) => [name, n]));
  const lines = new Map();
  for (const fact of facts) {
    const ends = [numbers.get(fact.subject), numbers.get(fact.object)];
    if (ends.includes(undefined)) continue;
    const key = ends.join(" ");
    lines.set(key, { ends, facts: [...(lines.get(key)?.facts || []), fact] });
  }
  return { names, lines: [...lines.values()], left: near.size - names.length };
}

// Lists entities from one outwards, so that each is joined to one before it; of as far ones the best joined first.
function outwards(near, middle) {
  const found = new Set([middle]);
  for (const name of found) [...(near.get(name) || [])].sort((a, b) => near.get(b).size - near.get(a).size || (a < b ? -1 : 1)).forEach((other) => found.add(other));
  return [...found];
}

// Lists the best joined entities; chosen line by line, so that nobody stands alone.
function bestJoined(near) {
  const size = (name) => near.get(name).size;
  const lines = [...near].flatMap(([one, others]) => [...others].filter((other) => one < other).map((other) => [one, other]));
  const ranks = new Map(lines.map((line) => [line, [Math.min(...line.map(size)), Math.max(...line.map(size))]]));
  lines.sort((a, b) => ranks.get(b)[0] - ranks.get(a)[0] || ranks.get(b)[1] - ranks.get(a)[1] || (a.join() < b.join() ? -1 : 1));
  const found = new Set();
  for (const line of lines) if (new Set([...found, ...line]).size <= BOXES) line.forEach((name) => found.add(name));
  return [...found].sort((a, b) => size(b) - size(a) || (a < b ? -1 : 1));
}

// Says what joins a box to the middle, or else to another one; it stands above the box.
function tieOf(lines, n) {
  const mine = lines.filter(({ ends }) => ends.includes(n));
  const near = mine.filter(({ ends }) => ends.includes(0));
  const found = (near.length ? near : mine.slice(0, 1)).flatMap(({ ends, facts }) => facts.map((fact) => (ends[1] === n ? `${short(fact.predicate)} →` : `← ${short(fact.predicate)}`)));
  return [...new Set(found)].slice(0, 2).join(", ");
}

function draw(graph, middle, width) {
  const labels = graph.names.map((name) => short(name));
  const ties = graph.names.map((name, n) => (middle && n ? tieOf(graph.lines, n) : ""));
  const boxes = labels.map((label, n) => ({ width: Math.min(width - 8, Math.max(wide(label) + 24, ties[n].length * 6.6 + 8)), height: ties[n] ? 46 : 30 }));
  const { places, height } = layOut(boxes, graph.lines.map((line) => line.ends), width);
  const centre = (n) => [places[n].x, places[n].y + (ties[n] ? 8 : 0)];
  const line = ({ ends, facts }) => {
    const [[x1, y1], [x2, y2]] = ends.map(centre);
    return el("path", { class: facts.every((fact) => fact.trust === "untrusted") ? "doubt" : null, d: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}` }, el("title", {}, facts.map((fact) => `${fact.subject} ${fact.predicate} ${fact.object}`).join("\n")));
  };
  const box = (name, n) => {
    const [x, y] = centre(n);
    const half = (wide(labels[n]) + 20) / 2;
    return el("a", { svg: true, href: walk(name), class: name === middle ? "here" : null, "data-id": `node:${name}`, "aria-label": `${name}${ties[n] ? `, ${ties[n]}` : ""}`, "aria-current": name === middle ? "true" : null },
      el("title", {}, name), ties[n] && el("text", { class: "tie", x, y: y - 24 }, ties[n]),
      el("rect", { x: x - half, y: y - 14, width: 2 * half, height: 28, rx: 14 }), el("text", { x, y: y + 1 }, labels[n]));
  };
  const label = `${plural(graph.names.length, "entity")}${middle ? ` around ${middle}` : ""}, ${plural(graph.lines.length, "line")}`;
  return el("svg", { class: "graph", viewBox: `0 0 ${width} ${Math.ceil(height)}`, width, height: Math.ceil(height), role: "group", "aria-label": label, onkeydown: moveFocus }, graph.lines.map(line), graph.names.map(box));
}

// Moves the focus to the nearest box in the direction of an arrow.
function moveFocus(event) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [];
  if (event.key === "Backspace") history.back();
  if (dx === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const middle = (node) => { const { x, y, width, height } = node.querySelector("rect").getBoundingClientRect(); return [x + width / 2, y + height / 2]; };
  const from = document.activeElement.closest("a");
  const [x, y] = middle(from);
  let best = null;
  for (const node of event.currentTarget.querySelectorAll("a")) {
    const [toX, toY] = middle(node);
    const along = (toX - x) * dx + (toY - y) * dy;
    const aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
    if (node !== from && along > 4 && (!best || along + 2 * aside < best.far)) best = { node, far: along + 2 * aside };
  }
  best?.node.focus();
}

const factRow = (fact) => {
  const other = fact.subject === route.given.at ? fact.object : fact.subject;
  return el("div", { class: `row fact${route.given.item === fact.id ? " open" : ""}` },
    el("a", { href: here({ item: fact.id }), "data-id": fact.id }, triple(fact)), trustChip(fact.trust), fact.confidence < 1 && soft(`confidence ${fact.confidence}`), fact.id.startsWith("F-inf-") && chip("derived"),
    route.given.at && other !== route.given.at && el("a", { class: "walk", href: walk(other), "aria-label": `Go to ${other}` }, "go →"));
};

async function around(at, hops, signal) {
  const near = await ask("neighbors", { entity: at, hops: Number(hops), limit: 200 }, signal);
  const found = new Map(near.neighbors.map((one) => [one.fact, { id: one.fact, subject: one.subject, predicate: one.predicate, object: one.object, confidence: one.confidence, trust: one.trust }]));
  const direct = await Promise.all([ask("facts", { subject: at, limit: 200 }, signal), ask("facts", { object: at, limit: 200 }, signal)]);
  for (const fact of direct.flatMap((one) => one.facts)) found.set(fact.id, fact);
  return [...found.values()];
}

async function matching(q, signal) {
  const each = await Promise.all([ask("facts", { subject: `*${q}*`, limit: FACTS }, signal), ask("facts", { object: `*${q}*`, limit: FACTS }, signal)]);
  return [...new Map(each.flatMap((one) => one.facts).map((fact) => [fact.id, fact])).values()];
}

function trail(at) {
  if (at && steps.at(-1) !== at) steps.push(at);
  const past = [...new Set([...steps].reverse())].slice(1, 7).reverse();
  return el("nav", { class: "crumbs", "aria-label": "Path" }, el("a", { href: here({ at: "", q: "" }) }, "Overview"), past.map((name) => el("a", { href: walk(name) }, name)), at && el("b", {}, at));
}

export const graph = {
  title: "Graph",
  form: () => [field("q", "Find an entity by its name", { wait: 250 }), filters(choose("Steps", "hops", [["", "1"], ["2", "2"], ["3", "3"]]))],
  async load({ at, q, hops = "1" }, signal) {
    const facts = q ? await matching(q, signal) : at ? await around(at, hops, signal) : (await ask("facts", { limit: FACTS }, signal)).facts;
    if (!facts.length) return [trail(q ? "" : at), empty(at || q ? "No facts about it." : "No facts yet: mabos fact assert acme isA Customer adds one.")];
    const middle = q ? "" : at;
    const made = graphOf(facts, middle);
    const width = Math.max(300, Math.min(1100, $("found").clientWidth));
    return [
      trail(middle), draw(made, middle, width),
      el("p", { class: "soft" }, "Arrows move between boxes, Enter goes to one, Backspace goes back.", made.left > 0 && ` ${plural(made.left, "more entity")} not drawn; follow links or search to find them.`),
      section("Facts", facts.length, rows(facts.slice(0, LISTED), factRow, ""), facts.length > LISTED && el("p", { class: "soft" }, `${plural(facts.length - LISTED, "fact")} more; follow links or search to find them.`)),
    ];
  },
};
