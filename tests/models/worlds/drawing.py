"""World number N: the same everywhere, and small enough to be played in every order."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.fault import Fault
from testbed.faults.break_watch import BreakWatch
from testbed.faults.clock_step import ClockStep
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.faults.restart import Restart
from testbed.faults.server_error import REFUSALS, ServerError
from testbed.faults.stale import Stale
from testbed.faults.stall import Stall
from tests.models.worlds.doing import Action
from tests.models.worlds.drawn_claims import ALL_NOTES, DECLARED, LOOKS, OCCASIONS, Claimed
from tests.models.worlds.drawn_world import Drawn, Program, words_of
from tests.models.worlds.phrases import OFTEN, THEMES, Draw

HEAVY = {"cache": 2, "open": 1, "spawn": 1, "twice": 1, "swap": 2}
"""What a word weighs, if not 1; looks weigh nothing."""
LIGHT = frozenset({
    "same", "text", "known as", "alike", "whole", "age", "error", "cached", "ended", "length",
    "is set", "when", "now", "number", "show", "me", "hide", "record", "put", "set", "clear",
    "ring",
})  # fmt: skip
WEIGHT_MAX = 5
"""How much all actors of a World do together, at most."""


def world(number: int) -> Drawn:
    """World number N."""
    draw = Draw(number)
    themes = [draw.of((*THEMES, *OFTEN)) for _ in range(draw.one(1, 1, 2))]
    drawn = Drawn(_programs(draw, themes))
    words: set[str] = set().union(*[words_of(program.actions) for program in drawn.programs])
    drawn = attrs.evolve(drawn, server=_server(draw, themes), things=_things(draw, themes))
    if words & {"ask", "tell"}:
        drawn = attrs.evolve(drawn, endpoints=_endpoints(drawn.programs))
    if drawn.server == "two apis":
        homes = [draw.one((), ("api-2",), ("api", "api-2")) for _ in drawn.programs]
        programs = zip(drawn.programs, homes, strict=True)
        placed = tuple(attrs.evolve(program, at=at) for program, at in programs)
        drawn = attrs.evolve(drawn, programs=placed)
    faults, claims, limits = _faults(draw, drawn), _claims(draw), _limits(draw)
    drawn = attrs.evolve(drawn, faults=faults, claims=claims, limits=limits)
    return attrs.evolve(drawn, latencies=_latencies(draw, drawn))


def weight(actions: tuple[Action, ...]) -> int:
    """About how many Options of others these actions meet."""
    return sum(
        0 if word in LIGHT else HEAVY.get(word, 1) + weight(given.get("actions", ()))
        for word, given in actions
    )


def _programs(draw: Draw, themes: list[str]) -> tuple[Program, ...]:
    count = draw.one(1, 2, 2, 2, 2, 2, 3)
    left = WEIGHT_MAX - (count == 3)
    lines: list[tuple[Action, ...]] = [()] * count
    for turn in range(2 * count):
        drawers = THEMES[draw.of(themes) if turn else themes[0]]
        phrase = (draw.of(drawers) if turn else drawers[0])(draw)
        if draw.in_(12):
            phrase = (("if", {"told": draw.one("True", "a", "x"), "actions": phrase}),)
        if weight(phrase) <= left:
            lines[turn % count] += phrase
            left -= weight(phrase)
    names = [draw.in_(2) for _ in lines]
    return tuple(
        Program(actions, apart) for actions, apart in zip(lines, names, strict=True) if actions
    ) or (Program((("me", {}),)),)


def _server(draw: Draw, themes: list[str]) -> str:
    if "pods" in themes:
        return draw.one("api", "api", "late api", "two apis")
    if "patches" in themes and not draw.in_(3):
        return draw.one("api", "two apis")
    return draw.one(*["store"] * 6, "lagging", "later", "gate", "api", "two apis")


def _things(draw: Draw, themes: list[str]) -> tuple[tuple[str, str], ...]:
    things = [("note", "x")] if not draw.in_(5) else []
    if draw.in_(3):
        things.append(("lease", "x"))
    if "pods" in themes:
        things += [("pod", "p"), ("node", "n"), *([("budget", "b")] if draw.in_(2) else [])]
    return tuple(things)


def _endpoints(programs: tuple[Program, ...]) -> tuple[str, ...]:
    found = repr(programs)
    return tuple(name for name in ("ledger", "diary", "pocket", "purse") if f"'{name}'" in found)


Settings = dict[str, tuple[Any, ...]]
UNTIL: Settings = {"until_ms": (None, None, 5, 30)}
FAULTS: dict[type[Fault], Settings] = {
    BreakWatch: {},
    ClockStep: {"by_ms": (7, -7)},
    Compact: {},
    Crash: {"restart_after_ms": (None, 5)},
    Lag: {"by_ms": (4,), "for_ms": (3, 20)},
    LoseReply: {},
    LoseRequest: {},
    Partition: {"for_ms": (3, 20)},
    Restart: {},
    ServerError: {"code": tuple(REFUSALS)},
    Stale: {},
    Stall: {"by_ms": (3, 20)},
}
"""Each kind there is, with what its own settings may be."""


def _faults(draw: Draw, drawn: Drawn) -> tuple[Fault, ...]:
    if not draw.in_(3):
        return ()
    servers = [*drawn.endpoints, "store" if "api" not in drawn.server else "api"]
    return tuple(_fault(draw, servers) for _ in range(draw.one(1, 1, 1, 2)))


def _fault(draw: Draw, servers: list[str]) -> Fault:
    kind = draw.of(list(FAULTS))
    given = {name: draw.of(values) for name, values in (FAULTS[kind] | UNTIL).items()}
    if draw.in_(5):
        given["times_max"] = 2
    target = draw.one("*", "a", "b")
    if kind in (Crash, Restart) and draw.in_(2):
        target = draw.of(servers)
    return kind(target, **given)


def _claims(draw: Draw) -> tuple[Claimed, ...]:
    if not draw.in_(3):
        return ()
    look = draw.of(tuple(LOOKS))
    match draw.below(8):
        case 0 | 1:
            return (Claimed("quiescent", look),)
        case 2:
            return (Claimed("quiescent", draw.of(tuple(DECLARED)), True),)
        case 3:
            return (Claimed("always", look),)
        case 4:
            return (Claimed("always", draw.of(tuple(DECLARED)), True),)
        case 5:
            return (Claimed("eventually", look, given={"within_ms": draw.one(None, 3)}),)
        case 6:
            occasion = draw.of(tuple(OCCASIONS))
            declares = draw.in_(2) and look in DECLARED
            return (Claimed("listener", look, declares, {"occasion": occasion}),)
    return (draw.one(_alike, _ends)(draw, look),)


def _alike(draw: Draw, look: str) -> Claimed:
    if draw.in_(2):
        return Claimed("confluent", look, look in DECLARED and draw.in_(2))
    given = {"ignoring": draw.one((), ("data.by",)), "unordered": draw.one((), ("data.by",))}
    return Claimed("confluent", "pair", given=given)


def _ends(draw: Draw, _: str) -> Claimed:
    given = {"coarsely": draw.in_(2), "named_anew": draw.one((), ("notes",))}
    if draw.in_(3):
        given["reads"] = ALL_NOTES
    return Claimed("no_lasso", given=given)


def _limits(draw: Draw) -> dict[str, int]:
    return draw.one(*[{}] * 6, {"until_ms": 8}, {"turns_max": 8})


def _latencies(draw: Draw, drawn: Drawn) -> tuple[dict[str, Any], ...]:
    if not draw.in_(8):
        return ()
    late = draw.one("serve_ms", "answer_ms", "deliver_ms")
    what = "watch *" if late == "deliver_ms" else draw.one("* notes", "create notes", "* *")
    at = "api" if "api" in drawn.server else "store"
    given = {"what": what, "actor": draw.one("*", "a"), "at": draw.one("*", at)}
    return ({**given, late: draw.one(3, 7)},)
