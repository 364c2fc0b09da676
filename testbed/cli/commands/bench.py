"""testbed bench: measures what the testbed does in a second, on this machine."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import click

from testbed.cli.jobs import JOBS, JOBS_MAX, jobs_of
from testbed.cli.output import say, tell
from testbed.cli.progress import Progress
from testbed.cli.show import EXIT_CODES, JSON, say_json, say_table
from testbed.errors import ScenarioError, UnknownName
from testbed.turns.session import DRIVERS
from testbed.words import counted

BENCHES = {
    "turns": (),
    "store": (),
    "api": (),
    "door": (),
    "schedule": ("nodes", "pods"),
    "preempt": ("nodes", "pods"),
    "autoscale": ("nodes", "pods"),
    "cluster": ("nodes", "pods"),
    "runs": ("runs", "scenario", "profile"),
    "maps": ("scenario",),
    "grade": (),
    "compare": ("runs",),
    "determinism": ("runs", "seed", "driver", "crashes", "scenario"),
    "pairs": ("seeds", "runs_max", "scenario", "jobs"),
    "false-alarms": ("runs", "seeds", "scenario", "jobs"),
    "search": ("seeds", "runs_max", "scenario", "chooser", "shrinks", "jobs"),
}
"""Each benchmark, and the options it takes."""
EXTRAS = {"door": ("h11", "attach")}
"""By benchmark, the package that only an extra brings, and that extra."""


def _sizes(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Whole numbers from 1, separated by commas, each once."""
    words = [] if value is None else value.split(",")
    for nth, word in enumerate(words):
        if not (word.isascii() and word.isdigit() and int(word)) or word in words[:nth]:
            raise ScenarioError(
                f"--nodes {value}: {word!r} is out of place; expected how many nodes, whole "
                "numbers from 1 with commas between, each once.\n"
                "Next: testbed bench schedule --nodes 100,1000"
            )
    return tuple(map(int, words)) or None


@click.command("bench", epilog=EXIT_CODES)
@click.argument("name", required=False)
@click.option(
    "--runs", type=click.IntRange(min=1), help="Runs of each scenario (runs, compare, …)."
)
@click.option("--seed", type=int, help="Seed of the choices (determinism).")
@click.option("--driver", help=f"How actors are run (determinism): {', '.join(DRIVERS)}.")
@click.option("--crashes", type=click.IntRange(min=0), help="The most in each Run (determinism).")
@click.option(
    "--seeds", type=click.IntRange(min=1), help="Seeds for each (pairs, false-alarms, search)."
)
@click.option(
    "--runs-max", type=click.IntRange(min=1), help="The most Runs of a trial (pairs, search)."
)
@click.option("--scenario", help="Only this one (runs, pairs, search, …).")
@click.option("--chooser", help="Only this chooser (search).")
@click.option("--profile", is_flag=True, default=None, help="Where a Run's time goes (runs).")
@click.option("--shrinks", type=click.IntRange(min=0), help="Races shrunk by chooser (search).")
@click.option("--jobs", type=click.IntRange(1, JOBS_MAX), help=f"{JOBS} (pairs, search, …)")
@click.option("--nodes", callback=_sizes, help="Sizes, such as 100,1000; one for cluster.")
@click.option("--pods", type=click.IntRange(min=1), help="Pods (schedule, preempt, cluster).")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(name: str | None, as_json: bool, **options: Any) -> int:
    """Measure NAME, or everything: turns, store, api, door, schedule, preempt, autoscale, cluster,
    runs, maps, grade, compare, determinism, pairs, false-alarms, search.

    \b
    turns         turns per second, also relative to plain trio checkpoints
    store         writes, reads, deliveries per second; growth from 1,000 to 100,000 objects
    api           requests per second by verb, deliveries; growth from 1,000 to 50,000 pods
    door          the same by a real program over HTTP, and lines to 200 watches; each also
                  relative to an actor that asks in process
    schedule      pods placed per second: by the scheduling cycle alone, by the whole World
    preempt       the same for pods that must preempt others on full nodes
    autoscale     passes of the autoscaler per second, by the size of its cluster
    cluster       a full life of a cluster: its cost by turn, its memory, how both grow
    runs          whole Runs of each scenario per second, also relative to plain trio
                  checkpoints; with --profile, in which parts of the testbed their time goes
    maps          states of complete maps per second, relative to plain Runs of the same World
    grade         answers marked per second, relative to processes that do nothing
    compare       Runs per second with all measures of each, relative to playing alone
    determinism   one digest of the traces of many Runs, to compare between processes
    pairs         Runs and seconds until a search has the race of each pair, and how small it is
    false-alarms  whether a claim fires with the guard on, or in a control or lesson: in many Runs
    search        Runs to the first violation of each race, for each chooser with a seed
    """
    if name is not None and name not in BENCHES:
        raise UnknownName("benchmark", name, BENCHES, see="testbed bench --help")
    driver = options["driver"]
    if driver is not None and driver not in DRIVERS:
        raise UnknownName("driver", driver, DRIVERS, see="--driver trio, or say nothing")
    given = {option: value for option, value in options.items() if value is not None}
    if name:
        _refuse_others(name, given)
    results = {
        bench: _measured(bench, {o: value for o, value in given.items() if o in BENCHES[bench]})
        for bench in ([name] if name else measurable())
    }
    if as_json:
        say_json(results[name] if name else results)
        return 0
    for bench, figures in results.items():
        say(bench)
        PRINTED.get(bench, _print)(figures, "  ")
    return 0


