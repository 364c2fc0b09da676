// The guess before the game: it is locked before a move can be made, or it is skipped.

/** @import { MapData, MapEnd } from "../types" */

import { button, el } from "./dom.js";

const NOTHING = "no order breaks a claim";

export class Guess {
  /**
   * @param {MapData} map
   * @param {boolean} asks
   * @param {() => void} settled called when moves may be made
   */
  constructor(map, asks, settled) {
    this.settled = settled;
    this.isSettled = !asks;
    this.chosen = "";
    const actors = [...new Set(map.moves.map((move) => move.actor).filter(Boolean))];
    const known = map.lanes.filter((lane) => actors.includes(lane));
    const others = actors.filter((actor) => !known.includes(actor));
    const choices = [...known, ...others].slice(0, 8);
    this.root = el("div", { class: "guess", hidden: !asks });
    if (asks) this.ask([...choices, NOTHING]);
  }

  /** @param {string[]} choices */
  ask(choices) {
    const off = { class: "main", disabled: true };
    const lock = button("", "Lock my guess", () => this.settle(), off);
    const options = choices.map((choice) => {
      const input = el("input", { type: "radio", name: "guess", value: choice });
      input.addEventListener("change", () => {
        this.chosen = choice;
        lock.disabled = false;
      });
      return el("label", {}, input, el("span", { class: "name" }, choice));
    });
    const legend = el("legend", {}, "Guess first: which actor makes the move that breaks a claim?");
    const skip = button("", "Skip", () => {
      this.chosen = "";
      this.settle();
    });
    this.root.replaceChildren(
      el("fieldset", {}, legend, el("div", { class: "options" }, ...options)),
      el("div", { class: "row" }, lock, skip),
    );
  }

  settle() {
    this.isSettled = true;
    const said = this.chosen ? [el("b", { class: "name" }, this.chosen)] : ["You have skipped it."];
    this.root.replaceChildren(
      el("p", { class: "locked" }, this.chosen ? "Your guess: " : "", ...said),
    );
    this.settled();
  }

  /**
   * What an end says about the guess; empty if it says nothing.
   * @param {MapEnd} end
   * @param {string} actor who made the last move
   * @returns {string}
   */
  judged(end, actor) {
    if (!this.chosen || end.outcome !== "violated") return "";
    if (this.chosen === NOTHING) return `You guessed that ${NOTHING}; this one does.`;
    const whose = actor ? `${actor}'s` : "of no actor";
    return this.chosen === actor
      ? `Your guess was right: the last move was ${whose}.`
      : `You guessed ${this.chosen}; here the last move was ${whose}.`;
  }
}
