"""The samplers pct, pos, urw, surw: what each is fair to, and what each can reach."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import pytest

from testbed.chooser import RunInfo
from testbed.choosers.pct import PCT
from testbed.choosers.pos import POS
from testbed.choosers.sampling.learned import Learned
from testbed.choosers.sampling.sampler import Sampler
from testbed.choosers.surw import SURW
from testbed.choosers.urw import URW
from testbed.cli.benches.search import median, trial
from testbed.client.client import Client
from testbed.objects import Note
from testbed.store.endpoint import Operation
from testbed.turns.option import SERVE, Option
from testbed.turns.trace import Step, Trace
from testbed.world.chooser_kinds import chooser_of
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.models.samples import first_letters, orders, reads, scenario, skew
from tests.shared.stage import Puppet, note

NAMES = ("pct", "pos", "surw", "urw")
LOTS = find("tests.shared.lots:drawing_lots")
LATE = find("late_short_write")


def sampler(name: str, seed: int = 0, learned: Learned | None = None) -> Sampler:
    """One of them; alone, unless it is given what was learnt."""
    made = chooser_of(name, seed)
    assert isinstance(made, Sampler)
    if learned is not None:
        made.learned, made.alone = learned, False
    return made


# -- what each is fair to -------------------------------------------------------------------------


def test_urw_takes_every_interleaving_alike() -> None:
    """Two operations among five: 21 interleavings, each about as often; a plain random walk takes
    the rarest of them 1 time in 33, and the most frequent 1 time in 4."""
    played = scenario(alpha=reads(2), beta=reads(5))
    seen = orders(played, URW(1), 1000)
    assert len(seen) == 21
    assert skew(seen) < 45
    assert skew(orders(played, URWKnowingNothing(1), 500)) > 100


class URWKnowingNothing(URW):
    """Forgets at once what it has learnt: a plain random walk over processes."""

    def begun(self, run: object) -> None:
        self.learned = Learned()


def test_urw_counts_a_task_that_has_not_begun_where_it_will_come_from() -> None:
    """After one read alpha spawns a task with two, and reads on; beta reads once. Of the fifteen
    interleavings each comes about as often, though there is nothing of that task at first."""

    async def act(client: Client) -> None:
        await client.get(Note, "n")
        client.spawn("kid", lambda: reads(2)(client))
        await client.get(Note, "n")

    seen = orders(scenario(alpha=act, beta=reads(1)), URW(2), 900)
    assert len(seen) == 15
    assert skew(seen) < 36


def test_urw_counts_what_waits_for_another_with_that_other() -> None:
    """A worker reads once for each of two items that beta puts after its reads; gamma reads twice.
    The worker is not offered while it waits, and what it will do counts for beta's reads."""

    def build(world: World) -> None:
        world.add(note())

        async def beta(client: Client) -> None:
            inbox = client.queue("inbox")

            async def work() -> None:
                for _ in range(2):
                    await inbox.get()
                    await client.get(Note, "n")

            client.spawn("worker", work)
            for _ in range(2):
                await client.get(Note, "n")
                inbox.put("item")

        world.start(Puppet("beta", beta), Puppet("gamma", reads(2)))

    seen = orders(of(build), URW(3), 900)
    # bbww and bwbw, each among the places of two reads of gamma's.
    assert len(seen) == 30
    assert skew(seen) < 100


def test_urw_does_not_count_what_happens_at_a_later_time() -> None:
    """Alpha reads once, and five times after a sleep; beta reads once. Time passes only when
    nothing else can, so there are two orders, and they come alike."""

    async def act(client: Client) -> None:
        await client.get(Note, "n")
        await client.sleep(1000, "rest")
        await reads(5)(client)

    seen = orders(scenario(alpha=act, beta=reads(1)), URW(4), 300)
    assert sorted(seen) == ["abaaaaa", "baaaaaa"]
    assert skew(seen) < 10


def on_n(steps: list[Step]) -> str:
    """Who touched `n`, in order."""
    return first_letters([step for step in steps if step.option.key == "notes/default/n"])


async def writes(client: Client, times: int) -> None:
    """Writes `n` so many times, whatever it was."""
    for number in range(times):
        await client.update(note(n=str(number)), whatever_it_was=True)


