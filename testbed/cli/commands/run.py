"""testbed run: plays one Run of a scenario."""

from __future__ import annotations

import sys

import click

from testbed.cli.own import own_policies
from testbed.cli.playing import check_driver, how_to_play, parse_switches, same_again, sink
from testbed.cli.show import (
    EXIT_CODES,
    SCENARIO_PATH,
    SWITCH,
    as_dict,
    command_line,
    exit_code,
    say,
    say_json,
)
from testbed.races.trust import folders_of, line_for, trust_in
from testbed.turns.trace import Trace
from testbed.world.chooser_by_name import maker_of
from testbed.world.chooser_kinds import known
from testbed.world.scenario import find
from testbed.world.world import World


@click.command("run", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--seed", type=int, help="Seed of the random choices; without it, the Run is calm.")
@click.option("--chooser", help=f"What decides: {', '.join(known())}, or your own module:Class.")
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH)
@click.option("--trace", "trace_file", metavar="FILE", help="Record the Run in this file.")
@click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH)
@own_policies
@how_to_play
def command(
    scenario: str,
    seed: int | None,
    chooser: str | None,
    switches: tuple[str, ...],
    trace_file: str | None,
    scenario_path: str | None,
    driver: str,
    audit: bool,
    twice: bool,
    as_json: bool,
) -> int:
    """Play one Run of SCENARIO: a name from `testbed list`, or module:function.

    \b
    testbed run lost_update                       the calm Run
    testbed run lost_update --seed 1              one with random choices
    testbed run lost_update --seed 1 --switch guard=on
    """
    folders = _looked_in(scenario_path)
    recipe = find(scenario)
    check_driver(driver)
    name = chooser or ("calm" if seed is None else "uniform")
    decides = maker_of(name, seed or 0)
    recipe.check(given := parse_switches(switches))
    again = command_line(scenario, given, name, seed, driver, audit=audit, folders=folders)

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
        from testbed.story.explain import story

        say(story(world.trace, verdict) + "\n")
    say(str(verdict))
    recorded = trace_file and line_for("replay", trace_file, trust_in(recipe.name, folders))
    say(f"Recorded: {recorded}" if recorded else f"Again: {again}")
    return exit_code(verdict)


def _looked_in(folder: str | None) -> tuple[str, ...]:
    """The folder that was named; modules are imported from there from now on."""
    folders = folders_of([] if folder is None else [folder])
    sys.path[:0] = folders
    return folders
