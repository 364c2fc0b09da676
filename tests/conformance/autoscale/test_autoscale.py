"""How cases of the autoscaler are compared: a wrong answer is found wherever it stands, and what
does not bind is not asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from tests.conformance.autoscale.clock import CaseClock
from tests.conformance.autoscale.matching import is_same_instant, mismatches
from tests.conformance.autoscale.playing import play
from tests.conformance.autoscale.shape import Autoscale
from tests.conformance.conftest import OURS
from tests.conformance.reading import cases_in
from tests.each_row import each_row

Tree = dict[str, Any]
HOURS = 400
"""A case with more passes is none for a test of this kind."""


@cache
def lines() -> tuple[Tree, ...]:
    """The short cases that came out the same in every repetition."""
    found = (case.line for case in cases_in(OURS / "autoscale.jsonl.gz"))
    return tuple(
        line for line in found
        if line["expect"]["determinism"] == "exact" and len(line["case"]["passes"]) < HOURS
    )  # fmt: skip


@cache
def ours(name: str) -> str:
    """What ours does in the case of that name."""
    line = next(line for line in lines() if line["case"]["id"] == name)
    return json.dumps(play(line["case"]))


def leaves(tree: Any, path: tuple[Any, ...]) -> Iterator[tuple[Tree | list[Any], Any]]:
    """The places below a tree at such a path; `*` is any name, and any place of a list."""
    if not path or not isinstance(tree, dict | list):
        return
    names = range(len(tree)) if isinstance(tree, list) else list(tree)
    for name in names if path[0] == "*" else [each for each in names if each == path[0]]:
        if len(path) == 1:
            yield tree, name
        else:
            yield from leaves(tree[name], path[1:])


LEAVES = (
    "passes * status Health", "passes * status groups * ScaleUp", "passes * status ScaleDown",
    "passes * pods * fate", "passes * pods * node", "passes * pods * why",
    "passes * pods * rejected *", "passes * pods * skipped *", "passes * drained_pods * from",
    "passes * upcoming *", "passes * error", "passes * ended", "passes * scale_up result",
    "passes * scale_up best", "passes * scale_up options * nodes",
    "passes * scale_up options * pods", "passes * scale_up infos * to",
    "passes * scale_down ran", "passes * scale_down result", "passes * scale_down in_cooldown",
    "passes * scale_down utilization * cpu", "passes * scale_down unneeded_since *",
    "passes * scale_down unremovable * reason", "passes * scale_down unremovable * pod",
    "passes * scale_down unremovable * pod_reason", "passes * scale_down deleting_empty",
    "passes * scale_down deleting_drain *", "passes * scale_down delete_results *",
    "log * t", "log * object", "log * message", "log * reason", "log * also_at", "log * value_s",
    "log * grace", "log * target", "log * delta", "log * result", "log * nodes", "log * ready",
    "log * unschedulable", "final targets *", "final node_taints *",
)  # fmt: skip
"""Every kind of leaf of a recording."""


@each_row("leaf", LEAVES)
def test_a_wrong_leaf_is_found(leaf: str) -> None:
    """Planted into the first case that has such a leaf; and so is one that is missing."""
    path = tuple(leaf.split())
    line = next(line for line in lines() if any(leaves(line["expect"], path)))
    expect, told = line["expect"], json.loads(ours(line["case"]["id"]))
    assert mismatches(expect, told) == []
    for spoil in (_changed, _left_out):
        spoiled = deepcopy(expect)
        tree, name = next(leaves(spoiled, path))
        spoil(tree, name)
        assert mismatches(spoiled, told), f"{line['case']['id']}: {leaf}"


def _changed(tree: Any, name: Any) -> None:
    old = tree[name]
    if isinstance(old, bool):
        tree[name] = not old
    elif isinstance(old, int | float):
        tree[name] = old + 1
    else:
        tree[name] = [*old, "other"] if isinstance(old, list) else f"{old} and more"


def _left_out(tree: Any, name: Any) -> None:
    if name == "t":
        tree[name] += 0.5
    else:
        del tree[name]


@each_row("what", ["passes", "log"])
def test_a_missing_and_a_surplus_one_is_found(what: str) -> None:
    """A pass, and an entry of the log."""
    line = next(line for line in lines() if len(line["expect"]["log"]) > 1)
    told = json.loads(ours(line["case"]["id"]))
    for change in (list.pop, lambda items: items.append(items[0])):
        expect = deepcopy(line["expect"])
        change(expect[what])
        assert mismatches(expect, told)


def test_what_does_not_bind_is_not_asked_for() -> None:
    """Any of several, anything at all, a log of which nothing is said; and any of the outcomes."""
    told = {"passes": [{"t": 0, "x": 1}], "log": [], "final": {}}

    def expect(x: Any, log: Any = ()) -> Tree:
        return {"passes": [{"t": 0, "x": x}], "log": list(log), "final": {}}

    for leaf in (1, {"any_of": [2, 1]}, {"varies": True}):
        assert mismatches(expect(leaf), told) == []
    assert mismatches(expect(1, ["varies"]), told) == []
    assert mismatches({"outcomes": [expect(2), expect(1)]}, told) == []
    assert mismatches(expect({"any_of": [2, 3]}), told) == [
        "pass at 0: x: expected one of [2, 3], found 1"
    ]
    assert mismatches({"outcomes": [expect(2), expect(3)]}, told) == [
        "none of 2 outcomes; of the nearest differs:", "pass at 0: x: expected 2, found 1",
    ]  # fmt: skip
    missing = {"passes": [{"t": 0}], "log": [], "final": {}}
    assert mismatches(expect({"varies": True}), missing) == []
    assert mismatches(expect({"any_of": [1]}), missing)


def test_a_pass_that_is_the_same_is_spelled_out() -> None:
    """It has all of the one before, but for its time."""
    expect = {"passes": [{"t": 0, "x": 1}, {"t": 1, "same": True}], "log": [], "final": {}}
    told = {"passes": [{"t": 0, "x": 1}, {"t": 1, "x": 1}], "log": [], "final": {}}
    assert mismatches(expect, told) == []
    told["passes"][1]["x"] = 2  # type: ignore[index]
    assert mismatches(expect, told)


def test_the_order_of_a_pass_binds_but_for_alike_writes() -> None:
    """Between passes, tasks work side by side, and nothing is in order."""
    taint = [{"verb": "taint", "object": name, "key": "k"} for name in "ab"]
    event = {"verb": "event", "object": "a", "reason": "R"}
    assert is_same_instant([*taint, event], [taint[1], taint[0], event], has_order=True)
    assert not is_same_instant([*taint, event], [event, *taint], has_order=True)
    assert is_same_instant([*taint, event], [event, *taint], has_order=False)
    assert not is_same_instant([*taint, event], [event, taint[0], taint[0]], has_order=False)


def test_a_place_in_a_sorted_list_says_nothing() -> None:
    """Of what was drawn, each may be any that was seen of its kind."""
    expect = [{"verb": "evict", "object": each} for each in ({"any_of": ["a", "b"]}, "c")]
    ours = [{"verb": "evict", "object": name} for name in "bc"]
    assert is_same_instant(expect, ours, has_order=True)
    assert is_same_instant(expect, [ours[1], ours[1]], has_order=True)
    assert not is_same_instant(expect, [ours[0], {"verb": "evict", "object": "d"}], has_order=True)


def test_a_clock_of_a_case_keeps_whole_seconds() -> None:
    """However long before its start things were created."""
    case = {"passes": [0, 10.001], "nodes": [{"created": -3.5}], "pods": []}
    clock = CaseClock.of(case)
    assert (clock.start_ms, clock.ms(10.001), clock.whole_ms(-3.5)) == (4000, 14_001, 0)
    assert (clock.second(4000), clock.second(3500), clock.unix(0.5)) == (0, -0.5, 4)


def test_an_option_that_nobody_knows_is_no_case() -> None:
    """It is not passed over: the case would be another one."""
    line = deepcopy(lines()[0])
    line["case"]["options"]["unheard_of"] = 1
    with pytest.raises(KeyError, match="unheard_of"):
        Autoscale().differences(line)
