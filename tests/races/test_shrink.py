"""Shrink: what is left is needed, breaches the same claim, and is the same for the same Run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from testbed import Cache, Client, Evidence, World, always, quiescent
from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import ReplayDiverged, ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.objects import Note
from testbed.races.pattern import Pattern, parse_pattern
from testbed.races.plainer import is_plain
from testbed.races.playing import Played, play, race_of
from testbed.races.race import Hold, Race
from testbed.races.racefile import parse
from testbed.races.shrink import shrink
from testbed.races.trying import Limits, Trying
from testbed.races.window import windows
from testbed.turns.option import Choice
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, find, of
from tests.shared.lots import drawing_lots
from tests.shared.stage import Doing, Puppet, note

LOTS = of(drawing_lots)
FOUND = Path(__file__).parent.parent / "story" / "found" / "crash_and_resync.txt"


def failing(recipe: Scenario, seeds: int, **switches: object) -> list[list[Choice]]:
    """The choices of the violated Runs among so many seeds."""
    found = []
    for seed in range(seeds):
        world = recipe.world(switches)
        if world.run(Uniform(seed), driver="direct").is_violated:
            found.append(world.trace.choices)
    return found


def is_needed(race: Race, recipe: Scenario) -> bool:
    """Whether no line of it can be left out."""
    for name in ("holds", "faults", "picks"):
        lines = getattr(race, name)
        for index in range(len(lines)):
            fewer = attrs.evolve(race, **{name: lines[:index] + lines[index + 1 :]})
            if play(fewer, recipe).verdict.is_violated:
                return False
    return True


@pytest.mark.parametrize(("name", "lines_max"), [("lost_update", 1), ("double_bind", 2)])
def test_a_found_race_shrinks_to_a_line_or_two(name: str, lines_max: int) -> None:
    """Whatever else was late in the Run that found it; and each line is needed."""
    recipe = find(name)
    for choices in failing(recipe, 12):
        shrunk = shrink(race_of(recipe, {}, choices), recipe)
        assert 1 <= len(shrunk.race) <= lines_max, shrunk.race.text()
        assert is_needed(shrunk.race, recipe)
        assert shrunk.race.expect[0].violates == shrunk.violation.invariant
    assert shrink(race_of(recipe, {}, choices), recipe).race == shrunk.race


def test_the_result_is_compared_under_both_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last Run is one under trio, of just that race; what it shows otherwise is an error."""
    recipe = find("lost_update")
    under: list[tuple[str, Race]] = []

    def noted(race: Race, recipe: Scenario, driver: str = "direct") -> Played:
        under.append((driver, race))
        return play(race.having(()) if is_odd and driver == "trio" else race, recipe)

    race = race_of(recipe, {}, failing(recipe, 12)[0])
    monkeypatch.setattr("testbed.races.shrink.play", noted)
    is_odd = False
    shrunk = shrink(race, recipe)
    assert under[-1] == ("trio", attrs.evolve(shrunk.race, expect=()))
    is_odd = True
    with pytest.raises(ReplayDiverged):
        shrink(race, recipe)


def test_faults_and_picks_that_are_not_needed_go() -> None:
    """Two draw red: the two picks are all there is to it."""
    (choices, *_) = failing(LOTS, 60, faults=2)
    shrunk = shrink(race_of(LOTS, {"faults": 2}, choices), LOTS)
    assert not shrunk.race.faults
    assert not shrunk.race.holds
    assert {pick.alternative for pick in shrunk.race.picks} == {"red"}
    assert len(shrunk.race.picks) == 2


def crashing(world: World) -> None:
    """Alpha writes twice, beta and gamma look on; a crash of alpha between the writes shows."""

    async def alpha(client: Client) -> None:
        await client.create(note("one"))
        await client.create(note("two"))

    async def other(client: Client) -> None:
        await client.list(Note)

    def both_or_none(see: Evidence) -> str | None:
        notes = {entry.key for entry in see.store.snapshot("notes/default/")}
        return "half is written" if len(notes - {"notes/default/old"}) == 1 else None

    world.add(note("old"))
    world.start(Puppet("alpha", alpha), Puppet("beta", other), Puppet("gamma", other))
    world.allow(Crash(), Stall())
    world.claim(quiescent(both_or_none))


