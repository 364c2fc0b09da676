"""A race file played as each profile has its components: which generations are affected.

A scenario may set a switch to what no profile has, such as a bug of an older Kubernetes, and its
guard sets it back. Then the race happens under any profile, and says nothing of one that has the
switch otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.cli.output import say
from testbed.cli.races import NamedRace
from testbed.cli.show import say_json
from testbed.errors import ScenarioError, UnknownName
from testbed.races.playing import Played, play
from testbed.races.trust import line_for
from testbed.switches import PROFILE
from testbed.turns.verdict import Violation
from testbed.world.scenario import GUARD

ALL = "all"


def replay_by_profile(
    opened: NamedRace, profiles: str, given: Mapping[str, Any], *, as_json: bool
) -> int:
    """Play it once as each of these profiles has all components, with the switches that are given,
    and say what it comes to. Affected are those that breach the claim which the file is about."""
    switches = {**_switches(opened), **given}
    played = {
        name: play(opened.race, opened.recipe, switches={**switches, PROFILE: name}, keep=False)
        for name in _asked(opened, profiles, switches)
    }
    claim = opened.race.breaks
    mended = {
        name: _mended(opened, each, {**switches, PROFILE: name}) for name, each in played.items()
    }
    affected = [name for name, each in played.items() if _breach(each, claim) and not mended[name]]
    if as_json:
        told = {name: {**_as_data(each), "mended": mended[name]} for name, each in played.items()}
        say_json({"file": opened.path, "profiles": told, "affected": affected})
        return 0
    width = max(map(len, played))
    for name, each in played.items():
        say(f"{name.ljust(width)}  {_in_words(each, claim)}")
        if mended[name] and _breach(each, claim):
            is_so = f"it has {mended[name]}, which the scenario sets otherwise"
            say(f"{' ' * width}  not affected: {is_so}")
    say(f"\nAffected: {', '.join(affected) or 'none'}.")
    first = next(iter(affected or played))
    more = ("--switch", f"{PROFILE}={first}", "--match")
    say(f"Next: {line_for('replay', opened.path, opened.trust, *more)}")
    return 0


def _asked(opened: NamedRace, profiles: str, switches: Mapping[str, Any]) -> list[str]:
    known = opened.recipe.world(switches).in_force.profiles
    if not known:
        raise ScenarioError(
            f"--profiles {profiles}: nothing in {opened.recipe.name} has profiles.\n"
            f"Next: {line_for('replay', opened.path, opened.trust)}"
        )
    asked = known if profiles == ALL else [name.strip() for name in profiles.split(",")]
    for name in asked:
        if name not in known:
            raise UnknownName("profile", name, known, see="--profiles all")
    return asked


def _switches(opened: NamedRace) -> dict[str, Any]:
    """Those under which it is expected to breach a claim, if it is."""
    breaching = (side.switches for side in opened.race.expect if side.violates)
    return {**opened.race.switches, **next(breaching, {})}


def _mended(opened: NamedRace, played: Played, switches: Mapping[str, Any]) -> str:
    """What the profile has in place of a switch that the scenario sets, and that its guard sets
    back; empty if there is none."""
    if not opened.recipe.has_guard:
        return ""
    here = played.world.in_force
    guarded = opened.recipe.world({**switches, GUARD: "on"}).in_force
    for (switch, value, _), parts in here.differing(guarded).items():
        usual = here.as_profile(parts[0], switch)
        if switch != PROFILE and usual != value:
            return f"{switch}={usual}"
    return ""


def _breach(played: Played, claim: str) -> Violation | None:
    """The first breach of that claim; of any, if the file is about none."""
    return next((v for v in played.verdict.violations if claim in ("", v.invariant)), None)


def _in_words(played: Played, claim: str) -> str:
    verdict = played.verdict
    if breach := _breach(played, claim):
        said = f"violated  {breach.invariant}: {breach.said}"
    elif verdict.is_violated:
        said = f"another claim is breached: {verdict.violations[0].invariant}"
    else:
        said = verdict.outcome
    return said + missed(played)


def missed(played: Played) -> str:
    """How many lines matched nothing there, in words; empty if each matched something."""
    none, of = len(played.unmatched), len(played.fates)
    return f" ({none} of {of} lines matched nothing there)" if none else ""


def _as_data(played: Played) -> dict[str, Any]:
    violations = [violation.invariant for violation in played.verdict.violations]
    of = len(played.fates)
    matched = {"lines": of, "matched": of - len(played.unmatched)}
    return {"verdict": played.verdict.outcome, "violates": violations, **matched}
