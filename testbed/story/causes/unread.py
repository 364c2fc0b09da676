"""Unread: an actor broke the promise of another, or acted without having read what it broke.

1. A promise: a nomination holds room on a node for its pod; a cordon keeps new pods off a node. A
   budget protects its pods from evictions that ask it, and from nothing else. Room that a program
   has made without a nomination is known to that program alone.
2. An object that the Violation names, and that the actor had never read, or that its lists and
   watches leave out.

Only of (1) can be said that the actor *knew* and did not go by it: what these fields promise is a
rule of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.objects.meta import field_of
from testbed.store.footprint import has_read
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Act, Version
from testbed.story.promises import cordons, nominations, protections, rooms_made
from testbed.story.slice import Slice
from testbed.story.wording import acted, ended, ended_for, wrote

PRIORITY = "spec.priority"


def found(slice_: Slice) -> Iterator[Cause]:
    """The acts that the Violation is about and that broke a promise."""
    for act in slice_.breaking:
        for version in act.versions:
            yield from _placed(slice_, act, version)
            yield from _overspent(slice_, act, version)


def weaker(slice_: Slice) -> Iterator[Cause]:
    """Deletes of pods that a budget protects, and binds into room that was made for another pod;
    then acts of an actor that had never read what the Violation names."""
    for act in slice_.breaking:
        for version in act.versions:
            yield from _deleted(slice_, act, version)
            yield from _taken(slice_, act, version)
    for act in slice_.breaking:
        yield from _left_out(slice_, act)
        yield from _never_read(slice_, act)


def _placed(slice_: Slice, act: Act, version: Version) -> Iterator[Cause]:
    """(1) A pod was given a node that was promised to another, or closed."""
    for made in nominations(slice_.knowledge, version):
        if made.key not in slice_.named_keys or not _was_known(slice_, act, made):
            continue
        if _priority(version) > _priority(made):
            continue  # room is kept from who is not more important
        promised = f"the room that {made.actor} had set aside there for {made.key}"
        if made.actor == act.actor:
            promised = f"the room that it had itself set aside there for {made.key}"
        heard = slice_.knowledge.has_heard(act.actor, made, act.decided)
        text = sentence(
            f"{acted(act)}, into {promised} at rv {made.revision} (step {made.step})",
            (_tail(act, made, heard=heard), ""),
        )
        yield Cause.of(CauseShape.UNREAD, act, text, made)
    for made in cordons(slice_.knowledge, version):
        if _was_known(slice_, act, made):
            heard = slice_.knowledge.has_heard(act.actor, made, act.decided)
            text = sentence(
                f"{acted(act)}, which {made.actor} had cordoned at rv {made.revision}",
                f"(step {made.step})",
                (_tail(act, made, heard=heard), ""),
            )
            yield Cause.of(CauseShape.UNREAD, act, text, made)


def _priority(version: Version) -> int:
    """The priority of the pod that was written; 0 if it has none."""
    new = version.change.new
    priority = field_of(new.value, PRIORITY) if new is not None else None
    return priority if isinstance(priority, int) else 0


def _deleted(slice_: Slice, act: Act, version: Version) -> Iterator[Cause]:
    """(1) A pod was deleted, not evicted, though its budget allowed nothing."""
    for made in protections(slice_.knowledge, version):
        if made.key in slice_.named_keys and not ended_for(version):
            text = sentence(
                f"{acted(act)}, though {made.key} allowed no disruption",
                f"since {wrote(made, 'it')}; a delete asks no budget",
            )
            yield Cause.of(CauseShape.UNREAD, act, text, made)


def _taken(slice_: Slice, act: Act, version: Version) -> Iterator[Cause]:
    """(1) A pod was given the room that another program had made for one that still waits."""
    for waits, made in rooms_made(slice_.knowledge, slice_.causality, version):
        if waits in slice_.named_keys and made.actor != act.actor:
            text = sentence(
                f"{acted(act)}, into the room that {made.actor} had made there for {waits}",
                f"(step {made.step})",
                ("; no object says for whom that room is", ""),
            )
            cause = Cause.of(CauseShape.UNREAD, act, text)
            yield attrs.evolve(cause, also=(made.step,))


def _overspent(slice_: Slice, act: Act, version: Version) -> Iterator[Cause]:
    """(1) A kubelet ended a pod of a budget that allowed nothing: the Violation names that budget,
    or nothing at all and was found in this very Step."""
    is_named = bool(slice_.named_keys) or any("/" in word for word in slice_.words)
    for made in protections(slice_.knowledge, version) if ended_for(version) else ():
        if made.key in slice_.named_keys or (not is_named and act.step == slice_.end):
            text = sentence(
                f"{act.actor} {ended(version)} (step {act.step}), though {made.key} allowed",
                f"no disruption since {wrote(made, 'it')}",
                ("; an eviction by a kubelet asks no budget", "; it asks no budget", ""),
            )
            yield Cause.of(CauseShape.UNREAD, act, text, made)


def _tail(act: Act, made: Version, *, heard: bool) -> str:
    if made.actor == act.actor:
        return ""
    if heard:
        return f"; {act.actor} had already seen that, and ignored it"
    return f"; {act.actor} had never read that"


def _was_known(slice_: Slice, act: Act, made: Version) -> bool:
    """Whether the actor was not merely behind: it knew of the promise, or never reads it."""
    own = made.actor == act.actor
    met = slice_.knowledge.has_met(act.actor, made.key, act.decided)
    return own or not met or slice_.knowledge.has_heard(act.actor, made, act.decided)


def _never_read(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(2) What another had written before the act, and the actor has never looked at."""
    knowledge = slice_.knowledge
    for key in sorted(slice_.named_keys):
        made = [v for v in knowledge.versions.get(key, []) if v.step < act.decided]
        if not made or made[-1].actor == act.actor or made[-1].change.new is None:
            continue
        if made[-1].asked:
            continue  # changed by a server for a request: it is no promise to other clients
        # A write whose answer tells what the object is has read it, in a way.
        if knowledge.has_met(act.actor, key, act.decided) or _was_checked(slice_, act, key):
            continue
        if key not in act.keys and not knowledge.has_read(act.actor, act.decided):
            continue  # it goes by nothing that it reads, as a user does who types a command
        what = "it" if key in act.keys else key
        text = sentence(f"{acted(act)} without ever having read {what}; {wrote(made[-1], 'it')}")
        yield attrs.evolve(Cause.of(CauseShape.UNREAD, act, text, made[-1]), is_guess=True)


def _left_out(slice_: Slice, act: Act) -> Iterator[Cause]:
    """(2) What another had written of an object that no list and no watch of the actor shows."""
    for key in sorted(slice_.named_keys.difference(act.keys)):
        written = slice_.knowledge.versions.get(key, [])
        made = [v for v in written if v.step < act.decided and v.actor != act.actor]
        last = next((v for v in reversed(made) if slice_.is_spoken_of(v)), None)
        seen = slice_.knowledge.of_actors
        if last is not None and seen.leave_out(act.actor, last.change, act.decided):
            kind = key.partition("/")[0]
            text = sentence(
                f"{acted(act)}, and never saw {key}: {act.actor} has no list or watch of {kind}",
                f"that shows it; {wrote(last, 'it')}",
            )
            yield Cause.of(CauseShape.UNREAD, act, text, last)


def _was_checked(slice_: Slice, act: Act, key: str) -> bool:
    """Whether the Endpoint looked at that object for the act: then its client need not read it."""
    sent = slice_.requests.of(act.step) if act.versions else None
    return sent is not None and any(has_read(part.marks.reads, key) for part in sent.parts)
