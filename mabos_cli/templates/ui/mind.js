// The mind: goals as a tree, intentions, and beliefs.

import { ask, orElse } from "./calls.js";
import { bar, chip, el, empty, placeLink, rows, section, soft, trouble, trustChip, when } from "./dom.js";

const CLOSED = /^(achieved|done|complete|dropped|expired|abandoned|superseded)/i;
const KIND = (status) => (/^(achieved|done|complete)/i.test(status) ? "good" : /^(expired|stalled|blocked|late)/i.test(status) ? "bad" : "");
const isLate = (one) => one.deadline && !CLOSED.test(one.status) && one.deadline.slice(0, 10) < new Date().toISOString().slice(0, 10);

function attitude(one) {
  return [
    el("div", { class: "meta" }, el("code", {}, one.id), chip(one.status, KIND(one.status)), isLate(one) && chip("late", "bad"), one.deadline && el("span", {}, "due ", when(one.deadline)), placeLink(one.place)),
    el("p", { class: "text" }, one.title), one.text && soft(one.text),
    one.progress !== null && one.progress !== undefined && el("p", {}, bar(one.progress / 100, `progress ${one.progress} %`, "long"), soft(`${one.progress} %`)),
  ];
}

const named = (label, names) => names?.length > 0 && soft(label, " ", names.join(", "), " ");
const goal = (one) => el("li", {}, attitude(one), named("supported by", one.supported_by), named("wanted by", one.motivated_by), named("needs", one.needs), one.plans?.length > 0 && named("plans", one.plans.map((plan) => plan.id || plan)), one.below.length > 0 && el("ul", { class: "tree" }, one.below.map(goal)));

function belief(one) {
  return el("div", { class: `row${one.status === "superseded" ? " gone" : ""}`, tabindex: "0", "data-id": `belief:${one.path}:${one.line}` },
    el("div", { class: "meta" }, one.id && el("code", {}, one.id), el("span", {}, "certainty", bar(one.certainty, `certainty ${one.certainty}`), one.certainty), chip(one.status, "warn"), trustChip(one.trust), when(one.updated), placeLink(`${one.path}:${one.line}`)),
    el("p", { class: "text" }, !one.text ? one.subject : one.text.startsWith(one.subject) ? one.text : `${one.subject}: ${one.text}`), one.doubt && soft(one.doubt));
}

export const mind = {
  title: "Mind",
  async load(given, signal) {
    const parts = [["goals", "goals"], ["intentions", "intentions"], ["beliefs", "beliefs"], ["mind", ""]];
    const [goals, intentions, beliefs, whole] = await Promise.all(parts.map(([name, list]) => orElse(ask(name, {}, signal), { [list]: [] })));
    const words = [["Wants", whole.want], ["Owes", whole.owe], ["Is owed", whole.am_owed], ["Is due", whole.due], ["Doubts", whole.doubt]];
    return [
      trouble(whole.trouble), whole.strategy && el("p", { class: "soft" }, `${whole.strategy} commitment`),
      el("div", { class: "two" },
        section("Goals", goals.goals.length, trouble(goals.trouble), goals.goals.length ? el("ul", { class: "tree goals" }, goals.goals.map(goal)) : empty("No goals yet.")),
        section("Intentions", intentions.intentions.length, trouble(intentions.trouble), rows(intentions.intentions, (one) => el("div", { class: "row", tabindex: "0", "data-id": `intention:${one.id}` }, attitude(one), named("for", one.goal)), "No intentions yet."))),
      section("Beliefs", beliefs.beliefs.length, trouble(beliefs.trouble), rows(beliefs.beliefs, belief, "No beliefs yet.")),
      words.filter(([, found]) => found?.length).map(([label, found]) => section(label, found.length, el("ul", {}, found.map((text) => el("li", {}, text))))),
    ];
  },
};
