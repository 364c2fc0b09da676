// The picture: a column for each actor, the store in the middle, a row for each moment.

/** @import { Arrow, Mark, Moment, RunData } from "../types" */

import { el, scrollInside, svg } from "./dom.js";
import { Layout } from "./layout.js";
import { breachOf } from "./model.js";
import { shape, staleCurve, tip } from "./shapes.js";
import { MARKS, brief, grouped } from "./words.js";

const SKIPS = "A row is shown only where something is seen, so numbers of steps are skipped.";

/** @typedef {{ row: number, mark: Mark, group: SVGGElement }} Drawn */

export class Lanes {
  /**
   * @param {RunData} run
   * @param {(row: number, mark: Mark) => void} chosen what happens when a mark is chosen
   */
  constructor(run, chosen) {
    this.run = run;
    this.chosen = chosen;
    this.now = 0;
    this.layout = new Layout(run, 0, 1);
    this.isDrawn = false;
    this.head = el("div", { class: "lane-heads", "aria-hidden": "true" });
    this.sheet = el("div", { class: "sheet" });
    this.root = el(
      "div", { class: "lanes", tabindex: 0, role: "region", "aria-label": "The picture" },
      this.head, this.sheet,
    );
    this.band = svg("rect", { class: "now-band", x: 0 });
    /** @type {Drawn[]} */
    this.drawn = [];
    /** @type {{ rows: number[], line: SVGElement }[]} */
    this.lines = [];
    /** The signs of curves, which stand above all words. @type {SVGElement[]} */
    this.signs = [];
    /** @type {{ row: number, group: SVGElement }[]} */
    this.plates = [];
    /** @type {SVGElement[]} */
    this.times = [];
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  draw() {
    const room = this.root.clientWidth;
    const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    if (!room) return;
    const layout = new Layout(this.run, room, scale);
    const isSame = this.layout.width === layout.width && this.layout.scale === scale;
    if (this.isDrawn && isSame) return;
    this.layout = layout;
    this.isDrawn = true;
    const { width, height } = layout;
    const picture = svg("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `${this.run.name}: ${this.run.moments.length} moments`,
    });
    this.band.setAttribute("width", String(width));
    picture.append(svg("title", {}, this.run.name), svg("desc", {}, this.run.said));
    picture.append(this.band, ...this.lifelines(), ...this.dying(), ...this.arrows());
    picture.append(...this.revisions(), ...this.timeColumn(), ...this.marks());
    picture.append(...this.signs);
    this.sheet.replaceChildren(picture);
    this.drawHead();
    this.show(this.now);
  }

  drawHead() {
    const { each, width } = this.layout;
    this.head.style.width = `${width}px`;
    this.head.replaceChildren(
      el("span", { class: "head-time" }, "ms"),
      el("span", { class: "head-step", title: SKIPS }, "step"),
      ...this.run.lanes.map((lane) => {
        const head = el("span", { class: `head ${lane.kind}` }, el("bdi", {}, lane.name));
        head.style.left = `${this.layout.x(lane.name) - each / 2}px`;
        head.style.width = `${each}px`;
        head.title = lane.name;
        return head;
      }),
    );
  }

  /** @returns {SVGElement[]} */
  lifelines() {
    const { height, scale } = this.layout;
    return this.run.lanes.flatMap((lane) => {
      const x = this.layout.x(lane.name);
      const text = { x, y: 11 * scale, "text-anchor": "middle", class: "print-only" };
      return [
        svg("line", { class: `life ${lane.kind}`, x1: x, x2: x, y1: 0, y2: height }),
        svg("text", { ...text, "font-size": 12 * scale, "aria-hidden": "true" }, lane.name),
      ];
    });
  }

  /** From when to when an object was marked for deletion and was still there. */
  dying() {
    const { layout } = this;
    const { scale } = layout;
    if (!layout.store) return [];
    return this.run.terminating.map(({ key, from, to }, nth) => {
      const x = layout.x(layout.store) + ((nth % 2 ? 5 : -11)) * scale;
      const top = layout.y(layout.row(from));
      const bottom = Math.max(layout.y(layout.row(to)), top + 10);
      const box = { x, y: top, width: 6 * scale, height: bottom - top, rx: 2 };
      return svg("rect", { class: "dying", ...box }, svg("title", {}, `${key} is terminating`));
    });
  }

  /** @returns {SVGElement[]} */
  arrows() {
    this.lines = [];
    this.signs = [];
    const known = new Set(this.run.lanes.map((lane) => lane.name));
    const made = [];
    // What matters is drawn last, above the rest.
    for (const arrow of [...this.run.arrows].sort((a, b) => a.weight - b.weight)) {
      if (!known.has(arrow.from.lane) || !known.has(arrow.to.lane)) continue;
      const rows = [arrow.from, arrow.to].map((end) => this.layout.row(end.step));
      const line = this.arrow(arrow, rows[0], rows[1]);
      this.lines.push({ rows, line });
      made.push(line);
    }
    return made;
  }

