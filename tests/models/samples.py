"""What samplers are tried on: small scenarios whose interleavings can be counted, and the count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from testbed.choosers.sampling.sampler import Sampler
from testbed.client.client import Client
from testbed.objects import Note
from testbed.turns.trace import Step
from testbed.world.scenario import Scenario, of, play_runs
from testbed.world.world import World
from tests.shared.stage import Doing, Puppet, note


def reads(times: int, name: str = "n") -> Doing:
    """Reads a note so many times."""

    async def act(client: Client) -> None:
        for _ in range(times):
            await client.get(Note, name)

    return act


def scenario(**puppets: Doing) -> Scenario:
    """Two notes, `n` and `other`, and these actors."""

    def build(world: World) -> None:
        world.add(note(), note("other"))
        world.start(*(Puppet(name, do) for name, do in puppets.items()))

    return of(build)


def first_letters(steps: list[Step]) -> str:
    """Whose effects they were: `abbab`; a task but `main` by the first letter of its own name."""
    effects = [step.option.path for step in steps if step.kind == "serve"]
    return "".join((path.removesuffix("/main").rpartition("/")[2])[0] for path in effects)


def orders(
    played: Scenario,
    sampler: Sampler,
    runs: int,
    told: Callable[[list[Step]], str] = first_letters,
) -> Counter[str]:
    """How often each order of effects came, in the Runs in which nothing was held back."""
    seen: Counter[str] = Counter()

    def look(world: World) -> bool:
        if not sampler.holds:
            seen[told(world.trace.steps)] += 1
        return True

    play_runs(played, sampler, look, runs_max=runs, driver="direct", keep=True)
    return seen


def skew(seen: Counter[str]) -> float:
    """How far from alike they are, as chi-square has it: about their number if they are alike."""
    expected = seen.total() / len(seen)
    return sum((count - expected) ** 2 for count in seen.values()) / expected
