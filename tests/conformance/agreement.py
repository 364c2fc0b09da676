"""Agreement: whether ours did what the real scheduler was seen to do, and where it did not.

The real one makes some writes in parallel, and these may come in any order: those for different
victims, and those of a binding beside the next cycles. Each write must come within a third of a
second of the recorded one. One that a timer has started may be a second later still, since the
timers of the real one drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import filterfalse, groupby, zip_longest
from typing import Any, TypeVar

from tests.models.observed import DISRUPTED, SCHEDULED, Attempt, Details, Write

T = TypeVar("T", Write, Attempt)
CLOSE_MS, TICK_MS = 350, 1000
BIND_FAILED = 'running Bind plugin "DefaultBinder": '
"""What follows it is the transport's own text."""
ERROR = "SchedulerError"
SHOWN = 3
"""So many are shown before and behind the first that differs."""


def of_writes(recorded: Sequence[Write], ours: Sequence[Write]) -> list[str]:
    """The first difference among the writes of cycles, and among the writes of the bindings of
    each pod."""
    found = _first("cycle", _of_cycles(recorded), _of_cycles(ours), _is_same_write)
    return found + _first("binding", _of_bindings(recorded), _of_bindings(ours), _is_same_write)


def of_surroundings(recorded: Iterable[tuple[int, str]], ours: Iterable[str]) -> list[str]:
    """The first difference in what kubelets did, or when."""
    seen = [(float(at) * 1000, event) for at, _, event in (each.partition(" ") for each in ours)]
    return [
        f"recorded {at_ms / 1000:8.3f} {event}; ours {[each for each in seen if each[1] == event]}"
        for at_ms, event in recorded
        if not any(
            event == other and _is_close(at_ms, round(other_ms), is_ticked=True)
            for other_ms, other in seen
        )
    ]


def of_attempts(recorded: Sequence[Attempt], ours: Sequence[Attempt]) -> list[str]:
    """The first cycle that differs."""
    return _first("attempt", recorded, ours, _is_same_attempt)


def of_ends(recorded: Iterable[Details], ours: Iterable[Details]) -> list[str]:
    """The pods that end differently."""
    theirs, mine = _by_pod(recorded), _by_pod(ours)
    return [
        f"{name} ends otherwise:\n  recorded {theirs.get(name)}\n  ours     {mine.get(name)}"
        for name in sorted({*theirs, *mine})
        if theirs.get(name) != mine.get(name)
    ]


def _by_pod(ends: Iterable[Details]) -> dict[str, Details]:
    return {each["pod"]: {name: _plain(value) for name, value in each.items()} for each in ends}


def _first(
    what: str, recorded: Sequence[T], ours: Sequence[T], is_same: Callable[[T, T], bool]
) -> list[str]:
    """The first place where the two differ, with all that stands before it."""
    for place, (theirs, mine) in enumerate(zip_longest(recorded, ours)):
        if theirs is not None and mine is not None and is_same(theirs, mine):
            continue
        told = [f"{what} {place + 1} differs:"]
        told += [f"    {each}" for each in ours[max(place - SHOWN, 0) : place]]
        told += [f"  recorded {theirs}", f"  ours     {mine}"]
        told += [f"    {each}" for each in ours[place + 1 : place + 1 + SHOWN]]
        return ["\n".join(told)]
    return []


# -- order ----------------------------------------------------------------------------------------


def _of_bindings(writes: Iterable[Write]) -> list[Write]:
    """The writes of binding tasks, by pod."""
    return sorted(filter(_is_of_binding, writes), key=lambda write: write.pod)


def _is_of_binding(write: Write) -> bool:
    said = write.details.get(SCHEDULED)
    return write.verb == "bind" or (isinstance(said, dict) and said.get("reason") == ERROR)


def _of_cycles(writes: Iterable[Write]) -> list[Write]:
    """The writes of cycles. The victims of a decision are sorted by name; the writes of one
    victim keep their order."""
    ordered: list[Write] = []
    for is_victim, group in groupby(filterfalse(_is_of_binding, writes), _is_about_victim):
        together = list(group)
        ordered += sorted(together, key=lambda write: write.pod) if is_victim else together
    return ordered


def _is_about_victim(write: Write) -> bool:
    return write.verb == "delete" or DISRUPTED in write.details


# -- sameness -------------------------------------------------------------------------------------


def _is_same_write(recorded: Write, ours: Write) -> bool:
    is_close = _is_close(recorded.at_ms, ours.at_ms, is_ticked=ours.is_ticked)
    return is_close and _apart_from_time(recorded) == _apart_from_time(ours)


def _apart_from_time(write: Write) -> Any:
    """All of a write but its time; a new deletion has the time of its request."""
    said = dict(write.details)
    if said.get("stateChanged"):
        said["deletionTimestamp"] -= write.at_ms // 1000
    return write.verb, write.pod, write.outcome, _plain(said)


def _is_same_attempt(recorded: Attempt, ours: Attempt) -> bool:
    theirs, mine = (
        (each.pod, each.number, each.life, _plain(each.result), each.then)
        for each in (recorded, ours)
    )
    return theirs == mine and _is_close(recorded.at_ms, ours.at_ms, is_ticked=True)


def _is_close(recorded_ms: int, ours_ms: int, *, is_ticked: bool) -> bool:
    return abs(recorded_ms - ours_ms) <= CLOSE_MS + (TICK_MS if is_ticked else 0)


def _plain(value: Any) -> Any:
    """An error without the details of the transport."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, str) and BIND_FAILED in value:
        return value.partition(BIND_FAILED)[0] + BIND_FAILED
    return value