def test_a_fault_that_is_needed_stays_and_who_is_not_goes() -> None:
    """One crash, after the first write has taken effect; nobody else, nothing else."""
    recipe = of(crashing)
    for choices in failing(recipe, 60)[:5]:
        shrunk = shrink(race_of(recipe, {}, choices), recipe)
        assert [strike.fault.word for strike in shrunk.race.faults] == ["crash"]
        assert sorted(shrunk.race.without) == ["beta", "gamma", "notes/default/old"]
        assert not shrunk.race.holds, shrunk.race.text()


def test_a_fault_that_strikes_at_a_time_keeps_its_time() -> None:
    """It could strike after a request as well; but somebody has said when."""

    def slow(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("one"))
            await client.sleep(5000, "rest")
            await client.create(note("two"))

        def both_or_none(see: Evidence) -> str | None:
            return "half is written" if len(see.store.snapshot("notes/")) == 1 else None

        world.start(Puppet("alpha", alpha))
        world.allow(Crash())
        world.claim(quiescent(both_or_none, reads=("log:notes",)))

    race = parse("scenario: slow\nfaults:\n  - crash: alpha\n    at: 2s\n", "own")
    shrunk = shrink(race, of(slow))
    assert [str(strike) for strike in shrunk.race.faults] == ["crash: alpha at 2s"]


def test_a_fault_strikes_as_early_as_it_may_also_behind_one_that_keeps_its_time() -> None:
    """The first keeps the time that somebody has said, the second needs no later request."""

    def both_slow(world: World) -> None:
        def writing(first: str, second: str) -> Doing:
            async def run(client: Client) -> None:
                await client.create(note(first))
                await client.list(Note)
                await client.sleep(5000, "rest")
                await client.create(note(second))

            return run

        def all_or_none(see: Evidence) -> str | None:
            return "half is written" if len(see.store.snapshot("notes/")) == 2 else None

        world.start(Puppet("alpha", writing("one", "two")), Puppet("beta", writing("un", "deux")))
        world.allow(Crash())
        world.claim(quiescent(all_or_none, reads=("log:notes",)))

    faults = "  - crash: alpha\n    at: 2s\n  - crash: beta\n    after: beta list notes\n"
    shrunk = shrink(parse(f"scenario: both_slow\nfaults:\n{faults}", "own"), of(both_slow))
    assert [str(strike) for strike in shrunk.race.faults] == [
        "crash: alpha at 2s", "crash: beta after beta create notes/default/un",
    ]  # fmt: skip


def test_a_shrunk_race_can_be_shrunk_again() -> None:
    """It stays as it is."""
    recipe = find("double_bind")
    shrunk = shrink(race_of(recipe, {}, failing(recipe, 5)[0]), recipe)
    assert shrink(shrunk.race, recipe).race == shrunk.race


def test_what_breaches_nothing_cannot_be_shrunk() -> None:
    """Nor what breaches another claim than the one that is named."""
    recipe = find("lost_update")
    calm = recipe.world()
    calm.run(Calm(), driver="direct")
    with pytest.raises(ScenarioError, match="there is nothing to shrink: the race breaches noth"):
        shrink(race_of(recipe, {}, calm.trace.choices), recipe)
    with pytest.raises(ScenarioError, match="does not breach no_actor_dies"):
        shrink(race_of(recipe, {}, failing(recipe, 5)[0]), recipe, invariant="no_actor_dies")


