// One Run to step through: the line of moments, what is said, the picture, truth and beliefs.

/** @import { Mark, RunData } from "../types" */

import { cards } from "./bars.js";
import { detail } from "./detail.js";
import { el, scrollInside, toggle } from "./dom.js";
import { worded } from "./glossary.js";
import { Lanes } from "./lanes.js";
import { breachOf, indexOfStep, saidOf, sceneAt, shortened, withoutParts } from "./model.js";
import { Scrubber } from "./scrubber.js";
import { cut, grouped } from "./words.js";

const CAPTION_MAX = 260;
const HINT = "Click a mark, or press Enter on one: its object, its request, its reasons.";

export class Viewer {
  /**
   * @param {HTMLElement} root
   * @param {{ said: string }[]} sentences of the story; only the Run that is told of has them
   * @param {(viewer: Viewer) => void} moved called after each move
   */
  constructor(root, sentences, moved = () => {}) {
    this.root = root;
    this.sentences = sentences;
    this.longest = "";
    this.moved = moved;
    new ResizeObserver(() => this.fit()).observe(document.documentElement);
    window.addEventListener("resize", () => this.fit());
    this.now = 0;
    this.scrubber = new Scrubber((index) => this.go(index));
    this.caption = el("p", { class: "caption", "aria-live": "polite", "aria-atomic": "true" });
    this.side = el("div", {
      class: "beliefs", tabindex: 0, role: "region", "aria-label": "Truth and beliefs",
    });
    this.stage = el("div", { class: "stage" });
    this.about = el("section", {
      class: "detail", "aria-label": "About a mark", "aria-live": "polite",
    });
    this.isWhole = false;
    const title = "The main moments, or all (e)";
    this.wholeButton = toggle("every step", false, () => this.toggleWhole(), title);
    this.scrubber.root.append(this.wholeButton);
    root.replaceChildren(
      el("h2", { class: "visually-hidden" }, "Step by step"), this.scrubber.root, this.caption,
      el("div", { class: "side-by-side" }, this.stage, this.side), this.about,
    );
  }

  /**
   * Show that Run from that step on.
   * @param {RunData} run
   * @param {number} step
   */
  load(run, step) {
    this.whole = run;
    const short = shortened(run);
    this.wholeButton.hidden = short === run;
    this.show(withoutParts(this.isWhole ? run : short), step);
  }

  /** All moments, or the main ones alone. */
  toggleWhole() {
    if (!this.whole) return;
    this.isWhole = !this.isWhole;
    this.wholeButton.setAttribute("aria-checked", String(this.isWhole));
    this.load(this.whole, this.step);
  }

  /**
   * @param {RunData} run
   * @param {number} step
   */
  show(run, step) {
    this.run = run;
    const texts = run.moments.map((moment) => saidOf(moment, this.sentences));
    const longest = texts.reduce((most, text) => (text.length > most.length ? text : most), "");
    this.longest = cut(longest, CAPTION_MAX);
    this.lanes = new Lanes(run, (row, mark) => this.choose(row, mark));
    this.stage.replaceChildren(this.lanes.root);
    this.scrubber.load(run);
    this.lanes.draw();
    this.go(indexOfStep(run.moments, step));
    this.fit();
  }

  /** As high as the window lets it be, so that the picture and the beliefs are seen at once. */
  fit() {
    const top = this.stage.getBoundingClientRect().top + window.scrollY;
    if (!this.stage.clientWidth) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const height = Math.max(window.innerHeight - top - rem, 21 * rem);
    this.root.style.setProperty("--stage", `${height}px`);
    this.lanes?.show(this.now);
  }

  /** The step that is shown. */
  get step() {
    return this.run?.moments[this.now]?.step ?? 0;
  }

  /**
   * Show that moment.
   * @param {number} index
   */
  go(index) {
    const { run, lanes } = this;
    if (!run || !lanes) return;
    this.now = Math.min(Math.max(index, 0), run.moments.length - 1);
    const moment = run.moments[this.now];
    this.scrubber.show(this.now);
    lanes.show(this.now);
    lanes.select(null);
    const isBreach = this.now === breachOf(run);
    this.caption.classList.toggle("broke", isBreach);
    const said = el("span", { class: "caption-text", "data-longest": this.longest });
    const text = saidOf(moment, this.sentences);
    const isOfRun = moment.tells.length > 0 || moment.marks.length > 0;
    said.append(el("span", { class: "name" }, ...(isOfRun ? worded(text) : [text])));
    const when = `${isBreach ? "✗ " : ""}${grouped(moment.ms)} ms`;
    this.caption.replaceChildren(el("span", { class: "when" }, when), said);
    this.scene = sceneAt(run, this.now);
    const acting = moment.marks.map((mark) => mark.lane);
    const [truth, ...beliefs] = cards(this.scene, acting);
    this.side.replaceChildren(truth, ...beliefs);
    const isSmall = truth.offsetHeight < this.side.clientHeight * 0.55;
    truth.classList.toggle("pinned", isSmall);
    const active = this.side.querySelector(".acts");
    if (active instanceof HTMLElement) {
      const above = isSmall ? truth.offsetHeight + 12 : 0;
      scrollInside(this.side, active.offsetTop, active.offsetHeight, above);
    }
    if (!this.about.querySelector(".hint")) {
      this.about.replaceChildren(el("p", { class: "hint" }, HINT));
    }
    this.moved(this);
  }

  /**
   * Tell of that mark.
   * @param {number} row
   * @param {Mark} mark
   */
  choose(row, mark) {
    if (row !== this.now) this.go(row);
    if (!this.run || !this.scene) return;
    this.lanes?.select(mark);
    this.about.replaceChildren(...detail(this.run, row, mark, this.scene));
    this.about.scrollIntoView({ block: "nearest" });
  }
}
