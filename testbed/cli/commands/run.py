"""testbed run: plays one Run of a scenario."""

from __future__ import annotations

from collections.abc import Callable

import click

from testbed.cli.limits import takes_limits
from testbed.cli.output import say
from testbed.cli.own import own_policies
from testbed.cli.playing import (
    NO_FAULTS,
    check_driver,
    how_to_play,
    keep_imprints,
    parse_faults,
    parse_switches,
    placed,
    same_again,
    sink,
)
from testbed.cli.show import (
    EXIT_CODES,
    FAULTS,
    SCENARIO_PATH,
    SWITCH,
    as_dict,
    command_line,
    exit_code,
    say_json,
)
from testbed.races.trust import line_for, trust_in, words_for
from testbed.turns.trace import Trace
from testbed.world.chooser_by_name import maker_of
from testbed.world.chooser_kinds import known
from testbed.world.fault_kinds import check_aim, parse_fault
from testbed.world.scenario import Scenario, find
from testbed.world.tried.judged import tried_in
from testbed.world.tried.saying import figures, notable
from testbed.world.world import World

STATS = "Also print what was tried: requests served and refused, timers, claims, faults."


@click.command("run", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--seed", type=int, help="Seed of the random choices; without it, the Run is calm.")
@click.option("--chooser", help=f"What decides: {', '.join(known())}, or your own FILE.py:Class.")
@click.option("--faults", multiple=True, metavar="FAULT", help=FAULTS)
@takes_limits
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH)
@click.option("--trace", "trace_file", metavar="FILE", help="Record the Run in this file.")
@click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH)
@click.option("--stats", is_flag=True, help=STATS)
@own_policies
@how_to_play
def command(
    scenario: str,
    seed: int | None,
    chooser: str | None,
    faults: tuple[str, ...],
    switches: tuple[str, ...],
    trace_file: str | None,
    scenario_path: str | None,
    stats: bool,
    driver: str,
    audit: bool,
    twice: bool,
    as_json: bool,
    imprints: str | None,
) -> int:
    """Play one Run of SCENARIO: a name from `testbed list`, or your own as FILE.py:function.

    \b
    testbed run lost_update                       the calm Run
    testbed run lost_update --seed 1              one with random choices
    testbed run shop/mine.py:race --seed 1 --faults crash,restart=2s
    """
    scenario, scenario_path = placed(scenario, scenario_path)
    folders = () if scenario_path is None else (scenario_path,)
    words, allows_none = parse_faults(faults)
    recipe = find(scenario)
    check_driver(driver)
    name = chooser or ("calm" if seed is None else "uniform")
    decides = maker_of(name, seed or 0)
    recipe.check(given := parse_switches(switches))
    again = command_line(
        words_for(scenario, folders), given, name, seed, driver, audit=audit,
        faults=NO_FAULTS[-1:] if allows_none else words,
    )  # fmt: skip
    assemble = _assembling(recipe, given, words, allows_none=allows_none, audit=audit)

    def play(trace: Trace) -> World:
        world = assemble()
        world.run(decides(), driver=driver, trace=trace)
        return world

    with sink(trace_file) as file:
        world = play(Trace({}, keep=True, sink=file))
    keep_imprints(world, imprints)
    if twice:
        same_again(play, world, again)
    if as_json:
        return _tell_json(world, trace_file, again)
    recorded = trace_file and line_for("replay", trace_file, trust_in(recipe.name, folders))
    return _tell(world, f"Recorded: {recorded}" if recorded else f"Again: {again}", stats=stats)


def _tell_json(world: World, trace_file: str | None, again: str) -> int:
    assert world.verdict is not None
    tried = tried_in(world).as_dict()
    more = {
        "scenario": world.scenario, "switches": world.switches, "trace": trace_file, "tried": tried,
    }  # fmt: skip
    say_json(as_dict(world.verdict, **more, again=again))
    return exit_code(world.verdict)


def _tell(world: World, last: str, *, stats: bool) -> int:
    verdict = world.verdict
    assert verdict is not None
    if verdict.is_violated:
        from testbed.story.explain import story

        say(story(world.trace, verdict) + "\n")
    say(str(verdict))
    tried = tried_in(world)
    for line in [] if verdict.is_violated else notable(tried):
        say(line)
    for line in figures(tried) if stats else ():
        say(f"  {line}")
    say(last)
    return exit_code(verdict)


def _assembling(
    recipe: Scenario,
    switches: dict[str, str],
    words: tuple[str, ...],
    *,
    allows_none: bool,
    audit: bool,
) -> Callable[[], World]:
    """What makes a World with these faults, which are aimed at something that is in it."""
    faults = [parse_fault(word) for word in words]
    if faults:
        world = recipe.world(switches)
        for fault in faults:
            check_aim(fault, (*world.table.roles, *world.wire.posts))

    def assemble() -> World:
        world = recipe.world(switches, audit=audit, faults=faults)
        if allows_none:
            world.forbid()
        return world

    return assemble
