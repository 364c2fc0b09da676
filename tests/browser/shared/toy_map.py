"""A complete map of a toy: writers that each count a number up, by a read and a blind write."""

from __future__ import annotations

from typing import Any

Seat = tuple[int, int]
"""How many bumps a writer has left, and the count it has read; -1 if it has read none."""
State = tuple[int, tuple[Seat, ...]]


def toy_map(writers: int = 2, bumps: int = 2) -> dict[str, Any]:
    """MapData of every order of that many writers with that many bumps each."""
    lanes = ["alpha", "beta", "gamma", "delta"][:writers]
    start: State = (0, ((bumps, -1),) * writers)
    order, states, parents = {start: 0}, [], {0: 0}
    front = [start]
    for state in front:
        nexts = []
        for move, after in _after(state):
            if after not in order:
                order[after] = len(order)
                parents[order[after]] = order[state]
                front.append(after)
            nexts.append([move, order[after]])
        states.append((state, nexts))
    finals = {state: order[state] for state, nexts in states if not nexts}
    ends = [_end(state[0], writers * bumps, _way(at, parents)) for state, at in finals.items()]
    at_end = {at: index for index, at in enumerate(finals.values())}
    highest = writers * bumps + 1
    return {
        "said": f"counter: {writers} writers, {bumps} bumps each.",
        "bounds": "",
        "moves": [
            {"said": f"{lane} {what}", "actor": lane, "kind": kind}
            for lane in lanes
            for what, kind in (("reads the count", "own"), ("writes what it read, and 1", "effect"))
        ],
        "versions": [_version(count) for count in range(highest)],
        "sets": [[count] for count in range(highest)],
        "lanes": lanes,
        "states": [
            {
                "next": nexts,
                "end": at_end.get(at, -1),
                "ms": 10 * at,
                "truth": state[0],
                "beliefs": [read for _, read in state[1]],
            }
            for at, (state, nexts) in enumerate(states)
        ],
        "ends": ends,
    }


def _after(state: State) -> list[tuple[int, State]]:
    count, seats = state
    found = []
    for nth, (left, read) in enumerate(seats):
        if not left:
            continue
        move, seat, now = (2 * nth, (left, count), count)
        if read >= 0:
            move, seat, now = (2 * nth + 1, (left - 1, -1), read + 1)
        found.append((move, (now, (*seats[:nth], seat, *seats[nth + 1 :]))))
    return found


def _way(at: int, parents: dict[int, int]) -> list[int]:
    way = [at]
    while way[-1]:
        way.append(parents[way[-1]])
    return way[::-1]


def _end(count: int, wanted: int, shortest: list[int]) -> dict[str, Any]:
    is_held = count == wanted
    return {
        "outcome": "held" if is_held else "violated",
        "claim": "" if is_held else "no_bump_is_lost",
        "said": f"{count} of {wanted} bumps were counted",
        "shortest": shortest,
    }


def _version(count: int) -> dict[str, Any]:
    return {
        "key": "notes/default/count", "kind": "notes", "name": "count", "rv": 0,
        "said": f"count {count}", "state": "plain", "node": "", "cpu": 0,
        "fields": [["count", str(count)]],
    }  # fmt: skip
