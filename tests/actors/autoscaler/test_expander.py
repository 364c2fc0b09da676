"""Expander: what one of your own may keep, and what becomes of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from actors.autoscaler import Expander, Expansion
from actors.autoscaler.pass_record import NO_OPTIONS, SUCCESSFUL
from testbed import policy
from testbed.errors import ScenarioError, UnknownName
from testbed.objects import ConfigMap
from tests.each_row import each_row
from tests.models.worlds.growing import fates, group, passes, target, waiting


class KeepsNone(Expander):
    """Would rather wait."""

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        return []


class KeepsTwice(Expander):
    """Keeps each of them twice, the last one first, as a tuple."""

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        return (*expansions[::-1], *expansions)


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
    policy.use(KeepsNone, KeepsTwice, Counts)


GROUPS = group("large", cpu_m=8000), group("small")


@pytest.mark.spec("CA-19")
@each_row("expander", ["KeepsNone", "KeepsNone,most-pods", "most-pods,KeepsNone"])
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


def test_what_is_kept_twice_counts_once() -> None:
    """And the order is that of the one who keeps: the first is what the calm run picks."""
    (record,), _ = passes(*GROUPS, having=[waiting("p")], expander="KeepsTwice")
    assert record.scale_up.best == "small"


def _raises(expansions: Sequence[Expansion]) -> object:
    groups: dict[str, Expansion] = {}
    return groups["large"]


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (lambda given: given[0], "Broken.best returned Expansion(…): expected a list of those it"),
        (lambda given: None, "Broken.best returned None: expected a list of those it was given.\n"),
        (lambda given: iter(given), "Broken.best returned list_iterator(…): expected a list"),
        (lambda given: ["large"], "Broken.best returned a list with 'large': expected a list of"),
        (
            lambda given: tuple([attrs.evolve(each, nodes=1) for each in given]),
            "Broken.best returned a tuple with Expansion(…): expected a list of those it was given",
        ),
        (_raises, "Broken.best raised KeyError: 'large'.\nNext: mend it; it is called as best(exp"),
        ("", "Broken.best raised NotImplementedError: Broken has no best(expansions, config)."),
    ],
)
def test_what_an_expander_cannot_keep_is_told(best: Any, said: str) -> None:
    """It ends the Run as a mistake of its author: a crash of the autoscaler would be a race."""
    own = {"best": lambda self, given, config: best(given)} if best else {}
    policy.use(type("Broken", (Expander,), {"__module__": __name__, **own}))
    with pytest.raises(ScenarioError) as refused:
        passes(*GROUPS, having=[waiting("p")], expander="Broken")
    assert said in str(refused.value)
    assert "\nNext: " in str(refused.value)
    assert (f"{__file__}, line " in str(refused.value)) is (best is _raises)


@each_row("expander", ["+Counts", "-random", "built_in", "random,most-pods"])
def test_a_chain_that_1_26_would_refuse_is_refused(expander: str) -> None:
    """It crashed the autoscaler at its start, or its end was never reached."""
    with pytest.raises((UnknownName, ScenarioError)):
        passes(*GROUPS, having=[waiting("p")], expander=expander)
