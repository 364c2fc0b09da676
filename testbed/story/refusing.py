"""Refusing: what a refusal came of; and what a caller did after one, or after no answer."""

from __future__ import annotations

from testbed.store.change import plural_of
from testbed.store.footprint import has_read
from testbed.story.knowledge import Version
from testbed.story.requests import Sent
from testbed.story.slice import Slice
from testbed.story.wording import wrote

TIMES_MIN = 2
"""So often refused, a request is tried again and again."""


def why_refused(slice_: Slice, sent: Sent) -> Version | None:
    """The last write of another to what its server looked at before it refused the request: since
    an earlier request of the same sort of its actor, or since its actor began."""
    if not sent.refused:
        return None
    like = [
        each.parts[0].number
        for each in slice_.requests.all
        if each.actor == sent.actor and each.word == sent.word and each.parts
        if each.step < sent.step and not each.refused
    ]
    born = slice_.knowledge.birth(sent.actor, sent.asked)
    looked = [key for part in sent.parts for key in part.marks.reads]
    found = [
        version
        for key, versions in slice_.knowledge.versions.items()
        if has_read(looked, key)
        for version in versions
        if max([born, *like[-1:]]) < version.step < sent.step and version.actor != sent.actor
    ]
    return max(found, key=lambda version: version.step, default=None)


def refused(slice_: Slice, sent: Sent) -> str:
    """`its update of notes/default/a was refused, Conflict (step 9), as ben had updated it at rv 4
    (step 7)`; with the other's write only if that was to the same object."""
    said = f"its {sent.word} of {sent.key} was refused, {sent.refused} (step {sent.step})"
    why = why_refused(slice_, sent)
    if why is None or why.key != sent.key:
        return said
    return f"{said}, as {wrote(why, 'it').replace(' ', ' had ', 1)}"


def taken_late(slice_: Slice, sent: Sent) -> Sent | None:
    """An earlier request of the same actor for the same, of which it got no answer, and which took
    effect all the same."""
    for each in slice_.requests.all:
        is_like = (each.actor, each.verb, each.key) == (sent.actor, sent.verb, sent.key)
        if is_like and each.let_go and each.changes and each.asked < sent.asked:
            return each
    return None


def tried_again(slice_: Slice, sent: Sent) -> tuple[str, int]:
    """What the same actor was refused again and again after that, with the last Step of it:
    `its create of pods/default/a was refused, AlreadyExists, 9 times`; empty if nothing was."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for each in slice_.requests.all:
        is_later = each.actor == sent.actor and sent.step < each.step <= slice_.end
        if is_later and each.refused and each.is_write:
            found.setdefault((each.word, each.key, each.refused), []).append(each.step)
    for (word, key, why), steps in found.items():
        if len(steps) >= TIMES_MIN:
            return f"its {word} of {key} was refused, {why}, {len(steps)} times", steps[-1]
    return "", 0


def asked_again(slice_: Slice, sent: Sent) -> str:
    """`; blue asked again (step 12), not knowing of that`; else that it never learned of it."""
    kind = plural_of(sent.key)
    for each in slice_.requests.all:
        is_like = (each.actor, each.verb, plural_of(each.key)) == (sent.actor, sent.verb, kind)
        if is_like and each.parts and each.asked >= sent.let_go:
            return f"; {sent.actor} asked again (step {each.step}), not knowing of that"
    return "; its caller never learned of that"