def test_surw_takes_every_order_on_its_key_alike() -> None:
    """Alpha reads `n` twice, amid twenty reads of another note; beta writes it three times. Of the
    ten orders of these five each comes about as often."""

    async def alpha(client: Client) -> None:
        await reads(10, "other")(client)
        await client.get(Note, "n")
        await reads(10, "other")(client)
        await client.get(Note, "n")

    chooser = SURW(1)
    seen = orders(scenario(alpha=alpha, beta=lambda c: writes(c, 3)), chooser, 500, on_n)
    assert chooser.learned.keys() == ["notes/default/n"]
    assert len(seen) == 10
    assert skew(seen) < 28


def test_surw_counts_a_task_that_has_not_begun_where_it_will_come_from() -> None:
    """Alpha writes `n` and then spawns a task that writes it twice; beta writes it once: of the
    four orders each comes about as often."""

    async def alpha(client: Client) -> None:
        await writes(client, 1)
        client.spawn("kid", lambda: writes(client, 2))

    seen = orders(scenario(alpha=alpha, beta=lambda c: writes(c, 1)), SURW(2), 500, on_n)
    assert sorted(seen) == ["abkk", "akbk", "akkb", "bakk"]
    assert skew(seen) < 17


def test_surw_is_about_each_contended_key_in_turn() -> None:
    """A key that nobody shares is never chosen; before anything is learnt there is none."""
    chooser = SURW(3)
    keys: list[str] = []

    def look(world: World) -> bool:
        keys.append(chooser.key)
        return True

    play_runs(LATE, chooser, look, runs_max=40, driver="direct")
    assert keys[0] == ""
    accounts = {f"notes/default/account-{number}" for number in (39, 40)}
    assert set(keys[1:]) == accounts
    assert min(keys.count(key) for key in accounts) > 10


def test_pos_is_not_misled_by_what_does_not_matter() -> None:
    """Alpha reads `n`, and another note five times; beta writes `n`. Beta comes after alpha's first
    read every other time, and then, with a score that nothing changes any more, after the five
    others 1 time in 6. A plain random walk would get there 1 time in 64."""

    async def alpha(client: Client) -> None:
        await client.get(Note, "n")
        await reads(5, "other")(client)

    seen = orders(scenario(alpha=alpha, beta=lambda c: writes(c, 1)), POS(6), 480)
    assert len(seen) == 7
    assert 0.45 < 1 - seen["baaaaaa"] / seen.total() < 0.55
    assert 1 / 18 < seen["aaaaaab"] / seen.total() < 1 / 9


# -- what each can reach --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_order_can_be_reached(name: str) -> None:
    """All ten interleavings of two and three operations on one key turn up within 500 Runs."""
    seen = orders(scenario(alpha=reads(2), beta=lambda c: writes(c, 3)), sampler(name, 5), 500)
    assert len(seen) == 10


@pytest.mark.parametrize("name", NAMES)
def test_both_orders_of_two_messages_of_one_task_can_be_reached(name: str) -> None:
    """A process may have several Options: what a task tells without waiting."""

    async def act(client: Client) -> None:
        for name in ("n", "other"):
            client.tell(Operation("delete", "notes", name, "default"))

    def told(steps: list[Step]) -> str:
        return " ".join(step.option.key for step in steps if step.kind == "serve")

    assert len(orders(scenario(alpha=act), sampler(name), 60, told)) == 2


@pytest.mark.parametrize(("name", "most"), [("urw", 45), ("surw", 20)])
def test_the_late_short_write_is_found(name: str, most: int) -> None:
    """In the median of eleven seeds; if every interleaving came alike it would take 29 Runs."""
    found = [trial(LATE, chooser_of(name, seed), 120).runs for seed in range(11)]
    middle = median(found)
    assert middle is not None
    assert middle <= most


@pytest.mark.parametrize("name", ["pct", "pos"])
def test_the_late_short_write_is_found_now_and_then(name: str) -> None:
    """PCT has a chance of 1 in 230 each Run, POS of 1 in 80; a random walk of 1 in 2 to the 39."""
    assert trial(LATE, sampler(name, 100), 400).runs is not None


def test_pct_is_fair_after_a_hundred_effects_and_four_calm_runs() -> None:
    """Until then, once its change points are behind it, one process moves alone."""
    ready = [Option(SERVE, f"{name}/main", lambda: None) for name in ("alpha", "beta", "gamma")]
    for seed in range(5):
        chooser = PCT(seed)
        chooser.begin(RunInfo("made up", 0, 0, lambda: 25))
        moved: dict[int, set[str]] = {}
        for effects in (198, 199, 200):
            chooser.effects = effects
            moved[effects] = {chooser.effect(ready).path for _ in range(40)}
        assert [len(each) for each in moved.values()] == [1, 1, 3]


