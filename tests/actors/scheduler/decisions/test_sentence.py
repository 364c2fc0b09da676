"""Sentence: which node was chosen, or which pods are evicted, and why; or why neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate, Decision, Preemption
from actors.scheduler.decisions.sentence import sentence_of
from actors.scheduler.preemption.choice import best_of
from testbed.objects import Pod
from tests.each_row import each_row

POD = Pod.of("p")
FULL = Refusal("NodeResourcesFit", ("Insufficient cpu",))


def placed(node: str, *feasible: str, **more: Any) -> Decision:
    """A Decision for that node."""
    return Decision(POD, 3, node, feasible, **more)


def nominated(node: str) -> Pod:
    """The pod, nominated to that node."""
    return attrs.evolve(POD, status=attrs.evolve(POD.status, nominated_node_name=node))


SCORES = {"n1": {"a": 50, "b": 7}, "n2": {"a": 50, "b": 40}, "n3": {"a": 80, "b": 1}}


@each_row(
    ("decision", "why"),
    [
        (placed("n1", "n1", refusals={"n2": FULL}), "no other node will do"),
        (attrs.evolve(placed("n1", "n1"), nodes=1), "there is no other node"),
        (
            attrs.evolve(placed("n1", "n1"), pod=nominated("n1")),
            "it was nominated there",
        ),
        (
            attrs.evolve(placed("n1", "n1", refusals={"n2": FULL}), pod=nominated("n2")),
            "no other node will do",
        ),
        (
            attrs.evolve(placed("n1", "n1", refusals={"n2": FULL}), pod=nominated("n1")),
            "no other node will do",
        ),
        (
            placed("n2", "n1", "n2", "n3", scores=SCORES, best=("n2",)),
            "it scores 90, and n3, the next, 81",
        ),
        (
            placed("n1", "n1", "n2", "n3", scores=SCORES, best=("n1", "n2", "n3")),
            "n2 and n3 would have done as well",
        ),
        (placed("n1", "n1", "n2"), "it is the one of 2 that was picked"),
    ],
)
def test_it_says_why_a_node_was_chosen(decision: Decision, why: str) -> None:
    """There is no other, the pod was nominated to it, it scores best, or it was picked."""
    node = decision.node
    assert sentence_of(decision) == f"chose {node} for pods/default/p: {why}"


def preempting(*victims: str, others: Mapping[str, tuple[int, ...]], **more: Any) -> Decision:
    """A Decision to evict these pods from n1; other candidates have other keys."""
    pods = tuple(Pod.of(name) for name in victims)
    candidates = {"n1": Candidate("n1", pods, keys=(0, 5, 10, 2, -100))}
    candidates |= {name: Candidate(name, (POD,), keys=keys) for name, keys in others.items()}
    tied = best_of(candidates)
    found = Preemption(True, candidates=candidates, chosen=candidates["n1"], tied=tied)
    return Decision(POD, 3, preemption=found, **more)


@pytest.mark.spec("SCH-92")
@each_row(
    ("others", "why"),
    [
        ({}, "on no other node would that help"),
        ({"n2": (1, 0, 0, 0, -900)}, "fewer budgets are broken than on n2"),
        ({"n2": (0, 6, 0, 0, -900)}, "its first victim is less important than that of n2"),
        (
            {"n2": (0, 5, 11, 0, -900), "n3": (2, 0, 0, 0, 0)},
            "its victims are less important, all together, than those of n2",
        ),
        ({"n2": (0, 5, 10, 3, -900)}, "fewer have to go than from n2"),
        ({"n2": (0, 5, 10, 2, -99)}, "its most important victim began later than that of n2"),
        ({"n2": (0, 5, 10, 2, -100), "n3": (9, 0, 0, 0, 0)}, "n2 would do as well"),
    ],
)
def test_it_says_why_these_victims_were_chosen(
    others: Mapping[str, tuple[int, ...]], why: str
) -> None:
    """By the first key in which the next best candidate is worse."""
    said = f"made room for pods/default/p on n1, where pods/default/a goes: {why}"
    assert sentence_of(preempting("a", others=others)) == said


def test_a_few_victims_are_named_and_many_are_counted() -> None:
    """So that it stays one sentence."""
    start = "made room for pods/default/p on n1, where "
    said = sentence_of(preempting("a", "b", "c", others={}))
    assert said.startswith(f"{start}pods/default/a, pods/default/b and pods/default/c go: ")
    assert sentence_of(preempting(*"abcde", others={})).startswith(
        f"{start}pods/default/a and 4 more go: "
    )
