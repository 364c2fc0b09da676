"""InForce: what the switches of every component of a World are, by what its user and its code say.

A switch is named `component.name`, for all of a make, or `actor.name`, for one; `profile` alone
names that of all. What is said of one goes before what is said of all of its make; a switch before
a profile, whoever names that; and what the user says before what the scenario tells a constructor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from testbed.errors import ScenarioError, UnknownName
from testbed.switches import PROFILE, USUAL, Component

ALL = ""
"""Whom `profile` is said of."""


def is_of_component(name: str) -> bool:
    """Whether a switch of that name is a component's, and not the scenario's own."""
    return "." in name or name == PROFILE


class InForce:
    """Knows what the user has said, and works out what holds for each part of a World."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given: dict[str, dict[str, str]] = {}
        """By whom it is said of."""
        for name in filter(is_of_component, given):
            whose, _, switch = name.rpartition(".")
            self._given.setdefault(whose, {})[switch] = given[name]
        self._parts: dict[str, Component] = {}
        """By name, every actor and Endpoint that has switches, also those that are left out."""
        self._flat: dict[str, dict[str, str]] = {}
        """What holds for each that is not left out, in order."""

    def of(
        self, name: str, component: Component, told: Mapping[str, str], *, is_out: bool = False
    ) -> Any:
        """What holds for that part, whose constructor was told so; UnknownName, ScenarioError."""
        self._parts[name] = component
        own, make = self._given.get(name, {}), self._given.get(component.name, {})
        all_of_them = self._given.get(ALL, {}).get(PROFILE, "")
        if all_of_them not in component.known_profiles:
            all_of_them = ""
        said = {**told, **make, **own}
        profile = said.pop(PROFILE, "")
        if PROFILE not in own and PROFILE not in make:
            profile = all_of_them or profile
        switches = component.of(profile, said)
        if not is_out:
            shown = {PROFILE: profile or USUAL, **component.flat(switches)}
            self._flat[name] = shown
        return switches

    # -- what is there --------------------------------------------------------------------------

    def check(self, scenario: str) -> None:
        """UnknownName if what the user has said is of nothing in this World."""
        makes = {component.name: component for component in self._parts.values()}
        for name, component in self._parts.items():
            if makes.get(name, component) is not component:
                raise ScenarioError(
                    f"{name!r} is a {component.name}, and all of another make are called so: "
                    f"`{name}.{PROFILE}` would be said of both.\nNext: give it another name."
                )
        for whose, switches in self._given.items():
            if whose == ALL and PROFILE in switches:
                self._check_profile(switches[PROFILE], scenario)
            elif whose not in makes and whose not in self._parts:
                what = f"part of {scenario} with switches"
                raise UnknownName(what, whose, {*makes, *self._parts}, see="testbed switches")

    def _check_profile(self, profile: str, scenario: str) -> None:
        known = {name for part in self._parts.values() for name in part.known_profiles}
        if profile not in known:
            see = "leave it out, or look for what has switches: testbed switches"
            raise UnknownName(f"profile of any part of {scenario}", profile, known, see=see)

    def named(self, switch: str) -> list[str]:
        """How a switch of that name is called in full: of each make first."""
        makes = dict.fromkeys(part for part in self._parts.values() if switch in part.kinds)
        parts = [name for name, part in self._parts.items() if part in makes]
        return [f"{whose}.{switch}" for whose in dict.fromkeys([*(m.name for m in makes), *parts])]

    # -- what is told of it ---------------------------------------------------------------------

    def flat(self) -> dict[str, str]:
        """All that holds, by full names: of each make, what holds for the first of them; then
        what differs for another. Said by a user, it would hold for all as it does."""
        return dict(self._told())

    def _told(self) -> Iterator[tuple[str, str]]:
        makes: dict[str, list[str]] = {}
        for name in self._flat:
            makes.setdefault(self._parts[name].name, []).append(name)
        for make, names in makes.items():
            first = self._flat[make if make in names else names[0]]
            yield from ((f"{make}.{switch}", value) for switch, value in first.items())
            for name in names:
                for switch, value in self._flat[name].items():
                    if value != first[switch]:
                        yield f"{name}.{switch}", value
