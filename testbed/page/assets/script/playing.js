// The second part: the reader makes the moves, on the complete map, and sees where they end.

/** @import { MapData, Version } from "../types" */
/** @import { Known, Scene } from "./model.js" */

import { cards } from "./bars.js";
import { button, el, say } from "./dom.js";
import { wordedButton } from "./glossary.js";
import { Guess } from "./guess.js";
import { NONE_SAID, realmOf, steadyOf } from "./model.js";
import { Game, boldOf, isCalm, worstEnd } from "./play.js";
import { Progress } from "./progress.js";
import { SIGNS, counted, grouped } from "./words.js";

/** @type {Record<string, string>} */
const KINDS = {
  effect: "takes effect",
  answer: "answer",
  news: "news",
  own: "acts",
  time: "time",
  fault: "⚡ fault",
  pick: "pick",
};

/** What an end without a breach is, in words. @type {Record<string, string>} */
const ENDS = {
  held: "Nothing is left to do, and each claim holds.",
  undecided: "It came to a limit of its World before it came to rest.",
};

/** What stands for the belief of an actor that is not there. */
const NOT_BEGUN = -2;
const ENDED = -3;

export class Playing {
  /**
   * @param {HTMLElement} root
   * @param {MapData} map
   * @param {boolean} asks whether to guess at an actor first
   */
  constructor(root, map, asks) {
    this.map = map;
    this.game = new Game(map);
    this.root = root;
    this.guess = new Guess(map, asks, () => this.show(true));
    this.progress = new Progress(map);
    this.realms = this.realmsOf();
    this.steady = this.steadyIn();
    this.moves = el("div", { class: "options-box" });
    this.banner = el("div", { class: "banner", role: "status" });
    this.made = el("ol", { class: "made" });
    this.side = el("div", {
      class: "beliefs", tabindex: 0, role: "region", "aria-label": "Truth and beliefs",
    });
    this.undo = button("undo", "Undo", () => this.do("undo"), { title: "u" });
    this.restart = button("first", "Restart", () => this.do("restart"), { title: "r" });
    this.on = button("next", "Go on to a choice", () => this.goOn(), { title: "Space" });
    this.shortest = button("", "Machine’s shortest", () => this.walk());
    const history = el("section", { class: "history" }, el("h3", {}, "Your moves"), this.made);
    root.replaceChildren(
      this.guess.root, this.progress.root,
      el("div", { class: "side-by-side" },
        el("div", { class: "table" }, this.banner, this.moves,
          el("div", { class: "row" }, this.on, this.undo, this.restart, this.shortest), history),
        this.side),
    );
    this.show();
  }

  /** @param {number} nth */
  take(nth) {
    if (this.guess.isSettled && this.game.take(nth)) this.show();
  }

  /** Make the moves that leave no choice. */
  goOn() {
    if (!this.guess.isSettled || !this.game.ahead) return;
    this.game.goOn();
    this.show();
  }

  /** @param {"undo" | "restart"} what */
  do(what) {
    if (!this.guess.isSettled) return;
    this.game[what]();
    this.show();
  }

  walk() {
    const end = worstEnd(this.map);
    if (!this.guess.isSettled || end < 0) return;
    this.game.walk(end);
    this.show();
  }

  /** @param {boolean} [hadFocus] whether the focus was in this part, and may be lost */
  show(hadFocus = this.root.contains(document.activeElement)) {
    const { game } = this;
    const isOpen = this.guess.isSettled;
    this.moves.replaceChildren(...this.choices(isOpen));
    this.undo.disabled = this.restart.disabled = !isOpen || !game.made.length;
    this.shortest.disabled = !isOpen || !this.map.ends.length;
    const ahead = game.ahead;
    this.on.disabled = !isOpen || !ahead;
    const more = ahead > 1 ? `: ${counted(ahead, "move")} without one` : "";
    this.on.querySelector("span")?.replaceChildren(`Go on to a choice${more}`);
    this.showEnd();
    this.made.replaceChildren(...game.made.map(({ from, move, to }, index) => {
      const said = this.map.moves[move].said;
      const back = button("", said, () => {
        game.backTo(index + 1);
        this.show();
      }, { title: "Back to here", class: "sentence" });
      if (!isCalm(this.map.states[from], to)) back.append(el("small", {}, "not calm"));
      if (index === game.made.length - 1) back.setAttribute("aria-current", "step");
      return el("li", {}, back);
    }));
    this.made.scrollTop = this.made.scrollHeight;
    this.progress.show(game);
    this.side.replaceChildren(...cards(this.scene(), [game.lastActor]));
    const held = document.activeElement;
    const isLost = !held || held === document.body || held.matches(":disabled");
    if (hadFocus && isLost) (this.moves.querySelector("button") ?? this.restart).focus();
  }

