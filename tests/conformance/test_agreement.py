"""A recording with which ours does not agree is told apart from one with which it does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.conftest import OURS
from tests.conformance.kubelet.admit import Admit
from tests.conformance.kubelet.evict import Evict
from tests.conformance.reading import cases_in
from tests.conformance.shape import Line
from tests.conformance.timeline import FirstQueue, OneSlot, Timeline
from tests.each_row import each_row

FILE, ADMIT, EVICT = (OURS / f"{name}.jsonl.gz" for name in ("timelines", "admit", "evict"))
Edit = Callable[[Line], None]


def line(name: str) -> Line:
    """A recorded line that comes with the tests, to be edited."""
    return copy.deepcopy(next(case.line for case in cases_in(FILE) if case.line["id"] == name))


def first(file: Path) -> Line:
    """The first case in a file, to be edited."""
    return copy.deepcopy(next(cases_in(file)).line)


def seen(edited: Line, verb: str, pod: str) -> list[dict[str, Any]]:
    """What was seen of a pod."""
    return [each for each in edited["observed"] if (each["verb"], each["object"]) == (verb, pod)]


def swap(edited: Line, one: tuple[str, str], other: tuple[str, str]) -> None:
    """Exchange the order of two things that were seen."""
    observed = edited["observed"]
    here, there = (observed.index(seen(edited, *each)[0]) for each in (one, other))
    observed[here], observed[there] = observed[there], observed[here]


def late(edited: Line, verb: str, pod: str, by_s: float) -> None:
    """Let something have been seen later."""
    seen(edited, verb, pod)[-1]["t"] += by_s


def test_what_was_recorded_agrees() -> None:
    """As recorded, and with the victims of one decision in another order."""
    assert Timeline().differences(line("GT-1")) == []
    edited = line("GT-1")
    swap(edited, ("delete", "a"), ("delete", "b"))
    assert Timeline().differences(edited) == []


@pytest.mark.spec("SCH-18")
def test_the_rarer_form_of_a_recording_agrees_too() -> None:
    """In some trials the events of a preemptor come back after its cycle. Then it does not back
    off, has no attempt in vain, and is bound as soon as its victim is gone."""
    edited = line("GT-5")
    edited["attempts"] = [
        {**edited["attempts"][0], "then": "Unschedulable"},
        {**edited["attempts"][2], "t": 3.0, "attempt": 2},
    ]
    edited["observed"] = [each for each in edited["observed"] if each["t"] != 1.2]
    late(edited, "bind", "p", -0.2)
    late(edited, "phase", "p", -0.2)
    assert Timeline().differences(edited) == []


@each_row("name", ["GT-R1", "GT-R1-lag", "GT-4-lag"])
def test_a_recording_under_another_name_agrees(name: str) -> None:
    """Without a race file of its own it is played by what the recording says."""
    edited = line(name)
    edited["id"] = "another"
    assert Timeline().differences(edited) == []


EDITS: dict[str, tuple[str, Edit]] = {
    "another text": (
        "cycle 5",
        lambda it: seen(it, "patch-status", "c")[0]["details"]["PodScheduled"].update(message="no"),
    ),
    "another order of cycles": (
        "cycle 5", lambda it: swap(it, ("patch-status", "c"), ("patch-status", "d"))
    ),
    "a victim deleted before it is marked": (
        "cycle 1", lambda it: swap(it, ("patch-status", "a"), ("delete", "a"))
    ),
    "one write less": (
        "cycle 6", lambda it: it["observed"].remove(seen(it, "patch-status", "d")[0])
    ),
    "one write more": (
        "binding 2", lambda it: it["observed"].append({**seen(it, "bind", "c")[0], "object": "d"})
    ),
    "a refusal": ("binding 1", lambda it: seen(it, "bind", "c")[0]["details"].update(result=409)),
    "more time to end": (
        "cycle 2", lambda it: seen(it, "delete", "a")[0]["details"].update(grace=61)
    ),
    "half a second later": ("binding 1", lambda it: late(it, "bind", "c", 0.5)),
    "a tick and a half later": ("cycle 7", lambda it: late(it, "patch-status", "c", 1.6)),
    "a kubelet that is slower": ("remove a", lambda it: late(it, "removed", "a", 2)),
    "a cycle more": (
        "attempt 8", lambda it: it["attempts"].append({**it["attempts"][-1], "attempt": 4})
    ),
    "another queue": ("attempt 2", lambda it: it["attempts"][1].update(then="Backoff")),
    "another end": ("d ends otherwise", lambda it: it["final"][1].update(phase="Failed")),
}  # fmt: skip


@each_row(("where", "edit"), EDITS.values(), ids=EDITS)
def test_an_edited_recording_does_not_agree(where: str, edit: Edit) -> None:
    """The text begins with the place of the difference."""
    edited = line("GT-1")
    edit(edited)
    assert where in "\n".join(Timeline().differences(edited))


def test_a_window_of_another_width_does_not_agree() -> None:
    """Two pods bound five milliseconds apart, or only one in one instant, in every trial."""
    assert OneSlot().differences(line("MS-1")) == []
    for stagger_ms, both in ((0, 0), (5.0, 10)):
        edited = line("MS-1")
        trials = [each for each in edited["by_stagger"] if each["stagger_ms"] == stagger_ms]
        trials[0].update(both_bound=both)
        assert len(OneSlot().differences(edited)) == 1


def test_a_preemptor_in_another_queue_does_not_agree() -> None:
    """A preemptor that mostly backs off although no event reaches it in time."""
    assert FirstQueue().differences(line("GT-1-t0")) == []
    edited = line("GT-1-t0")
    edited["by_watch_lag"][-1].update(C_to_backoff=14)
    assert len(FirstQueue().differences(edited)) == 1


def test_a_kubelet_that_decides_otherwise_does_not_agree() -> None:
    """Another refusal, a field that ours does not have, another ranking, another step."""
    assert Admit().differences(first(ADMIT)) == Evict().differences(first(EVICT)) == []
    edited = first(ADMIT)
    edited["expect"] |= {"reason": "OutOfcpu", "new": 1}
    assert Admit().differences(edited) == [
        "new: expected 1, found None", "reason: expected 'OutOfcpu', found ''",
    ]  # fmt: skip
    edited = first(EVICT)
    edited["expect"]["ranking"].reverse()
    edited["expect"]["steps"][0]["evicted"] = "p8"
    said = Evict().differences(edited)
    assert [each.partition(" ")[0] for each in said] == ["ranking:", "expected"]
