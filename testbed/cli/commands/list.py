"""testbed list: lists the scenarios that have a short name."""

from __future__ import annotations

import click

from testbed.cli.show import EXIT_CODES, JSON, say, say_json
from testbed.world.scenario import known


@click.command("list", epilog=EXIT_CODES)
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(as_json: bool) -> None:
    """List the scenarios that have a short name, with their switches."""
    scenarios = known()
    if as_json:
        say_json(
            {
                "scenarios": [
                    {
                        "name": scenario.name,
                        "title": scenario.title,
                        "switches": {n: s.shown for n, s in scenario.switches.items()},
                    }
                    for scenario in scenarios
                ]
            }
        )
        return
    width = max(len(scenario.name) for scenario in scenarios)
    for scenario in scenarios:
        say(f"{scenario.name.ljust(width)}  {scenario.title}")
        for name, switch in scenario.switches.items():
            say(f"{' ' * width}    --switch {name}={switch.shown}")
    say("\nNext: testbed run lost_update --seed 1")
