"""bench store: the cost of the Store with 1,000 objects and with 100,000.

A write is an update as an actor sends it: preconditions are checked, the revision is set, it is
committed and offered to the watches. Keys are scattered, so a larger Store also pays for memory
that is not in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from testbed.objects import Map, Note
from testbed.store.endpoint import Operation, answer_at_once
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Cursor, Watch
from testbed.turns.garbage import collected_between

SIZES = (1_000, 100_000)
ROUNDS = 7
OPERATIONS = 10_000
WATCHES = 10
BYSTANDERS = 1_000
"""The number of watches on something else: they must cost nothing."""


def measure(
    rounds: int = ROUNDS,
    operations: int = OPERATIONS,
    sizes: tuple[int, int] = SIZES,
    *,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Writes, reads and deliveries per second at both sizes, measured alternately."""
    tell("filling the stores")
    stores = {size: _filled(size) for size in sizes}
    rates: dict[str, list[float]] = {}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        for size, store in stores.items():
            with collected_between():
                measured = _rates(store, size, operations, number)
            for what, rate in measured.items():
                rates.setdefault(f"{what}_per_s_at_{size}", []).append(rate)
    figures: dict[str, Any] = {name: round(median(some)) for name, some in rates.items()}
    small, large = (rates[f"writes_per_s_at_{size}"] for size in sizes)
    growth = median(s / b for s, b in zip(small, large, strict=True))
    return {**figures, "write_cost_growth": round(growth, 2)}


def _filled(size: int) -> Store:
    store = Store(window=50_000)
    for number in range(size):
        note = Note(f"n{number:06}", data=Map(n="0"))
        store.put(note.key, note)
    return store


def _rates(store: Store, size: int, operations: int, number: int) -> dict[str, float]:
    names = [f"n{7919 * (n + number) % size:06}" for n in range(operations)]
    keys = [f"notes/default/{name}" for name in names]
    notes = [Note(name, data=Map(n=f"{number}/{n}")) for n, name in enumerate(names)]
    updates = [Operation("update", "notes", note.meta.name, "default", note) for note in notes]
    endpoint = StoreEndpoint(store)
    began = perf_counter()
    for update in updates:
        answer_at_once(endpoint, update, "bench")
    wrote = perf_counter()
    for key in keys:
        store.get(key)
    read = perf_counter()
    delivered = _deliver(store, keys[: operations // WATCHES], notes[0])
    watched = perf_counter()
    return {
        "writes": operations / (wrote - began),
        "reads": operations / (read - wrote),
        "deliveries": delivered / (watched - read),
    }


def _deliver(store: Store, keys: list[str], value: Note) -> int:
    """Write, with ten watches open on everything and a thousand on something else."""
    cursor = Cursor(store, "bench", "notes")
    others = [
        Watch(cursor, Selector(fields=(("data.n", f"other-{n}"),)), since=store.revision)
        for n in range(BYSTANDERS)
    ]
    watches = [Watch(cursor, Selector(), since=store.revision) for _ in range(WATCHES)]
    delivered = 0
    for key in keys:
        store.put(key, value)
        for watch in watches:
            watch.take()
            delivered += 1
    for watch in (*watches, *others):
        watch.close()
    cursor.forget()
    return delivered
