"""A search: a function of its Task, wherever it is played and however often it is killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from testbed.errors import HarnessError
from testbed.races.playing import play, race_of
from testbed.races.racefile import parse
from testbed.search.engines.here import Here
from testbed.search.finding import Finding
from testbed.search.ledger import Ledger
from testbed.search.planned_run import Outcome, PlannedRun, SearchTask
from testbed.search.player import Player
from testbed.search.portfolio import Portfolio
from testbed.search.search import Search, Watching
from tests.shared.planned_runs import search_of

CRASHY = SearchTask("double_bind", faults=("crash",))
PLAIN = SearchTask("double_bind")


def shown(search: Search) -> dict[str, Any]:
    """All that a search has come to."""
    return {
        "runs": search.runs,
        "verdicts": search.verdicts,
        "breaches": search.findings.breaches,
        "level": search.level,
        "found": [finding.as_dict() for finding in search.found],
        "shares": [attrs.asdict(arm) for arm in search.portfolio.arms],
        "ways": (search.coverage.ways, search.coverage.chance_of_more),
        "learned": search.learned.as_dict(),
    }


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """What the search that is never disturbed comes to."""
    search = search_of(CRASHY)
    search.play()
    return shown(search)


def test_a_search_finds_each_cause_once_and_says_how_it_was_found(whole: dict[str, Any]) -> None:
    """The race is shrunk to the one hold that it takes, and plays again as it is told."""
    (data, *_) = whole["found"]
    finding = Finding.of(data)
    assert (finding.invariant, finding.deviations) == ("no_node_is_overcommitted", 1)
    assert finding.window.endswith("is late by 1 ms or more")
    assert finding.level == "complete up to 0 deviations, 0 faults"
    assert finding.runs == finding.run + 1
    race = parse(finding.race, "here")
    played = play(race, Player(PLAIN).recipe)
    assert [v.said for v in played.verdict.violations] == [finding.said]
    assert whole["breaches"][finding.invariant] > 1
    assert len({tuple(found["cause"]) for found in whole["found"]}) == len(whole["found"])


def test_two_processes_find_what_one_does(whole: dict[str, Any]) -> None:
    """The same Findings in the same order, shares, coverage, and all that was learnt."""
    search = search_of(CRASHY, workers=2)
    search.play()
    assert shown(search) == whole


def test_another_seed_is_another_search(whole: dict[str, Any]) -> None:
    """And the same one finds the same."""
    search = search_of(attrs.evolve(CRASHY, seed=1))
    search.play()
    assert shown(search)["learned"] != whole["learned"]


class Stops(Exception):
    """Ends a search where nothing would."""


@pytest.mark.parametrize("after", [1, 40, 79])
def test_a_search_goes_on_where_it_was_stopped(
    tmp_path: Path, whole: dict[str, Any], after: int
) -> None:
    """Nothing is played twice, nothing shrunk twice; it comes to what it would have come to."""
    path = str(tmp_path / "a.ledger")

    def stop() -> None:
        if first.runs == after:
            raise Stops

    ledger = Ledger(path, {}, resumes=False)
    first = search_of(CRASHY, ledger=ledger, watching=Watching(on_run=stop))
    with pytest.raises(Stops):
        first.play()
    ledger.close()
    ledger = Ledger(path, {}, resumes=True)
    second = search_of(CRASHY, ledger=ledger)
    played: list[int] = []
    engine = second.engine
    assert isinstance(engine, Here)
    play_one = engine.player.play

    def count(planned: PlannedRun) -> Outcome:
        played.append(planned.run)
        return play_one(planned)

    engine.player.play = count  # type: ignore[method-assign]
    second.play()
    ledger.close()
    assert shown(second) == whole
    assert played == list(range(after, 80))


def test_a_search_that_was_over_goes_on_with_more_runs(tmp_path: Path) -> None:
    """A budget that ended in the middle of a round changes nothing of the rest of it."""
    path = str(tmp_path / "a.ledger")
    for runs_max in (20, 50):
        ledger = Ledger(path, {}, resumes=True)
        search = search_of(CRASHY, ledger=ledger, runs_max=runs_max)
        search.play()
        ledger.close()
    straight = search_of(CRASHY, runs_max=50)
    straight.play()
    assert shown(search) == shown(straight)


def test_the_guard_keeps_every_race_away() -> None:
    """The same search finds nothing, and says how far it looked."""
    search = search_of(SearchTask("double_bind", {"guard": "on"}), runs_max=300)
    search.play()
    assert (search.found, search.verdicts) == ([], {"held": 300})
    assert search.level == "complete up to 1 deviation, 0 faults"
    assert search.player.learned.as_dict() == search.learned.as_dict()


def test_the_first_may_be_enough() -> None:
    """It stops in the middle of a round."""
    search = search_of(PLAIN, until_first=True)
    search.play()
    assert len(search.found) == 1
    assert search.runs == search.found[0].runs < 33


def test_time_may_be_up() -> None:
    """Between two Runs; what was found is kept, and why it ended is told."""
    search = search_of(PLAIN, watching=Watching(is_over=lambda: search.runs >= 20))
    search.play()
    assert (search.runs, search.stopped, len(search.found)) == (20, "time is up", 1)


def test_what_was_found_is_kept_when_shrinking_is_interrupted() -> None:
    """Ctrl-C in the middle of it: the Finding stands there whole, and still plays."""

    def interrupt(runs: int, size: int) -> None:
        raise KeyboardInterrupt

    search = search_of(PLAIN, watching=Watching(on_shrink=interrupt))
    search.play()
    (finding,) = search.found
    assert (search.stopped, finding.not_shrunk) == ("interrupted", "interrupted")
    verdict = play(parse(finding.race, "here"), search.player.recipe).verdict
    assert [v.invariant for v in verdict.violations] == [finding.invariant]


def test_an_interrupted_shrink_is_told_as_far_as_it_came() -> None:
    """The fewest lines that are known to be enough, though the next Run is never played."""
    sizes: list[int] = []

    def interrupt(runs: int, size: int) -> None:
        sizes.append(size)
        if len(sizes) > 20:
            raise KeyboardInterrupt

    wholes: list[int] = []
    watching = Watching(on_shrink=interrupt, on_breach=lambda f: wholes.append(f.deviations))
    task = SearchTask("crash_and_resync")
    search = Search(Player(task), Portfolio(["uniform"]), Here(Player(task)), watching=watching)
    search.play()
    (finding,) = search.found
    assert (search.stopped, finding.not_shrunk) == ("interrupted", "interrupted")
    assert len(sizes) == 21
    assert 0 < finding.deviations < wholes[0]
    verdict = play(parse(finding.race, "here"), search.player.recipe).verdict
    assert [v.invariant for v in verdict.violations] == [finding.invariant]


def test_what_cannot_be_shrunk_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shrinker that refuses one Run takes no other with it."""

    def refuses(*_: object, **__: object) -> None:
        raise HarnessError("it does not breach it again")

    monkeypatch.setattr("testbed.search.search.shrink", refuses)
    search = search_of(PLAIN, runs_max=40)
    search.play()
    assert search.runs == 40
    finding = search.found[0]
    assert finding.not_shrunk == "it does not breach it again"
    assert finding.no_window == "it is not shrunk"


