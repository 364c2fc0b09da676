"""Classes: what a class of a certificate can begin with."""

from __future__ import annotations

from testbed.checks.certificate.classes import Clashes, Offered, RunClass, SeenTurn


def turn(core: int, picked: int, writes: str) -> SeenTurn:
    """A turn of option 7, in which this was picked."""
    picks = (("what", ("a", "b"), picked),)
    return SeenTurn(core, core, 7, picks, 0, frozenset(), frozenset({writes}), is_fault=False)


def test_a_class_goes_on_with_any_of_its_turns_of_that_option() -> None:
    """Not with the first alone: two turns of one option may have picked differently."""
    steps = [turn(1, 0, "x"), turn(2, 1, "y")]
    offers = [Offered((7,), (), 0)] * 3
    run = RunClass(1, "held", "quiet", [], steps, [0, 0], [[], []], offers)
    run.relate(Clashes())
    for picked, can in ((0, True), (1, True), (2, False)):
        assert run.goes_on(run, [], 7, [("what", ("a", "b"), picked)]) is can
    assert not run.goes_on(run, [], 8, [])
