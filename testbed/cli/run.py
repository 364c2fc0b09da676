"""testbed run: one Run of a scenario."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import click

from testbed.chooser import Chooser
from testbed.chooser_kinds import chooser_of, known
from testbed.cli.playing import check_driver, how_to_play, parse_switches, same_again, sink
from testbed.cli.show import (
    EXIT_CODES,
    as_dict,
    command_line,
    exit_code,
    replay_line,
    say,
    say_json,
)
from testbed.errors import ScenarioError
from testbed.scenario import find, standing_at
from testbed.trace import Trace
from testbed.world import World


@click.command("run", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--seed", type=int, help="Of the random choices; without it the run is calm.")
@click.option("--chooser", help=f"Who decides: {', '.join(known())}, or your own module:Class.")
@click.option("--switch", "switches", multiple=True, metavar="K=V", help="Say guard=on, …")
@click.option("--trace", "trace_file", metavar="FILE", help="Record the run here.")
@how_to_play
def command(
    scenario: str,
    seed: int | None,
    chooser: str | None,
    switches: tuple[str, ...],
    trace_file: str | None,
    driver: str,
    audit: bool,
    twice: bool,
    as_json: bool,
) -> int:
    """Play one Run of SCENARIO: a name from `testbed list`, or module:function.

    \b
    testbed run lost_update                       the calm run
    testbed run lost_update --seed 1              another one
    testbed run lost_update --seed 1 --switch guard=on
    """
    recipe = find(scenario)
    name = chooser or ("calm" if seed is None else "uniform")
    decides = _chooser(name, seed or 0)
    check_driver(driver)
    given = parse_switches(switches)
    recipe.values(given)
    again = command_line(scenario, given, name, seed, driver, audit=audit)

    def play(trace: Trace) -> World:
        world = recipe.world(given, audit=audit)
        world.run(decides(), driver=driver, trace=trace)
        return world

    with sink(trace_file) as file:
        world = play(Trace({}, keep=True, sink=file))
    verdict = world.verdict
    assert verdict is not None
    if twice:
        same_again(play, list(world.trace.lines()), again)
    if as_json:
        more = {"scenario": recipe.name, "switches": world.switches, "trace": trace_file}
        say_json(as_dict(verdict, **more, again=again))
        return exit_code(verdict)
    if verdict.is_violated:
        from testbed.explain import story

        say(story(world.trace, verdict) + "\n")
    say(str(verdict))
    recorded = trace_file and replay_line(trace_file, recipe.name)
    say(f"Recorded: {recorded}" if recorded else f"Again: {again}")
    return exit_code(verdict)


def _chooser(name: str, seed: int) -> Callable[[], Chooser]:
    """What makes the Chooser: one of ours, or one of the user's own, which may take a seed."""
    if ":" not in name:
        chooser_of(name, seed)
        return lambda: chooser_of(name, seed)
    made = standing_at(name)
    if not inspect.isclass(made) or not issubclass(made, Chooser):
        raise ScenarioError(
            f"--chooser {name} is no chooser: expected a class, found {repr(made)[:60]}.\n"
            f"Next: write it as `class {name.partition(':')[2]}(testbed.Chooser)`."
        )
    takes = inspect.signature(made)
    given = {"seed": seed} if "seed" in takes.parameters else {}
    try:
        takes.bind(**given)
    except TypeError as error:
        raise ScenarioError(
            f"--chooser {name}{takes}: {error}; expected one that is made from nothing, or from "
            "a `seed`.\nNext: give its other arguments defaults."
        ) from error
    return lambda: made(**given)
