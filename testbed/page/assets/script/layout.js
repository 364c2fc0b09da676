// Where everything of the picture stands: the middle of each lane, the place of each row and label.

/** @import { Mark, RunData } from "../types" */

import { rowOfStep } from "./model.js";
import { fitted, widthOf } from "./words.js";

const TIME = 104;
const ROW = 36;
const MORE = 22;
const LANE_MIN = 104;
const FONT = 'ui-sans-serif, system-ui, "Segoe UI", "Liberation Sans", sans-serif';

/**
 * How an arrow leaves a mark on one side: not at all, level or downward, or upward.
 * @typedef {"" | "flat" | "up"} Slope
 * @typedef {{ left: Slope, right: Slope }} Sides
 */

export class Layout {
  /**
   * @param {RunData} run
   * @param {number} room how wide the box of the picture is
   * @param {number} scale how large type is, as a share of the usual
   */
  constructor(run, room, scale) {
    this.run = run;
    this.scale = scale;
    this.time = TIME * scale;
    this.width = Math.max(room, (TIME + run.lanes.length * LANE_MIN) * scale + 8);
    this.each = (this.width - this.time - 8) / run.lanes.length;
    this.font = `600 ${12.5 * scale}px ${FONT}`;
    this.store = run.lanes.find((lane) => lane.kind === "store")?.name ?? "";
    this.places = new Map(run.lanes.map((lane, index) =>
      [lane.name, this.time + (index + 0.5) * this.each]));
    this.tops = [6 * scale];
    for (const moment of run.moments) {
      /** @type {Map<string, number>} */
      const lines = new Map();
      for (const { lane } of moment.marks) lines.set(lane, (lines.get(lane) ?? 0) + 1);
      const most = Math.max(1, ...lines.values());
      this.tops.push(this.tops[this.tops.length - 1] + (ROW + (most - 1) * MORE) * scale);
    }
    this.height = this.tops[this.tops.length - 1] + 8 * scale;
    this.sides = this.sidesOfAll();
  }

  /**
   * The middle of that lane.
   * @param {string} lane
   * @returns {number}
   */
  x(lane) {
    return this.places.get(lane) ?? 0;
  }

  /**
   * The middle of the first line of that row, or of a later one.
   * @param {number} row
   * @param {number} [line]
   * @returns {number}
   */
  y(row, line = 0) {
    return this.tops[row] + (ROW * 0.6 + line * MORE) * this.scale;
  }

  /**
   * @param {number} row
   * @returns {number}
   */
  rowHeight(row) {
    return this.tops[row + 1] - this.tops[row];
  }

  /**
   * The row in which that step is shown.
   * @param {number} step
   * @returns {number}
   */
  row(step) {
    return rowOfStep(this.run.moments, step);
  }

  /** On which sides of each lane an arrow begins or ends, row by row. */
  sidesOfAll() {
    /** @type {Map<string, Sides>} */
    const found = new Map();
    for (const arrow of this.run.arrows) {
      if (arrow.weight === 0) continue;
      for (const [end, other] of [[arrow.from, arrow.to], [arrow.to, arrow.from]]) {
        const [row, otherRow] = [this.row(end.step), this.row(other.step)];
        const key = `${row} ${end.lane}`;
        const sides = found.get(key) ?? { left: "", right: "" };
        const side = this.x(other.lane) < this.x(end.lane) ? "left" : "right";
        if (sides[side] !== "flat") sides[side] = otherRow < row ? "up" : "flat";
        found.set(key, sides);
      }
    }
    return found;
  }

  /**
   * Where the words of a mark stand, and as much of them as fits: on a side where no arrow leaves
   * if they fit there, else above or below the arrow.
   * @param {Mark} mark
   * @param {string} text
   * @param {number} row
   * @param {number} line
   * @returns {{ x: number, y: number, anchor: string, text: string }}
   */
  label(mark, text, row, line) {
    const { run, scale } = this;
    const moment = run.moments[row];
    const x = this.x(mark.lane);
    const others = moment.marks.map((other) => this.x(other.lane));
    const hasPlate = row === 0 || moment.rv !== run.moments[row - 1].rv;
    if (line === 0 && hasPlate && this.store) others.push(this.x(this.store));
    const pad = (mark.lane === this.store ? 20 : 13) * scale;
    const gap = pad + 14 * scale;
    const rooms = {
      left: x - Math.max(this.time, ...others.filter((o) => o < x - 1)) - gap,
      right: Math.min(this.width, ...others.filter((o) => o > x + 1)) - x - gap,
    };
    const none = /** @type {Sides} */ ({ left: "", right: "" });
    const used = line === 0 ? this.sides.get(`${row} ${mark.lane}`) ?? none : none;
    const needed = widthOf(text, this.font);
    const free = /** @type {const} */ (["right", "left"]).filter((side) => !used[side]);
    const wider = rooms.right >= rooms.left ? "right" : "left";
    const side = free.find((one) => rooms[one] >= needed) ?? wider;
    // Below a mark there is no room if another one of its lane stands there.
    const isAlone = moment.marks.filter((other) => other.lane === mark.lane).length === 1;
    const slope = used[side] === "up" && !isAlone ? "flat" : used[side];
    return {
      x: side === "right" ? x + pad : x - pad,
      y: this.y(row, line) + { "": 4, flat: -7, up: 15 }[slope] * scale,
      anchor: side === "right" ? "start" : "end",
      text: fitted(text, Math.max(rooms[side], 40), this.font),
    };
  }
}
