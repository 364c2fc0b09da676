"""complete: at least one Run of every class there is, and hardly any twice (source-DPOR).

A Run is played again from its choices, then goes on in its own way; the choices form a tree, which
is walked depth first.

1. At a new turn every fault that may strike is to be tried, since one that never happens shows in
   no race; and of all that is ready, only the calmest.
2. When a Run has ended, each race of it is looked at: two turns of which the first did not make the
   second possible. Where the first was chosen, something that leads to the second coming earlier is
   to be tried too, unless it already is (a source set). So is what was ready and was withdrawn.
3. What has been tried from some turn sleeps in the Runs that go the other ways from there, until
   something happens that touches what it touched. A Run in which all that is ready sleeps is
   blocked: it is cut, since another has shown whatever it could.
4. All alternatives of a pick are tried.

It is as true as the Footprints: an actor that hides what its tasks share is searched in vain.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from testbed.chooser import CUT, Cut, Exhaustive, Plan, RunInfo
from testbed.choosers.equivalence.certificate import Seen, write
from testbed.choosers.equivalence.orders import (
    NO_TOUCH,
    Keys,
    OrderedTurn,
    Past,
    Picked,
    open_part,
    with_path,
)  # fmt: skip
from testbed.choosers.equivalence.tree import REST, Fork, Name, Tried, TurnNode, named
from testbed.errors import HarnessError, ReplayDiverged, ScenarioError
from testbed.invariant import Verdict
from testbed.store.footprint import HISTORY, Footprint
from testbed.turns.option import FAULT, PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.words import counted

ANY_FAULT = Footprint(writes=frozenset({"budget:faults"}))
"""What every fault touches when fewer may strike than the scenario allows."""
AT_REST = ("quiet", "stuck")


class Complete(Exhaustive):
    """Plays until it has seen every class of Runs, with at most so many faults in each.

    One search, from the first `begin` to the one that says None. A Violation does not end a Run of
    it, so what is said of a class is said of whole Runs.
    """

    goes_on = True
    minds_order = True

    def __init__(
        self, faults_max: int | None = None, *, runs_max: int | None = None, keeps: bool = True
    ) -> None:
        self.faults_max = faults_max
        """How many faults strike in one Run; None: as many as the scenario allows."""
        self.runs_max = runs_max
        self.keeps = keeps
        """Whether the classes themselves are kept, for a certificate, and not only counted."""
        self.runs = 0
        """Runs played, those that were blocked among them."""
        self.blocked = 0
        """Runs cut since all they could still do had been seen."""
        self.repeated = 0
        """Runs of a class seen before: some may have touched what in the end they did not."""
        self.limits: set[str] = set()
        """The limits of the scenario at which a Run was ended."""
        self.seen: list[Seen] = []
        self.header: dict[str, Any] = {}
        """The scenario and its switches."""
        self.outcomes: dict[str, int] = {}
        """How many classes are held, violated, undecided."""
        self._forms: set[bytes] = set()
        self._said: dict[object, int] = {}
        self._keys = Keys()
        self._past = Past()
        self._stack: list[TurnNode | Fork] = []
        self._nodes: list[TurnNode] = []
        self._is_exhausted = False
        self._depth = 0
        self._turn = 0
        self._picks: list[Picked] = []
        self._steps: list[tuple[Step, tuple[Picked, ...]]] = []
        """The turns of the Run under way, and what was picked in each."""
        self._touch = NO_TOUCH
        """What the last of them touched, and what may turn out that it did."""
        self._place_of: dict[int, int] = {}
        """The number of a Step to the place of that turn in the Run."""
        self._strikes = 0
        self._faults_max = 0
        self._spends: Footprint | None = None
        self._is_blocked = False
        self._looks_back = False
        """Whether some turn depends on the order of all that was committed before it."""

    # -- what it has seen -----------------------------------------------------------------------

    @property
    def classes(self) -> int:
        """How many classes it has seen."""
        return len(self._forms)

    @property
    def is_complete(self) -> bool:
        """Whether there is none left."""
        return self._is_exhausted

    @property
    def summary(self) -> str:
        said = "complete" if self.is_complete else "not complete"
        if self.limits:
            said += f" up to {' and '.join(sorted(self.limits))}"
        return (
            f"{said}: {counted(self.classes, 'class', 'es')} in {counted(self.runs, 'run')}, "
            f"{self.blocked:,} blocked, ≤ {counted(self._faults_max, 'fault')}"
        )

    def certificate(self, path: str | Path) -> None:
        """For `python -m testbed.checks.certificate`."""
        if not self.is_complete or not self.keeps:
            raise ScenarioError(
                f"{path}: there is nothing to certify, since this search "
                f"{'has not ended' if self.keeps else 'kept no classes'}: {self.summary}.\n"
                "Next: play Complete(keeps=True) until `is_complete`, then ask again."
            )
        bounds = {"faults_max": self._faults_max, "limits": sorted(self.limits)}
        found = {"classes": self.classes, "runs": self.runs, "blocked": self.blocked}
        write(path, {**self.header, **bounds, **found}, self.seen)

    # -- one Run --------------------------------------------------------------------------------

    def begin(self, run: RunInfo) -> Plan | None:
        if run.delay_max_ms:
            raise ScenarioError(
                f"{run.scenario} lets time pass over what is ready (delay_max_ms="
                f"{run.delay_max_ms}), so which turns can change places depends on the clock, and "
                "no search of it is complete.\n"
                "Next: world.limit(delay_max_ms=0), or sample it with --chooser uniform."
            )
        if self._is_exhausted or self.runs == self.runs_max:
            return None
        allowed = run.faults_max
        self._faults_max = allowed if self.faults_max is None else min(self.faults_max, allowed)
        self._spends = ANY_FAULT if self._faults_max < allowed else None
        self._depth = self._turn = self._strikes = 0
        self._picks = []
        self._place_of = {}
        self._steps = []
        self._is_blocked = False
        return Plan(f"complete, run {self.runs}")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if isinstance(options, Alternatives):
            return self._pick(options)
        node = self._node(options, at_rest=False)
        if node.chosen is None:
            self._is_blocked = True
            return CUT
        self._strikes += node.chosen[0].kind == FAULT
        return node.index[node.chosen]

    def strike(self, options: Options) -> int | None:
        if self._strikes == self._faults_max or not options.faults:
            return None
        node = self._node(options, at_rest=True)
        if node.chosen is None or node.chosen == REST:
            return None
        self._strikes += 1
        return node.index[node.chosen]

    def _node(self, options: Options, *, at_rest: bool) -> TurnNode:
        """Where the Run is: at a turn that is played again, or where nobody has been."""
        if self._depth < len(self._stack):
            node = self._known(options, at_rest=at_rest)
        else:
            node = self._arrive(options, at_rest=at_rest)
            if node.chosen is not None:
                self._stack.append(node)
                self._nodes.append(node)
        self._depth += 1
        return node

    def _pick(self, options: Alternatives) -> int:
        if self._depth == len(self._stack):
            self._stack.append(Fork(len(options)))
        fork = self._stack[self._depth]
        if not isinstance(fork, Fork) or fork.of != len(options):
            raise self._diverged(f"{options[0].path} picks {options[0].verb}", str(fork))
        self._depth += 1
        chosen = options[fork.at]
        self._picks.append((chosen.verb, chosen.label, fork.at, fork.of))
        return fork.at

    def _known(self, options: Options, *, at_rest: bool) -> TurnNode:
        """The node of a turn that is played again; the same things must be ready at it."""
        node = self._stack[self._depth]
        ready = 0 if at_rest else options.ready
        if isinstance(node, Fork) or node.ready != ready:
            raise self._diverged(f"{ready} options are ready", f"{node}")
        assert node.chosen is not None
        if node.chosen == REST:
            return node
        there = options[node.index[node.chosen]]
        if there.sentence != node.chosen[0]:
            raise self._diverged(f"there was {there}", f"{node.chosen[0]}")
        return node

    def _diverged(self, now: str, before: str) -> HarnessError:
        return ReplayDiverged(
            f"at choice {self._depth + 1} of run {self.runs}: {now}; in an earlier run with the "
            f"same choices it was {before}.\n"
            "Something outside the World decided, so no search can be complete.\n"
            "Next: testbed bench determinism"
        )

    def _arrive(self, options: Options, *, at_rest: bool) -> TurnNode:
        """A turn nobody has been at: see what was withdrawn, and what goes on sleeping."""
        end = len(options) if self._strikes < self._faults_max else options.ready
        first = options.ready if at_rest else 0
        index = named([options[place] for place in range(first, end)], first)
        asleep: dict[Name, Tried] = {}
        if self._nodes:
            self._grow(len(self._steps) - 1)
            last, events = self._nodes[-1], self._past.events
            self._withdrawn(last, events[-1], index)
            has_passed = events[-1].now_ms > (events[-2].now_ms if len(events) > 1 else 0)
            still = last.still_asleep(self._touch, has_passed)
            asleep = {name: tried for name, tried in still if name in index}
        due_ms = options[first].due_ms
        return TurnNode(index, 0 if at_rest else options.ready, due_ms, asleep)

    def _withdrawn(self, last: TurnNode, event: OrderedTurn, index: dict[Name, int]) -> None:
        """What could have happened and cannot any more, though it was not chosen."""
        if last.due_ms > event.now_ms:
            return
        for name in last.names:
            if name != last.chosen and name not in index:
                last.withdraw(name)

    def ended(self, step: Step) -> None:
        if step.kind == PICK:
            return
        self._place_of[step.number] = place = self._turn
        self._turn += 1
        picks, self._picks = tuple(self._picks), []
        self._steps.append((step, picks))
        if place < len(self._past):
            return
        self._add(place)

    def _add(self, place: int) -> None:
        """One more turn, with all that is known of it so far; and its races."""
        step, picks = self._steps[place]
        did = self._did(step)
        causes = tuple(self._place_of[number] for number in step.causes if number)
        event = OrderedTurn(step.sentence, picks, step.now_ms, did, self._keys.touch(did), causes)
        for first in (*self._past.add(event), *self._silent_races(event, place)):
            self._race(first, place)
        self._touch = event.touch.joined(self._keys.touch(open_part(did, self._looks_back)))
        tried = self._nodes[place].tried
        tried.touch = tried.touch.joined(self._touch)

    def _did(self, step: Step) -> Footprint:
        """What it touched; a fault, also what is left of them, if not all that could may strike."""
        did = with_path(step.did, step.option.path)
        if self._spends is None or step.kind != FAULT:
            return did
        return Footprint(did.reads, did.writes | self._spends.writes)

    def _grow(self, since: int = 0) -> None:
        """A turn may turn out to have touched more than was known when it ended, since a claim can
        tell, or a later turn has looked back: from the first such turn on, add all again."""
        events = self._past.events
        for place in range(since, len(self._steps)):
            if self._did(self._steps[place][0]) != events[place].did:
                self._past.cut(place)
                for later in range(place, len(self._steps)):
                    self._add(later)
                return

    def _silent_races(self, event: OrderedTurn, place: int) -> Iterator[int]:
        """Turns that have withdrawn what this one would race with: let it come before them, so
        that what they withdrew may follow it."""
        before, may_strike = self._past.before[place], self._strikes < self._faults_max
        for first, node in enumerate(self._nodes[:place]):
            if node.silenced and not before >> first & 1 and node.silences(event, may_strike):
                yield first

    def _race(self, first: int, second: int) -> None:
        """Let the second come before the first: try, where that was chosen, what leads there."""
        past = self._past
        if past.events[first].is_fault or self._is_due_to(first, second):
            return
        node = self._nodes[first]
        names = [self._nodes[place].chosen for place in past.reversed(first, second)]
        if any(name in node.wanted or name in node.asleep for name in names):
            return
        name = next((name for name in names if name in node.index), None)
        if name is None:
            node.want_all()
        else:
            node.want(name)

    def _is_due_to(self, first: int, fault: int) -> bool:
        """Whether that turn is why a fault could strike at all; a fault does not tell its causes,
        so they are seen from since when it was offered."""
        name = self._nodes[fault].chosen
        if not self._past.events[fault].is_fault:
            return False
        since = fault
        while since and name in self._nodes[since - 1].index:
            since -= 1
        return since > first and bool((self._past.before[since - 1] | 1 << since - 1) >> first & 1)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self._grow()
        self.runs += 1
        self.header = {name: trace.header[name] for name in ("testbed", "scenario", "switches")}
        if self._is_blocked:
            self.blocked += 1
        else:
            self._see(verdict)
            self._left_over(verdict)
        self._go_back()

    def _left_over(self, verdict: Verdict) -> None:
        """At rest nothing is ready any more. A limit hides what races there would have been, so
        everything is tried at each turn of a Run that has reached one."""
        if verdict.end not in AT_REST:
            self.limits.add(verdict.end.partition(":")[0])
            for node in self._nodes:
                node.want_all()
        elif self._nodes and self._nodes[-1].chosen != REST:
            self._withdrawn(self._nodes[-1], self._past.events[-1], {})

    def _see(self, verdict: Verdict) -> None:
        """Count the class of this Run, and keep it."""
        order = self._past.order()
        at = {place: now_at for now_at, place in enumerate(order)}
        form = array("L")
        for place in order:
            event = self._past.events[place]
            form.append(self._said.setdefault(event.said, len(self._said)))
            form.append(len(event.causes))
            form.extend(sorted(at[cause] for cause in event.causes))
        digest = blake2b(form.tobytes(), digest_size=16).digest()
        if digest in self._forms:
            self.repeated += 1
            return
        self._forms.add(digest)
        self.outcomes[verdict.outcome] = self.outcomes.get(verdict.outcome, 0) + 1
        if self.keeps:
            events = tuple(self._past.events)
            offers = tuple(node.offer for node in self._nodes)
            self.seen.append(Seen(verdict.outcome, verdict.end, events, offers))

    def _go_back(self) -> None:
        """To the last choice that has another side to it; to the first, once it is known that
        somebody looks back, since what slept until then knew nothing of it."""
        if not self._looks_back and any(HISTORY in e.did.writes for e in self._past.events):
            self._looks_back = True
            self._stack, self._nodes = [], []
            self._past.cut(0)
            self._forms.clear()
            self.outcomes.clear()
            self.seen.clear()
            return
        while self._stack:
            top = self._stack[-1]
            if isinstance(top, Fork):
                top.at += 1
                if top.at < top.of:
                    break
            elif top.has_next():
                break
            else:
                self._nodes.pop()
            self._stack.pop()
        else:
            self._is_exhausted = True
        self._past.cut(max(len(self._nodes) - 1, 0))
