"""Expander: what one of your own may keep, and what becomes of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest
from growing import fates, group, passes, target, waiting

from actors.autoscaler import Expander, Expansion
from actors.autoscaler.pass_record import NO_OPTIONS, SUCCESSFUL
from testbed import policy
from testbed.objects import ConfigMap


class KeepsNone(Expander):
    """Would rather wait."""

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        return []


class Counts(Expander):
    """Keeps all, and how many these were."""

    seen: ClassVar[list[int]] = []

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        self.seen.append(len(expansions))
        return expansions


@pytest.fixture(autouse=True)
def _used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_OWN", {})
    monkeypatch.setattr(Counts, "seen", [])
    policy.use(KeepsNone, Counts)


GROUPS = group("large", cpu_m=8000), group("small")


@pytest.mark.spec("CA-19")
@pytest.mark.parametrize("expander", ["KeepsNone", "KeepsNone,most-pods", "most-pods,KeepsNone"])
def test_nothing_grows_if_an_expander_keeps_none(expander: str) -> None:
    """What comes behind it has nothing to choose from; the pods are helped by no other way."""
    (record,), world = passes(*GROUPS, having=[waiting("p")], expander=expander)
    assert (record.scale_up.result, record.scale_up.best) == (NO_OPTIONS, "")
    assert len(record.scale_up.options) == 2
    assert fates(record) == {"p": "left"}
    assert (target(world, "large"), target(world, "small")) == (0, 0)


@pytest.mark.spec("CA-19")
@pytest.mark.parametrize(
    ("expander", "seen"),
    [("Counts", [2]), ("least-waste,Counts", []), ("most-pods,Counts", [2]),
     ("KeepsNone,Counts", [])],
)  # fmt: skip
def test_a_chain_ends_when_one_is_left_or_none(expander: str, seen: list[int]) -> None:
    """As in 1.26; both groups help the same pod, and the small one wastes less."""
    (record,), _ = passes(*GROUPS, having=[waiting("p")], expander=expander)
    assert Counts.seen == seen
    assert (record.scale_up.result == SUCCESSFUL) is ("KeepsNone" not in expander)
