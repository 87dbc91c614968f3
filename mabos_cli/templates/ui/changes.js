// What an agent learned since a commit, as `mabos review` shows it.

import { ask } from "./calls.js";
import { chip, el, empty, itemLink, placeLink, plural, rows, section, soft } from "./dom.js";
import { choose, filters, word } from "./forms.js";

const KIND = { new: "good", gone: "bad", changed: "warn" };
const isItem = (id) => /^[MF]-/.test(id || "");

const change = (one) => el("div", { class: "row", tabindex: "0", "data-id": `change:${one.id || one.text}` },
  el("div", { class: "meta" }, chip(one.state, KIND[one.state]), one.group && chip(one.group), isItem(one.id) ? itemLink(one.id) : el("code", {}, one.id || ""), /\.(md|jsonl?)(:\d+)?$/.test(one.place || "") ? placeLink(one.place) : soft(one.place || "")),
  el("p", { class: "text" }, one.text), one.change && soft(one.change));

const counted = (counts) => ["new", "changed", "gone"].filter((state) => counts[state]).map((state) => `${counts[state]} ${state}`).join(", ");

export const changes = {
  title: "Changes",
  form: () => [filters(word("Since commit", "rev", "last commit"), choose("or since", "since", [["", "that commit"], ["1d", "a day ago"], ["7d", "a week ago"], ["30d", "a month ago"]]), choose("Show", "limit", [["", "20 each"], ["100", "100 each"], ["0", "all"]]))],
  async load({ rev, since, limit }, signal) {
    const data = await ask("review", since ? { since, limit: limit && Number(limit) } : { rev, limit: limit && Number(limit) }, signal);
    return [
      data.commit && el("p", { class: "soft" }, "Compared with commit ", el("code", {}, data.commit.slice(0, 12))),
      data.agents.map((agent) => {
        const sections = Object.entries(agent.sections).filter(([, found]) => found.length);
        return [
          sections.length ? sections.map(([name, found]) => section(name[0].toUpperCase() + name.slice(1), counted(agent.counts[name] || {}), rows(found, change, ""))) : empty("Nothing was learned since then."),
          agent.observations?.captured > 0 && el("p", { class: "soft" }, `${plural(agent.observations.captured, "observation")} captured, ${agent.observations.harvested} harvested`),
          agent.files.length > 0 && section("Other changed files", agent.files.length, el("p", {}, agent.files.map((name) => [placeLink(name), " "]))),
        ];
      }),
    ];
  },
};
