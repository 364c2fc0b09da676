"""Walking: plays Runs until each move of each state was tried; no World can be copied.

1. A Run begins at the start and plays again what leads to a state with an untried move.
2. It makes that move. From then on it is on new ground: before each turn it works out the key of
   the state. If that is known, the move leads there, and the Run is cut.
3. Else the state is new. All its moves are noted, and the Run goes on with the calmest.
"""

from __future__ import annotations

import attrs

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.equivalence.refusals import check_run
from testbed.errors import HarnessBug
from testbed.maps.believing import CommittedVersions, Tables, beliefs, truth
from testbed.maps.graph import Arc, Graph, MapPlace
from testbed.maps.looks import TIME, PastLooks
from testbed.maps.sameness import Sameness
from testbed.maps.saying import Same, kind_of, said_of, same_of, setting_of, without_numbers
from testbed.turns.option import FAULT, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.world.world import World

RESTS: Same = ("", "", "", "", "", "")
"""The move of a state at rest in which no fault strikes."""
OUT_OF_TIME = "virtual_ms_max"
LIMITS = ("turns_max", "instant_turns_max", "trace_bytes_max")


@attrs.frozen
class EndFound:
    """One way in which Runs end; two of one kind are the same end."""

    outcome: str
    why: str
    """Why the Run ended, without what counts on."""
    claims: tuple[str, ...]
    """The claims that are violated, by name."""
    said: str
    """What was found, without what counts on."""


def end_found(outcome: str, why: str, violations: tuple[Violation, ...]) -> EndFound:
    """The end of a Run that has come to this."""
    broken = sorted((v.invariant, without_numbers(v.said)) for v in violations)
    why = without_numbers(why)
    said = "; ".join(said for _, said in broken) or why
    return EndFound(outcome, why, tuple(name for name, _ in broken), said)


