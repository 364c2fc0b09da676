"""Expander: says which of several groups should grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from actors.autoscaler.templates import NodeTemplate
from actors.framework.podinfo import PodInfo
from testbed.errors import HarnessError, ScenarioError, shown
from testbed.objects import ConfigMap
from testbed.objects.quantity import counted


@attrs.frozen(eq=False)
class Expansion:
    """A group that could grow: by how many nodes, and for which pods."""

    group: str
    nodes: int
    pods: tuple[PodInfo, ...]
    template: NodeTemplate


class Expander:
    """Keeps the best of several expansions (CA-19).

    An expander of your own needs a `best`. Expanders form a chain: each is given what the one
    before has kept, until one expansion is left, or none. Of what is left at the end one is picked
    at random; if nothing is left, no group grows in this pass.
    """

    name: ClassVar[str] = ""
    """Its name in the switch `autoscaler.expander`. One of your own is named by its class there."""

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        """The best of them, as a list, in the same order. `config` has the ConfigMaps of
        `kube-system`, by name."""
        raise NotImplementedError(f"{self.name} has no best(expansions, config)")


class OwnExpander(Expander):
    """A user's own expander, checked: ScenarioError if it raises, or keeps what it was not given.

    An autoscaler would crash of that, and the crash would pass for a race.
    """

    def __init__(self, own: Expander) -> None:
        self._own = own
        self._best = f"{type(own).__name__}.best"

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        given: Any = self._answer(expansions, config)
        if not isinstance(given, list | tuple):
            raise self._refused(f"returned {shown(given)}")
        for each in given:
            if each not in expansions:
                raise self._refused(f"returned a {type(given).__name__} with {shown(each)}")
        return list(dict.fromkeys(given))

    def _answer(self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]) -> object:
        try:
            return self._own.best(expansions, config)
        except HarnessError:
            raise
        except Exception as error:
            # With the frames of the user's code, so that its own line is told.
            raise ScenarioError(
                f"{self._best} raised {type(error).__name__}: {error}.\nNext: mend it; it is "
                "called as best(expansions, config)."
            ).with_traceback(error.__traceback__) from error

    def _refused(self, what: str) -> ScenarioError:
        return ScenarioError(
            f"{self._best} {what}: expected a list of those it was given.\n"
            "Next: return [each for each in expansions if …], which may be empty."
        )


def container_requests(pod: PodInfo, resource: str) -> int:
    """How much of a resource the containers of a pod request; neither init containers nor overhead
    count here."""
    amounts = (each.resources.requests.get(resource) for each in pod.pod.spec.containers)
    return sum(counted(resource, amount) for amount in amounts if amount is not None)
