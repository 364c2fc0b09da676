"""testbed mutants: checks that the claims find every bug that was put in on purpose."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.playing import parse_switches
from testbed.cli.progress import counting
from testbed.cli.show import EXIT_CODES, JSON, say, say_json
from testbed.errors import ScenarioError, UnknownName
from testbed.search.sharing import shared_out
from testbed.testing.mutant import RUNS_MAX, Hunt, Mutant
from testbed.words import counted

PACKAGE = "actors"
"""The package whose packages are looked through if none is named."""
MODULE, LIST = "mutants", "MUTANTS"
"""The module and the name in which a package has its mutants."""

ELSEWHERE = {"testbed.choosers.complete": "testbed.testing.complete"}
"""Where the mutants of a part are that may not know of any World."""


@click.command("mutants", epilog=f"0 all killed, 1 one survives. {EXIT_CODES}")
@click.argument("packages", nargs=-1, metavar="[PACKAGE...]")
@click.option(
    "--only", "names", multiple=True, metavar="NAME", help="Only this mutant. Repeatable."
)
@click.option("--runs", "runs_max", default=RUNS_MAX, show_default=True,
              type=click.IntRange(1, 1_000_000), help="Runs to play of each, at most.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of the random choices.")
@click.option("--switch", "given", multiple=True, metavar="K=V", help="Set profile=seed, …")
@takes_jobs
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    packages: tuple[str, ...],
    names: tuple[str, ...],
    runs_max: int,
    seed: int,
    given: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
) -> int:
    """Hunt the mutants of each PACKAGE, such as actors.apiserver. A mutant is a part with a bug put
    into it on purpose, and names the claim that must find the bug.

    Plays Runs of each mutant's own World, the calm Run first, until that claim fires. Those of
    testbed.choosers.complete are searches: each must miss a class of Runs. Exits 1 if a mutant
    survives.
    """
    found = [(package, mutant) for package in packages or _packages() for mutant in _of(package)]
    known = [mutant.name for _, mutant in found]
    for name in names:
        if name not in known:
            raise UnknownName("mutant", name, known, see="testbed mutants shows them all")
    hunted = [(package, mutant) for package, mutant in found if not names or mutant.name in names]
    hunts, switches = [], parse_switches(given)

    def found_out(nth: int) -> dict[str, Any]:
        one = hunted[nth][1].hunted(runs_max=runs_max, seed=seed, switches=switches)
        # Without the mutant itself: what assembles its World is code, and stays where it is.
        return {"runs": one.runs, "said": one.said, "others": one.others}

    shared = shared_out(found_out, len(hunted), jobs_of(jobs))
    with counting("mutants") as progress, closing(shared):
        for (package, mutant), fields in zip(hunted, shared, strict=True):
            hunts.append((package, Hunt(mutant, **fields)))
            progress(len(hunts), len(hunted))
    survivors = [(package, one) for package, one in hunts if not one.is_killed]
    if as_json:
        say_json({"runs_max": runs_max, "mutants": [_as_dict(p, one) for p, one in hunts]})
    else:
        _show([one for _, one in hunts])
        for package, one in survivors[:1]:
            words = ["testbed", "mutants", package, "--only", one.mutant.name]
            words += [word for text in given for word in ("--switch", text)]
            say(f"Next: {shlex.join([*words, '--runs', str(runs_max * 10)])}")
    return 1 if survivors else 0


def _packages() -> list[str]:
    """The packages of actors that have mutants."""
    root = import_module(PACKAGE)
    names = [info.name for info in iter_modules(root.__path__, f"{PACKAGE}.") if info.ispkg]
    return [
        name
        for name in sorted(names)
        if any(info.name == MODULE for info in iter_modules(import_module(name).__path__))
    ]


def _of(package: str) -> tuple[Mutant, ...]:
    """The mutants of one package, in the order of its list."""
    package = ELSEWHERE.get(package, package)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = import_module(f"{package}.{MODULE}")
    except ImportError as error:
        raise ScenarioError(
            f"{package} has no mutants: {error}.\n"
            f"Next: write them in {package.replace('.', '/')}/{MODULE}.py, as `{LIST} = (Mutant("
            "…), …)`, or name one of " + ", ".join(_packages())
        ) from error
    listed = getattr(module, LIST, ())
    if not listed or not all(isinstance(each, Mutant) for each in listed):
        raise ScenarioError(
            f"{package}.{MODULE}: expected {LIST}, a tuple of Mutants, found {listed!r}.\n"
            f"Next: end it with `{LIST} = (Mutant(…), …)`."
        )
    return tuple(listed)


def _show(hunts: list[Hunt]) -> None:
    """Print a line for each mutant: its name, what killed it after how many Runs, what is wrong."""
    lines = [["mutant", "killed by", "runs", "what is wrong"]]
    for one in hunts:
        killer = one.mutant.claim if one.is_killed else "nobody"
        lines.append([one.mutant.name, killer, str(one.runs), one.mutant.breaks])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, strict=True)
        say("  ".join(text.ljust(width) for text, width in cells).rstrip())
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
