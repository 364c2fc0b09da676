// What is true and what each actor believes at a moment, and where the two differ.

/** @import { Moment, RunData, Version } from "../types" */

/**
 * Objects by key, each in one version.
 * @typedef {Map<string, Version>} Known
 *
 * What is there at one moment: the truth, and each belief. If nothing is true, `nothing` says so.
 * @typedef {{ truth: Known, rv: number, nothing: string, beliefs: Belief[],
 *   steady: Set<string> }} Scene
 *
 * What one actor knows, and of what it reads at all. If it knows nothing, `nothing` says why.
 * @typedef {{ lane: string, rv: number, known: Known, realm: Set<string>,
 *   nothing: string }} Belief
 *
 * How one object differs: the belief is older, the object unheard of, or gone by now.
 * @typedef {{ key: string, kind: "old" | "unseen" | "gone", truth: Version | null,
 *   belief: Version | null, matters: boolean }} Difference
 */

/** What is said where there is nothing. */
export const NONE_SAID = {
  yet: "Nothing yet.",
  there: "Nothing is there.",
  gone: "Nothing is there any more.",
  known: "It knows nothing any more.",
  begun: "It has not begun.",
  over: "It has ended.",
};

/**
 * All that has happened up to that moment, put together.
 * @param {RunData} run
 * @param {number} index
 * @returns {Scene}
 */
export function sceneAt(run, index) {
  /** @type {Known} */
  const truth = new Map();
  /** @type {Map<string, Belief>} */
  const beliefs = new Map();
  const [all, heard] = [realms(run), listeners(run)];
  let nothing = NONE_SAID.yet;
  for (const moment of run.moments.slice(0, index + 1)) {
    if (truth.size) nothing = NONE_SAID.gone;
    change(run, truth, moment.truth);
    for (const told of moment.beliefs) {
      const realm = all.get(told.lane) ?? new Set();
      const belief = beliefs.get(told.lane)
        ?? { lane: told.lane, rv: 0, known: new Map(), realm, nothing: "" };
      belief.rv = told.rv;
      belief.nothing = told.over ? NONE_SAID.over : told.rv > 0 ? NONE_SAID.there : NONE_SAID.yet;
      change(run, belief.known, told.changed);
      beliefs.set(told.lane, belief);
    }
  }
  const order = run.lanes.map((lane) => lane.name);
  const place = (/** @type {Belief} */ belief) => order.indexOf(belief.lane);
  const shown = [...beliefs.values()].filter((belief) => heard.has(belief.lane));
  shown.sort((a, b) => place(a) - place(b));
  const rv = run.moments[index]?.rv ?? 0;
  return { truth, rv, nothing, beliefs: shown, steady: steadyIn(run) };
}

/**
 * @param {RunData} run
 * @param {Known} known
 * @param {[string, number][]} changes
 */
function change(run, known, changes) {
  for (const [key, index] of changes) {
    const version = run.versions[index];
    if (index < 0 || !version) known.delete(key);
    else known.set(key, version);
  }
}

/**
 * The keys of what never changes in a Run.
 * @param {RunData} run
 * @returns {Set<string>}
 */
function steadyIn(run) {
  const [first, ...later] = run.moments.map((moment) => moment.truth);
  const changed = new Set(later.flat().map(([key]) => key));
  const keys = (first ?? []).map(([key]) => key).filter((key) => !changed.has(key));
  return steadyOf(run.versions, new Set(keys));
}

/**
 * The keys of what never changes, of the objects that are always there: they have one version. Pods
 * and nodes are looked at all the same.
 * @param {Version[]} versions
 * @param {Set<string>} always the keys of what is there from the start to the end
 * @returns {Set<string>}
 */
export function steadyOf(versions, always) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { key, kind } of versions) {
    if (kind !== "pods" && kind !== "nodes") counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const isSteady = (/** @type {string} */ key) => counts.get(key) === 1 && always.has(key);
  return new Set([...counts.keys()].filter(isSteady));
}

