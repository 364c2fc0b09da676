"""testbed compare: plays a scenario under several settings, and shows what each of them costs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import click

from testbed import policy
from testbed.cli.compared import as_data, bars, legend, markdown, notes, title
from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.limits import takes_limits
from testbed.cli.output import say
from testbed.cli.own import own_policies
from testbed.cli.playing import DRIVER, check_driver, placed
from testbed.cli.progress import counting
from testbed.cli.show import EXIT_CODES, JSON, SCENARIO_PATH, command_line, say_json
from testbed.errors import ScenarioError
from testbed.races.trust import words_for
from testbed.search.comparing.alternatives import Alternative, alternatives_of, two_of
from testbed.search.comparing.comparison import Comparison, PlayedAlternative, compare
from testbed.search.comparing.measure_kinds import measure_kinds, measures_of
from testbed.search.comparing.resampling import RUNS_MIN
from testbed.words import counted
from testbed.world.chooser_by_name import maker_of
from testbed.world.scenario import Scenario, find

RUNS, IMPORTANT_FROM = 30, 1
EACH = f"Runs of each alternative. From {RUNS_MIN} on there are intervals and *."
SEED = "Seed of the first Run; the next has the next."
CHOOSER = "What decides, as of `testbed run`."
COMPARED = "Given several times, it is compared; once, it is for all. Behind a comma, more of them."
IMPORTANT = "The lowest priority of an important pod, of which times are told."
MEASURE = f"Show only this one. Repeatable: {', '.join(measure_kinds())}."
MARKDOWN = "Print a table and the bars as Markdown."


@click.command("compare", epilog=EXIT_CODES)
@click.argument("scenario")
@takes_limits
@click.option("--switch", "switches", multiple=True, metavar="K=V[,K=V]", help=COMPARED)
@click.option("--runs", type=click.IntRange(min=1), default=RUNS, show_default=True, help=EACH)
@click.option("--seed", type=int, default=1, show_default=True, help=SEED)
@click.option("--chooser", default="uniform", show_default=True, help=CHOOSER)
@click.option("--measure", "names", multiple=True, metavar="NAME", help=MEASURE)
@click.option(
    "--important",
    type=int,
    default=IMPORTANT_FROM,
    show_default=True,
    metavar="PRIORITY",
    help=IMPORTANT,
)
@click.option("--driver", default="direct", show_default=True, help=DRIVER)
@click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH)
@own_policies
@click.option("--md", "as_markdown", is_flag=True, help=MARKDOWN)
@takes_jobs
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    scenario: str,
    switches: tuple[str, ...],
    runs: int,
    seed: int,
    chooser: str,
    names: tuple[str, ...],
    important: int,
    driver: str,
    scenario_path: str | None,
    as_markdown: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Play SCENARIO under several settings with the same seeds, and compare what each has cost:
    room that was stolen, pods that died for nothing, how long important ones waited, budgets and
    affinity that were broken, writes, machines. SCENARIO may be your own, as FILE.py:function.

    A switch that is given several times is compared; with several such switches every combination
    is. All that is measured is read from what was written in the Run, so any scenario can be
    compared. Exits 1 if a claim was violated in any Run.

    \b
    testbed compare who_preempts --switch preemptor=scheduler --switch preemptor=kubelet
    testbed compare who_preempts --switch guard=on --switch preemptor=rescheduler \\
      --switch preemptor=rescheduler,scheduler.rescheduler_nominates=on
    """
    named = scenario
    scenario, scenario_path = placed(scenario, scenario_path)
    folders = () if scenario_path is None else (scenario_path,)
    check_driver(driver)
    maker_of(chooser, seed)
    if as_markdown and as_json:
        raise ScenarioError("--md --json: expected one of the two.\nNext: leave one of them out.")
    recipe, measures = find(scenario), measures_of(names)
    named_again = words_for(scenario, folders)
    alternatives = _several(recipe, switches, named_again)
    with counting("runs") as on_run:
        found = compare(
            recipe, alternatives, measures, runs=runs, seed=seed, chooser=chooser, driver=driver,
            important_from=important, on_run=on_run, jobs=jobs_of(jobs),
        )  # fmt: skip
    again = shlex.join([*_words(click.get_current_context(), named), *policy.words()])
    if as_json:
        say_json({**as_data(found), "again": again})
    else:
        _show(found, named_again, as_markdown=as_markdown)
        say(f"Again: {again}")
    outcomes = {outcome for played in found.played for outcome in played.outcomes}
    return 1 if "violated" in outcomes else 3 if "undecided" in outcomes else 0


def _several(
    recipe: Scenario, switches: Sequence[str], named: Sequence[str]
) -> tuple[Alternative, ...]:
    """What is to be compared; a ScenarioError with a line that compares if that is one thing."""
    alternatives = alternatives_of(switches)
    if len(alternatives) > 1:
        return alternatives
    recipe.check(alternatives[0].switches)
    words = [word for text in two_of(recipe, switches) for word in ("--switch", text)]
    again = shlex.join(["testbed", "compare", *named, *words, *policy.words()])
    told = " ".join(f"--switch {text}" for text in switches) or "no --switch"
    raise ScenarioError(
        f"{told}: expected a switch that is given several times, to compare.\nNext: {again}"
    )


def _show(found: Comparison, named: Sequence[str], *, as_markdown: bool) -> None:
    if as_markdown:
        lines = [*markdown(found), ""]
    else:
        lines = [title(found), "", *legend(found), "", *bars(found), *notes(found), ""]
    for line in (*lines, *_ends(found, named)):
        say(line)


def _ends(found: Comparison, named: Sequence[str]) -> Iterator[str]:
    """How the Runs have ended: which claims were violated, with a line to play one of them."""
    if all(set(played.outcomes) == {"held"} for played in found.played):
        yield "Held: every claim, in every run."
        return
    for played in found.played:
        switches = dict(played.alternative.switches)
        for outcome, seeds in _seeds(played).items():
            again = command_line(named, switches, found.chooser, seeds)
            yield f"{outcome} of {played.alternative.name}: {again}"
        for end, count in played.cut.items():
            yield (
                f"Not at rest: {counted(count, 'run')} of {played.alternative.name}, measured up "
                f"to a limit; {end}"
            )


def _seeds(played: PlayedAlternative) -> dict[str, int]:
    """What has gone wrong in Runs of it, each with the seed of the first such Run."""
    violated, undecided = played.outcomes["violated"], played.outcomes["undecided"]
    in_runs = counted(violated, "run")
    found = {f"Violated: {claim}, in {in_runs}": n for claim, n in played.breached.items()}
    for end, seed in played.ends.items():
        found[f"Undecided: {end}, in {counted(undecided, 'run')}"] = seed
    return found


def _words(context: click.Context, named: str) -> list[str]:
    """The command line again, with what it was given."""
    words = ["testbed", "compare", named]
    for option in context.command.params:
        name = option.name or ""
        value = context.params.get(name)
        if name == "scenario" or value in (option.default, None, ()) or value is False:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words += [option.opts[-1]] if each is True else [option.opts[-1], str(each)]
    return words
