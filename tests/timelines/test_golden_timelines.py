"""The golden timelines of the scheduler, event by event, under each profile that has one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from actors.scheduler import Scheduler
from testbed.invariant import Evidence, always
from testbed.objects import Map
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.observed import BIND_ERROR, Attempt, attempts_of
from tests.models.timelines import SCHEDULER, Cluster, Deed, build, creates
from tests.models.visible import visible

FILE = Path(__file__).parent.parent / "golden_timelines.yaml"
UNTIL_S = 120
EXACT_MS = 2
"""A cycle comes in its instant; or a moment later, behind an answer that is late by that."""


@attrs.frozen
class Golden:
    """One side of one golden timeline."""

    id: str
    profile: str
    told: Mapping[str, Any] = attrs.field(eq=False)
    """The timeline, as the file has it."""
    side: Mapping[str, Any] = attrs.field(eq=False)

    @property
    def switches(self) -> Any:
        """What is otherwise than the profile has it."""
        return Map(self.side.get("switches", {}))

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.switches.items()]
        return " ".join([self.id, self.profile, *given])

    def cluster(self) -> Cluster:
        """The set-up."""
        said = self.told["cluster"]
        deletes = [Deed(each["t"] * 1000, "delete", each) for each in said.get("deletes", ())]
        return Cluster(
            said["nodes"], said["pods"], said.get("pdbs", ()),
            [*creates(said["creates"]), *deletes],
            {name: at * 1000 for name, at in said.get("ends", {}).items()},
            until_ms=self.side.get("until", UNTIL_S) * 1000,
        )  # fmt: skip

    def race(self) -> Race:
        """Its own faults and holds; most have none."""
        text = f"scenario: test_golden_timelines:golden\n{self.told.get('race', '')}"
        return parse(text, f"{FILE.name}, {self.id}")

    def play(self) -> Played:
        """Play it."""

        def golden(world: World) -> None:
            scheduler = Scheduler(SCHEDULER, self.profile, self.switches)
            build(world, self.cluster(), scheduler, profile=self.profile)

        return play(self.race(), of(golden))

    def events(self) -> list[str]:
        """What is to be seen, each event with its second."""
        return [
            f"{at} {event}"
            for at, events in self.side["events"].items()
            for event in events.split(", ")
        ]

    def cycles(self) -> list[tuple[str, int, int, str]]:
        """Each try: the pod, when, which of its life, and what came of it."""
        second_life_s = self.side.get("first_in_life_2", 10**6)
        found = []
        for pod, tries in self.side.get("cycles", {}).items():
            numbers = {1: 0, 2: 0}
            for at_s, result in tries.items():
                life = 2 if at_s >= second_life_s else 1
                numbers[life] += 1
                found.append((pod, at_s, numbers[life], result))
        return sorted(found)


@cache
def goldens() -> tuple[Golden, ...]:
    """Every side of every timeline."""
    return tuple(_sides(yaml.safe_load(FILE.read_text(encoding="utf-8"))))


def _sides(timelines: list[Mapping[str, Any]]) -> Iterator[Golden]:
    for told in timelines:
        for side in told["sides"]:
            for profile in side["profiles"]:
                yield Golden(told["id"], profile, told, side)


@pytest.mark.spec(
    "GEN-8", "GEN-9", "GEN-10", "SCH-25", "SCH-65", "SCH-72", "SCH-74", "SCH-81", "SCH-85",
    "SCH-100", "SCH-102", "SCH-105", "SCH-106", "SCH-107", "SCH-118",
)  # fmt: skip
@each_row("golden", goldens(), ids=str)
def test_what_is_seen_is_what_is_written(golden: Golden) -> None:
    """Every event in its second and its order, and none beside them: so nothing forbidden."""
    played = golden.play()
    idle = [str(fate.deviation) for fate in played.fates if not fate.took_place]
    assert not idle, "these lines of its race made no difference"
    assert visible(played.world) == golden.events()


@each_row("golden", [g for g in goldens() if "cycles" in g.side], ids=str)
def test_every_try_is_as_written(golden: Golden) -> None:
    """Where the cycles are exact: no other try, each in its instant, and in these words."""
    tried = attempts_of(golden.play().world, SCHEDULER)
    assert sorted(map(_as_written, tried)) == golden.cycles()


def _as_written(tried: Attempt) -> tuple[str, int, int, str]:
    assert tried.at_ms % 1000 <= EXACT_MS, f"{tried} is not on a whole second"
    result = BIND_ERROR if tried.result.startswith(BIND_ERROR) else tried.result
    return (tried.pod, tried.at_ms // 1000, tried.number, result)


@pytest.mark.spec("SCH-43", "SCH-118")
def test_a_restarted_scheduler_knows_what_it_has_promised() -> None:
    """GT-R1: what A and B take is counted until they are gone, and C is nominated by its status."""
    golden = next(each for each in goldens() if each.id == "GT-R1")
    seen = []

    def looks(see: Evidence) -> None:
        life = see.table.roles[SCHEDULER].life
        if life is not None and life.number == 2 and see.records[-1].name == "waits":
            books: Any = life.shown["scheduler"]
            (node,) = books.beliefs.cache.snapshot().infos
            nominated = [info.pod.meta.name for info in books.beliefs.nominator.on("node1")]
            seen.append((see.now_ms, node.requested["cpu"], nominated))

    def watched(world: World) -> None:
        build(world, golden.cluster(), Scheduler(SCHEDULER))
        world.claim(always(looks))

    play(golden.race(), of(watched))
    assert seen[0] == (25_000, 10_000, ["c"])
