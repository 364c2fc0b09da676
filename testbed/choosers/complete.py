"""complete: at least one Run of every class there is, and hardly any twice (source-DPOR).

A Run is played again from its choices, then goes on in its own way; the choices form a tree, which
is walked depth first.

1. At a new turn every fault that may strike is to be tried, since a fault that does not happen
   shows in no race. Of all that is ready, only the calmest is to be tried.
2. When a turn has ended, each of its races is looked at: an earlier turn that it follows directly,
   although that one did not make it possible. Where the earlier turn was chosen, something that
   leads to the opposite order is to be tried too, unless it already is (a source set). So is what
   was ready and was withdrawn.
3. What has been tried at some turn sleeps in the Runs that go other ways from there, until
   something happens that touches what it touched (a sleep set). A Run in which all that is ready
   sleeps is blocked: it is cut, since another Run has shown whatever it could.
4. All alternatives of a pick are tried.

The search is only as good as the Footprints. If the tasks of an actor share something that no
Footprint names, orders that matter are left out.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from testbed.chooser import CUT, Cut, Exhaustive, Plan, RunInfo
from testbed.choosers.equivalence.certificate import AT_REST, Seen, Tested, write
from testbed.choosers.equivalence.classes import Classes
from testbed.choosers.equivalence.orders import (
    Keys,
    OrderedTurn,
    Past,
    open_part,
    turn_of,
    with_path,
)
from testbed.choosers.equivalence.refusals import check_ended, check_limits, check_run
from testbed.choosers.equivalence.repeats import Repeats
from testbed.choosers.equivalence.tree import Fork, Name, Tried, TurnNode, Walk, named, offered_at
from testbed.errors import HarnessError
from testbed.store.footprint import HISTORY, Footprint
from testbed.turns.option import FAULT, PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.words import counted

ANY_FAULT = Footprint(writes=frozenset({"budget:faults"}))
"""What every fault touches when fewer may strike than the scenario allows."""


class Complete(Exhaustive):
    """Plays until it has seen every class of Runs, with at most `faults_max` faults in each.

    It does one search, from the first `begin` to the one that returns None. A Violation does not
    end a Run of it, so whatever is claimed of a class is claimed of whole Runs.
    """

    goes_on = True
    minds_order = True

    def __init__(
        self, faults_max: int | None = None, *, runs_max: int | None = None, keeps: bool = True
    ) -> None:
        self.faults_max = faults_max
        """How many faults may strike in one Run; None: as many as the scenario allows."""
        self.runs_max = runs_max
        self.runs = 0
        """Runs played, those that were blocked among them."""
        self.blocked = 0
        """Runs cut since all they could still do had been seen."""
        self.turns = 0
        """Turns played in all of them."""
        self.tested = Tested()
        """In how many other orders its classes were played, to put the search to the test."""
        self.repeated = 0
        """Runs of a class seen before: a turn may touch less than its Option had announced."""
        self.limits: set[str] = set()
        """The limits of the scenario at which a Run was ended."""
        self.header: dict[str, Any] = {}
        """The scenario and its switches."""
        self._classes = Classes(keeps=keeps)
        self._keys = Keys()
        self._past = Past()
        """The turns of the Run under way; when it is over, those the next Run begins with."""
        self._stack: list[TurnNode | Fork] = []
        """The path down the tree that this Run takes: its turns and its picks."""
        self._nodes: list[TurnNode] = []
        """The turns of that path alone."""
        self._repeats = Repeats()
        self._walk: Walk
        self.faults_tried = 0
        """How many faults it lets strike in one Run, at most."""
        self._spends: Footprint | None = None
        """What a fault touches beside its own, if fewer may strike than the scenario allows."""
        self._looks_back = False
        """Whether some turn depends on the order of all that was committed before it."""
        self._is_exhausted = False

    # -- what it has seen -----------------------------------------------------------------------

    @property
    def classes(self) -> int:
        """How many classes it has seen."""
        return len(self._classes)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many classes are held, violated, undecided."""
        return self._classes.outcomes

    @property
    def seen(self) -> list[Seen]:
        """The classes, in the order in which they were found; none if it only counts them."""
        return self._classes.seen

    @property
    def is_complete(self) -> bool:
        """Whether no class is left to be seen."""
        return self._is_exhausted

    def refute(self) -> None:
        """Take back that it is complete: a class came to something else in another order."""
        self._is_exhausted = False

    @property
    def summary(self) -> str:
        status = "complete" if self.is_complete else "not complete"
        if self.limits:
            status += f" up to {' and '.join(sorted(self.limits))}"
        return (
            f"{status}: {counted(self.classes, 'class', 'es')} in {counted(self.runs, 'run')}, "
            f"{self.blocked:,} blocked, ≤ {counted(self.faults_tried, 'fault')}, "
            f"{self._classes.in_time}{self.tested}"
        )

    def certificate(self, path: str | Path, terms: Mapping[str, Any]) -> None:
        """Write the certificate that `testbed certify` checks. The terms say what was searched."""
        keeps, summary = self._classes.keeps, self.summary
        check_ended(path, is_complete=self.is_complete, keeps=keeps, summary=summary)
        check_limits(path, self.limits)
        found = {"faults_max": self.faults_tried, "tested": self.tested.as_dict()}
        write(path, self.header, {**terms, **found}, self.seen)

    def begin(self, run: RunInfo) -> Plan | None:
        check_run(run, is_first=self.runs == 0)
        if self._is_exhausted or self.runs == self.runs_max:
            return None
        allowed = run.faults_max
        self.faults_tried = allowed if self.faults_max is None else min(self.faults_max, allowed)
        self._spends = ANY_FAULT if self.faults_tried < allowed else None
        self._walk = Walk(run)
        self._repeats.begin(run)
        return Plan(f"complete, run {self.runs}")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if not isinstance(options, Options):
            return self._pick(options)
        node = self._node(options, at_rest=False)
        if node.chosen is None:
            self._walk.is_blocked = True
            return CUT
        self._walk.strikes += node.chosen[0].kind == FAULT
        return node.index[node.chosen]

    def strike(self, options: Options) -> int | None:
        if self._walk.strikes == self.faults_tried or not options.faults:
            return None
        node = self._node(options, at_rest=True)
        if node.chosen is None or node.is_left:
            return None
        self._walk.strikes += 1
        return node.index[node.chosen]

    def _node(self, options: Options, *, at_rest: bool) -> TurnNode:
        """The node of the turn that comes next: a known one that is played again, or a new one."""
        if self._walk.depth < len(self._stack):
            node = self._known(options, at_rest=at_rest)
        else:
            node = self._arrive(options, at_rest=at_rest)
            if node.chosen is not None:
                self._stack.append(node)
                self._nodes.append(node)
                self._repeats.arrive(options)
        self._walk.depth += 1
        self._walk.ready = () if at_rest else options.in_line()
        return node

    def _pick(self, options: Alternatives) -> int:
        walk = self._walk
        if walk.depth == len(self._stack):
            self._stack.append(Fork(len(options)))
        fork = self._stack[walk.depth]
        if not isinstance(fork, Fork) or fork.of != len(options):
            many = "no pick" if not isinstance(fork, Fork) else f"a pick of {fork.of}"
            raise self._diverged(f"a pick of {len(options)}, {options[0].verb}", many)
        walk.depth += 1
        chosen = options[fork.at]
        walk.picks.append((chosen.verb, chosen.label, fork.at, fork.of))
        return fork.at

    def _known(self, options: Options, *, at_rest: bool) -> TurnNode:
        """The node of a turn that is played again; the same things must be ready at it."""
        self._repeats.arrive_again(len(self._walk.steps), options, self.runs)
        node = self._stack[self._walk.depth]
        ready = 0 if at_rest else options.ready
        if isinstance(node, Fork) or node.ready != ready:
            before = "it picked" if isinstance(node, Fork) else counted(node.ready, "option")
            raise self._diverged(counted(ready, "option"), before)
        assert node.chosen is not None
        if node.is_left:
            return node
        place = node.index[node.chosen]
        there = options[place] if place < len(options) else None
        if there is None or there.sentence != node.chosen[0]:
            raise self._diverged(f"`{there or 'nothing'}`", f"`{node.chosen[0]}`")
        return node

    def _diverged(self, now: str, before: str) -> HarnessError:
        said = f"what comes next was {before}, and is {now} now"
        return self._repeats.diverged(len(self._walk.steps), self.runs, said)

    def _arrive(self, options: Options, *, at_rest: bool) -> TurnNode:
        """The node of a turn that no Run has reached: note what the last turn withdrew, and find
        what goes on sleeping."""
        end = len(options) if self._walk.strikes < self.faults_tried else options.ready
        first = options.ready if at_rest else 0
        index = named([options[place] for place in range(first, end)], first)
        asleep: dict[Name, Tried] = {}
        if self._nodes:
            self._grow(len(self._walk.steps) - 1)
            last, turns = self._nodes[-1], self._past.turns
            ready = () if at_rest else options.in_line()
            names = last.still_there(self._walk.ready, ready, index)
            self._withdrawn(last, turns[-1], names)
            has_passed = turns[-1].now_ms > (turns[-2].now_ms if len(turns) > 1 else 0)
            still = last.still_asleep(self._walk.touch, has_passed)
            asleep = {names[name]: tried for name, tried in still if name in names}
        due_ms = options[first].due_ms
        return TurnNode(index, 0 if at_rest else options.ready, due_ms, asleep)

    def _withdrawn(self, last: TurnNode, turn: OrderedTurn, names: Container[Name]) -> None:
        """Note at the last node what was ready there, was not chosen, and is there no more."""
        if last.due_ms > turn.now_ms:
            return
        for name in last.names:
            if name != last.chosen and name not in names:
                last.withdraw(name)

    def ended(self, step: Step) -> None:
        if step.kind == PICK:
            return
        walk = self._walk
        walk.place_of[step.number] = place = len(walk.steps)
        picks, walk.picks = tuple(walk.picks), []
        walk.steps.append((step, picks))
        self._repeats.ended(place, step, picks, self.runs)
        if place == len(self._past):
            self._add(place)

    def _add(self, place: int) -> None:
        """Add a turn to the past, with all that is known of it by now; look at its races."""
        walk = self._walk
        step, picks = walk.steps[place]
        did = self._did(step)
        turn = turn_of(step, picks, walk.place_of, did, self._keys.touch(did))
        for first in (*self._past.add(turn), *self._silent_races(turn, place)):
            self._race(first, place)
        walk.touch = turn.touch.joined(self._keys.touch(open_part(did, self._looks_back)))
        tried = self._nodes[place].tried
        tried.touch = tried.touch.joined(walk.touch)

    def _did(self, step: Step) -> Footprint:
        """What a turn touched, its own path included."""
        did = with_path(step.did, step.option.path)
        return did if self._spends is None or step.kind != FAULT else did | self._spends

    def _grow(self, since: int = 0) -> None:
        """Add turns again, from the first that has touched more than was known when it ended:
        a claim may read it later, or a later turn may look back at it."""
        turns, steps = self._past.turns, self._walk.steps
        for place in range(since, len(steps)):
            if self._did(steps[place][0]) != turns[place].did:
                self._past.cut(place)
                for later in range(place, len(steps)):
                    self._add(later)
                return

    # -- what else is to be tried ---------------------------------------------------------------

    def _silent_races(self, turn: OrderedTurn, place: int) -> Iterator[int]:
        """Earlier turns that withdrew an Option which clashes with this turn: the opposite order
        must be tried there, in which this turn comes first and the Option after it."""
        may_strike = self._walk.strikes < self.faults_tried
        for first, node in enumerate(self._nodes[:place]):
            is_open = node.silenced and not self._past.is_before(first, place)
            if is_open and node.silences(turn, may_strike):
                yield first

    def _race(self, first: int, second: int) -> None:
        """Ask for a Run in which the second of these turns comes before the first."""
        # Where `first` was chosen, no Run that begins with it can have `second` before it. So
        # something else must be tried there. Of what happened up to `second`, take all that does
        # not follow from `first`: a Run can do that without `first`, and any turn of it that
        # follows no other of it may be the one it begins with. These are `names`.
        #
        # One of them is enough, whichever: from each the rest can still be reached, and its own
        # races will ask for it. So nothing is added if one is to be tried anyway, or sleeps: then
        # Runs that begin with it have been played from an earlier node. Not so if it is a commit
        # woken by another: `second` may look back, and then their order matters.
        #
        # If `first` is a fault, nothing is added: where it struck, going on without it is tried in
        # any case, and so is the same fault at each turn that comes later. If `second` is a fault
        # that became possible by `first`, another turn may make it so as well.
        past = self._past
        if past.turns[first].is_fault:
            return
        node, is_due = self._nodes[first], self._is_due_to(first, second)
        names = [(self._nodes[place].chosen, place) for place in past.reversed(first, second)]
        if is_due and not (names := [each for each in names if each[1] != second]):
            return
        for name, place in names:
            if name in node.wanted:
                return
            if name in node.asleep and not past.is_open(first, place, self._keys, self._looks_back):
                return
        awake = (name for name, _ in names if name in node.index and name not in node.asleep)
        name = next(awake, None)
        if name is None:
            node.want_all()
        else:
            node.want(name)

    def _is_due_to(self, first: int, fault: int) -> bool:
        """Whether it could not yet strike when that earlier turn was chosen."""
        if not self._past.turns[fault].is_fault:
            return False
        turn = offered_at(self._nodes, fault)
        return first == turn or (first < turn and self._past.is_before(first, turn))

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self._grow()
        self.runs += 1
        self.turns += len(self._walk.steps)
        self.header = {name: trace.header[name] for name in ("testbed", "scenario", "switches")}
        if self._walk.is_blocked:
            self.blocked += 1
        else:
            taken = (node.taken for node in self._nodes)
            steps = [step for step, _ in self._walk.steps]
            self.repeated += not self._classes.add(self._past, verdict, steps, taken)
            self._left_over(verdict)
        self._go_back()

    def _left_over(self, verdict: Verdict) -> None:
        """Note what the end of a Run leaves untried.

        At rest, the last turn has withdrawn whatever was still ready. A limit hides the races that
        would have come later, or a fault at rest, so all is tried at every node of such a Run.
        """
        if verdict.end in AT_REST:
            limits = self._walk.spent if self._walk.strikes < self.faults_tried else set()
            if self._nodes and not self._nodes[-1].is_left:
                self._withdrawn(self._nodes[-1], self._past.turns[-1], ())
        else:
            limits = {verdict.end.partition(":")[0].replace("violated", "a proved lap")}
        self.limits |= limits
        for node in self._nodes if limits else ():
            node.want_all()

    def _go_back(self) -> None:
        """Backtrack to the last node with something left to try.

        Start over once, when a turn that reads the whole HISTORY first appears: the sleep sets so
        far took no account of such reads.
        """
        if not self._looks_back and any(HISTORY in e.did.writes for e in self._past.turns):
            self._looks_back = True
            self._stack, self._nodes = [], []
            self._past.cut(0)
            self._repeats.cut(0)
            self._classes.forget()
            return
        while self._stack:
            top = self._stack[-1]
            if isinstance(top, Fork):
                top.at += 1
                if top.at < top.of:
                    break
            elif top.choose_next():
                break
            else:
                self._nodes.pop()
            self._stack.pop()
        else:
            self._is_exhausted = True
        # The turn of the last node is not kept: it is another one now, or has another pick in it.
        self._past.cut(max(len(self._nodes) - 1, 0))
        self._repeats.cut(len(self._nodes))