def test_the_runs_are_limited() -> None:
    """At the limit what is smallest so far is handed out."""
    recipe = find("double_bind")
    (choices, *_) = failing(recipe, 5)
    assert shrink(race_of(recipe, {}, choices), recipe, limits=Limits(3)).runs <= 3 + 2 + 20
    assert len(shrink(race_of(recipe, {}, choices), recipe, limits=Limits(0)).race) > 2


@pytest.mark.parametrize("most", range(0, 40, 6))
def test_a_shrink_is_cut_off_when_time_is_up(most: int) -> None:
    """Whenever it is: no Run more is tried, and what is handed out still breaches the claim, takes
    no more lines than the whole, and says that it was cut off."""
    recipe = find("double_bind")
    (choices, *_) = failing(recipe, 5)
    whole = race_of(recipe, {}, choices)
    tried: list[int] = []
    limits = Limits(is_over=lambda: len(tried) >= most, on_run=lambda runs, _: tried.append(runs))
    shrunk = shrink(whole, recipe, limits=limits)
    assert len(tried) == most
    assert (shrunk.cut_off, len(shrunk.race) <= len(whole)) == ("time is up", True)
    assert play(shrunk.race, recipe).verdict.is_violated
    assert not shrink(whole, recipe).cut_off


def test_a_claim_that_cannot_do_without_what_is_left_out_is_no_smaller() -> None:
    """Its KeyError means only that this does not show the breach."""

    def looking(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("one"))

        world.add(note("needed"))
        world.start(Puppet("alpha", alpha))

        def claim(see: Evidence) -> str | None:
            names = {entry.key: entry for entry in see.store.snapshot("notes/")}
            names["notes/default/needed"]
            return "it is there" if "notes/default/one" in names else None

        world.claim(always(claim))
        world.needs_no_race = "it is about what can be left out"

    recipe = of(looking)
    calm = recipe.world()
    calm.run(Calm(), driver="direct")
    assert shrink(race_of(recipe, {}, calm.trace.choices), recipe).race.without == ()


def test_a_claim_that_is_false_at_the_start_leaves_somebody_to_break_it() -> None:
    """Two must each set a field: a World without them breaches that, and shows no race."""

    def setter(field: str) -> object:
        async def run(client: Client) -> None:
            seen = await client.get(Note, "n")
            await client.update(seen.saying(**{field: "set"}), whatever_it_was=True)

        return run

    def both_are_set(see: Evidence) -> str | None:
        entry = see.store.peek("notes/default/n")
        is_set = entry is not None and len(entry.value.data) == 2  # type: ignore[attr-defined]
        return None if is_set else "one is missing"

    def build(world: World) -> None:
        world.add(note("n"), note("other"))
        world.start(Puppet("hpa", setter("replicas")))  # type: ignore[arg-type]
        world.start(Puppet("cd", setter("image")))  # type: ignore[arg-type]
        world.claim(quiescent(both_are_set))

    recipe = of(build)
    shrunk = shrink(race_of(recipe, {}, failing(recipe, 20)[0]), recipe)
    assert shrunk.race.without == ("notes/default/other",)
    assert len(shrunk.race.holds) == 1


def test_of_a_world_whose_calm_run_violates_nothing_is_left_out() -> None:
    """What remained would be smaller, and say nothing of the World that was asked about."""

    def always_breached(world: World) -> None:
        world.start(Puppet("alpha", write), Puppet("beta", write))
        world.claim(always(there_is_no_note, reads=("log:notes",)))

    async def write(client: Client) -> None:
        await client.create(note(client.name))

    def there_is_no_note(see: Evidence) -> str | None:
        return "there is one" if see.store.snapshot("notes/") else None

    recipe = of(always_breached)
    race = shrink(race_of(recipe, {}, failing(recipe, 1)[0]), recipe).race
    assert (len(race), race.without) == (0, ())


