// The level: its question is asked first; until it is answered nothing else tells the answer.

/** @import { LevelData } from "../types" */

import { button, byId, el, say } from "./dom.js";
import { worded } from "./glossary.js";
import { keep, kept } from "./shell.js";

const SKIPPED = 0;

/**
 * The text with its words underlined, and as code what stands between backquotes.
 * @param {string} text
 */
function withCode(text) {
  return text.split("`").flatMap((part, index) =>
    index % 2 ? [el("code", {}, part)] : worded(part));
}

export class Level {
  /**
   * @param {LevelData} level
   * @param {(tab: string) => void} go opens that part of the page
   */
  constructor(level, go) {
    this.level = level;
    this.go = go;
    this.memory = `guess-${level.name}`;
    this.root = byId("level-guess");
    const before = /^\d+$/.test(kept(this.memory)) ? Number(kept(this.memory)) : -1;
    /** The place of the choice from 1; 0 if it was skipped; -1 before. */
    this.given = before <= level.choices.length ? before : -1;
    for (const text of document.querySelectorAll("#panel-level .worded")) {
      text.replaceChildren(...withCode(text.textContent ?? ""));
    }
    for (const found of document.querySelectorAll("[data-go]")) {
      const tool = /** @type {HTMLElement} */ (found);
      tool.addEventListener("click", () => this.visit(tool.dataset.go ?? ""));
    }
    const figures = document.querySelector(".figures");
    if (figures) document.querySelector(".top-row")?.prepend(figures);
    this.oneHintAtATime();
    this.gates = this.addGates();
    this.show();
  }

  get isSettled() {
    return this.given >= 0;
  }

  /**
   * Open a part of the page at its top; its keys work at once.
   * @param {string} tab
   */
  visit(tab) {
    this.go(tab);
    byId("main").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  /**
   * Lock that choice; 0 skips.
   * @param {number} given
   */
  settle(given) {
    this.given = given;
    keep(this.memory, String(given));
    this.show();
    say(this.root.querySelector("h3")?.textContent ?? "");
    // What was hidden until now has had no size.
    window.dispatchEvent(new Event("resize"));
  }

  again() {
    this.given = -1;
    keep(this.memory, "");
    this.show();
    this.root.querySelector("input")?.focus();
  }

  /** Go to the guess, or to what came of it. */
  ask() {
    const at = this.root.querySelector("input, #level-answer");
    if (at instanceof HTMLElement) at.focus();
  }

  show() {
    document.documentElement.dataset.guess = this.isSettled ? "settled" : "open";
    /** @type {HTMLDetailsElement} */ (byId("spoils")).open = this.isSettled;
    for (const gate of this.gates) gate.hidden = this.isSettled;
    if (this.isSettled) this.root.replaceChildren(...this.answer());
    else this.root.replaceChildren(...this.question());
  }

  /** @returns {HTMLElement[]} */
  question() {
    let chosen = SKIPPED;
    const lock = button("", "Lock my guess", () => {
      this.settle(chosen);
      byId("level-answer").focus();
    }, { class: "main", disabled: true });
    const choices = this.level.choices.map((choice, index) => {
      const input = el("input", { type: "radio", name: "level-guess", value: index + 1 });
      input.addEventListener("change", () => {
        chosen = index + 1;
        lock.disabled = false;
      });
      return el("label", {}, input, `${index + 1} `, el("span", { class: "name" }, choice));
    });
    const skip = button("", "Skip", () => {
      this.settle(SKIPPED);
      byId("level-answer").focus();
    });
    return [
      el("fieldset", {},
        el("legend", { class: "visually-hidden" }, this.level.question),
        el("div", { class: "options one-a-line" }, ...choices)),
      el("div", { class: "row" }, lock, skip),
    ];
  }

  /** @returns {HTMLElement[]} */
  answer() {
    const { level, given } = this;
    const isRight = given === level.answer;
    const title = given === SKIPPED ? "Skipped" : isRight ? "✓ Right" : "✗ Not this one";
    const marks = level.choices.map((choice, index) => {
      const place = index + 1;
      const said = place === level.answer ? "✓ right" : place === given ? "✗ your guess" : "";
      const whole = place === level.answer && place === given ? "✓ your guess" : said;
      const made = el("li", {}, el("span", { class: "name" }, choice));
      if (whole) made.append(" ", el("b", {}, whole));
      if (place === level.answer) made.className = "right";
      return made;
    });
    return [
      el("div", {
        class: `judgement ${isRight ? "held" : given === SKIPPED ? "" : "violated"}`,
        id: "level-answer", tabindex: -1,
      },
      el("h3", {}, title),
      el("ol", { class: "choices-said" }, ...marks),
      el("p", {}, ...withCode(level.why))),
      el("div", { class: "row" }, button("undo", "Guess again", () => this.again())),
    ];
  }

  /** Each hint opens the next one. */
  oneHintAtATime() {
    const hints = /** @type {HTMLDetailsElement[]} */ (
      [...byId("hints").querySelectorAll("details")]
    );
    hints.forEach((hint, index) => {
      hint.hidden = index > 0;
      hint.addEventListener("toggle", () => {
        if (hint.open && hints[index + 1]) hints[index + 1].hidden = false;
      });
    });
  }

  /** In each other part, as long as it would tell the answer: guess first. */
  addGates() {
    const panels = [...document.querySelectorAll(".panel")];
    return panels.filter((panel) => panel.id !== "panel-level").map((panel) => {
      const gate = el("div", { class: "gate" },
        el("h2", {}, "Guess first"),
        el("p", {}, "This part tells the answer."),
        el("div", { class: "row" },
          button("", "To the question", () => {
            this.go("level");
            this.root.querySelector("input")?.focus();
          }, { class: "main" }),
          button("", "Skip the guess", () => {
            this.settle(SKIPPED);
            byId("main").focus({ preventScroll: true });
          })));
      panel.prepend(gate);
      return gate;
    });
  }
}
