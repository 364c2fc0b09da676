"""Looking back: what the task of an act saw before it that it does not see in the twin.

The first of these explains most: what it knew had changed by then, and another came first; a check
of its server was no longer so; it knew what was no longer so; it got no answer, a refusal, a new
life; it knew other things, which were so.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.store.change import plural_of
from testbed.store.delivery import BOOKMARK
from testbed.store.footprint import has_read
from testbed.story.knowledge import Act, Known, Version
from testbed.story.requests import CRASHED, Sent
from testbed.story.sightings import WROTE
from testbed.story.twins.pair import Pair, Parted, same_place
from testbed.story.twins.reason import RANK, Reason, Why
from testbed.story.twins.side import ASIDE, EVENTS, PlayedSide, TracedEffect, is_aside
from testbed.turns.happening import key_of
from testbed.turns.option import ANSWER, DELIVER, FAULT
from testbed.turns.trace import Step

KNOWN_MAX = 3
"""At most this many objects are told that a task knew otherwise."""
Ranked = tuple[tuple[object, ...], Reason]


def reasons(pair: Pair, effect: TracedEffect, how: Parted) -> list[Reason]:
    """Why an act is not as in the twin: all that may be, the best first."""
    if _was_refused(pair, effect):
        # It asked for the same, so it is its server that went by something else.
        return [*_checked(pair, effect), *_served(pair, effect), Reason(Why.SAME)]
    other = pair.counterpart(effect)
    act = effect.act
    there = other.act.decided if other is not None else same_place(pair.bad, pair.twin, act)
    if any(
        name == act.actor and act.decided < step < effect.step
        for name, step in pair.bad.requests.ends
    ):
        return [Reason(Why.NEW_LIFE, step=effect.step)]  # it came when that life was over
    overtaken = list(_overtaken(pair, effect)) if how is Parted.LATER else []
    overtaken += _came_last(pair, effect)
    return _ranked([*overtaken, *_all(pair, effect, there)])


def why_missing(pair: Pair, wanted: TracedEffect, end: int) -> tuple[Act, Reason]:
    """What its task did in place of what the twin has done; and why, the reason that explains
    most."""
    act = wanted.act
    mine = pair.request_like(wanted.sent)
    if mine is not None and mine.step <= end:
        stood = attrs.evolve(act, step=mine.step, decided=mine.asked, versions=())
    else:
        at = max(1, min(same_place(pair.twin, pair.bad, act), end))
        stood = attrs.evolve(act, step=at, decided=at, versions=())
    near = Pair(pair.bad, pair.twin, pair.breaking, {*pair.hot, wanted.key}, pair.late)
    effect = TracedEffect(stood.step, wanted.key, stood, mine)
    found = list(_all(near, effect, act.decided))
    if not any(reason.is_missing for reason in found):  # then another comes before it
        found += _in_other_order(near, stood, act.decided)
    return stood, _ranked(found)[0]


def _all(pair: Pair, effect: TracedEffect, there: int) -> Iterator[Reason]:
    """What may be why, whether the twin has that effect or not; `there` is the turn of the twin in
    which its task stands at the same place."""
    act = effect.act
    yield from _checked(pair, effect)
    yield from _unseen(pair, act, there, is_said=effect.record is not None)
    known, odd = list(_known(pair, act, there, effect)), list(_odd(pair, act))
    yield from known
    yield from odd
    if not known and all(reason.why is Why.REFUSED for reason in odd):
        yield from _cached(pair, act, there, effect)
    if not known:
        yield from _in_other_order(pair, act, there)
    yield Reason(Why.SAME)


def _ranked(some: list[Reason]) -> list[Reason]:
    return sorted(some, key=lambda reason: reason.rank)


def _overtaken(pair: Pair, effect: TracedEffect) -> Iterator[Reason]:
    """What came before it, and its task did not know of."""
    act = effect.act
    for over in sorted(pair.before_it(effect), key=lambda each: -each.step):
        version = over.version
        if version is None or version.actor == act.actor:
            continue
        # Of a kind that it never listed it has no news, and goes by none.
        known = pair.bad.known(act.path, over.key, act.decided)
        if known is not None and known.sighting.revision < version.revision:
            yield Reason(Why.OVERTAKEN, over.key, known, version)
            return


def _came_last(pair: Pair, effect: TracedEffect) -> Iterator[Reason]:
    """What its own actor asked for later, and came before it."""
    act = effect.act
    for version in reversed(pair.bad.knowledge.versions.get(effect.key, [])):
        is_other = pair.bad.request_of(version.step) is not effect.sent
        if version.actor == act.actor and is_other and act.decided < version.step < effect.step:
            yield Reason(Why.OVERTAKEN, effect.key, since=version)
            return


def _checked(pair: Pair, effect: TracedEffect) -> Iterator[Reason]:
    """What another wrote between a check of the server and its write."""
    sent = effect.sent
    if sent is None or len(sent.parts) < 2:
        return
    for at, what in sent.checked():
        for each in pair.bad.effects:
            is_other = each.sent is not sent and not each.is_aside and each.key != effect.key
            if is_other and at < each.step < effect.step and has_read([what], each.key):
                yield Reason(Why.CHECKED, each.key, since=each.version, step=at)
                return
    # It may look at the same in each part, and decide in the first.
    first = sent.parts[0]
    keys = [key for key in sorted(pair.hot) if has_read(first.marks.reads, key)]
    for key in [effect.key, *keys, *pair.bad.knowledge.versions]:
        if key != effect.key and not has_read(first.marks.reads, key):
            continue
        for version in pair.bad.knowledge.versions.get(key, []):
            is_other = pair.bad.request_of(version.step) is not sent
            if is_other and first.number < version.step < effect.step:
                yield Reason(Why.CHECKED, key, since=version, step=first.number)
                return


def _was_refused(pair: Pair, effect: TracedEffect) -> bool:
    """Whether the twin has the same request, and refused it."""
    theirs = pair.in_twin(effect.sent) if effect.sent is not None else None
    return theirs is not None and bool(theirs.refused) and not theirs.changes


def _served(pair: Pair, effect: TracedEffect) -> Iterator[Reason]:
    """What its server read, and reads otherwise in the twin."""
    if effect.sent is not None:
        yield from served_otherwise(pair, effect.sent)


def served_otherwise(pair: Pair, sent: Sent) -> Iterator[Reason]:
    """What the server of that request read, and reads otherwise in the twin."""
    theirs = pair.in_twin(sent)
    if theirs is None:
        return
    for part in sent.parts:
        for key in sorted(pair.bad.knowledge.versions):
            if not has_read(part.marks.reads, key):
                continue
            was = pair.bad.value(key, part.number)
            now = pair.twin.value(key, theirs.parts[-1].number)
            by = pair.bad.last_writer(key, part.number)
            if fields := _fields(pair.bad, was, pair.twin, now):
                yield Reason(Why.SERVED, key, since=by, field=fields[0])


def _unseen(pair: Pair, act: Act, there: int, *, is_said: bool) -> Iterator[Reason]:
    """What its actor had itself written, and its Cache did not show; the twin's did. It is one that
    broke the claim, too; before a record, any that the claim names."""
    bad, twin = pair.bad.knowledge, pair.twin.knowledge
    kinds = {plural_of(key) for key in pair.about | pair.hot} - ASIDE
    born = bad.birth(act.actor, act.decided)
    for key in sorted(bad.versions):
        if plural_of(key) not in kinds:
            continue
        # An index over a Cache leaves no mark when it is read.
        read = bad.last_cache_read(act.path, key, act.decided) or act.decided
        own = [v for v in bad.versions[key] if v.actor == act.actor and born <= v.step <= read]
        if not own or _shows(bad.cached(act, key), own[-1]):
            continue
        theirs = twin.cached(attrs.evolve(act, decided=there), key)
        known = bad.cached(act, key)
        is_kept = known is not None or bad.last_cache_read(act.path, key, act.decided) is not None
        broke = any(own[-1] is each.version for each in pair.breaking)
        is_near = broke or (is_said and pair.is_near(key))
        if is_near and is_kept and theirs is not None and theirs.entry is not None:
            yield Reason(Why.STALE, key, known, own[-1])
            return


def _shows(known: Known | None, own: Version) -> bool:
    return known is not None and known.sighting.revision >= own.revision


def _odd(pair: Pair, act: Act) -> Iterator[Reason]:
    """An earlier request of the same actor that was let go or refused, and not so in the twin; or a
    life that the twin does not have."""
    mine = [
        sent
        for sent in pair.bad.requests.all
        if sent.actor == act.actor and _over(sent) <= act.decided and sent.is_write
    ]
    for sent in reversed(mine):
        theirs = pair.in_twin(sent)
        is_lost = sent.let_go and sent.why != CRASHED
        if is_lost and (theirs is None or not theirs.let_go):
            yield Reason(Why.NO_ANSWER, sent.key, sent=sent)
            break
    for sent in reversed(mine):
        theirs = pair.in_twin(sent)
        if sent.refused and theirs is not None and not theirs.refused:
            yield Reason(Why.REFUSED, sent.key, sent=sent)
            break
    if (struck := _struck(pair, act)) is not None:
        yield Reason(Why.STRUCK, step=struck.number)
    here, there = pair.bad.knowledge.births, pair.twin.knowledge.births
    born = [step for step in here.get(act.actor, []) if step <= act.decided]
    if len(born) > len(there.get(act.actor, [])):
        yield Reason(Why.NEW_LIFE, step=born[-1])


def _struck(pair: Pair, act: Act) -> Step | None:
    """The last fault that struck its actor itself before, and not in the twin."""

    def of_it(side: PlayedSide, until: int) -> list[Step]:
        return [
            step
            for step in side.steps[:until]
            if step.kind == FAULT and step.option.key == act.actor and step.option.verb != CRASHED
        ]

    mine, theirs = of_it(pair.bad, act.decided), of_it(pair.twin, len(pair.twin.steps))
    return mine[-1] if len(mine) > len(theirs) else None


def _in_other_order(pair: Pair, act: Act, there: int) -> Iterator[Reason]:
    """The first thing that its actor saw in the twin, and here only later, or never; if it is of
    what this is about, or the race says that it was late. In a Run that is not like this one, what
    else came in which order says nothing."""
    mine, theirs = _seen(pair.bad, act.actor), _seen(pair.twin, act.actor)
    here = [step for step in mine if step.number <= act.decided]
    place = {key_of(step.option): n for n, step in enumerate(here)}
    for n, late in enumerate(step for step in theirs if step.number <= there):
        at = place.get(key_of(late.option))
        if at == n:
            continue
        if at is not None and at < n:
            return
        if not pair.is_told_by(late.option):
            return
        same = [step for step in mine if key_of(step.option) == key_of(late.option)]
        first = here[n] if n < len(here) else None
        came = same[0].number if same else 0
        yield Reason(Why.ORDER, late.option.key, late=late, came=came, first=first)
        return


def _seen(side: PlayedSide, actor: str) -> list[Step]:
    """The answers and the news that an actor got, in order, without what only renews."""
    return [
        step
        for step in side.steps
        if step.kind in (ANSWER, DELIVER) and step.option.actor == actor
        if not is_aside(step.option.key) and step.option.change != BOOKMARK
    ]


def _over(sent: Sent) -> int:
    """When its caller knew of what became of it, or went on without that."""
    return sent.let_go or sent.answered or sent.step


def _known(pair: Pair, act: Act, there: int, effect: TracedEffect) -> Iterator[Reason]:
    """What its task knew otherwise than in the twin; or as there, and it had changed by then."""
    bad, twin = pair.bad, pair.twin
    if not bad.knowledge.has_read(act.actor, act.decided):
        return
    found: list[Ranked] = []
    for key in sorted({*bad.keys, *twin.keys}):
        if plural_of(key) == EVENTS:
            continue
        mine, theirs = bad.known(act.path, key, act.decided), twin.known(act.path, key, there)
        if mine is None and theirs is None:
            continue
        was, truth = _value(mine), bad.value(key, effect.step)
        now = _value(theirs) if theirs is not None else twin.value(key, there)
        others, changed = _fields(bad, was, twin, now), _fields(bad, was, bad, truth)
        since = _since(pair, key, mine, effect, others or changed) if changed else None
        if since is None and others:
            since = _own_unseen(pair, act, key, mine, now)
        field = _of_those(bad, others or changed, since)
        if others:
            found.append(_otherwise(pair, act, key, mine, since, field, now))
        elif since is not None and pair.is_near(key):
            reason = Reason(Why.MEANWHILE, key, mine, since, field=field)
            found.append((_nearness(pair, reason, key not in pair.about), reason))
    for _, reason in sorted(found, key=lambda each: each[0])[:KNOWN_MAX]:
        yield reason


def _cached(pair: Pair, act: Act, there: int, effect: TracedEffect) -> Iterator[Reason]:
    """What its Cache showed otherwise than in the twin, though its task had read it itself: a
    program may decide by the one, and write over the other."""
    bad, twin = pair.bad, pair.twin
    for key in sorted(key for key in bad.keys if pair.is_near(key)):
        mine = bad.knowledge.cached(act, key)
        theirs = twin.knowledge.cached(attrs.evolve(act, decided=there), key)
        if mine is None or theirs is None:
            continue
        fields = _fields(bad, _value(mine), twin, _value(theirs))
        since = _since(pair, key, mine, effect, fields) if fields else None
        if since is not None:
            field = _of_those(bad, fields, since)
            yield Reason(Why.STALE, key, mine, since, field=field)
            return


def _otherwise(
    pair: Pair, act: Act, key: str, mine: Known | None, since: Version | None, field: str,
    now: object,
) -> Ranked:  # fmt: skip
    """That its task knew this object otherwise, and how near that is."""
    awaited, by = pair.twin.maker(key, now), pair.bad.maker(key, _value(mine))
    is_missing = awaited is not None and not pair.has_come(awaited, act.decided)
    is_own = (by is not None and by.actor == act.actor) or (
        awaited is not None and awaited.actor == act.actor and is_missing
    )
    why = Why.STALE if since is not None else Why.OWN if is_own else Why.NEWS
    reason = Reason(why, key, mine, since or by, None, awaited, is_missing=is_missing, field=field)
    return _nearness(pair, reason, not pair.is_near(key)), reason


def _nearness(pair: Pair, reason: Reason, is_far: bool) -> tuple[object, ...]:
    """What sorts reasons: how much they explain; then whether what was not known broke the claim,
    too; then whether the claim is about that object."""
    since = reason.since
    broke = since is not None and any(effect.version is since for effect in pair.breaking)
    return (RANK[reason.why], not broke, is_far, reason.is_missing, reason.key)


def _since(
    pair: Pair, key: str, known: Known | None, effect: TracedEffect, fields: list[str]
) -> Version | None:
    """The first write of another that its task did not know of, before the act: one that broke the
    claim, too; else one of those fields, if any is."""
    after = known.sighting.revision if known is not None else 0
    missed = [
        version
        for version in pair.bad.knowledge.versions.get(key, [])
        if version.revision > after and version.step < effect.step
        if version.actor != effect.act.actor
        if known is None or known.sighting.shows(version.change)
    ]
    broke = [v for v in missed if any(v is each.version for each in pair.breaking)]
    telling = [v for v in missed if not {*fields}.isdisjoint(_changed(pair.bad, v))]
    return next(iter(broke or telling or missed), None)


def _own_unseen(pair: Pair, act: Act, key: str, known: Known | None, now: object) -> Version | None:
    """The last write of its actor itself, if its Cache did not show that, and its task would have
    known the same as in the twin if it had."""
    bad = pair.bad
    own = bad.last_writer(key, act.decided)
    if own is None or known is None or own.actor != act.actor or known.sighting.how == WROTE:
        return None
    is_same = bad.plain(bad.value(key, act.decided)) == pair.twin.plain(now)
    return own if is_same and known.sighting.revision < own.revision else None


def _of_those(bad: PlayedSide, fields: list[str], since: Version | None) -> str:
    """The first of these fields that this write has changed; else the first."""
    changed = _changed(bad, since) if since is not None else []
    return next((field for field in fields if field in changed), next(iter(fields), ""))


def _changed(side: PlayedSide, version: Version) -> list[str]:
    return _fields(side, version.change.before, side, version.change.after)


def _value(known: Known | None) -> object:
    return known.entry.value if known is not None and known.entry is not None else None


def _fields(one: PlayedSide, value: object, other: PlayedSide, theirs: object) -> list[str]:
    """The fields in which two versions differ; an empty one if one of the two is none."""
    if value is None or theirs is None:
        return [""] if value is not theirs else []
    if one.plain(value) == other.plain(theirs):
        return []
    return one.fields(value, theirs)
