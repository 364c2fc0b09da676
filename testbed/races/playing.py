"""Playing: plays a Race, and makes a Race of any Run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from testbed.fault import Fault
from testbed.objects.meta import Map
from testbed.races.noting import Noting, Taking
from testbed.races.pattern import Pattern
from testbed.races.race import Hold, Race, Strike
from testbed.races.race_chooser import Fate, Raced
from testbed.turns.option import Choice
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario
from testbed.world.world import World


@attrs.frozen
class Played:
    """A Race that was played: its World, its Verdict, and what each line has done."""

    world: World
    verdict: Verdict
    fates: tuple[Fate, ...]
    """What each of its lines has done."""
    seen: tuple[str, ...]
    """All that came up, as a race file would write it."""
    tasks: Mapping[str, Collection[str]] = attrs.field(factory=dict, repr=False)
    """For each sentence that names an actor but no task: the tasks that did such a thing."""

    @property
    def trace(self) -> Trace:
        """The Trace of its Run; it has Steps only if they were kept."""
        return self.world.trace

    @property
    def unmatched(self) -> list[Fate]:
        """The lines that matched nothing."""
        return [fate for fate in self.fates if not fate.matched]

    def ambiguous(self, fate: Fate) -> dict[str, list[str]]:
        """Return the sentences of a line that name no task though several tasks did the same, each
        with those tasks."""
        deviation = fate.deviation
        parts: list[object] = []
        if isinstance(deviation, Hold):
            parts = [deviation.what, deviation.until]
        elif isinstance(deviation, Strike):
            parts = [deviation.operation, deviation.moment]
        found = {}
        for pattern in parts:
            if isinstance(pattern, Pattern) and "/" not in pattern.who:
                plain = attrs.evolve(pattern, nth=1, life=0)
                tasks = [*filter(self._is_known, self.tasks.get(str(plain), ()))]
                if len(tasks) > 1:
                    found[str(pattern)] = tasks
        return found

    def _is_known(self, task: str) -> bool:
        """Whether a file may name that task. Each request of a real program is one of its own."""
        return task.partition("/")[0] not in self.verdict.attended

    def closest(self, fate: Fate) -> str:
        """Return what came up that is most like a line that matched nothing; empty if none is."""
        deviation = fate.deviation
        sentence = str(deviation.what) if isinstance(deviation, Hold) else str(deviation)
        if isinstance(deviation, Strike):
            moment = deviation.moment
            sentence = str(
                moment if isinstance(moment, Pattern) else deviation.operation or sentence
            )
        found = difflib.get_close_matches(sentence, self.seen, n=1, cutoff=0.3)
        return found[0] if found else ""


def play(
    race: Race,
    recipe: Scenario,
    *,
    switches: Mapping[str, Any] | None = None,
    driver: str = "direct",
    keep: bool = True,
    audit: bool = False,
    goes_on: bool = False,
    trace: Trace | None = None,
    turns_max: int | None = None,
) -> Played:
    """Play it under its own switches and, in addition, these; if it `goes_on`, to the end of the
    Run, whatever is breached before; and with no more turns than the scenario allows, or fewer."""
    world = recipe.world(
        {**race.switches, **(switches or {})},
        audit=audit,
        faults=[strike.fault for strike in race.faults],
        without=race.without,
    )
    if turns_max is not None:
        world.limit(turns_max=min(turns_max, world.budget.turns_max))
    chooser = Raced(race)
    chooser.goes_on = goes_on
    verdict = world.run(chooser, driver=driver, trace=trace or Trace({}, keep=keep))
    return Played(world, verdict, tuple(chooser.fates), tuple(chooser.seen), chooser.tasks)


def race_of(
    recipe: Scenario,
    switches: Mapping[str, Any],
    choices: Sequence[Choice],
    *,
    faults: Iterable[Fault] = (),
    without: Iterable[str] = (),
) -> Race:
    """Write any Run as a Race, which makes the same turns in the same order when it is played.

    1. The choices are taken again, to see what happens.
    2. It is made to happen in another World, as the race chooser would: what stands before the turn
       to come is held. If it is then performed in turn 9, its hold ends with turn 8.
    3. Each fault and each pick becomes a line of its own.
    4. The Race is played once, and the lines that made no difference are left out.
    """
    without, faults = tuple(without), tuple(faults)
    world = recipe.world(switches, faults=faults, without=without)
    taking = Taking(choices)
    world.run(taking, driver="direct")
    noting = Noting(taking)
    world = recipe.world(switches, faults=faults, without=without)
    world.run(noting, driver="direct")
    race = attrs.evolve(
        noting.race(),
        scenario=recipe.name,
        switches=Map({name: str(value) for name, value in world.switches.items()}),
        without=without,
    )
    # A Run without a deviation is calm: of no line there is none to leave out.
    return without_idle(race, play(race, recipe, keep=False).fates) if len(race) else race


def without_idle(race: Race, fates: Iterable[Fate]) -> Race:
    """Return the Race without the lines that made no difference when it was played."""
    busy = [fate.deviation for fate in fates if fate.took_place]

    def made_a_difference(deviation: object) -> bool:
        # By identity: of two equal lines one may be idle.
        return any(deviation is each for each in busy)

    return attrs.evolve(
        race,
        holds=tuple(filter(made_a_difference, race.holds)),
        faults=tuple(filter(made_a_difference, race.faults)),
        picks=tuple(filter(made_a_difference, race.picks)),
    )
