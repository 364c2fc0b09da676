"""About: the writes without which a claim holds, asked of functions and of claims that remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.invariant import COMMIT, Evidence, Invariant, always, quiescent
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.story.twins.about import ALONE, RECORDED, WITH_RECORDS, breaking
from testbed.story.twins.asking_again import AskingAgain
from testbed.story.twins.nearest import twins
from testbed.story.twins.side import PlayedSide
from testbed.turns.trace import Step
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.shared.stage import Puppet, note


async def ann(client: Any) -> None:
    """Makes two seats and says how many; the label matters to nobody."""
    for name in ("one", "two"):
        await client.create(note(name, label="red"))
    client.record("made", count=2)


def seats(see: Evidence) -> str | None:
    """There is one seat at most."""
    found = see.store.snapshot("notes/default/")
    return f"{len(found)} seats" if len(found) > 1 else None


class Seats(Invariant):
    """The same, by what it has counted itself."""

    name = "seats"
    looks_at = frozenset({COMMIT})

    def __init__(self) -> None:
        self.count = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """Count what is made."""
        self.count += sum(change.old is None for change in evidence.changes)
        return f"{self.count} seats" if self.count > 1 else None


def said(see: Evidence) -> str | None:
    """Nobody says two."""
    return "two were made" if any(r.facts.get("count") == 2 for r in see.records) else None


def room(claim: Callable[[], Invariant]) -> Callable[[World], None]:
    """Ann alone, and that claim."""

    def build(world: World) -> None:
        world.start(Puppet("ann", ann))
        world.claim(claim())

    return build


def asked(build: Callable[[World], None], name: str) -> AskingAgain:
    """The calm run of it, and its claim."""
    played = play(parse(f"scenario: {build.__name__}\n", "x"), of(build))
    (violation,) = played.verdict.violations
    side = PlayedSide.of(played.trace)
    upto, now_ms = violation.step, violation.now_ms
    return AskingAgain(side, name, upto=upto, now_ms=now_ms, is_end=upto == len(side.steps))


def test_a_function_and_a_claim_that_remembers_are_about_the_same_writes() -> None:
    """Either create alone: without one of them there is one seat."""
    for claim in (lambda: always(seats), Seats):
        found = breaking(asked(room(claim), "seats"))
        assert [[e.key for e in each.effects] for each in found] == [
            ["notes/default/two"],
            ["notes/default/one"],
        ]
        assert {each.how for each in found} == {ALONE}


def test_a_record_is_what_it_is_about_only_where_no_commit_is() -> None:
    """Whatever its actor had written before."""
    (found,) = breaking(asked(room(lambda: quiescent(said)), "said"))
    assert found.how == RECORDED
    assert [effect.key for effect in found.effects] == ["record:ann/main:made"]


def test_a_commit_with_what_its_task_said_is_found_where_neither_does_alone() -> None:
    """In a lost update: without the second write, its writer did not say that it has signed."""
    recipe = find("lost_update")
    lines = (
        "holds:\n- hold: alpha update notes/default/list\n  until: beta get notes/default/list\n"
    )
    played = play(parse(f"scenario: lost_update\n{lines}", "x"), recipe, switches={"guard": "off"})
    violation = played.verdict.violations[0]
    side = PlayedSide.of(played.trace)
    upto, now_ms = violation.step, violation.now_ms
    asking = AskingAgain(side, violation.invariant, upto=upto, now_ms=now_ms, is_end=False)
    (found,) = breaking(asking)
    assert found.how == WITH_RECORDS
    assert found.effects[0].act.actor == "beta"
    # And its twin is the Run without the one line of the race.
    (twin,) = twins(side, violation.invariant)
    assert str(twin.line) == str(play_line(played))
    assert not twin.is_guarded
    assert twin.alike > 0


def play_line(played: Any) -> object:
    """The one line of the race that was played."""
    (line,) = played.world.chooser.race.lines
    return line


def test_the_guard_is_the_twin_where_the_calm_run_breaks_the_claim() -> None:
    """And who is set otherwise there is known."""
    played = play(parse("scenario: web_server\n", "x"), find("web_server"))
    side = PlayedSide.of(played.trace)
    (twin,) = twins(side, played.verdict.violations[0].invariant)
    assert twin.is_guarded
    assert twin.ruled == {"default-scheduler"}
