"""Sentences: the few that say who knew what, what changed it, who acted on it, what broke.

The cause, in one sentence, stands before all others (see `opening`). Then:

1. Each stale act gives up to four sentences: what was known, what changed it, why the actor had not
   learned of that, and what it did all the same.
2. Other sentences tell what actors had written and not yet seen themselves, the faults and
   restarts of the slice, what was refused, and what was held back. If nothing was stale, they tell
   the last writes of what the Violation names instead. A long to and fro is one sentence.
3. The eight sentences that matter most are kept, and two of what actors say of why. They stand in
   the order in which things happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from testbed.objects.meta import changed_fields, field_of
from testbed.story.knowledge import Act, Known, StaleAct, Version, changed_nothing
from testbed.story.lateness import Beat, Lateness, Weight
from testbed.story.opening import cause_of
from testbed.story.requests import Sent
from testbed.story.sightings import GET, LIST, WATCH, WROTE
from testbed.story.slice import Slice
from testbed.story.twins.side import is_aside
from testbed.story.wording import DELETED, TURNS_MIN, changed, did, listed, to_and_fro, were
from testbed.turns.option import DELIVER, FAULT, HOLD, SERVE, START, request_key
from testbed.turns.trace import SAID, Record, Step
from testbed.turns.verdict import Violation
from testbed.words import counted, past, spoken, withheld

SENTENCES_MAX, WHYS_MAX = 8, 2
HELD_MAX = 16
"""The most sentences of a Run that broke nothing: it has no end to which all of it leads."""
ENDS_MAX = 6
"""Of at most this many objects it is told who wrote them last; the others are counted."""
FAULTS_MAX, HOLDS_MAX, REFUSALS_MAX = 4, 2, 2


class Sentences:
    """One Run in a few sentences, and the Steps that they speak of."""

    def __init__(self, slice_: Slice) -> None:
        self.slice = slice_
        self._steps, self._at = slice_.causality.steps, slice_.at
        self.cause = cause_of(slice_)
        """Why the claim broke; None if none did."""
        self._lateness = Lateness(slice_, self.cause)
        beats = list(self._stale())  # 1.
        if slice_.violation is not None:
            faults, holds = list(self._faults()), list(self._holds())
            beats += [  # 2.
                *self._lateness.own_writes(),
                *faults[-FAULTS_MAX:],
                *holds[-HOLDS_MAX:],
                *list(self._refusals())[-REFUSALS_MAX:],
                *self._last_writes(),
            ]
            beats.append(self._violated(slice_.violation))
        else:
            beats += self._ends()
        most = SENTENCES_MAX if slice_.violation is not None else HELD_MAX
        whys = list(self._whys(beats))
        # 3. Two stale acts may rest on the same write: what they share is told once.
        unique = {(beat.step, beat.key, beat.weight): beat for beat in [*beats, *whys]}.values()
        by_text = {beat.text: beat for beat in unique}.values()
        ranked = sorted(by_text, key=lambda beat: (beat.weight, -beat.step))
        kept, rest = ranked[:most], ranked[most:]
        kept += [beat for beat in rest if beat in whys][:WHYS_MAX]
        self.beats = sorted(kept, key=_told_order)
        """In the order in which things happened; what broke comes last."""

    @property
    def sentences(self) -> list[str]:
        """The sentences, in their order."""
        return [beat.text for beat in self.beats]

    @property
    def spoken_of(self) -> set[int]:
        """The Steps it speaks of."""
        spoken_of = {number for beat in self.beats for number in beat.steps or (beat.step,)}
        return spoken_of.union(self.cause.steps if self.cause is not None else ())

    # -- what was stale -------------------------------------------------------------------------

    def _stale(self) -> Iterator[Beat]:
        for stale in self.slice.stale:
            act, known = stale.act, stale.known
            yield self._known(act.actor, known, stale.missed[0])
            for version in stale.missed[-2:]:
                yield self._written(version, is_judged=self.slice.violation is not None)
            late = self._lateness.of(stale)
            if late is not None:
                yield late
            yield from self._idle_writes(stale)
            yield self._acted(stale)

    def _known(self, actor: str, known: Known, missed: Version) -> Beat:
        """`alpha read notes/default/list at rv 2 (step 3): data.signed was empty`."""
        sighting, key = known.sighting, known.key
        how = {
            GET: "",
            LIST: f", by a list of {key.partition('/')[0]}",
            WATCH: ", by its watch",
        }.get(sighting.how, ", for it had written it")
        verb = "read" if sighting.how == GET else "knew"
        what = f"{key} at rv {known.entry.revision}" if known.entry else f"of no {key}"
        # Its own write is told by itself, if it matters.
        is_told = known.entry is not None and sighting.how != WROTE
        fields = were(known.entry.value, missed.change) if known.entry and is_told else ""
        text = f"{actor} {verb} {what}{how} ({self._at(sighting.read)}){fields}."
        return Beat(sighting.read, text, Weight.KNEW, key=key)

    def _written(self, version: Version, *, is_judged: bool = False) -> Beat:
        """`beta updated notes/default/list at rv 3 (step 6): data.signed empty → "beta"`."""
        text = f"{version.actor} {did(version)} at rv {version.revision}"
        text += f" ({self._at(version.step)}){changed(version.change)}"
        if is_judged and self.slice.was_right(version):
            text += "; what it knew was up to date"
        return Beat(version.step, f"{text}.", Weight.WROTE, key=version.key)

    def _idle_writes(self, stale: StaleAct) -> Iterator[Beat]:
        """The actor's writes between what it missed and its act that changed nothing: each set the
        object to what it was already."""
        act, key = stale.act, stale.known.key
        for number in range(stale.missed[0].step + 1, act.step):
            step = self._steps.get(number)
            if step is None or (step.option.actor, step.option.key) != (act.actor, key):
                continue
            if changed_nothing(step):
                word = spoken(*step.option.verb.partition("/")[::2])
                text = f"{act.actor} {past(word)} {key} to what it was already ({self._at(number)})"
                text += f": nothing changed, so it stayed at rv {step.revision}"
                yield Beat(number, f"{text}.", Weight.ACTED, key=key)

    def _acted(self, stale: StaleAct) -> Beat:
        """What the actor did on old news: a record, a write over it, or a write of another object.

        `alpha still knew rv 2 and updated it at rv 4, over rv 3 (step 9): data.signed "beta" →
        "alpha"`.
        """
        act, known = stale.act, stale.known
        at, key = self._at(act.step), known.key
        rv = known.entry.revision if known.entry else 0
        if act.record is not None:
            knew = f"still knew rv {rv} of {key}" if rv else f"still knew of no {key}"
            text = f"{act.actor} {knew} when it {act.record.said} ({at}){self._torn(stale)}."
            return Beat(act.step, text, Weight.ACTED, key=key)
        version = next((v for v in act.versions if v.key == key), act.versions[0])
        if version.change.old is None and rv and version.key == key:
            acted = f"{act.actor} still knew rv {rv} of {key} and {past(act.word)} it again at rv "
            acted += f"{version.revision}"
            return Beat(
                act.step, f"{acted} ({at}), {self._removed(version)}.", Weight.ACTED, key=key
            )
        if version.key == key:
            knew = f"still knew rv {rv}" if rv else "still knew of none"
            over = f"over rv {stale.missed[-1].revision}"
            acted = f"{act.actor} {knew} and {past(act.word)} it at rv {version.revision}, {over}"
        else:
            knew = f"By what it still knew of {key} (rv {rv})" if rv else f"Knowing of no {key}"
            acted = f"{knew}, {act.actor} {did(version)} at rv {version.revision}"
        text = f"{acted} ({at}){changed(version.change)}."
        return Beat(act.step, text, Weight.ACTED, key=version.key)

    def _removed(self, version: Version) -> str:
        """Who had removed an object before it was created again."""
        before = self.slice.knowledge.versions[version.key]
        gone = before[before.index(version) - 1]
        who = "it had itself" if gone.actor == version.actor else f"{gone.actor} had"
        return f"after {who} {did(gone, 'it')} at rv {gone.revision}"

    def _torn(self, stale: StaleAct) -> str:
        """If one write changed several objects: one that the actor did know as that write left it.
        It saw half of a transaction."""
        act, missed = stale.act, stale.missed[-1]
        versions = self.slice.knowledge.versions
        for key in sorted(versions):
            known = self.slice.knowledge.known(act.path, key, act.decided)
            is_of_it = any(v.step == missed.step for v in versions[key])
            is_other = key != missed.key and is_of_it
            if is_other and known is not None and known.sighting.revision >= missed.revision:
                return f"; {key} it knew at rv {missed.revision}, after that same write"
        return ""

    # -- what else ------------------------------------------------------------------------------

    def _faults(self) -> Iterator[Beat]:
        """The faults of the slice, and the actors that began again after one."""
        for step in self._steps.values():
            option, is_needed = step.option, step.number in self.slice.needed
            if step.kind == FAULT and is_needed:
                text = option.fault.describe(option.key) + self._all_the_same(step)
                text = f"T{text[1:]}" if text.startswith("the ") else text
                over = self.slice.over(step)
                until = f" until {self._at(over.number)}" if over else ""
                text += f" ({self._at(step.number)}){until}."
                steps = (step.number, over.number) if over else ()
                yield Beat(step.number, text, Weight.STRUCK, steps)
            elif option.nth > 1 and step.kind == START and is_needed:
                text = f"{option.actor} began again, knowing nothing ({self._at(step.number)})."
                yield Beat(step.number, text, Weight.STRUCK)

    def _holds(self) -> Iterator[Beat]:
        """What was held back of an object that matters, and until when. Held back deliveries are
        not among them: `Lateness` tells them with the act that was decided without the news."""
        for step in self._steps.values():
            option, kind = step.option, step.option.label
            if step.kind != HOLD or kind == DELIVER or option.key not in self.slice.shared:
                continue
            freed = self.slice.freed(step)
            what = withheld(kind, option.verb, option.key, f"{option.actor}'s")
            what = f"T{what[1:]}" if what.startswith("the ") else what
            until = f" until {self._at(freed.number)}" if freed else ""
            text = f"{what} was held back ({self._at(step.number)}){until}."
            steps = (step.number, freed.number) if freed else (step.number,)
            yield Beat(step.number, text, Weight.HELD, steps)

    def _refusals(self) -> Iterator[Beat]:
        """What an Endpoint refused of what the Violation names, to the actors told of."""
        actors = self._told_of()
        for sent in self.slice.requests.all:
            is_of_slice = sent.actor in actors and sent.step in self.slice.needed
            if sent.refused and is_of_slice and self.slice.is_named(sent.key):
                what = withheld(SERVE, sent.verb, sent.key, f"{sent.actor}'s")
                text = f"{what} was refused: {sent.refused} ({self._at(sent.step)})."
                yield Beat(sent.step, text, Weight.REFUSED)

    def _ends(self) -> Iterator[Beat]:
        """Of a Run that broke nothing: which faults struck, what was held back, what was refused,
        what was deleted, and who wrote each object last."""
        yield from list(self._faults())[-FAULTS_MAX:]
        yield from list(self._holds())[-HOLDS_MAX:]
        yield from list(self._all_refusals())[-FAULTS_MAX:]
        written = [some for key, some in self.slice.knowledge.versions.items() if not is_aside(key)]
        ends = sorted((some[-1] for some in written), key=_is_left)
        for version in ends[:ENDS_MAX]:
            yield self._written(version)
        if rest := ends[ENDS_MAX:]:
            last = max(rest, key=lambda version: version.step)
            more = f"{counted(len(rest), 'more object')} {'was' if len(rest) == 1 else 'were'}"
            text = f"{more} written, last {last.key} by {last.actor} ({self._at(last.step)})."
            yield Beat(self.slice.end, text, Weight.WROTE, (last.step,))

    def _all_refusals(self) -> Iterator[Beat]:
        """What was refused to whom, each sort once, with how often."""
        found: dict[str, list[Sent]] = {}
        for sent in self.slice.requests.all:
            if sent.refused and sent.is_write and not is_aside(sent.key):
                what = withheld(SERVE, sent.verb, sent.key, f"{sent.actor}'s")
                found.setdefault(f"{what} was refused: {sent.refused}", []).append(sent)
        for said, some in found.items():
            times = f", {len(some)} times, last" if len(some) > 1 else ""
            steps = tuple(sent.step for sent in some[-2:])
            text = f"{said}{times} ({self._at(some[-1].step)})."
            yield Beat(some[-1].step, text, Weight.REFUSED, steps)

    def _told_of(self) -> set[str]:
        """The actors that the cause or the Violation speaks of."""
        actors = set(self.slice.named_actors)
        if self.cause is not None:
            since = self.cause.since
            actors |= {self.cause.actor} | ({since.actor} if since is not None else set())
        return actors

    def _all_the_same(self, fault: Step) -> str:
        """What the request did before this fault kept its answer from the caller."""
        for act in self.slice.knowledge.acts:
            asked = self._steps[act.step].option
            request = request_key(asked.path, asked.verb, asked.key, asked.nth)
            if act.versions and act.step < fault.number and request in fault.marks.writes:
                is_of_it = fault.option.fault.strikes_requests
                whose = "its" if act.actor == fault.option.key else f"{act.actor}'s"
                what = "it" if is_of_it else f"{whose} {act.word} of {act.keys[0]}"
                return f"; {what} had taken effect, at rv {act.versions[-1].revision}"
        return ""

    def _last_writes(self) -> Iterator[Beat]:
        """A to and fro over what the Violation names. If nothing was stale, also the last write of
        each such object, and the records that the Violation is about."""
        slice_ = self.slice
        for key in sorted(slice_.named_keys or slice_.shared):
            versions = slice_.knowledge.versions.get(key, [])
            turns = to_and_fro(versions)
            if len(turns) >= TURNS_MIN:
                yield self._in_turn(key, turns)
            elif not slice_.stale and versions:
                yield self._written(versions[-1])
        if not slice_.stale:
            for act in slice_.knowledge.acts:
                if act.record and act.step in slice_.about:
                    yield self._recorded(act.actor, act.record)

    def _whys(self, beats: list[Beat]) -> Iterator[Beat]:
        """Reasons that actors recorded, each once: for each write that is told, the record it
        follows from; for each object that the Violation names, its last record of each sort (the
        sort is the first word); without a Violation, every record."""
        records = [act.record for act in self.slice.knowledge.acts if act.record]
        saying = {record.number: record for record in records if record.facts.get(SAID)}
        found = list(saying)
        if self.slice.violation is not None:
            steps = [n for beat in beats for n in beat.steps or (beat.step,) if n in self._steps]
            found = [self._steps[number].because for number in steps]
            told = {beat.step for beat in beats if beat.weight == Weight.ACTED}
            own = [a for a in self.slice.knowledge.acts if self._is_own_word(a)]
            own = [act for act in own if act.step not in told]
            for act in own[-WHYS_MAX:]:
                assert act.record is not None
                saying[act.record.number] = act.record
                found.append(act.record.number)
            for key in sorted(self.slice.named_keys):
                of = {n: record for n, record in saying.items() if key in record.speaks_of}
                found += {record.said.partition(" ")[0]: n for n, record in of.items()}.values()
        last = {saying[number].said: saying[number] for number in sorted(found) if number in saying}
        for record in last.values():
            yield self._recorded(record.path.partition("/")[0], record)

    def _is_own_word(self, act: Act) -> bool:
        """Whether it is a record of the slice, by who is told of, who never says more than that."""
        if act.record is None or act.actor in self._speakers or act.step not in self.slice.needed:
            return False
        return act.actor in self._told_of()

    @cached_property
    def _speakers(self) -> set[str]:
        """The actors that say in their records, for people, what they did and why."""
        acts = self.slice.knowledge.acts
        return {act.actor for act in acts if act.record and SAID in act.record.facts}

    def _recorded(self, actor: str, record: Record) -> Beat:
        text = f"{actor} {record.said} ({self._at(record.step)})."
        return Beat(record.step, text, Weight.SAYS, key=f"{record.number}")

    def _in_turn(self, key: str, turns: list[Version]) -> Beat:
        """`left and right wrote notes/default/rope in turn, 8 times, from rv 3 to rv 10`."""
        actors = list(dict.fromkeys(version.actor for version in turns))
        first, last = turns[0], turns[-1]
        text = (
            f"{listed(actors)} wrote {key} in turn, {len(turns)} times, from rv {first.revision} "
            f"({self._at(first.step)}) to rv {last.revision} ({self._at(last.step)})"
        )
        steps = tuple(v.step for v in (*turns[:2], *turns[-2:]))
        before, now = turns[-3].change.new, last.change.new
        is_back = before and now and not [*changed_fields(before.value, now.value)]
        back = ", and back" if is_back else ""
        text = f"{text}{changed(last.change)}{back}."
        return Beat(first.step, text, Weight.ACTED, steps, key)

    def _violated(self, violation: Violation) -> Beat:
        text = f"So {violation.invariant} is broken: {violation.said} ({self._at(violation.step)})."
        return Beat(violation.step, text, Weight.VIOLATED)


def _is_left(version: Version) -> tuple[bool, int]:
    """What was removed or is to go comes first, then what was written last."""
    new = version.change.new
    return new is not None and field_of(new.value, DELETED) is None, -version.step


def _told_order(beat: Beat) -> tuple[bool, int, bool]:
    return beat.weight == Weight.VIOLATED, beat.step, beat.weight == Weight.LATE
