"""Covered pods: which pods each PodDisruptionBudget covers, kept up to date change by change."""

from __future__ import annotations

from testbed.objects import Pod, PodDisruptionBudget


class CoveredPods:
    """Budgets and the pods that they cover. To count a budget costs what its own pods cost."""

    def __init__(self) -> None:
        self._budgets: dict[str, dict[str, PodDisruptionBudget]] = {}
        """By namespace and key."""
        self._pods: dict[str, dict[str, Pod]] = {}
        """The same of pods."""
        self._covered: dict[str, dict[str, None]] = {}
        """By budget, the keys of its pods."""

    def put_budget(self, budget: PodDisruptionBudget) -> None:
        """Add a budget, or replace it by its newer state."""
        here = self._budgets.setdefault(budget.meta.namespace, {})
        old = here.get(budget.key)
        here[budget.key] = budget
        if old is None or old.spec.selector != budget.spec.selector:
            pods = self._pods.get(budget.meta.namespace, {})
            found = (key for key, pod in pods.items() if budget.covers(pod.meta))
            self._covered[budget.key] = dict.fromkeys(found)

    def drop_budget(self, budget: PodDisruptionBudget) -> None:
        """Forget a budget that is gone."""
        self._budgets.get(budget.meta.namespace, {}).pop(budget.key, None)
        self._covered.pop(budget.key, None)

    def put_pod(self, pod: Pod) -> list[str]:
        """Add a pod, or replace it by its newer state; returns the budgets that cover it now."""
        name, budgets = pod.key, self._budgets.get(pod.meta.namespace, {})
        pods = self._pods.setdefault(pod.meta.namespace, {})
        old, pods[name] = pods.get(name), pod
        if old is not None and old.meta.labels == pod.meta.labels:
            return [key for key in budgets if name in self._covered[key]]
        found = []
        for key, budget in budgets.items():
            if budget.covers(pod.meta):
                self._covered[key][name] = None
                found.append(key)
            else:
                self._covered[key].pop(name, None)
        return found

    def drop_pod(self, pod: Pod) -> list[str]:
        """Forget a pod that is gone; returns the budgets that have covered it."""
        self._pods.get(pod.meta.namespace, {}).pop(pod.key, None)
        budgets = self._budgets.get(pod.meta.namespace, {})
        covering = [key for key in budgets if pod.key in self._covered[key]]
        for key in covering:
            del self._covered[key][pod.key]
        return covering

    def budget(self, key: str) -> PodDisruptionBudget | None:
        """The budget of that key, or None."""
        return self._budgets.get(key.split("/")[1], {}).get(key)

    def pod(self, key: str) -> Pod | None:
        """The pod of that key, or None."""
        return self._pods.get(key.split("/")[1], {}).get(key)

    def pods_of(self, key: str) -> list[Pod]:
        """The pods that a budget covers, in order of their keys."""
        pods = self._pods.get(key.split("/")[1], {})
        return [pods[each] for each in sorted(self._covered.get(key, ()))]