def test_what_is_left_out_breaks_no_other_claim_by_itself() -> None:
    """Alpha dies where its note is not, whatever is late: so the note stays, though the breach does
    not take it."""

    async def alpha(client: Client) -> None:
        await client.create(note("one"))
        await client.get(Note, "needed")

    async def beta(client: Client) -> None:
        if not any(seen.meta.name == "one" for seen in (await client.list(Note)).items):
            client.record("missed")

    def is_seen(see: Evidence) -> str | None:
        return "missed" if see.records else None

    def build(world: World) -> None:
        world.add(note("needed"), note("other"))
        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(always(is_seen))

    recipe = of(build)
    shrunk = shrink(race_of(recipe, {}, failing(recipe, 20)[0]), recipe, invariant="is_seen")
    assert shrunk.race.without == ("notes/default/other",)
    calm = attrs.evolve(shrunk.race, holds=(), expect=())
    assert play(calm, recipe).verdict.is_held


def two_breaches(world: World, *, raises: bool = False) -> None:
    """Alpha and beta lose what one of them wrote on `a` if one line says so; that nothing is there
    of what hana looks for takes two, and breaches the same claim. It may be that the claim `raises`
    if something is lost."""

    async def writer(client: Client) -> None:
        seen = await client.get(Note, "a")
        await client.update(seen.saying(by=client.name), whatever_it_was=True)
        client.record("wrote", over=seen.data["by"])

    async def makes(client: Client) -> None:
        await client.create(note(f"of-{client.name}"))

    async def looks(client: Client) -> None:
        there = [item.meta.name for item in (await client.list(Note)).items]
        client.record("looked", found=len([name for name in there if name.startswith("of-")]))

    def all_is_seen(see: Evidence) -> str | None:
        for record in see.records:
            if record.facts.get("found") == 0:
                return "nothing is there for b"
        over = [record.facts["over"] for record in see.records if record.name == "wrote"]
        if over == ["", ""] and raises:
            raise LookupError("something is lost")
        return "of a something is lost" if over == ["", ""] else None

    world.add(note("a", by=""), note("b"))
    world.start(Puppet("alpha", writer), Puppet("beta", writer))
    world.start(Puppet("fay", makes), Puppet("gina", makes), Puppet("hana", looks))
    world.claim(always(all_is_seen))


TWO_LATE = """
scenario: two_breaches
holds:
  - hold: fay create notes/default/of-fay
    until: hana list notes
  - hold: gina create notes/default/of-gina
    until: hana list notes
"""


def test_a_shrink_does_not_slip_to_another_breach_of_its_claim() -> None:
    """One line would do for `a`; but the breach is that of `b`, and so it stays."""
    shrunk = shrink(parse(TWO_LATE, "own"), of(two_breaches))
    assert shrunk.violation.said == "nothing is there for b"
    assert len(shrunk.race.holds) == 2


def test_every_run_of_a_shrink_is_told_and_may_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those with fewer deviations that are tried at the end. What a claim raises in one of
    them does not end the shrink."""
    below: list[Race] = []
    run = Trying.run

    def noting(trying: Trying, race: Race, chooser: Chooser) -> World | None:
        below.append(race)
        return run(trying, race, chooser)

    monkeypatch.setattr(Trying, "run", noting)
    race, told = parse(f"{TWO_LATE}switches: {{raises: on}}\n", "own"), list[int]()
    limits = Limits(on_run=lambda runs, size: told.append(runs))
    shrunk = shrink(race, of(two_breaches), limits=limits)
    assert len(shrunk.race.holds) == 2
    assert told == list(range(1, shrunk.runs - 1))
    assert 5 < len(below) < len(told) - 10


def in_two_tasks(world: World, *, begins: bool = False, more: bool = False) -> None:
    """Fay makes two notes, each in a task of its own, and hana looks whether any is there. It may
    be that this matters only once fay `begins`, and that gina makes one `more`."""

    async def makes(client: Client) -> None:
        client.record("began")
        for name in ("a", "b"):
            client.spawn(name, partial(client.create, note(name)))

    async def makes_one(client: Client) -> None:
        await client.create(note("c"))

    async def looks(client: Client) -> None:
        client.record("looked", found=len((await client.list(Note)).items))

    def something_is_there(see: Evidence) -> str | None:
        if not see.records or see.records[-1].name != "looked":
            return None
        found = see.records[-1].facts["found"]
        if more and 0 < found < 3:
            raise LookupError("only something is there")
        is_early = begins and see.records[0].name == "looked"
        return "nothing is there" if found == 0 and not is_early else None

    world.start(Puppet("fay", makes))
    if more:
        world.start(Puppet("gina", makes_one))
    world.start(Puppet("hana", looks))
    world.allow(Crash("fay"))
    world.claim(always(something_is_there))


BOTH_LATE = """
scenario: in_two_tasks
holds:
  - hold: fay create notes/default/a
    until: hana list notes
  - hold: fay create notes/default/b
    until: hana list notes
