"""Worth, told: which scenarios are vacuous, and which mistakes a user's own claims find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.cli.jobs import jobs_of
from testbed.cli.mutant_lists import mutants_of, packages_with_mutants
from testbed.cli.output import say
from testbed.cli.progress import counted_out
from testbed.cli.show import say_json, say_table
from testbed.testing.mutant import Mutant
from testbed.testing.noticing import Notice, noticed
from testbed.testing.worth import RUNS_MAX, Answered, ask, fired_in, grounds, made
from testbed.words import counted
from testbed.world.scenario import Scenario, known
from testbed.world.users_code import import_first_from, in_file, standing_at

AskedOf = list[tuple[Scenario, Notice | None]]

# -- scenarios ------------------------------------------------------------------------------------


def asked_of(recipes: Sequence[Scenario], runs_max: int, seed: int, jobs: int | None) -> AskedOf:
    """What the claims of each scenario notice first; None if it is vacuous."""

    def one(nth: int) -> Notice | None:
        return noticed(recipes[nth], runs_max=runs_max, seed=seed)

    found = counted_out("scenarios", one, len(recipes), jobs_of(jobs))
    return list(zip(recipes, found, strict=True))


def of_scenarios(
    recipes: Sequence[Scenario], runs_max: int, seed: int, jobs: int | None, as_json: bool
) -> int:
    """Ask them, and tell it; how many are vacuous."""
    asked = asked_of(recipes, runs_max, seed, jobs)
    if as_json:
        say_json({"runs_max": runs_max, "scenarios": asked_as_dict(asked)})
    else:
        show_asked(asked)
    return sum(found is None for _, found in asked)


def asked_as_dict(asked: AskedOf) -> list[dict[str, Any]]:
    """The same as `--json` shows it."""
    return [
        {
            "scenario": recipe.name,
            "is_vacuous": found is None,
            "switch": found and found.switch,
            "claim": found and found.claim,
            "said": found and found.said,
            "runs": found and found.runs,
        }
        for recipe, found in asked
    ]


def show_asked(asked: AskedOf) -> None:
    """Print a line for each scenario: what was set otherwise, and which claim noticed it."""
    rows = [["scenario", "set otherwise", "noticed by", "runs"]]
    for recipe, found in asked:
        told = ["nothing", "nobody", ""]
        if found is not None:
            told = [found.switch, found.claim, str(found.runs)]
        rows.append([recipe.name, *told])
    say_table(rows)
    vacuous = [recipe.name for recipe, found in asked if found is None]
    say(f"\nOf {counted(len(asked), 'scenario')}, {len(vacuous)} vacuous.")
    for name in vacuous:
        say(f"{name} is vacuous: its claims notice nothing that is set otherwise.")


# -- a user's own claims --------------------------------------------------------------------------


def of_users_claims(
    where: str, scenarios: Sequence[Scenario], seed: int, jobs: int | None, *, as_json: bool
) -> int:
    """Ask a user's own claims in the Worlds of these scenarios, or in every World there is, and
    tell it; 1 if one finds nothing, or fires where nothing was put in."""
    folder, name = in_file(where)
    if folder:
        import_first_from(folder)
    claims = standing_at(name)
    names = [each.name for each in made(claims, where)]
    packages = [] if scenarios else packages_with_mutants()
    mutants = [each for package in packages for each in mutants_of(package)]
    places = grounds([each for each in mutants if type(each) is Mutant], scenarios or known())

    def one(nth: int) -> Answered:
        return ask(places[nth], claims, where, runs_max=RUNS_MAX, seed=seed)

    answers = counted_out("worlds", one, len(places), jobs_of(jobs))
    asked = list(zip(places, answers, strict=True))
    kills = {each: fired_in(each, asked, wrong=True) for each in names}
    alarms = {each: fired_in(each, asked, wrong=False) for each in names}
    if as_json:
        told = [{"claim": each, "finds": kills[each], "alarms": alarms[each]} for each in names]
        say_json({"worlds": len(places), "claims": told})
    else:
        _tell(kills, alarms, sum(place.is_wrong for place in places), is_all=not scenarios)
        if not any(alarms.values()):
            right = counted(sum(not place.is_wrong for place in places), "world")
            say(f"\nIn {right} where no mistake was put in, nothing fires.")
    finds_nothing = not scenarios and any(not kills[each] for each in names)
    return 1 if finds_nothing or any(alarms.values()) else 0


def _tell(
    kills: dict[str, dict[str, str]],
    alarms: dict[str, dict[str, str]],
    mistakes: int,
    *,
    is_all: bool,
) -> None:
    rows = [["claim", "finds", "mistakes, for instance"]]
    for name, found in kills.items():
        some = ", ".join(list(found)[:4]) + (", …" if len(found) > 4 else "")
        none = "nothing: it is vacuous" if is_all else "nothing in these"
        rows.append([name, f"{len(found)} of {mistakes}", some or none])
    say_table(rows)
    for name, found in alarms.items():
        for place, said in list(found.items())[:3]:
            say(f"\n{name} fires in {place}, where no mistake was put in: {said}")
        if len(found) > 3:
            say(f"and in {len(found) - 3} more: {', '.join(list(found)[3:])}")
    first = next((place for found in alarms.values() for place in found), "")
    if first:
        say(f"\nNext: see what that World promises: testbed show {first.partition(' ')[0]} --page")
