"""Outlived: a pod was removed while it ran, and the next of its name was started elsewhere.

A delete with a grace of 0 removes the object at once, by Kubernetes' own rule, and asks no kubelet.
The name is free then for the next pod, though the containers of the first may run on.

1. The Violation names the pod and the node on which its earlier life was, and the act is of a later
   life on another node.
2. Its kubelet had told that it runs, and never that it ended; another actor removed it.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.objects.meta import changed_fields, field_of
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Act, Version
from testbed.story.slice import Slice
from testbed.story.wording import NODE, PHASE, RUNNING, acted, wrote
from testbed.turns.option import FAULT
from testbed.turns.trace import Step

PODS = "pods/"


def found(slice_: Slice) -> Iterator[Cause]:
    """The removals of pods that ran on, the last first."""
    for act in slice_.breaking:
        spoken = act.record.speaks_of if act.record is not None else act.keys
        for key in sorted(slice_.named_keys.intersection(spoken)):
            if key.startswith(PODS):
                yield from _removed(slice_, act, key)


def _removed(slice_: Slice, act: Act, key: str) -> Iterator[Cause]:
    before = [v for v in slice_.knowledge.versions.get(key, []) if v.step <= act.step]
    for place in reversed(range(len(before))):
        removal = before[place]
        running = _told_to_run(before[:place])
        if removal.change.new is not None or removal.change.old is None or running is None:
            continue
        node = field_of(removal.change.old.value, NODE)
        later = [v.change.new for v in before[place:] if v.change.new is not None]
        now = field_of(later[-1].value, NODE) if later else None
        is_other = running.actor not in (removal.actor, act.actor) and now not in (None, "", node)
        if is_other and node in slice_.words and not _has_spoken(slice_, running, removal, act):
            yield _cause(slice_, act, removal, running)


def _told_to_run(versions: list[Version]) -> Version | None:
    """The write that told that this life of a pod runs; None if it never did, or runs no more."""
    last = versions[-1].change.new if versions else None
    if last is None or field_of(last.value, PHASE) != RUNNING:
        return None
    for version in reversed(versions):
        old, new = version.change.old, version.change.new
        if old is None or new is None:
            return None
        if PHASE in changed_fields(old.value, new.value):
            return version
    return None


def _has_spoken(slice_: Slice, running: Version, removal: Version, act: Act) -> bool:
    """Whether its kubelet recorded anything of the pod since it told that it runs, or wrote to it
    since it was removed, by the time of that act."""
    key = running.key
    return any(
        (each.record is not None and key in each.record.speaks_of)
        or (each.step > removal.step and key in each.keys)
        for each in slice_.knowledge.acts
        if each.actor == running.actor and running.step < each.step <= act.step
    )


def _cause(slice_: Slice, act: Act, removal: Version, running: Version) -> Cause:
    kubelet, cut = running.actor, _cut_off(slice_, running.actor, act)
    struck = f", which {_effect(cut, kubelet)} (step {cut.number})," if cut is not None else ""
    text = sentence(
        f"{wrote(removal)}{', with grace 0,' if _is_forced(slice_, removal) else ''}",
        f"though {kubelet}{struck} had told that it runs (step {running.step})",
        ("and never that it ended", ""),
        f"; then {acted(act)}",
    )
    also = (act.step, *((cut.number,) if cut is not None else ()))
    did = f"{removal.word} {removal.key}"
    shape, actor = CauseShape.HALF_DONE, removal.actor
    return Cause(shape, text, actor, did, running, removal.step, also)


def _is_forced(slice_: Slice, removal: Version) -> bool:
    sent = slice_.requests.of(removal.step)
    asked = sent.parts[0].operation if sent is not None else None
    return asked is not None and asked.options.get("grace_s") == 0


def _cut_off(slice_: Slice, actor: str, act: Act) -> Step | None:
    """The last fault that still had hold of that actor when the act was done."""
    now_ms = slice_.causality.steps[act.step].now_ms
    for step in reversed(slice_.steps[: act.step]):
        if step.kind == FAULT and step.option.key == actor:
            until = step.option.fault.ends_ms(step.now_ms)
            if until is not None and until > now_ms:
                return step
    return None


def _effect(fault: Step, actor: str) -> str:
    said: str = fault.option.fault.describe(actor)
    return said.removeprefix(f"{actor} ")
