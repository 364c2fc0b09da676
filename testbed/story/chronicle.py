"""Chronicle: a Run told second by second, for the reader of a calm Run in which nothing breaks.

It tells what people see of a cluster from outside, and why its programs say they did it: pods that
come, are bound, nominated, run, are to end and are gone; other objects that come or go; faults; and
each record that says something. What happens again within the same instant is told once.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

import attrs

from testbed.objects.meta import field_of
from testbed.store.change import Change, plural_of
from testbed.story.knowledge import Act, Knowledge, Version
from testbed.story.wording import DELETED, NODE, PHASE, REASON, RUNNING, did
from testbed.turns.option import FAULT, START
from testbed.turns.trace import SAID, Trace

WIDTH, LINES_MAX = 100, 60
AT = 11
"""The width of the column of times."""
UNTOLD = ("events", "leases")
"""Kinds that are written all the time, and tell nothing new."""
PODS, PENDING = "pods", "Pending"
NOMINATED = "status.nominated_node_name"


@attrs.frozen
class _Line:
    step: int
    now_ms: int
    text: str


def chronicle(trace: Trace) -> str:
    """The Run, a line for each thing, with its second; at most `LINES_MAX` lines."""
    lines = sorted(_lines(trace), key=lambda line: line.step)
    told: list[str] = []
    for now_ms, some in groupby(lines, key=lambda line: line.now_ms):
        at = f"{now_ms / 1000:,.1f} s".rjust(AT - 2)
        for text in dict.fromkeys(line.text for line in some):
            told += textwrap.wrap(
                text, WIDTH, initial_indent=at.ljust(AT), subsequent_indent=" " * (AT + 2)
            )
            at = ""
    left = len(told) - LINES_MAX
    return "\n".join([*told[:LINES_MAX], *([f"{'':{AT}}… {left} more lines"] if left > 0 else [])])


def _lines(trace: Trace) -> Iterator[_Line]:
    steps = {step.number: step for step in trace.steps}
    ran: set[str] = set()
    for act in Knowledge(trace).acts:
        now_ms = steps[act.step].now_ms
        for text in _of_act(act, ran):
            yield _Line(act.step, now_ms, text)
    for step in trace.steps:
        option = step.option
        if step.kind == FAULT:
            yield _Line(step.number, step.now_ms, f"{option.fault.describe(option.key)}.")
        elif step.kind == START and option.nth > 1:
            yield _Line(step.number, step.now_ms, f"{option.actor} began again, knowing nothing.")


def _of_act(act: Act, ran: set[str]) -> Iterator[str]:
    if act.record is not None:
        if SAID in act.record.facts:
            yield f"{act.actor} {act.record.said}."
        return
    for version in act.versions:
        plural = plural_of(version.key)
        if plural == PODS:
            yield from (f"{text}." for text in _of_pod(version, ran))
        elif plural not in UNTOLD and None in (version.change.old, version.change.new):
            yield f"{version.actor} {did(version)}."


def _of_pod(version: Version, ran: set[str]) -> Iterator[str]:
    """What is new of a pod, in the words of its state. `ran` has the uids of those that have run:
    one that is called Pending for a moment, and Running again, is no news."""
    key, change = version.key, version.change
    if change.new is None:
        yield f"{key} is gone"
        return
    if change.old is None:
        yield f"{version.actor} created {key}"
    was, now = _state(change, old=True), _state(change)
    if now[NODE] != was[NODE]:
        yield f"{version.actor} bound {key} to {now[NODE]}"
    if now[NOMINATED] != was[NOMINATED]:
        lost = f"{key} is nominated to {was[NOMINATED]} no more"
        yield f"{key} is nominated to {now[NOMINATED]}" if now[NOMINATED] else lost
    if now[DELETED] and not was[DELETED]:
        yield f"{version.actor} marked {key} for deletion"
    uid = str(field_of(change.new.value, "meta.uid"))
    is_known = now[PHASE] in ("", PENDING) or (now[PHASE] == RUNNING and uid in ran)
    if now[PHASE] != was[PHASE] and not is_known:
        yield f"{key} is {now[PHASE]}" + (f", {now[REASON]}" if now[REASON] else "")
    if now[PHASE] == RUNNING:
        ran.add(uid)


def _state(change: Change, *, old: bool = False) -> dict[str, str]:
    entry = change.old if old else change.new
    fields = (NODE, NOMINATED, DELETED, PHASE, REASON)
    if entry is None:
        return dict.fromkeys(fields, "")
    return {field: str(field_of(entry.value, field) or "") for field in fields}