  /**
   * @param {Arrow} arrow
   * @param {number} fromRow
   * @param {number} toRow
   * @returns {SVGElement}
   */
  arrow(arrow, fromRow, toRow) {
    const { layout } = this;
    const { scale } = layout;
    const group = svg("g", { class: `arrow ${arrow.kind} ${arrow.line} weight-${arrow.weight}` });
    if (arrow.text) group.append(svg("title", {}, arrow.text));
    const y1 = layout.y(fromRow);
    let [x1, x2, y2] = [layout.x(arrow.from.lane), layout.x(arrow.to.lane), layout.y(toRow)];
    if (arrow.kind === "stale") {
      const { line, sign } = staleCurve(x1, y1, x2, y2, scale);
      group.append(...line);
      const above = svg("g", { class: "arrow stale weight-2" }, ...sign);
      this.lines.push({ rows: [fromRow, toRow], line: above });
      this.signs.push(above);
      return group;
    }
    const sign = Math.sign(x2 - x1) || 1;
    const gap = (/** @type {string} */ lane) => (lane === layout.store ? 17 : 8) * scale;
    x1 += sign * gap(arrow.from.lane);
    x2 -= sign * gap(arrow.to.lane) * (arrow.line === "refused" ? 1.4 : 1);
    if (arrow.line === "lost") {
      x2 = x1 + (x2 - x1) * 0.62;
      y2 = y1 + (y2 - y1) * 0.62;
    }
    group.append(svg("line", { x1, y1, x2, y2 }), tip(arrow.line, x1, y1, x2, y2, scale));
    return group;
  }

  /** A plate on the store for each new revision. */
  revisions() {
    const { layout, run } = this;
    const { scale } = layout;
    this.plates = [];
    if (!layout.store) return [];
    const x = layout.x(layout.store);
    for (const [row, moment] of run.moments.entries()) {
      if (row > 0 && moment.rv === run.moments[row - 1].rv) continue;
      const y = layout.y(row);
      const box = { x: x - 15 * scale, y: y - 9 * scale, width: 30 * scale, height: 18 * scale };
      const text = { x, y: y + 4 * scale, "text-anchor": "middle", "font-size": 11.5 * scale };
      this.plates.push({ row, group: svg(
        "g", { class: "plate" }, svg("title", {}, `revision ${moment.rv}`),
        svg("rect", { ...box, rx: 4 * scale }), svg("text", text, String(moment.rv)),
      ) });
    }
    return this.plates.map((plate) => plate.group);
  }

  /** When each row was, and which step it is. */
  timeColumn() {
    const { layout, run } = this;
    const { scale } = layout;
    const breach = breachOf(run);
    this.times = run.moments.map((moment, row) => {
      const end = {
        y: layout.y(row) + 4 * scale, "text-anchor": "end", "font-size": 11.5 * scale,
      };
      const group = svg("g", { class: "time" });
      if (row === 0 || moment.ms !== run.moments[row - 1].ms) {
        group.append(svg("text", { ...end, x: 56 * scale }, grouped(moment.ms)));
      }
      const step = { ...end, x: 96 * scale, class: row === breach ? "step broke" : "step" };
      group.append(svg("text", step, `${row === breach ? "✗ " : ""}${moment.step}`));
      return group;
    });
    return this.times;
  }

  /** @returns {SVGElement[]} */
  marks() {
    this.drawn = [];
    this.run.moments.forEach((moment, row) => {
      /** @type {Map<string, number>} */
      const lines = new Map();
      for (const mark of moment.marks) {
        const line = lines.get(mark.lane) ?? 0;
        lines.set(mark.lane, line + 1);
        this.drawn.push({ row, mark, group: this.mark(mark, row, line, moment) });
      }
    });
    return this.drawn.map((drawn) => drawn.group);
  }

  /**
   * @param {Mark} mark
   * @param {number} row
   * @param {number} line
   * @param {Moment} moment
   * @returns {SVGGElement}
   */
  mark(mark, row, line, moment) {
    const { layout } = this;
    const { scale } = layout;
    const [x, y] = [layout.x(mark.lane), layout.y(row, line)];
    const group = svg("g", {
      class: `mark ${mark.sign} weight-${mark.weight}`, role: "button", tabindex: -1,
      "aria-label": `${mark.lane}, step ${mark.step}, ${MARKS[mark.sign]}: ${mark.text}`,
    });
    group.append(svg("title", {}, mark.text));
    const box = { x: x - 12 * scale, y: y - 12 * scale, width: 24 * scale, height: 24 * scale };
    group.append(svg("rect", { class: "reach", ...box, rx: 6 }));
    const hasPlate = mark.lane === layout.store && line === 0
      && (row === 0 || moment.rv !== this.run.moments[row - 1].rv);
    if (!hasPlate) group.append(...shape(mark.sign, x, y, scale));
    const label = layout.label(mark, brief(mark.text, this.run.versions), row, line);
    const place = { x: label.x, y: label.y, "text-anchor": label.anchor };
    group.append(svg("text", { ...place, "font-size": 12.5 * scale }, label.text));
    this.wire(group, () => this.chosen(row, mark));
    return group;
  }

  /**
   * @param {SVGElement} group
   * @param {() => void} choose
   */
  wire(group, choose) {
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      choose();
    });
  }

  /**
   * Show that moment as the present one.
   * @param {number} row
   */
  show(row) {
    this.now = row;
    const { layout } = this;
    const top = layout.tops[row];
    this.band.setAttribute("y", String(top + 3 * layout.scale));
    this.band.setAttribute("height", String(layout.rowHeight(row)));
    const when = (/** @type {number} */ r) => (r < row ? "past" : r > row ? "ahead" : "now");
    this.times.forEach((group, r) => group.setAttribute("data-when", when(r)));
    this.plates.forEach((plate) => plate.group.setAttribute("data-when", when(plate.row)));
    for (const { row: r, group } of this.drawn) {
      group.setAttribute("data-when", when(r));
      group.setAttribute("tabindex", r === row ? "0" : "-1");
    }
    for (const { rows, line } of this.lines) {
      line.setAttribute("data-when", rows.includes(row) ? "now" : when(Math.max(...rows)));
    }
    const head = this.head.offsetHeight;
    scrollInside(this.root, top + head, layout.rowHeight(row), head);
  }

  /** @param {Mark | null} mark */
  select(mark) {
    for (const drawn of this.drawn) drawn.group.classList.toggle("chosen", drawn.mark === mark);
  }
}