@pytest.mark.parametrize("name", NAMES)
def test_one_that_polls_does_not_keep_the_others_from_moving(name: str) -> None:
    """Zeta reads a note over and over, without sleeping, until beta has written it: in each Run
    beta gets to, long before the limit of an instant."""

    async def zeta(client: Client) -> None:
        while (await client.get(Note, "n")).data.get("n") != "1":
            await client.get(Note, "other")

    polling = scenario(zeta=zeta, beta=lambda c: writes(c, 2))

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.is_held, str(world.verdict)
        assert world.verdict.turns < 3_000
        return True

    play_runs(polling, sampler(name), look, runs_max=60, driver="direct")


def test_surw_does_not_wait_for_ever_for_the_one_that_is_meant() -> None:
    """Zeta reads `other` over and over until beta has written it, and only then `n`; beta writes
    `n` first. If zeta is meant to touch `n` next, beta has its turn all the same."""

    async def zeta(client: Client) -> None:
        while (await client.get(Note, "other")).data.get("n") != "1":
            pass
        await client.get(Note, "n")

    async def beta(client: Client) -> None:
        await writes(client, 1)
        await client.update(note("other", n="1"), whatever_it_was=True)

    keys: set[str] = set()
    chooser = SURW(1)

    def look(world: World) -> bool:
        keys.add(chooser.key)
        assert world.verdict is not None
        assert world.verdict.is_held, str(world.verdict)
        assert world.verdict.turns < 1_000
        return True

    play_runs(scenario(zeta=zeta, beta=beta), chooser, look, runs_max=40, driver="direct")
    assert "notes/default/n" in keys


# -- a Run is a function of (seed, number, what was learnt) ---------------------------------------


def digest(name: str, driver: str) -> str:
    """Of twenty Runs with picks, watches, time and faults, learning as it goes."""
    seen = hashlib.sha256()

    def look(world: World) -> bool:
        seen.update(world.trace.digest().encode())
        return True

    switches = {"faults": 2}
    chooser = sampler(name, 7)
    play_runs(LOTS, chooser, look, runs_max=20, switches=switches, driver=driver, keep=True)
    return seen.hexdigest()


def test_the_same_seed_gives_the_same_runs() -> None:
    """Under either driver, and in another process with another hash seed."""
    mine = [digest(name, driver) for name in NAMES for driver in ("trio", "direct")]
    assert mine[::2] == mine[1::2]
    assert len(set(mine)) == len(NAMES)
    code = (
        "from tests.choosers import test_samplers as t; "
        "print(*[t.digest(name, 'direct') for name in t.NAMES])"
    )
    hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == mine[::2]


def turned(data: Any) -> Any:
    """The same, every mapping in another order."""
    if not isinstance(data, dict):
        return data
    return {name: turned(data[name]) for name in reversed(data)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("played", "switches"), [(LOTS, {"faults": 2}), (LATE, {})])
def test_a_run_does_not_depend_on_those_before_it(
    name: str, played: Scenario, switches: dict[str, int]
) -> None:
    """With what was learnt given, Run 7 is the same after Runs 0 to 6 and by itself, and with that
    told to another process and back, its names in another order; what is learnt stays as it is."""
    teacher = sampler(name, 3)
    play_runs(played, teacher, lambda _: True, runs_max=5, switches=switches, driver="direct")
    before = teacher.learned.as_dict()
    row: list[list[object]] = []

    def look(world: World) -> bool:
        row.append([*world.trace.choices])
        return True

    chooser = sampler(name, 4, teacher.learned)
    play_runs(played, chooser, look, runs_max=8, switches=switches, driver="direct")
    told = turned(before)
    for learned in (teacher.learned, Learned.of(told)):
        trace = Trace({})
        played.world(switches).run(
            sampler(name, 4, learned), driver="direct", trace=trace, number=7
        )
        assert trace.choices == row[7]
    assert teacher.learned.as_dict() == before
    assert len({tuple(map(str, choices)) for choices in row}) > 1


@pytest.mark.parametrize("name", ["pct", "surw", "urw"])
def test_alone_it_learns_as_it_goes(name: str) -> None:
    """The first Run is the same as with nothing learnt; some Run after it is not."""
    rows: list[list[list[object]]] = []
    for learned in (None, Learned()):
        row: list[list[object]] = []

        def look(world: World) -> bool:
            row.append([*world.trace.choices])  # noqa: B023 (called at once)
            return True

        play_runs(LATE, sampler(name, 3, learned), look, runs_max=8, driver="direct")
        rows.append(row)
    knowing, ignorant = rows
    assert knowing[0] == ignorant[0]
    assert knowing != ignorant
