// The line of moments: buttons, a range, a dot for each moment, and ✗ where the claim breaks.

/** @import { RunData } from "../types" */

import { button, el, icon, svg } from "./dom.js";
import { breachOf } from "./model.js";
import { grouped } from "./words.js";

const BEAT_MS = 1000;

export class Scrubber {
  /** @param {(index: number) => void} go what shows that moment */
  constructor(go) {
    this.go = go;
    this.now = 0;
    this.last = 0;
    /** @type {number | undefined} */
    this.beat = undefined;
    /** @type {SVGElement[]} */
    this.dots = [];
    this.said = el("output", { class: "where", "aria-live": "off" });
    this.range = el("input", { type: "range", min: 0, step: 1, "aria-label": "Moment" });
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    this.marks = svg("svg", { class: "dots", "aria-hidden": "true" });
    this.player = button("play", "", () => this.toggle(), { "aria-label": "Play", title: "Play" });
    const move = (/** @type {string} */ name, /** @type {string} */ label,
      /** @type {() => number} */ to) =>
      button(name, "", () => this.go(to()), { "aria-label": label, title: label });
    this.root = el(
      "div", { class: "scrubber" },
      el("div", { class: "moves" },
        move("first", "First moment", () => 0),
        move("back", "Back", () => this.now - 1),
        this.player,
        move("next", "Next", () => this.now + 1),
        move("last", "Last moment", () => this.last)),
      this.said,
      el("div", { class: "track" }, this.range, this.marks),
    );
  }

  /** @param {RunData} run */
  load(run) {
    this.stop();
    this.last = run.moments.length - 1;
    this.steps = run.moments.map((moment) => moment.step);
    this.range.max = String(this.last);
    const breach = breachOf(run);
    const small = this.last > 60;
    this.dots = run.moments.map((moment, index) => {
      const x = `${(100 * index) / Math.max(this.last, 1)}%`;
      if (index === breach) {
        const cross = svg("path", { d: "M-6 -6L6 6M6 -6L-6 6" });
        return svg("svg", { class: "breach", x, y: "50%" }, cross);
      }
      const r = moment.tells.length ? 4.5 : small ? 1.5 : 3;
      return svg("circle", { cx: x, cy: "50%", r });
    });
    this.marks.replaceChildren(...this.dots);
  }

  /** @param {number} index */
  show(index) {
    this.now = index;
    this.range.value = String(index);
    const step = this.steps?.[index] ?? 0;
    const text = `moment ${index + 1} of ${this.last + 1}, step ${step}`;
    this.range.setAttribute("aria-valuetext", text);
    this.said.replaceChildren(
      el("b", {}, String(index + 1)), ` of ${this.last + 1}`,
      el("small", {}, ` step ${grouped(step)}`),
    );
    this.dots.forEach((dot, at) => {
      dot.setAttribute("data-when", at < index ? "past" : at > index ? "ahead" : "now");
    });
    if (index >= this.last) this.stop();
  }

  toggle() {
    if (this.beat !== undefined) {
      this.stop();
      return;
    }
    if (this.now >= this.last) this.go(0);
    this.beat = window.setInterval(() => this.go(this.now + 1), BEAT_MS);
    this.face("pause", "Stop");
  }

  stop() {
    window.clearInterval(this.beat);
    this.beat = undefined;
    this.face("play", "Play");
  }

  /**
   * @param {string} name
   * @param {string} label
   */
  face(name, label) {
    this.player.replaceChildren(icon(name));
    this.player.setAttribute("aria-label", label);
    this.player.title = label;
  }
}
