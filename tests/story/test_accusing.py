"""Accusing: whoever a story says did not know had indeed not been told, by the trace itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from binders import two_binders

from testbed.chooser import Chooser
from testbed.choosers.pos import POS
from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.invariant import Violation
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.option import ANSWER, DELIVER, SERVE, START
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import Scenario, find, of

AT = r"\(step (?P<at>\d+)[^)]*\)"
LATE = re.compile(rf"(?P<who>\S+) decided {AT} before its watch of (?P<key>\w+).* rv (?P<rv>\d+)\b")
FIRST_TOLD = re.compile(r" told it of rv (?P<rv>\d+)")
KNEW = re.compile(
    rf"(?P<who>\S+) still knew rv (?P<rv>\d+) of (?P<key>\S+) when it recorded .*{AT}"
)
WROTE = re.compile(rf"(?P<who>\S+) still knew rv (?P<rv>\d+) and .* {AT}")
BY_OLD = re.compile(
    rf"By what it still knew of (?P<key>\S+) \(rv (?P<rv>\d+)\), (?P<who>\S+) .*? at rv \d+ {AT}"
)
BEFORE = re.compile(rf"(?P<who>\S+) had been told of rv (?P<rv>\d+) of (?P<key>\S+) {AT} before it")


def life_until(steps: list[Step], who: str, at: int) -> list[Step]:
    """What happened to that actor since its last start before that Step, which is the last."""
    mine = [step for step in steps[:at] if step.option.actor == who]
    starts = [
        step.number for step in mine if (step.kind, step.option.path) == (START, f"{who}/main")
    ]
    return [step for step in mine if step.number >= starts[-1]]


def told(steps: list[Step], life: list[Step], key: str) -> Iterator[int]:
    """The revisions of the object, or of the kind, that were read or heard of in those Steps."""
    plural = key.partition("/")[0]
    for step in life:
        if step.kind == DELIVER and step.revision.isdecimal():
            if step.option.key == key or step.option.key.partition("/")[0] == plural == key:
                yield int(step.revision)
        elif step.kind == ANSWER:
            served = steps[step.causes[-1] - 1]
            if served.kind == SERVE and served.operation is not None and not served.outcome:
                is_list = served.operation.verb == "list" and served.operation.plural == plural
                if served.revision.isdecimal() and (is_list or served.option.key == key != plural):
                    yield int(served.revision)


def decided(steps: list[Step], at: int) -> int:
    """The Step that asked for what took effect in that one."""
    step = steps[at - 1]
    if step.kind != SERVE:
        return at
    verb = step.option.verb.partition(".")[0]
    same = (step.option.path, verb, step.option.key, step.option.nth)
    asked = next(
        s for s in reversed(steps[:at])
        if s.kind == SERVE and (s.option.path, s.option.verb, s.option.key, s.option.nth) == same
    )  # fmt: skip
    return asked.causes[-1]


def wrongly_said(steps: list[Step], said: str) -> str:
    """What the trace has against that sentence; empty if nothing, or if it accuses nobody."""
    if found := LATE.match(said):
        at, rv = int(found["at"]), int((FIRST_TOLD.search(said) or found)["rv"])
        heard = list(told(steps, life_until(steps, found["who"], at), found["key"]))
        return f"told of rv {max(heard)} by then" if heard and max(heard) >= rv else ""
    if found := BEFORE.match(said):
        at, rv = int(found["at"]), int(found["rv"])
        life = life_until(steps, found["who"], at)
        is_so = steps[at - 1] in life and rv <= max(told(steps, life, found["key"]), default=0)
        return "" if is_so else "was not told so then"
    if found := KNEW.match(said) or BY_OLD.match(said) or WROTE.match(said):
        at, rv = decided(steps, int(found["at"])), int(found["rv"])
        key = found["key"] if "key" in found.groupdict() else steps[int(found["at"]) - 1].option.key
        heard = list(told(steps, life_until(steps, found["who"], at), key))
        newer = [version for version in heard if version > rv and _changed(steps, key, rv, version)]
        return f"told of rv {newer}" if newer else ""
    return ""


def _changed(steps: list[Step], key: str, after: int, upto: int) -> bool:
    """Whether that object was written between these revisions."""
    changes = (change for step in steps for change in step.marks.changes)
    return any(change.key == key and after < change.revision <= upto for change in changes)


RECIPES = {
    **{name: find(name) for name in ("time_travel", "double_bind", "lost_update")},
    "two_binders": of(two_binders),
}


@pytest.mark.parametrize("seeds", [30, pytest.param(600, marks=pytest.mark.long)])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_nobody_is_accused_wrongly(recipe: Scenario, seeds: int) -> None:
    """Each sentence of many random Runs, violated or not, with crashes and late watches: who is
    said not to have known had not been told in that life, neither himself nor his Cache."""
    accused = 0
    for seed in range(seeds):
        for chooser in (Uniform(seed), POS(seed)):
            steps, sentences = _told(recipe, chooser)
            for said in sentences:
                assert not wrongly_said(steps, said), f"{chooser} {seed}: {said}"
                accused += any(form.match(said) for form in (LATE, KNEW, WROTE, BY_OLD))
    assert accused


def _told(recipe: Scenario, chooser: Chooser) -> tuple[list[Step], list[str]]:
    world = recipe.world(faults=(Crash(restart_after_ms=500), Lag(by_ms=50)))
    verdict = world.run(chooser, driver="direct", trace=Trace({}, keep=True))
    violation: Violation | None = verdict.violations[0] if verdict.violations else None
    return world.trace.steps, Sentences(Slice(world.trace, violation)).sentences