def test_what_is_found_is_told_before_it_is_shrunk() -> None:
    """So a race file is there as soon as there is a race, whatever happens then."""
    told: list[tuple[str, str]] = []
    watching = Watching(
        on_breach=lambda f: told.append(("breach", f.not_shrunk)),
        on_finding=lambda f: told.append(("finding", f.not_shrunk)),
    )
    search_of(PLAIN, until_first=True, watching=watching).play()
    assert told == [("breach", "interrupted"), ("finding", "")]


def test_time_may_be_up_while_a_race_is_shrunk() -> None:
    """It ends there; the race is told as far as it came, and why it is no smaller."""
    shrunk: list[int] = []
    watching = Watching(
        on_shrink=lambda _, size: shrunk.append(size), is_over=lambda: len(shrunk) >= 5
    )
    search = search_of(PLAIN, watching=watching)
    search.play()
    (finding,) = search.found
    assert (len(shrunk), search.stopped, finding.not_shrunk) == (5, "time is up", "time is up")
    assert finding.no_window == "time is up"
    assert play(parse(finding.race, "here"), search.player.recipe).verdict.is_violated


def test_time_may_be_up_while_a_window_is_looked_for() -> None:
    """The race is shrunk then, and only its window is not known."""
    asked: list[int] = []

    def ask(last: int) -> Search:
        def is_over() -> bool:
            asked.append(len(asked))
            return len(asked) > last

        asked.clear()
        search = search_of(PLAIN, until_first=True, watching=Watching(is_over=is_over))
        search.play()
        return search

    (whole,) = ask(1_000_000).found
    assert whole.window
    search = ask(len(asked) - 3)
    (finding,) = search.found
    assert search.stopped == "time is up"
    assert (finding.race, finding.not_shrunk) == (whole.race, "")
    assert (finding.window, finding.no_window) == ("", "time is up")


@pytest.mark.parametrize("error", [ValueError("a claim of one's own"), KeyboardInterrupt()])
def test_a_race_is_kept_when_its_window_cannot_be_found(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Whatever is raised there, the shrunk race stands."""

    def raises(*_: object) -> None:
        raise error

    monkeypatch.setattr("testbed.search.search.windows", raises)
    search = search_of(PLAIN, until_first=True)
    search.play()
    (finding,) = search.found
    assert (finding.deviations, finding.not_shrunk, finding.window) == (1, "", "")
    assert finding.no_window in ("ValueError: a claim of one's own", "interrupted")


@pytest.mark.parametrize("error", [ValueError("once more"), KeyboardInterrupt()])
def test_a_breach_is_told_though_its_run_cannot_be_played_again(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Without a race if it raises; an interruption waits until there is one."""
    first = iter([error])

    def raises(*given: Any, **more: Any) -> Any:
        for each in first:
            raise each
        return race_of(*given, **more)

    monkeypatch.setattr("testbed.search.search.race_of", raises)
    search = search_of(PLAIN, until_first=True)
    search.play()
    (finding,) = search.found
    assert finding.invariant == "no_node_is_overcommitted"
    if isinstance(error, KeyboardInterrupt):
        assert (search.stopped, finding.not_shrunk) == ("interrupted", "interrupted")
        assert play(parse(finding.race, "here"), search.player.recipe).verdict.is_violated
    else:
        assert finding.race == ""
        assert finding.not_shrunk == "it cannot be played again: ValueError: once more"


def test_what_was_interrupted_is_no_second_finding() -> None:
    """A Run like one that was found before, cut off while it is shrunk, may well be the same."""
    shrinks: list[int] = []

    def interrupt(runs: int, size: int) -> None:
        shrinks.append(runs)
        if runs == 1 and shrinks.count(1) == 2:
            raise KeyboardInterrupt

    search = search_of(PLAIN, watching=Watching(on_shrink=interrupt))
    search.play()
    assert search.stopped == "interrupted"
    assert [finding.not_shrunk for finding in search.found] == [""]
    assert search.findings.breaches["no_node_is_overcommitted"] == 4
