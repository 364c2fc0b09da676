"""Saying: every kind of move is told in words, and an end without what counts on."""

from __future__ import annotations

import attrs

from testbed.errors import CONNECTION_LOST, ApiError, Conflict, Unavailable
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.maps.saying import kind_of, said_of, same_of, setting_of, without_numbers
from testbed.turns.option import Option
from tests.each_row import each_row


@attrs.frozen
class Answered:
    """A request, as far as its answer tells of it."""

    error: ApiError


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


@each_row(("move", "said"), SAID, ids=lambda each: getattr(each, "kind", ""))
def test_a_move_is_said_in_words(move: Option, said: str) -> None:
    """As a student reads it."""
    assert said_of(move) == said


def test_a_fault_is_said_by_its_own_words() -> None:
    """As a story tells it."""
    fault = option("fault", "fault/crash", verb="crash", key="alpha")
    fault.fault = Crash("*")
    assert said_of(fault) == "alpha crashed"
    assert setting_of(Crash("*")) == "as usual"
    assert setting_of(Crash("*", times_max=2, restart_after_ms=2000)) == "restart after 2,000 ms"


def test_an_answer_that_was_lost_does_not_arrive() -> None:
    """Its caller learns that alone, and that is news; a refusal is an answer."""
    answer = option("answer", "alpha/main", verb="create", key="jobs/default")
    arrives = "the answer to its create of jobs/default reaches alpha"
    assert (said_of(answer), kind_of(answer)) == (arrives, "answer")
    answer.source = Answered(Conflict("old"))
    assert (said_of(answer), kind_of(answer)) == (arrives, "answer")
    answer.source = Answered(Unavailable("reset", causes=(CONNECTION_LOST,)))
    lost = "alpha learns that no answer comes to its create of jobs/default"
    assert (said_of(answer), kind_of(answer)) == (lost, "news")


def test_a_reply_that_is_lost_is_called_an_answer() -> None:
    """As the move that would have brought it."""
    fault = option("fault", "fault/lose_reply", verb="lose_reply", key="alpha create jobs/default")
    fault.fault = LoseReply("*")
    assert said_of(fault) == "the answer to alpha's create of jobs/default was lost"


def test_a_move_is_found_again_without_its_numbers() -> None:
    """The second task of a name, and the second request of a sentence, are as the first."""
    first = option("serve", "alpha/w", verb="get", key="notes/default/n")
    second = Option("serve", "alpha/w#2", lambda: None, actor="alpha")
    second.about("get", "notes/default/n", nth=2)
    assert same_of(first) == same_of(second)


@each_row(
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
