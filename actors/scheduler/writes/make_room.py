"""Effects: what a scheduler writes to make room for a pod, in the order of the real one.

All of it happens within the pod's cycle and from one task: which victim is next is picked before
each, so every order can come about, and the calm one is that of the decision (SCH-96).
"""

from __future__ import annotations

import attrs

from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.memory.books import Books
from actors.scheduler.writes.difference import difference
from actors.scheduler.writes.patches import clear_nomination, patch_status
from testbed import ApiError, NotFound, Operation
from testbed.objects import Condition, Pod, condition

PREEMPTION = "PreemptionByKubeScheduler"
PLUGIN = "DefaultPreemption"


async def make_room(books: Books, decision: Decision, chosen: Candidate, because: int) -> bool:
    """Let the victims go, one after another, then take from the less important pods nominated there
    what they were promised. False if it was broken off: what was done stays done, and the pod is
    nominated to nothing by it (SCH-99)."""
    left = list(chosen.victims)
    while left:
        victim = books.client.pick("next victim", left)
        left.remove(victim)
        try:
            await _evict(books, decision.pod, victim, because)
        except NotFound as error:
            if books.switches.victim_not_found == "error":
                return _broken_off(books, victim, error)
        except ApiError as error:
            return _broken_off(books, victim, error)
        books.recorder.note(
            victim, "Preempted", f"Preempted by a pod on node {chosen.node}", action="Preempting",
            related=decision.pod,
        )  # fmt: skip
    for pod in _less_important(books, decision.pod, chosen):
        await clear_nomination(books, pod, because)
    return True


def _broken_off(books: Books, victim: Pod, error: ApiError) -> bool:
    said = f"broke off its preemption at {victim.key}: {error}"
    books.client.record("preemption broken off", said=said, victim=victim.key)
    return False


async def _evict(books: Books, preemptor: Pod, victim: Pod, because: int) -> None:
    """One that waits for its permission is refused it; any other is told why, and deleted."""
    waiting = books.waiting.get(victim.meta.uid)
    if waiting is not None:
        waiting.reject(PLUGIN, "preempted")
        return
    switches = books.switches
    if switches.disruption_condition:
        await _mark(books, preemptor, victim, because)
    uid = victim.meta.uid if switches.preempt_delete_precondition == "uid" else ""
    meta = victim.meta
    delete = Operation("delete", victim.plural, meta.name, meta.namespace, uid=uid)
    books.must_lead()
    await books.client.ask(delete, because=because)


async def _mark(books: Books, preemptor: Pod, victim: Pod, because: int) -> None:
    """Patch its condition DisruptionTarget. In 1.26 that was worked out of the status of the pod
    it makes room for, which then replaces its own in all that differs (SCH-97)."""
    is_mixed_up = books.switches.bug_disruption_status_from_preemptor
    whose = preemptor if is_mixed_up else victim
    said = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
    target = Condition("DisruptionTarget", "True", PREEMPTION, said)
    conditions = condition.having(whose.status.conditions, target, books.client.now())
    if conditions is not whose.status.conditions:
        status = attrs.evolve(whose.status, conditions=conditions)
        await patch_status(books, victim, difference(victim, status, of=whose), because)


def _less_important(books: Books, pod: Pod, chosen: Candidate) -> list[Pod]:
    """Those nominated there that are to lose that: as of now, since it took a while (SCH-100)."""
    here = [info.pod for info in books.nominator.on(chosen.node)]
    if books.switches.clear_lower == "only_if_unfit":
        unfit = {each.meta.uid for each in chosen.lower}
        return [each for each in here if each.meta.uid in unfit]
    return [each for each in here if each.priority < pod.priority]
