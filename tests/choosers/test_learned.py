"""Profile and Learned, and the Profiler that makes one: what Runs show, and how it adds up."""

from __future__ import annotations

import json

import pytest

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.sampling import learned as module
from testbed.choosers.sampling.learned import UNIT, Learned, Profile
from testbed.choosers.sampling.profiler import Profiler
from testbed.choosers.urw import URW
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.samples import reads, scenario
from tests.shared.stage import note, world_of

LOTS = find("tests.shared.lots:drawing_lots")


def profile_of(world: World, chooser: Chooser | None = None) -> Profile:
    """Of its calm Run, or another."""
    trace = Trace({}, keep=True)
    world.run(chooser or Calm(), driver="direct", trace=trace)
    profiler = Profiler()
    for step in trace.steps:
        profiler.ended(step)
    return profiler.profile()


# -- Profile --------------------------------------------------------------------------------------


def test_effects_are_counted_by_path_and_glue_is_not() -> None:
    """Each task and each stream is a process of its own; starts, answers, resumes and wakes are of
    none, but they are turns."""
    profile = profile_of(find("late_short_write").world())
    assert profile.effects == {"auditor/main": 40, "teller/main": 1}
    assert (profile.total, profile.turns) == (41, 84)
    effects = profile_of(LOTS.world()).effects
    assert set(effects) == {
        "alpha/main",
        "beta/main",
        "onlooker/cache-notes",
        "onlooker/watch-notes",
    }
    assert effects["onlooker/watch-notes"] == 2


def test_a_share_is_an_effect_and_all_that_hangs_on_it() -> None:
    """The rest of its task; what the task it spawns will do; what its writes deliver."""

    async def act(client: Client) -> None:
        await client.get(Note, "n")
        client.spawn("kid", lambda: reads(3)(client))
        await client.get(Note, "n")

    profile = profile_of(scenario(alpha=act, beta=reads(2)).world())
    assert profile.shares == {"alpha/main": [5, 1], "alpha/kid": [3, 2, 1], "beta/main": [2, 1]}
    assert profile.born == {"alpha/kid": "alpha/main"}


def test_a_delivery_hangs_on_the_write_it_tells_of() -> None:
    """Or on the one before it in its stream, if that was later, as in the calm run it is."""

    async def watches(client: Client) -> None:
        Cache(client, Note)
        await client.queue("idle", idle=True).get()

    async def writes(client: Client) -> None:
        await client.sleep(10, "rest")
        for number in range(2):
            await client.update(note(n=str(number)), whatever_it_was=True)

    world = world_of(zeta=watches, alpha=writes)
    world.add(note())
    profile = profile_of(world)
    assert profile.shares["alpha/main"] == [4, 1]
    assert profile.shares["zeta/watch-notes"] == [2, 1]


def test_nothing_hangs_on_what_was_at_another_time() -> None:
    """Time passes only when nothing else can, so effects of two instants have but one order."""

    async def act(client: Client) -> None:
        await client.get(Note, "n")
        await client.sleep(10, "rest")
        await reads(2)(client)

    assert profile_of(scenario(alpha=act).world()).shares == {"alpha/main": [1, 2, 1]}


def test_nothing_hangs_on_a_fault() -> None:
    """It is drawn apart: what a restarted actor does is nobody's, though what the dead one had
    sent already takes effect as before."""

    class Strikes(Calm):
        """Crashes alpha once, after its first read."""

        def __init__(self) -> None:
            self.done = 0

        def choose(self, options: object) -> int:
            self.done += 1
            return options.ready if self.done == 4 else 0  # type: ignore[attr-defined]

    world = scenario(alpha=reads(2)).world()
    world.allow(Crash("alpha", restart_after_ms=0))
    profile = profile_of(world, Strikes())
    assert profile.turns == 10
    assert profile.shares == {"alpha/main": [2, 1, 2, 1]}


def test_contended_is_what_one_process_writes_and_another_reads() -> None:
    """By key, and how many effects of each touch it; not what only one touches, or all read; not
    the log of a kind that nobody lists."""
    assert profile_of(find("lost_update").world()).contended == {
        "notes/default/list": {"alpha/main": 2, "beta/main": 2}
    }
    late = profile_of(find("late_short_write").world())
    assert late.contended == {
        f"notes/default/account-{number}": {"auditor/main": 1, "teller/main": 1}
        for number in (39, 40)
    }


