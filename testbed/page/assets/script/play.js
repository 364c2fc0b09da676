// A game on the map of a World: where the player is, how it came there, what was seen.

/** @import { MapData, MapEnd, MapState } from "../types" */

/**
 * One move that was made: from which state, by which of its moves, to which.
 * @typedef {{ from: number, move: number, to: number }} Made
 */

export class Game {
  /** @param {MapData} map */
  constructor(map) {
    this.map = map;
    this.at = 0;
    /** @type {Made[]} */
    this.made = [];
    this.seen = new Set([0]);
    /** @type {Set<number>} */
    this.endsSeen = new Set();
    this.note();
  }

  /** @returns {MapState} */
  get state() {
    return this.map.states[this.at];
  }

  /** The end that is reached, if any. @returns {MapEnd | null} */
  get end() {
    return this.state.end < 0 ? null : this.map.ends[this.state.end];
  }

  /** What may be done here, the calm move first; at rest only a fault may strike. */
  get moves() {
    return this.state.next;
  }

  /** Who made the last move; empty at the start. */
  get lastActor() {
    const last = this.made.at(-1);
    return last ? this.map.moves[last.move].actor : "";
  }

  note() {
    this.seen.add(this.at);
    if (this.state.end >= 0) this.endsSeen.add(this.state.end);
  }

  /**
   * Make the n-th of the moves; says whether there is one.
   * @param {number} nth
   * @returns {boolean}
   */
  take(nth) {
    const chosen = this.moves[nth];
    if (!chosen) return false;
    const [move, to] = chosen;
    this.made.push({ from: this.at, move, to });
    this.at = to;
    this.note();
    return true;
  }

  /**
   * Take back all moves after the first so many; what was seen stays seen.
   * @param {number} count
   */
  backTo(count) {
    const dropped = this.made.splice(Math.max(count, 0));
    if (dropped.length) this.at = dropped[0].from;
  }

  /** How many of the moves made were not the calm one. */
  get bold() {
    return this.made.filter(({ from, to }) => !isCalm(this.map.states[from], to)).length;
  }

  /** After how many moves this very state was there before; -1 if it is new on this way. */
  get circle() {
    return this.made.findIndex(({ from }) => from === this.at);
  }

  /** How many moves can be made before there is a choice, or an end. */
  get ahead() {
    const met = new Set();
    let [at, count] = [this.at, 0];
    for (;;) {
      const { next, end } = this.map.states[at];
      if (end >= 0 || next.length !== 1 || met.has(at)) return count;
      met.add(at);
      at = next[0][1];
      count += 1;
    }
  }

  /** Go on until there is a choice, or an end. */
  goOn() {
    for (let left = this.ahead; left > 0; left -= 1) this.take(0);
  }

  undo() {
    this.backTo(this.made.length - 1);
  }

  restart() {
    this.backTo(0);
  }

  /**
   * Walk the shortest way to that end.
   * @param {number} end
   */
  walk(end) {
    this.restart();
    for (const to of this.map.ends[end].shortest.slice(1)) {
      const nth = this.moves.findIndex(([, target]) => target === to);
      if (!this.take(nth)) return;
    }
  }
}

/**
 * Whether to go to that state is what the calm run does; at rest it does nothing.
 * @param {MapState} from
 * @param {number} to
 * @returns {boolean}
 */
export function isCalm(from, to) {
  return from.end < 0 && from.next[0][1] === to;
}

/**
 * How many moves each state is away from the start, at least; -1 if no way leads there.
 * @param {MapData} map
 * @returns {number[]}
 */
export function depths(map) {
  const found = new Array(map.states.length).fill(-1);
  let [front, depth] = [[0], 0];
  found[0] = 0;
  while (front.length) {
    depth += 1;
    /** @type {number[]} */
    const next = [];
    for (const state of front) {
      for (const [, to] of map.states[state].next) {
        if (found[to] < 0) {
          found[to] = depth;
          next.push(to);
        }
      }
    }
    front = next;
  }
  return found;
}

/**
 * How many moves on the machine's way to that end are not the calm one.
 * @param {MapData} map
 * @param {number} end
 * @returns {number}
 */
export function boldOf(map, end) {
  const way = map.ends[end].shortest;
  return way.slice(1).filter((to, index) => !isCalm(map.states[way[index]], to)).length;
}

/**
 * The violated end that is nearest to the calm run: by the moves that are not calm, then by all.
 * Without one the first end; -1 if there is none.
 * @param {MapData} map
 * @returns {number}
 */
export function worstEnd(map) {
  const violated = map.ends.flatMap((end, index) => end.outcome === "violated" ? [index] : []);
  const length = (/** @type {number} */ end) => map.ends[end].shortest.length;
  violated.sort((a, b) => boldOf(map, a) - boldOf(map, b) || length(a) - length(b) || a - b);
  return violated[0] ?? (map.ends.length ? 0 : -1);
}