"""


def test_what_two_lines_do_one_may_do_but_no_fault_instead() -> None:
    """Fay is late as a whole. Where that is too late, only its crash does at once what two lines
    do; but that is another race."""
    recipe = of(in_two_tasks)
    shrunk = shrink(parse(BOTH_LATE, "own"), recipe)
    assert [str(hold.what) for hold in shrunk.race.holds] == ["start of fay"]
    begun = "switches: {begins: on}\n"
    shrunk = shrink(parse(BOTH_LATE + begun, "own"), recipe)
    assert (len(shrunk.race.holds), shrunk.race.faults) == (2, ())
    crash = "scenario: in_two_tasks\nfaults:\n- crash: fay\n  after: start of fay\n"
    assert play(parse(crash + begun, "own"), recipe).verdict.is_violated


def test_a_run_with_fewer_deviations_that_takes_as_many_lines_is_no_smaller_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the shrink would go round in circles until it may play no more."""
    both = parse(BOTH_LATE, "own")
    monkeypatch.setattr("testbed.races.shrink.race_of", lambda *_, **__: both)
    shrunk = shrink(both, of(in_two_tasks))
    assert (len(shrunk.race.holds), shrunk.cut_off) == (2, "")


def test_a_run_with_fewer_deviations_that_raises_hides_none_with_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one, the claim raises; with two it is breached, as it is by three lines."""
    monkeypatch.setattr("testbed.races.shrink.BELOW_MAX", 1000)
    gina = "  - hold: gina create notes/default/c\n    until: hana list notes\n"
    race = parse(f"{BOTH_LATE}{gina}switches: {{more: on}}\n", "own")
    shrunk = shrink(race, of(in_two_tasks))
    assert len(shrunk.race.holds) == 2, shrunk.race.text()


def pattern(text: str) -> Pattern:
    """A sentence of a race file, read."""
    found = parse_pattern(text)
    assert found is not None
    return found


def test_a_hold_ends_with_what_a_person_would_name() -> None:
    """Neither with an Event, whose name is a hash, nor with the second of a kind, where another
    request comes at the same place."""
    assert is_plain(pattern("alpha patch pods/default/urgent/status"))
    assert not is_plain(pattern("alpha create events/default/db.4f4d76db6b6c45cc"))
    assert not is_plain(pattern("beta bind pods/default/c#2"))
    race = parse(FOUND.read_text(encoding="utf-8"), "found")
    (hold,) = race.holds
    event = "default-scheduler create events/default/db.4f4d76db6b6c45cc"
    late = attrs.evolve(race, holds=(attrs.evolve(hold, until=pattern(event)),))
    (hold,) = shrink(late, find(race.scenario)).race.holds
    assert str(hold.until) == "default-scheduler patch pods/default/urgent/status"


def test_a_watch_that_is_late_becomes_the_news_that_is() -> None:
    """The reader goes by its Cache at 1,000 ms; the note comes at 900. So the news must be late by
    100 ms, however early the watch was to be opened."""

    def reader_and_writer(world: World) -> None:
        async def reader(client: Client) -> None:
            cache = Cache(client, Note)
            await cache.synced()
            await client.sleep(1_000, "look")
            if cache.get("new") is None:
                await client.create(note("unseen"))

        async def writer(client: Client) -> None:
            await client.sleep(900)
            await client.create(note("new"))

        def is_seen(see: Evidence) -> str | None:
            return "it was not seen" if see.store.peek("notes/default/unseen") else None

        world.start(Puppet("reader", reader), Puppet("writer", writer))
        world.claim(always(is_seen))

    text = """
