// The small shapes of the picture: signs that differ in form, not only in colour.

import { svg } from "./dom.js";

/**
 * The sign of a mark, around that point.
 * @param {string} sign
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 * @returns {SVGElement[]}
 */
export function shape(sign, x, y, scale) {
  const r = 5.5 * scale;
  const at = { cx: x, cy: y };
  const path = (/** @type {string} */ d) => svg("path", { class: "sign", d });
  switch (sign) {
    case "did":
      return [svg("circle", { class: "sign solid", ...at, r })];
    case "told":
      return [path(`M${x + r} ${y - r}L${x - r} ${y}L${x + r} ${y + r}Z`)];
    case "struck":
      return [path(bolt(x, y, scale))];
    case "late":
      return [svg("circle", { class: "sign dashed", ...at, r })];
    case "asked":
      return [svg("circle", { class: "sign", ...at, r })];
    case "said":
      return [path(`M${x - r} ${y - r}H${x + r}V${y + r * 0.5}H${x}L${x - r * 0.7} ${y + r * 1.2}V`
        + `${y + r * 0.5}H${x - r}Z`)];
    case "broke":
      return [path(cross(x, y, r))];
    default:
      return [svg("circle", { class: "sign solid small", ...at, r: 3 * scale })];
  }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @returns {string}
 */
function cross(x, y, r) {
  return `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} s
 * @returns {string}
 */
function bolt(x, y, s) {
  return `M${x + 2 * s} ${y - 8 * s}L${x - 5 * s} ${y + 1.5 * s}H${x}L${x - 2 * s} ${y + 8 * s}`
    + `L${x + 5 * s} ${y - 1.5 * s}H${x}Z`;
}

/**
 * How a line ends: with a head if it arrived, a × if it was lost, a bar if it was refused.
 * @param {string} line
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {number} scale
 * @returns {SVGElement}
 */
export function tip(line, x1, y1, x2, y2, scale) {
  if (line === "lost") return svg("path", { class: "tip open", d: cross(x2, y2, 4.5 * scale) });
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const at = (/** @type {number} */ along, /** @type {number} */ across) => {
    const x = x2 - along * Math.cos(angle) - across * Math.sin(angle);
    const y = y2 - along * Math.sin(angle) + across * Math.cos(angle);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  };
  const [long, wide] = [8 * scale, 4 * scale];
  if (line === "refused") {
    return svg("path", { class: "tip open", d: `M${at(0, -wide * 1.5)}L${at(0, wide * 1.5)}` });
  }
  return svg("path", { class: "tip", d: `M${at(0, 0)}L${at(long, wide)}L${at(long, -wide)}Z` });
}

/**
 * From an act to the write that it missed: a curve, and a ≠ to stand on it.
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {number} scale
 * @returns {{ line: SVGElement[], sign: SVGElement[] }}
 */
export function staleCurve(x1, y1, x2, y2, scale) {
  const towards = Math.sign(x2 - x1) || 1;
  const begin = x1 + towards * 8 * scale;
  const end = x2 - towards * 19 * scale;
  const middle = { x: begin + (end - begin) * 0.35, y: (y1 + y2) / 2 };
  // The control point is set so that the curve goes through the sign in its middle.
  const control = { x: 2 * middle.x - (begin + end) / 2, y: 2 * middle.y - (y1 + y2) / 2 };
  const d = `M${begin} ${y1}Q${control.x} ${control.y} ${end} ${y2}`;
  const dot = svg("circle", { class: "stale-dot", cx: end, cy: y2, r: 3 * scale });
  const { x, y } = middle;
  const plate = svg("circle", { class: "stale-plate", cx: x, cy: y, r: 9 * scale });
  const place = { x, y: y + 5 * scale, "text-anchor": "middle", "font-size": 14 * scale };
  const sign = [plate, svg("text", place, "≠")];
  return { line: [svg("path", { class: "curve", d }), dot], sign };
}
