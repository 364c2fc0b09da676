"""TakenRoom: room that was made for one pod, and that another pod took."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from testbed.objects import Pod, requests_of, room_of
from testbed.search.comparing.made_room import MadeRoom, rooms_in
from testbed.search.comparing.run_history import ClusterThen, Committed, RunHistory


@attrs.frozen
class TakenRoom:
    """Room that was lost."""

    room: MadeRoom
    thief: Pod
    """The pod that was bound there."""
    loser: Pod
    """The pod that room was made for."""


def taken_rooms_in(history: RunHistory) -> tuple[TakenRoom, ...]:
    """All room that was lost in a Run: while the pod that it was made for has no node, another one
    is bound there, and leaves too little for it once the victims are gone (CTL-52)."""
    rooms, now = rooms_in(history), ClusterThen(history)
    taken: dict[int, TakenRoom] = {}
    for commit in history.commits:
        now.take(commit)
        for number, room in enumerate(rooms if _is_bind(commit) else ()):
            if number not in taken and _takes(history, now, room, commit):
                loser = history.pods[room.preemptor].pod
                taken[number] = TakenRoom(room, commit.new, loser)
    return tuple(taken.values())


def _is_bind(commit: Committed) -> bool:
    old, new = commit.old, commit.new
    return isinstance(old, Pod) and isinstance(new, Pod) and new.is_bound and not old.is_bound


def _takes(history: RunHistory, now: ClusterThen, room: MadeRoom, commit: Committed) -> bool:
    thief, waiting = commit.new, history.pods[room.preemptor]
    has_node = waiting.bound_ms is not None and waiting.bound_step <= commit.step
    is_gone = waiting.end_ms is not None and waiting.end_ms <= commit.at_ms
    if commit.step <= room.step or thief.spec.node_name != room.node or has_node or is_gone:
        return False
    node = now.node(room.node)
    if node is None or thief.meta.uid == room.preemptor:
        return False
    victims = {victim.meta.uid for victim in room.victims}
    staying = [
        pod
        for pod in now.on(room.node)
        if pod.meta.uid not in victims and not pod.meta.is_terminating and pod.key != thief.key
    ]
    room_here = room_of(node)
    return _fits(waiting.pod, staying, room_here) and not _fits(
        waiting.pod, [*staying, thief], room_here
    )


def _fits(pod: Pod, others: list[Pod], room: Mapping[str, int]) -> bool:
    if len(others) + 1 > room.get("pods", len(others) + 1):
        return False
    asked = requests_of(pod)
    taken = [requests_of(other) for other in others]
    return all(
        amount + sum(each.get(name, 0) for each in taken) <= room.get(name, 0)
        for name, amount in asked.items()
        if amount
    )
