"""Race: a scenario with its deviations and what must, or must not, happen; the race file.

What a person keeps of a search is not a seed but a few readable lines: what was late and until
when, what failed and when, what was picked. They speak of operations, so they survive an edit of
the code that an index among Options does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from testbed.fault import Fault
from testbed.objects.meta import Map
from testbed.races.pattern import Pattern
from testbed.races.yaml_lines import quoted
from testbed.world.fault_settings import duration, is_duration, setting_fields, setting_name

_NUMBERED = re.compile(r"#[0-9]+$")
NO_SWITCHES: Map[str] = Map()
QUIET = "quiet"
ALWAYS = 1_000_000
"""How often a fault strikes that strikes whenever it can, until some time."""
LEFT_OUT_MAX = 6
"""So many of those that are left out are named in a line."""


@attrs.frozen
class State:
    """An actor, or an Endpoint, runs or does not."""

    who: str
    is_up: bool

    def __str__(self) -> str:
        return f"{self.who} is {'up' if self.is_up else 'down'}"


Until = Pattern | State | int | None
"""When a hold ends: an operation has taken effect, a state, a virtual duration, or quiet."""


@attrs.frozen
class Hold:
    """One thing that is late, and until when."""

    what: Pattern
    until: Until = None
    line: int = attrs.field(default=0, eq=False)

    @property
    def until_said(self) -> str:
        """As a race file has it."""
        if isinstance(self.until, int):
            return duration(self.until)
        return QUIET if self.until is None else str(self.until)

    def __str__(self) -> str:
        return f"hold {self.what} until {self.until_said}"


@attrs.frozen
class Strike:
    """One fault, whom it strikes, and when."""

    fault: Fault
    target: str
    """Whom or what: `alpha`, `pods to beta`, or the operation whose reply is lost."""
    operation: Pattern | None = None
    """The target, if it is an operation."""
    when: str = ""
    """after (it has taken effect), before (it is about to), at (a virtual time), or as soon as
    it can."""
    moment: Pattern | int | None = None
    line: int = attrs.field(default=0, eq=False)

    def __str__(self) -> str:
        said = f"{self.fault.word}: {self.target}"
        if self.when:
            moment = self.moment
            said += f" {self.when} {duration(moment) if isinstance(moment, int) else moment}"
        return said


@attrs.frozen
class Picked:
    """One data choice other than the dullest."""

    who: str
    label: str
    alternative: str
    nth: int = 1
    life: int = 0
    """In which life of its actor; 0: in any."""
    line: int = attrs.field(default=0, eq=False)

    def __str__(self) -> str:
        return f"{self.said}: {self.alternative}"

    @property
    def said(self) -> str:
        """Who picks, in which life, what, and which of that label it is."""
        is_plain = self.nth == 1 and not _NUMBERED.search(self.label)
        label = self.label if is_plain else f"{self.label}#{self.nth}"
        who, slash, task = self.who.partition("/")
        life = f"@{self.life}" if self.life else ""
        return f"{who}{life}{slash}{task} {label}"


@attrs.frozen
class Expectation:
    """What must happen, under these switches beside those of the race."""

    switches: Map[str] = NO_SWITCHES
    violates: str = ""
    """The claim that is breached; empty if none is to be."""
    holds: tuple[str, ...] = ()
    """The claims that hold; none named: all of them."""
    line: int = attrs.field(default=0, eq=False)
    switch_lines: Map[int] = attrs.field(factory=Map, eq=False)
    """Where its file names each switch."""

    def __str__(self) -> str:
        if self.violates:
            return f"violates {self.violates}"
        return f"holds {', '.join(self.holds)}" if self.holds else "holds"

    @property
    def under(self) -> str:
        """Its switches, as a person says them."""
        return " ".join(f"{name}={value}" for name, value in self.switches.items())


@attrs.frozen
class Race:
    """A scenario with its deviations, and what is expected of it."""

    scenario: str
    switches: Map[str] = NO_SWITCHES
    without: tuple[str, ...] = ()
    """Actors and objects that are left out: the race needs none of them."""
    holds: tuple[Hold, ...] = ()
    faults: tuple[Strike, ...] = ()
    picks: tuple[Picked, ...] = ()
    expect: tuple[Expectation, ...] = ()
    line: int = attrs.field(default=0, eq=False)
    """Where its file names the scenario."""
    switch_lines: Map[int] = attrs.field(factory=Map, eq=False)
    """Where it names each switch."""

    def __len__(self) -> int:
        return len(self.holds) + len(self.faults) + len(self.picks)

    @property
    def left_out(self) -> str:
        """Who and what is not there, in a few words; empty if all is."""
        shown, more = self.without[:LEFT_OUT_MAX], len(self.without) - LEFT_OUT_MAX
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    def text(self) -> str:
        """The race file."""
        lines = [f"scenario: {quoted(self.scenario)}"]
        if self.switches:
            lines.append(f"switches: {_inline(self.switches)}")
        if self.without:
            lines.append(f"without: [{', '.join(map(quoted, self.without))}]")
        if self.holds:
            lines.append("holds:")
            for hold in self.holds:
                lines += [
                    f"  - hold: {quoted(str(hold.what))}",
                    f"    until: {quoted(hold.until_said)}",
                ]
        if self.faults:
            lines.append("faults:")
            for strike in self.faults:
                lines += _strike_lines(strike)
        if self.picks:
            lines.append("picks:")
            for pick in self.picks:
                lines.append(f"  - {quoted(pick.said)}: {quoted(pick.alternative)}")
        return "\n".join([*lines, *expect_lines(self.expect)]) + "\n"


def expect_lines(expect: tuple[Expectation, ...]) -> list[str]:
    """The last part of a race file: one expectation, or one for each side of a pair."""
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
        said = duration(moment) if isinstance(moment, int) else str(moment)
        lines.append(f"    {strike.when}: {quoted(said)}")
    for name, value in settings_of(strike.fault).items():
        said = duration(value) if is_duration(name) else str(value)
        lines.append(f"    {setting_name(name)}: {quoted(said)}")
    return lines


def spoken_of(line: Hold | Strike | Picked) -> list[str]:
    """The actors and servers that a line speaks of, as it names them."""
    said: tuple[object, ...]
    if isinstance(line, Picked):
        said, others = (), [line.who]
    elif isinstance(line, Hold):
        said, others = (line.what, line.until), []
    else:
        said, others = (line.operation, line.moment), [aim(line.target)]
    names = [each.who for each in said if isinstance(each, Pattern | State)] + others
    return [name.partition("/")[0] for name in names]


def aim(target: str) -> str:
    """The name a Fault is aimed at when a race file says whom or what it strikes."""
    if " to " in target:
        return target.rpartition(" to ")[2].partition("/")[0].partition("#")[0]
    return target.partition(" ")[0].partition("/")[0].partition("@")[0]


def settings_of(fault: Fault) -> dict[str, Any]:
    """The settings of a fault that are not those of its kind."""
    fields = attrs.fields_dict(type(fault))
    usual = {"times_max": ALWAYS} if fault.times_max == ALWAYS else {}
    settings = {name: getattr(fault, name) for name in setting_fields(type(fault)).values()}
    return {
        name: value
        for name, value in settings.items()
        if value != usual.get(name, fields[name].default)
    }
