"""The reason of a breach: what must be mended, whomever it befalls."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from testbed import Evidence, Found
from testbed.invariants.progress import NoActorDies, NobodyIsStuck
from testbed.races.reason import named_by, reason_of, same_as
from testbed.turns.found import NOTHING, About, Wrong, named_in
from testbed.turns.life import Death, StuckTask
from testbed.turns.verdict import Violation
from testbed.words import nameless
from tests.each_row import each_row


def dead(error: str, place: str, path: str = "alpha/main") -> str:
    """The reason of that death."""
    evidence = SimpleNamespace(
        deaths=[Death(path.partition("/")[0], path, error, place)],
        named_in=lambda text: named_in(text, (), ("alpha", "beta")),
    )
    return reason_of(breach_of(NoActorDies().look(None, cast(Evidence, evidence)), "no_actor_dies"))


def stuck(*waiting: tuple[str, str]) -> str:
    """The reason of a World in which these tasks wait."""
    evidence = SimpleNamespace(
        waiting=tuple(StuckTask(*each) for each in waiting),
        stuck=tuple(f"{path} waits for {what}" for path, what in waiting),
        named_in=lambda text: named_in(text, (), ("alpha", "beta")),
    )
    return reason_of(breach_of(NobodyIsStuck().end(cast(Evidence, evidence)), "nobody_is_stuck"))


def breach_of(wrong: Wrong, claim: str) -> Violation:
    """The Violation of that claim."""
    assert isinstance(wrong, Found)
    return Violation(
        claim, wrong.text, 3, 0, wrong.reason, wrong.since, wrong.alike_by, wrong.about or NOTHING
    )


LOST = ("KeyError: 'c'", "lab.py:19 in run")


@each_row(
    ("error", "place", "path"),
    [
        ("KeyError: 'd'", "lab.py:12 in run", "beta/main"),
        ("KeyError: at x.py:3 in y", "lab.py:12 in run", "alpha/loop#2"),
        ("KeyError", "lab.py:12 in run", "alpha/main"),
    ],
)
def test_a_death_is_its_exception_and_its_function(error: str, place: str, path: str) -> None:
    """Not the line, what it says, or which of several alike actors."""
    assert dead(error, place, path) == dead(*LOST) == "no_actor_dies: KeyError in run of lab.py"


@each_row(
    ("error", "place"),
    [
        ("ValueError: 'c'", "lab.py:12 in run"),
        ("KeyError: 'c'", "lab.py:12 in bind"),
        ("KeyError: 'c'", "other.py:12 in run"),
    ],
)
def test_another_place_is_another_reason(error: str, place: str) -> None:
    """So is another exception."""
    assert dead(error, place) != dead(*LOST)


def test_a_program_is_told_by_how_it_ended() -> None:
    """It has no function; two that ended by the same code are alike."""
    end = "the end of its output"
    assert dead("exit code 3", end) == dead("exit code 3", end, "beta/main")
    assert dead("exit code 3", end) != dead("exit code 4", end)


def test_the_stuck_are_told_by_what_they_wait_for() -> None:
    """However many of them do, and whoever they are."""
    one = ("alpha/main", "a signal of beta")
    both = stuck(("beta/main", "a signal of alpha"), one)
    assert both == "nobody_is_stuck: main waits for a signal of ACTOR"
    assert stuck(one) != both

    def answer(name: str) -> str:
        return stuck(("gamma/main", f"the answer to get notes/default/{name}"))

    assert answer("a") == answer("b-2")
    assert answer("a") != stuck(one)


def test_of_a_claim_of_ones_own_its_name_is_enough() -> None:
    """What it says is of this Run."""
    assert {reason_of(Violation("x", said, 3, 0)) for said in ("1 of them", "two of them")} == {"x"}


def test_names_are_whole_words() -> None:
    """An actor `a` is not in every word, and `n1` is not in `n1-old`."""
    assert nameless("a node for pods/default/c of a-1, 5 times", ["a"]) == (
        "ACTOR node for pods of a-N, N times"
    )


def test_the_same_breach_is_about_the_same() -> None:
    """Of the actors and objects that are given; what else it says may differ."""
    names = ["alpha", "beta", "nodes/n1", "pods/default/c"]

    def breach(said: str, claim: str = "x") -> Violation:
        about = named_in(said, names[2:], names[:2])
        return Violation(claim, said, 3, 0, about=about)

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
    first, other = (
        Violation("no_actor_dies", f"{who}/main died", 3, 0, "died", None, "KeyError in run of x",
                  About((), (), who))
        for who in ("alpha", "beta")
    )  # fmt: skip
    assert same_as(first, ["alpha", "beta"])(other)
