"""Slowness: what took long because the scenario says so, where that decided who came first.

1. A write was on its way when another was made: it takes long to take effect.
2. News was on its way when an actor decided: its watch is late, or the answer to its read was.
3. A caller gave up before its answer came.
"""

from __future__ import annotations

from testbed.client.latency import latency_of
from testbed.story.knowledge import Act, Known, Version
from testbed.story.requests import Sent
from testbed.story.sightings import WATCH
from testbed.story.slice import Slice
from testbed.turns.option import SERVE
from testbed.turns.trace import Step

ENDPOINT = "endpoint:"
STATED = "as the scenario states"


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
