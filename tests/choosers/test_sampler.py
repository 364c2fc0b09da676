"""Sampler: glue at once, what is late and what fails rarely and apart, picks on their own."""

from __future__ import annotations

from collections import Counter

import pytest

from testbed.choosers.sampling.learned import Learned
from testbed.choosers.sampling.sampler import GLUE_MAX, Sampler
from testbed.choosers.uniform import Uniform
from testbed.choosers.urw import URW
from testbed.client.client import Client
from testbed.objects import Note
from testbed.turns.option import Choice, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.scenario import find, of, play_runs
from testbed.world.world import World
from tests.models.samples import first_letters, reads, scenario
from tests.shared.stage import Apart, Puppet, note

LOTS = find("tests.shared.lots:drawing_lots")
LATE = find("late_short_write")


class First(Sampler):
    """Takes the first effect, and notes what it was shown."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.shown: list[list[str]] = []

    def effect(self, ready: list[Option]) -> Option:
        self.shown.append([option.kind for option in ready])
        return ready[0]


class Watched(URW):
    """Notes of each turn what could have been performed at that instant, and what was."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.breaches = 0

    def choose(self, options: Options | Alternatives) -> Choice:
        choice = super().choose(options)
        if isinstance(options, Options) and isinstance(choice, int) and choice < options.ready:
            line = options.in_line()
            glue = [option for option in line if not option.is_effect]
            if not self.holds and glue and line[choice] is not glue[0]:
                self.breaches += 1
        return choice


def played(world: World, chooser: Sampler, number: int = 0) -> Trace:
    """One Run, and its trace."""
    trace = Trace({}, keep=True)
    world.run(chooser, driver="direct", trace=trace, number=number)
    return trace


def test_glue_is_performed_at_once_in_calm_order() -> None:
    """No effect has its turn while something is to be answered, started, resumed or woken."""
    chooser = Watched(3)
    play_runs(LOTS, chooser, lambda _: True, runs_max=40, driver="direct")
    assert chooser.breaches == 0


def test_only_effects_are_drawn_among_and_counted() -> None:
    """Forty reads and one transfer are 41 effects, though they make 84 turns."""
    chooser = First()
    chooser.strays = False
    trace = played(LATE.world(), chooser)
    assert {kind for shown in chooser.shown for kind in shown} == {"serve"}
    assert len(chooser.shown) == chooser.effects == chooser.learned.longest == 41
    assert chooser.performed == {"auditor/main": 40, "teller/main": 1}
    assert chooser.profile is not None
    assert chooser.profile.turns == len(trace.steps) == 84


def test_effects_of_one_instant_are_drawn_before_time_passes() -> None:
    """Also where the scenario lets messages be late: what is due later is not shown."""

    def build(world: World) -> None:
        world.add(note())
        world.limit(delay_max_ms=5_000)

        async def sleepy(client: Client) -> None:
            await client.sleep(1_000, "rest")
            await client.get(Note, "n")

        world.start(Puppet("alpha", sleepy), Puppet("beta", reads(3)))

    for seed in range(20):
        chooser = URW(seed)
        chooser.strays = False
        trace = played(of(build).world(), chooser)
        assert first_letters(trace.steps) == "bbba"


# -- what is held back ----------------------------------------------------------------------------


def test_something_is_held_back_rarely_and_all_along_the_run() -> None:
    """In one Run of eight, once mostly; glue as well as effects; early and late."""
    kinds: Counter[str] = Counter()
    places: Counter[int] = Counter()
    runs = 0

    def look(world: World) -> bool:
        nonlocal runs
        steps = world.trace.steps
        held = [step for step in steps if step.kind == "hold"]
        runs += bool(held)
        kinds.update(step.option.label for step in held)
        places.update(min(step.number * 4 // len(steps), 3) for step in held)
        return True

    play_runs(LOTS, URW(1), look, runs_max=400, driver="direct", keep=True)
    assert 30 <= runs <= 65
    assert {"serve", "answer", "deliver", "start"} <= set(kinds)
    assert min(places[quarter] for quarter in range(4)) >= 5, places


def test_time_passes_over_what_is_held_back() -> None:
    """A read that was announced before beta's timer takes effect after it has rung."""

    async def sleepy(client: Client) -> None:
        await client.sleep(1_000, "rest")
        await client.get(Note, "n")

    seen = Counter(
        first_letters(played(scenario(alpha=reads(1), beta=sleepy).world(), URW(2), n).steps)
        for n in range(200)
    )
    assert seen["ab"] > 180
    assert seen["ba"] > 0


def test_what_is_held_back_comes_back() -> None:
    """When as many effects are performed as were drawn, or when nothing else can move."""
    between: Counter[bool] = Counter()
    for number in range(100):
        steps = played(scenario(alpha=reads(20), beta=reads(20)).world(), URW(4), number).steps
        kinds = [step.kind for step in steps]
        assert kinds.count("hold") == kinds.count("release")
        for at, kind in enumerate(kinds):
            if kind == "release":
                between[kinds.index("hold") < at - 1] += 1
    assert between[True] >= 5


# -- faults and picks -----------------------------------------------------------------------------


@pytest.mark.spec("GEN-5")
def test_picks_are_drawn_as_by_any_other_chooser_of_that_seed() -> None:
    """By who picks what for the how-many-eth time, whatever else is drawn."""
    compared = 0
    for seed in range(10):
        labels = []
        for chooser in (Uniform(seed), URW(seed)):
            trace = Trace({}, keep=True)
            LOTS.world().run(chooser, driver="direct", trace=trace)
            steps = [step for step in trace.steps if step.kind == "pick"]
            labels.append({step.sentence: step.option.label for step in steps})
        for sentence in labels[0].keys() & labels[1].keys():
            assert labels[0][sentence] == labels[1][sentence]
            compared += 1
    assert compared > 50


def polls_while_another_gets(world: World) -> None:
    """Zeta polls what beta is to tell it, sleeping for no time; beta gets a note twice before."""
    world.add(note())
    told: list[str] = []

    async def zeta(client: Client) -> None:
        while not told:
            await client.sleep(0, "poll")

    async def beta(client: Client) -> None:
        await client.get(Note, "n")
        await client.get(Note, "n")
        told.append("now")

    world.start(Apart("zeta", zeta), Apart("beta", beta))


def test_tasks_that_only_wake_each_other_do_not_keep_an_effect_from_its_turn() -> None:
    """What zeta does is all glue. Each effect comes after a thousand turns of it, and it ends."""
    chooser = URW(1)
    chooser.strays = False
    trace = played(of(polls_while_another_gets).world(), chooser)
    served = [number for number, step in enumerate(trace.steps) if step.kind == "serve"]
    assert served == [GLUE_MAX, 2 * GLUE_MAX + 1]
    assert len(trace.steps) < 4_000


def test_a_search_adds_what_was_learnt_itself() -> None:
    """Not alone, a sampler leaves `learned` as it is, and tells the profile of its last Run."""
    learned = Learned()
    chooser = URW(1, learned, alone=False)
    played(LATE.world(), chooser)
    assert learned == Learned()
    assert chooser.profile is not None
    assert chooser.profile.total == 41
    learned.add(chooser.profile)
    assert learned.longest == 41
