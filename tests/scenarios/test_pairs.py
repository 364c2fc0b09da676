"""Every scenario of the shelf keeps its promise: a race is found and kept away, nothing else fires.

`pytest -m pairs` runs these alone; `testbed bench pairs` and `testbed bench false-alarms` measure
the same in more Runs.
"""

from __future__ import annotations

import re

import pytest

from testbed.races.expecting import both_sides
from testbed.search.search import Search
from testbed.search.usual import usual_search
from testbed.world import shelf
from testbed.world.shelf import CONTROL, LESSON, PAIR, Page
from tests.each_row import each_row
from tests.models.worlds.shelved import race_named

PAGES = shelf.pages()
PAIRS = [page for page in PAGES if page.kind == PAIR]
LONG_SEEDS = range(1, 3)
RUNS_MAX = 3_000
QUIET_RUNS = [4, pytest.param(12, marks=pytest.mark.long)]
"""Runs of each scenario that must hold, here; `testbed bench false-alarms` plays thousands."""

pytestmark = pytest.mark.pairs


def searched(page: Page, switches: dict[str, str], seed: int, runs_max: int) -> Search:
    """A search that ends with the first breach, and shrinks nothing."""
    return usual_search(page.scenario.name, switches, seed, runs_max, shrinks=False)


def name_of(page: Page) -> str:
    """By what its case is known."""
    return page.scenario.name


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in LONG_SEEDS)]
)
@pytest.mark.parametrize("page", PAIRS, ids=name_of)
def test_the_race_of_a_pair_is_found_by_every_seed(page: Page, seed: int) -> None:
    """With its guard off, and with no more Runs than a user has patience for."""
    assert searched(page, {"guard": "off"}, seed, RUNS_MAX).runs < RUNS_MAX


@pytest.mark.parametrize("runs", QUIET_RUNS)
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_claim_fires_where_nothing_is_wrong(page: Page, runs: int) -> None:
    """With the guard on, or in a control or a lesson; whatever is late or fails as it allows. A Run
    in which something is held for ever may come to no end."""
    guard = {"guard": "on"} if page.kind == PAIR else {}
    search = searched(page, guard, 7, runs)
    assert search.found == []
    assert search.verdicts["held"] >= runs - 1


@each_row("page", PAIRS)
def test_a_pair_has_its_race_in_a_file(page: Page) -> None:
    """A line that tells it, at most four of deviations, and both sides as expected."""
    assert page.race_file is not None
    assert page.race_file.read_text(encoding="utf-8").startswith("# ")
    race = race_named(page.scenario.name)
    assert len(race) <= 4
    off, on = both_sides(race, page.scenario, page.race_file.name, keep=False)
    assert off.expected is not None
    assert on.expected is not None
    assert (off.expected.under, on.expected.under) == ("guard=off", "guard=on")
    assert on.expected.holds == (off.expected.violates,)
    assert off.is_as_expected
    assert on.is_met


@each_row("page", PAGES)
def test_a_page_says_what_a_reader_asks(page: Page) -> None:
    """Its cause, what to look for, where it comes from, and tags of which there is a list."""
    for said in (page.cause, page.look_for):
        assert re.fullmatch(r"[A-Za-z`\"].*\.", said)
    assert page.source
    assert page.tags
    assert set(page.tags) <= set(shelf.tags())
    assert page.scenario.title.endswith(".")


def test_the_shelf_is_as_large_as_it_says() -> None:
    """Pairs above all, controls that no claim may fire in, and lessons."""
    kinds = [page.kind for page in PAGES]
    counts = {kind: kinds.count(kind) for kind in (PAIR, CONTROL, LESSON)}
    assert counts[PAIR] >= 45
    assert counts[CONTROL] >= 5
    assert counts[LESSON] >= 10
