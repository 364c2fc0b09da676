// The words of a level: each is underlined where it stands, and says there what it means.

import { el, say } from "./dom.js";

// A part of a name or of a path is no word.
const INSIDE = "[\\p{L}\\p{N}_/=]";
// One of it or several: any other form of a word is another word.
const ENDINGS = "(?:e?s)?";

/** @type {{ word: string, said: string, id: string }[]} */
let glossary = [];
/** @type {RegExp | null} */
let wordPattern = null;
/** What the meaning that is shown stands beside. @type {Element | null} */
let anchor = null;
const bubble = el("aside", {
  class: "meaning", id: "meaning", "aria-label": "What a word means", hidden: true,
});

/**
 * The words of this page, from now on; there are none before.
 * @param {Record<string, string>} words
 */
export function setWords(words) {
  glossary = Object.entries(words).map(([word, said], index) =>
    ({ word, said, id: `word-${index + 1}` }));
  if (!glossary.length) return;
  const longestFirst = [...glossary].sort((a, b) => b.word.length - a.word.length);
  const each = longestFirst.map(({ word }) => word.replace(/[$()*+./?[\\\]^{|}]/g, "\\$&")
    .replace(/y$/, "(?:y|ie)"));
  const any = `(?:${each.join("|")})${ENDINGS}`;
  wordPattern = new RegExp(`(?<!${INSIDE})${any}(?!${INSIDE})`, "giu");
  document.body.append(bubble);
  listenForWords();
}

/**
 * The text with each word of the list underlined, the first time that it stands there.
 * @param {string} text
 * @param {boolean} isInButton a button may have no other one inside
 * @returns {(string | HTMLElement)[]}
 */
export function worded(text, isInButton = false) {
  if (!wordPattern) return [text];
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  const seen = new Set();
  let from = 0;
  for (const match of text.matchAll(wordPattern)) {
    const entry = entryFor(match[0]);
    if (!entry || seen.has(entry)) continue;
    seen.add(entry);
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    const own = { class: "word", "data-word": glossary.indexOf(entry) };
    const more = isInButton ? {} : { type: "button", "aria-describedby": entry.id };
    parts.push(el(isInButton ? "span" : "button", { ...own, ...more }, match[0]));
  }
  return [...parts, text.slice(from)].filter((part) => part !== "");
}

/**
 * Put a text into a button, its words underlined; who hears the page is told what they mean.
 * @param {HTMLElement} made the button
 * @param {HTMLElement} place in it
 * @param {string} text
 */
export function wordedButton(made, place, text) {
  const parts = worded(text, true);
  place.replaceChildren(...parts);
  const ids = parts.flatMap((part) => typeof part === "string" ? [] : meaningOf(part).id);
  if (ids.length) made.setAttribute("aria-describedby", ids.join(" "));
}

/**
 * @param {string} found as it stands in a text
 */
function entryFor(found) {
  const small = found.toLowerCase();
  const stem = (/** @type {string} */ word) => word.toLowerCase().replace(/y$/, "");
  const fits = glossary.filter(({ word }) => small.startsWith(stem(word)));
  return fits.sort((a, b) => b.word.length - a.word.length)[0];
}

/** @param {Element} word */
function meaningOf(word) {
  return glossary[Number(word.getAttribute("data-word"))];
}

/**
 * Show what these words mean, beside that element.
 * @param {Element[]} words
 * @param {Element} beside
 */
function showMeaning(words, beside) {
  bubble.replaceChildren(...words.map((word) => {
    const { word: name, said } = meaningOf(word);
    return el("p", {}, el("b", {}, name), ` ${said}`);
  }));
  bubble.hidden = false;
  anchor = beside;
  placeMeaning();
}

/** Below what it explains, or above where there is no room; also while the page is scrolled. */
function placeMeaning() {
  if (!anchor?.isConnected) hideMeaning();
  if (!anchor || bubble.hidden) return;
  const at = anchor.getBoundingClientRect();
  const [width, height] = [bubble.offsetWidth, bubble.offsetHeight];
  const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
  const isBelow = at.bottom + height + 8 < window.innerHeight;
  bubble.style.left = `${left}px`;
  bubble.style.top = `${isBelow ? at.bottom + 4 : Math.max(at.top - height - 4, 4)}px`;
}

function hideMeaning() {
  bubble.hidden = true;
}

/** What the words mean that stand in what has the focus; says whether there are any. */
export function explainFocused() {
  const focused = document.activeElement;
  const place = focused?.closest("li, p, dd") ?? focused;
  const words = [...(place?.querySelectorAll(".word") ?? [])];
  if (!focused || !words.length) {
    if (glossary.length) say("No word of the list is in it.");
    return;
  }
  showMeaning(words, focused);
  say(words.map((word) => `${meaningOf(word).word}: ${meaningOf(word).said}`).join(" "));
}

function listenForWords() {
  const wordOf = (/** @type {Event} */ event) =>
    event.target instanceof Element ? event.target.closest(".word") : null;
  document.addEventListener("pointerover", (event) => {
    const word = wordOf(event);
    if (word && event.pointerType === "mouse") showMeaning([word], word);
  });
  document.addEventListener("pointerout", (event) => {
    if (wordOf(event) && event.pointerType === "mouse") hideMeaning();
  });
  document.addEventListener("focusin", (event) => {
    const word = wordOf(event);
    if (word) showMeaning([word], word);
    else hideMeaning();
  });
  document.addEventListener("focusout", hideMeaning);
  document.addEventListener("click", (event) => {
    const word = wordOf(event);
    if (!word) {
      hideMeaning();
      return;
    }
    const isTap = event instanceof PointerEvent && event.pointerType !== "mouse";
    if (word instanceof HTMLSpanElement && !(isTap && event.isTrusted)) return;
    // A finger cannot hover: a tap on the word is a question, beside it the button is pressed.
    event.stopPropagation();
    event.preventDefault();
    showMeaning([word], word);
  }, true);
  document.addEventListener("scroll", placeMeaning, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideMeaning();
  });
}
