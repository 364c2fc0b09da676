"""testbed mutants: checks that the claims find every bug that was put in on purpose."""

from __future__ import annotations

import shlex
from typing import Any

import click

from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.mutant_lists import mutants_of, packages_with_mutants
from testbed.cli.output import say
from testbed.cli.playing import parse_switches
from testbed.cli.progress import counted_out
from testbed.cli.show import EXIT_CODES, JSON, say_json, say_table
from testbed.cli.worth import asked_as_dict, asked_of, of_scenarios, of_users_claims, show_asked
from testbed.errors import ScenarioError, UnknownName
from testbed.testing.mutant import RUNS_MAX, Hunt
from testbed.words import counted
from testbed.world.scenario import find
from testbed.world.scenario import known as known_scenarios


@click.command("mutants", epilog=f"0 all killed, 1 one survives. {EXIT_CODES}")
@click.argument("packages", nargs=-1, metavar="[PACKAGE...]")
@click.option(
    "--only", "names", multiple=True, metavar="NAME", help="Only this mutant. Repeatable."
)
@click.option(
    "--runs", "runs_max", default=RUNS_MAX, show_default=True, type=click.IntRange(1, 1_000_000),
    help="Runs of each, at most; 20 with --user.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of the random choices.")
@click.option("--switch", "given", multiple=True, metavar="K=V", help="Set profile=seed, …")
@click.option("--scenario", "scenarios", multiple=True, metavar="NAME",
              help="Only ask what the claims of this scenario notice, or, with --user, only ask "
                   "yours there. Repeatable.")  # fmt: skip
@click.option("--user", metavar="FILE.py:FUNCTION", help="Ask what your own claims find.")
@takes_jobs
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    packages: tuple[str, ...],
    names: tuple[str, ...],
    runs_max: int,
    seed: int,
    given: tuple[str, ...],
    scenarios: tuple[str, ...],
    user: str | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Hunt the mutants of each PACKAGE, such as actors.apiserver. A mutant is a part with a bug put
    into it on purpose, and names the claim that must find the bug.

    Plays Runs of each mutant's own World, the calm Run first, until that claim fires. Those of
    testbed.choosers.complete are searches: each must miss a class of Runs. Without a PACKAGE, each
    scenario that comes along is played with a switch set otherwise, too, its guard first. One whose
    claims notice nothing is vacuous. Exits 1 if a mutant survives, or a scenario is vacuous.

    With --user it hunts with your own claims instead: FUNCTION returns a list of them. It says
    which mistakes each finds, and where it fires though none was put in. All Worlds take minutes;
    --scenario names some for a first look.
    """
    if user is not None:
        _refuse_beside("--user", packages, names, given)
        some = [find(name) for name in scenarios]
        return of_users_claims(user, some, seed, jobs, as_json=as_json)
    if scenarios:
        _refuse_beside("--scenario", packages, names, given)
        vacuous = of_scenarios([find(name) for name in scenarios], runs_max, seed, jobs, as_json)
        return 1 if vacuous else 0
    hunts = hunted(packages, names, parse_switches(given), runs_max, seed, jobs)
    asked = asked_of(known_scenarios(), runs_max, seed, jobs) if not (packages or names) else []
    if as_json:
        told = {"runs_max": runs_max, "mutants": [_as_dict(p, one) for p, one in hunts]}
        say_json({**told, "scenarios": asked_as_dict(asked)} if asked else told)
    else:
        _show([one for _, one in hunts])
        if asked:
            say()
            show_asked(asked)
        _show_next(hunts, given, runs_max)
    is_red = any(not one.is_killed for _, one in hunts) or any(one is None for _, one in asked)
    return 1 if is_red else 0


def hunted(
    packages: tuple[str, ...],
    names: tuple[str, ...],
    switches: dict[str, Any],
    runs_max: int,
    seed: int,
    jobs: int | None,
) -> list[tuple[str, Hunt]]:
    """The mutants of these packages, or of all, each with what became of it."""
    found = [
        (package, mutant)
        for package in packages or packages_with_mutants()
        for mutant in mutants_of(package)
    ]
    known = [mutant.name for _, mutant in found]
    for name in names:
        if name not in known:
            raise UnknownName("mutant", name, known, see="testbed mutants shows them all")
    chosen = [(package, mutant) for package, mutant in found if not names or mutant.name in names]

    def found_out(nth: int) -> dict[str, Any]:
        one = chosen[nth][1].hunted(runs_max=runs_max, seed=seed, switches=switches)
        # Without the mutant itself: what assembles its World is code, and stays where it is.
        return {"runs": one.runs, "said": one.said, "others": one.others}

    found_fields = counted_out("mutants", found_out, len(chosen), jobs_of(jobs))
    return [
        (package, Hunt(mutant, **fields))
        for (package, mutant), fields in zip(chosen, found_fields, strict=True)
    ]


def _show_next(hunts: list[tuple[str, Hunt]], given: tuple[str, ...], runs_max: int) -> None:
    """Print the line that hunts the first survivor on, if there is one."""
    for package, one in hunts:
        if not one.is_killed:
            words = ["testbed", "mutants", package, "--only", one.mutant.name]
            words += [word for text in given for word in ("--switch", text)]
            say(f"Next: {shlex.join([*words, '--runs', str(runs_max * 10)])}")
            return


def _refuse_beside(option: str, *others: tuple[str, ...]) -> None:
    if any(others):
        raise ScenarioError(
            f"{option}: it hunts no mutant, and takes no PACKAGE, --only or --switch beside it.\n"
            "Next: leave them out."
        )


def _show(hunts: list[Hunt]) -> None:
    """Print a line for each mutant: its name, what killed it after how many Runs, what is wrong."""
    lines = [["mutant", "killed by", "runs", "what is wrong"]]
    for one in hunts:
        killer = one.mutant.claim if one.is_killed else "nobody"
        lines.append([one.mutant.name, killer, str(one.runs), one.mutant.breaks])
    say_table(lines)
    killed = sum(one.is_killed for one in hunts)
    say(f"\nKilled {killed} of {len(hunts)}, in {counted(sum(one.runs for one in hunts), 'run')}.")
    for one in hunts:
        if not one.is_killed:
            others = f"; {', '.join(one.others)} fired" if one.others else ""
            say(f"{one.mutant.name} outlives {one.mutant.claim}{others}.")


def _as_dict(package: str, one: Hunt) -> dict[str, Any]:
    """One Hunt as `--json` shows it."""
    mutant = one.mutant
    return {
        "package": package, "mutant": mutant.name, "breaks": mutant.breaks, "claim": mutant.claim,
        "killed": one.is_killed, "said": one.said, "runs": one.runs, "others": list(one.others),
    }  # fmt: skip
