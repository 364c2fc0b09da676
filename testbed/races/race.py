"""Race: a scenario with its deviations from the calm run, and what is expected; its race file.

What a person keeps of a search is not a seed, but a few readable lines: what was late and until
when, which fault struck and when, what was picked. The lines name operations, so they still mean
the same after an edit of the code, where the numbers of Options would not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from testbed.fault import Fault
from testbed.objects.meta import Map
from testbed.races.pattern import Pattern
from testbed.races.yaml_lines import quoted
from testbed.world.budget import LIMIT, is_limit
from testbed.world.fault_settings import duration, is_duration, setting_fields, setting_name

_NUMBERED = re.compile(r"#[0-9]+$")
NO_SWITCHES: Map[str] = Map()
QUIET = "quiet"
ALWAYS = 1_000_000
"""The `times_max` of a fault that strikes each time it can, until a given time."""
LEFT_OUT_MAX = 6
"""How many of the actors and objects that are left out are named in a line."""


@attrs.frozen
class State:
    """An actor or an Endpoint is up, or down."""

    who: str
    is_up: bool

    def __str__(self) -> str:
        return f"{self.who} is {'up' if self.is_up else 'down'}"


Until = Pattern | State | int | None
"""When a hold ends: once that Option is performed, once that state is reached, or after that many
virtual ms. None means quiet: once nothing else can happen."""


@attrs.frozen
class Hold:
    """One thing that is late, and until when."""

    what: Pattern
    until: Until = None
    line: int = attrs.field(default=0, eq=False)

    @property
    def until_text(self) -> str:
        """When it ends, as a race file writes it."""
        if isinstance(self.until, int):
            return duration(self.until)
        return QUIET if self.until is None else str(self.until)

    def __str__(self) -> str:
        return f"hold {self.what} until {self.until_text}"


@attrs.frozen
class Strike:
    """One fault, its target, and when it strikes."""

    fault: Fault
    target: str
    """What it strikes: `alpha`, `pods to beta`, or the request that it fails."""
    operation: Pattern | None = None
    """The target, if it is a request."""
    when: str = ""
    """after (the moment was performed), before (it is next), at (a virtual time), or empty: as soon
    as it can."""
    moment: Pattern | int | None = None
    line: int = attrs.field(default=0, eq=False)

    def __str__(self) -> str:
        text = f"{self.fault.word}: {self.target}"
        if self.when:
            moment = self.moment
            text += f" {self.when} {duration(moment) if isinstance(moment, int) else moment}"
        return text

    @property
    def told(self) -> str:
        """The same for people: a request that fails at its own moment is named once."""
        is_its_own = self.operation is not None and self.operation == self.moment
        return f"{self.fault.word}: {self.target}" if is_its_own else str(self)


@attrs.frozen
class Picked:
    """One pick of an alternative other than the dullest."""

    who: str
    label: str
    alternative: str
    nth: int = 1
    life: int = 0
    """The life of its actor in which it is picked; 0: any."""
    line: int = attrs.field(default=0, eq=False)

    def __str__(self) -> str:
        return f"{self.sentence}: {self.alternative}"

    @property
    def sentence(self) -> str:
        """Who picks what, with the life and the number: `alpha@2 node for pods/default/c#2`."""
        is_plain = self.nth == 1 and not _NUMBERED.search(self.label)
        label = self.label if is_plain else f"{self.label}#{self.nth}"
        who, slash, task = self.who.partition("/")
        life = f"@{self.life}" if self.life else ""
        return f"{who}{life}{slash}{task} {label}"


Deviation = Hold | Strike | Picked
"""One line of a Race: what it does that the calm run would not."""


@attrs.frozen
class Expectation:
    """What must happen under these switches, given in addition to those of the race."""

    switches: Map[str] = NO_SWITCHES
    violates: str = ""
    """The claim that must be breached; empty if none must."""
    holds: tuple[str, ...] = ()
    """The claims that must hold; empty: all of them."""
    line: int = attrs.field(default=0, eq=False)
    switch_lines: Map[int] = attrs.field(factory=Map, eq=False)
    """The line of its file on which each switch stands."""

    def __str__(self) -> str:
        if self.violates:
            return f"violates {self.violates}"
        return f"holds {', '.join(self.holds)}" if self.holds else "holds"

    @property
    def held(self) -> Expectation:
        """The same, but that the claim which it expects to be breached must hold."""
        return attrs.evolve(self, violates="", holds=(self.violates,)) if self.violates else self

    @property
    def under(self) -> str:
        """Its switches, as they are written on the command line."""
        return " ".join(f"{name}={value}" for name, value in self.switches.items())


@attrs.frozen
class Race:
    """A scenario, its deviations from the calm run, and what is expected of it."""

    scenario: str
    switches: Map[str] = NO_SWITCHES
    without: tuple[str, ...] = ()
    """Actors and objects that are left out, because the race does not need them."""
    holds: tuple[Hold, ...] = ()
    faults: tuple[Strike, ...] = ()
    picks: tuple[Picked, ...] = ()
    expect: tuple[Expectation, ...] = ()
    line: int = attrs.field(default=0, eq=False)
    """The line of its file on which the scenario stands."""
    switch_lines: Map[int] = attrs.field(factory=Map, eq=False)
    """The line of its file on which each switch stands."""

    def __len__(self) -> int:
        return len(self.holds) + len(self.faults) + len(self.picks)

    @property
    def lines(self) -> tuple[Deviation, ...]:
        """All its deviations, as its file lists them: holds, faults, picks."""
        return (*self.holds, *self.faults, *self.picks)

    @property
    def limits(self) -> Map[str]:
        """The limits among its switches, by their names alone."""
        prefix = f"{LIMIT}."
        return Map({n.removeprefix(prefix): v for n, v in self.switches.items() if is_limit(n)})

    @property
    def plain_switches(self) -> Map[str]:
        """Its switches but for the limits."""
        return Map({n: v for n, v in self.switches.items() if not is_limit(n)})

    def having(self, lines: Iterable[Deviation]) -> Race:
        """Return the same Race with these deviations alone."""
        lines = tuple(lines)
        return attrs.evolve(
            self,
            holds=tuple(line for line in lines if isinstance(line, Hold)),
            faults=tuple(line for line in lines if isinstance(line, Strike)),
            picks=tuple(line for line in lines if isinstance(line, Picked)),
        )

    def without_each(self) -> Iterator[Race]:
        """Yield the Race without each of its deviations in turn."""
        lines = self.lines
        for place in range(len(lines)):
            yield self.having((*lines[:place], *lines[place + 1 :]))

    @property
    def breaks(self) -> str:
        """The claim that it is about: the first that it expects to be breached; else empty."""
        return next((each.violates for each in self.expect if each.violates), "")

    @property
    def left_out(self) -> str:
        """The actors and objects that are left out, in a few words; empty if there are none."""
        shown, more = self.without[:LEFT_OUT_MAX], len(self.without) - LEFT_OUT_MAX
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    def text(self) -> str:
        """Return the text of its race file."""
        lines = [f"scenario: {quoted(self.scenario)}"]
        for title, switches in (("switches", self.plain_switches), ("limits", self.limits)):
            if switches:
                lines.append(f"{title}: {_inline(switches)}")
        if self.without:
            lines.append(f"without: [{', '.join(map(quoted, self.without))}]")
        if self.holds:
            lines.append("holds:")
            for hold in self.holds:
                lines += [
                    f"  - hold: {quoted(str(hold.what))}",
                    f"    until: {quoted(hold.until_text)}",
                ]
        if self.faults:
            lines.append("faults:")
            for strike in self.faults:
                lines += _strike_lines(strike)
        if self.picks:
            lines.append("picks:")
            for pick in self.picks:
                lines.append(f"  - {quoted(pick.sentence)}: {quoted(pick.alternative)}")
        return "\n".join([*lines, *expect_lines(self.expect)]) + "\n"


def expect_lines(expect: tuple[Expectation, ...]) -> list[str]:
    """Return the last part of a race file: one expectation, or one for each side of a pair."""
    if not expect:
        return []
    if len(expect) == 1 and not expect[0].switches:
        return ["expect:", *(f"  {line}" for line in _expectation(expect[0]))]
    lines = ["expect:"]
    for each in expect:
        first = f"switches: {_inline(each.switches)}"
        lines.append(f"  - {first}")
        lines += [f"    {line}" for line in _expectation(each)]
    return lines


def _expectation(expect: Expectation) -> list[str]:
    if expect.violates:
        return [f"violates: {quoted(expect.violates)}"]
    return [f"holds: [{', '.join(map(quoted, expect.holds))}]"]


def _inline(switches: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{quoted(k)}: {quoted(str(v))}" for k, v in switches.items()) + "}"


def _strike_lines(strike: Strike) -> list[str]:
    lines = [f"  - {strike.fault.word}: {quoted(strike.target)}"]
    if strike.when:
        moment = strike.moment
        text = duration(moment) if isinstance(moment, int) else str(moment)
        lines.append(f"    {strike.when}: {quoted(text)}")
    for name, value in settings_of(strike.fault).items():
        text = duration(value) if is_duration(name) else str(value)
        lines.append(f"    {setting_name(name)}: {quoted(text)}")
    return lines


def actors_in(line: Deviation) -> list[str]:
    """Return the actors and servers that a line names, as it writes them."""
    parts: tuple[object, ...]
    if isinstance(line, Picked):
        parts, others = (), [line.who]
    elif isinstance(line, Hold):
        parts, others = (line.what, line.until), []
    else:
        parts, others = (line.operation, line.moment), [aim(line.target)]
    names = [each.who for each in parts if isinstance(each, Pattern | State)] + others
    return [name.partition("/")[0] for name in names]


def aim(target: str) -> str:
    """Return the target of the Fault itself, out of the target that a race file writes.

    Usually that is an actor: `beta` for `pods to beta`, `alpha` for `alpha bind pods/default/c`.
    """
    if " to " in target:
        return target.rpartition(" to ")[2].partition("/")[0].partition("#")[0]
    return target.partition(" ")[0].partition("/")[0].partition("@")[0]


def settings_of(fault: Fault) -> dict[str, Any]:
    """Return the settings of a fault that differ from the defaults of its kind."""
    fields = attrs.fields_dict(type(fault))
    usual = {"times_max": ALWAYS} if fault.times_max == ALWAYS else {}
    settings = {name: getattr(fault, name) for name in setting_fields(type(fault)).values()}
    return {
        name: value
        for name, value in settings.items()
        if value != usual.get(name, fields[name].default)
    }
