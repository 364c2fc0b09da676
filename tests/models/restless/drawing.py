"""Restless World number N: programs that poll, tick, count and wait, the same everywhere."""

from __future__ import annotations

from typing import Any

from testbed.fault import Fault
from testbed.faults.break_watch import BreakWatch
from testbed.faults.clock_step import ClockStep
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from tests.models.worlds.doing import Action
from tests.models.worlds.drawn_claims import Claimed
from tests.models.worlds.drawn_world import Drawn, Program
from tests.models.worlds.phrases import Draw

PERIODS = (1_000, 1_000, 1_000, 500, 2_000, 700)
"""How often a program looks, in ms."""
LATER = (0, 400, 3_000, 12_000)
"""How late a writer comes, in ms."""


def restless(number: int) -> Drawn:
    """Restless World number N."""
    draw = Draw(1_000_000 + number)
    endpoints = draw.one(*[()] * 5, ("ledger",), ("clock",), ("clock", "diary"))
    programs = tuple(_program(draw, endpoints) for _ in range(draw.one(1, 2, 2, 3)))
    limits = {"turns_max": 1_500, "virtual_ms_max": 45_000}
    if draw.in_(6):
        limits["lateness_ms"] = draw.one(200, 5_000)
    if draw.in_(12):
        limits["delay_max_ms"] = draw.one(100, 200)
    return Drawn(
        programs,
        server=draw.one(*["store"] * 5, "api", "late api", "lags long"),
        endpoints=endpoints,
        things=draw.one((("note", "x"),), (("note", "x"),), (("note", "x"), ("lease", "x"))),
        faults=_faults(draw, limits.get("lateness_ms")) if draw.in_(4) else (),
        claims=_claims(draw) if draw.in_(2) else (),
        limits=limits,
        latencies=({"what": "* notes", "serve_ms": draw.one(3, 300)},) if draw.in_(8) else (),
    )


def _program(draw: Draw, endpoints: tuple[str, ...]) -> Program:
    """One that goes round in its main task, in others, or not at all."""
    actions: tuple[Action, ...] = ()
    if draw.in_(2):
        actions += (("cache", {"waits": not draw.in_(4), "hears": draw.one("", "", "queue")}),)
    for name in "vw"[: draw.one(0, 0, 1, 1, 2)]:
        actions += (("spawn", {"name": name, "actions": _rounds(draw, endpoints)}),)
    if draw.in_(4):
        actions += (("sleep", {"ms": draw.of(LATER)}), *_act(draw))
    if not draw.in_(6):
        actions += _rounds(draw, endpoints)
    if draw.in_(10):
        actions += (("exit", {"again": draw.one(500, 20_000)}),)
    return Program(actions, draw.in_(4))


def _rounds(draw: Draw, endpoints: tuple[str, ...]) -> tuple[Action, ...]:
    """A loop, for ever or a few times."""
    given: dict[str, Any] = {
        "every": draw.of(PERIODS),
        "times": draw.one(*[0] * 8, 3, 12),
        "keeps": draw.in_(20),
    }
    body = tuple(a for _ in range(draw.one(1, 2, 3, 4)) for a in _look(draw, endpoints))
    return (("again", {**given, "actions": body}),)


def _look(draw: Draw, endpoints: tuple[str, ...]) -> tuple[Action, ...]:
    """What is done in each round."""
    match draw.below(17):
        case 0 | 1:
            return (("get", {"name": draw.one("x", "x", "y")}),)
        case 2:
            return (("list", {"kind": draw.one("note", "lease")}),)
        case 3:
            return (("cached", {}),)
        case 4 | 5:
            return (("count", {"what": draw.one("rounds", "rounds", "other"),
                               "of": draw.one(0, 0, 2, 3)}),)  # fmt: skip
        case 6 | 7 | 8 | 9:
            most = draw.one(1, 1, 2)
            return (("once", {**_condition(draw), "most": most, "actions": _act(draw)}),)
        case 10:
            return (
                draw.one(
                    ("put", {}), ("set", {}), ("clear", {}), ("set", {}), ("ring", {"ms": 300})
                ),
            )
        case 11:
            waits = draw.one(("signal", "sleep"), ("queue", "sleep"), ("alarm", "sleep"), ("both",))
            return (("first", {"waits": waits, "ms": 500}),)
        case 12:
            return (draw.one(("now", {}), ("pick", {}), *[("record", {})] * 6),)
        case 13:
            return (
                (("event", {}),)
                if draw.in_(2)
                else (("open", {"since": "last"}), ("next", {"wait": 500}))
            )
        case 14 if endpoints:
            verb = draw.one("add", "add", "look", "write", "deny")
            return (("ask", {"endpoint": draw.of(endpoints), "verb": verb}),)
        case 15:
            return (("get", {"timeout": draw.one(1, 3)}),)
    return (("sleep", {"ms": draw.one(0, 500, 1_000)}),)


def _condition(draw: Draw) -> dict[str, Any]:
    """A look, and what it must tell."""
    match draw.below(12):
        case 0 | 1 | 2:
            what = draw.one("rounds", "rounds", "other")
            return {"look": ("counted", {"what": what, "to": draw.one(1, 2, 4, 9, 25)})}
        case 3 | 4:
            late = {"ms": draw.one(2_500, 2_500, 20_000), "elapsed": draw.in_(2)}
            return {"look": ("late", late)}
        case 5 | 6:
            return {"look": ("get", {}), "told": draw.one("first", "'a", "'main", "y")}
        case 7 | 8:
            return {"look": ("cached", {}), "told": draw.one("first", "main", "v", "y")}
        case 9:
            return {"look": ("order", {})}
        case 10:
            return {"look": ("is set", {})}
    return {"look": ("length", {}), "told": draw.one("1", "3", "12")}


def _act(draw: Draw) -> tuple[Action, ...]:
    """A change of something."""
    name = draw.one("x", "x", "y")
    return (
        draw.one(
            ("update", {"name": name, "over": "whatever"}),
            ("create", {"name": name}),
            ("delete", {"name": name}),
            ("swap", {"name": name}),
            ("count", {"what": "other"}),
            ("set", {}),
            ("put", {}),
        ),
    )


def _faults(draw: Draw, lateness_ms: int | None) -> tuple[Fault, ...]:
    late_ms = min(draw.one(2_000, 15_000), lateness_ms or 15_000)
    target = draw.one("*", "a", "b")
    return (
        draw.one(
            Crash(target, restart_after_ms=draw.one(None, 500, 8_000)),
            Stall(target, by_ms=late_ms),
            Lag(target, by_ms=late_ms, for_ms=draw.one(3_000, 20_000)),
            ClockStep(target, by_ms=draw.one(-10_000, 10_000, 59_000)),
            Partition(target, for_ms=late_ms),
            BreakWatch(target),
        ),
    )


def _claims(draw: Draw) -> tuple[Claimed, ...]:
    look = draw.one("there", "pair", "how_many_records", "time", "last_write", "moods")
    match draw.below(5):
        case 0:
            return (Claimed("quiescent", look),)
        case 1:
            return (Claimed("always", look),)
        case 2:
            return (Claimed("eventually", look, given={"within_ms": draw.one(None, 20_000)}),)
        case 3:
            occasion = draw.one("commit", "turn", "served", "delivery")
            return (Claimed("listener", look, given={"occasion": occasion}),)
    return (Claimed("eventually", "pair"),)