scenario: reader_and_writer
holds:
  - hold: reader watch notes
    until: reader create notes/default/unseen
"""
    recipe = of(reader_and_writer)
    shrunk = shrink(parse(text, "race"), recipe)
    (hold,) = shrunk.race.holds
    assert str(hold.what) == "delivery of notes/default/new to reader"
    (window,) = windows(shrunk.race, recipe, shrunk.violation)
    assert window.least_ms == 101


def counted_turns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many turns each Run takes that is played from now on."""
    turns: list[int] = []
    run = World.run

    def counting(world: World, *given: object, **named: object) -> Verdict:
        turns.append((verdict := run(world, *given, **named)).turns)  # type: ignore[arg-type]
        return verdict

    monkeypatch.setattr(World, "run", counting)
    return turns


def test_who_goes_round_beside_a_hold_is_not_followed_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Held until quiet, beside one that writes again and again: never quiet, so never an end. As
    the race is written plainly, that is tried, and given up soon."""

    async def ticks(client: Client) -> None:
        count = 0
        while (await client.get(Note, "n")).data["x"] != "done":
            count += 1
            await client.update(note("tick", x=str(count)), whatever_it_was=True)
            await client.sleep(1_000, "tick")

    async def ends(client: Client) -> None:
        seen = await client.get(Note, "tick")
        await client.get(Note, "n")
        client.record("seen", x=seen.data["x"])
        await client.update(note(x="done"), whatever_it_was=True)

    def it_knows(see: Evidence) -> str | None:
        tick: Any = see.store.peek("notes/default/tick")
        late = [r for r in see.records if tick and r.facts["x"] != tick.value.data["x"]]
        return "notes/default/tick has changed meanwhile" if late else None

    def build(world: World) -> None:
        world.add(note(x=""), note("tick", x=""))
        world.start(Puppet("ends", ends), Puppet("ticks", ticks))
        world.claim(quiescent(it_knows))

    turns = counted_turns(monkeypatch)
    what = parse_pattern("ends get notes/default/n")
    until = parse_pattern("ticks update notes/default/tick")
    assert what is not None
    hold = Hold(what, until)
    shrink(Race("ticks", holds=(hold,)), of(build))
    assert max(turns) < 5_000


def test_who_goes_round_without_a_line_is_not_followed_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the line is left out that shows the breach, somebody writes for ever. That is given up
    soon, and the line stays."""

    async def ticks(client: Client) -> None:
        if (await client.get(Note, "n")).data["x"] == "late":
            client.record("too late")
            return
        count = 0
        while True:
            count += 1
            await client.update(note("tick", x=str(count)), whatever_it_was=True)
            await client.sleep(1_000, "tick")

    async def comes(client: Client) -> None:
        await client.update(note(x="late"), whatever_it_was=True)

    def it_was_in_time(see: Evidence) -> str | None:
        return "it came too late" if see.records else None

    def build(world: World) -> None:
        world.add(note(x=""), note("tick", x=""))
        world.start(Puppet("ticks", ticks), Puppet("writer", comes))
        world.claim(always(it_was_in_time))

    turns = counted_turns(monkeypatch)
    what = parse_pattern("writer update notes/default/n")
    reads = parse_pattern("ticks get notes/default/n")
    assert what is not None
    assert reads is not None
    shrunk = shrink(Race("ticks", holds=(Hold(reads, what),)), of(build))
    assert len(shrunk.race.holds) == 1
    assert max(turns) < 2_000