  /**
   * @param {boolean} isOpen
   * @returns {HTMLElement[]}
   */
  choices(isOpen) {
    const { game, map } = this;
    if (!game.moves.length) return game.end ? [] : [el("p", {}, "No move is left.")];
    const title = game.end ? "It rests; only a fault may strike " : "Your move ";
    return [
      el("h3", {}, title, el("small", {}, `${grouped(game.state.ms)} ms`)),
      el("ol", { class: "choices" }, ...game.moves.map(([move, to], nth) => {
        const { said, kind } = map.moves[move];
        const attributes = { disabled: !isOpen, class: `move ${kind}` };
        const choice = button("", "", () => this.take(nth), attributes);
        const text = el("span", { class: "name" });
        const calm = isCalm(game.state, to) ? " · calm" : "";
        const seen = game.seen.has(to) ? " · seen" : "";
        choice.append(
          el("kbd", { "aria-hidden": "true" }, nth < 9 ? String(nth + 1) : "·"),
          text, el("small", {}, `${KINDS[kind]}${calm}${seen}`),
        );
        wordedButton(choice, text, said);
        return el("li", {}, choice);
      })),
    ];
  }

  showEnd() {
    const { end, lastActor, circle } = this.game;
    this.banner.className = end ? `banner ${end.outcome}` : "banner";
    if (!end) {
      const where = circle === 0 ? "at the start" : `after move ${grouped(circle)}`;
      const said = `A circle: all is again as it was ${where}.`;
      this.banner.replaceChildren(...(circle < 0 ? [] : [el("p", {}, said)]));
      return;
    }
    const title = `${SIGNS[end.outcome]} ${end.outcome.toUpperCase()}`;
    const judged = this.guess.judged(end, lastActor);
    this.banner.replaceChildren(
      el("h3", {}, title, end.claim ? el("span", { class: "name" }, ` ${end.claim}`) : null),
      ENDS[end.outcome] ? el("p", {}, ENDS[end.outcome]) : "",
      el(ENDS[end.outcome] ? "small" : "p", { class: "name" }, end.said),
    );
    if (end.outcome === "violated") this.banner.append(el("p", {}, this.compared()));
    else if (this.map.ends.some(({ outcome }) => outcome === "violated")) {
      this.banner.append(el("p", {}, "This order breaks no claim; another one may."));
    }
    if (judged) this.banner.append(el("p", { class: "judged" }, judged));
    say(`${end.outcome}. ${end.said}`);
  }

  /** How the way to this end compares with the machine's. */
  compared() {
    const { game, map } = this;
    const told = (/** @type {number} */ moves, /** @type {number} */ bold) =>
      `${counted(moves, "move")}, ${grouped(bold)} not calm`;
    const { shortest } = map.ends[game.state.end];
    const best = told(shortest.length - 1, boldOf(map, game.state.end));
    const own = told(game.made.length, game.bold);
    const way = [0, ...game.made.map(({ to }) => to)];
    if (String(way) === String(shortest)) return `This is the machine’s shortest way: ${best}.`;
    return `Your way: ${own}. The machine’s shortest to this end: ${best}.`;
  }

  /** What each lane reads of, in any state. @returns {Set<string>[]} */
  realmsOf() {
    const { map } = this;
    return map.lanes.map((_, lane) => {
      const sets = new Set(map.states.map((state) => state.beliefs[lane]));
      const versions = [...sets].flatMap((set) => map.sets[set] ?? []);
      return realmOf(versions.map((nth) => map.versions[nth]));
    });
  }

  /** What is there in each state, and never changes. @returns {Set<string>} */
  steadyIn() {
    const { map } = this;
    const truths = [...new Set(map.states.map((state) => state.truth))];
    const keys = truths.map((set) => new Set(this.set(set)?.keys()));
    const always = [...(keys[0] ?? [])].filter((key) => keys.every((own) => own.has(key)));
    return steadyOf(map.versions, new Set(always));
  }

  /** @returns {Scene} */
  scene() {
    const { map, game } = this;
    const before = game.made.map(({ from }) => map.states[from]);
    const beliefs = game.state.beliefs.flatMap((set, lane) => {
      const known = set === NOT_BEGUN || set === ENDED ? new Map() : this.set(set);
      const realm = this.realms[lane];
      const had = before.some((state) => map.sets[state.beliefs[lane]]?.length);
      const nothing = set === NOT_BEGUN ? NONE_SAID.begun : set === ENDED ? NONE_SAID.over
        : had ? NONE_SAID.known : NONE_SAID.yet;
      return known ? [{ lane: map.lanes[lane], rv: 0, known, realm, nothing }] : [];
    });
    const truth = this.set(game.state.truth) ?? new Map();
    const nothing = before.some((state) => map.sets[state.truth]?.length)
      ? NONE_SAID.gone : NONE_SAID.yet;
    return { truth, rv: 0, nothing, beliefs, steady: this.steady };
  }

  /**
   * @param {number} index of a set; -1 if it is not known
   * @returns {Known | null}
   */
  set(index) {
    const versions = this.map.sets[index];
    if (!versions) return null;
    return new Map(versions.map((nth) => {
      /** @type {Version} */
      const version = this.map.versions[nth];
      return [version.key, version];
    }));
  }
}
