"""The reason of a breach: what must be mended, whomever it befalls."""

from __future__ import annotations

from testbed.races.reason import named_by, nameless, reason_of, same_as
from testbed.turns.verdict import Violation
from tests.each_row import each_row


def reason(claim: str, said: str) -> str:
    """Of a breach of that claim."""
    return reason_of(Violation(claim, said, 3, 0))


@each_row(
    "said",
    [
        "beta/main died of KeyError: 'd' at lab.py:12 in run",
        "alpha/main died of KeyError: 'c' at lab.py:19 in run",
        "alpha/loop#2 died of KeyError: at x.py:3 in y at lab.py:12 in run",
        "alpha/main died of KeyError at lab.py:12 in run",
    ],
)
def test_a_death_is_its_exception_and_its_function(said: str) -> None:
    """Not the line, what it says, or which of several alike actors."""
    expected = reason("no_actor_dies", "alpha/main died of KeyError: 'c' at lab.py:12 in run")
    assert reason("no_actor_dies", said) == expected
    assert expected == "no_actor_dies: KeyError in run of lab.py"


@each_row(
    "said",
    [
        "alpha/main died of ValueError: 'c' at lab.py:12 in run",
        "alpha/main died of KeyError: 'c' at lab.py:12 in bind",
        "alpha/main died of KeyError: 'c' at other.py:12 in run",
    ],
)
def test_another_place_is_another_reason(said: str) -> None:
    """So is another exception."""
    here = "alpha/main died of KeyError: 'c' at lab.py:12 in run"
    assert reason("no_actor_dies", said) != reason("no_actor_dies", here)


def test_the_stuck_are_told_by_what_they_wait_for() -> None:
    """However many of them do, and whoever they are."""
    one = "nothing can move, and alpha/main waits for a signal of beta"
    both = (
        "nothing can move, and beta/main waits for a signal of alpha; "
        "alpha/main waits for a signal of beta"
    )
    assert reason("nobody_is_stuck", both) == "nobody_is_stuck: main waits for a signal of ACTOR"
    assert reason("nobody_is_stuck", one) != reason("nobody_is_stuck", both)
    timer = "nothing can move, and gamma/main waits for the answer to get notes/default/{}"
    assert reason("nobody_is_stuck", timer.format("a")) == reason(
        "nobody_is_stuck", timer.format("b-2")
    )
    assert reason("nobody_is_stuck", timer.format("a")) != reason("nobody_is_stuck", one)


def test_of_a_claim_of_ones_own_its_name_is_enough() -> None:
    """What it says is of this Run."""
    assert reason("x", "1 of them") == reason("x", "two of them") == "x"


def test_names_are_whole_words() -> None:
    """An actor `a` is not in every word, and `n1` is not in `n1-old`."""
    assert nameless("a node for pods/default/c of a-1, 5 times", ["a"]) == (
        "ACTOR node for pods of a-N, N times"
    )


def test_the_same_breach_names_the_same() -> None:
    """Of the actors and objects that are given, by key, by name and at the end of a sentence; what
    else it says may differ."""
    names = ["alpha", "beta", "nodes/n1", "pods/default/c"]

    def breach(said: str, claim: str = "x") -> Violation:
        return Violation(claim, said, 3, 0)

    first = breach("alpha put pods/default/c on n1, with 3 others.")
    assert named_by(first, names) == {"alpha", "pods/default/c", "nodes/n1"}
    is_same = same_as(first, iter(names))
    assert is_same(breach("on nodes/n1 c was put by alpha; twice"))
    assert not is_same(breach("alpha put pods/default/c on n2"))
    assert not is_same(breach("alpha and beta put pods/default/c on n1"))
    assert not is_same(breach(first.said, "y"))
    assert named_by(breach("alpha-2 on n10"), names) == frozenset()
    assert named_by(breach("alpha/main drew red"), names) == {"alpha"}


def test_a_death_is_the_same_whoever_died() -> None:
    """Its reason has the place; so it is with who is stuck."""
    died = "{}/main died of KeyError: 'd' at lab.py:12 in run"
    first, other = (Violation("no_actor_dies", died.format(who), 3, 0) for who in ("alpha", "beta"))
    assert same_as(first, ["alpha", "beta"])(other)
