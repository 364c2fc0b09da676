"""Judged: counts what was tried in a Run, and decides whether anything was.

This is the one place that says what "nothing was tried" means:

1. A real program stands in place of an actor, and no write of it was served. One that reads, while
   another program got something done, may rightly have found nothing to do, as a stand-by does that
   waits for a lease: it is excused, unless it was refused what it asked for.
2. No write of any actor was served. An actor that only reads, or only records, has tried something
   if a claim looks at that: at what was recorded, or at what actors remember. But whose writes were
   all refused has tried in vain.
3. The scenario makes claims, and none of them had anything to judge: each looked at kinds of
   objects alone of which there never was any, and that nobody has asked to write.

Of a World with guests, which may do as they like, nothing is said. A write of an Event counts as
none, and nor does that of a Lease, unless a claim looks at these: an Event tells of what was done,
and a Lease gives leave to do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol

from testbed.client.request_counts import RequestCounts
from testbed.client.wire import Wire
from testbed.fault import Fault, Hit
from testbed.invariant import DEATHS, RECORDS, FunctionClaim, Invariant
from testbed.store.store import Store
from testbed.store.store_endpoint import READS
from testbed.turns.option import WAKE
from testbed.turns.table import Table
from testbed.turns.verdict import Verdict
from testbed.words import names_of
from testbed.world.tried.counts import (
    ABSENT,
    JUDGED,
    NOTHING,
    PASSED,
    READ,
    REFUSED,
    STRUCK,
    UNHEARD,
    WAITED,
    WROTE,
    Names,
    TriedCounts,
)
from testbed.world.tried.subject import Subject

BESIDE = {"events": "Events", "leases": "Leases"}
"""The kinds of objects that are written beside what a program is for."""
OF_ACTORS = frozenset({"actors", "table", "wire", "served", DEATHS})
"""What of the Evidence shows actors at work, though they write nothing."""


class Claims(Protocol):
    """Knows what a scenario claims."""

    own: list[Invariant]
    """The claims that it makes, beside those that every World has."""


class StandIns(Protocol):
    """Knows in place of which actors real programs stand."""

    names: Collection[str]

    @property
    def guests(self) -> Collection[str]:
        """Programs that somebody else starts, and that stand for nobody."""


class Judged(Protocol):
    """What it takes to see whether anything was tried in a World."""

    table: Table
    wire: Wire
    store: Store

    @property
    def judge(self) -> Claims:
        """Return what judges its Run."""

    @property
    def attendance(self) -> StandIns | None:
        """Return what brings in what real programs do; None if no program takes part."""


class PlayedWorld(Judged, Protocol):
    """What is counted of a World whose Run has ended."""

    @property
    def allowed(self) -> Sequence[Fault]:
        """The faults that might strike."""

    @property
    def hits(self) -> Sequence[Hit]:
        """The faults that have struck."""

    @property
    def verdict(self) -> Verdict | None:
        """Return what its Run has shown; None until it has ended."""


def judged(world: Judged, outcome: str, turns: int, faults: int) -> tuple[str, str]:
    """Return the outcome of a Run that has come to its end after so many turns and faults, and why
    nothing was tried in it. It is Undecided then, unless a fault has struck: what that has ended
    before it began is no news by itself, and a search looks at all of its Runs."""
    nothing = why_nothing(world, turns) if outcome == "held" else ""
    is_open = nothing and (world.attendance is not None or not faults)
    return "undecided" if is_open else outcome, nothing


def why_nothing(world: Judged, turns: int) -> str:
    """Return why nothing was tried in this Run of so many turns; empty if something was."""
    if world.attendance is None and _is_busy(world):
        return ""
    if world.attendance is not None and world.attendance.guests:
        return ""
    wrote = _writers(world)
    stand_ins = () if world.attendance is None else sorted(world.attendance.names)
    if idle := [name for name in stand_ins if name not in wrote]:
        counts, others = world.wire.counts, wrote.intersection(stand_ins)
        idle = [name for name in idle if not (others and _stands_by(name, counts))]
        if idle:
            return _unserved(idle, world.wire.counts)
    if not wrote and not _was_looked_at(world, turns):
        return _unserved(sorted(world.table.roles), world.wire.counts)
    claims = world.judge.own
    if claims and not any(_had_subject(claim, world) for claim in claims):
        told = dict.fromkeys(f"{each.name} looks at {_kinds_of(each)}" for each in claims)
        return f"no claim had anything to judge: {', '.join(told)}, and there never was any"
    return ""


# Most Runs are, and a Run may take no longer than a few hundred microseconds. So that comes first.
def _is_busy(world: Judged) -> bool:
    """Return whether a write was served, and a claim has found what it looks at."""
    for _, kind, verb in world.wire.counts.served:
        if verb not in READS and kind not in BESIDE:
            break
    else:
        return False
    for claim in world.judge.own:
        subject = _subject_of(claim)
        if subject is None or subject.is_found:
            return True
    return not world.judge.own


def _writers(world: Judged) -> set[str]:
    """The actors of which a write was served."""
    served = world.wire.counts.served
    looked = {kind for claim in world.judge.own for kind in _looked_at(claim)}
    return {
        actor
        for actor, kind, verb in served
        if verb not in READS and (kind not in BESIDE or kind in looked)
    }


def _stands_by(name: str, counts: RequestCounts) -> bool:
    """Return whether it has read something, and has asked for no write in vain."""
    in_vain = any(actor == name for actor, _ in counts.asked)
    return not in_vain and any(actor == name for actor, _, _ in counts.served)


def _was_looked_at(world: Judged, turns: int) -> bool:
    """Return whether a claim looks at what actors do without a write. In a World without claims of
    its own each turn is looked at, but that lives begin; and if it has no actor either, nothing is
    said of any."""
    counts, claims = world.wire.counts, world.judge.own
    if counts.asked:
        return False
    if not claims:
        roles = world.table.roles.values()
        return not roles or turns > sum(role.lives for role in roles)
    looks = {what for claim in claims for what in _looks_of(claim)}
    if RECORDS in looks and world.table.records:
        return True
    return bool(counts.served and looks & OF_ACTORS)


def _unserved(names: Sequence[str], counts: RequestCounts) -> str:
    """The sentence that no write of these was served, with what they were refused most."""
    if not names:
        return "there is no actor"
    who = names_of(names)
    refused = Counter({what: n for what, n in sorted(counts.refused.items()) if what[0] in names})
    if not refused:
        return f"no write of {who} was served"
    (actor, code, reason, said), n = refused.most_common(1)[0]
    return f"no write of {who} was served; {actor} was refused {n} × {code} {said or reason}"


def _subject_of(claim: Invariant) -> Subject | None:
    """Return what a claim has looked at; None of one that is no function."""
    subject = claim.subject if isinstance(claim, FunctionClaim) else None
    return subject if isinstance(subject, Subject) else None


def _looked_at(claim: Invariant) -> Collection[str]:
    """The kinds at which a claim has looked."""
    subject = _subject_of(claim)
    return () if subject is None else subject.kinds


def _looks_of(claim: Invariant) -> Collection[str]:
    """Return what else a claim has looked at; of one that is no function, all."""
    subject = _subject_of(claim)
    return OF_ACTORS if subject is None else subject.looks_at


def _kinds_of(claim: Invariant) -> str:
    return names_of([kind or "all objects" for kind in _looked_at(claim)])


def _had_subject(claim: Invariant, world: Judged) -> bool:
    """Return whether there was anything for that claim to judge, as far as can be seen."""
    subject = _subject_of(claim)
    if subject is None or subject.is_found or not subject.kinds or RECORDS in subject.looks_at:
        return True
    return any(not _is_absent(kind, world) for kind in subject.kinds)


def _is_absent(kind: str, world: Judged) -> bool:
    """Return whether there never was an object of that kind, and nobody asked to write one."""
    asked = any(kind in ("", each) for _, each in world.wire.counts.asked)
    return not asked and not world.store.log(kind or None).end


def who_waits(table: Table) -> tuple[str, ...]:
    """Return the tasks that have a timer left now, but for those in the background."""
    pending = table.pending
    if not (len(pending) or pending.never or pending.held):
        return ()
    left = [*pending, *pending.never, *pending.held]
    return tuple(sorted({o.path for o in left if o.kind == WAKE and not o.is_idle}))


# The counts below are only worked out for who asks: a search, `--json`, a report.
def tried_in(world: PlayedWorld) -> TriedCounts:
    """Return what was tried in a Run that is over."""
    verdict, counts, asked = world.verdict, Counter[Names](), world.wire.counts
    assert verdict is not None
    for name in sorted(world.table.roles):
        counts[WROTE, name] = counts[READ, name] = 0
    for (actor, _, verb), count in asked.served.items():
        counts[READ if verb in READS else WROTE, actor] += count
    for (actor, code, reason, said), count in asked.refused.items():
        counts[REFUSED, actor, str(code), reason, said] += count
    for path in verdict.waiting:
        counts[WAITED, path.partition("/")[0]] = 1
        counts[PASSED, path] += 0
    for role in world.table.roles.values():
        for (kind, path, _, _, _), count in role.life.counted() if role.life else ():
            if kind == WAKE:
                counts[PASSED, path] += count
    for claim in world.judge.own:
        counts[JUDGED, claim.name] += _had_subject(claim, world)
        for looked in () if counts[JUDGED, claim.name] else _looked_at(claim):
            counts[ABSENT, claim.name, looked or "all objects"] = 1
        if RECORDS in _looks_of(claim) and not world.table.records:
            counts[UNHEARD, claim.name] = 1
    for fault in world.allowed:
        counts[STRUCK, _named(fault)] += 0
    for hit in world.hits:
        counts[STRUCK, _named(hit.fault)] += 1
    if verdict.nothing:
        counts[NOTHING, verdict.nothing] = 1
    return TriedCounts(1, verdict.virtual_ms, counts)


def _named(fault: Fault) -> str:
    return f"{fault.word}:{fault.target}"
