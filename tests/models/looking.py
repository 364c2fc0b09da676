"""What a complete search sees of small Worlds, compared with what random Runs come across."""

from __future__ import annotations

from collections.abc import Callable

from testbed import Evidence, World, always
from testbed.chooser import Chooser
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.objects import Pod
from testbed.world.scenario import of, play_runs
from tests.shared.stage import Apart, Doing, Puppet, note

Build = Callable[[World], None]
RUNS, RUNS_LONG = 150, 1_500
RUNS_MAX = 20_000


def ends_of(build: Build, chooser: Chooser, runs_max: int) -> set[tuple[str, ...]]:
    """What is breached in each of its Runs."""
    found: set[tuple[str, ...]] = set()

    def look(world: World) -> bool:
        assert world.verdict is not None
        if world.verdict.outcome != "undecided":
            found.add(tuple(sorted(v.invariant for v in world.verdict.violations)))
        return True

    play_runs(of(build, "looks"), chooser, look, runs_max=runs_max, driver="direct")
    return found


def is_seen(build: Build, runs: int = RUNS) -> set[tuple[str, ...]]:
    """What uniform choices come across, complete sees; and it does come across a breach."""
    complete = Complete(keeps=False)
    seen = ends_of(build, complete, RUNS_MAX)
    assert complete.is_complete
    sampled = ends_of(build, Uniform(0), runs)
    assert sampled <= seen, f"complete sees {seen}; {runs} random Runs, {sampled}"
    return seen


def of_actors(**puppets: Doing) -> Build:
    """A World with a note, these actors, and a claim that none of them ever says `odd`."""

    def nobody_says_odd(evidence: Evidence) -> str | None:
        odd = [record for record in evidence.records if record.name == "odd"]
        return f"{odd[0].path} says odd" if odd else None

    def build(world: World) -> None:
        world.add(note("n"))
        for name, do in puppets.items():
            world.start((Apart if name.startswith("apart") else Puppet)(name.replace("_", "-"), do))
        world.claim(always(nobody_says_odd, reads=()))

    return build


async def commits(client: Client) -> None:
    """Somebody else, who creates something of another kind."""
    await client.create(Pod.of(f"of-{client.name}"))


def says(client: Client, *, odd: object) -> None:
    """Record what was seen, as odd or as plain."""
    client.record("odd" if odd else "plain")
