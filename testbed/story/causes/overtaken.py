"""Overtaken: what would have prevented it had been sent in time, and came too late.

A kubelet has found that a pod runs, and its report is on the way; meanwhile the pod is evicted, for
no budget counts a pod that is pending. No actor was behind what the Store held.

1. By *rule*: if the report had come first, the server would have refused the act by a rule of its
   own. That is more than who came first: it is why a guard did not hold.
2. By *order*: if it had come first, the claim would hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.event import Event
from testbed.objects.meta import changed_fields, field_of
from testbed.store.footprint import has_read
from testbed.story.cause import Cause, CauseShape, fitting, named
from testbed.story.knowledge import Act, Version
from testbed.story.requests import Sent
from testbed.story.slice import Slice
from testbed.story.wording import acted, became
from testbed.turns.option import HOLD, SERVE

OF_ORDER = ("", "Conflict", "NotFound", "AlreadyExists")
"""What a request is refused for because another came first, and no rule of the server's own."""


def by_rule(slice_: Slice) -> Iterator[Cause]:
    """(1) The acts that the server would have refused."""
    yield from (cause for refused, cause in _found(slice_) if refused not in OF_ORDER)


def by_order(slice_: Slice) -> Iterator[Cause]:
    """(2) The acts that would have broken nothing."""
    yield from (cause for refused, cause in _found(slice_) if refused in OF_ORDER)


def _found(slice_: Slice) -> Iterator[tuple[str, Cause]]:
    broke = {act.step for act in slice_.breaking}
    for act in slice_.breaking:
        sent = slice_.requests.of(act.step) if act.versions else None
        if sent is None:
            continue
        for late in (*_held(slice_), *reversed(slice_.requests.all)):
            # A late write that broke the claim itself is no remedy: it raced with the act.
            if late.step in broke or not _was_late(sent, late, act):
                continue
            refused = slice_.prevented(sent, late)
            if refused is not None:
                yield refused, _cause(slice_, act, late, refused)


def _held(slice_: Slice) -> Iterator[Sent]:
    """The requests that were held back and had reached no server when the Run ended."""
    for step in reversed(slice_.steps):
        option = step.option
        is_request = step.kind == HOLD and option.label == SERVE and "." not in option.verb
        if is_request and slice_.freed(step) is None:
            asked = step.causes[-1] if step.causes else step.number
            yield Sent(option.path, option.actor, option.verb, option.key, asked)


def _was_late(sent: Sent, late: Sent, act: Act) -> bool:
    """Whether it was sent before the server began with the act, is of what the act wrote or its
    server looked at, and came after that: without effect, or when the act had taken effect."""
    began = sent.parts[0].number
    is_other = late.actor != sent.actor and late.is_write and not late.key.startswith(Event.plural)
    served = late.parts[0].number if late.parts else act.step + 1
    if not (is_other and late.asked < began < served):
        return False
    looked = [key for part in sent.parts for key in part.marks.reads]
    is_of_it = late.key in act.keys or has_read(looked, late.key)
    return is_of_it and (not late.changes or late.step > act.step)


def _cause(slice_: Slice, act: Act, late: Sent, refused: str) -> Cause:
    what = "it" if late.key in act.keys else late.key
    head = f"{acted(act)} before {late.actor}'s {late.word} of {what} came,"
    way = f"on its way since step {late.asked}"
    since = _effect(slice_, late)
    if not late.parts:
        fate = ""
    elif since is None:
        fate = f"; that was refused, {late.refused} (step {late.step})"
    else:
        fate = f"; that took effect only at rv {since.revision} (step {since.step})"
    rest = "; if it had come first, nothing would have broken"
    if refused not in OF_ORDER:
        rest = f"; if it had come first, this would have been refused, {refused}"
    said = _said(slice_, late)
    text = fitting((head, way, said, fate, rest), (head, way, fate, rest), (head, way, rest))
    did, shape = named(act), CauseShape.OLD_NEWS
    return Cause(
        shape, text, act.actor, did, since, act.step, (late.step or _hold_of(slice_, late),)
    )


def _hold_of(slice_: Slice, late: Sent) -> int:
    """The Step that held it back, if it reached no server."""
    asked = (late.path, late.verb, late.key)
    holds = (step for step in slice_.steps if step.kind == HOLD and step.number > late.asked)
    same = (s.number for s in holds if (s.option.path, s.option.verb, s.option.key) == asked)
    return next(same, late.asked)


def _effect(slice_: Slice, late: Sent) -> Version | None:
    change = late.changes[-1] if late.changes else None
    return slice_.knowledge.version(change.key, change.revision) if change is not None else None


def _said(slice_: Slice, late: Sent) -> str:
    """`(status.phase "Pending" → "Running")`: what it was to change first, as far as it says so."""
    operation = late.parts[0].operation if late.parts else None
    new = operation.body if operation is not None and operation.verb == "update" else None
    versions = slice_.knowledge.versions.get(late.key, [])
    before = [v.change.new for v in versions if v.step < late.asked]
    old = before[-1] if before else next((v.change.old for v in versions), None)
    if old is None or type(old.value) is not type(new):
        return ""
    fields = [f for f in changed_fields(old.value, new) if not f.startswith("meta.")]
    fields.sort(key=lambda field: field != "status.phase")
    if not fields:
        return ""
    return f"({fields[0]} {became(field_of(old.value, fields[0]), field_of(new, fields[0]))})"
