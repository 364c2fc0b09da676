// How numbers, outcomes and long names are said, on every part of the page the same.

/** @import { Version } from "../types" */

/** @type {Record<string, string>} */
export const SIGNS = { violated: "✗", held: "✓", undecided: "?" };

/** What the shape of a mark means. @type {Record<string, string>} */
export const MARKS = {
  did: "took effect",
  told: "was told",
  noted: "noted",
  struck: "a fault",
  late: "late",
  asked: "asked",
  said: "said",
  broke: "breaks the claim",
};

/**
 * 12000 as `12,000`.
 * @param {number} number
 * @returns {string}
 */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * One of it, or several.
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function counted(number, one, many = `${one}s`) {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/**
 * Millicores as people say them: `1.5 CPU`.
 * @param {number} milli
 * @returns {string}
 */
export function cores(milli) {
  return String(milli / 1000);
}

/**
 * Cut to that many characters, with a sign that it was.
 * @param {string} text
 * @param {number} most
 * @returns {string}
 */
export function cut(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, Math.max(most - 1, 1)).join("")}…`;
}

const pencil = document.createElement("canvas").getContext("2d");
/** @type {Map<string, number>} */
const widths = new Map();

/**
 * How wide a text is, in pixels.
 * @param {string} text
 * @param {string} font as CSS says it
 * @returns {number}
 */
export function widthOf(text, font) {
  const key = `${font}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (pencil) pencil.font = font;
    width = pencil ? pencil.measureText(text).width : text.length * 7;
    widths.set(key, width);
  }
  return width;
}

/**
 * As much of the text as fits into that many pixels.
 * @param {string} text
 * @param {number} room
 * @param {string} font
 * @returns {string}
 */
export function fitted(text, room, font) {
  if (widthOf(text, font) <= room) return text;
  let [low, high] = [1, Math.min(Array.from(text).length, 400)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(cut(text, middle), font) <= room) low = middle;
    else high = middle - 1;
  }
  return cut(text, low);
}

/**
 * The same text with each object called by its short name.
 * @param {string} text
 * @param {Version[]} versions
 * @returns {string}
 */
export function brief(text, versions) {
  let said = text;
  for (const version of versions) {
    if (said.includes(version.key)) said = said.replaceAll(version.key, shortName(version));
  }
  return said;
}

let isOneNamespace = true;

/**
 * The objects of this page, from now on: if they are in more than one namespace, each is named.
 * @param {Version[]} versions
 */
export function setNamespaces(versions) {
  const spaces = versions.map(({ key }) => key.split("/")).filter((parts) => parts.length > 2);
  isOneNamespace = new Set(spaces.map((parts) => parts[1])).size < 2;
}

/**
 * What an object is called among its kind; with its kind and its namespace if that is not clear.
 * @param {Version} version
 * @returns {string}
 */
export function shortName(version) {
  const { key, kind, name } = version;
  if (kind === "nodes") return name;
  if (kind === "pods") return isOneNamespace ? name : key.slice(kind.length + 1);
  return isOneNamespace ? `${kind}/${name}` : key;
}