class Walker(Chooser):
    """Leads the Runs of one map, one after another."""

    goes_on = True

    def __init__(self, looks: PastLooks, *, faults_max: int | None, goes_on: bool) -> None:
        self.graph = Graph()
        self.tables = Tables()
        self.ends: dict[EndFound, int] = {}
        self.refused = ""
        """Why no map can be made; empty as long as one can."""
        self.unlike = 0
        """How many states could not be compared with others."""
        self._looks = looks
        self._faults_max = faults_max
        self._goes_on = goes_on
        self._world: World
        self._sameness: Sameness
        self._committed: CommittedVersions
        self._noted = 0
        """Up to which revision the commits of this Run were noted."""
        self._way: list[tuple[int, int]] = []
        """What this Run does: for each state, the number of an arc."""
        self._done = 0
        self._is_over = False
        """Whether what comes of this Run is known."""

    @property
    def states(self) -> int:
        """How many states were found."""
        return len(self.graph.places)

    @property
    def is_done(self) -> bool:
        """Whether each move of each state was tried."""
        return bool(self.graph.places) and self.graph.next_open() is None

    def lead(self, world: World) -> None:
        """Lead the Run of this World to a move that was not tried yet."""
        self._world = world
        self._sameness = Sameness(world, self._looks)
        self._committed = CommittedVersions()
        self._noted = 0
        self._done, self._is_over = 0, False
        target = self.graph.next_open()
        self._way = [] if target is None else [*self.graph.way_to(target[0]), target]

    # -- what the World asks --------------------------------------------------------------------

    def begin(self, run: RunInfo) -> Plan | None:
        check_run(run, is_first=not self.graph.places)
        allowed = run.faults_max
        self._strikes_max = allowed if self._faults_max is None else min(allowed, self._faults_max)
        return Plan(f"a map, {len(self.graph.places)} states")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if self._is_over:
            return CUT
        self._note_commits()
        if isinstance(options, Alternatives):
            place: int | None = self._arrive_at_pick(options)
        else:
            place = self._arrive(options, at_rest=False)
        if place is None:
            self._is_over = True
            return CUT
        choice = self._go(place, options)
        assert choice is not None
        return choice

    def strike(self, options: Options) -> int | None:
        if self._is_over:
            return None
        self._note_commits()
        place = self._arrive(options, at_rest=True)
        if place is None:
            self._is_over = True
            return None
        return self._go(place, options)

    def _note_commits(self) -> None:
        """Before each turn, note what was committed since: a compaction may take it away."""
        store = self._world.store
        for change in store.log().after(self._noted):
            self._committed.note(change)
            self._sameness.learn(change)
        self._noted = store.revision

    def ended(self, step: Step) -> None:
        """Nothing; but a Chooser that has this has the Steps made, and a claim may look at them."""

    def end(self, trace: Trace, verdict: Verdict) -> None:
        if self._is_over:
            return
        if verdict.end.startswith(LIMITS):
            self.refused = f"a Run has reached {verdict.end}"
            return
        if verdict.end.startswith(OUT_OF_TIME):
            self._looks.add(TIME)
        number, at = self._way[-1]
        place = self.graph.places[number]
        end = end_found(verdict.among_others, verdict.end, verdict.violations)
        if place.arcs[at].same != RESTS:
            raise HarnessBug(f"a map was not asked before a Run ended: {verdict.end}")
        self.graph.connect(number, at, number)
        place.end = self.ends.setdefault(end, len(self.ends))

    # -- one state ------------------------------------------------------------------------------

    def _go(self, number: int, options: Options | Alternatives) -> int | None:
        """Make the next move of this Run in that state."""
        if self._done == len(self._way):
            self._way.append((number, 0))
        arc = self.graph.places[number].arcs[self._way[self._done][1]]
        self._done += 1
        if arc.choice is not None:
            there = options[arc.choice] if arc.choice < len(options) else None
            if there is None or same_of(there) != arc.same:
                raise HarnessBug(f"the same choices led to `{there}`, and before to `{arc.said}`")
        return arc.choice

    def _arrive(self, options: Options, *, at_rest: bool) -> int | None:
        """The state before the turn that comes next; None if no Run need go on from it."""
        if self._done < len(self._way):
            return self._way[self._done][0]
        violations = self._world.judge.violations
        key = self._sameness.key(tuple(self._way))
        self.unlike += key.startswith("unlike")
        known = self.graph.by_key.get(key)
        if known is None:
            is_breach = bool(violations) and not (self._goes_on or self._world.goes_on)
            arcs = [] if is_breach else self._arcs(options, at_rest=at_rest)
            place = self._new(key, arcs, is_rest=at_rest)
            place.ms = self._world.evidence.now_ms
            place.truth = self.tables.add(truth(self._world))
            held = beliefs(self._world, self._committed)
            place.beliefs = tuple(
                each if isinstance(each, int) else self.tables.add(each) for each in held
            )
            if is_breach:
                end = end_found("violated", "violated", tuple(violations))
                place.end = self.ends.setdefault(end, len(self.ends))
                return None
            return place.number
        self._link(known)
        return None

    def _arrive_at_pick(self, options: Alternatives) -> int:
        """The state within a turn, before something is picked. It is known by how it was met: to
        compare it, the tasks would have to be parked."""
        if self._done < len(self._way):
            return self._way[self._done][0]
        arcs = self._named(list(options), range(len(options)))
        before = self.graph.places[self._way[-1][0]]
        place = self._new(f"pick {self._way[-1]}", arcs, is_rest=False)
        place.ms, place.truth, place.beliefs = before.ms, before.truth, before.beliefs
        return place.number

    def _new(self, key: str, arcs: list[Arc], *, is_rest: bool) -> MapPlace:
        parent, by = self._way[-1] if self._way else (-1, 0)
        number = len(self.graph.places)
        place = MapPlace(number, arcs, parent, by, is_rest, 0)
        self._link(number)
        return self.graph.add(key, place)

    def _link(self, number: int) -> None:
        """The last move of this Run leads to that state."""
        if self._way:
            self.graph.connect(*self._way[-1], number)

    def _arcs(self, options: Options, *, at_rest: bool) -> list[Arc]:
        """All moves of a state: what is ready, the calmest first, and the faults."""
        may_strike = self._world.faults_struck < self._strikes_max
        first = options.ready if at_rest else 0
        end = len(options) if may_strike else options.ready
        places = range(first, end)
        arcs = self._named([options[place] for place in places], places)
        if at_rest:
            arcs.insert(0, Arc(None, RESTS, 0, "the Run ends", "own", ""))
        return arcs

    def _named(self, options: list[Option], choices: range) -> list[Arc]:
        counts: dict[Same, int] = {}
        settings: dict[Same, set[str]] = {}
        for option in options:
            if option.kind == FAULT:
                settings.setdefault(same_of(option), set()).add(setting_of(option.fault))
        arcs = []
        for option, choice in zip(options, choices, strict=True):
            same = same_of(option)
            nth = counts[same] = counts.get(same, -1) + 1
            said = said_of(option)
            if option.kind == FAULT and len(settings[same]) > 1:
                said += f" ({setting_of(option.fault)})"
            arcs.append(Arc(choice, same, nth, said, kind_of(option), option.actor))
        return arcs
