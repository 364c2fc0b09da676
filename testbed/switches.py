"""Switches: how a component behaves where versions of Kubernetes, and users, differ; and profiles.

A component declares its switches in a frozen class, with a typed field for each, and its profiles
as flat mappings. An Actor or an Endpoint names its Component. The World works out which values are
in force for each of them (`in_force.py`), and the Client or the Endpoint holds the result.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Any, ClassVar

import attrs

from testbed.errors import ScenarioError, UnknownName
from testbed.objects.meta import Map

USUAL = "k8s-1.26"
"""The default profile of every component."""
PROFILE = "profile"
"""The switch that names a profile."""
ON, OFF = ("on", "true"), ("off", "false")
"""The words for the two values of a Flag."""
FLAT_MAX = 1_000
"""Of how many switches of a component it is kept what a user would write."""
KIND = "kind"
"""The key under which the metadata of a field holds the Kind of its switch."""
_WHOLE = re.compile(r"-?[0-9]{1,18}")


# -- what a switch may be -------------------------------------------------------------------------


@attrs.frozen
class Kind:
    """What a switch may be: one of some words, a whole number from a minimum on, or either."""

    words: tuple[str, ...] = ()
    least: int | None = None
    """The minimum; None: it cannot be a number."""
    is_open: ClassVar[bool] = False
    """Whether its values can change while the testbed runs, as when a policy is added."""

    def parse(self, text: str) -> Any:
        """The value that `text` stands for; None if it is not valid."""
        if text in self.words:
            return text
        is_number = self.least is not None and _WHOLE.fullmatch(text)
        return int(text) if is_number and int(text) >= (self.least or 0) else None

    def __str__(self) -> str:
        number = [] if self.least is None else [f"a whole number from {self.least}"]
        *most, last = [*self.words, *number]
        return f"{', '.join(most)} or {last}" if most else last


@attrs.frozen
class Flag(Kind):
    """On or off."""

    words: tuple[str, ...] = ("on", "off")

    def parse(self, text: str) -> Any:
        return text in ON if text in ON + OFF else None


def one_of(usual: str, *others: str, least: int | None = None) -> Any:
    """A switch that is one of these words, `usual` by default; with `least`, also a whole number
    from there on."""
    return attrs.field(default=usual, metadata={KIND: Kind((usual, *others), least)})


def on_off(usual: bool) -> Any:
    """A switch that is on or off."""
    return attrs.field(default=usual, metadata={KIND: Flag()})


def whole(usual: int, *, least: int = 0) -> Any:
    """A switch that is a whole number from `least` on."""
    return attrs.field(default=usual, metadata={KIND: Kind((), least)})


def text_of(value: Any) -> str:
    """A value as a user writes it."""
    if isinstance(value, bool) or value in (*ON[1:], *OFF[1:]):
        return "on" if value in (True, *ON) else "off"
    return str(value)


def switch_texts(given: Mapping[str, Any]) -> Map[str]:
    """The switches that a constructor was given, each as a user writes it. What a switch may be is
    looked at where all of them are known, and the error lists it."""
    return Map({name: text_of(value) for name, value in given.items()})


def told(profile: str = "", switches: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The profile and the switches that a constructor was given, as one mapping of texts."""
    texts = {name: text_of(value) for name, value in (switches or {}).items()}
    return {PROFILE: profile, **texts} if profile else texts


# -- a component ----------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Component:
    """What all actors or Endpoints of one make share: the name before their switches, the switches,
    and the profiles."""

    name: str
    """The first part of a switch's full name, as in `scheduler.queue`."""
    switches: type[Any]
    """A frozen attrs class, each field made by `one_of`, `on_off` or `whole`."""
    profiles: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    """By name, the switches that a profile sets to something other than their default."""
    program: str = ""
    """The switch that names another program to run in its place (`policy.part`), if there is
    one."""
    _made: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)
    _flat: dict[Any, Mapping[str, str]] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(self.switches):
            if KIND not in field.metadata:
                raise ScenarioError(
                    f"{self.switches.__qualname__}.{field.name} is no switch of {self.name}: "
                    "expected one_of(…), on_off(…) or whole(…).\n"
                    f'Next: write `{field.name}: str = one_of("usual", "another")`.'
                )
        for profile in self.profiles:
            self.of(profile)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The Kind of each switch, by its name, in order."""
        return {f.name: f.metadata[KIND] for f in attrs.fields(self.switches)}

    @property
    def known_profiles(self) -> tuple[str, ...]:
        """The names of all profiles, the default among them."""
        return tuple(self.profiles) if USUAL in self.profiles else (USUAL, *self.profiles)

    def of(self, profile: str = "", given: Mapping[str, str] | None = None) -> Any:
        """All switches: as the profile sets them, then as `given` does. UnknownName if there is no
        such profile, switch or word; ScenarioError for a bad number."""
        given = given or {}
        key = (profile, *given.items())
        if key in self._made:
            return self._made[key]
        made = self._make(profile or USUAL, given)
        if not any(self.kinds[name].is_open for name in given):
            self._made[key] = made
        return made

    def told(self, told: Mapping[str, str]) -> Any:
        """As `of`, with the profile among the switches."""
        return self.of(told.get(PROFILE, ""), {k: v for k, v in told.items() if k != PROFILE})

    def _make(self, profile: str, given: Mapping[str, str]) -> Any:
        if profile not in self.known_profiles:
            raise UnknownName("profile", profile, self.known_profiles, see=self._see)
        values = {}
        for name, text in {**self.profiles.get(profile, {}), **given}.items():
            if name not in self.kinds:
                raise UnknownName(f"switch of {self.name}", name, self.kinds, see=self._see)
            values[name] = self._value(name, text)
        return self.switches(**values)

    def _value(self, name: str, text: str) -> Any:
        kind = self.kinds[name]
        value = kind.parse(text)
        if value is None and kind.least is None:
            raise UnknownName(f"value of {self.name}.{name}", text, kind.words, see=self._see)
        if value is None:
            usual = getattr(attrs.fields(self.switches), name).default
            raise ScenarioError(
                f"switch {self.name}.{name}={text}: expected {kind}.\n"
                f"Next: leave it out; it is {text_of(usual)} then."
            )
        return value

    @property
    def _see(self) -> str:
        return f"testbed switches {self.name}"

    def flat(self, switches: Any) -> Mapping[str, str]:
        """The value of each switch, by name, as a user writes it."""
        known = self._flat.get(switches)
        if known is None:
            known = {name: text_of(getattr(switches, name)) for name in self.kinds}
            if len(self._flat) < FLAT_MAX:
                self._flat[switches] = known
        return known

    def says(self) -> dict[str, str]:
        """What each switch does: the string beneath its field."""
        tree = ast.parse(dedent(inspect.getsource(self.switches))).body[0]
        return dict(_strings_beneath(tree))


def _strings_beneath(tree: ast.AST) -> Iterator[tuple[str, str]]:
    body = getattr(tree, "body", [])
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())
