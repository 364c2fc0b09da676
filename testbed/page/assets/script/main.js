// Where it begins: the data is read, the parts are put together, and keys find what they mean.

/** @import { PageData } from "../types" */

import { byId } from "./dom.js";
import { explainFocused, setWords } from "./glossary.js";
import { Level } from "./level.js";
import { Playing } from "./playing.js";
import { Story } from "./story.js";
import { WhatIf } from "./whatif.js";
import { setNamespaces } from "./words.js";
import { Looks, Tabs, addCopyButtons, place, remember, save, wireHead } from "./shell.js";

/** @type {PageData} */
const data = JSON.parse(byId("data").textContent ?? "");
document.documentElement.classList.add("js");

setWords(data.level?.words ?? {});
setNamespaces([...data.runs.flatMap((run) => run.versions), ...data.map?.versions ?? []]);
const looks = new Looks();
const tabs = new Tabs(opened);
const keys = /** @type {HTMLDialogElement} */ (byId("keys"));
const story = new Story(data, note);
const level = data.level ? new Level(data.level, (name) => tabs.open(name)) : null;
/** @type {Playing | null} */
let playing = null;
/** @type {WhatIf | null} */
let whatIf = null;

const acts = {
  save: () => data.race && save(data.race.file, data.race.text),
  code: () => data.level && save(data.level.file, data.level.starter),
  theme: () => looks.nextTheme(),
  beamer: () => looks.toggleBeamer(),
  keys: () => keys.showModal(),
};

/** A part is made when it is first opened: a page with a large map opens as fast as any. */
function opened(/** @type {string} */ name) {
  if (name === "play" && data.map && !playing) {
    playing = new Playing(byId("playing"), data.map, level === null);
  }
  if (name === "whatif" && !whatIf) whatIf = new WhatIf(data);
  note();
}

function note() {
  if (!tabs.name || !story.viewer.run) return;
  remember({
    tab: tabs.name, step: String(story.viewer.step), ...(story.isCalm ? { run: "calm" } : {}),
    ...(story.viewer.isWhole ? { all: "yes" } : {}),
  });
}

/** Whether the part that is open is shown: that of a level tells nothing before the guess. */
function isOpen() {
  return level === null || level.isSettled;
}

/** To the guess of the level. */
function toGuess() {
  tabs.open("level");
  level?.ask();
}

/** What is stepped through in the part that is open. */
function viewer() {
  if (!isOpen()) return null;
  if (tabs.name === "story") return story.viewer;
  return tabs.name === "whatif" && whatIf && !whatIf.stage.hidden ? whatIf.viewer : null;
}

/** @type {Record<string, () => unknown>} */
const EVERYWHERE = {
  b: acts.beamer, t: acts.theme, "?": acts.keys,
  g: () => (level && (tabs.name === "level" || !isOpen()) ? toGuess()
    : tabs.names.includes("play") && tabs.open("play")),
  w: explainFocused,
};
/** @type {Record<string, () => unknown>} */
const STEPPING = {
  ArrowLeft: () => viewer()?.go((viewer()?.now ?? 0) - 1),
  ArrowRight: () => viewer()?.go((viewer()?.now ?? 0) + 1),
  Home: () => viewer()?.go(0),
  End: () => viewer()?.go(Infinity),
  " ": () => viewer()?.scrubber.toggle(),
  e: () => viewer()?.toggleWhole(),
};
/** @type {Record<string, () => unknown>} */
const TELLING = {
  c: () => story.toggle(), n: () => story.tellNext(1), p: () => story.tellNext(-1),
};
/** @type {Record<string, () => unknown>} */
const PLAYING = {
  u: () => playing?.do("undo"), r: () => playing?.do("restart"), " ": () => playing?.goOn(),
};

/**
 * What that key does here, if it does anything.
 * @param {KeyboardEvent} event
 * @returns {(() => unknown) | undefined}
 */
function meant(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const isButton = target.closest("button, summary, a, [role=button]") !== null;
  const isChoice = target.matches("input[type=radio], textarea, select");
  // With no choice between moves, Space on the only one makes those that follow from it, too.
  const goesOn = target.matches(".move") && playing !== null && playing.game.ahead > 0;
  if (event.key === " " && (isButton || isChoice) && !goesOn) return undefined;
  if (isChoice && event.key.startsWith("Arrow")) return undefined;
  if (EVERYWHERE[event.key]) return EVERYWHERE[event.key];
  if (viewer() && STEPPING[event.key]) return STEPPING[event.key];
  if (tabs.name === "story" && isOpen()) return TELLING[event.key];
  if (tabs.name !== "play" || !isOpen()) return undefined;
  if (/^[1-9]$/.test(event.key)) return () => playing?.take(Number(event.key) - 1);
  return PLAYING[event.key];
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || keys.open) return;
  const act = meant(event);
  if (!act) return;
  event.preventDefault();
  act();
});

/** All that is folded is printed, too. */
const folded = /** @type {HTMLDetailsElement[]} */ (
  [...document.querySelectorAll("details:not(.own)")]
);
folded.forEach((details) => {
  details.open = false;
});
window.addEventListener("beforeprint", () => folded.forEach((details) => {
  details.open = true;
}));

wireHead(data, acts);
addCopyButtons();
const start = place();
tabs.open(start.get("tab") ?? "");
story.viewer.isWhole = start.get("all") === "yes";
story.viewer.wholeButton.setAttribute("aria-checked", String(story.viewer.isWhole));
const first = data.runs[0].moments[0]?.step ?? 0;
story.show(Number(start.get("step") ?? first), start.get("run") === "calm");
