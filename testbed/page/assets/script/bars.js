// The truth beside each belief: nodes as bars with their pods in them, all else as short lines.

/** @import { Version } from "../types" */
/** @import { Belief, Difference, Known, Scene } from "./model.js" */

import { el } from "./dom.js";
import { cores, counted, cut, shortName } from "./words.js";
import { differences } from "./model.js";

const LINES_MAX = 14;

/**
 * The cards of a scene: the truth, then every actor that believes something.
 * @param {Scene} scene
 * @param {string[]} acting the lanes that do something at this moment
 * @returns {HTMLElement[]}
 */
export function cards(scene, acting) {
  const truth = card({ ...scene, lane: "The truth", known: scene.truth }, null, scene.steady);
  truth.classList.add("truth");
  const beliefs = scene.beliefs.map((belief) => {
    const found = differences(scene.truth, belief.known, belief.realm);
    const made = card(belief, found, scene.steady);
    const serious = [...found.values()].some((difference) => difference.matters);
    if (serious) {
      made.classList.add("differs");
      const behind = scene.rv - belief.rv;
      const text = behind > 0 && belief.rv > 0 ? `≠ ${behind} behind` : "≠ the truth";
      made.querySelector("header")?.append(el("span", { class: "behind" }, text));
    } else if (belief.known.size) {
      made.querySelector("header")?.append(el("span", { class: "rv" }, "as it is"));
    }
    if (acting.includes(belief.lane)) made.classList.add("acts");
    return made;
  });
  return [truth, ...beliefs];
}

/**
 * @param {Pick<Belief, "lane" | "rv" | "known" | "nothing">} side the truth, or a belief
 * @param {Map<string, Difference> | null} found null for the truth
 * @param {Set<string>} steady what never changes
 * @returns {HTMLElement}
 */
function card({ lane, rv, known, nothing }, found, steady) {
  const heading = el("h3", {}, el("span", { class: "name" }, lane));
  if (found) heading.append(el("small", {}, " believes"));
  const made = el("section", { class: "card" }, el("header", {}, heading));
  if (rv > 0) made.querySelector("header")?.append(el("span", { class: "rv" }, `rv ${rv}`));
  if (!known.size) made.append(el("p", { class: "nothing" }, nothing));
  const nodes = [...known.values()].filter((v) => v.kind === "nodes").sort(byName);
  const names = new Set(nodes.map((node) => node.name));
  const isIn = (/** @type {Version} */ v) =>
    v.kind === "pods" && names.has(v.node) && v.state !== "over";
  if (nodes.length) {
    made.append(el("ul", { class: "nodes" }, ...nodes.map((node) => {
      const pods = [...known.values()].filter((v) => isIn(v) && v.node === node.name);
      return nodeBar(node, pods.sort(byName), found);
    })));
  }
  const rest = [...known.values()].filter((v) => v.kind !== "nodes" && !isIn(v)).sort(byName);
  const lively = rest.filter((v) => !steady.has(v.key) || found?.get(v.key)?.matters);
  made.append(...lines(lively, found));
  if (found) made.append(...corrections(known, lively, found));
  const still = rest.filter((v) => !lively.includes(v)).map(shortName);
  if (still.length) {
    const text = cut(still.join(", "), 90);
    made.append(el("p", { class: "steady" }, "unchanged: ", el("span", { class: "name" }, text)));
  }
  return made;
}

/**
 * @param {Version} a
 * @param {Version} b
 * @returns {number}
 */
