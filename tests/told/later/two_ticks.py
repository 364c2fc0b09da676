"""Two ticks: a scheduled job is run, and the note of that is refused since somebody has edited the
schedule; the refusal is dropped, so the same tick is run again (sympozium-ai/sympozium#223)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Conflict, Evidence, World, always
from testbed.objects import ConfigMap, Map, Meta, Note
from tests.told.frame import Told


@attrs.frozen
class Cron(Actor):
    """Runs each schedule that was not run in this minute, and notes that. With `guard` it notes
    that first."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look every ten seconds."""
        schedules = Cache(client, ConfigMap)
        await schedules.synced()
        while True:
            await client.sleep(10_000, "look")
            for schedule in schedules.all():
                tick = str(client.now() // 60_000)
                if schedule.data["last"] == tick:
                    continue
                ran = attrs.evolve(schedule, data=schedule.data.having(last=tick))
                with suppress(Conflict):
                    if self.guard:
                        await client.update(ran)
                    name = f"{schedule.meta.name}-"
                    await client.create(Note(Meta("", generate_name=name, labels={"tick": tick})))
                    if not self.guard:
                        await client.update(ran)


class Ann(Actor):
    """Changes what is to be swept."""

    async def run(self, client: Client) -> None:
        """Once, early."""
        await client.sleep(9_000, "edit")
        await client.patch(ConfigMap("sweep"), {"data": {"what": "attic"}})


def each_tick_runs_once(see: Evidence) -> str | None:
    """No schedule has two runs of one minute."""
    runs: list[Any] = [entry.value for entry in see.store.snapshot("notes/")]
    ticks = [run.meta.labels["tick"] for run in runs]
    twice = [tick for tick in ticks if ticks.count(tick) > 1]
    return f"minute {twice[0]} was run {len(twice)} times" if twice else None


def two_ticks(world: World, *, guard: bool = False) -> None:
    """A schedule is edited while it is run."""
    world.serve(ApiServer)
    world.add(ConfigMap("sweep", data=Map(last="", what="cellar")))
    world.start(Cron("cron", guard), Ann("ann"))
    world.claim(always(each_tick_runs_once))
    world.limit(until_ms=45_000)


TRUE = Told(
    two_ticks,
    race="""
holds:
  - hold: ann patch configmaps/default/sweep
    until: cron create notes/default
""",
    actor="cron",
    about=("configmaps/default/sweep", "notes/default/sweep-"),
    words=("refused", "Conflict"),
    never=("^ann", "data.what"),
    said=(
        "cron ran sweep again and created a second note of that minute: its update of "
        "configmaps/default/sweep that notes the first was refused, Conflict, since ann had "
        "written it, and cron never repeated it."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: delivery of configmaps/default/sweep to cron
    until: cron create notes/default
""",
        "cron created a second note of that minute: its update of configmaps/default/sweep "
        "that notes the first was refused, Conflict, since ann had written it, and was never "
        "repeated.",
    ),
)