/**
 * What an actor reads of, as far as is shown: pods by their node, as a kubelet watches those of its
 * own node alone; of another kind all, if it knows two of them, else the one that it knows.
 * @param {Iterable<Version>} versions all that it knows at some time
 * @returns {Set<string>}
 */
export function realmOf(versions) {
  /** @type {Set<string>} */
  const realm = new Set();
  for (const version of versions) {
    if (version.kind !== "pods") {
      const isSecond = [...realm].some((own) => own.startsWith(`${version.kind}/`));
      if (isSecond && !realm.has(version.key)) realm.add(version.kind);
    }
    realm.add(version.kind === "pods" ? `pods on ${version.node}` : version.key);
  }
  return realm;
}

/**
 * Whether an actor with that realm reads of this object.
 * @param {Set<string>} realm
 * @param {Version} version
 * @returns {boolean}
 */
function isRead(realm, version) {
  if (version.kind === "pods") return realm.has(`pods on ${version.node}`);
  return realm.has(version.kind) || realm.has(version.key);
}

/**
 * The realms of each actor in a Run.
 * @param {RunData} run
 * @returns {Map<string, Set<string>>}
 */
export function realms(run) {
  /** @type {Map<string, Version[]>} */
  const known = new Map();
  for (const { lane, changed } of run.moments.flatMap((moment) => moment.beliefs)) {
    const own = known.get(lane) ?? [];
    for (const [, index] of changed) if (index >= 0) own.push(run.versions[index]);
    known.set(lane, own);
  }
  return new Map([...known].map(([lane, versions]) => [lane, realmOf(versions)]));
}

/**
 * The actors that read, that are told of changes, or of which the story speaks; all, if there are
 * none. What the others know is what they have written themselves.
 * @param {RunData} run
 * @returns {Set<string>}
 */
export function listeners(run) {
  const told = run.arrows.filter((arrow) => arrow.kind === "news").map((arrow) => arrow.to.lane);
  const marks = run.moments.flatMap((moment) => moment.marks);
  const reading = run.lanes.filter((lane) => lane.reads).map((lane) => lane.name);
  const spoken = marks.filter((m) => m.weight === 2).map((m) => m.lane);
  const found = new Set([...told, ...reading, ...spoken]);
  return found.size ? found : new Set(run.lanes.map((lane) => lane.name));
}

/**
 * Where a belief is not the truth. What an actor does not read of is no belief, so an object that
 * it does not know counts only in its own realm; to know nothing yet is no belief.
 * @param {Known} truth
 * @param {Known} known
 * @param {Set<string>} realm
 * @returns {Map<string, Difference>}
 */
export function differences(truth, known, realm) {
  /** @type {Map<string, Difference>} */
  const found = new Map();
  if (!known.size) return found;
  for (const [key, now] of truth) {
    const belief = known.get(key) ?? null;
    if (belief === null && isRead(realm, now)) {
      found.set(key, { key, kind: "unseen", truth: now, belief, matters: true });
    } else if (belief !== null && belief !== now) {
      if (belief.rv === now.rv && looksSame(belief, now)) continue;
      found.set(key, { key, kind: "old", truth: now, belief, matters: !looksSame(belief, now) });
    }
  }
  for (const [key, belief] of known) {
    if (!truth.has(key)) found.set(key, { key, kind: "gone", truth: null, belief, matters: true });
  }
  return found;
}

/**
 * Whether two versions would be shown alike.
 * @param {Version} one
 * @param {Version} other
 * @returns {boolean}
 */
function looksSame(one, other) {
  return one.said === other.said && one.node === other.node && one.state === other.state
    && one.cpu === other.cpu;
}

/**
 * The index of the last moment that is not after that step.
 * @param {Moment[]} moments
 * @param {number} step
 * @returns {number}
 */
