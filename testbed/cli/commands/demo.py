"""testbed demo: finds a race, and tells its story."""

from __future__ import annotations

import click

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.cli.show import EXIT_CODES, JSON, as_dict, command_line, say, say_json
from testbed.errors import HarnessBug
from testbed.invariant import Verdict
from testbed.story.explain import story
from testbed.turns.trace import Trace
from testbed.words import counted
from testbed.world.scenario import Scenario, find

SCENARIO = "lost_update"
SEEDS_MAX = 1000


@click.command("demo", epilog=EXIT_CODES)
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(as_json: bool) -> int:
    """Find a race in the scenario `lost_update`, tell its story, and show that the scenario's guard
    prevents it.

    Exits 0 when it has shown that.
    """
    scenario = find(SCENARIO)
    calm = scenario.world().run(Calm())
    seed, verdict, trace = _found(scenario)
    guarded = [
        scenario.world({"guard": "on"}).run(Uniform(number), driver="direct")
        for number in range(SEEDS_MAX)
    ]
    held = sum(verdict.is_held for verdict in guarded)
    again = command_line([SCENARIO], {}, "uniform", seed)
    if as_json:
        more = {"scenario": SCENARIO, "seed": seed, "story": story(trace, verdict), "again": again}
        guard = {"runs": SEEDS_MAX, "held": held}
        say_json(as_dict(verdict, **more, calm=as_dict(calm), guarded=guard))
    else:
        say(f"{scenario.name}: {scenario.title}\n")
        say(f"The calm run, one after the other: {calm.outcome}, in {counted(calm.turns, 'turn')}.")
        say(f"Run {seed + 1} with random choices (seed {seed}): {verdict.outcome}.\n")
        say(story(trace, verdict))
        say(
            f"\nWith --switch guard=on the update is a compare-and-swap: {held} of {SEEDS_MAX} "
            "random runs held."
        )
        say(f"\nAgain: {again}")
    if not calm.is_held or held < SEEDS_MAX:
        raise HarnessBug("the calm run, or the guard, did not hold. Please report it.")
    return 0


def _found(scenario: Scenario) -> tuple[int, Verdict, Trace]:
    for seed in range(SEEDS_MAX):
        trace = Trace({}, keep=True)
        verdict = scenario.world().run(Uniform(seed), trace=trace)
        if verdict.is_violated:
            return seed, verdict, trace
    raise HarnessBug(f"no race in {SEEDS_MAX} runs of {SCENARIO}. Please report it.")
