"""Tale: the few sentences that say who knew what, when it went stale, who acted on it, what broke.

1. Each stale act that matters gives up to four: what was known, what changed it, why that was not
   heard, and what was done all the same.
2. So do the faults and restarts in its slice, and who had not yet seen what it wrote itself. If
   nothing was stale, the last writes of what the Violation speaks of are told instead; a long to
   and fro is one sentence.
3. The dullest are left out until eight are left, and two of what actors say of why. They stand in
   the order in which things happened.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.invariant import Violation
from testbed.objects.meta import changed_fields
from testbed.story.knowledge import (
    GET,
    LIST,
    WATCH,
    Known,
    Sighting,
    StaleAct,
    Version,
    changed_nothing,
)
from testbed.story.knowledge import WROTE as WROTE_ITSELF
from testbed.story.slice import Slice
from testbed.story.wording import changed, did, listed, to_and_fro, were
from testbed.turns.option import DELIVER, FAULT, HOLD, START, request_key
from testbed.turns.trace import SAID, Record, Step
from testbed.words import past, spoken, withheld

SENTENCES_MAX, WHYS_MAX = 8, 2
FAULTS_MAX, HOLDS_MAX, OWN_MAX = 4, 2, 2
TURNS_MIN = 5
"""So many writes of one object, each by another than the one before, are a to and fro."""
VIOLATED, ACTED, WROTE, LATE, STRUCK, KNEW, HELD, DID = range(8)
"""Why a sentence is told: the first of these matter most."""


@attrs.frozen
class Beat:
    """One sentence, and where it belongs."""

    step: int
    said: str
    weight: int
    """A small one matters most."""
    steps: tuple[int, ...] = ()
    """The Steps it speaks of."""
    key: str = ""
    """The object it speaks of."""


class Tale:
    """What is told of one Run in words, and what it speaks of."""

    def __init__(self, matter: Slice) -> None:
        self.matter = matter
        self._steps = matter.causality.steps
        beats = list(self._stale())
        if matter.violation is not None:
            faults, holds = list(self._faults()), list(self._holds())
            beats += [
                *list(self._unseen())[-OWN_MAX:],
                *faults[-FAULTS_MAX:],
                *holds[-HOLDS_MAX:],
                *self._instead(),
            ]
            beats.append(self._broken(matter.violation))
        whys = list(self._why(beats))
        unique = {(beat.step, beat.key, beat.weight): beat for beat in [*beats, *whys]}.values()
        by_said = {beat.said: beat for beat in unique}.values()
        told = sorted(by_said, key=lambda beat: (beat.weight, -beat.step))
        told, rest = told[:SENTENCES_MAX], told[SENTENCES_MAX:]
        told += [beat for beat in rest if beat in whys][:WHYS_MAX]
        self.beats = sorted(told, key=lambda b: (b.weight == VIOLATED, b.step, b.weight == LATE))
        """In the order in which things happened; what broke comes last."""

    @property
    def sentences(self) -> list[str]:
        """What is told."""
        return [beat.said for beat in self.beats]

    @property
    def spoken_of(self) -> set[int]:
        """The Steps it speaks of."""
        return {number for beat in self.beats for number in beat.steps or (beat.step,)}

    # -- what was stale -------------------------------------------------------------------------

    def _stale(self) -> Iterator[Beat]:
        for stale in self.matter.stale:
            act, known = stale.act, stale.known
            first = stale.missed[0]
            yield self._knew(act.actor, known, first)
            for version in stale.missed[-2:]:
                yield self._wrote(version, is_judged=self.matter.violation is not None)
            late = self._late(stale)
            if late is not None:
                yield late
            yield from self._idle(stale)
            yield self._acted(stale)

    def _knew(self, actor: str, known: Known, missed: Version) -> Beat:
        look, key = known.look, known.key
        how = {
            GET: "",
            LIST: f", by a list of {key.partition('/')[0]}",
            WATCH: ", by its watch",
        }.get(look.how, ", for it had written it")
        verb = "read" if look.how == GET else "knew"
        was = f"{key} at rv {known.entry.revision}" if known.entry else f"of no {key}"
        content = "" if look.how == WROTE_ITSELF else self._content(known, missed)
        said = f"{actor} {verb} {was}{how} ({self._at(look.read)}){content}."
        return Beat(look.read, said, KNEW, key=key)

    def _content(self, known: Known, missed: Version) -> str:
        """What it knew of the fields that were then changed."""
        change = missed.change
        if known.entry is None:
            return ""
        return were(known.entry.value, change)

    def _wrote(self, version: Version, *, is_judged: bool = False) -> Beat:
        said = f"{version.actor} {did(version)} at rv {version.revision}"
        said += f" ({self._at(version.step)})" + changed(version.change)
        if is_judged and self.matter.was_right(version):
            said += "; what it knew was up to date"
        return Beat(version.step, f"{said}.", WROTE, key=version.key)

    def _late(self, stale: StaleAct) -> Beat | None:
        """Why it had not heard: it had decided by then, or its watch was late."""
        act, version = stale.act, stale.missed[0]
        plural, at = version.key.partition("/")[0], max(act.decided, version.step)
        if act.decided <= version.step:
            if act.record:
                return None
            said = f"{act.actor} had decided before that ({self._at(act.decided)}), and its "
            said += f"{act.word} was on its way"
            return Beat(at, f"{said}.", LATE, (version.step,), version.key)
        if not (stale.known.look.by_cache or stale.known.look.how == WATCH):
            return None
        heard = self.matter.knowledge.heard(act, version)
        if heard is not None and heard.step <= act.decided:
            return self._had_heard(stale, heard)
        if heard is not None and not self.matter.knowledge.is_of_life(heard, act):
            heard = None
        held = self._held(act.actor, version)
        steps = (*(step.number for step in held), heard.step if heard else version.step)
        said = f"{act.actor} decided ({self._at(act.decided)}) before its watch of {plural}"
        said += f", held back since {self._at(held[0].number)}," if held else ""
        said += f" told it of rv {version.revision}"
        if heard is not None:
            said += f" ({self._at(heard.step)}{self._lag(heard, version)})"
        return Beat(at, f"{said}.", LATE, steps, version.key)

    def _had_heard(self, stale: StaleAct, heard: Sighting) -> Beat:
        """It had been told, and did not go by that: in a life before, or since it had looked."""
        act, version = stale.act, stale.missed[0]
        at, steps = self._at(heard.step), (heard.step, version.step)
        if self.matter.knowledge.is_of_life(heard, act):
            said = f"{act.actor} decided ({self._at(act.decided)}) by what it had looked up before "
            said += f"it was told of rv {version.revision} ({at})"
        else:
            said = f"{act.actor} had been told of rv {version.revision} of {version.key} ({at}) "
            said += "before it began again"
        return Beat(max(heard.step, version.step), f"{said}.", LATE, steps, version.key)

    def _unseen(self) -> Iterator[Beat]:
        """Who had not seen yet, when it decided, what it had written itself."""
        for act, own in self.matter.unseen:
            plural = own.key.partition("/")[0]
            said = f"{act.actor} decided ({self._at(act.decided)}) before its watch of {plural} "
            said += f"showed it its own {own.word} of {own.key} at rv {own.revision}"
            yield Beat(act.decided, f"{said}.", LATE, (own.step, act.decided), own.key)

    def _lag(self, heard: Sighting, version: Version) -> str:
        ms = self._steps[heard.step].now_ms - self._steps[version.step].now_ms
        return f": {ms:,} ms late" if ms else ""

    def _held(self, actor: str, version: Version) -> list[Step]:
        """The Steps that held this news back from it, or let it go."""
        return [
            step
            for step in self._steps.values()
            if step.kind == HOLD
            and step.option.actor == actor
            and step.option.key in (version.key, version.key.partition("/")[0])
            and step.number > version.step
        ]

    def _idle(self, stale: StaleAct) -> Iterator[Beat]:
        """What it wrote by what it knew, on its way to the act, and was so already."""
        act, key = stale.act, stale.known.key
        for number in range(stale.missed[0].step + 1, act.step):
            step = self._steps.get(number)
            if step is None or (step.option.actor, step.option.key) != (act.actor, key):
                continue
            if changed_nothing(step):
                word = spoken(*step.option.verb.partition("/")[::2])
                said = f"{act.actor} {past(word)} {key} to what it was already ({self._at(number)})"
                said += f": nothing changed, so it stayed at rv {step.revision}"
                yield Beat(number, f"{said}.", ACTED, key=key)

    def _acted(self, stale: StaleAct) -> Beat:
        act, known = stale.act, stale.known
        at, key = self._at(act.step), known.key
        rv = known.entry.revision if known.entry else 0
        if act.record is not None:
            knew = f"still knew rv {rv} of {key}" if rv else f"still knew of no {key}"
            said = f"{act.actor} {knew} when it {act.record.said}"
            return Beat(act.step, f"{said} ({at}){self._torn(stale)}.", ACTED, key=key)
        version = next((v for v in act.versions if v.key == key), act.versions[0])
        if version.key == key:
            knew = f"still knew rv {rv}" if rv else "still knew of none"
            over = f"over rv {stale.missed[-1].revision}"
            said = f"{act.actor} {knew} and {past(act.word)} it at rv {version.revision}, {over}"
        else:
            knew = f"By what it still knew of {key} (rv {rv})" if rv else f"Knowing of no {key}"
            said = f"{knew}, {act.actor} {did(version)} at rv {version.revision}"
        return Beat(act.step, f"{said} ({at}){changed(version.change)}.", ACTED, key=version.key)

    def _torn(self, stale: StaleAct) -> str:
        """Of one write of several objects it knew a part, and not the other."""
        act, missed = stale.act, stale.missed[-1]
        versions = self.matter.knowledge.versions
        for key in sorted(versions):
            known = self.matter.knowledge.known(act.path, key, act.decided)
            whole = any(v.step == missed.step for v in versions[key])
            is_other = key != missed.key and whole
            if is_other and known is not None and known.look.revision >= missed.revision:
                return f"; {key} it knew at rv {missed.revision}, after that same write"
        return ""

    # -- what else ------------------------------------------------------------------------------

    def _faults(self) -> Iterator[Beat]:
        """The faults of the slice, and who began again after one."""
        matter = self.matter
        for step in self._steps.values():
            option = step.option
            if step.kind == FAULT and step.number in matter.slice:
                said = option.fault.describe(option.key) + self._all_the_same(step)
                said = f"T{said[1:]}" if said.startswith("the ") else said
                over = matter.over(step)
                until = f" until {self._at(over.number)}" if over else ""
                steps = (step.number, over.number) if over else ()
                yield Beat(step.number, f"{said} ({self._at(step.number)}){until}.", STRUCK, steps)
            elif option.nth > 1 and step.kind == START and step.number in matter.slice:
                said = f"{option.actor} began again, knowing nothing"
                yield Beat(step.number, f"{said} ({self._at(step.number)}).", STRUCK)

    def _holds(self) -> Iterator[Beat]:
        """What of an object that matters was held back, and until when; news is told with the act
        on what was known without it."""
        for step in self._steps.values():
            option, kind = step.option, step.option.label
            if step.kind != HOLD or kind == DELIVER or option.key not in self.matter.shared:
                continue
            same = [
                later.number
                for later in self._steps.values()
                if later.number > step.number
                and later.kind == kind
                and later.option.sentence[1:] == option.sentence[1:]
            ]
            held = withheld(kind, option.verb, option.key, f"{option.actor}'s")
            said = f"{held[0].upper()}{held[1:]} was" if held.startswith("the ") else f"{held} was"
            said += " held back"
            until = f" until {self._at(same[0])}" if same else ""
            yield Beat(step.number, f"{said} ({self._at(step.number)}){until}.", HELD)

    def _all_the_same(self, fault: Step) -> str:
        """What had been done, if nobody was told of it because of this fault."""
        for act in self.matter.knowledge.acts:
            asked = self._steps[act.step].option
            request = request_key(asked.path, asked.verb, asked.key, asked.nth)
            if act.versions and act.step < fault.number and request in fault.marks.writes:
                return f"; it had taken effect, at rv {act.versions[-1].revision}"
        return ""

    def _instead(self) -> Iterator[Beat]:
        """What was done last to what the Violation speaks of; a to and fro as one."""
        matter = self.matter
        for key in sorted(matter.named_keys or matter.shared):
            versions = matter.knowledge.versions.get(key, [])
            turns = to_and_fro(versions)
            if len(turns) >= TURNS_MIN:
                yield self._in_turn(key, turns)
            elif not matter.stale and versions:
                yield self._wrote(versions[-1])
        if not matter.stale:
            for act in matter.knowledge.acts:
                if act.record and act.step in matter.about:
                    yield self._said(act.actor, act.record)

    def _why(self, told: list[Beat]) -> Iterator[Beat]:
        """What actors themselves say of why: of the writes that are told, the record that each
        follows from; and of what the Violation names, the last of each thing that they say of
        it, by its first word. Where nothing is broken, all they say. Each is told once."""
        records = [act.record for act in self.matter.knowledge.acts if act.record]
        said = {record.number: record for record in records if record.facts.get(SAID)}
        found = list(said)
        if self.matter.violation is not None:
            steps = [n for beat in told for n in beat.steps or (beat.step,) if n in self._steps]
            found = [self._steps[number].because for number in steps]
            for key in sorted(self.matter.named_keys):
                of = {n: record for n, record in said.items() if key in record.speaks_of}
                found += {record.said.partition(" ")[0]: n for n, record in of.items()}.values()
        last = {said[number].said: said[number] for number in sorted(found) if number in said}
        for record in last.values():
            yield self._said(record.path.partition("/")[0], record)

    def _said(self, actor: str, record: Record) -> Beat:
        said = f"{actor} {record.said} ({self._at(record.step)})."
        return Beat(record.step, said, DID, key=f"{record.number}")

    def _in_turn(self, key: str, turns: list[Version]) -> Beat:
        actors = list(dict.fromkeys(version.actor for version in turns))
        first, last = turns[0], turns[-1]
        said = (
            f"{listed(actors)} wrote {key} in turn, {len(turns)} times, from rv {first.revision} "
            f"({self._at(first.step)}) to rv {last.revision} ({self._at(last.step)})"
        )
        steps = tuple(v.step for v in (*turns[:2], *turns[-2:]))
        before, now = turns[-3].change.new, last.change.new
        is_back = before and now and not [*changed_fields(before.value, now.value)]
        back = ", and back" if is_back else ""
        return Beat(first.step, f"{said}{changed(last.change)}{back}.", ACTED, steps, key)

    def _broken(self, violation: Violation) -> Beat:
        said = f"So {violation.invariant} is broken: {violation.said}"
        return Beat(violation.step, f"{said} ({self._at(violation.step)}).", VIOLATED)

    def _at(self, number: int) -> str:
        step = self._steps.get(number)
        return f"step {number}" + (f", {step.now_ms:,} ms" if step and step.now_ms else "")
