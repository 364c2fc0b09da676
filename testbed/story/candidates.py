"""Candidates: all causes that a trace shows by itself, the best first.

Each shape looks for itself. They come in an order of how much the trace must show before it can be
said: a to and fro takes many turns, a crash for good takes another Run in which the claim holds
without it, a lost reply takes a fault, a broken promise takes a field that says so. Old news is
common, and half done is what is left when all that an actor knew was true. What the Violation is
about comes before what only led to it. A death has a cause of its own: the error that was not
caught.

A kubelet that refuses a pod, or a warehouse that marks an order as failed, is not the cause: it
reports one. What such a *reporter* went by are the writes of others to the objects that its task
knew when it decided. These are judged as if the Violation was about them, where only news that the
reporter had counts; and if that shows nothing, what stands behind them, a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import ClassVar

import attrs

from testbed.store.footprint import has_read
from testbed.story.cause import BROKE, NOBODY, Cause, CauseShape, sentence
from testbed.story.causes import (
    death,
    disagreement,
    gone,
    half_done,
    in_vain,
    lost_reply,
    old_news,
    outlived,
    unread,
)
from testbed.story.deciding import decided, is_worded
from testbed.story.knowledge import Act, Version
from testbed.story.slice import Slice
from testbed.story.wording import acted, reported
from testbed.turns.option import FAULT, HOLD
from testbed.turns.trace import Step
from testbed.words import withheld

DEEP_MAX = 3
"""At most this many reporters, one behind another."""
WITHIN_MAX = 60
"""At most this many acts are looked at behind one reporter, the last ones."""


class Behind(Slice):
    """The same Run, seen from behind one act that the Violation is about."""

    is_behind: ClassVar[bool] = True
    reporter: Act
    """The act that only reports."""
    known: frozenset[tuple[str, int]]
    """The writes that its task knew of, by object and Step."""

    @classmethod
    def of(cls, slice_: Slice, reporter: Act) -> Behind | None:
        """What stands behind that act; None if it went by nothing that others wrote."""
        known = list(_known(slice_, reporter))
        marks = {(version.key, version.step) for version in known}
        acts = [
            act
            for act in slice_.knowledge.acts
            if act.actor != reporter.actor and act.step in slice_.needed
            if any((version.key, version.step) in marks for version in act.versions)
        ]
        if not acts:
            return None
        found = cls.__new__(cls)
        found.__dict__.update(slice_.__dict__)
        found.reporter, found.known = reporter, frozenset(marks)
        named = slice_.named_keys
        # Of what it went by, what was done to the objects that the Violation names comes first.
        ranked = sorted(acts, key=lambda act: (named.isdisjoint(act.keys), -act.step))
        found.named_keys = named | {version.key for version in known} | _about(slice_)
        found.__dict__["breaking"] = ranked[:WITHIN_MAX]
        found.__dict__["shared"] = slice_.shared | found.named_keys
        return found

    def has(self, version: Version | None) -> bool:
        """Whether the reporter knew of that write, or the Violation is about it."""
        is_about = version is not None and version.step in self.about
        return version is None or is_about or (version.key, version.step) in self.known


def _known(slice_: Slice, act: Act) -> Iterator[Version]:
    """The writes of others that the task of that act knew of when it decided, and those of what its
    Endpoint had looked at."""
    sent = slice_.requests.of(act.step) if act.versions else None
    for part in sent.parts if sent is not None else ():
        for key, versions in slice_.knowledge.versions.items():
            for version in versions if has_read(part.marks.reads, key) else ():
                if version.step < part.number and version.actor != act.actor:
                    yield version
    for key, versions in slice_.knowledge.versions.items():
        known = slice_.knowledge.known(act.path, key, act.decided)
        if known is None:
            continue
        for version in versions:
            is_known = version.revision <= known.sighting.revision and version.step < act.decided
            if is_known and version.actor != act.actor:
                yield version


def _about(slice_: Slice) -> set[str]:
    """The objects that the Violation is about, named or not."""
    written = ((key, v) for key, some in slice_.knowledge.versions.items() for v in some)
    return {key for key, version in written if version.step in slice_.about}


def all_behind(slice_: Slice) -> Iterator[Behind]:
    """What stands behind each act that the Violation is about; then behind those; and so on."""
    level = [slice_]
    done: set[tuple[int, str]] = set()
    for _ in range(DEEP_MAX):
        below: list[Slice] = []
        for each in level:
            for act in each.breaking[:WITHIN_MAX]:
                if (act.step, act.actor) in done:
                    continue
                done.add((act.step, act.actor))
                if (found := Behind.of(each, act)) is not None:
                    below.append(found)
                    yield found
        level = below


def causes_of(slice_: Slice) -> Iterator[Cause]:
    """All causes that the trace shows, the best first; the last says that none is known."""
    is_of_state = _is_of_state(slice_)
    yield from chain(
        death.found(slice_),
        disagreement.found(slice_),
        _gone(slice_),
        lost_reply.found(slice_),
        unread.found(slice_),
        outlived.found(slice_),
        half_done.mixed(slice_) if is_of_state else (),
        old_news.found(slice_),
        _behind(slice_, lost_reply.found, unread.found, old_news.acted_on),
        lost_reply.of_a_dead_life(slice_),
        unread.weaker(slice_),
        half_done.found(slice_),
        () if is_of_state else half_done.mixed(slice_),
        lost_reply.weaker(slice_),
        old_news.weaker(slice_),
        in_vain.found(slice_),
        _behind(slice_, unread.weaker),
        old_news.told(slice_),
    )
    yield _unknown(slice_)


def _is_of_state(slice_: Slice) -> bool:
    """Whether the claim broke by what is there, though it was found at a record: the Violation
    names no object, and is about no write."""
    is_named = not slice_.named_keys.isdisjoint(slice_.knowledge.versions)
    return not is_named and not any(act.versions for act in slice_.breaking)


def _gone(slice_: Slice) -> Iterator[Cause]:
    """Who is gone and waited for; first by what it left half done, if it did."""
    for cause in gone.found(slice_):
        for half in half_done.found(slice_):
            if (half.actor, half.step) == (cause.actor, cause.step):
                yield half
        yield cause


def _behind(slice_: Slice, *finders: Callable[[Slice], Iterator[Cause]]) -> Iterator[Cause]:
    """What was wrong before an act that only reports it; with what that act was, at the end."""
    for behind in all_behind(slice_):
        for cause in chain(*(find(behind) for find in finders)):
            if cause.actor != behind.reporter.actor and behind.has(cause.since):
                so = f"; so {reported(behind.reporter, behind.words)}"
                text = sentence(cause.text.removesuffix("."), (so, ""))
                yield attrs.evolve(cause, text=text, also=(behind.reporter.step,))


def _unknown(slice_: Slice) -> Cause:
    """What was done last, what was late, and that it is not known to be the cause."""
    act = next(iter(slice_.breaking), None)
    late = _late(slice_)
    if act is None:
        assert slice_.violation is not None
        text = sentence(
            f"{NOBODY} is shown to have broken this",
            (f"; {late}" if late else "", ""),
            ("; the cause is not known", ""),
        )
        return Cause(CauseShape.UNKNOWN, text, "", "", None, slice_.violation.step)
    why = decided(slice_, act) if act.record is not None or is_worded(slice_, act) else ""
    text = sentence(
        f"{acted(act)}{BROKE}: {why}"
        if why
        else f"{acted(act)}{BROKE}; the trace does not show why",
        (f"; {late}" if late else "", ""),
    )
    return Cause.of(CauseShape.UNKNOWN, act, text)


def _late(slice_: Slice) -> str:
    """The last thing that was held back, and what came before it for that; or empty."""
    for held in reversed([step for step in slice_.steps if step.kind == HOLD]):
        option, freed = held.option, slice_.freed(held)
        between = slice_.steps[held.number : freed.number - 1] if freed is not None else []
        done = [step for step in between if step.option.is_effect]
        if done:
            what = withheld(option.label, option.verb, option.key, f"{option.actor}'s")
            return f"{what} was late, after {_said(done[-1])}"
    return ""


def _said(step: Step) -> str:
    option = step.option
    if step.kind == FAULT:
        said: str = option.fault.describe(option.key)
        return said
    return withheld(step.kind, option.verb, option.key, f"{option.actor}'s")
