"""bench api: the cost of the API server with 1,000 and 50,000 pods, and with 1 and 100 watchers.

A request is handled from beginning to end as in a World, and its footprint is noted; nothing else
moves. Pods stand in namespaces of a hundred, each with a disruption budget that covers them, and a
thousand kubelets watch for their own pods. The same pods are created, read, changed, bound, evicted
and deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

from testbed.objects import (
    Binding,
    Eviction,
    LabelSelector,
    Map,
    Meta,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    Revision,
    Target,
)
from testbed.objects.plain import frozen
from testbed.store.endpoint import Operation, answer_at_once
from testbed.store.footprint import Marks
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Watch
from testbed.turns.garbage import collected_between

SIZES = (1_000, 50_000)
WATCHERS = (1, 100)
ROUNDS = 5
OPERATIONS = 1_000
IN_NAMESPACE = 100
KUBELETS = 1_000
"""The number of watches on the pods of other nodes: they must cost nothing."""
VERBS = (
    "create", "get", "list", "update", "patch", "bind", "patch_status", "evict", "delete",
    "footprint",
)  # fmt: skip
"""What is measured of the same pods, in the order in which it is shown. A list is of one namespace;
a footprint is what a request may touch."""
SPREAD = 10
APP, CHANGED = Map(app="bench"), Map(app="bench", n="1")


def measure(
    rounds: int = ROUNDS,
    operations: int = OPERATIONS,
    sizes: tuple[int, int] = SIZES,
    watchers: tuple[int, int] = WATCHERS,
) -> dict[str, Any]:
    """Requests and deliveries per second at both sizes, measured alternately; and how much more one
    costs with more objects, and a delivery with more watchers."""
    benches = {size: Bench(size) for size in sizes}
    rates: dict[tuple[str, int], list[float]] = {}
    for number in range(rounds):
        for size, bench in benches.items():
            with collected_between():
                measured = bench.requests(operations, number)
                for many in watchers:
                    measured[f"deliveries_to_{many}"] = bench.deliveries(operations, many)
            for what, rate in measured.items():
                rates.setdefault((what, size), []).append(rate)
    kinds = [*VERBS, *(f"deliveries_to_{many}" for many in watchers)]
    figures = {what: _compared({f"per_s_at_{s}": rates[what, s] for s in sizes}) for what in kinds}
    few, all_ = (rates[f"deliveries_to_{each}", sizes[1]] for each in watchers)
    figures[kinds[-1]]["cost_growth_by_watchers"] = _growth(few, all_)
    return figures


def _compared(rates: dict[str, list[float]]) -> dict[str, Any]:
    return {
        **{name: round(median(some)) for name, some in rates.items()},
        "cost_growth": _growth(*rates.values()),
    }


def _growth(before: list[float], after: list[float]) -> float:
    return round(median(b / a for b, a in zip(before, after, strict=True)), 2)


class Bench:
    """An API server in front of a Store with `size` pods."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.store = store = Store()
        # The testbed may not import `actors`, so the server is found by name.
        self.server = import_module("actors.apiserver").ApiServer(store)
        plain = StoreEndpoint(store)
        for place in range(size):
            if place % IN_NAMESPACE == 0:
                answer_at_once(plain, _writing("create", _budget(self.namespace(place))), "bench")
            pod = Pod.of(f"{self.namespace(place)}/p{place}", cpu_m=100, labels=APP, node_name="n0")
            answer_at_once(plain, _writing("create", self.server.completed(pod)), "bench")
        # The first create and delete cost much: the server then counts all that is there.
        self.ask(_writing("create", Pod.of("ns0/first")))
        self.ask(_writing("delete", Pod.of("ns0/first")))
        for number in range(KUBELETS):
            self.watch(Selector(fields=(("spec.node_name", f"other-{number}"),)))

    def namespace(self, place: int) -> str:
        """The namespace of the pod with that number."""
        return f"ns{place % self.size // IN_NAMESPACE}"

    def ask(self, operation: Operation) -> Any:
        """Handle one request, and return its answer."""
        self.store.marks = Marks()
        return answer_at_once(self.server, operation, "bench")

    def watch(self, selector: Selector) -> Watch:
        """Open a watch on these pods, from now on."""
        now = Revision(self.store.revision)
        return self.ask(Operation("watch", "pods", selector=selector, revision=now))  # type: ignore[no-any-return]

    def requests(self, operations: int, number: int) -> dict[str, float]:
        """Requests per second, for each verb. Reads go all over the Store. Writes go to ten
        namespaces, so that a disruption budget remembers equally many pods at both sizes.
        """
        apart = self.size // SPREAD
        made = [
            Pod.of(f"{self.namespace(n % SPREAD * apart)}/b{number}-{n}", cpu_m=100, labels=APP)
            for n in range(operations)
        ]
        places = [7919 * (n + number) % self.size for n in range(operations)]
        reads = {
            "get": [Operation("get", "pods", f"p{at}", self.namespace(at)) for at in places],
            "list": [
                Operation("list", "pods", selector=Selector(namespace=self.namespace(at)))
                for at in places[: operations // 10 or 1]
            ],
        }
        writes: dict[str, Callable[[Pod], Operation]] = {
            "create": lambda pod: _writing("create", pod),
            "update": lambda pod: _writing("update", self._now(pod).with_meta(labels=CHANGED)),
            "patch": lambda pod: _patching(pod, {"metadata": {"labels": {"n": "2"}}}),
            "bind": _binding,
            "patch_status": lambda pod: _patching(pod, {"status": {"phase": "Running"}}, "status"),
            "evict": _evicting,
            "delete": lambda pod: _writing("delete", pod, options=Map(grace_s=0)),
        }
        rates = {}
        for verb, make in writes.items():
            rates[verb] = self._rate([make(pod) for pod in made], self.ask)
        for verb, some in reads.items():
            rates[verb] = self._rate(some, self.ask)
        every = [make(pod) for verb, make in writes.items() if verb != "update" for pod in made]
        rates["footprint"] = self._rate(every, self.server.may)
        for place in range(0, self.size, IN_NAMESPACE):
            budget = self.store.get(_budget(self.namespace(place)).key)
            assert budget is not None
            fresh = _budget(self.namespace(place)).with_meta(
                revision=Revision(self.store.revision + 1)
            )
            self.store.put(budget.key, fresh)
        return rates

    def deliveries(self, operations: int, many: int) -> float:
        """Deliveries per second to `many` watchers of all pods, with the writes included."""
        watches = [self.watch(Selector()) for _ in range(many)]
        self.store.marks = None
        entries = self.store.range("pods/", limit=operations // min(many, 10) or 1)
        began = perf_counter()
        for entry in entries:
            self.store.put(entry.key, entry.value)
            for watch in watches:
                watch.take()
        rate = len(entries) * many / (perf_counter() - began)
        for watch in watches:
            watch.close()
        return rate

    def _now(self, pod: Pod) -> Any:
        entry = self.store.peek(pod.key)
        return pod if entry is None else entry.value

    def _rate(self, operations: list[Operation], do: Callable[[Operation], Any]) -> float:
        began = perf_counter()
        for operation in operations:
            do(operation)
        return len(operations) / (perf_counter() - began)


def _budget(namespace: str) -> PodDisruptionBudget:
    spec = PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=APP))
    status = PodDisruptionBudgetStatus(disruptions_allowed=1_000_000)
    return PodDisruptionBudget(Meta("all", namespace), spec=spec, status=status)


def _writing(verb: str, item: Object, **said: Any) -> Operation:
    meta = item.meta
    return Operation(verb, item.plural, meta.name, meta.namespace, item, **said)


def _patching(pod: Pod, tree: dict[str, Any], subresource: str = "") -> Operation:
    meta, body = pod.meta, frozen(tree, nulls=True)
    return Operation("patch", "pods", meta.name, meta.namespace, body, subresource=subresource)


def _binding(pod: Pod) -> Operation:
    meta = Meta(pod.meta.name, pod.meta.namespace)
    body = Binding(meta, Target("n1"))
    return Operation("create", "pods", meta.name, meta.namespace, body, subresource="binding")


def _evicting(pod: Pod) -> Operation:
    meta = Meta(pod.meta.name, pod.meta.namespace)
    body = Eviction(meta)
    return Operation("create", "pods", meta.name, meta.namespace, body, subresource="eviction")
