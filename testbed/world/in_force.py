"""InForce: the values of all switches of a World's components, from its user and its scenario.

The user names a switch `component.switch`, for all actors of that component, or `actor.switch`, for
one of them; `profile` alone sets the profile of all. `limit.until_ms` is a limit of the World
(`budget.py`). Of two settings this one wins:

1. a switch over a profile, wherever either is set;
2. the user's over what the scenario gives to a constructor;
3. one for a single actor over one for all actors of its component.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.errors import ScenarioError, UnknownName
from testbed.switches import PROFILE, USUAL, Component
from testbed.world.budget import LIMIT

ALL = ""
"""Stands for the part of a name that `profile` alone does not have."""


def is_of_component(name: str) -> bool:
    """Whether a switch of that name belongs to a component, not to the scenario itself."""
    return "." in name or name == PROFILE


class InForce:
    """Holds what the user has set, and works out the switches of each part of a World."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given: dict[str, dict[str, str]] = {}
        """What the user has set, by the name of a component or part, then by switch."""
        for name in filter(is_of_component, given):
            owner, _, switch = name.rpartition(".")
            self._given.setdefault(owner, {})[switch] = given[name]
        self._parts: dict[str, Component] = {}
        """The component of every actor and Endpoint with switches, also of those left out."""
        self._flat: dict[str, dict[str, str]] = {}
        """The switches of every part that is not left out, in order."""

    def of(
        self, name: str, component: Component, told: Mapping[str, str], *, is_out: bool = False
    ) -> Any:
        """The switches of that part. `told` are those that its constructor was given.

        Raises UnknownName or ScenarioError if the user has set what the component does not have.
        """
        self._parts[name] = component
        own, make = self._given.get(name, {}), self._given.get(component.name, {})
        all_of_them = self._given.get(ALL, {}).get(PROFILE, "")
        if all_of_them not in component.known_profiles:
            all_of_them = ""
        given = {**told, **make, **own}
        profile = given.pop(PROFILE, "")
        if PROFILE not in own and PROFILE not in make:
            profile = all_of_them or profile
        switches = component.of(profile, given)
        if not is_out:
            shown = {PROFILE: profile or USUAL, **component.flat(switches)}
            self._flat[name] = shown
        return switches

    # -- what is there --------------------------------------------------------------------------

    def check(self, scenario: str) -> None:
        """Raise UnknownName if the user has set a switch of something that is not in this World."""
        makes = {component.name: component for component in self._parts.values()}
        for name, component in self._parts.items():
            if makes.get(name, component).name != component.name:
                raise ScenarioError(
                    f"{name!r} is a {component.name}, and all of another make are called so: "
                    f"`{name}.{PROFILE}` would be said of both.\nNext: give it another name."
                )
        for owner, switches in self._given.items():
            if owner == ALL and PROFILE in switches:
                self._check_profile(switches[PROFILE], scenario)
            elif owner != LIMIT and owner not in makes and owner not in self._parts:
                what = f"part of {scenario} with switches"
                raise UnknownName(what, owner, {*makes, *self._parts}, see="testbed switches")

    @property
    def components(self) -> list[Component]:
        """The components that its parts are of, each once, in order."""
        return list(dict.fromkeys(self._parts.values()))

    @property
    def profiles(self) -> list[str]:
        """The names of the profiles that some part has, in order."""
        return sorted({name for part in self._parts.values() for name in part.known_profiles})

    def _check_profile(self, profile: str, scenario: str) -> None:
        if profile not in self.profiles:
            see = "leave it out, or look for what has switches: testbed switches"
            raise UnknownName(f"profile of any part of {scenario}", profile, self.profiles, see=see)

    def named(self, switch: str) -> list[str]:
        """The full names of a switch: those for all actors of a component first."""
        makes = dict.fromkeys(part for part in self._parts.values() if switch in part.kinds)
        parts = [name for name, part in self._parts.items() if part in makes]
        return [f"{owner}.{switch}" for owner in dict.fromkeys([*(m.name for m in makes), *parts])]

    def differing(self, other: InForce) -> dict[tuple[str, str, str], list[str]]:
        """The parts that are set otherwise there: by switch, its value here and its value there."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for part, own in self._flat.items():
            theirs = other._flat.get(part, own)
            for switch, value in own.items():
                if theirs.get(switch, value) != value:
                    found.setdefault((switch, value, theirs[switch]), []).append(part)
        return found

    def as_profile(self, part: str, switch: str) -> str:
        """The value that the switch has in the profile of that part, whatever else was said."""
        component = self._parts[part]
        return component.flat(component.of(self._flat[part][PROFILE])).get(switch, "")

    def says(self, part: str, switch: str) -> str:
        """What a switch of that part does, as its component says; empty for the profile."""
        return self._parts[part].says().get(switch, "")

    # -- what the trace says --------------------------------------------------------------------

    def flat(self) -> dict[str, str]:
        """All switches by full names: for each component those of its first part, then those in
        which another part differs. Given to another World, they have the same effect."""
        found: dict[str, str] = {}
        makes: dict[str, list[str]] = {}
        for name in self._flat:
            makes.setdefault(self._parts[name].name, []).append(name)
        for make, names in makes.items():
            first = self._flat[make if make in names else names[0]]
            for switch, value in first.items():
                found[f"{make}.{switch}"] = value
            for name in names:
                own = self._flat[name]
                if own == first:
                    continue
                for switch, value in own.items():
                    if value != first[switch]:
                        found[f"{name}.{switch}"] = value
        return found
