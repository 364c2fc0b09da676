"""Gone: a program crashed and was never started again, and what the claim wants waits for it.

1. The claim is one of progress: it does not look at what is done, or it broke at rest.
2. A crash counts if its target is down at the end.
3. What such a program would have done no trace shows. So the Run is played again without the crash,
   and the program is named only if nothing breaks then.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.faults.crash import Crash
from testbed.faults.restart import Restart
from testbed.invariant import TURN, Invariant
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.turns.option import FAULT
from testbed.turns.trace import Step

VIOLATED = "violated"
"""How a Run ended that a claim ended which broke on the way."""


def found(slice_: Slice) -> Iterator[Cause]:
    """The crashes for good that the claim would hold without, the last first."""
    if not _is_of_waiting(slice_):
        return
    for crash in reversed(_for_good(slice_)):
        if slice_.is_waited_for(crash):
            name = crash.option.key
            text = sentence(
                f"{name} crashed (step {crash.number}) and was never started again",
                "; if it had lived, nothing would have broken",
            )
            yield Cause(CauseShape.GONE, text, name, f"crash {name}", None, crash.number)


def _is_of_waiting(slice_: Slice) -> bool:
    """(1) Whether the claim looks at no act, or was found broken at rest."""
    violation, world = slice_.violation, slice_.trace.played_in
    if violation is None or world is None:
        return False
    claims = [
        claim for claim in world.judge.claimed(Invariant) if claim.name == violation.invariant
    ]
    if claims and all(claim.looks_at <= {TURN} for claim in claims):
        return True
    has_ended = (slice_.trace.end or {}).get("end", VIOLATED) != VIOLATED
    return has_ended and violation.step == len(slice_.steps)


def _for_good(slice_: Slice) -> list[Step]:
    """(2) The last crash of each target, if the target was never started again."""
    faults = [step for step in slice_.steps[: slice_.end] if step.kind == FAULT]
    last = {s.option.key: s for s in faults if s.option.verb in (Crash.word, Restart.word)}
    crashes = [step for step in last.values() if step.option.verb == Crash.word]
    return [step for step in crashes if _is_for_good(slice_, step)]


def _is_for_good(slice_: Slice, crash: Step) -> bool:
    fault = crash.option.fault
    births = slice_.knowledge.births.get(crash.option.key, [])
    is_back = any(birth > crash.number for birth in births)
    return isinstance(fault, Crash) and fault.restart_after_ms is None and not is_back
