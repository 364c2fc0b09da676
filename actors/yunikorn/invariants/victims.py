"""Victims are chosen by the rules, and each is chosen once (INV-42, YK-12, YK-15, YK-16)."""

from __future__ import annotations

from typing import Any, ClassVar

from actors.yunikorn.core.core import YuniKornCore
from actors.yunikorn.invariants.looks import cores, total
from testbed import Evidence, Invariant
from testbed.invariant import SERVED
from testbed.turns.found import FORBIDDEN, Found, Wrong
from testbed.turns.trace import Step


class VictimsAreFair(Invariant):
    """A victim is on the node that the ask requires, requires none itself, and is of no higher
    priority, unless the switches say that this does not count. With what is left on the node, the
    victims of one ask suffice. Where victims are looked for once, each allocation is released once.
    """

    name = "yunikorn_victims_are_fair"
    breach_reason = FORBIDDEN
    looks_at: ClassVar[frozenset[str]] = frozenset({SERVED})

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, int]] = {}
        """By core, its session, and how many of its messages were looked at."""
        self._released: set[tuple[str, str]] = set()
        """The session, and the uid of each victim in it."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for core in cores(evidence):
            self._forget_the_gone(core)
            new = [each for each in self._new(core) if getattr(each, "ask", "")]
            for ask in dict.fromkeys(each.ask for each in new):
                victims = [each.key for each in new if each.ask == ask]
                wrong = (self._wrong(core, ask, victim) for victim in victims)
                if found := next(filter(None, wrong), "") or _too_little(core, ask, victims):
                    about = evidence.named_in(found)
                    nodes = (f"nodes/{_found(core, ask).request.required_node}",)
                    return Found.of(f"{core.name}: {found}", *about.keys, *nodes, actors=core.name)
        return None

    def _forget_the_gone(self, core: YuniKornCore) -> None:
        """Once its allocation is gone, a pod may get another one: its node may come back."""
        if self._released:
            held = {key for app in core.partition.apps.values() for key in app.allocations}
            self._released = {(session, key) for session, key in self._released if key in held}

    def _new(self, core: YuniKornCore) -> list[Any]:
        """The messages since the last look."""
        session, seen = self._seen.get(core.name, ("", 0))
        if session != core.session:
            seen = 0
        messages = core.partition.to_shim
        self._seen[core.name] = (core.session, core.announced)
        return messages[len(messages) - (core.announced - seen) :]

    def _wrong(self, core: YuniKornCore, for_ask: str, key: str) -> str:
        ask, victim = _found(core, for_ask).request, _found(core, key).request
        if victim.required_node:
            return f"{victim.pod} is a DaemonSet pod, and was released for {ask.pod}"
        if _found(core, key).node != ask.required_node:
            return f"{victim.pod} is not on the node that {ask.pod} requires"
        switches, more = core.switches, victim.priority - ask.priority
        if switches.priority_filter != "none" and more > 0:
            return f"{victim.pod} is more important than {ask.pod}"
        if switches.priority_filter == "strict_lower" and more == 0:
            return f"{victim.pod} is as important as {ask.pod}"
        once = (core.session, key)
        if once in self._released and switches.repeat == "once":
            return f"{victim.pod} was released twice"
        self._released.add(once)
        return ""


def _found(core: YuniKornCore, key: str) -> Any:
    """The ask or the allocation of that pod."""
    apps = core.partition.apps.values()
    return next(app.asks.get(key) or app.allocations[key] for app in apps
                if key in app.asks or key in app.allocations)  # fmt: skip


def _too_little(core: YuniKornCore, key: str, victims: list[str]) -> str:
    """Whether an ask would not even fit once all of its victims are gone."""
    ask = _found(core, key).request
    node = core.partition.nodes[ask.required_node]
    room = total([node.available, *(_found(core, each).amounts for each in victims)])
    short = [name for name, amount in ask.amounts.items() if room.get(name, 0) < amount]
    return f"the victims for {ask.pod} leave too little {short[0]}" if short else ""
