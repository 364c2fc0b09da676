// The first part: the Run that is told of, its sentences beside it, and the calm run in its place.

/** @import { PageData } from "../types" */

import { button, byId, el, say, toggle } from "./dom.js";
import { wordedButton } from "./glossary.js";
import { Viewer } from "./viewer.js";

export class Story {
  /**
   * @param {PageData} data
   * @param {() => void} moved
   */
  constructor(data, moved) {
    this.data = data;
    this.index = 0;
    /** @type {HTMLButtonElement[]} */
    this.sentences = [];
    this.viewer = new Viewer(byId("viewer"), data.sentences, () => {
      this.mark();
      moved();
    });
    this.addSentences();
    if (data.calm > 0) this.addToggle();
  }

  /** The moments of the Run that is told of, as they are shown. */
  get moments() {
    const { run } = this.viewer;
    return this.isCalm || !run ? this.data.runs[0].moments : run.moments;
  }

  get isCalm() {
    return this.index > 0;
  }

  /**
   * @param {number} step
   * @param {boolean} calm
   */
  show(step, calm) {
    this.index = calm && this.data.calm > 0 ? this.data.calm : 0;
    this.viewer.sentences = this.isCalm ? [] : this.data.sentences;
    this.viewer.load(this.data.runs[this.index], step);
    this.toggleButton?.setAttribute("aria-checked", String(this.isCalm));
  }

  addToggle() {
    const title = "The textbook execution (c)";
    this.toggleButton = toggle("calm run", false, () => this.toggle(), title);
    this.viewer.scrubber.root.append(this.toggleButton);
  }

  /** The same step in the calm run, or in the race again. */
  toggle() {
    if (this.data.calm <= 0) return;
    this.show(this.viewer.step, !this.isCalm);
    say(this.isCalm ? "The calm run." : "The race.");
  }

  /** Each sentence leads to the moment of which it speaks. */
  addSentences() {
    const list = document.getElementById("tale");
    if (!list) return;
    this.sentences = this.data.sentences.map((sentence, index) => {
      const made = button("", "", () => this.tell(index), { class: "sentence" });
      const text = el("span");
      made.append(text);
      wordedButton(made, text, sentence.said);
      return made;
    });
    list.replaceChildren(...this.sentences.map((made) => el("li", {}, made)));
  }

  /**
   * The moment in which that sentence ends; -1 if none shows it.
   * @param {number} index
   * @returns {number}
   */
  momentOf(index) {
    return this.moments.findIndex((moment) => moment.tells.includes(index));
  }

  /** @param {number} index */
  tell(index) {
    if (this.isCalm) this.show(0, false);
    const moment = this.momentOf(index);
    if (moment >= 0) this.viewer.go(moment);
  }

  /** The last sentence that was told up to now; -1 before the first. */
  get current() {
    if (this.isCalm) return -1;
    let found = -1;
    this.data.sentences.forEach((_, index) => {
      const moment = this.momentOf(index);
      if (moment >= 0 && moment <= this.viewer.now) found = index;
    });
    return found;
  }

  /** @param {number} by 1 for the next sentence, -1 for the one before */
  tellNext(by) {
    const current = this.current;
    const isOn = current >= 0 && this.momentOf(current) === this.viewer.now;
    const from = by < 0 && !isOn ? current + 1 : current;
    for (let next = from + by; next >= 0 && next < this.data.sentences.length; next += by) {
      const moment = this.momentOf(next);
      if (moment >= 0 && moment !== this.viewer.now) {
        this.tell(next);
        return;
      }
    }
  }

  mark() {
    const current = this.current;
    this.sentences.forEach((sentence, index) => {
      if (index === current) sentence.setAttribute("aria-current", "step");
      else sentence.removeAttribute("aria-current");
    });
  }
}
