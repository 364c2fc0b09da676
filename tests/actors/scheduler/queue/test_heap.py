"""Heap: the lowest rank first, whatever was replaced or dropped, and few stale entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from, tuples

from actors.scheduler.queue.heap import Heap

Item = tuple[int, str]


class Counted(int):
    """A rank that counts how often any two are compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return super().__lt__(other)


@given(lists(tuples(sampled_from("abcdefgh"), integers(-1, 3)), max_size=60))
def test_the_lowest_rank_comes_first_whatever_was_put_replaced_or_dropped(
    calls: list[tuple[str, int]],
) -> None:
    """As if it were sorted each time."""
    heap: Heap[Item] = Heap(lambda item: item)
    model: dict[str, Item] = {}
    for key, rank in calls:
        if rank < 0:
            assert heap.drop(key) == model.pop(key, None)
        else:
            model[key] = (rank, key)
            heap.put(key, (rank, key))
        assert heap.get(key) == model.get(key)
        assert heap.first() == min(model.values(), default=None)
        assert [model[key] for key in heap] == sorted(model.values())
    assert [heap.take() for _ in range(len(heap))] == sorted(model.values())


def test_what_was_replaced_is_swept_out() -> None:
    """Thousands of new ranks of ten items leave few stale entries, and the order is always
    right."""
    heap: Heap[Item] = Heap(lambda item: item)
    ranks: dict[str, int] = {}
    for rank in range(2000):
        key = str(rank % 10)
        ranks[key] = rank * 7 % 1009
        heap.put(key, (ranks[key], key))
        assert len(heap._heap) < 50
        first = heap.first()
        assert first is not None
        assert first[0] == min(ranks.values())


def test_a_put_costs_no_look_at_all_others() -> None:
    """A thousand items and as many new ranks take some ten comparisons each; a heap that is built
    again with each put takes a hundred times as many."""
    heap: Heap[int] = Heap(Counted)
    before = Counted.compared
    for n in range(2000):
        heap.put(str(n % 1000), n * 617 % 2003)
    assert Counted.compared - before < 2000 * 20