def test_the_log_of_a_kind_is_contended_if_somebody_lists_it() -> None:
    """A list, or the opening of a watch, reads it; every write of the kind writes it; and a
    delivery reads the object it tells of."""

    async def lists(client: Client) -> None:
        await client.list(Note)

    async def creates(client: Client) -> None:
        await client.create(note("new"))

    profile = profile_of(scenario(alpha=creates, beta=reads(1), zeta=lists).world())
    assert profile.contended == {"log:notes": {"alpha/main": 1, "zeta/main": 1}}
    contended = profile_of(LOTS.world()).contended
    assert contended["notes/default/alpha-1"] == {"alpha/main": 1, "onlooker/watch-notes": 1}


def test_clashing_accesses_make_a_pair_told_by_roles() -> None:
    """Which write a read has seen, and which read or write a write came after, if of another
    process; a refused update only reads; no object is named."""
    assert profile_of(find("lost_update").world()).pairs == [
        "serve update notes alpha > serve get notes beta"
    ]

    async def refused(client: Client) -> None:
        try:
            await client.update(note(n="1").with_meta(revision="999"))
        except Conflict:
            client.record("refused")

    world = scenario(alpha=refused, beta=reads(1)).world()
    profile = profile_of(world)
    assert profile.pairs == []
    assert profile.contended == {"notes/default/n": {"alpha/main": 1, "beta/main": 1}}


def test_a_profile_is_plain_data() -> None:
    """Through JSON and back it is the same."""
    profile = profile_of(LOTS.world())
    assert Profile.of(json.loads(json.dumps(profile.as_dict()))) == profile


# -- Learned --------------------------------------------------------------------------------------


def made(turns: int = 10, **shares: list[int]) -> Profile:
    """A Profile with these shares, and a key `k` that each of them touches as often."""
    return Profile(turns, shares, {}, {"k": {path: len(some) for path, some in shares.items()}}, [])


def test_the_mean_of_a_share_is_over_the_runs_that_had_it() -> None:
    """By path and place; one that no Run had is 1, and so is one that would be less."""
    learned = Learned()
    learned.add(made(a=[3, 2, 1]))
    learned.add(made(a=[2, 1], b=[5]))
    assert [learned.share("a", n) for n in range(4)] == [2500, 1500, UNIT, UNIT]
    assert learned.share("b", 0) == 5000
    assert learned.share("c", 0) == UNIT
    assert learned.effects_on("k") == {"a": 2500, "b": 1000}
    assert learned.keys() == ["k"]


def test_lengths_are_learnt() -> None:
    """The longest Run in effects, the mean one in turns."""
    learned = Learned()
    assert (learned.turns_expected(), learned.longest) == (0, 0)
    learned.add(made(10, a=[3, 2, 1]))
    learned.add(made(15, a=[1]))
    assert (learned.turns_expected(), learned.longest) == (12, 3)


def test_what_was_learnt_is_plain_data() -> None:
    """Through JSON and back it is the same, and goes on in the same way."""
    learned = Learned()
    learned.add(profile_of(LOTS.world()))
    again = Learned.of(json.loads(json.dumps(learned.as_dict())))
    assert again == learned
    for one in (again, learned):
        one.add(made(a=[1]))
    assert again == learned


def test_a_profile_is_not_changed_by_what_is_learnt_from_it() -> None:
    """It may be kept, and told to others."""
    profile = profile_of(LOTS.world())
    before = json.dumps(profile.as_dict())
    learned = Learned()
    learned.add(profile)
    learned.add(profile)
    assert json.dumps(profile.as_dict()) == before


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many processes, effects of each, and keys; of what is beyond the last kept one speaks."""
    monkeypatch.setattr(module, "KEPT_MAX", 2)
    learned = Learned()
    learned.add(made(a=[9, 8, 7]))
    learned.add(made(b=[1], c=[4]))
    assert list(learned.shares) == ["a", "b"]
    assert len(learned.shares["a"]) == 2
    assert [learned.share("a", n) for n in (1, 2, 9)] == [8000, 8000, 8000]
    assert learned.share("c", 0) == UNIT


def test_a_step_that_is_no_turn_is_not_counted() -> None:
    """Picks, holds and releases are Steps; the turns are those that the Verdict counts."""
    chooser_turns: list[tuple[int, int]] = []
    for number in range(12):
        trace = Trace({}, keep=True)
        verdict = LOTS.world().run(URW(9), driver="direct", trace=trace, number=number)
        profiler = Profiler()
        steps: list[Step] = trace.steps
        for step in steps:
            profiler.ended(step)
        chooser_turns.append((profiler.profile().turns, verdict.turns))
    assert all(one == other for one, other in chooser_turns)