export function indexOfStep(moments, step) {
  let [low, high] = [0, moments.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (moments[middle].step <= step) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
}

/**
 * The row in which that step is shown: its own, or the next one, into which it was folded.
 * @param {Moment[]} moments
 * @param {number} step
 * @returns {number}
 */
export function rowOfStep(moments, step) {
  const index = indexOfStep(moments, step);
  const isFolded = moments[index]?.step < step && index < moments.length - 1;
  return isFolded ? index + 1 : index;
}

/**
 * The moment at which the claim broke; -1 if none did.
 * @param {RunData} run
 * @returns {number}
 */
export function breachOf(run) {
  const marked = run.moments.findIndex((moment) => moment.marks.some((m) => m.sign === "broke"));
  return marked < 0 && run.outcome === "violated" ? run.moments.length - 1 : marked;
}

/**
 * The first moment in which the two Runs are not the same; the first of all if there is none.
 * @param {RunData} run
 * @param {RunData} other
 * @returns {number}
 */
export function partingOf(run, other) {
  const texts = (/** @type {RunData} */ one) =>
    one.moments.map((moment) => JSON.stringify([moment.step, moment.marks.map((m) => m.text)]));
  const theirs = texts(other);
  return Math.max(texts(run).findIndex((text, index) => text !== theirs[index]), 0);
}

const ROWS_FEW = 24;

/**
 * The Run with its main moments alone: what the story speaks of, and each write. What lies between
 * two of them is folded into the later one. A short Run stays as it is.
 * @param {RunData} run
 * @returns {RunData}
 */
export function shortened(run) {
  if (run.moments.length <= ROWS_FEW) return run;
  const last = run.moments.length - 1;
  /** @type {Moment[]} */
  const moments = [];
  /** @type {Pick<Moment, "truth" | "beliefs">} */
  let folded = { truth: [], beliefs: [] };
  run.moments.forEach((moment, index) => {
    folded.truth.push(...moment.truth);
    folded.beliefs.push(...moment.beliefs);
    if (!isMain(moment) && index !== 0 && index !== last) return;
    moments.push({ ...moment, ...folded });
    folded = { truth: [], beliefs: [] };
  });
  const steps = new Set(moments.flatMap((moment) =>
    [moment.step, ...moment.marks.map((mark) => mark.step)]));
  const arrows = run.arrows.filter((arrow) => arrow.weight === 2 || steps.has(arrow.to.step));
  return { ...run, moments, arrows };
}

/**
 * The Run in which a mark says which part of its request it is only if another one has a mark, too.
 * @param {RunData} run
 * @returns {RunData}
 */
export function withoutParts(run) {
  const steps = new Set(run.moments.flatMap(({ marks }) => marks.map((mark) => mark.step)));
  const moments = run.moments.map((moment) => ({
    ...moment,
    marks: moment.marks.map((mark) => {
      const isAlone = mark.parts?.length > 0
        && !mark.parts.some((step) => step !== mark.step && steps.has(step));
      return isAlone ? { ...mark, text: mark.text.replace(/ \(part \d+\)/, "") } : mark;
    }),
  }));
  return { ...run, moments };
}

/**
 * @param {Moment} moment
 * @returns {boolean}
 */
function isMain(moment) {
  return moment.tells.length > 0 || moment.truth.length > 0
    || moment.marks.some((mark) => mark.weight === 2);
}

/**
 * What the picture says of that moment, in words.
 * @param {Moment} moment
 * @param {{ said: string }[]} sentences
 * @returns {string}
 */
export function saidOf(moment, sentences) {
  const told = moment.tells.flatMap((index) => sentences[index]?.said ?? []);
  if (told.length) return told.join(" ");
  const marks = moment.marks.map((mark) => `${mark.lane}: ${mark.text}`);
  if (marks.length) return marks.join(" · ");
  if (moment.step === 0) return "How it all begins.";
  const read = moment.beliefs.map((belief) => `${belief.lane} has read up to rv ${belief.rv}`);
  return read.length ? `${read.join(" · ")}.` : "Only the store has changed.";
}
