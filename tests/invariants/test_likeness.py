"""Likeness: what is written of a value depends on the value, and not on where its objects lie."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Likeness
from testbed.invariants.lasso.renaming import Renaming
from testbed.objects.meta import Meta, Revision
from testbed.objects.note import Note


class Thing:
    """Hashes by its address, as every class does that says nothing else."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.notes: list[object] = [number]


@attrs.frozen
class Fixed:
    """Never changes, and holds what does."""

    of: object


def written(value: object) -> dict[str, str]:
    """Its digests."""
    likeness = Likeness({})
    likeness.begin("it")
    likeness.write(value)
    return likeness.digests()


def crowded(at: int) -> list[Any]:
    """A set of things, and one of them by another name."""
    things = [Thing(number) for number in range(12)]
    return [set(things), things[at], {Fixed(thing) for thing in things[::-1]}, things[0].notes]


def test_a_set_is_written_alike_wherever_its_members_lie() -> None:
    """In whatever order a process walks it: the numbers of what was met follow what is written."""
    kept = []  # So that each time the things lie elsewhere.
    found = set()
    for _ in range(20):
        kept.append(crowded(3))
        found.add(str(written(kept[-1])))
    assert len(found) == 1


def test_which_member_has_another_name_is_seen() -> None:
    """Two names of one object are not two names of two that are equal."""
    assert written(crowded(3)) != written(crowded(4))
    one, other = Thing(1), Thing(1)
    assert written([{one}, one]) != written([{one}, other])


def test_sets_are_equal_in_any_order_and_unlike_if_a_member_is() -> None:
    """The order in which they were filled means nothing."""
    names = [f"n{number}" for number in range(40)]
    assert written(set(names)) == written({*names[20:], *names[:20]})
    assert written(set(names)) != written({*names[1:], "m"})
    assert written(frozenset(names)) != written(set(names))


def test_revisions_in_a_set_count_by_their_order_alone() -> None:
    """As texts, 99 and 100 stand in another order than 9 and 10 do."""

    def at(*numbers: int) -> set[Fixed]:
        return {Fixed(Revision(str(number))) for number in numbers}

    assert written(at(9, 8)) == written(at(100, 99))


def test_no_address_is_remembered_of_what_is_gone() -> None:
    """Each object by the address of which something is remembered is kept as long."""
    likeness = Likeness({Thing: lambda thing: [Fixed(str(thing.number)), [thing.number]]})
    likeness.begin("it")
    for number in range(200):
        likeness.write(Thing(number))
        likeness.write({Fixed(str(number)), Fixed((number, str(number)))})
    kept = {id(each) for each in likeness._kept}
    assert likeness._known.keys() | likeness._met.keys() <= kept
    assert likeness._known
    assert likeness._met


def test_code_is_written_by_its_place() -> None:
    """An actor may hold a piece of code, as a wait holds the one that has made it."""
    code = (lambda: 1).__code__
    assert written(code) == written(code)
    assert written(code) != written(test_code_is_written_by_its_place.__code__)


def again(value: object, lasting: Lasting, names: Renaming, now_ms: int = 0) -> dict[str, str]:
    """Its digests at a moment of a World that has had others."""
    likeness = Likeness({}, names, now_ms, lasting)
    likeness.begin("it")
    likeness.write(value)
    return likeness.digests()


def test_what_is_kept_from_moment_to_moment_is_what_would_be_written_anew() -> None:
    """Also when what it holds has changed, time has passed, or a name in it was learned."""
    lasting, names = Lasting(), Renaming(["notes"])
    changing, item = [1], Note(Meta("web-x7k2p", generate_name="web-", deleted_ms=50))
    held = (Fixed("of web-x7k2p"), Fixed(changing), item)
    found = []
    for now_ms in (0, 20, 40):
        found.append(again(held, lasting, names, now_ms))
        assert found[-1] == again(held, Lasting(), names, now_ms)
        changing.append(2)
        names.learn(item, is_new=now_ms == 0)
    assert len({str(each) for each in found}) == len(found)
