"""Heap: the lowest rank first, whatever was replaced or dropped, and few stale entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from, tuples

from actors.scheduler.queue.heap import Heap

Item = tuple[int, str]


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
