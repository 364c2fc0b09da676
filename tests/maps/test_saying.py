"""Saying: every kind of move is told in words, and an end without what counts on."""

from __future__ import annotations

import pytest

from testbed.faults.crash import Crash
from testbed.maps.saying import said_of, same_of, without_numbers
from testbed.turns.option import Option


def option(
    kind: str,
    path: str,
    actor: str = "alpha",
    *,
    verb: str = "",
    key: str = "",
    change: str = "",
    label: str = "",
) -> Option:
    """An Option that nothing will perform."""
    made = Option(kind, path, lambda: None, actor=actor)
    return made.about(verb, key, change, label=label)


SAID = [
    (option("serve", "alpha/main", verb="create/binding", key="pods/default/c"),
     "alpha's bind of pods/default/c takes effect"),
    (option("answer", "alpha/main", verb="get", key="notes/default/n"),
     "the answer to its get of notes/default/n reaches alpha"),
    (option("deliver", "alpha/watch-pods", key="pods/default/late", change="ADDED"),
     "alpha is told of pods/default/late"),
    (option("deliver", "alpha/watch-pods", key="pods/default/late", change="DELETED"),
     "alpha is told of the end of pods/default/late"),
    (option("deliver", "alpha/watch-pods", change="BOOKMARK"),
     "alpha is told: bookmark of watch-pods"),
    (option("feed", "api/pods", actor=""), "the watch cache of api reads on in api/pods"),
    (option("start", "alpha/main"), "alpha starts"),
    (option("start", "alpha/worker#2"), "worker of alpha starts"),
    (option("resume", "alpha/main", verb="queue alpha/todo"), "alpha goes on: queue alpha/todo"),
    (option("wake", "alpha/main", verb="heartbeat"), "alpha's timer heartbeat is over"),
    (option("pick", "alpha/main", verb="node", label="n1"), "alpha picks n1 for node"),
]  # fmt: skip


@pytest.mark.parametrize(("move", "said"), SAID, ids=lambda each: getattr(each, "kind", ""))
def test_a_move_is_said_in_words(move: Option, said: str) -> None:
    """As a student reads it."""
    assert said_of(move) == said


def test_a_fault_is_said_by_its_own_words() -> None:
    """As a story tells it."""
    fault = option("fault", "fault/crash", verb="crash", key="alpha")
    fault.fault = Crash("*")
    assert said_of(fault) == "alpha crashed"


def test_a_move_is_found_again_without_its_numbers() -> None:
    """The second task of a name, and the second request of a sentence, are as the first."""
    first = option("serve", "alpha/w", verb="get", key="notes/default/n")
    second = Option("serve", "alpha/w#2", lambda: None, actor="alpha")
    second.about("get", "notes/default/n", nth=2)
    assert same_of(first) == same_of(second)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("n1 has 1000m cpu, and its pods ask for 1600m", None),
        ("committed after rv 12", "committed after rv …"),
        ("it came true too late, 500 ms after the last fault", "it came true too late, … ms after"),
        ("virtual_ms_max: of 60,000 ms; next would be 61,000 ms", "virtual_ms_max: of … ms; next"),
        ("found at step 41 of it", "found at step … of it"),
    ],
)
def test_an_end_is_said_without_what_counts_on(said: str, left: str | None) -> None:
    """Revisions, times and steps; what is counted of the cluster stays."""
    assert without_numbers(said).startswith(left or said)
