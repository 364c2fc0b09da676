// The third part: one thing is changed at a time, and the Run that comes of it stands below.

/** @import { PageData, WhatIf as Change } from "../types" */

import { byId, el, svg, toggle } from "./dom.js";
import { partingOf } from "./model.js";
import { Viewer } from "./viewer.js";
import { SIGNS, grouped } from "./words.js";

export class WhatIf {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.flipped = -1;
    const root = byId("whatif");
    this.switches = data.whatIf.map((change, index) => this.switch(change, index));
    this.result = el("div", { class: "result", role: "status" });
    this.stage = el("div", { class: "viewer" });
    this.viewer = new Viewer(this.stage, []);
    this.stage.hidden = true;
    root.replaceChildren(el("ul", { class: "changes" }, ...this.switches), this.result, this.stage);
    if (!data.whatIf.length) root.replaceChildren();
    const growth = document.getElementById("growth");
    if (growth) growth.replaceChildren(sparkline(data.growth));
    this.show();
  }

  /**
   * @param {Change} change
   * @param {number} index
   * @returns {HTMLElement}
   */
  switch(change, index) {
    const isOn = change.kind === "deviation";
    const made = toggle(change.said, isOn, () => {
      this.flipped = this.flipped === index ? -1 : index;
      this.show();
    });
    const what = isOn ? "in the race" : "a switch";
    const need = change.isNeeded ? `; the breach needs it ${isOn ? "there" : "off"}` : "";
    return el("li", {}, made, el("small", {}, `${what}${need}`));
  }

  show() {
    const { data, flipped } = this;
    this.switches.forEach((item, index) => {
      const isOn = (data.whatIf[index].kind === "deviation") !== (index === flipped);
      item.querySelector("button")?.setAttribute("aria-checked", String(isOn));
      item.classList.toggle("flipped", index === flipped);
    });
    const change = data.whatIf[flipped];
    const as = verdict(data.outcome, data.claim || data.said);
    if (!change) {
      this.result.replaceChildren(as, el("p", {}, "As it was. Flip a switch."));
      this.stage.hidden = true;
      return;
    }
    const word = change.kind === "deviation" ? "without it" : "with it";
    this.result.replaceChildren(
      as, el("span", { class: "turns", "aria-hidden": "true" }, "→"),
      verdict(change.outcome, word), el("p", { class: "name" }, change.shown),
    );
    const run = data.runs[change.run];
    this.stage.hidden = !run;
    if (run) this.viewer.load(run, run.moments[partingOf(run, data.runs[0])].step);
    else this.result.append(el("p", { class: "hint" }, "That Run was left out of this page."));
  }
}

/**
 * @param {string} outcome
 * @param {string} text
 * @returns {HTMLElement}
 */
function verdict(outcome, text) {
  return el(
    "span", { class: `verdict ${outcome}` },
    el("span", { "aria-hidden": "true" }, SIGNS[outcome]), ` ${outcome}`,
    el("small", { class: "name" }, ` ${text}`),
  );
}

/**
 * How the share of Runs that fail grows from step to step.
 * @param {PageData["growth"]} growth
 * @returns {SVGElement}
 */
function sparkline(growth) {
  const [width, height] = [720, 120];
  const most = Math.max(...growth.map((point) => point.step), 1);
  const points = growth.map(({ step, failed, runs }) => ({
    step, share: runs ? failed / runs : 0, x: 8 + (width - 16) * step / most,
    y: height - 24 - (height - 40) * (runs ? failed / runs : 0),
  }));
  const jump = points.slice(1).reduce((best, point, index) => {
    const rise = point.share - points[index].share;
    return rise > best.rise ? { rise, point } : best;
  }, { rise: 0, point: points[0] });
  const box = `0 0 ${width} ${height}`;
  const picture = svg("svg", { class: "sparkline", viewBox: box, role: "img" });
  const isLate = jump.point.x > width / 2;
  const said = `From ${percent(points[0])} to ${percent(points[points.length - 1])}; `
    + `it grows most up to step ${grouped(jump.point.step)}.`;
  picture.append(
    svg("title", {}, said),
    svg("line", { class: "axis", x1: 8, x2: width - 8, y1: height - 24, y2: height - 24 }),
    svg("polyline", { points: points.map((p) => `${p.x},${p.y}`).join(" ") }),
    ...points.map((p) => svg("circle", { cx: p.x, cy: p.y, r: p === jump.point ? 6 : 3 })),
    svg("text", {
      x: jump.point.x + (isLate ? -10 : 10), y: Math.max(jump.point.y - 6, 14),
      "font-size": 13, "text-anchor": isLate ? "end" : "start",
    }, `step ${grouped(jump.point.step)}: ${percent(jump.point)}`),
  );
  return picture;
}

/**
 * @param {{ share: number }} point
 * @returns {string}
 */
function percent(point) {
  return `${Math.round(100 * point.share)} %`;
}
