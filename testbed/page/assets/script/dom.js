// Elements made from plain words: every text is set as text, so nothing in the data can be markup.

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. An attribute that is false, null or undefined is left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {(Node | string | null)[]} children
 * @returns {E}
 */
function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * The icon of that name, of those that stand at the top of the page.
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const use = svg("use", { href: `#i-${name}` });
  return svg("svg", { class: "icon", "aria-hidden": "true", focusable: "false" }, use);
}

/**
 * A button with a sign, a word, and what it does.
 * @param {string} name of the icon; empty for none
 * @param {string} label
 * @param {() => void} act
 * @param {Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(name, label, act, attributes = {}) {
  const made = el("button", { type: "button", ...attributes });
  if (name) made.append(icon(name));
  if (label) made.append(el("span", {}, label));
  made.addEventListener("click", act);
  return made;
}

/**
 * A switch with a knob and a word.
 * @param {string} label
 * @param {boolean} isOn
 * @param {() => void} act
 * @param {string} [title]
 * @returns {HTMLButtonElement}
 */
export function toggle(label, isOn, act, title = "") {
  const state = { role: "switch", class: "switch", "aria-checked": String(isOn) };
  const made = button("", "", act, state);
  made.append(el("span", { class: "knob", "aria-hidden": "true" }));
  made.append(el("span", { class: "name" }, label));
  if (title) made.title = title;
  return made;
}

/**
 * The element with that id, which the template has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Bring the element into view inside its own box; the page itself stays where it is.
 * @param {HTMLElement} box
 * @param {number} top of the element within the box
 * @param {number} height
 * @param {number} above how much of the box is covered at its top
 */
export function scrollInside(box, top, height, above) {
  const margin = Math.min(box.clientHeight / 6, 72);
  if (top - above < box.scrollTop) box.scrollTop = top - above - margin;
  else if (top + height > box.scrollTop + box.clientHeight) {
    box.scrollTop = Math.min(top + height + margin - box.clientHeight, top - above);
  }
}

/**
 * Say it to a reader of the screen.
 * @param {string} text
 */
export function say(text) {
  byId("live").textContent = text;
}