function byName(a, b) {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/**
 * One node: how much of it is taken, by which pods, and what is free.
 * @param {Version} node
 * @param {Version[]} pods
 * @param {Map<string, Difference> | null} found
 * @returns {HTMLElement}
 */
function nodeBar(node, pods, found) {
  const taken = pods.reduce((sum, pod) => sum + pod.cpu, 0);
  const whole = Math.max(node.cpu, taken, 1);
  const bar = el("span", { class: "bar", "aria-hidden": "true" });
  for (const pod of pods) {
    const name = shortName(pod);
    const piece = el("span", { class: `piece ${pod.state}`, title: `${name}: ${pod.said}` });
    piece.append(el("span", { class: "name" }, name));
    if (found?.get(pod.key)?.matters) piece.classList.add("differs");
    piece.style.flexGrow = String(Math.max(pod.cpu / whole, 0.06));
    bar.append(piece);
  }
  const free = node.cpu - taken;
  if (free > 0 || !pods.length) {
    const piece = el("span", { class: "piece free" }, "free");
    piece.style.flexGrow = String(Math.max(free / whole, 0.001));
    bar.append(piece);
  }
  const said = node.cpu === 0 ? "" : free < 0
    ? `✗ ${cores(-free)} CPU too much`
    : `${cores(free)} of ${cores(node.cpu)} CPU free`;
  const inside = pods.map((p) =>
    `${shortName(p)}${p.state === "terminating" ? ", terminating" : ""}`);
  const spoken = inside.length ? ` holds ${inside.join("; ")}.` : " is empty.";
  return el(
    "li", { class: free < 0 ? "node over" : "node" },
    el("span", { class: "node-line" },
      el("span", { class: "name node-name" }, node.name),
      el("span", { class: "visually-hidden" }, spoken),
      el("span", { class: "said" }, said)),
    bar,
  );
}

/**
 * Each object that is in no bar, in a line; those that differ before all others if not all fit.
 * @param {Version[]} versions
 * @param {Map<string, Difference> | null} found
 * @returns {HTMLElement[]}
 */
function lines(versions, found) {
  if (!versions.length) return [];
  const differing = versions.filter((v) => found?.get(v.key)?.matters);
  const others = versions.filter((v) => !differing.includes(v));
  const room = Math.max(LINES_MAX - differing.length, 0);
  const shown = new Set([...differing, ...others.slice(0, room)]);
  const items = versions.filter((v) => shown.has(v)).map((v) => line(v, found?.get(v.key) ?? null));
  const left = versions.length - shown.size;
  if (left > 0) items.push(el("li", { class: "more" }, `and ${counted(left, "more", "more")}`));
  return [el("ul", { class: "things" }, ...items)];
}

/**
 * @param {Version} version
 * @param {Difference | null} difference
 * @returns {HTMLElement}
 */
function line(version, difference) {
  const made = el("li", { class: `thing ${version.state}` });
  made.append(el("b", { class: "name" }, shortName(version)), " ");
  made.append(el("span", { class: "said name" }, version.said || "empty"));
  if (difference?.matters) {
    made.classList.add("differs");
    made.append(" ", correction(difference));
  }
  return made;
}

/**
 * What the truth says instead.
 * @param {Difference} difference
 * @returns {HTMLElement}
 */
function correction(difference) {
  const now = difference.truth ? difference.truth.said || "empty" : "gone";
  return el("span", { class: "correction" }, "≠ true: ", el("span", { class: "name" }, now));
}

/**
 * The differences that no line has said: of what is in a bar, and of what was never heard of.
 * @param {Known} known
 * @param {Version[]} said the objects that have a line
 * @param {Map<string, Difference>} found
 * @returns {HTMLElement[]}
 */
function corrections(known, said, found) {
  const keys = new Set(said.map((version) => version.key));
  const rest = [...found.values()].filter((d) => d.matters && !keys.has(d.key));
  if (!rest.length) return [];
  const shown = rest.slice(0, LINES_MAX).map((difference) => {
    const version = /** @type {Version} */ (known.get(difference.key) ?? difference.truth);
    const made = el("li", { class: "thing differs" });
    if (difference.kind === "unseen") {
      made.append(el("span", { class: "correction" }, "≠ has not heard of "));
      made.append(el("b", { class: "name" }, shortName(version)), " ");
      made.append(el("span", { class: "said name" }, version.said || "empty"));
    } else {
      made.append(el("b", { class: "name" }, shortName(version)), " ");
      made.append(el("span", { class: "said name" }, version.said || "empty"), " ");
      made.append(correction(difference));
    }
    return made;
  });
  if (rest.length > LINES_MAX) {
    shown.push(el("li", { class: "more" }, `and ${rest.length - LINES_MAX} more ≠`));
  }
  return [el("ul", { class: "things corrections" }, ...shown)];
}
