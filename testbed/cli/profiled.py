"""A race file played as each profile has its components: which generations are affected."""

from __future__ import annotations

from typing import Any

from testbed.cli.races import NamedRace
from testbed.cli.show import say, say_json
from testbed.errors import ScenarioError, UnknownName
from testbed.invariant import Verdict
from testbed.races.playing import Played, play
from testbed.races.trust import line_for
from testbed.switches import PROFILE

ALL = "all"


def replay_by_profile(opened: NamedRace, profiles: str, *, as_json: bool) -> int:
    """Play it once as each of these profiles has all components, and say what it comes to."""
    played = {name: _played(opened, name) for name in _asked(opened, profiles)}
    affected = [name for name, each in played.items() if each.verdict.is_violated]
    if as_json:
        told = {name: _as_data(each) for name, each in played.items()}
        say_json({"file": opened.path, "profiles": told, "affected": affected})
        return 0
    width = max(map(len, played))
    for name, each in played.items():
        say(f"{name.ljust(width)}  {_in_words(each)}")
    say(f"\nAffected: {', '.join(affected) or 'none'}.")
    first = next(iter(affected or played))
    more = ("--switch", f"{PROFILE}={first}", "--match")
    say(f"Next: {line_for('replay', opened.path, opened.trust, *more)}")
    return 0


def _asked(opened: NamedRace, profiles: str) -> list[str]:
    known = opened.recipe.world(_switches(opened)).in_force.profiles
    if not known:
        raise ScenarioError(
            f"--profiles {profiles}: nothing in {opened.recipe.name} has profiles.\n"
            f"Next: {line_for('replay', opened.path, opened.trust)}"
        )
    asked = known if profiles == ALL else profiles.split(",")
    for name in asked:
        if name not in known:
            raise UnknownName("profile", name, known, see="--profiles all")
    return asked


def _switches(opened: NamedRace) -> dict[str, Any]:
    """Those under which it is expected to breach a claim, if it is."""
    breaching = (side.switches for side in opened.race.expect if side.violates)
    return {**opened.race.switches, **next(breaching, {})}


def _played(opened: NamedRace, profile: str) -> Played:
    switches = {**_switches(opened), PROFILE: profile}
    return play(opened.race, opened.recipe, switches=switches, keep=False)


def _matched(played: Played) -> int:
    return sum(bool(fate.matched) for fate in played.fates)


def _in_words(played: Played) -> str:
    verdict: Verdict = played.verdict
    said = f"violated  {verdict.violations[0]}" if verdict.is_violated else verdict.outcome
    missed = len(played.fates) - _matched(played)
    return said + (f"  ({missed} of {len(played.fates)} lines matched nothing)" if missed else "")


def _as_data(played: Played) -> dict[str, Any]:
    violations = [violation.invariant for violation in played.verdict.violations]
    matched = {"lines": len(played.fates), "matched": _matched(played)}
    return {"verdict": played.verdict.outcome, "violates": violations, **matched}
