"""Accusing: whoever a story says did not know had indeed not been told, by the trace itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from testbed.chooser import Chooser
from testbed.choosers.pos import POS
from testbed.choosers.uniform import Uniform
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.story.candidates import causes_of
from testbed.story.cause import WORDS_MAX, Cause, CauseShape
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.option import ANSWER, DELIVER, FAULT, SERVE, START
from testbed.turns.trace import Record, Step, Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import Scenario, find, of
from tests.models import incidents
from tests.shared.binders import two_binders

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


def told(steps: list[Step], life: list[Step], key: str, *, writes: bool = True) -> Iterator[int]:
    """The revisions of the object, or of the kind, that were read or heard of in those Steps; with
    `writes`, also by the answers to what the actor wrote itself."""
    plural = key.partition("/")[0]
    for step in life:
        if step.kind == DELIVER and step.revision.isdecimal():
            if step.option.key == key or step.option.key.partition("/")[0] == plural == key:
                yield int(step.revision)
        elif step.kind == ANSWER:
            served = steps[step.causes[-1] - 1]
            is_own = bool(served.marks.changes) and not writes
            if served.kind != SERVE or served.operation is None or is_own:
                continue
            if not served.outcome:
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


def wrongly_blamed(trace: Trace, cause: Cause) -> str:
    """What the trace has against the cause; empty if nothing."""
    steps, since, said = trace.steps, cause.since, cause.text
    if cause.shape is CauseShape.GONE:
        return wrongly_buried(steps, cause)
    if since is None:
        return ""
    step = steps[cause.step - 1]
    records = {item.number: item.step for item in trace.items if isinstance(item, Record)}
    at = min(decided(steps, cause.step), records.get(step.because, cause.step))
    life, is_cache = life_until(steps, cause.actor, at), "its Cache" in said
    heard = list(told(steps, life, since.key, writes=not is_cache))
    ever = list(told(steps, [s for s in steps[:at] if s.option.actor == cause.actor], since.key))
    is_later = any(revision >= since.revision for revision in heard)
    if (is_cache or "believing" in said or "as if it were" in said) and is_later:
        return f"told of rv {max(heard)} by step {at}"
    if "without ever having read" in said and ever:
        return f"had read rv {ever}"
    if "had already seen that" in said and not any(rv >= since.revision for rv in ever):
        return "was not told"
    if "had never read that" in said and ever:
        return f"had read rv {ever}"
    if "not knowing of" in said and "before it crashed" not in said and is_later:
        return f"told of rv {max(heard)} by step {at}"
    if cause.shape is CauseShape.DID_IT_HAPPEN:
        answers = (s for s in steps[: cause.step] if s.kind == ANSWER)
        if any(answer.causes[-1] == since.step for answer in answers):
            return "had its answer"
    return ""


def wrongly_buried(steps: list[Step], cause: Cause) -> str:
    """What the trace has against it that this actor crashed then and never came back."""
    crash = steps[cause.step - 1]
    if (crash.kind, crash.option.verb, crash.option.key) != (FAULT, Crash.word, cause.actor):
        return "did not crash then"
    after = (s for s in steps[cause.step :] if s.option.actor == cause.actor)
    back = next((s.number for s in after if s.kind == START), 0)
    return f"began again in step {back}" if back else ""


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


BLAMING = {
    **RECIPES,
    **{name: find(name) for name in ("twice_created", "two_defaults", "starvation")},
    **{name: of(getattr(incidents, name)) for name in ("own_echo", "class_gone", "paid_twice")},
    **{name: of(getattr(incidents, name)) for name in ("torn_transfer", "towel", "moved")},
    **{name: of(getattr(incidents, name)) for name in ("unbaked", "never_baked")},
}


@pytest.mark.parametrize("seeds", [40, pytest.param(400, marks=pytest.mark.long)])
@pytest.mark.parametrize("recipe", BLAMING.values(), ids=list(BLAMING))
def test_no_cause_blames_wrongly(recipe: Scenario, seeds: int) -> None:
    """Not only the first cause of a broken claim, but each that is found, in Runs with crashes,
    lost replies and late watches: who is said not to have known had not been told in that life,
    and who is said to have had no answer had none."""
    blamed = 0
    if recipe.name == "starvation":
        seeds //= 3  # Each of its Runs is as long as ten of another.
    for seed in range(seeds):
        trace, violation = _played(recipe, POS(seed), LoseReply(), LoseRequest())
        if violation is None:
            continue
        for cause in causes_of(Slice(trace, violation)):
            assert not wrongly_blamed(trace, cause), f"{seed}: {cause.text}"
            assert len(cause.text.split()) <= WORDS_MAX
            assert not re.search(r"\s[.,;]|[,;]\.", cause.text), cause.text
            blamed += cause.shape is not CauseShape.UNKNOWN
    assert blamed


def _told(recipe: Scenario, chooser: Chooser) -> tuple[list[Step], list[str]]:
    trace, violation = _played(recipe, chooser)
    return trace.steps, Sentences(Slice(trace, violation)).sentences


def _played(recipe: Scenario, chooser: Chooser, *faults: Fault) -> tuple[Trace, Violation | None]:
    world = recipe.world(faults=(Crash(restart_after_ms=500), Lag(by_ms=50), *faults))
    verdict = world.run(chooser, driver="direct", trace=Trace({}, keep=True))
    return world.trace, verdict.violations[0] if verdict.violations else None