def measurable() -> list[str]:
    """All benchmarks, but for those of which a package is missing: that is told."""
    left_out = {
        bench: extra for bench, (needs, extra) in EXTRAS.items() if find_spec(needs) is None
    }
    for bench, extra in left_out.items():
        text = f"left out: {bench}. Next: pip install 'multisched-testbed[{extra}]'"
        tell(text)
    return [bench for bench in BENCHES if bench not in left_out]


def _refuse_others(name: str, given: dict[str, Any]) -> None:
    for option in given:
        if option not in BENCHES[name]:
            takers = ", ".join(bench for bench, takes in BENCHES.items() if option in takes)
            raise ScenarioError(
                f"--{option.replace('_', '-')}: the benchmark {name!r} does not take it; expected "
                f"with {takers}.\nNext: testbed bench {name}"
            )


def _measured(bench: str, given: dict[str, Any]) -> dict[str, Any]:
    module = import_module(f"testbed.cli.benches.{bench.replace('-', '_')}")
    if "jobs" in BENCHES[bench]:
        given = {**given, "jobs": jobs_of(given.get("jobs"))}
    tell(f"measuring {bench} …")
    figures: dict[str, Any]
    if "tell" in signature(module.measure).parameters:
        progress = Progress()
        try:
            figures = module.measure(**given, tell=lambda line: progress.say(line.__str__))
        finally:
            progress.clear()
        return figures
    length = getattr(module, "length", None)
    if length is None:
        figures = module.measure(**given)
        return figures
    hidden = not sys.stderr.isatty()
    with click.progressbar(
        length=length(**given), label=bench, file=sys.stderr, hidden=hidden
    ) as bar:
        figures = module.measure(**given, done=bar.update)
    return figures


def _print(figures: dict[str, Any], indent: str) -> None:
    width = max(len(name) for name in figures)
    for name, value in figures.items():
        if isinstance(value, dict):
            say(f"{indent}{name}")
            _print(value, indent + "  ")
        else:
            shown = f"{value:,}" if isinstance(value, int) and value > 9999 else str(value)
            say(f"{indent}{name.ljust(width)}  {shown}")


RUNS_HEAD = (
    "scenario",
    "runs/s",
    "turns/s",
    "turns/checkpoint",
    "checkpoints/run",
    "runs/s direct",
)


def _print_runs(figures: dict[str, Any], indent: str) -> None:
    """Print a line for each scenario; or the profile of each, with a line for each room."""
    if any("rooms" in found for found in figures.values()):
        for scenario, found in figures.items():
            whole = (
                f"{found['us_per_turn']:.1f}",
                "100.0",
                f"{scenario}, {counted(found['runs'], 'run')}",
            )
            rooms = [
                (f"{room['us_per_turn']:.2f}", f"{room['percent']:.1f}", name)
                for name, room in found["rooms"].items()
            ]
            say_table([("µs/turn", "%", ""), whole, *rooms], indent)
        return
    rows: list[tuple[str, ...]] = [RUNS_HEAD]
    for scenario, found in figures.items():
        rates = (
            found["runs_per_s"],
            found["turns_per_s"],
            found["ratio"],
            found["checkpoints_per_run"],
            found["runs_direct_driver_per_s"],
        )
        rows.append((scenario, *(f"{rate:,}" for rate in rates)))
    say_table(rows, indent)


