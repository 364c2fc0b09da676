"""Believing: an act on what was no longer so, as a sentence: what was believed, and until when.

What took long because the scenario says so belongs to it, where that decided who came first: a
write was on its way when another was made; news was on its way when an actor decided; a caller gave
up before its answer came.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from testbed.client.latency import latency_of
from testbed.objects.meta import field_of
from testbed.races.pattern import Pattern
from testbed.races.race import Deviation, Hold, Strike
from testbed.story.cause import Cause, CauseShape, fitting, sentence
from testbed.story.knowledge import Act, Known, StaleAct, Version
from testbed.story.requests import Sent
from testbed.story.sightings import WATCH
from testbed.story.slice import Slice
from testbed.story.wording import DELETED, believed, did_where, known_by, listed, wrote
from testbed.turns.option import FAULT, HOLD, SERVE
from testbed.turns.trace import Step
from testbed.words import withheld

FINALIZERS = "meta.finalizers"
ENDPOINT = "endpoint:"
STATED = "as the scenario states"


def believing(
    slice_: Slice,
    stale: StaleAct,
    since: Version,
    head: str,
    field: str = "",
    *,
    link: str = ", believing that",
    still: str = "",
) -> Cause:
    """`…, believing that …, as it listed at rv 4 (step 5); false since …`; at the end what came of
    it, if there is room."""
    act, known = stale.act, stale.known
    gone, again = _replaced(slice_, act, known)
    if gone is not None and known.entry is not None:
        rv = known.entry.revision
        is_same = known.key in act.keys or act.record is not None
        text = sentence(
            f"{head}, as if it were the one it knew{_from(known, gone)} at rv {rv};"
            if is_same
            else f"{head}{link} {known.key} was there, as at rv {rv};",
            wrote(gone, "that" if is_same else "it"),
            (
                f", and {again.actor} {did_where(again, 'it')} again" if again is not None else "",
                "",
            ),
            (still, ""),
        )
        return Cause.of(CauseShape.OLD_NEWS, act, text, gone)
    own = "it" if known.key in act.keys else ""
    how, late = known_by(known, since), slow(slice_, act, known, since)
    belief = believed(known, since, field, own)
    if known.entry is None and since.change.old is not None:
        # It was made by one, and the write that matters is of another: who knew of none of it.
        start, end = f"{head}, not knowing of {known.key}", f"; {wrote(since, 'it')}"
    else:
        start, end = f"{head}{link} {belief}", f"; false since {wrote(since, 'it')}"
    shown = [(start, f", {how}", end, late), (start, end, late)]
    if slice_.is_behind:
        shown = shown[1:]
    shown += [(start, f", {how}", end), (start, end)]
    text = fitting(*((*parts, still) for parts in shown), *shown)
    return Cause.of(CauseShape.OLD_NEWS, act, text, since)


def _replaced(slice_: Slice, act: Act, known: Known) -> tuple[Version | None, Version | None]:
    """The write that removed the object before the act, and the one that made another one of its
    name, if any did."""
    if known.entry is None:
        return None, None
    versions = slice_.knowledge.versions.get(known.key, [])
    later = [v for v in versions if known.entry.revision < v.revision and v.step < act.step]
    gone = next((v for v in later if v.change.new is None), None)
    if gone is None:
        return None, None
    return gone, next((v for v in later if v.change.old is None), None)


def _from(known: Known, since: Version) -> str:
    """From which server it was known, if that was behind."""
    sighting = known.sighting
    is_behind = sighting.server and since.step < sighting.read
    return f" from {sighting.server}, which was behind," if is_behind else ""


def still_there(slice_: Slice, keys: list[str]) -> str:
    """`; notes/default/n still has its finalizer a.io/b`: of these objects and those that the
    Violation names, the first that was to be gone and has one; empty if none has."""
    end = slice_.end
    for key in dict.fromkeys([*keys, *sorted(slice_.named_keys)]):
        versions = slice_.knowledge.versions.get(key, [])
        before = [version for version in versions if version.step <= end]
        new = before[-1].change.new if before else None
        if new is None or field_of(new.value, DELETED) is None:
            continue
        kept: Any = field_of(new.value, FINALIZERS)
        if kept:
            return f"; {key} still has its finalizer {listed([*kept])}"
    return ""


def slow(slice_: Slice, act: Act, known: Known, since: Version) -> str:
    """Why the act came after that write, or without knowing of it, as the scenario states; empty if
    what it states has no part in that."""
    if not slice_.latencies:
        return ""
    if act.decided < since.step < act.step:
        return slow_write(slice_, slice_.requests.of(act.step))
    read = slice_.requests.of(known.sighting.read)
    if read is not None and known.sighting.read < since.step < known.sighting.step:
        ms = _ms(slice_, read.parts[-1], "answer_ms", read.asked)
        if ms:
            return f"; its {read.word} took {ms:,} ms, {STATED}"
    return _slow_watch(slice_, act, since)


def slow_write(slice_: Slice, sent: Sent | None) -> str:
    """How long that request takes to take effect and to be answered, if the scenario states it."""
    if sent is None or not sent.parts:
        return ""
    first = sent.parts[0]
    ms = sum(_ms(slice_, first, part, sent.asked) for part in ("serve_ms", "answer_ms"))
    return f"; its {sent.word} took {ms:,} ms, {STATED}" if ms else ""


def _slow_watch(slice_: Slice, act: Act, since: Version) -> str:
    plural = since.key.partition("/")[0]
    steps, watched = slice_.causality.steps, None
    for step in slice_.steps[: act.decided]:
        operation = step.operation if step.kind == SERVE else None
        if operation is not None and operation.verb == WATCH and step.option.actor == act.actor:
            watched = step if operation.plural == plural else watched
    if watched is None:
        return ""
    ms = _ms(slice_, watched, "deliver_ms", watched.causes[-1])
    if steps[act.decided].now_ms - steps[since.step].now_ms > ms or not ms:
        return ""
    return f"; its watch of {plural} is {ms:,} ms late, {STATED}"


def _ms(slice_: Slice, step: Step, part: str, asked: int) -> int:
    """That part of the latency of the request that this Step served."""
    if step.operation is None or asked not in slice_.causality.steps:
        return 0
    reads = slice_.causality.steps[asked].marks.reads
    server = next((key for key in reads if key.startswith(ENDPOINT)), "").removeprefix(ENDPOINT)
    return latency_of(slice_.latencies, part, step.operation, step.option.actor, server)


def line_said(slice_: Slice, line: Deviation) -> str:
    """What a line of a race has done, in words; empty of a pick."""
    if isinstance(line, Strike):
        struck = [
            step
            for step in slice_.steps[: slice_.end]
            if step.kind == FAULT and step.option.fault == line.fault
        ]
        if not struck:
            return ""
        option = struck[-1].option
        return f"{option.fault.describe(option.key)} (step {struck[-1].number})"
    if isinstance(line, Hold):
        what = line.what
        late = withheld(what.kind, what.verb, what.key, f"{what.who}'s")
        at, until = held_at(slice_, what), line.until
        late = f"{late} was late (step {at})" if at else f"{late} was late"
        if not isinstance(until, Pattern):
            return f"{late}, until {line.until_text}"
        after = withheld(until.kind, until.verb, until.key, f"{until.who}'s")
        return f"{late}, after {after}"
    return ""


def held_at(slice_: Slice, what: Pattern) -> int:
    """The Step in which that was held back first; 0 if it is not known."""
    who = what.who.partition("/")[0].partition("@")[0]
    held = (
        step
        for step in slice_.steps
        if step.kind == HOLD and step.option.label == what.kind and step.option.actor == who
        if not what.key or fnmatchcase(step.option.key, what.key.removesuffix("/status"))
    )
    return next((step.number for step in held), 0)
