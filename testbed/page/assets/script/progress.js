// How much of the map was seen: a bar for each number of moves from the start, and every end.

/** @import { MapData } from "../types" */
/** @import { Game } from "./play.js" */

import { el, svg } from "./dom.js";
import { depths } from "./play.js";
import { SIGNS, counted, grouped } from "./words.js";

const BARS_MAX = 48;

export class Progress {
  /** @param {MapData} map */
  constructor(map) {
    this.depths = depths(map);
    const deepest = Math.max(...this.depths, 0);
    this.wide = Math.ceil((deepest + 1) / BARS_MAX);
    /** How many states stand in each bar. @type {number[]} */
    this.totals = new Array(Math.ceil((deepest + 1) / this.wide)).fill(0);
    for (const depth of this.depths) {
      if (depth >= 0) this.totals[Math.floor(depth / this.wide)] += 1;
    }
    this.said = el("p", { class: "seen" });
    this.picture = svg("svg", {
      class: "silhouette", preserveAspectRatio: "none", "aria-hidden": "true",
    });
    this.ends = el("ul", { class: "ends", "aria-label": "The ends of the map" });
    this.root = el("div", { class: "progress" }, this.said, this.picture, this.ends);
  }

  /** @param {Game} game */
  show(game) {
    const { map, seen, endsSeen } = game;
    const states = counted(map.states.length, "state");
    this.said.replaceChildren(states, ", you have seen ", el("b", {}, grouped(seen.size)), " · ");
    if (!map.ends.length) this.said.append("no order comes to an end");
    else {
      const ends = ` of ${counted(map.ends.length, "end")}`;
      this.said.append(el("b", {}, grouped(endsSeen.size)), ends);
    }
    const met = new Array(this.totals.length).fill(0);
    for (const state of seen) met[Math.floor(Math.max(this.depths[state], 0) / this.wide)] += 1;
    const most = Math.sqrt(Math.max(...this.totals));
    const here = Math.floor(Math.max(this.depths[game.at], 0) / this.wide);
    const width = 10 * this.totals.length;
    this.picture.setAttribute("viewBox", `0 0 ${width} 64`);
    this.picture.replaceChildren(...this.totals.flatMap((total, bar) => {
      // The root keeps a bar of one state visible beside one of hundreds.
      const height = 56 * Math.sqrt(total) / most;
      const part = height * met[bar] / total;
      const box = { x: bar * 10 + 1, width: 8 };
      return [
        svg("rect", { ...box, y: 58 - height, height, class: bar === here ? "all here" : "all" }),
        svg("rect", { ...box, y: 58 - part, height: part, class: "met" }),
        ...(bar === here ? [svg("rect", { ...box, y: 60, height: 4, class: "pin" })] : []),
      ];
    }));
    this.ends.replaceChildren(...map.ends.map((end, index) => {
      const isMet = endsSeen.has(index);
      const text = isMet ? `${end.outcome}${end.claim ? `: ${end.claim}` : ""}` : "not seen yet";
      return el(
        "li", { class: isMet ? end.outcome : "unseen", title: text },
        el("span", { "aria-hidden": "true" }, isMet ? SIGNS[end.outcome] : "◌"),
        el("span", { class: "visually-hidden" }, text),
      );
    }));
  }
}