HEAD = ("scenario", "chooser", "median", "95 in 100", "censored", "shrunk", "runs/s")


def _print_search(figures: dict[str, Any], indent: str) -> None:
    """Print a line for each race and Chooser; `more` stands for more than all Runs. Below it come
    the shrunk races, and which Choosers found each."""
    rows = [HEAD]
    for race, by_chooser in figures.items():
        for name, found in by_chooser.items():
            if name == "shrinking":
                continue
            if name == "alike":
                rows.append((race, "(all alike)", _runs(found, "?"), "", "", "", ""))
                continue
            between = f"{_runs(found['from'])} to {_runs(found['to'])}"
            censored = f"{found['censored']} of {found['of']}"
            shrunk, rate = _runs(found["shrunk"], "-"), str(found["runs_per_s"])
            rows.append((race, name, _runs(found["median"]), between, censored, shrunk, rate))
    say_table(rows, indent)
    for race, by_chooser in figures.items():
        _print_shrunk(race, by_chooser, indent)


def _print_shrunk(race: str, by_chooser: dict[str, Any], indent: str) -> None:
    """Print what it took to shrink the races of a scenario, and each different one that came of it,
    with the Choosers that found it."""
    met: dict[tuple[str, ...], list[str]] = {}
    for name, found in by_chooser.items():
        if name not in ("alike", "shrinking") and found["shrunk"] is not None:
            met.setdefault(tuple(found["lines"]), []).append(name)
    took = by_chooser["shrinking"]
    if took["races"]:
        runs = counted(took["runs"], "run")
        say(
            f"{indent}{race}, to shrink: {runs} and {took['cpu_s']} s in the median, "
            f"at most {took['runs_at_most']} and {took['cpu_s_at_most']}, of {took['races']}"
        )
    for lines, names in met.items():
        say(f"{indent}{race}, shrunk, by {', '.join(names)}:")
        for line in lines or ("no deviation: the calm run is violated",):
            say(f"{indent}  {line}")


def _runs(number: int | None, unknown: str = "more") -> str:
    return unknown if number is None else str(number)


PAIRS_HEAD = (
    "pair", "found", "runs", "at most", "CPU s", "at most", "lines", "faults", "window",
)  # fmt: skip


def _print_pairs(figures: dict[str, Any], indent: str) -> None:
    """Print a line for each pair; `more` stands for more than all Runs."""
    rows: list[tuple[str, ...]] = [PAIRS_HEAD]
    for name, found in figures.items():
        window = found["window_ms"]
        rows.append(
            (
                name,
                f"{found['found']} of {found['of']}",
                _runs(found["runs"]),
                _runs(found["runs_at_most"]),
                str(found["cpu_s"]),
                str(found["cpu_s_at_most"]),
                _runs(found["deviations_at_most"], "-"),
                _runs(found["faults_at_most"], "-"),
                "-" if window is None else f"{window:,} ms",
            )
        )
    say_table(rows, indent)


def _print_false_alarms(figures: dict[str, Any], indent: str) -> None:
    """Print a line for each scenario, and what has fired."""
    rows: list[tuple[str, ...]] = [("scenario", "runs", "undecided", "alarms", "CPU s")]
    for name, found in figures.items():
        counts = (found[key] for key in ("runs", "undecided", "alarms"))
        rows.append((name, *(f"{count:,}" for count in counts), str(found["cpu_s"])))
    say_table(rows, indent)
    for name, found in figures.items():
        if found["first_alarm"] is not None and name != "all":
            say(f"{indent}{name}: {found['first_alarm']}")


PRINTED = {
    "false-alarms": _print_false_alarms,
    "runs": _print_runs,
    "pairs": _print_pairs,
    "search": _print_search,
}
"""The benchmarks with a table of their own."""
