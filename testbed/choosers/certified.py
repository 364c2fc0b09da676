"""certified: a class of a certificate played again, and held against what the file says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.equivalence.certificate import NOTHING_LEFT, Offer, Said, Seen, late_part
from testbed.choosers.equivalence.orders import settings_of, with_path
from testbed.store.footprint import Footprint
from testbed.turns.option import FAULT, PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict


class Certified(Chooser):
    """Plays one Run: that of a class of a certificate, with as many faults as this allows.

    Before each turn it compares what is offered, and at the end of the Run what each turn has
    touched, what caused it, what it picked, when it was, how the Run ended and what broke. The
    first difference ends the Run, and is kept as a sentence.
    """

    goes_on = True
    minds_order = True

    def __init__(self, seen: Seen, faults_max: int, spends: Footprint) -> None:
        self.seen = seen
        self.faults_max = faults_max
        self.spends = spends
        """What each fault touches beside its own, in the search that wrote the certificate."""
        self.difference = ""
        """What is not as the certificate says; empty if all is."""
        self._next = 0
        """The place of the turn that comes next."""
        self._strikes = 0
        self._picks = 0
        """How many picks the turn under way has made."""
        self._steps: list[Step] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self.difference = ""
        self._next = self._strikes = self._picks = 0
        self._steps = []
        return Plan("certified")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if isinstance(options, Alternatives):
            return self._pick(options)
        there = _offer(options, at_rest=False, may_strike=self._may_strike)
        place = self._turn(there)
        if place is None:
            return CUT
        return place

    def strike(self, options: Options) -> int | None:
        there = _offer(options, at_rest=True, may_strike=self._may_strike)
        if self._next == len(self.seen.turns):
            self._compare("at rest", there, self.seen.offers[-1] if self.seen.offers else None)
            return None
        place = self._turn(there)
        return None if place is None else options.ready + place

    @property
    def _may_strike(self) -> bool:
        return self._strikes < self.faults_max

    def _turn(self, there: Offer) -> int | None:
        """The place of the next turn among what is offered; None if it is not as the file says."""
        seen, at = self.seen, self._next
        if at == len(seen.turns):
            self._differs("the Run goes on, where the certificate ends it")
            return None
        self._compare(f"at turn {at + 1}", there, seen.offers[at])
        place, offered = seen.places[at], [*there.ready, *there.faults]
        if self.difference:
            return None
        if place >= len(offered) or offered[place] != Said.of(seen.turns[at]):
            self._differs(f"turn {at + 1} is not the one of that place among those offered")
            return None
        self._next, self._picks = at + 1, 0
        self._strikes += place >= len(there.ready)
        return place

    def _pick(self, options: Alternatives) -> int | Cut:
        at, picks = self._next, self.seen.turns[self._next - 1].picks if self._next else ()
        there = options[0].verb
        if self._picks == len(picks):
            self._differs(f"turn {at} picks {there!r}, of which the certificate says nothing")
            return CUT
        label, value, place, of = picks[self._picks]
        is_there = of == len(options) and place < of
        if not is_there or (options[place].verb, options[place].label) != (label, value):
            self._differs(f"turn {at} picks {there!r} from other alternatives")
            return CUT
        self._picks += 1
        return place

    def ended(self, step: Step) -> None:
        if step.kind != PICK:
            self._steps.append(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        for difference in self._differences(verdict):
            self._differs(difference)

    def _differences(self, verdict: Verdict) -> Iterator[str]:
        """What the turns and the end of the Run, which are known by now, differ in."""
        seen, place_of = self.seen, {step.number: k for k, step in enumerate(self._steps)}
        alike = zip(self._steps, seen.turns, seen.lates, strict=False)
        for place, (step, turn, said) in enumerate(alike):
            did = with_path(step.did, step.option.path)
            if step.kind == FAULT:
                did |= self.spends
            late = late_part(step, did)
            causes = tuple(place_of[number] for number in step.causes if number)
            where = f"turn {place + 1} ({step.sentence})"
            if step.now_ms != turn.now_ms:
                yield f"{where} is at {step.now_ms} ms, not at {turn.now_ms} ms"
            for what, now, then in (
                ("reads", did.reads, turn.did.reads),
                ("writes", did.writes, turn.did.writes),
                ("reads late", late.reads, said.reads),
                ("writes late", late.writes, said.writes),
            ):
                if odd := sorted(now ^ then):
                    yield f"{where} {what} {odd[0]}, or does not: the certificate says otherwise"
            if sorted(causes) != sorted(turn.causes):
                yield f"{where} comes of turns {list(causes)}, not of {list(turn.causes)}"
        if len(self._steps) < len(seen.turns):
            yield f"it ends after turn {len(self._steps)} of {len(seen.turns)}: {verdict.end}"
        if verdict.end != seen.end:
            yield f"it ends so: {verdict.end}; not so: {seen.end}"
        broken = tuple((each.invariant, each.said) for each in verdict.violations)
        if (verdict.among_others, broken) != (seen.outcome, seen.broken):
            yield (
                f"it is {verdict.among_others} by {_names(broken)}, not {seen.outcome} by "
                + _names(seen.broken)
            )

    def _compare(self, where: str, there: Offer, said: Offer | None) -> None:
        if there != said:
            ready = [] if said is None else [*said.ready, *said.faults]
            now = [*there.ready, *there.faults]
            odd = [str(each) for each in now if each not in ready] or ["the same in another order"]
            gone = [str(each) for each in ready if each not in now]
            what = f"is not offered: {gone[0]}" if gone else f"is offered: {odd[0]}"
            self._differs(f"{where} {what}")

    def _differs(self, text: str) -> None:
        self.difference = self.difference or text


def _offer(options: Options, *, at_rest: bool, may_strike: bool) -> Offer:
    """What is offered, as a search writes it down."""
    first = options.ready if at_rest else 0
    offered = [options[place] for place in range(first, options.ready)]
    faults = list(options.faults) if may_strike else []
    if not offered and not faults:
        return NOTHING_LEFT
    due_ms = options[first].due_ms
    ready = tuple(Said(option.sentence, "") for option in offered)
    return Offer(ready, tuple(Said(o.sentence, settings_of(o)) for o in faults), due_ms)


def _names(broken: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for name, _ in broken) or "nothing"
