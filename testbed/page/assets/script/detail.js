// What a mark means: its object as it is and as its actor believes, its request, its reasons.

/** @import { Arrow, Mark, RunData, Version } from "../types" */
/** @import { Scene } from "./model.js" */

import { el } from "./dom.js";
import { MARKS, grouped, shortName } from "./words.js";

/** @type {Record<string, string>} */
const ARRIVALS = {
  solid: "it arrived",
  dotted: "it was held back",
  lost: "it never arrived",
  refused: "it was refused",
};
/** @type {Record<string, string>} */
const ARROWS = {
  request: "request", answer: "answer", news: "news of a change", stale: "a write it missed",
};

/**
 * All that is known of one mark.
 * @param {RunData} run
 * @param {number} row
 * @param {Mark} mark
 * @param {Scene} scene
 * @returns {HTMLElement[]}
 */
export function detail(run, row, mark, scene) {
  const moment = run.moments[row];
  /** @type {HTMLElement[]} */
  const made = [
    el("h3", {}, el("span", { class: "name" }, mark.text)),
    el("p", { class: "meta" },
      el("bdi", {}, mark.lane),
      ` · step ${grouped(mark.step)} · ${grouped(moment.ms)} ms · ${MARKS[mark.sign]}`
        + (mark.parts?.length ? ` · ${partOf(mark)}` : "")),
  ];
  if (mark.reasons.length) {
    const reasons = mark.reasons.map((reason) => el("li", { class: "name" }, reason));
    made.push(el("h4", {}, "Its reasons"), el("ul", { class: "reasons" }, ...reasons));
  }
  made.push(...requests(run, mark), ...fields(mark, scene));
  return made;
}

/**
 * Which part of its request it is.
 * @param {Mark} mark
 * @returns {string}
 */
function partOf(mark) {
  return `part ${mark.parts.indexOf(mark.step) + 1} of ${mark.parts.length}`;
}

/**
 * @param {RunData} run
 * @param {Mark} mark
 * @returns {HTMLElement[]}
 */
function requests(run, mark) {
  const isHere = (/** @type {{ lane: string, step: number }} */ end) =>
    end.lane === mark.lane && end.step === mark.step;
  const found = run.arrows.filter((arrow) => isHere(arrow.from) || isHere(arrow.to));
  if (!found.length) return [];
  return [
    el("h4", {}, "What went to and fro"),
    el("ul", { class: "requests" }, ...found.map(request)),
  ];
}

/**
 * @param {Arrow} arrow
 * @returns {HTMLElement}
 */
function request(arrow) {
  const way = `${arrow.from.lane}, step ${grouped(arrow.from.step)} → `
    + `${arrow.to.lane}, step ${grouped(arrow.to.step)}`;
  const end = arrow.kind === "stale" ? "" : `: ${ARRIVALS[arrow.line]}`;
  return el(
    "li", { class: arrow.kind },
    el("b", {}, `${arrow.kind === "stale" ? "≠ " : ""}${ARROWS[arrow.kind]}`),
    el("span", { class: "name" }, ` ${way}${end}`),
    arrow.text ? el("span", { class: "name quoted" }, ` · ${arrow.text}`) : null,
  );
}

/**
 * The object's fields, as they are and as the actor of the mark believes.
 * @param {Mark} mark
 * @param {Scene} scene
 * @returns {HTMLElement[]}
 */
function fields(mark, scene) {
  if (!mark.key) return [];
  const truth = scene.truth.get(mark.key) ?? null;
  const own = scene.beliefs.find((belief) => belief.lane === mark.lane);
  const belief = own?.known.get(mark.key) ?? null;
  const named = truth ?? belief;
  const title = el("h4", {}, el("span", { class: "name" }, named ? shortName(named) : mark.key));
  if (!named) return [title, el("p", {}, "It is not there.")];
  const names = new Set(
    [truth, belief].flatMap((version) => version?.fields.map((field) => field[0]) ?? []),
  );
  const columns = own ? [`${mark.lane} believes`] : [];
  const head = el("tr", {}, ...["field", "true", ...columns].map((text) =>
    el("th", { scope: "col" }, el("bdi", {}, text))));
  const rows = [["", saidIn(truth), saidIn(belief)], ["rv", rvIn(truth), rvIn(belief)]];
  for (const name of names) rows.push([name, valueIn(truth, name), valueIn(belief, name)]);
  const body = rows.map(([name, now, believed]) => {
    const differs = own && now !== believed;
    return el(
      "tr", { class: differs ? "differs" : false },
      el("th", { scope: "row" }, name || "in short"),
      el("td", { class: "name" }, now),
      own ? el("td", { class: "name" }, `${differs ? "≠ " : ""}${believed}`) : null,
    );
  });
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...body));
  const label = `Fields of ${named.key}`;
  const box = { class: "scroll", tabindex: 0, role: "region", "aria-label": label };
  return [title, el("div", box, table)];
}

/**
 * @param {Version | null} version
 * @returns {string}
 */
function saidIn(version) {
  return version ? version.said : "–";
}

/**
 * @param {Version | null} version
 * @returns {string}
 */
function rvIn(version) {
  return version ? String(version.rv) : "–";
}

/**
 * @param {Version | null} version
 * @param {string} name
 * @returns {string}
 */
function valueIn(version, name) {
  return version?.fields.find((field) => field[0] === name)?.[1] ?? "–";
}
