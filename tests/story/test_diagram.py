"""Diagram: which rows are shown, where they stand, and that they fit."""

from __future__ import annotations

import attrs

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.objects import Note
from testbed.store.footprint import Marks
from testbed.story.diagram import COLUMNS_MAX, FITS, Fold, Row, Rows, diagram, folded
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.option import Option
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.diagrams import binders, busy, rows_of
from tests.shared.stage import Cued, note, world_of


def test_each_stands_in_the_column_of_who_did_it() -> None:
    """One row, one Step; the others' lifelines go on beside it."""
    lines = diagram(rows_of(find("lost_update").world(), Calm())).splitlines()
    alpha, beta = lines[0].index("alpha"), lines[0].index("beta")
    first = lines[1]
    assert (first[:4], first[alpha], first[beta]) == ("   2", "●", "│")
    last = lines[-1]
    assert (last[:4], last[alpha], last[beta:]) == ("  10", "│", "· signed")


def test_a_lifeline_is_dotted_while_its_actor_does_not_know() -> None:
    """From the write it missed to the Step in which it hears; nobody else's is."""
    rows = rows_of(binders(), Uniform(1))
    lines = {line[:4].strip(): line for line in diagram(rows).splitlines()}
    assert "┊" in lines["26"]
    assert "┊" in lines["28"] or "○" in lines["28"]
    assert "┊" not in lines["29"] + lines["30"] + lines["12" if "12" in lines else "7"]
    assert rows.is_blind("beta", 26)
    assert not rows.is_blind("beta", 25)
    assert not rows.is_blind("beta", 29)
    assert not rows.is_blind("alpha", 27)


def test_a_decision_on_old_news_has_a_row_of_its_own() -> None:
    """It came before what it led to."""
    said = diagram(rows_of(binders(), Uniform(2)))
    assert said.index("○ decides to bind pods/default/web") < said.index("● bind pods/default/api")


def test_news_of_ones_own_is_no_news() -> None:
    """Only what others wrote is learned."""
    said = diagram(rows_of(binders(), Uniform(1)))
    assert said.count("◂ is told of pods/default/web rv 5") == 1


@each_row("actors", [1, 2, 5, 14])
@each_row("said", ["", "n1 is wrong"])
def test_it_fits_however_much_there_is(actors: int, said: str) -> None:
    """At most 40 lines of 100 columns; what is left out is counted, none twice."""
    world = world_of(**{f"a-rather-long-name-{n}": busy for n in range(actors)})
    world.add(*(note(f"n{n}", by="") for n in range(3)))
    rows = rows_of(world, Uniform(1), said)
    lines = diagram(rows).splitlines()
    assert len(lines) <= 40
    assert all(len(line) <= 100 for line in lines)
    shown = rows.shown()
    assert len({row.actor for row in shown if isinstance(row, Row)}) <= actors
    left = sum(sum(line.left.values()) for line in shown if isinstance(line, Fold))
    assert left + sum(isinstance(line, Row) for line in shown) == len(rows.all)
    assert sum(name in lines[0] for name in ("a-rath", "a-rat…")) <= COLUMNS_MAX


def row(step: int, actor: str, weight: int) -> Row:
    """A Row made by hand."""
    return Row(step, 0, actor, "●", "did", weight)


def test_a_fold_counts_what_it_leaves_out() -> None:
    """By whom, in the order in which they come; one row alone is shown instead."""
    rows = [row(1, "a", 0), row(2, "b", 0), row(3, "b", 0), row(4, "a", 1), row(5, "a", 0)]
    fold, fourth, fifth = folded(rows, 1)
    assert str(fold) == "… 1 more by a, 2 by b"
    assert (fourth, fifth) == (rows[3], rows[4])
    assert folded(rows, 0) == rows
    many = Fold({"a": 1_000, "b": 1, "c": 1, "d": 1})
    assert str(many) == "… 1,003 more by 4 actors"


def test_what_is_spoken_of_is_shown_to_the_end() -> None:
    """When even that is too much, the last of it is, and the rest is counted."""
    rows = rows_of(find("lost_update").world(), Calm())
    rows.all = [row(number, "a", 2) for number in range(1, 101)]
    shown = rows.shown()
    assert len(shown) == FITS[2]
    assert isinstance(shown[0], Fold)
    assert shown[0].left == {"a": 100 - FITS[2] + 1}
    assert shown[-1] == rows.all[-1]


def test_time_stands_beside_when_it_passes() -> None:
    """In virtual milliseconds, once for each instant; a Run of one instant has no such column."""

    async def sleepy(client: Client) -> None:
        await client.get(Note, "n")
        await client.sleep(1_500)
        await client.get(Note, "n")
        await client.get(Note, "n")

    world = world_of(alpha=sleepy)
    world.add(note(by="nobody"))
    lines = diagram(rows_of(world, Calm())).splitlines()
    assert lines[0].split() == ["step", "ms", "alpha"]
    assert ["1,500" in line for line in lines[1:]] == [False, True, False]
    assert " ms" not in diagram(rows_of(find("lost_update").world(), Calm()))


def test_large_numbers_stand_apart() -> None:
    """Steps and times get the room that they need, and all rows begin in one column."""

    async def sleepy(client: Client) -> None:
        await client.get(Note, "n")
        await client.sleep(1_086_000)
        await client.get(Note, "n")

    world = world_of(alpha=sleepy)
    world.add(note())
    rows = rows_of(world, Calm())
    rows.all[:] = [attrs.evolve(row, step=row.step + 123_000) for row in rows.all]
    head, first, second = diagram(rows).splitlines()
    assert head.split() == ["step", "ms", "alpha"]
    assert [first.split()[0], *second.split()[:2]] == ["123002", "123005", "1,086,000"]
    assert head.index("alpha") == first.index("●") == second.index("●")


def test_what_is_held_back_is_shown() -> None:
    """As lateness, in the column of who waits for it; what is let go just comes next."""
    trace = Trace({}, keep=True)
    world = find("lost_update").world()
    world.run(Calm(), trace=trace)
    for kind in ("hold", "release", "hold"):
        option = Option(kind, "alpha/main", lambda: None, actor="alpha")
        option.about("update", "notes/default/list", label="serve")
        trace.items.append(Step(len(trace.steps) + 1, option, 0, 1, Marks()))
    slice_ = Slice(trace)
    said = diagram(Rows(trace, slice_, Sentences(slice_)))
    assert said.count("◌ its update of notes/default/list is held back") == 2
    assert said.count("◌") == 2


def test_nothing_happens_in_an_empty_run() -> None:
    """No line at all."""
    assert diagram(rows_of(World(), Cued())) == ""
