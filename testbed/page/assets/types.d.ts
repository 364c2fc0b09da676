/** What a page is made of: the JSON that Python puts into it. Steps are numbered as in the trace. */

export interface PageData {
  format: "testbed-page/1";
  /** The scenario. */
  title: string;
  outcome: "violated" | "held" | "undecided";
  /** The claim that broke; empty if none did. */
  claim: string;
  /** What was found, in a sentence. */
  said: string;
  /** By which setting it broke, if the guard sets that otherwise; else empty. */
  setting: string;
  /** The cause in one sentence; empty if there is none. */
  cause: string;
  causeSteps: number[];
  /** The story, sentence by sentence, each with the Steps it speaks of. */
  sentences: { said: string; steps: number[] }[];
  /** At most four short facts beside the verdict, such as `1 hold` and `12,000 ms`. */
  figures: Fact[];
  /** The line to paste that plays it again. */
  again: string;
  /** The story as Markdown, ready for an issue. */
  issue: string;
  race: { file: string; text: string } | null;
  /** The Run that is told of, then the calm run if that is another one, then those of `whatIf`. */
  runs: RunData[];
  /** The index of the calm run; -1 if there is none. */
  calm: number;
  /** Each line of the race left out, and the guard turned on. */
  whatIf: WhatIf[];
  /** How the chance to fail grows along the Run; empty if it was not asked for. */
  growth: { step: number; failed: number; runs: number }[];
  /** How far was looked. */
  looked: Fact[];
  /** What to keep: the race file, the line for pytest, the versions it was seen with. */
  keep: { label: string; text: string }[];
  map: MapData | null;
  /** The level of `testbed learn` that the page is of; null if it is of none. */
  level: LevelData | null;
}

/** One level of `testbed learn`: what is asked, and all that helps. */
export interface LevelData {
  /** Its number. */
  level: number;
  /** Its scenario. */
  name: string;
  title: string;
  concept: string;
  /** What is asked of the code to mend, and which calls that takes. */
  asked: string;
  calls: string;
  question: string;
  choices: string[];
  /** The place of the right choice, from 1, and why it is right. */
  answer: number;
  why: string;
  /** Each goes one step further than the one before. */
  hints: string[];
  /** The words of the level, each with a sentence. */
  words: Record<string, string>;
  /** What a check tries, in order. */
  trials: string[];
  incident: { said: string; link: string };
  /** The switch that names the program. */
  switch: string;
  /** The code to mend, and the file that it is to stand in. */
  starter: string;
  file: string;
  /** The line to paste that searches for the race of that code. */
  break: string;
  /** The line to paste that checks it. */
  check: string;
}

export interface Fact {
  label: string;
  value: string;
}

export interface WhatIf {
  /** The line of the race, or the switch. */
  said: string;
  kind: "deviation" | "switch";
  /** Whether the same breach no longer shows when it is flipped. */
  isNeeded: boolean;
  outcome: "violated" | "held" | "undecided";
  /** What that Run has shown, in a sentence. */
  shown: string;
  /** The index of that Run in `runs`; -1 if it was left out. */
  run: number;
}

export interface RunData {
  name: string;
  outcome: "violated" | "held" | "undecided";
  claim: string;
  said: string;
  /** The columns, from left to right; the store stands in the middle. */
  lanes: Lane[];
  /** Each version of an object that was there, was written or was believed. */
  versions: Version[];
  /** One for each row of the picture, in order. The first shows how it all begins. */
  moments: Moment[];
  arrows: Arrow[];
  /** From which Step to which an object was marked for deletion and was still there. */
  terminating: { key: string; from: number; to: number }[];
}

export interface Lane {
  name: string;
  kind: "actor" | "store";
  /** Whether it learns of more than what it wrote itself. */
  reads: boolean;
}

/** One version of one object, as far as a page shows it. */
export interface Version {
  key: string;
  /** `pods`, `nodes`, … */
  kind: string;
  name: string;
  rv: number;
  /** The object in a few words: `Running on n1, terminating`. */
  said: string;
  state: "pending" | "running" | "terminating" | "over" | "plain";
  /** Of a pod: the node it is bound to; else empty. */
  node: string;
  /** Of a pod: what it asks for; of a node: what it has. In millicores; 0 if nothing is said. */
  cpu: number;
  /** The fields that tell it from others, as `["status.phase", "Running"]`. */
  fields: [string, string][];
}

export interface Moment {
  /** 0 in the first; else that of a Step. */
  step: number;
  ms: number;
  marks: Mark[];
  /** The revision of the store. */
  rv: number;
  /** What has changed of the truth: a key, and the index of its version now; -1: it is gone. */
  truth: [string, number][];
  /** The same of what each actor believes, and whether its life is over. After a restart an actor
   * knows nothing: all is -1. */
  beliefs: { lane: string; rv: number; over: boolean; changed: [string, number][] }[];
  /** The indices of the sentences that speak of it. */
  tells: number[];
}

export interface Mark {
  lane: string;
  step: number;
  sign: "did" | "told" | "noted" | "struck" | "late" | "asked" | "said" | "broke";
  text: string;
  /** What its actor has recorded of its reasons, a line each; empty for most. */
  reasons: string[];
  /** 2: the story speaks of it; 1: it matters; 0: it only happened. */
  weight: 0 | 1 | 2;
  /** The key of the object it is about; empty if none. */
  key: string;
  /** The Steps in which its request took effect, if it has several parts; else empty. */
  parts: number[];
}

/** Each end stands in a moment: both steps are steps of moments. */
export interface Arrow {
  kind: "request" | "answer" | "news" | "stale";
  from: { lane: string; step: number };
  to: { lane: string; step: number };
  /** solid: it took effect or arrived; dotted: it was held back; lost: it never arrived; refused. */
  line: "solid" | "dotted" | "lost" | "refused";
  text: string;
  weight: 0 | 1 | 2;
}

/** The complete map of a small World: each state it can be in, and each move between them. */
export interface MapData {
  /** The World in words: the scenario and its switches. */
  said: string;
  /** What was left out, in a sentence; empty if nothing was. */
  bounds: string;
  /** Each move, in words: `alpha's update of list takes effect`. */
  moves: Move[];
  /** Here `rv` is 1 for what the store has now, and 0 for what it had before: which number that was
   * is another one on each way into a state. */
  versions: Version[];
  /** Lists of indices of versions, which states share. */
  sets: number[][];
  lanes: string[];
  /** The first is the start. */
  states: MapState[];
  ends: MapEnd[];
}

export interface Move {
  said: string;
  actor: string;
  kind: "effect" | "answer" | "news" | "own" | "time" | "fault" | "pick";
}

export interface MapState {
  /** A move, and the state it leads to; the calm one first. */
  next: [number, number][];
  /** The index of its end; -1 if the Run goes on. A state with an end and moves is at rest: there
   * only a fault may strike. */
  end: number;
  ms: number;
  /** The index of the set of what is there. */
  truth: number;
  /** By lane, the index of the set of what it believes; -1 if that is not known, -2 if it has not
   * begun, -3 if it has ended. */
  beliefs: number[];
}

export interface MapEnd {
  outcome: "violated" | "held" | "undecided";
  claim: string;
  said: string;
  /** The machine's shortest way there: the states on it, from the start. */
  shortest: number[];
}
