"""Looks at each breach of a test: what a claim of ours says that it is about must be so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed.invariant import Invariant
from testbed.testing.mutant import Mutant, play_until
from testbed.turns.found import REASONS, Found
from testbed.turns.verdict import Violation
from testbed.world.judge import Judge
from testbed.world.world import World


@pytest.fixture(autouse=True)
def _abouts_are_true(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    wrong: list[str] = []
    judged = Judge._violation

    def look(judge: Judge, invariant: Invariant, found: Found) -> Violation:
        violation = judged(judge, invariant, found)
        wrong.extend(untrue(judge, violation, found))
        return violation

    monkeypatch.setattr(Judge, "_violation", look)
    yield
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def untrue(judge: Judge, violation: Violation, found: Found) -> Iterator[str]:
    """Each part of what a breach is about that cannot be: an object that never was and that the
    sentence does not name, an actor that is none, or nothing at all of a sentence that names
    something."""
    evidence, about, head = judge._evidence, violation.about, f"{violation.invariant}: "
    if violation.reason not in ("", *REASONS):
        yield f"{head}{violation.reason!r} is no reason"
    if found.about is None:
        return
    known = {change.key for change in evidence.store.log().changes}
    for key in about.keys:
        if key not in known and key.rpartition("/")[2] not in violation.said:
            yield f"{head}{key} never was, in: {violation.said}"
    for name in about.actors:
        if name not in evidence.table.roles and name not in evidence.wire.posts:
            yield f"{head}{name} is no actor, in: {violation.said}"
    named = evidence.named_in(violation.said)
    if not (about.keys or about.actors) and (named.keys or named.actors):
        yield f"{head}it is about nothing, and says: {violation.said}"


def breach_of(mutant: Mutant, runs_max: int = 60) -> Violation:
    """The first breach of the claim that must find that mutant."""
    found: list[Violation] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.extend(v for v in world.verdict.violations if v.invariant == mutant.claim)
        return not found

    play_until(mutant.scenario, look, runs_max, 0, None)
    return found[0]
