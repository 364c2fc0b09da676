"""MadeRoom: one preemption by any program: for which pod, where, and which pods had to go.

A program that preempts gives the record of its decision as `because` of each write that ends a
victim. The record names the pod that room is made for: `for`, a kubelet's `critical`, or `pod`. A
program that writes a record for each victim says in all of them which `room` it is for.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.objects import Pod
from testbed.search.comparing.run_history import Committed, RunHistory
from testbed.turns.trace import Record


@attrs.define
class MadeRoom:
    """One decision to make room for a pod, and what it cost."""

    step: int
    """The turn in which it was decided."""
    at_ms: int
    who: str
    """The program that has made room."""
    preemptor: str
    """The uid of the pod that room is made for."""
    node: str
    victims: list[Pod] = attrs.field(factory=list)
    """As each was when it had to go."""


def rooms_in(history: RunHistory) -> tuple[MadeRoom, ...]:
    """Every preemption of a Run that has cost at least one pod, in the order of decisions."""
    rooms: dict[tuple[str, object, str], MadeRoom] = {}
    keys: dict[str, str] = {}
    for pod in history.at_first.values():
        if isinstance(pod, Pod):
            keys[pod.key] = pod.meta.uid
    for commit in history.commits:
        if isinstance(commit.new, Pod):
            keys[commit.key] = commit.new.meta.uid
        for victim, record, preemptor in _ended(commit):
            uid = str(record.facts.get("uid") or keys.get(preemptor, ""))
            if uid not in history.pods:
                continue
            who = record.path.partition("/")[0]
            node = _node_of(record) or victim.spec.node_name
            room = rooms.setdefault(
                (who, record.facts.get("room", record.step), uid),
                MadeRoom(record.step, record.now_ms, who, uid, node),
            )
            room.victims.append(victim)
    return tuple(sorted(rooms.values(), key=lambda room: room.step))


def _ended(commit: Committed) -> Iterator[tuple[Pod, Record, str]]:
    """The pod that this commit ends for another one, the decision, and the key of the other."""
    record = commit.because
    if record is None or not commit.ends_pod:
        return
    preemptor = record.facts.get("for") or record.facts.get("critical") or record.facts.get("pod")
    if isinstance(preemptor, str) and preemptor != commit.key:
        yield commit.old, record, preemptor


def _node_of(record: Record) -> str:
    """The node that the decision chose, if it says so."""
    preemption = record.facts.get("preemption")
    return str(preemption.get("chosen", "")) if isinstance(preemption, dict) else ""


def was_placed(history: RunHistory, uid: str) -> bool:
    """Whether the pod came to run, or, where there are no kubelets, was bound."""
    life = history.pods[uid]
    return (life.ran_ms if history.has_kubelets else life.bound_ms) is not None


def was_of_use(history: RunHistory, rooms: tuple[MadeRoom, ...], room: MadeRoom) -> bool:
    """Whether the pod that room was made for came to run there, by the last room made for it."""
    later = any(o.preemptor == room.preemptor and o.step > room.step for o in rooms)
    life = history.pods[room.preemptor]
    return not later and life.node == room.node and was_placed(history, room.preemptor)
