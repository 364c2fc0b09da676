"""Growth: where along a Run its chance to fail moves, and how that is told."""

from __future__ import annotations

from collections.abc import Callable

from testbed.faults.crash import Crash
from testbed.story.growth import BARS, MOVES_MIN, FailureRate, growth, growth_lines
from testbed.turns.option import DELIVER, FAULT, PICK, SERVE, Option
from tests.each_row import each_row


def jump(at: int, low: int = 10) -> Callable[[int], int]:
    """A chance that leaps to certainty at a point."""
    return lambda point: 100 if point >= at else low


@each_row("at", [1, 17, 400, 999])
def test_the_leap_is_found_among_a_thousand_points(at: int) -> None:
    """By looking at a dozen: the two neighbours between which it lies are both looked at."""
    looked: list[int] = []

    def failing(point: int) -> int:
        looked.append(point)
        return jump(at)(point)

    chances = growth(range(1000), failing, points_max=14)
    assert len(looked) == len(set(looked)) <= 14
    points = [chance.point for chance in chances]
    assert points == sorted(looked)
    assert {at - 1, at} <= set(points)


def test_the_first_and_the_last_are_always_looked_at() -> None:
    """However few are; and never one that was not asked for."""
    assert [c.point for c in growth([3, 9, 5, 7, 3], jump(8), points_max=2)] == [3, 9]
    assert [c.point for c in growth([3, 9, 5, 7, 3], jump(8), points_max=99)] == [3, 5, 7, 9]
    assert [c.point for c in growth([4], jump(0))] == [4]
    assert growth([], jump(0)) == []


def test_where_nothing_moves_it_looks_everywhere_alike() -> None:
    """The widest gap first, and of those alike the first."""
    chances = growth(range(9), lambda point: 50, points_max=5)
    assert [chance.point for chance in chances] == [0, 2, 4, 6, 8]


@each_row(
    ("failed", "runs", "percent", "bar"),
    [
        (0, 100, 0, "▁"),
        (1, 200, 1, "▂"),
        (50, 100, 50, "▅"),
        (199, 200, 100, "█"),
        (7, 7, 100, "█"),
    ],
)
def test_a_chance_is_a_percentage_and_a_bar(failed: int, runs: int, percent: int, bar: str) -> None:
    """Rounded to the nearest; only a chance of nothing has the lowest bar."""
    chance = FailureRate(1, failed, runs)
    assert (chance.percent, chance.bar) == (percent, bar)
    assert bar in BARS


def option(kind: str, path: str, verb: str, key: str, label: str = "") -> Option:
    """An Option made by hand."""
    actor = path.partition("/")[0]
    return Option(kind, path, lambda: None, actor=actor).about(verb, key, label=label)


def test_told_are_the_steps_after_which_it_moved() -> None:
    """In the words of a race file; a small move is not told until it has added up."""
    options = {
        1: option(SERVE, "alpha/main", "create/binding", "pods/default/c"),
        2: option(DELIVER, "beta/watch-pods", "", "pods/default/c"),
        3: option(FAULT, "fault/crash", "crash", "alpha"),
        4: option(PICK, "alpha/main", "lot", "", "red"),
    }
    options[3].fault = Crash()
    chances = [
        FailureRate(0, 3, 100),
        FailureRate(1, 48, 100),
        FailureRate(2, 48 + MOVES_MIN - 1, 100),
    ]
    chances += [FailureRate(3, 48 + MOVES_MIN, 100), FailureRate(4, 0, 100)]
    assert growth_lines(chances, options) == [
        f"The chance to fail along the run: {''.join(c.bar for c in chances)}  3 % at the start",
        "  ▅ step 1 alpha bind pods/default/c: 3 % → 48 %",
        f"  {chances[3].bar} step 3 alpha crashed: 48 % → {48 + MOVES_MIN} %",
        f"  ▁ step 4 alpha picks lot: red: {48 + MOVES_MIN} % → 0 %",
    ]
    assert growth_lines([], {}) == []


def test_news_that_moves_it_is_named() -> None:
    """As a delivery, to whom."""
    options = {2: option(DELIVER, "beta/watch-pods", "", "pods/default/c")}
    lines = growth_lines([FailureRate(0, 0, 10), FailureRate(2, 10, 10)], options)
    assert lines[1] == "  █ step 2 delivery of pods/default/c to beta: 0 % → 100 %"
