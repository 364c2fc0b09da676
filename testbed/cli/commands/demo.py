"""testbed demo: finds a race, shrinks it, and tells its story."""

from __future__ import annotations

import click

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.cli.output import say
from testbed.cli.show import EXIT_CODES, JSON, as_dict, say_json
from testbed.errors import HarnessBug
from testbed.story.explain import story
from testbed.testing.seek import Sought, seek
from testbed.words import counted
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

SCENARIO = "stolen_slot"
RUNS_MAX = 400
"""How many Runs are played to find it, at most."""
GUARDED = 40
"""How many Runs with the guard are played."""
AGAIN = f"testbed search {SCENARIO} --until-first"
NEXT = (
    (AGAIN, "the same, and the race as a file to keep"),
    (f"testbed search {SCENARIO} --switch guard=on", "400 runs with the guard"),
    ("testbed list", "more races, by theme"),
    ("testbed init", "a scenario of your own to begin with"),
)
"""What to try next."""


@click.command("demo", epilog=EXIT_CODES)
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(as_json: bool) -> int:
    """Find a race in the scenario `stolen_slot`, shrink it to what must be late, tell its story,
    and show that the scenario's guard prevents it.

    Exits 0 when it has shown that.
    """
    scenario = find(SCENARIO)
    calm = scenario.world().run(Calm(), driver="direct")
    sought = seek(scenario, runs=RUNS_MAX)
    held = _held()
    shrunk = sought.shrunk
    if not calm.is_held or shrunk is None or shrunk.cut_off or held < GUARDED:
        raise HarnessBug(
            f"{SCENARIO} is not as it should be: {calm}; {sought.looked}; with the guard {held} of "
            f"{GUARDED} held. Please report it."
        )
    told = story(shrunk.played.trace, shrunk.played.verdict)
    if as_json:
        more = {"scenario": SCENARIO, "story": told, "race": shrunk.race.text(), "again": AGAIN}
        searched = {"runs": sought.runs, "shrunk_in": shrunk.runs}
        guarded = {"runs": GUARDED, "held": held}
        verdict = shrunk.played.verdict
        say_json(as_dict(verdict, **more, **searched, calm=as_dict(calm), guarded=guarded))
        return 0
    say(f"{scenario.name}: {scenario.title}\n")
    say(
        f"The calm run, in which nothing is late: {calm.outcome}, in {counted(calm.turns, 'turn')}."
    )
    say(f"{_found(sought)}\n")
    say("\n".join(f"  {line}" for line in shrunk.race.lines) + "\n")
    say(told)
    say(f"\nWith --switch guard=on one scheduler has both pods: {held} of {GUARDED} runs held.")
    say("\nNext:")
    width = max(len(line) for line, _ in NEXT)
    for line, what in NEXT:
        say(f"  {line.ljust(width)}  {what}")
    return 0


def _found(sought: Sought) -> str:
    assert sought.shrunk is not None
    runs = counted(sought.shrunk.runs, "more run")
    return f"Run {sought.runs} of a search: violated. {runs} show that it takes no more than this:"


def _held() -> int:
    """How many random Runs hold with the guard."""
    held = 0

    def look(world: World) -> bool:
        nonlocal held
        held += world.verdict is not None and world.verdict.is_held
        return True

    guarded = {"guard": "on"}
    play_runs(find(SCENARIO), Uniform(0), look, runs_max=GUARDED, switches=guarded, driver="direct")
    return held
