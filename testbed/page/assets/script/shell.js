// What stands around the parts: tabs, theme, beamer, what is copied or saved, the place in the URL.

/** @import { PageData } from "../types" */

import { button, byId, el, say } from "./dom.js";

const THEMES = ["system", "light", "dark"];
const LABELS = { system: "System", light: "Light", dark: "Dark" };

/** Tabs, as the pattern has it: one of them in the tab order, arrows between them. */
export class Tabs {
  /** @param {(name: string) => void} opened */
  constructor(opened) {
    this.opened = opened;
    this.tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role="tab"]')]);
    this.names = this.tabs.map((tab) => tab.id.replace("tab-", ""));
    this.name = "";
    this.tabs.forEach((tab, index) => {
      const panel = byId(`panel-${this.names[index]}`);
      panel.setAttribute("role", "tabpanel");
      panel.removeAttribute("aria-label");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => this.open(this.names[index]));
      tab.addEventListener("keydown", (event) => this.key(event, index));
    });
  }

  /** @param {string} name */
  open(name) {
    const wanted = this.names.includes(name) ? name : this.names[0];
    this.names.forEach((other, index) => {
      const isOpen = other === wanted;
      this.tabs[index].setAttribute("aria-selected", String(isOpen));
      this.tabs[index].tabIndex = isOpen ? 0 : -1;
      byId(`panel-${other}`).hidden = !isOpen;
    });
    const hasChanged = this.name !== wanted;
    this.name = wanted;
    document.documentElement.dataset.tab = wanted;
    if (hasChanged) this.opened(wanted);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} index
   */
  key(event, index) {
    const last = this.tabs.length - 1;
    /** @type {Record<string, number>} */
    const ways = {
      ArrowRight: index === last ? 0 : index + 1, ArrowLeft: index === 0 ? last : index - 1,
      Home: 0, End: last,
    };
    const to = ways[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.tabs[to].focus();
    this.open(this.names[to]);
  }
}

/** How the page looks: light or dark, for a desk or for a beamer. What was chosen is remembered. */
export class Looks {
  constructor() {
    this.theme = THEMES.includes(kept("theme")) ? kept("theme") : "system";
    this.beamer = kept("beamer") === "on";
    this.apply();
  }

  nextTheme() {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    this.apply();
    say(`Theme: ${this.theme}`);
  }

  toggleBeamer() {
    this.beamer = !this.beamer;
    this.apply();
    say(this.beamer ? "Beamer: on" : "Beamer: off");
  }

  apply() {
    const root = document.documentElement;
    root.setAttribute("data-theme", this.theme);
    root.toggleAttribute("data-beamer", this.beamer);
    const name = LABELS[/** @type {keyof typeof LABELS} */ (this.theme)];
    const theme = document.querySelector('[data-do="theme"]');
    theme?.setAttribute("aria-label", `Theme: ${name}`);
    document.querySelector('[data-do="beamer"]')?.setAttribute("aria-pressed", String(this.beamer));
    keep("theme", this.theme);
    keep("beamer", this.beamer ? "on" : "off");
    window.dispatchEvent(new Event("resize"));
  }
}

/**
 * What this browser remembers of an earlier look; a browser may keep nothing of a file.
 * @param {string} name
 * @returns {string}
 */
export function kept(name) {
  try {
    return localStorage.getItem(`testbed-${name}`) ?? "";
  } catch {
    return "";
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function keep(name, value) {
  try {
    localStorage.setItem(`testbed-${name}`, value);
  } catch {
    // It is only forgotten.
  }
}

/**
 * Copy a text, and say so on the button.
 * @param {string} text
 * @param {HTMLElement} from
 */
export async function copy(text, from) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    from.focus();
  }
  from.classList.add("done");
  window.setTimeout(() => from.classList.remove("done"), 1500);
  say("Copied.");
}

/**
 * Save a text as a file of that name.
 * @param {string} name
 * @param {string} text
 */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = el("a", { href: url, download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A button to copy with, on each block that is to be kept. */
export function addCopyButtons() {
  for (const block of document.querySelectorAll(".block")) {
    const text = block.querySelector("pre")?.textContent ?? "";
    const title = block.querySelector("h3");
    const made = button("copy", "Copy", () => copy(text, made));
    made.setAttribute("aria-label", `Copy: ${title?.textContent ?? ""}`);
    title?.after(made);
  }
}

/** The place in the page as its URL has it. @returns {URLSearchParams} */
export function place() {
  return new URLSearchParams(location.hash.slice(1));
}

/**
 * Write the place into the URL, where a page from disk may.
 * @param {Record<string, string>} values
 */
export function remember(values) {
  const hash = `#${new URLSearchParams(values)}`;
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Then a link leads to the start of the page.
  }
}

/**
 * What the buttons of the head do.
 * @param {PageData} data
 * @param {Record<string, () => void>} acts
 */
export function wireHead(data, acts) {
  const texts = { again: data.again, issue: data.issue };
  for (const found of document.querySelectorAll("[data-copy]")) {
    const tool = /** @type {HTMLElement} */ (found);
    const text = texts[/** @type {keyof typeof texts} */ (tool.dataset.copy)];
    tool.addEventListener("click", () => copy(text, tool));
  }
  for (const found of document.querySelectorAll("[data-do]")) {
    const tool = /** @type {HTMLElement} */ (found);
    tool.addEventListener("click", () => acts[tool.dataset.do ?? ""]?.());
  }
}
