"""Scenario: a recipe for a World: a function that takes a World and keyword switches."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import attrs

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.code.whose import at_place
from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Fault
from testbed.invariant import Invariant
from testbed.invariants.confluence import NO_REST, Confluent, NoCounterpart
from testbed.switches import OFF, ON, PROFILE, text_of
from testbed.turns.garbage import collected_between
from testbed.turns.happening import Happening
from testbed.turns.session import play_all
from testbed.turns.trace import Trace
from testbed.world.attendance import Attendance
from testbed.world.budget import limits_in
from testbed.world.counterpart import key_of_hits, play_counterpart
from testbed.world.in_force import is_of_component
from testbed.world.keeping import check_keep, kept_by
from testbed.world.lap_proof import breach_by_going_on, breach_by_lap
from testbed.world.users_code import (
    LEVELS,
    OWN_LEVELS,
    PACKAGE,
    import_first_from,
    imported,
    in_file,
    levels_package,
    our_scenarios,
    standing_at,
)
from testbed.world.world import World

GUARD = "guard"
"""The switch of a scenario that keeps its race away."""
CALM_ENDS_MAX = 200
"""How many ends of counterparts are kept; what is needed again after that is played again."""
T = TypeVar("T")
LAPS_KEPT_MAX = 8
"""How many laps are remembered, each with all that led to it."""
LISTED = "testbed list shows the switches of each scenario"
WHOLE = re.compile(r"-?[0-9]{1,18}")


@attrs.frozen
class Switch:
    """One keyword of a scenario: its name, its default and its type."""

    name: str
    default: Any
    kind: type

    @property
    def shown(self) -> Any:
        """The default, as a user would write it."""
        return _shown(self.default)

    def another(self, given: Any) -> Any:
        """A value beside that one, as a user would write it: the other of on and off, or the next
        number. None if it is a text: what else that may be is not known."""
        if self.kind is str:
            return None
        value = self.parse(given)
        return _shown(not value if self.kind is bool else value + 1)

    def parse(self, given: Any) -> Any:
        """The value that a text stands for, checked against the type of the default."""
        if type(given) is self.kind:
            return given
        if isinstance(given, str) and self.kind is bool and given.lower() in ON + OFF:
            return given.lower() in ON
        if isinstance(given, str) and self.kind is int and WHOLE.fullmatch(given):
            return int(given)
        expected = {bool: "on or off", int: "a whole number", str: "a text"}[self.kind]
        raise ScenarioError(
            f"switch {self.name}={given}: expected {expected}.\n"
            f"Next: say --switch {self.name}={self.shown}, which is its default."
        )


@attrs.frozen
class Scenario:
    """A recipe with a name. For the same switches it builds the same World each time."""

    name: str
    """A short name (`lost_update`), or `module:function`."""
    build: Callable[..., None]
    """`def lost_update(world, *, guard=False)`: assembles a World, and keeps nothing between two
    calls."""
    switches: dict[str, Switch]
    keep: tuple[str, ...] = ()
    """What a shrink never leaves out: names of actors, keys, kinds, and globs of these."""
    attendance: Callable[[], Attendance] | None = None
    """Makes, for each World, what brings in what real programs do; None: none takes part."""
    _calm_turns: dict[str, int] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    _calm_ends: dict[Any, Any] = attrs.field(factory=dict, init=False, eq=False, repr=False)
    _laps: dict[Any, Any] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    @property
    def title(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0]

    @property
    def has_guard(self) -> bool:
        """Whether it has the switch `guard`, which is on or off."""
        return GUARD in self.switches and self.switches[GUARD].kind is bool

    def world(
        self,
        switches: Mapping[str, Any] | None = None,
        *,
        audit: bool = False,
        faults: Iterable[Fault] = (),
        without: Iterable[str] = (),
    ) -> World:
        """A new World, assembled with these switches and the defaults of the others. The faults may
        strike beside the scenario's own; `without` names actors and objects to leave out."""
        values = self.values(switches or {})
        faults, without = tuple(faults), tuple(without)
        shown = {k: _shown(v) for k, v in values.items()}
        attendance = None if self.attendance is None else self.attendance()
        world = World(self.name, shown, audit=audit, without=without, attendance=attendance)
        self._assemble(world, values)
        if faults:
            world.allow(*faults)
            world.beside = faults
        world.turns_expected = lambda: self._turns_of_calm_run(values)
        # Nothing is compared with another Run of real programs, which would not be the same.
        if attendance is not None:
            return world

        def again(**otherwise: Any) -> World:
            return self.world({**values, **otherwise}, faults=faults, without=without)

        world.again = again
        like = (values, without)
        world.evidence.play_lap = lambda happened, start: self._breach(
            breach_by_lap, again, (repr(like), faults), happened, start
        )
        world.evidence.go_on = lambda happened: self._breach(
            breach_by_going_on, again, (repr(like), faults), happened
        )
        world.evidence.calm_end = lambda claim: self._calm_end(again, repr(like), world, claim)
        return world

    def _breach(
        self,
        breach_by: Callable[..., T],
        again: Callable[[], World],
        like: object,
        happened: Sequence[Happening],
        *more: int,
    ) -> T:
        """What `breach_by_lap` or `breach_by_going_on` says. It depends on its arguments alone, and
        the Runs of one race mostly come to the same lap, so the last answers are kept."""
        key = (breach_by, like, tuple(happened), more)
        if key not in self._laps:
            found = breach_by(again, happened, *more)
            while len(self._laps) >= LAPS_KEPT_MAX:
                del self._laps[next(iter(self._laps))]
            self._laps[key] = found
        return self._laps[key]  # type: ignore[no-any-return]

    def _calm_end(
        self, again: Callable[[], World], like: str, here: World, claim: Invariant
    ) -> Any:
        """The end state of the counterpart of a Run, as that `confluent` of it sees it; a
        NoCounterpart if it has none, or that comes to no rest."""
        key = (like, here.beside if here.hits else (), key_of_hits(here.hits))
        if key not in self._calm_ends:
            world = again()
            claims = world.judge.claimed(Confluent)
            for each in claims:
                each.came_to = None
            why_not = play_counterpart(world, here.hits)
            ends = [each.came_to for each in claims]
            while len(self._calm_ends) >= CALM_ENDS_MAX:
                del self._calm_ends[next(iter(self._calm_ends))]
            if why_not or any(end is None for end in ends):
                self._calm_ends[key] = NoCounterpart(why_not or NO_REST)
            else:
                self._calm_ends[key] = ends
        found = self._calm_ends[key]
        if isinstance(found, NoCounterpart):
            return found
        return found[[own is claim for own in here.judge.claimed(Confluent)].index(True)]

    def values(self, switches: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every switch: those given, which are checked, and the other defaults. The
        switches of components come last; only `check` checks them."""
        values = {name: switch.default for name, switch in self.switches.items()}
        for name, given in sorted(switches.items()):
            if is_of_component(name):
                values[name] = text_of(given)
            elif name in self.switches:
                values[name] = self.switches[name].parse(given)
            else:
                raise UnknownName(
                    f"switch of {self.name}", name, self.switches, see=self._see(name)
                )
        return values

    def check(self, switches: Mapping[str, Any]) -> None:
        """Raise UnknownName or ScenarioError if it cannot be played with these switches."""
        if any(map(is_of_component, self.values(switches))):
            self.world(switches).in_force.check(self.name)
        self.check_keep(switches)

    def check_keep(self, switches: Mapping[str, Any]) -> None:
        """Raise UnknownName if it keeps what is there neither with its guard off nor with it on."""
        if self.keep:
            names = [name for side in self.sides(switches) for name in self.named(side)]
            check_keep(self.keep, names, self.name)

    def sides(self, switches: Mapping[str, Any]) -> list[dict[str, Any]]:
        """These switches with the guard off and with the guard on; if it has none, they alone."""
        if not self.has_guard:
            return [dict(switches)]
        return [{**switches, GUARD: is_on} for is_on in (False, True)]

    def named(self, switches: Mapping[str, Any]) -> list[str]:
        """The actors and the objects, by their keys, that its World begins with."""
        world = self.world(switches)
        return [*world.table.roles, *(entry.key for entry in world.store.snapshot(""))]

    def _see(self, switch: str) -> str:
        """A hint for an unknown switch: its full name, if a component has one of that name."""
        world = World(self.name)
        try:
            self._assemble(world, self.values({}))
        except Exception:  # noqa: BLE001 - the same error is shown when it is played
            return LISTED
        named = " or ".join(f"--switch {name}=…" for name in world.in_force.named(switch))
        return f"say {named}" if named else LISTED

    def _assemble(self, world: World, values: Mapping[str, Any]) -> None:
        with at_place():
            self.build(world, **{name: values[name] for name in self.switches})
        if limits := limits_in(values):
            world.limit(**limits)

    def _turns_of_calm_run(self, values: dict[str, Any]) -> int:
        key = repr(sorted(values.items()))
        if key not in self._calm_turns:
            world = World(self.name, values)
            self._assemble(world, values)
            self._calm_turns[key] = world.run(Calm(), driver="direct").turns
        return self._calm_turns[key]


def _shown(value: Any) -> Any:
    return ("on" if value else "off") if isinstance(value, bool) else value


def play_runs(
    scenario: Scenario,
    chooser: Chooser,
    look: Callable[[World], bool],
    *,
    runs_max: int,
    switches: Mapping[str, Any] | None = None,
    faults: Sequence[Fault] = (),
    driver: str = "trio",
    keep: bool = False,
) -> int:
    """Play up to `runs_max` Runs of a scenario in one session, numbered from 0. `look` is called
    with each World after its Run, and returns whether to go on. Returns how many were played."""
    played = 0

    def worlds() -> Iterator[World]:
        nonlocal played
        for number in range(runs_max):
            world = scenario.world(switches, faults=faults)
            if not world.prepare(chooser, trace=Trace({}, keep=keep), number=number):
                return
            yield world
            played += 1
            if not look(world):
                return

    with collected_between():
        play_all(worlds(), driver=driver)
    return played


def of(build: Callable[..., None], name: str = "") -> Scenario:
    """The Scenario that a function stands for; its keyword arguments are the switches."""
    signature = inspect.signature(build)
    positional = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if [p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in positional] != [False]:
        raise ScenarioError(
            f"{build.__module__}:{build.__qualname__}{signature} is no scenario: expected one "
            "World and keyword switches.\nNext: write it as `def name(world, *, guard=False)`."
        )
    if inspect.iscoroutinefunction(build) or inspect.isgeneratorfunction(build):
        raise ScenarioError(
            f"{build.__module__}:{build.__qualname__} assembles nothing when it is called: "
            "expected a plain function.\n"
            "Next: write it as `def`, without `async` and `yield`; it is the actors that await."
        )
    switches = {}
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        default = parameter.default
        if parameter.name == PROFILE:
            raise ScenarioError(
                f"{build.__module__}:{build.__qualname__}: the switch 'profile' is that of all "
                "components of its World.\nNext: call it something else."
            )
        if type(default) not in (bool, int, str):
            raise ScenarioError(
                f"{build.__module__}:{build.__qualname__}: the switch {parameter.name!r} needs a "
                "default that is True, False, a whole number or a string.\n"
                f"Next: write `{parameter.name}=False`."
            )
        switches[parameter.name] = Switch(parameter.name, default, type(default))
    name = name or f"{build.__module__}:{build.__qualname__}"
    return Scenario(name, build, switches, kept_by(build))


def known() -> list[Scenario]:
    """The scenarios with short names, in order; the levels of `testbed learn` are not among them,
    though each is found by its name."""
    shelved = (name for name, module in _shelf().items() if not module.startswith(f"{LEVELS}."))
    return [_short(name) for name in sorted(shelved)]


def find(name: str) -> Scenario:
    """The scenario with that short name, or at that `module:function` or `FILE.py:function`."""
    folder, module = in_file(name)
    if folder:
        return _in_folder(folder, module, name.rpartition(":")[0])
    if ":" in name:
        return of(_function(name), name)
    if name not in _shelf():
        see = "testbed list, or name one of your own as FILE.py:function"
        raise UnknownName("scenario", name, [each.name for each in known()], see=see)
    return _short(name)


def _in_folder(folder: str, name: str, file: str) -> Scenario:
    import_first_from(folder)
    origin = getattr(imported(name), "__file__", None) or "a part of Python"
    if not Path(origin).exists() or not Path(origin).samefile(file):
        raise ScenarioError(
            f"{file}: another module of that name comes first, {origin}.\n"
            "Next: give the file another name."
        )
    return of(_function(name), name)


def _short(name: str) -> Scenario:
    return of(_function(f"{_shelf()[name]}:{name}"), name)


@cache
def _shelf() -> Mapping[str, str]:
    """The module of each scenario that comes along, by its short name: it stands in the package, or
    in a room of it."""
    # The rooms are not imported: one of them brings a whole cluster along.
    found, packages = {}, [(PACKAGE, [*our_scenarios().__path__])]
    for package, folders in packages:
        for info in pkgutil.iter_modules(folders):
            module = f"{package}.{info.name}"
            if not info.ispkg:
                found[info.name] = module
            elif module == LEVELS and os.environ.get(OWN_LEVELS):
                packages.append((module, [*levels_package().__path__]))
            elif package == PACKAGE:
                packages.append((module, [str(Path(each, info.name)) for each in folders]))
    return found


def _function(name: str) -> Callable[..., None]:
    found = standing_at(name)
    if not inspect.isfunction(found):
        raise ScenarioError(
            f"{name} is no scenario: expected a function of a World, found {type(found).__name__} "
            f"{repr(found)[:60]}.\nNext: write it as `def name(world, *, guard=False)`."
        )
    return found
